//! `check`: captures against their golden files.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::parser::ValueSource;
use clap::{CommandFactory, Parser};

use crate::capture::{
    Filter, Golden, GoldenError, LAWS, Law, Read, Redactor, changes, joined, unified,
};
use crate::cli::{Check, Cli, Command, Late};
use crate::commands::parallel::{Finished, parallel};
use crate::commands::redact::{redact, report_spread};
use crate::commands::{Inputs, has_color, print};
use crate::io::{Signals, report, report_on, write_whole};
use crate::json;
use crate::sink::grouped;
use crate::status::{Outcome, Status};

/// The end of the names of golden files.
const GOLDEN: &str = ".golden";

/// The ends of the names of other files that are no captures.
const NO_CAPTURES: &[&str] = &[GOLDEN, BROKEN, ".times", ".request.json"];

/// The end of the names of files that show how a law breaks.
const BROKEN: &str = ".broken";

pub(super) fn check(args: &Check) -> anyhow::Result<u8> {
    // A wrong option is reported once, and not for each golden file.
    args.reading.config()?;
    let mut status = Status::default();
    let names = captures(&args.reading.files, &mut status);
    if args.redact {
        redact_all(&names, &mut status);
    }
    let names = names.iter().map(String::as_str).collect();
    let inputs = Inputs { names, signals: Signals::listen()? };
    let given = Given::new(env::args_os());
    let run = Run { args, given, read: &joined, sum: Mutex::default() };
    status.add(parallel(&inputs, args.jobs.into(), &|name| run.one(name))?);
    let sum = run.sum.into_inner().unwrap_or_default();
    if let Some(why) = sum.why() {
        report(&mut io::stderr(), why);
    }
    let line = if args.json { sum.json() } else { sum.to_string() };
    print(&(line + "\n"))?;
    Ok(status.code(false))
}

/// Returns the names of all captures, each once, in the order given, and in that of their names
/// in a folder.
fn captures(names: &[String], status: &mut Status) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        let path = Path::new(name);
        if path.is_dir() {
            let before = found.len();
            search(path, &mut found, status);
            if found.len() == before {
                report_on(&mut io::stderr(), name, "holds no capture", None);
                status.note(Outcome::Usage);
            }
        } else {
            found.push(name.strip_suffix(GOLDEN).unwrap_or(name).to_owned());
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|name| seen.insert(name.clone()));
    found
}

/// Adds the captures in a folder and in those below it, and those whose golden files alone are
/// there. Links to folders are not followed.
fn search(folder: &Path, found: &mut Vec<String>, status: &mut Status) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.unwrap_or_else(|error| {
        let name = folder.display().to_string();
        report_on(&mut io::stderr(), &name, &error.to_string(), None);
        status.note(Outcome::Usage);
        Vec::new()
    });
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_link = path.is_symlink();
        if name.starts_with('.') || (is_link && path.is_dir()) {
            continue;
        }
        if path.is_dir() {
            search(&path, found, status);
            continue;
        }
        let whole = path.display().to_string();
        match whole.strip_suffix(GOLDEN) {
            Some(capture) if !Path::new(capture).exists() => found.push(capture.to_owned()),
            _ if NO_CAPTURES.iter().any(|end| name.ends_with(end)) => {}
            _ => found.push(whole),
        }
    }
}

/// Replaces the secrets in captures; the same secret has the same word in all of them. One that
/// cannot be read is left to the check.
fn redact_all(names: &[String], status: &mut Status) {
    let (mut redactor, stderr) = (Redactor::default(), &mut io::stderr());
    for name in names {
        let Ok(mut capture) = fs::read(name) else { continue };
        if !redact(&mut redactor, name, &mut capture, stderr) {
            continue;
        }
        if let Err(error) = write_whole(Path::new(name), &capture) {
            report_on(stderr, name, &error.to_string(), None);
            status.note(Outcome::Io);
        }
    }
}

/// The options of the command line that golden files keep.
struct Given {
    reading: Vec<String>,
    only: Vec<String>,
}

