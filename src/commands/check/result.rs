//! What came of each capture, and the sum.

use std::path::Path;
use std::{fmt, io};

use crate::capture::{Diff, Golden};
use crate::commands::check::laws::Violation;
use crate::commands::check::select::GOLDEN;
use crate::io::write_shared;
use crate::json::object_of;
use crate::sink::grouped;
use crate::status::Outcome;

/// A kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    Same,
    New,
    Changed,
    Mended,
    Removed,
    Differs,
    NoGolden,
    NoCapture,
    Newer,
    Broken,
    /// A secret is left in its events.
    Secret,
    Unreadable,
    Unwritten,
    /// It is no capture.
    Passed,
}

/// How a kind of result is counted.
pub(super) struct KindRow {
    kind: ResultKind,
    /// Its name in JSON.
    pub(super) name: &'static str,
    /// The words of the sum for one, and for several.
    words: (&'static str, &'static str),
    /// What it means for the exit status.
    pub(super) outcome: Option<Outcome>,
}

const fn row(
    kind: ResultKind,
    name: &'static str,
    one: &'static str,
    several: &'static str,
    outcome: Option<Outcome>,
) -> KindRow {
    KindRow { kind, name, words: (one, several), outcome }
}

const NO: Option<Outcome> = Some(Outcome::No);

/// The kinds of results, in the order of the sum.
pub(super) const KINDS: &[KindRow] = &[
    row(ResultKind::Same, "same", "the same", "the same", None),
    row(ResultKind::New, "new", "new", "new", None),
    row(ResultKind::Changed, "changed", "changed", "changed", None),
    row(ResultKind::Mended, "mended", "mended", "mended", None),
    row(ResultKind::Removed, "removed", "removed", "removed", None),
    row(ResultKind::Differs, "differs", "differs", "differ", NO),
    row(ResultKind::NoGolden, "no_golden", "has no golden file", "have no golden file", NO),
    row(ResultKind::NoCapture, "no_capture", "has no capture", "have no capture", NO),
    row(ResultKind::Newer, "newer", "has a newer golden file", "have newer golden files", NO),
    row(ResultKind::Broken, "broken", "has a broken golden file", "have broken golden files", NO),
    row(ResultKind::Secret, "secret", "has a secret", "have secrets", NO),
    row(
        ResultKind::Unreadable,
        "unreadable",
        "can't be read",
        "can't be read",
        Some(Outcome::Usage),
    ),
    row(
        ResultKind::Unwritten,
        "unwritten",
        "can't be written",
        "can't be written",
        Some(Outcome::Io),
    ),
];

/// The result of one capture.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) name: String,
    pub(super) kind: ResultKind,
    /// What is to be said beside its name, if anything is.
    pub(super) message: String,
    pub(super) diff: Diff,
    /// What is odd about the golden file that was written.
    pub(super) notes: Vec<String>,
    /// The golden file that it gives now; of one that is gone, the one that is there.
    pub(super) fresh: Option<Golden>,
    /// True if something has changed the line ends of its golden file.
    pub(super) is_recoded: bool,
    /// With `--laws`, those that it breaks.
    pub(super) broken: Option<Vec<Violation>>,
    /// True if it needs no golden file.
    pub(super) is_excused: bool,
}

impl Checked {
    pub(super) fn new(name: &str, kind: ResultKind, message: impl Into<String>) -> Self {
        Checked {
            name: name.to_owned(),
            kind,
            message: message.into(),
            diff: Diff::default(),
            notes: Vec::new(),
            fresh: None,
            is_recoded: false,
            broken: None,
            is_excused: false,
        }
    }

    /// Writes the golden file that it gives now: it becomes new, mended or changed.
    pub(super) fn accept(&mut self) -> io::Result<()> {
        let path = format!("{}{GOLDEN}", self.name);
        let text = self.fresh.as_ref().map(Golden::text).unwrap_or_default();
        let named = |error| io::Error::other(format!("{path}: {error}"));
        write_shared(Path::new(&path), text).map_err(named)?;
        self.kind = match self.kind {
            ResultKind::NoGolden => ResultKind::New,
            ResultKind::Broken => ResultKind::Mended,
            _ => ResultKind::Changed,
        };
        Ok(())
    }

