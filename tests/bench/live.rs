//! How long one waits: for the first line, and for the line of one event.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::TOOLSTREAM;

const EVENT: &str =
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"tide\"}}]}\n\n";

/// Prints the medians, beside those of programs that do nothing.
pub(crate) fn table() {
    println!("\n| median | toolstream | bare |");
    println!("| --- | --: | --: |");
    let (own, bare) = (startup(&TOOLSTREAM, &["parse"]), startup("true", &[]));
    println!("| start to first output, against `true`'s whole run | {own:.1?} | {bare:.1?} |");
    let (own, bare) = (latency(&TOOLSTREAM, &["parse"]), latency("cat", &[]));
    println!("| one event through two pipes, against `cat` | {own:.1?} | {bare:.1?} |");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn spawn(program: &str, args: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// From the start of a program to its first byte, or to its end if it says
/// nothing.
fn startup(program: &str, args: &[&str]) -> Duration {
    let times = (0..200).map(|_| {
        let begin = Instant::now();
        let mut child = spawn(program, args);
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(EVENT.as_bytes());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let time = begin.elapsed();
        drop(stdin);
        child.wait().unwrap();
        time
    });
    median(times.collect())
}

/// From the writing of an event to its line.
fn latency(program: &str, args: &[&str]) -> Duration {
    let mut child = spawn(program, args);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let times = (0..2000).map(|_| {
        let begin = Instant::now();
        stdin.write_all(EVENT.as_bytes()).unwrap();
        let mut line = String::new();
        while !line.contains("tide") {
            line.clear();
            stdout.read_line(&mut line).unwrap();
        }
        begin.elapsed()
    });
    let time = median(times.collect());
    drop(stdin);
    child.wait().unwrap();
    time
}