impl Given {
    /// Takes those that `parse` has as well, and `--only`, as `--NAME=VALUE`.
    fn new(args: impl IntoIterator<Item = OsString>) -> Given {
        let mut given = Given { reading: Vec::new(), only: Vec::new() };
        let command = Cli::declared();
        let matches = Cli::command().try_get_matches_from(args);
        let Some((_, matches)) = matches.as_ref().ok().and_then(|matches| matches.subcommand())
        else {
            return given;
        };
        let parse = command.find_subcommand("parse");
        let options = parse.into_iter().flat_map(clap::Command::get_arguments);
        let mut take = |name: &str, id: &str, has_value: bool| {
            let is_there = matches!(matches.try_contains_id(id), Ok(true));
            if !is_there || matches.value_source(id) != Some(ValueSource::CommandLine) {
                return;
            }
            let values = matches.get_raw(id).into_iter().flatten();
            let values = values.map(|value| value.to_string_lossy().into_owned());
            match (id, has_value) {
                ("only", _) => {
                    given.only.push(format!("--{name}={}", values.collect::<Vec<_>>().join(",")))
                }
                (_, true) => given.reading.extend(values.map(|value| format!("--{name}={value}"))),
                (_, false) => given.reading.push(format!("--{name}")),
            }
        };
        for option in options {
            if let Some(name) = option.get_long() {
                take(name, option.get_id().as_str(), option.get_action().takes_values());
            }
        }
        take("only", "only", true);
        given
    }

    /// Returns the options that a capture is read and compared with: those of the command line,
    /// or those that its golden file keeps.
    fn or(&self, kept: &[String]) -> Vec<String> {
        let (only, reading): (Vec<_>, Vec<_>) =
            kept.iter().cloned().partition(|option| option.starts_with("--only="));
        let either =
            |given: &Vec<String>, kept| if given.is_empty() { kept } else { given.clone() };
        [either(&self.reading, reading), either(&self.only, only)].concat()
    }
}

/// The result of one capture.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    /// The events that were expected, and those that came.
    Differs(Vec<String>, Vec<String>),
    NoGolden,
    NoCapture,
    Unusable(GoldenError),
    /// The reason why the capture or its golden file can't be read.
    Unreadable(String),
    Written,
    /// The reason why the golden file can't be written.
    Unwritten(String),
}

/// A kind of result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Written,
    Differs,
    NoGolden,
    NoCapture,
    Newer,
    Edited,
    Unreadable,
    Unwritten,
}

/// How a kind of result is counted.
struct Counted {
    kind: Kind,
    /// Its name in JSON.
    name: &'static str,
    /// The words of the sum for one, and for several.
    words: (&'static str, &'static str),
    /// True if the answer is no.
    is_failure: bool,
}

const fn counted(
    kind: Kind,
    name: &'static str,
    one: &'static str,
    several: &'static str,
    is_failure: bool,
) -> Counted {
    Counted { kind, name, words: (one, several), is_failure }
}

/// The kinds of results, in the order of the sum.
const KINDS: &[Counted] = &[
    counted(Kind::Same, "same", "the same", "the same", false),
    counted(Kind::Written, "written", "written", "written", false),
    counted(Kind::Differs, "differs", "differs", "differ", true),
    counted(Kind::NoGolden, "no_golden", "has no golden file", "have no golden file", true),
    counted(Kind::NoCapture, "no_capture", "has no capture", "have no capture", true),
    counted(Kind::Newer, "newer", "has a newer golden file", "have newer golden files", true),
    counted(Kind::Edited, "edited", "has an edited golden file", "have edited golden files", true),
    counted(Kind::Unreadable, "unreadable", "can't be read", "can't be read", false),
    counted(Kind::Unwritten, "unwritten", "can't be written", "can't be written", false),
];

impl Verdict {
    /// The place of its kind in [`KINDS`].
    fn place(&self) -> usize {
        let is_its = |counted: &Counted| counted.kind == self.kind();
        KINDS.iter().position(is_its).unwrap_or_default()
    }

