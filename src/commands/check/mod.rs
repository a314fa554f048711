//! `check`: captures against their golden files.
//!
//! What is a capture is found first (`select`), with the settings of its folder (`settings`); each is
//! then read and compared, several at once; what came of all (`result`) is asked about (`review`),
//! and printed in the end (`report`).

mod laws;
mod parts;
mod report;
mod result;
#[cfg(unix)]
mod review;
mod select;
mod settings;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;

use crate::capture::{
    Compared, Diff, Filter, Golden, GoldenError, GoldenFile, ReadWith, Redactor, joined, kind,
};
use crate::cli::Check;
use crate::commands::check::laws::violations;
pub(super) use crate::commands::check::parts::CaptureParts;
use crate::commands::check::report::{ReportStyle, report as page};
use crate::commands::check::result::{Checked, ResultKind, ResultSum};
pub(super) use crate::commands::check::select::with_captures;
use crate::commands::check::select::{CheckedFile, FoundCaptures, GOLDEN, is_special, is_stream};
use crate::commands::check::settings::Settings;
#[cfg(not(unix))]
use crate::commands::elsewhere as review;
use crate::commands::mistakes::quoted;
use crate::commands::parallel::in_order;
use crate::commands::redact::{left, redact};
use crate::commands::{has_color, print};
use crate::io::{Signals, die, report, report_on, write_whole};
use crate::json;
use crate::pipeline::Config;
use crate::status::Outcome;

pub(super) fn check(args: &Check) -> anyhow::Result<u8> {
    let signals = Signals::listen()?;
    let given = Settings::given(args);
    // A wrong option is reported once, and not for each golden file.
    if let Err(why) = Settings::default().then(&given).read() {
        bail!("{}", why.of_settings());
    }
    let found = FoundCaptures::new(args)?;
    let mut status = found.status;
    let mut redactor = Redactor::default();
    let unredacted = match args.redact {
        true => redact_all(&mut redactor, &found.captures),
        false => BTreeMap::new(),
    };
    let readings = Mutex::default();
    let run = CheckRun { args, given, redactor, unredacted, read: &joined, readings };
    let is_over = AtomicBool::new(false);
    let captures = found.captures.iter();
    let next =
        captures.take_while(|_| !is_over.load(Ordering::Relaxed) && signals.caught().is_none());
    let check = |capture| {
        let mut stderr = Vec::new();
        let one = run.one(capture, &mut stderr);
        is_over.fetch_or(args.fail_fast && one.outcome().is_some(), Ordering::Relaxed);
        (one, stderr)
    };
    let mut results = Vec::new();
    in_order(usize::from(args.jobs).min(found.captures.len()), next, check, |(one, stderr)| {
        let _ = io::stderr().write_all(&stderr);
        results.push(one);
        Ok::<(), io::Error>(())
    })?;
    let signal = signals.caught();
    if args.review && signal.is_none() {
        review::review(&mut results, &signals)?;
    }
    find_renamed(&mut results);
    if args.prune && signal.is_none() {
        prune(&mut results);
    }
    let sum = ResultSum::of(&results, found.passed.len());
    for one in &results {
        let Some(outcome) = one.outcome() else { continue };
        status.note(outcome);
        if matches!(one.kind, ResultKind::Unreadable | ResultKind::Unwritten) {
            report_on(&mut io::stderr(), &one.name, &one.message, None);
        }
    }
    let is_full = args.full;
    let style = ReportStyle { form: args.report, is_full, has_color: has_color(args.color) };
    let why = sum.why(&command(args));
    print(&page(&results, &sum, why.as_deref(), style))?;
    if let Some(signal) = signal {
        die(signal);
    }
    report_recoded(&results);
    if sum.total() == 0 && status.code(false) == 0 {
        report(&mut io::stderr(), "there is no capture to check");
        status.note(Outcome::Usage);
    }
    Ok(status.code(false))
}

