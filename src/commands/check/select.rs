//! Which files are captures.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::Pattern;

use crate::cassette::CassetteSearch;
use crate::cli::Check;
use crate::commands::check::settings::Folder;
use crate::detect::{self, KnownFormats};
use crate::frame::FrameConfig;
use crate::io::report_on;
use crate::status::{Outcome, Status};

/// The end of the names of files that show how a law breaks.
pub(super) const BROKEN: &str = ".broken";

/// The end of the names of golden files.
pub(super) const GOLDEN: &str = ".golden";

/// The ends of the names of what belongs to captures.
const BESIDE: &[&str] = &[GOLDEN, BROKEN, ".times", ".request.json"];

/// The ends of the names of what editors and git leave behind.
const LEFT: &[&str] = &["~", ".orig", ".rej", ".bak", ".swp"];

/// The ends of the names of captures, whatever is in them.
const CAPTURES: &[&str] = &[".sse", ".ndjson", ".jsonl", ".http", ".answer"];

/// A file that is checked, or its golden file alone.
pub(super) struct CheckedFile {
    pub(super) name: String,
    pub(super) folder: Arc<Folder>,
    /// True if it is a capture whatever it holds: by its name, or as it was named.
    pub(super) is_known: bool,
}

/// The captures that were found, each once, in the order given, and in that of their names in a
/// folder.
#[derive(Default)]
pub(super) struct FoundCaptures {
    pub(super) captures: Vec<CheckedFile>,
    /// The files that were passed over.
    pub(super) passed: Vec<String>,
    pub(super) status: Status,
    seen: BTreeSet<PathBuf>,
}

impl FoundCaptures {
    /// Finds the captures that the arguments name. Fails if the settings of a folder can't be read.
    pub(super) fn new(args: &Check) -> anyhow::Result<FoundCaptures> {
        let mut found = FoundCaptures::default();
        let here = [".".to_owned()];
        let names = if args.reading.files.is_empty() { &here } else { &*args.reading.files };
        for name in names {
            let (path, before) = (Path::new(name), found.captures.len());
            if path.is_dir() {
                found.search_in(name, &args.exclude)?;
                if found.captures.len() == before && found.seen.is_empty() {
                    report_on(&mut io::stderr(), name, "holds no capture", None);
                    found.status.note(Outcome::Usage);
                }
                continue;
            }
            let name = name.strip_suffix(GOLDEN).unwrap_or(name);
            let parent = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = fs::canonicalize(parent.unwrap_or(Path::new(".")));
            let folder =
                parent.as_ref().map_or_else(|_| Ok(Arc::default()), |path| Folder::find(path))?;
            let real =
                parent.unwrap_or_default().join(Path::new(name).file_name().unwrap_or_default());
            found.add(real, name.to_owned(), &folder, true);
        }
        if let Some(text) = &args.filter {
            found.captures.retain(|capture| capture.name.contains(text));
            if found.captures.is_empty() {
                report_on(
                    &mut io::stderr(),
                    "--filter",
                    &format!("no capture has {text:?} in its name"),
                    None,
                );
                found.status.note(Outcome::Usage);
            }
        }
        Ok(found)
    }

    fn add(&mut self, real: PathBuf, name: String, folder: &Arc<Folder>, is_known: bool) {
        if self.seen.insert(real) {
            let is_known = is_known
                || CAPTURES.iter().any(|end| name.ends_with(end))
                || Path::new(&format!("{name}.times")).exists();
            self.captures.push(CheckedFile { name, folder: Arc::clone(folder), is_known });
        }
    }

    /// Adds the captures in a folder that is named.
    fn search_in(&mut self, name: &str, exclude: &[Pattern]) -> anyhow::Result<()> {
        let real = fs::canonicalize(name)?;
        let folder = Folder::find(&real)?.without(&real, exclude);
        let shown = if name == "." { "" } else { name.trim_end_matches('/') };
        let is_here = shown.is_empty() && name != "/";
        let prefix = if is_here { String::new() } else { format!("{shown}/") };
        self.search(&real, &prefix, &folder)
    }