    fn kind(&self) -> Kind {
        match self {
            Verdict::Same => Kind::Same,
            Verdict::Written => Kind::Written,
            Verdict::Differs(..) => Kind::Differs,
            Verdict::NoGolden => Kind::NoGolden,
            Verdict::NoCapture => Kind::NoCapture,
            Verdict::Unusable(GoldenError::Newer(_)) => Kind::Newer,
            Verdict::Unusable(GoldenError::Edited(_)) => Kind::Edited,
            Verdict::Unreadable(_) => Kind::Unreadable,
            Verdict::Unwritten(_) => Kind::Unwritten,
        }
    }

    /// Returns the words for a capture, beside its name.
    fn message(&self) -> Option<String> {
        match self {
            Verdict::Same | Verdict::Differs(..) => None,
            Verdict::NoGolden => Some("it has no golden file".into()),
            Verdict::NoCapture => Some("its golden file is there, and it is not".into()),
            Verdict::Unusable(error) => Some(error.to_string()),
            Verdict::Unreadable(error) | Verdict::Unwritten(error) => Some(error.clone()),
            Verdict::Written => Some("its golden file was written".into()),
        }
    }
}

/// The number of captures with each result.
#[derive(Default)]
struct Sum {
    counts: [u64; KINDS.len()],
    /// With `--laws`, how many keep them, and how many break one.
    laws: Option<(u64, u64)>,
}

impl Sum {
    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns why the answer is no, if it is, and what can be done.
    fn why(&self) -> Option<&'static str> {
        let has = |kind: Kind| {
            self.counts.iter().zip(KINDS).any(|(count, row)| *count > 0 && row.kind == kind)
        };
        if self.laws.is_some_and(|(_, broken)| broken > 0) {
            return Some(
                "a law is broken, which is a fault of this program: please report the smallest \
                 input that shows it",
            );
        }
        if [Kind::Differs, Kind::Edited].into_iter().any(has) {
            return Some(
                "the golden files say otherwise; `toolstream check --update` writes what the \
                 captures give now",
            );
        }
        if has(Kind::NoGolden) && self.laws.is_none() {
            return Some("golden files are missing; `toolstream check --update` writes them");
        }
        [Kind::NoCapture, Kind::Newer]
            .into_iter()
            .any(has)
            .then_some("not every golden file is of use")
    }

    fn json(&self) -> String {
        let counts = self.counts.iter().zip(KINDS);
        let counts: String =
            counts.map(|(count, kind)| format!(",\"{}\":{count}", kind.name)).collect();
        let laws = self.laws.map_or(String::new(), |(kept, broken)| {
            format!(",\"keep_laws\":{kept},\"break_laws\":{broken}")
        });
        format!("{{\"type\":\"sum\",\"checked\":{}{counts}{laws}}}", self.total())
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = self.counts.iter().zip(KINDS).filter(|(count, _)| **count > 0);
        let (kept, broken) = self.laws.unwrap_or_default();
        let laws =
            [(kept, ("keeps the laws", "keep the laws")), (broken, ("breaks a law", "break laws"))];
        let counts = counts.map(|(count, kind)| (*count, kind.words));
        let counts = counts.chain(laws.into_iter().filter(|(count, _)| *count > 0));
        let parts = counts.map(|(count, (one, several))| {
            format!("{} {}", grouped(count), if count == 1 { one } else { several })
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        let colon = if parts.is_empty() { "" } else { ": " };
        write!(f, "{} checked{colon}{parts}", grouped(self.total()))
    }
}

/// A capture and its golden file.
struct Files {
    capture: io::Result<Vec<u8>>,
    golden: io::Result<Result<Golden, GoldenError>>,
}

impl Files {
    fn read(name: &str) -> Files {
        let golden = fs::read_to_string(format!("{name}{GOLDEN}"));
        Files { capture: fs::read(name), golden: golden.map(|text| Golden::read(&text)) }
    }
}

/// One run over all captures.
struct Run<'a> {
    args: &'a Check,
    given: Given,
    /// The reader that has to keep the laws: a test gives one that breaks a law.
    read: &'a Read<'a>,
    sum: Mutex<Sum>,
}