/// Returns the command that writes the golden files of this run.
fn command(args: &Check) -> String {
    let words = args.reading.files.iter().map(|word| format!(" {}", quoted(word)));
    format!("toolstream check --update{}", words.collect::<String>())
}

/// Reports golden files whose line ends something has changed, once.
fn report_recoded(checked: &[Checked]) {
    let names: Vec<&str> =
        checked.iter().filter(|one| one.is_recoded).map(|one| one.name.as_str()).collect();
    let Some(first) = names.first() else { return };
    let more = match names.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let message = format!(
        "{first}{GOLDEN}{more}: CR LF or a byte order mark, which git writes where no .gitattributes \
         says `captures/** -text`; they are read as LF"
    );
    report(&mut io::stderr(), &message);
}

/// Says of a capture that is gone which one gives the same events, and the other way round.
fn find_renamed(checked: &mut [Checked]) {
    let events = |one: &Checked| one.fresh.as_ref().map(|golden| golden.events.clone());
    let of = |kind: &[ResultKind], checked: &[Checked]| -> Vec<(usize, String)> {
        let all = checked.iter().enumerate().filter(|(_, one)| kind.contains(&one.kind));
        all.filter_map(|(at, one)| Some((at, events(one)?))).collect()
    };
    let mut new = of(&[ResultKind::NoGolden, ResultKind::New], checked);
    for (gone, events) in of(&[ResultKind::NoCapture], checked) {
        let Some(at) = new.iter().position(|(_, other)| *other == events) else { continue };
        let (other, _) = new.remove(at);
        if let Ok([old, new]) = checked.get_disjoint_mut([gone, other]) {
            old.message = format!("it was renamed: {} gives the same events", new.name);
            new.message.push_str(&format!("; it was {}, and was renamed", old.name));
        }
    }
}

/// Removes the golden files of captures that are gone.
fn prune(checked: &mut [Checked]) {
    for one in checked.iter_mut().filter(|one| one.kind == ResultKind::NoCapture) {
        let path = format!("{}{GOLDEN}", one.name);
        (one.kind, one.message) = match fs::remove_file(&path) {
            Ok(()) => {
                (ResultKind::Removed, format!("its golden file was removed: {}", one.message))
            }
            Err(error) => (ResultKind::Unwritten, format!("{path}: {error}")),
        };
    }
}

/// Replaces the secrets in captures; the same secret has the same word in all of them. One that
/// cannot be read is left to the check. Returns those in which it could not be done, with the reason.
fn redact_all(redactor: &mut Redactor, captures: &[CheckedFile]) -> BTreeMap<String, String> {
    let mut redact = |name: &str| -> io::Result<()> {
        let Ok(mut capture) = read_capture(name) else { return Ok(()) };
        match redact(redactor, name, &mut capture, &mut io::stderr())? {
            true => write_whole(Path::new(name), &capture),
            false => Ok(()),
        }
    };
    let names = captures.iter().map(|capture| &capture.name);
    names.filter_map(|name| Some((name.clone(), redact(name).err()?.to_string()))).collect()
}

/// Reads a capture, unless reading it may never end.
fn read_capture(name: &str) -> io::Result<Vec<u8>> {
    if is_special(fs::metadata(name)?.file_type()) {
        let why = "is a pipe or a device, and no file: `toolstream record` makes one of it";
        return Err(io::Error::other(why));
    }
    fs::read(name)
}

/// One run over all captures.
struct CheckRun<'a> {
    args: &'a Check,
    /// What the command line says.
    given: Settings,
    /// What has replaced secrets.
    redactor: Redactor,
    /// Captures whose secrets could not be replaced, with the reason.
    unredacted: BTreeMap<String, String>,
    /// The reader that has to keep the laws: a test gives one that breaks a law.
    read: &'a ReadWith<'a>,
    /// The readings so far, by their settings: most captures of a folder have the same.
    readings: Mutex<BTreeMap<Settings, Arc<CaptureReading>>>,
}

