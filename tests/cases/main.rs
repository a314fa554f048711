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
/// Law 9, for `convert`.
mod convert;
/// Law 9, for strings that are empty.
mod emptied;
/// Which laws a case need not keep.
mod exceptions;
/// Sinks that fail.
mod failing;
/// Whether a value fits a JSON Schema.
mod fits;
/// A reader of JSON for what the program writes.
mod json;
/// The laws that every case is held to.
mod laws;
/// Inputs made of the fixtures.
mod mutated;
/// Law 4, for plain text.
mod nothing_lost;
/// Calls in quotation marks.
mod quoted;
/// Records that repeat the last one.
mod repeat;
/// One run of the program, in memory.
mod run;
/// Every line is what `toolstream schema` says.
mod schema;
/// The shape of a message.
mod shape;
/// Turns of damaged answers.
mod turned;
/// Bodies without a finish reason.
mod unreasoned;
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

/// Something that holds: its name, and a check that panics where it doesn't, and returns
/// whether it says anything of this case.
type Law = (&'static str, fn(&Case) -> bool);

/// What holds for any input.
const LAWS: &[Law] = &[
    ("reads make no difference", laws::reads_make_no_difference),
    ("what is cut adds nothing", laws::what_is_cut_adds_nothing),
    ("a message has one end", laws::every_message_has_one_end),
    ("arguments are the joined deltas", laws::arguments_are_the_joined_deltas),
    ("values are the arguments", values::are_those_of_the_whole),
    ("the summary is the events", laws::summaries_are_the_events),
    ("line ends and comments mean nothing", laws::line_ends_and_comments_mean_nothing),
    ("detection is the reading", laws::detection_is_the_reading),
    ("the output is not much more", laws::the_output_is_not_much_more_than_the_input),
    ("calls are not invented", nothing_lost::calls_are_not_invented),
    ("events are read back", laws::events_are_read_back),
    ("conversions are read back", convert::conversions_are_read_back),
    ("conversions depend on the bytes", convert::conversions_depend_on_the_bytes),
    ("events fit the schema", schema::events_fit),
    ("summaries fit the schema", schema::summaries_fit),
    ("the fast layer changes nothing", repeat::changes_nothing),
    ("nothing comes after an error", failing::nothing_comes_after_an_error),
    ("text without a dialect is exact", nothing_lost::text_is_exact),
    ("text in a dialect loses nothing", nothing_lost::dialects_lose_nothing),
    ("turns hold the calls", turned::turns_hold_the_calls),
];

/// What holds for a fixture besides.
const LAWS_OF_FIXTURES: &[Law] = &[
    ("the answer", answer::in_memory),
    ("the answer in the shell", answer::in_the_shell),
    ("every byte is framed", accounted::every_byte_of_every_prefix),
    ("every message is counted", accounted::every_byte_of_every_message),
    ("every wrong bit is noticed", accounted::every_wrong_bit_of_every_message),
    ("empty strings are read back", emptied::strings_are_read_back),
    ("bodies without a reason give no call", unreasoned::bodies_give_no_call),
    ("calls in quotation marks are text", quoted::calls_are_text),
    ("turns hold the text", turned::turns_hold_the_text),
];

/// What else is tested here: that the checks themselves can fail.
const CHECKS: &[(&str, fn())] = &[
    ("mutated/keep_the_laws", mutated::keep_the_laws),
    ("mutated/no_call_is_made_of_two", mutated::meaning::no_call_is_made_of_two),
    ("mutated/a_mixed_call_is_seen", mutated::meaning::a_mixed_call_is_seen),
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

/// Every law of fixtures.
fn all_laws() -> impl Iterator<Item = &'static Law> {
    LAWS_OF_FIXTURES.iter().chain(LAWS)
}

/// True if `LAW` is a part of the name of this law, or is not set.
fn is_asked_for((name, _): &&Law) -> bool {
    env::var("LAW").ok().is_none_or(|part| name.contains(&part))
}

/// Holds a case to every law.
fn hold(case: &Case) -> Result<(), Failed> {
    for (name, check) in all_laws().filter(is_asked_for) {
        if run(name, || check(case))? {
            APPLIED.lock().unwrap().insert(name);
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
    let idle = all_laws().filter(|(name, _)| !applied.contains(name));
    let idle = idle.map(|(name, _)| format!("a law that says nothing of any case: {name}"));
    idle.chain(exceptions::stale()).collect()
}

fn main() -> ExitCode {
    set_hook(Box::new(|panic| PANIC.with_borrow_mut(|last| *last = panic.to_string())));
    match run("the fuzzer", || mutated::meaning::asked().or_else(mutated::asked)) {
        Ok(None) => {}
        Ok(Some(true)) => return ExitCode::SUCCESS,
        Ok(Some(false)) => return ExitCode::FAILURE,
        Err(why) => {
            println!("{}", why.message().unwrap_or_default());
            return ExitCode::FAILURE;
        }
    }
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
        && all_laws().all(|law| is_asked_for(&law))
        && !is_list;
    if conclusion.has_failed() || !is_whole {
        return conclusion.exit_code();
    }
    let wrong = overall();
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