impl Run<'_> {
    /// Checks one capture.
    fn one(&self, name: &str) -> Finished {
        let mut finished = Finished::default();
        let files = Files::read(name);
        let verdict = self.verdict(name, &files, &mut finished.stderr);
        let laws = self.args.laws.then(|| self.laws(name, &files, &mut finished.stderr)).flatten();
        let place = verdict.place();
        if let Ok(mut sum) = self.sum.lock() {
            sum.counts.iter_mut().skip(place).take(1).for_each(|count| *count += 1);
            if let Some(broken) = &laws {
                let (kept, breaking) = sum.laws.get_or_insert_default();
                *(if broken.is_empty() { kept } else { breaking }) += 1;
            }
        }
        let is_excused = self.args.laws && verdict == Verdict::NoGolden;
        let is_failure = KINDS.get(place).is_some_and(|kind| kind.is_failure) && !is_excused;
        if is_failure || laws.as_ref().is_some_and(|broken| !broken.is_empty()) {
            finished.status.note(Outcome::No);
        }
        let failed = match &verdict {
            Verdict::Unreadable(error) => Some((error, Outcome::Usage)),
            Verdict::Unwritten(error) => Some((error, Outcome::Io)),
            _ => None,
        };
        if let Some((error, outcome)) = failed {
            report_on(&mut finished.stderr, name, error, None);
            finished.status.note(outcome);
        }
        let text = match self.args.json {
            true => object(name, &verdict, laws.as_deref()),
            false if is_excused => laws.iter().flatten().map(Violation::page).collect(),
            false => {
                let broken = laws.iter().flatten().map(Violation::page);
                self.page(name, &verdict) + &broken.collect::<String>()
            }
        };
        finished.out.extend_from_slice(text.as_bytes());
        finished
    }

    fn verdict(&self, name: &str, files: &Files, stderr: &mut dyn Write) -> Verdict {
        let path = format!("{name}{GOLDEN}");
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let capture = match &files.capture {
            Ok(capture) => capture,
            Err(error) if is_missing(error) && files.golden.is_ok() => return Verdict::NoCapture,
            Err(error) => return Verdict::Unreadable(error.to_string()),
        };
        let no_text = Err(GoldenError::Edited("it is not UTF-8".into()));
        let golden = match &files.golden {
            Ok(Err(error @ GoldenError::Newer(_))) => return Verdict::Unusable(error.clone()),
            Ok(read) => Some(read),
            Err(error) if is_missing(error) => None,
            Err(error) if error.kind() == ErrorKind::InvalidData => Some(&no_text),
            Err(error) => return Verdict::Unreadable(format!("{path}: {error}")),
        };
        let compared = self.compare(capture, golden);
        if let Ok((_, fresh)) = &compared
            && self.args.redact
        {
            report_spread(name, &fresh.events, stderr);
        }
        match compared {
            Ok((Verdict::Same, _)) => Verdict::Same,
            Ok((_, fresh)) if self.args.update => {
                match write_whole(Path::new(&path), fresh.text()) {
                    Ok(()) => Verdict::Written,
                    Err(error) => Verdict::Unwritten(format!("{path}: {error}")),
                }
            }
            Ok((verdict, _)) => verdict,
            Err(error) => Verdict::Unusable(error),
        }
    }

    /// Holds a capture to every law. Returns those that it breaks, if it can be read.
    fn laws(&self, name: &str, files: &Files, stderr: &mut dyn Write) -> Option<Vec<Violation>> {
        let capture = files.capture.as_ref().ok()?;
        let golden = files.golden.as_ref().ok().and_then(|golden| golden.as_ref().ok());
        let args = self.given.or(golden.map_or(&[], |golden| &golden.args));
        let config = parsed(&args).ok()?.reading.config().ok()?;
        let broken = |law: &&Law| law.broken(&config, capture, self.read).is_some();
        let broken = LAWS.iter().filter(broken);
        let violation = |law: &'static Law| {
            let small = law.smallest(&config, capture, self.read);
            let how = law.broken(&config, &small, self.read).unwrap_or_default();
            let message = format!("not so: {}: {how}", law.about);
            Violation::new(law.name, message, &small, (name, &args), stderr)
        };
        Some(broken.map(violation).collect())
    }

    /// Compares a capture with its golden file. Returns also the golden file that it gives now.
    fn compare(
        &self,
        capture: &[u8],
        golden: Option<&Result<Golden, GoldenError>>,
    ) -> Result<(Verdict, Golden), GoldenError> {
        let known = golden.and_then(|golden| golden.as_ref().ok());
        let (kept, ignored) =
            known.map(|golden| (&*golden.args, &*golden.ignore)).unwrap_or_default();
        let args = self.given.or(kept);
        let ignore = &self.args.ignore;
        let ignore = if ignore.is_empty() { ignored.to_vec() } else { ignore.clone() };
        let check = parsed(&args)?;
        let config = check.reading.config().map_err(|error| unreadable(&format!("{error:#}")))?;
        let fresh = Golden { args, ignore, events: joined(&config, &[capture]) };
        let filter = Filter { only: check.only, ignore: fresh.ignore.clone() };
        let verdict = match golden {
            None => Verdict::NoGolden,
            Some(Err(error)) => Verdict::Unusable(error.clone()),
            Some(Ok(golden)) => {
                let (was, is) = (filter.apply(&golden.events), filter.apply(&fresh.events));
                let is_made_so = golden.args == fresh.args && golden.ignore == fresh.ignore;
                match was == is && (is_made_so || !self.args.update) {
                    true => Verdict::Same,
                    false => Verdict::Differs(was, is),
                }
            }
        };
        Ok((verdict, fresh))
    }

    fn page(&self, name: &str, verdict: &Verdict) -> String {
        let mut page = String::new();
        match (verdict, verdict.message()) {
            (Verdict::Differs(was, is), _) => {
                let golden = format!("{name}{GOLDEN}");
                page = unified((&golden, name), was, is, has_color(self.args.color));
            }
            (Verdict::Unreadable(_) | Verdict::Unwritten(_), _) | (_, None) => {}
            (_, Some(message)) => {
                json::make_safe(&format!("{name}: {message}"), &mut page);
                page.push('\n');
            }
        }
        page
    }
}