/// What a capture and its golden file are read with.
struct CaptureReading {
    settings: Settings,
    config: Config,
    filter: Filter,
}

impl CheckRun<'_> {
    /// Checks one capture.
    fn one(&self, capture: &CheckedFile, stderr: &mut dyn Write) -> Checked {
        let mut one = self.checked(capture, stderr);
        one.is_excused = self.args.laws && one.kind == ResultKind::NoGolden;
        one
    }

    /// True if golden files may be written in the end.
    fn writes(&self) -> bool {
        self.args.update || self.args.review
    }

    /// Of a file that was passed over: why is said where a golden file was to be written.
    fn passed(&self, name: &str, why: &str) -> Checked {
        Checked::new(name, ResultKind::Passed, if self.writes() { why } else { "" })
    }

    fn checked(&self, capture: &CheckedFile, stderr: &mut dyn Write) -> Checked {
        let name = &capture.name;
        if let Some(why) = self.unredacted.get(name) {
            return Checked::new(name, ResultKind::Unwritten, why);
        }
        let path = format!("{name}{GOLDEN}");
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let file = match fs::read(&path) {
            Ok(bytes) => Some(GoldenFile::read(&bytes)),
            Err(error) if is_missing(&error) => None,
            Err(error) => {
                return Checked::new(name, ResultKind::Unreadable, format!("{path}: {error}"));
            }
        };
        let bytes = match (read_capture(name), &file) {
            (Ok(bytes), _) => bytes,
            (Err(error), Some(file)) if is_missing(&error) => {
                let message = "its golden file is there, and it is not";
                let fresh = file.golden.as_ref().ok().cloned();
                return Checked { fresh, ..Checked::new(name, ResultKind::NoCapture, message) };
            }
            (Err(error), _) => {
                return Checked::new(name, ResultKind::Unreadable, error.to_string());
            }
        };
        let (reading, wrong) = match self.reading(capture, file.as_ref()) {
            Ok(reading) => reading,
            Err(error) => return self.unusable(name, &error),
        };
        let parts = CaptureParts::of(&bytes, &reading.config);
        if parts.is_empty() && file.is_none() {
            return self
                .passed(name, "it is a file of recorded exchanges, none of them a model's answer");
        }
        let fresh = self.fresh(capture, &reading, &parts, file.as_ref());
        let is_text = !reading.settings.names_plain_text()
            && !parts.is_of_exchanges()
            && !is_stream(&fresh.events);
        if is_text && !capture.is_known && file.is_none() {
            return self.passed(name, "it is no stream, log or body, and was passed over");
        }
        let broken = (self.args.laws).then(|| {
            let broken = |(part, bytes): (&str, &[u8])| {
                let name = format!("{name}{part}");
                let held = (name.as_str(), &*reading.settings.args);
                violations(self.read, &reading.config, held, bytes, &mut *stderr)
            };
            parts.each().flat_map(broken).collect()
        });
        if let Some(error @ GoldenError::Newer(_)) = &wrong {
            return Checked { broken, ..self.unusable(name, error) };
        }
        if let Some(left) = self.args.redact.then(|| left(&self.redactor, &fresh.events)).flatten()
        {
            return Checked { broken, ..Checked::new(name, ResultKind::Secret, left) };
        }
        let golden = file.as_ref().and_then(|file| file.golden.as_ref().ok());
        let diff = golden
            .map_or_else(Diff::default, |golden| self.compare(&reading.filter, golden, &fresh));
        let is_recoded = file.as_ref().is_some_and(|file| file.is_recoded);
        let is_made_so = golden.is_some_and(|golden| golden.head == fresh.head);
        let (kind, message) = match (&file, &wrong) {
            (None, _) => (ResultKind::NoGolden, "it has no golden file".into()),
            (_, Some(error)) => (ResultKind::Broken, self.unusable(name, error).message),
            _ if !diff.hunks.is_empty() => (ResultKind::Differs, String::new()),
            _ if self.args.update && !is_made_so => {
                (ResultKind::Differs, "its settings are others".into())
            }
            _ if self.args.update && is_recoded => {
                (ResultKind::Broken, "something had changed its line ends".into())
            }
            _ => (ResultKind::Same, String::new()),
        };
        let one = Checked { broken, diff, is_recoded, ..Checked::new(name, kind, message) };
        self.written(one, fresh, is_text)
    }

    /// Writes a golden file that is missing or differs, with `--update`.
    fn written(&self, mut one: Checked, fresh: Golden, is_text: bool) -> Checked {
        if one.kind == ResultKind::Same {
            return one;
        }
        if self.writes() {
            one.notes = odd(&fresh.events, is_text);
        }
        one.fresh = Some(fresh);
        if self.args.update {
            if let Err(error) = one.accept() {
                let message = error.to_string();
                return Checked {
                    broken: one.broken,
                    ..Checked::new(&one.name, ResultKind::Unwritten, message)
                };
            }
            one.message = match (one.kind, one.message.as_str()) {
                (ResultKind::New, _) => "its golden file is new".into(),
                (ResultKind::Mended, why) => format!("its golden file is mended: {why}"),
                (_, "") => "its golden file has changed".into(),
                (_, why) => format!("its golden file has changed: {why}"),
            };
        }
        one
    }

    /// Returns how a capture is read, and what is wrong with its golden file. Where that can be
    /// written anew, options that can't be used are left out.
    fn reading(
        &self,
        capture: &CheckedFile,
        file: Option<&GoldenFile>,
    ) -> Result<(Arc<CaptureReading>, Option<GoldenError>), GoldenError> {
        let mut wrong = file.and_then(|file| file.golden.as_ref().err()).cloned();
        let kept = file.map(|file| Settings::of(&file.head)).unwrap_or_default();
        let all = |kept: &Settings| capture.folder.settings.then(kept).then(&self.given);
        let mut reading = self.reading_of(all(&kept));
        if let Err(error) = &reading
            && self.writes()
        {
            wrong.get_or_insert(error.clone());
            reading = self.reading_of(all(&kept.usable()));
        }
        Ok((reading?, wrong))
    }

    /// Returns how these settings read, which is found out once for all captures that have them.
    fn reading_of(&self, settings: Settings) -> Result<Arc<CaptureReading>, GoldenError> {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = readings.get(&settings) {
            return Ok(Arc::clone(reading));
        }
        let (config, filter) = settings.read()?;
        let reading = Arc::new(CaptureReading { settings: settings.clone(), config, filter });
        readings.insert(settings, Arc::clone(&reading));
        Ok(reading)
    }

    /// Returns the golden file that a capture gives now.
    fn fresh(
        &self,
        capture: &CheckedFile,
        reading: &CaptureReading,
        parts: &CaptureParts<'_>,
        file: Option<&GoldenFile>,
    ) -> Golden {
        let mut head = reading.settings.beyond(&capture.folder.settings);
        head.unread = match self.args.unread {
            true => parts.unread(&reading.config),
            false => file.map(|file| file.head.unread.clone()).unwrap_or_default(),
        };
        Golden { head, events: parts.joined(&reading.config) }
    }

    fn compare(&self, filter: &Filter, golden: &Golden, fresh: &Golden) -> Diff {
        let has_members = self.args.unread && golden.head.unread != fresh.head.unread;
        if golden.events == fresh.events && !has_members {
            return Diff::default();
        }
        let compared = |golden: &Golden| {
            let mut events = filter.apply(&golden.events);
            let members = golden.head.unread.iter().filter(|_| has_members).map(|member| {
                let kind = json::quote(&format!("unread.{member}"));
                Compared { line: 1, text: format!("{{\"type\":{kind}}}") }
            });
            events.splice(0..0, members);
            events
        };
        Diff::new(&compared(golden), &compared(fresh))
    }

    /// Returns the result of a golden file that can't be used, with what can be done.
    fn unusable(&self, name: &str, error: &GoldenError) -> Checked {
        let word = quoted(name);
        match error {
            GoldenError::Newer(_) => Checked::new(name, ResultKind::Newer, error.to_string()),
            _ if self.writes() => Checked::new(name, ResultKind::Broken, error.to_string()),
            _ => {
                let way = format!("`toolstream check --update {word}` writes it anew");
                Checked::new(name, ResultKind::Broken, format!("{error}; {way}"))
            }
        }
    }
}

