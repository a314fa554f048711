//! What is wrong with a command line, and what may have been meant.

use std::env;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::Cli;

/// Adds what the user may have meant: `toolstream parse FILE` where a FILE stands in place of a
/// command, and the commands that an option belongs to.
pub(super) fn with_way_out(mut error: clap::Error) -> clap::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let word = context(ContextKind::InvalidSubcommand);
    let option = context(ContextKind::InvalidArg);
    let words: Vec<String> =
        env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_agent = words.first().is_some_and(|word| word == "agent");
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand if word == "-" || Path::new(&word).exists() => {
            Some(format!("to read it: `toolstream parse {word}`"))
        }
        ErrorKind::UnknownArgument => {
            let owners = || match owners(&option).as_slice() {
                [] => None,
                owners => Some(format!(
                    "'{option}' is an option of `toolstream {}`",
                    owners.join("`, `toolstream ")
                )),
            };
            misplaced(&words, &option).or_else(|| hint(&words, &option)).or_else(owners)
        }
        ErrorKind::MissingRequiredArgument if is_agent && lacks_command(&error) => {
            let curl = "curl -sSN \"$URL\" -H @headers --json @-";
            Some(format!("COMMAND asks the model: `toolstream agent REQUEST -- {curl}`"))
        }
        _ => return error,
    };
    match tip {
        Some(tip) => {
            let tip = StyledStr::from(tip);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
            error
        }
        None => without_escape(error, &option),
    }
}

/// True if COMMAND is what is missing.
fn lacks_command(error: &clap::Error) -> bool {
    let is_it = |arg: &String| arg.contains("COMMAND");
    matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::Strings(args)) if args.iter().any(is_it))
}

/// Returns the line in which COMMAND stands behind `--`, if this word is its first.
fn misplaced(words: &[String], word: &str) -> Option<String> {
    let is_agent = words.first().is_some_and(|command| command == "agent");
    let at = words.iter().position(|other| other == word)?;
    if !is_agent || word.starts_with('-') || words.iter().any(|word| word == "--") {
        return None;
    }
    let (before, command) = words.split_at(at);
    let quoted =
        |words: &[String]| -> Vec<String> { words.iter().map(|word| quoted(word)).collect() };
    let (before, command) = (quoted(before).join(" "), quoted(command).join(" "));
    Some(format!("COMMAND stands behind `--`: toolstream {before} -- {command}"))
}

/// What other programs have an option for, and how it is done here.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["-q", "--quiet", "--silent"],
        "standard error has only what went wrong: `2>/dev/null` leaves it out, and the exit status \
         stays",
    ),
    (
        &["-v", "--verbose", "--debug"],
        "`-V` is the version; `--raw` prints what has no meaning here, and `toolstream detect` says \
         why a format was chosen",
    ),
    (&["--pretty", "--indent"], "`| jq .` prints the lines so"),
];

/// Returns what to do in place of an option that there is not.
fn hint(words: &[String], option: &str) -> Option<String> {
    if option == "-=" {
        let word = words.iter().find(|word| word.starts_with('-') && word.contains('='))?;
        let (name, value) = word.split_once('=')?;
        let is_flag = name == "-i";
        return is_flag
            .then(|| format!("-i has no value: it writes into REQUEST, so say `-i {value}`"));
    }
    let row = HINTS.iter().find(|(names, _)| names.contains(&option));
    row.map(|(_, hint)| (*hint).to_owned())
}

/// Takes out the tip that an unknown option is a value behind `--`: what stands there is COMMAND, or
/// nothing.
fn without_escape(mut error: clap::Error, option: &str) -> clap::Error {
    let escape = format!("-- {option}");
    let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) else {
        return error;
    };
    let is_escape = |tip: &&StyledStr| tip.to_string().contains(&escape);
    let tips: Vec<_> = tips.iter().filter(|tip| !is_escape(tip)).cloned().collect();
    if tips.is_empty() {
        error.remove(ContextKind::Suggested);
    } else {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns the names of the commands that have this option.
fn owners(option: &str) -> Vec<String> {
    let is_it = |arg: &clap::Arg| {
        arg.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long))
            || arg.get_short().is_some_and(|short| option == format!("-{short}"))
    };
    let commands = Cli::declared();
    let has_it = |command: &&clap::Command| command.get_arguments().any(is_it);
    commands.get_subcommands().filter(has_it).map(|command| command.get_name().to_owned()).collect()
}

/// Returns a word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,+:".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