/// A law that a capture breaks.
struct Violation {
    law: &'static str,
    /// The law, and the event that breaks it, of the smallest input that shows it.
    message: String,
    /// The file of that input, its size in bytes, and the command that repeats it.
    file: String,
    size: usize,
    command: String,
    /// The capture.
    name: String,
}

impl Violation {
    /// Writes the smallest input that shows it beside the capture.
    fn new(
        law: &'static str,
        message: String,
        small: &[u8],
        (name, args): (&str, &[String]),
        stderr: &mut dyn Write,
    ) -> Violation {
        let file = format!("{name}.{law}{BROKEN}");
        if let Err(error) = write_whole(Path::new(&file), small) {
            report_on(stderr, &file, &error.to_string(), None);
        }
        let words = args.iter().chain([&file]).map(|word| quoted(word));
        let command = format!("toolstream check --laws {}", words.collect::<Vec<_>>().join(" "));
        Violation { law, message, file, size: small.len(), command, name: name.into() }
    }

    fn page(&self) -> String {
        let Violation { law, message, size, command, name, .. } = self;
        let mut page = String::new();
        json::make_safe(&format!("{name}: it breaks the law `{law}`: {message}"), &mut page);
        page.push_str("\n    ");
        json::make_safe(&format!("in {} bytes: {command}", grouped(*size as u64)), &mut page);
        page.push('\n');
        page
    }

