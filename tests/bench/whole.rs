//! Measures the whole program, beside other ways to read the same streams:
//! `cargo bench --bench whole [-- MEGABYTES [NAME]]` prints the table.
//!
//! Every time is processor time, the best of several runs, and every ratio is
//! one of two times in the same minute.

// A benchmark may fail, and it prints.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice, missing_docs)]

mod callgrind;
mod cassettes;
mod corpus;
mod grown;
mod hostile;
mod live;
mod loops;
mod parts;
mod real;
mod runs;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use corpus::{CORPORA, Corpus};

/// The program that is measured: of this build, or the one that the variable names, as of what
/// `.ci/dist` has built.
pub(crate) static TOOLSTREAM: LazyLock<String> = LazyLock::new(|| {
    std::env::var("TOOLSTREAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_toolstream").into())
});

/// How often each program runs.
const RUNS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["loop", kind, format, file] => loops::run(kind, format, file),
        ["write", name, megabytes, file] => {
            let corpus = CORPORA.iter().find(|corpus| corpus.name == *name).unwrap();
            fs::write(file, corpus.bytes(size(megabytes))).unwrap();
        }
        ["cassettes"] => cassettes::table(100_000_000),
        ["hostile"] => hostile::table(),
        ["grown"] => grown::table(),
        ["parts"] => parts::table(),
        ["live"] => live::table(),
        ["real"] => real::table(40_000_000),
        ["runs", rest @ ..] => runs::table(rest.first().copied().unwrap_or("")),
        rest => {
            let megabytes = rest.first().copied().unwrap_or("100");
            table(size(megabytes), rest.get(1).copied().unwrap_or(""));
            real::table(size(megabytes));
            cassettes::table(size(megabytes));
            live::table();
            hostile::table();
            grown::table();
            runs::table("");
        }
    }
}

fn size(megabytes: &str) -> usize {
    let number = megabytes.parse::<usize>();
    number
        .expect("MEGABYTES [NAME], cassettes, hostile, grown, parts, live, real, or runs [DIALECT]")
        * 1_000_000
}

/// A line for each corpus whose name begins so.
fn table(size: usize, start: &str) {
    let folder = tempfile::tempdir().unwrap();
    println!(
        "{} MB of each. Times of other programs are in times of `toolstream parse`.\n",
        size / 1_000_000
    );
    println!(
        "| stream | MB/s | instructions a byte | peak MiB | `wc -l` | structs | `Value` | `jq -c` | node |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for corpus in CORPORA.iter().filter(|corpus| corpus.name.starts_with(start)) {
        let stream = folder.path().join("stream");
        let payloads = folder.path().join("payloads");
        let bytes = corpus.bytes(size);
        fs::write(&stream, &bytes).unwrap();
        fs::write(&payloads, loops::payloads(&bytes)).unwrap();
        let parse = || [&["parse"], corpus.args].concat();
        let own = time(&TOOLSTREAM, &parse(), &stream).unwrap();
        let ratio =
            |time: Option<f64>| time.map_or("-".into(), |time| format!("{:.2}", time / own));
        let this = std::env::current_exe().unwrap();
        let bench = |kind| {
            let args = ["loop", kind, corpus.name, payloads.to_str().unwrap()];
            ratio(time(this.to_str().unwrap(), &args, &payloads).filter(|_| !corpus.is_text()))
        };
        let other = |program, args: &[&str]| {
            ratio(if corpus.is_text() { None } else { time(program, args, &payloads) })
        };
        println!(
            "| {} | {:.0} | {} | {} | {} | {} | {} | {} | {} |",
            corpus.name,
            bytes.len() as f64 / own / 1e6,
            per_byte(corpus, folder.path()).map_or("-".into(), |count| format!("{count:.2}")),
            peak(&parse(), &stream).map_or("-".into(), |peak| format!("{peak:.1}")),
            ratio(time("wc", &["-l"], &stream)),
            bench("structs"),
            bench("value"),
            other("jq", &["-c", "."]),
            other("node", &["-e", NODE]),
        );
    }
}

const NODE: &str = "\
    const lines = require('readline').createInterface({ input: process.stdin }); \
    let keys = 0; \
    lines.on('line', line => { keys += Object.keys(JSON.parse(line)).length }); \
    lines.on('close', () => console.log(keys))";

/// The processor time of a program that reads this file, in seconds.
pub(crate) fn time(program: &str, args: &[&str], input: &Path) -> Option<f64> {
    let times = (0..RUNS).map(|_| {
        let mut command = Command::new(program);
        command.args(args).stdin(File::open(input).unwrap()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::null()).spawn().ok()?;
        let pid = Pid::from_child(&child);
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap();
        child.wait().unwrap();
        Some(stat.split(' ').next()?.parse::<f64>().ok()? / 1e9)
    });
    times.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::min)
}

/// The most memory that `toolstream` held, in MiB, as GNU time says.
fn peak(args: &[&str], input: &Path) -> Option<f64> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", &TOOLSTREAM]).args(args).stdin(File::open(input).unwrap());
    let output = command.stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(text.lines().last()?.parse::<f64>().ok()? / 1024.0)
}

/// The instructions for each byte more.
fn per_byte(corpus: &Corpus, folder: &Path) -> Option<f64> {
    let count = |size: usize| {
        let file = folder.join("part");
        let bytes = corpus.bytes(size);
        fs::write(&file, &bytes).unwrap();
        let args = [&["parse"], corpus.args].concat();
        Some((instructions(&args, &file)? as f64, bytes.len() as f64))
    };
    let (small, large) = (count(1_000_000)?, count(2_000_000)?);
    // One message may be larger than both.
    Some((large.0 - small.0) / (large.1 - small.1)).filter(|count| count.is_finite())
}

/// The instructions that `toolstream` takes for a file.
pub(crate) fn instructions(args: &[&str], input: &Path) -> Option<u64> {
    callgrind::instructions(&TOOLSTREAM, args, input)
}
