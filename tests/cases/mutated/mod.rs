//! Inputs made of the fixtures: spliced, with records dropped, doubled and swapped,
//! types, ids and indexes changed, markers moved. They are held to the laws that hold
//! for any input.
//!
//! - A short run with a fixed seed is one of the tests.
//! - `FUZZ=SECONDS cargo test --release --test cases` looks for as long, from
//!   `FUZZ_SEED` on, an input a seed. What it finds is made small and written to
//!   `tests/fuzz/artifacts/mutated`.
//! - `FUZZ_CASE=FILE.in cargo test --test cases` holds one input to all laws again.

mod edits;
pub(crate) mod meaning;
mod parts;
mod pool;
mod shrink;
mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{env, fs};

use libtest_mimic::Failed;
use toolstream::dialect::DIALECTS;
use toolstream::format::FORMATS;
use toolstream::internals::Dice;

use crate::case::{Case, root};
use crate::mutated::edits::{Draft, edit};
use crate::mutated::parts::parts;
use crate::mutated::pool::Pool;
use crate::run::RUNS;
use crate::{LAWS, Law, run};

/// The inputs of the short run, each from the seed of its number.
const SHORT: u64 = 200;
/// Of so many finds of one kind the first are made small and written.
const KEPT: usize = 2;

/// A short run finds nothing.
pub(crate) fn keep_the_laws() {
    let mut hunt = Hunt::new();
    (0..SHORT).for_each(|seed| hunt.try_one(seed));
    assert!(hunt.finds.is_empty(), "{:#?}", hunt.finds);
}

/// Does what `FUZZ_CASE` or `FUZZ` says, and returns true if nothing was found; nothing if
/// neither is set.
pub(crate) fn asked() -> Option<bool> {
    if let Some(path) = env::var_os("FUZZ_CASE") {
        return Some(replay(Path::new(&path)));
    }
    let number = |name| env::var(name).ok().map(|text| text.parse().unwrap());
    Some(hunt(Duration::from_secs(number("FUZZ")?), number("FUZZ_SEED").unwrap_or(1)))
}

/// Holds an input to every law, and prints which it breaks.
fn replay(path: &Path) -> bool {
    let case = Case::read(fs::canonicalize(path).unwrap());
    let case = case.again(case.input.clone(), case.args.clone());
    let wrong: Vec<String> = LAWS.iter().filter_map(|law| broken(law, &case)).collect();
    wrong.iter().for_each(|why| println!("{why}\n"));
    wrong.is_empty()
}

/// Tries an input for each seed from the first on.
fn hunt(time: Duration, first: u64) -> bool {
    let (mut hunt, begin, mut said) = (Hunt::new(), Instant::now(), 0);
    for seed in first.. {
        let seconds = begin.elapsed().as_secs();
        let is_over = begin.elapsed() >= time;
        if is_over || seconds >= said + 60 {
            let (inputs, cpu, (cost, slowest)) =
                (seed - first, cpu() / 1_000_000_000, hunt.slowest);
            let (runs, kinds) = (RUNS.load(Ordering::Relaxed), hunt.finds.len());
            println!(
                "{seconds} s, {cpu} s of CPU: {inputs} inputs in {runs} runs, {kinds} kinds of finds; \
                 the slowest is {slowest}, {cost} ns a byte in all runs"
            );
            said = seconds;
        }
        if is_over {
            break;
        }
        hunt.try_one(seed);
    }
    hunt.finds.iter().for_each(|(kind, count)| println!("{count} times: {kind}"));
    keep(&made(hunt.slowest.1, &hunt.pool), hunt.slowest.1);
    hunt.finds.is_empty()
}

/// Returns how an input breaks a law, if it does.
fn broken((name, check): &Law, case: &Case) -> Option<String> {
    let failed: Failed = run(name, || check(case)).err()?;
    Some(failed.message().unwrap_or_default().to_owned())
}

/// What was tried, and what was found.
struct Hunt {
    pool: Pool,
    /// The kinds of finds, and how many of each.
    finds: BTreeMap<String, usize>,
    /// The nanoseconds a byte that the slowest input took, and its seed.
    slowest: (u64, u64),
}