    /// How its kind is counted; none if it is no capture.
    pub(super) fn row(&self) -> Option<&'static KindRow> {
        KINDS.iter().find(|row| row.kind == self.kind)
    }

    /// What it means for the exit status.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let breaks = self.broken.as_ref().is_some_and(|broken| !broken.is_empty());
        let own = self.row().and_then(|row| row.outcome).filter(|_| !self.is_excused);
        own.or(breaks.then_some(Outcome::No))
    }

    /// The line of the golden file that is meant.
    pub(super) fn line(&self) -> usize {
        self.diff.hunks.first().map_or(1, |hunk| hunk.line)
    }
}

/// The number of captures with each result.
pub(super) struct ResultSum {
    /// Each kind, in the order of the table, and how many are of it.
    counts: Vec<(&'static KindRow, u64)>,
    passed: u64,
    /// With `--laws`, how many keep them, and how many break one.
    laws: Option<(u64, u64)>,
}

impl ResultSum {
    pub(super) fn of(checked: &[Checked], passed: usize) -> Self {
        let of = |kind| checked.iter().filter(|one| one.kind == kind).count() as u64;
        let counts = KINDS.iter().map(|row| (row, of(row.kind))).collect();
        let breaks = || checked.iter().filter_map(|one| Some(!one.broken.as_ref()?.is_empty()));
        let laws = |wanted| breaks().filter(|breaks| *breaks == wanted).count() as u64;
        ResultSum {
            counts,
            passed: passed as u64 + of(ResultKind::Passed),
            laws: breaks().next().map(|_| (laws(false), laws(true))),
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn has(&self, kind: ResultKind) -> bool {
        self.counts.iter().any(|(row, count)| *count > 0 && row.kind == kind)
    }

    /// Returns why the answer is no, if it is, and what can be done about it: `command` writes golden
    /// files.
    pub(super) fn why(&self, command: &str) -> Option<String> {
        let has = |kind| self.has(kind);
        if self.laws.is_some_and(|(_, broken)| broken > 0) {
            let why = "a law is broken, which is a fault of this program: please report the smallest \
                       input that shows it";
            return Some(why.into());
        }
        if has(ResultKind::Differs) || has(ResultKind::Broken) {
            let why = "the golden files say otherwise";
            return Some(format!("{why}; `{command}` writes what the captures give now"));
        }
        if has(ResultKind::NoGolden) && self.laws.is_none() {
            return Some(format!("golden files are missing; `{command}` writes them"));
        }
        if has(ResultKind::NoCapture) {
            let prune = command.replace(" --update", " --prune");
            return Some(format!("captures are gone; `{prune}` removes their golden files"));
        }
        if has(ResultKind::Secret) {
            return Some("a secret is left, so no golden file is written".into());
        }
        has(ResultKind::Newer)
            .then(|| "golden files are newer; `cargo install toolstream` gets a newer one".into())
    }

    pub(super) fn json(&self, why: Option<&str>) -> String {
        object_of!(
            line;
            "type": "sum",
            "checked": self.total(),
            ..self.counts.iter().for_each(|(row, count)| line.number(row.name, *count)),
            "passed_over": self.passed,
            "keep_laws": self.laws.map(|(kept, _)| kept),
            "break_laws": self.laws.map(|(_, broken)| broken),
            "why": why,
        )
    }
}

impl fmt::Display for ResultSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let laws = self.laws.into_iter().flat_map(|(kept, broken)| {
            [(kept, ("keeps the laws", "keep the laws")), (broken, ("breaks a law", "break laws"))]
        });
        let counts = self.counts.iter().map(|(row, count)| (*count, row.words));
        let counts = counts.chain(laws).filter(|(count, _)| *count > 0);
        let parts = counts.map(|(count, (one, several))| {
            format!("{} {}", grouped(count), if count == 1 { one } else { several })
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        let colon = if parts.is_empty() { "" } else { ": " };
        write!(f, "{} checked{colon}{parts}", grouped(self.total()))?;
        match self.passed {
            0 => Ok(()),
            1 => f.write_str("; 1 file was passed over"),
            more => write!(f, "; {} files were passed over", grouped(more)),
        }
    }
}