    /// Adds the captures in a folder and in those below it, and those whose golden files alone are
    /// there. Links to folders are not followed. `prefix` stands before the names of its files.
    fn search(&mut self, real: &Path, prefix: &str, folder: &Arc<Folder>) -> anyhow::Result<()> {
        let folder = folder.below(real)?;
        let entries = fs::read_dir(real).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.unwrap_or_else(|error| {
            self.report(prefix, &error.to_string());
            Vec::new()
        });
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = entry.file_name();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let kind = fs::metadata(&path).map(|data| data.file_type());
            let is_folder = kind.as_ref().is_ok_and(FileType::is_dir);
            if name.as_encoded_bytes().starts_with(b".") || (is_link && is_folder) {
                continue;
            }
            let Some(name) = name.to_str() else {
                self.report(
                    &format!("{prefix}{}", name.display()),
                    "its name is not UTF-8: rename it",
                );
                continue;
            };
            let shown = format!("{prefix}{name}");
            if folder.excludes(&path) {
                continue;
            }
            if is_folder {
                self.search(&path, &format!("{shown}/"), &folder)?;
            } else if let Some(capture) = shown.strip_suffix(GOLDEN) {
                let real = real.join(name.strip_suffix(GOLDEN).unwrap_or(name));
                if !real.exists() {
                    self.add(real, capture.to_owned(), &folder, true);
                }
            } else if BESIDE.iter().any(|end| name.ends_with(end)) {
            } else if LEFT.iter().any(|end| name.ends_with(end)) || kind.is_ok_and(is_special) {
                self.passed.push(shown);
            } else {
                self.add(path, shown, &folder, false);
            }
        }
        Ok(())
    }

    fn report(&mut self, name: &str, message: &str) {
        report_on(&mut io::stderr(), name, message, None);
        self.status.note(Outcome::Usage);
    }
}

/// Returns the names of these files, and in place of each folder those of the captures in it. What
/// holds no stream, log or cassette by its beginning is passed over, and counted on standard error. A
/// folder without captures stays, as a name that can't be read.
pub(in crate::commands) fn with_captures(
    names: &[String],
    formats: &KnownFormats,
) -> anyhow::Result<Vec<String>> {
    let mut all = Vec::new();
    for name in names {
        if !Path::new(name).is_dir() {
            all.push(name.clone());
            continue;
        }
        let mut found = FoundCaptures::default();
        found.search_in(name, &[])?;
        let before = all.len();
        let mut passed = found.passed.len();
        for CheckedFile { name, is_known, .. } in found.captures {
            match Path::new(&name).exists() && (is_known || begins_stream(&name, formats)) {
                true => all.push(name),
                false => passed += 1,
            }
        }
        if passed > 0 {
            let files = if passed == 1 { "file was" } else { "files were" };
            report_on(&mut io::stderr(), name, &format!("{passed} {files} passed over"), None);
        }
        if all.len() == before {
            all.push(name.clone());
        }
    }
    Ok(all)
}

/// True if a file begins as a stream, a log or a cassette does. Its first record may be as large as
/// any: it is looked at again each time that as much again was read.
fn begins_stream(name: &str, formats: &KnownFormats) -> bool {
    let Ok(mut file) = fs::File::open(name) else { return false };
    let (mut head, mut search) = (Vec::new(), CassetteSearch::default());
    let (mut size, most) = (detect::WINDOW, FrameConfig::default().max_event);
    loop {
        let more = (size - head.len()) as u64;
        if file.by_ref().take(more).read_to_end(&mut head).is_err() {
            return false;
        }
        let ended = head.len() < size || size >= most;
        let found = search.look(&head, ended);
        if matches!(found, Some(Some(_))) {
            return true;
        }
        let verdict = detect::explain_of(formats, &head, ended);
        if ended || (found.is_some() && verdict.is_final()) {
            return !matches!(verdict.format.as_str(), "unknown" | "text");
        }
        size *= 2;
    }
}

/// True for a pipe, a socket or a device: reading one may never end.
pub(super) fn is_special(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// True if these events are those of a stream, a log or a body: a format was found in the input, or
/// more than text in plain text.
pub(super) fn is_stream(events: &str) -> bool {
    let is_plain = events.starts_with("{\"type\":\"start\",\"v\":1,\"format\":\"text\"")
        && !events.contains("\n{\"type\":\"tool_call\"")
        && !events.contains("\n{\"type\":\"reasoning\"");
    let is_unknown = events.lines().last().is_some_and(|last| {
        last.starts_with("{\"type\":\"error\",\"code\":\"unrecognised\"")
            || (last.starts_with("{\"type\":\"error\"")
                && events.contains("\"format\":\"unknown\""))
    });
    !is_plain && !is_unknown
}
