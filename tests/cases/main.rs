//! A test for each fixture, with its own name: its answer, and the laws of the
//! output.
//!
//! - `cargo test openai-chat/body/blank_name` runs the cases that have this in
//!   their names, `cargo test --test cases` all of them.
//! - `LAW=values` holds the cases to the laws that have this in their names, and to no others.
//! - `UPDATE_FIXTURES=openai-chat/body cargo test --test cases` writes the answers
//!   of those cases, and runs no others; `UPDATE_FIXTURES=.` those of all.
//!   The difference is read like code.

// A test may fail, and an index be out of range: that is what it's there for.
#![allow(clippy::unwrap_used, clippy::string_slice, clippy::print_stdout)]

/// Law 4, for the framings.
mod accounted;
/// The answer that stands beside a case.
mod answer;
/// The fixture cases, and ways to run one.
mod case;
/// Which laws a case need not keep.
mod exceptions;
/// Whether a value fits a JSON Schema.
mod fits;
/// A reader of JSON for what the program writes.
mod json;
/// The laws that every case is held to.
mod laws;
/// Law 4, for plain text.
mod nothing_lost;
/// Records that repeat the last one.
mod repeat;
/// One run of the program, in memory.
mod run;
/// Every line is what `toolstream schema` says.
mod schema;
/// The shape of a message.
mod shape;
/// What `--values` prints.
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;
use std::sync::Mutex;

use libtest_mimic::{Arguments, Failed, Trial};

use case::Case;

/// Something that holds for every case.
struct Law {
    name: &'static str,
    /// Panics if a case breaks it; returns whether it says anything of this case.
    check: fn(&Case) -> bool,
}

const LAWS: &[Law] = &[
    Law { name: "the answer", check: answer::in_memory },
    Law { name: "the answer in the shell", check: answer::in_the_shell },
    Law { name: "reads make no difference", check: laws::reads_make_no_difference },
    Law { name: "what is cut adds nothing", check: laws::what_is_cut_adds_nothing },
    Law { name: "a message has one end", check: laws::every_message_has_one_end },
    Law { name: "arguments are the joined deltas", check: laws::arguments_are_the_joined_deltas },
    Law { name: "values are the arguments", check: values::are_those_of_the_whole },
    Law { name: "the summary is the events", check: laws::summaries_are_the_events },
    Law { name: "events fit the schema", check: schema::events_fit },
    Law { name: "summaries fit the schema", check: schema::summaries_fit },
    Law { name: "the fast layer changes nothing", check: repeat::changes_nothing },
    Law { name: "text without a dialect is exact", check: nothing_lost::text_is_exact },
    Law { name: "text in a dialect loses nothing", check: nothing_lost::dialects_lose_nothing },
    Law { name: "every byte is framed", check: accounted::every_byte_of_every_prefix },
    Law { name: "every message is counted", check: accounted::every_byte_of_every_message },
    Law { name: "every wrong bit is noticed", check: accounted::every_wrong_bit_of_every_message },
];

/// What else is tested here: that the checks themselves can fail.
const CHECKS: &[(&str, fn())] = &[
    ("checks/losses_are_seen", nothing_lost::losses_are_seen),
    ("checks/a_key_too_many_or_too_few_does_not_fit", schema::a_key_too_many_or_too_few),
];

/// The laws that have said something of a case.
static APPLIED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// The last panic of this thread, and where it was.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns what a check gives, or why it failed.
fn run<T>(name: &str, check: impl FnOnce() -> T) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(check))
        .map_err(|_| format!("{name}: {}", PANIC.with_borrow(String::clone)).into())
}

/// True if `LAW` is a part of the name of this law, or is not set.
fn is_asked_for(law: &Law) -> bool {
    env::var("LAW").ok().is_none_or(|part| law.name.contains(&part))
}

/// Holds a case to every law.
fn hold(case: &Case) -> Result<(), Failed> {
    for law in LAWS.iter().filter(|law| is_asked_for(law)) {
        if run(law.name, || (law.check)(case))? {
            APPLIED.lock().unwrap().insert(law.name);
        }
    }
    Ok(())
}

fn trials() -> Vec<Trial> {
    let updated = case::updated();
    let is_meant =
        |case: &Case| updated.as_ref().is_none_or(|part| case::is_updated(part, &case.name));
    let cases = Case::all().into_iter().filter(is_meant);
    let cases = cases.map(|case| Trial::test(case.name.clone(), move || hold(&case)));
    let cases: Vec<Trial> = cases.collect();
    if let Some(part) = updated.as_ref().filter(|_| cases.is_empty()) {
        let is_page = case::PAGES.iter().any(|page| case::is_updated(part, page));
        assert!(is_page, "UPDATE_FIXTURES={part} is in no name of a case or page");
    }
    let checks = CHECKS.iter().filter(|_| updated.is_none());
    let checks = checks.map(|(name, check)| Trial::test(*name, move || run(name, check)));
    cases.into_iter().chain(checks).collect()
}

/// Returns what is wrong although every case is right.
fn overall() -> Vec<String> {
    let applied = APPLIED.lock().unwrap();
    let idle = LAWS.iter().filter(|law| !applied.contains(law.name));
    let idle = idle.map(|law| format!("a law that says nothing of any case: {}", law.name));
    idle.chain(exceptions::stale()).collect()
}

fn main() -> ExitCode {
    set_hook(Box::new(|panic| PANIC.with_borrow_mut(|last| *last = panic.to_string())));
    let mut args = Arguments::from_args();
    let Ok(trials) = run("the cases", trials)
        .inspect_err(|why| println!("{}", why.message().unwrap_or_default()))
    else {
        return ExitCode::FAILURE;
    };
    // Two thousand lines say no more than two thousand dots.
    args.quiet |= args.filter.is_none() && args.format.is_none();
    let is_list = args.list;
    let conclusion = libtest_mimic::run(&args, trials);
    let is_whole = conclusion.num_filtered_out == 0
        && case::updated().is_none()
        && LAWS.iter().all(is_asked_for)
        && !is_list;
    if conclusion.has_failed() || !is_whole {
        return conclusion.exit_code();
    }
    let wrong = overall();
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