impl Hunt {
    fn new() -> Hunt {
        Hunt { pool: Pool::new(), finds: BTreeMap::new(), slowest: (0, 0) }
    }

    /// Holds the input of a seed to the laws. The first finds of a kind are made small,
    /// written and printed.
    fn try_one(&mut self, seed: u64) {
        let case = made(seed, &self.pool);
        let begin = cpu();
        let found = LAWS.iter().find_map(|law| Some((law, broken(law, &case)?)));
        let cost = (cpu() - begin) / (case.input.len() as u64 + 300);
        self.slowest = self.slowest.max((cost, seed));
        let Some((law, why)) = found else { return };
        let kind = kind(law.0, &why, &case);
        let count = self.finds.entry(kind.clone()).or_default();
        *count += 1;
        if *count <= KEPT {
            let small = shrink::shrink(&case, law);
            let (path, why) = (keep(&small, seed), broken(law, &small).unwrap_or(why));
            println!("\nseed {seed}, {kind}\nFUZZ_CASE={}\n{why}", path.display());
        }
    }
}

/// Returns the nanoseconds that this thread was run for, where the system tells.
fn cpu() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Names the kind of a find: the law, where it was broken, and the row of the fixture.
fn kind(law: &str, why: &str, case: &Case) -> String {
    let place = why.split_once("panicked at ").map_or("", |(_, rest)| rest);
    let place = place.lines().next().unwrap_or_default();
    let row: Vec<&str> = case.name.split('/').skip(1).take(2).collect();
    format!("{law} ({place}) {}", row.join("/"))
}

/// Writes a find.
fn keep(case: &Case, seed: u64) -> PathBuf {
    let folder = root().join("tests/fuzz/artifacts/mutated");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{seed}.in"));
    fs::write(&path, &case.input).unwrap();
    if !case.args.is_empty() {
        let args: Vec<String> = case.args.iter().map(|arg| case.beside(arg)).collect();
        fs::write(path.with_extension("args"), args.join("\n")).unwrap();
    }
    path
}

/// Makes the input of a seed.
fn made(seed: u64, pool: &Pool) -> Case {
    let dice = &mut Dice::new(seed);
    let source = pool.source(dice);
    let (layer, row) = source.row();
    let mut draft = Draft { row: (layer.into(), row.into()), parts: source.parts.clone() };
    let args = if dice.one_in(2) { source.case.args.clone() } else { args(layer, row, dice) };
    for _ in 0..1 + dice.below(4) {
        edit(&mut draft, dice, pool);
        // What was put in stands in parts of its own.
        draft.parts = parts(&draft.parts.concat());
    }
    source.case.again(draft.parts.concat(), args)
}

/// Returns arguments for an input of a row.
fn args(layer: &str, row: &str, dice: &mut Dice) -> Vec<String> {
    let dialect = if layer == "dialect" { row } else { dice.pick(DIALECTS).name };
    let format = if layer == "format" { row } else { dice.pick(FORMATS).name };
    let args: &[&str] = match dice.below(18) {
        0..4 => &[],
        4..7 => &["-d", "auto"],
        7..10 => &["-d", dialect],
        10 => &["-f", format],
        11 => &["-f", "text", "-d", dialect],
        12 => &["-d", dialect, "--at-end", "stop"],
        13 => &["--strict", "--choice", "0"],
        14 => &["-d", "auto", "--start-in", "reasoning"],
        15..17 => &["--turn"],
        _ => &["--max-args", "40", "--max-depth", "3", "-d", "auto"],
    };
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Returns the places where an input is cut: at borders of its parts and elsewhere,
/// as its bytes decide.
pub(crate) fn places(input: &[u8]) -> Vec<usize> {
    let dice = &mut Dice::of(input);
    let borders = parts(input).into_iter().scan(0, |at, part| {
        *at += part.len();
        Some(*at)
    });
    let borders: Vec<usize> = borders.collect();
    let mut places: Vec<usize> = (0..6).map(|_| dice.below(input.len())).collect();
    if !borders.is_empty() {
        places.extend((0..6).map(|_| dice.pick(&borders).saturating_sub(dice.below(3))));
    }
    places.sort_unstable();
    places.dedup();
    places
}