/// Returns what is odd about the events of a new golden file.
fn odd(events: &str, is_text: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(last) = events.lines().last().filter(|last| kind(last) == "error") {
        let words = ["code", "message"].into_iter().filter_map(|key| json::member(last, key));
        let words: Vec<&str> = words.map(|word| word.trim_matches('"')).collect();
        notes.push(format!("it ends in the error {}", words.join(": ")));
    }
    let holds =
        |line: &str| !["start", "usage", "finish_reason", "error", "warning"].contains(&kind(line));
    if !events.lines().any(holds) {
        notes.push("it holds nothing: no text and no call".into());
    }
    if is_text {
        notes.push(
            "no format was found, so it is read as plain text: `-f text` says that it is".into(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command, Late, ReportForm};

    #[test]
    fn the_sum_counts_in_words() {
        let all = |count: usize, kind| (0..count).map(move |_| Checked::new("a", kind, ""));
        let checked: Vec<_> = all(1041, ResultKind::Same)
            .chain(all(3, ResultKind::Differs))
            .chain(all(1, ResultKind::NoGolden))
            .collect();
        assert_eq!(
            ResultSum::of(&checked, 2).to_string(),
            "1,045 checked: 1,041 the same, 3 differ, 1 has no golden file; 2 files were passed over"
        );
        let passed = [Checked::new("a", ResultKind::Passed, "")];
        assert_eq!(ResultSum::of(&passed, 0).to_string(), "0 checked; 1 file was passed over");
    }

    #[test]
    fn what_is_odd_is_noted() {
        let start = "{\"type\":\"start\",\"v\":1,\"format\":\"openai-chat\"}\n";
        let text = "{\"type\":\"text\",\"text\":\"a\"}\n";
        let cut = "{\"type\":\"error\",\"code\":\"truncated\",\"message\":\"cut\"}\n";
        assert!(odd(&format!("{start}{text}"), false).is_empty());
        assert_eq!(
            odd(&format!("{start}{cut}"), true),
            [
                "it ends in the error truncated: cut",
                "it holds nothing: no text and no call",
                "no format was found, so it is read as plain text: `-f text` says that it is",
            ]
        );
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
        let line = ["toolstream", "check", "--laws", "--format=text"];
        let Command::Check(Late(args)) = Cli::try_parse_from(line).unwrap().command else {
            unreachable!()
        };
        let given = Settings { args: vec!["--format=text".into()], ..Settings::default() };
        let capture = CheckedFile { name: name.clone(), folder: Arc::default(), is_known: true };
        let run = CheckRun {
            args: &args,
            given,
            redactor: Redactor::default(),
            unredacted: BTreeMap::new(),
            read: &mutant,
            readings: Mutex::default(),
        };
        let checked = [run.one(&capture, &mut io::stderr())];
        let sum = ResultSum::of(&checked, 0);
        let style = ReportStyle { form: ReportForm::Text, is_full: false, has_color: false };
        let out = page(&checked, &sum, None, style);
        let file = format!("{name}.pieces.broken");
        assert!(
            out.contains(&format!("bytes: toolstream check --laws --format=text '{file}'")),
            "{out}"
        );
        assert!(out.contains("it breaks the law `pieces`"), "{out}");
        assert!(fs::read(&file).unwrap().len() < 20);
        assert_eq!(checked[0].outcome(), Some(Outcome::No));
        assert!(out.ends_with("1 checked: 1 has no golden file, 1 breaks a law\n"), "{out}");
    }
}