    fn json(&self) -> String {
        let Violation { law, message, file, size, command, .. } = self;
        let [message, file, command] = [message, file, command].map(|text| json::quote(text));
        format!(
            "{{\"law\":\"{law}\",\"message\":{message},\"file\":{file},\"bytes\":{size},\"command\":{command}}}"
        )
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,+:".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Reads the options that a golden file keeps.
fn parsed(args: &[String]) -> Result<Check, GoldenError> {
    let words = ["toolstream", "check"].into_iter().chain(args.iter().map(String::as_str));
    match Cli::try_parse_from(words.chain(["capture"])) {
        Ok(Cli { command: Command::Check(Late(check)) }) => Ok(check),
        Ok(_) => Err(unreadable("they name another command")),
        Err(error) => Err(unreadable(error.to_string().lines().next().unwrap_or_default())),
    }
}

/// Returns the error of options that cannot be read.
fn unreadable(why: &str) -> GoldenError {
    GoldenError::Edited(format!("its args cannot be used: {why}"))
}

/// Returns the object of a capture.
fn object(name: &str, verdict: &Verdict, laws: Option<&[Violation]>) -> String {
    let result = KINDS.get(verdict.place()).map_or("", |kind| kind.name);
    let mut line =
        format!("{{\"type\":\"capture\",\"file\":{},\"result\":\"{result}\"", json::quote(name));
    if let Some(message) = verdict.message() {
        line.push_str(&format!(",\"message\":{}", json::quote(&message)));
    }
    if let Verdict::Differs(was, is) = verdict {
        let changes = changes(was, is).into_iter().map(|change| {
            let old = json::array(was.get(change.was.clone()).unwrap_or_default());
            let new = json::array(is.get(change.is).unwrap_or_default());
            format!("{{\"event\":{},\"was\":{old},\"is\":{new}}}", change.was.start + 1)
        });
        line.push_str(&format!(",\"changes\":{}", json::array(changes)));
    }
    if let Some(broken) = laws {
        let broken = json::array(broken.iter().map(Violation::json));
        line.push_str(&format!(",\"broken_laws\":{broken}"));
    }
    line.push_str("}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Config;

    fn given(args: &[&str]) -> Given {
        Given::new(["toolstream", "check"].iter().chain(args).map(OsString::from))
    }

    #[test]
    fn options_that_say_how_to_read_are_kept() {
        let all = given(&[
            "--update",
            "-f",
            "text",
            "-d",
            "hermes",
            "--strict",
            "--only",
            "text,usage",
            "-j2",
            "a",
        ]);
        assert_eq!(all.reading, ["--format=text", "--dialect=hermes", "--strict"]);
        assert_eq!(all.only, ["--only=text,usage"]);
        assert!(given(&["a"]).or(&[]).is_empty());
        let kept = ["--format=text".to_owned(), "--only=text".to_owned()];
        assert_eq!(given(&["a"]).or(&kept), kept);
        assert_eq!(given(&["--only=usage", "a"]).or(&kept), ["--format=text", "--only=usage"]);
        assert_eq!(parsed(&kept).unwrap().only, ["text"]);
    }

    #[test]
    fn the_sum_counts_in_words() {
        let mut sum = Sum { counts: [1041, 0, 3, 1, 0, 0, 0, 0, 0], laws: None };
        assert_eq!(
            sum.to_string(),
            "1,045 checked: 1,041 the same, 3 differ, 1 has no golden file"
        );
        sum.counts = [0; KINDS.len()];
        sum.laws = Some((2, 1));
        assert_eq!(sum.to_string(), "0 checked: 2 keep the laws, 1 breaks a law");
    }

    #[test]
    fn a_broken_law_is_shown_by_a_small_file_beside_the_capture() {
        let folder = tempfile::TempDir::new().unwrap();
        let name = folder.path().join("a b.txt").display().to_string();
        fs::write(&name, "It was a warm day. ".repeat(40)).unwrap();
        // A read that begins inside a word loses a byte.
        let mutant = |config: &Config, pieces: &[&[u8]]| {
            let kept = pieces.iter().map(|piece| match piece.starts_with(b"arm") {
                true => &piece[1..],
                false => *piece,
            });
            joined(config, &kept.collect::<Vec<_>>())
        };
        let args = parsed(&["--laws".into(), "--format=text".into()]).unwrap();
        let given = given(&["--laws", "--format=text", "a"]);
        let run = Run { args: &args, given, read: &mutant, sum: Mutex::default() };
        let finished = run.one(&name);
        let file = format!("{name}.pieces.broken");
        let out = String::from_utf8(finished.out).unwrap();
        assert!(
            out.contains(&format!("bytes: toolstream check --laws --format=text '{file}'")),
            "{out}"
        );
        assert!(out.contains("it breaks the law `pieces`"), "{out}");
        assert!(fs::read(&file).unwrap().len() < 20);
        assert_eq!((finished.status.code(false), finished.stderr.as_slice()), (1, &b""[..]));
        assert_eq!(
            run.sum.into_inner().unwrap().to_string(),
            "1 checked: 1 has no golden file, 1 breaks a law"
        );
    }
}
