//! `formats`: every framing, wire format, dialect, local program and recorder of exchanges in columns,
//! or all of one row.

use std::collections::BTreeSet;
use std::slice;

use anyhow::{anyhow, bail};
use serde::Serialize;

use crate::cassette::recorders;
use crate::cli::Formats;
use crate::commands::print;
use crate::dialect::DIALECTS;
use crate::dressing::PROGRAMS;
use crate::format::{self, FORMATS, Format};
use crate::frame::FRAMINGS;
use crate::io::columns;
use crate::json;
use crate::nearest::nearest;

/// The width of the names, in columns.
const NAME_WIDTH: usize = 23;

/// The columns that say what can be done with a format.
const CAN: &str = "READS WRITES NEXT";

/// The fewest columns that the text beside a name takes; a narrower terminal wraps it by itself.
const MIN_WIDTH: usize = 24;

pub(super) fn formats(args: &Formats) -> anyhow::Result<u8> {
    let own = args.name.as_deref().filter(|name| name.contains(['/', '.']));
    let own = own.map(|path| format::open(path).map_err(|error| anyhow!("{path}: {error}")));
    let own = own.transpose()?.flatten();
    if let Some(name) = args.name.as_deref().filter(|_| args.row) {
        let Some(format) = own.or_else(|| format::find(name)) else {
            bail!("no format is named {name}");
        };
        let Some(row) = format.row() else {
            bail!("{name} is no row: its records need code");
        };
        return print(&as_own(row.toml(), format.name));
    }
    let mut listing = Listing::new(own);
    if let Some(name) = args.name.as_ref().filter(|_| own.is_none()) {
        let names = listing.names();
        listing.retain(name);
        if listing.rows().next().is_none() {
            let near = nearest(name, &names).join(", ");
            match near.is_empty() {
                true => bail!("no framing, format, dialect, program or cassette is named {name}"),
                false => {
                    bail!(
                        "no framing, format, dialect, program or cassette is named {name}; similar: {near}"
                    )
                }
            }
        }
    }
    print(&match (args.json, &args.name) {
        (true, _) => json::line_of(&listing),
        (false, None) => listing.table(columns().unwrap_or(usize::MAX)),
        (false, Some(_)) => listing.rows().map(|row| row.page()).collect::<Vec<_>>().join("\n"),
    })
}

/// Returns a row under a name that no other has, so that it can be loaded as it is.
fn as_own(toml: &str, name: &str) -> String {
    let lines = toml.lines().filter(|line| !line.starts_with("aliases = "));
    let lines = lines.map(|line| match line.starts_with("name = ") {
        true => format!("name = \"my-{name}\"\n"),
        false => format!("{line}\n"),
    });
    lines.collect()
}

/// The five tables.
#[derive(Default, Serialize)]
struct Listing {
    framings: Vec<ListedRow>,
    formats: Vec<ListedRow>,
    dialects: Vec<ListedRow>,
    programs: Vec<ListedRow>,
    cassettes: Vec<ListedRow>,
}

/// A row of any of them; what a table does not have is absent.
#[derive(Default, Serialize)]
struct ListedRow {
    #[serde(skip)]
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    aliases: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'static str>,
    /// True if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<bool>,
    /// True if `convert` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<bool>,
    /// True if `next` and `agent` write its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markers: Option<Vec<String>>,
    /// What shows a user's own format, in which there is no mistake.
    #[serde(skip)]
    known_by: Option<String>,
    /// The built-in formats before which it takes a record.
    #[serde(skip)]
    overlaps: Vec<&'static str>,
}

impl Listing {
    /// Returns all rows, or that of one format of a user's.
    fn new(own: Option<&'static Format>) -> Self {
        if let Some(format) = own {
            let known_by = format.known_by();
            let overlaps = format.overlaps();
            let row = ListedRow { known_by, overlaps, ..ListedRow::of(format) };
            return Listing { formats: vec![row], ..Listing::default() };
        }
        let framings = FRAMINGS.iter().map(|row| ListedRow {
            kind: "framing",
            name: row.name,
            about: Some(row.about),
            ..ListedRow::default()
        });
        let formats = FORMATS.iter().map(|row| ListedRow::of(row));
        let dialects = DIALECTS.iter().map(|row| ListedRow {
            kind: "dialect",
            name: row.name,
            aliases: Some(row.aliases),
            models: Some(row.models),
            markers: Some(row.markers().collect()),
            ..ListedRow::default()
        });
        let programs = PROGRAMS.iter().map(|row| ListedRow {
            kind: "program",
            name: row.name,
            aliases: Some(row.aliases),
            about: Some(row.about),
            link: Some(row.link),
            ..ListedRow::default()
        });
        let cassettes = recorders().map(|row| ListedRow {
            kind: "cassette",
            name: row.name,
            about: Some(row.about),
            link: Some(row.link),
            ..ListedRow::default()
        });
        Listing {
            cassettes: cassettes.collect(),
            programs: programs.collect(),
            framings: framings.collect(),
            formats: formats.collect(),
            dialects: dialects.collect(),
        }
    }

    fn rows(&self) -> impl Iterator<Item = &ListedRow> {
        let wire = self.framings.iter().chain(&self.formats);
        wire.chain(&self.dialects).chain(&self.programs).chain(&self.cassettes)
    }

    /// Returns every name and alias once: a format and a dialect may share one.
    fn names(&self) -> Vec<&'static str> {
        let names: BTreeSet<_> = self.rows().flat_map(ListedRow::names).collect();
        names.into_iter().collect()
    }

    /// Keeps the rows of this name or alias; `-` and `_` are the same.
    fn retain(&mut self, name: &str) {
        let name = name.replace('_', "-");
        let Listing { framings, formats, dialects, programs, cassettes } = self;
        for rows in [framings, formats, dialects, programs, cassettes] {
            rows.retain(|row| row.names().any(|known| known.replace('_', "-") == name));
        }
    }

    /// Returns two columns that fit into `width`.
    fn table(&self, width: usize) -> String {
        let mut out = String::new();
        let tables = [
            ("FRAMING", "", "ABOUT", &self.framings),
            ("FORMAT", CAN, "ABOUT", &self.formats),
            ("DIALECT", "", "MODELS", &self.dialects),
            ("PROGRAM", "", "ABOUT", &self.programs),
            ("CASSETTE", "", "ABOUT", &self.cassettes),
        ];
        for (name, can, about, rows) in tables {
            line(name, can, about, width, &mut out);
            for row in rows {
                line(row.name, &row.can(), &row.about(), width, &mut out);
            }
            out.push('\n');
        }
        out.push_str(
            "WRITES: `convert --to` does. NEXT: `next` and `agent` write its requests.\n\
             `toolstream formats NAME` prints all of one, `--json` all of all.\n",
        );
        out
    }
}

impl ListedRow {
    fn of(format: &Format) -> ListedRow {
        ListedRow {
            kind: "format",
            name: format.name,
            aliases: Some(format.aliases),
            about: Some(format.about),
            link: Some(format.link),
            reads: Some(true),
            writes: Some(format.write.is_some()),
            next: Some(format.request.is_some()),
            evidence: Some(format.evidence),
            ..ListedRow::default()
        }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name].into_iter().chain(self.aliases.into_iter().flatten().copied())
    }

    /// Returns what can be done with it, in the columns of [`CAN`].
    fn can(&self) -> String {
        let can = [(self.reads, "READS"), (self.writes, "WRITES"), (self.next, "NEXT")];
        let columns = can.iter().filter_map(|(can, head)| Some((can.as_ref()?, head.len())));
        let columns =
            columns.map(|(can, width)| format!("{:<width$}", if *can { "yes" } else { "" }));
        columns.collect::<Vec<_>>().join(" ")
    }

    fn about(&self) -> String {
        self.about.map_or_else(|| joined(self.models), str::to_owned)
    }

    /// Returns all of the row, a line for each part.
    fn page(&self) -> String {
        let mut out = String::new();
        let mut part = |name: &str, words: Option<&[&str]>| {
            let text = joined(words);
            if !text.is_empty() {
                out.push_str(&format!("{name:<12} "));
                json::make_safe(&text, &mut out);
                out.push('\n');
            }
        };
        part(self.kind, Some(&[self.name]));
        part("also called", self.aliases);
        part("about", self.about.as_ref().map(slice::from_ref));
        part("models", self.models);
        for (at, marker) in self.markers.iter().flatten().enumerate() {
            part(if at == 0 { "markers" } else { "" }, Some(&[marker]));
        }
        let can = [(self.writes, "convert --to"), (self.next, "next and agent")];
        let can = can.into_iter().filter(|(can, _)| *can == Some(true)).map(|(_, what)| what);
        part("written by", Some(&can.collect::<Vec<_>>()));
        part("told by", self.evidence);
        if let Some(known_by) = &self.known_by {
            part("known by", Some(&[known_by]));
            part("hides", Some(&self.overlaps));
            part("checked", Some(&["no mistake was found"]));
        }
        part("see", self.link.as_ref().map(slice::from_ref));
        out
    }
}

fn joined(words: Option<&[&str]>) -> String {
    words.into_iter().flatten().copied().collect::<Vec<_>>().join(", ")
}

/// Adds a name and the texts beside it. The lines of the last one break at words.
fn line(name: &str, can: &str, about: &str, width: usize, out: &mut String) {
    let can = if can.is_empty() { String::new() } else { format!("{can}  ") };
    let indent = NAME_WIDTH + can.len();
    let room = width.saturating_sub(indent).max(MIN_WIDTH);
    out.push_str(&format!("{name:<NAME_WIDTH$}{can}"));
    let mut used = 0;
    for word in about.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            out.push_str(&format!("\n{:<indent$}", ""));
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        json::make_safe(word, out);
        used += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, about: &str, width: usize, expected: &[&str]) {
        let mut out = String::new();
        line(name, "", about, width, &mut out);
        assert_eq!(out.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn text_breaks_at_words() {
        check("a", "b c", usize::MAX, &["a                      b c"]);
        check(
            "sse",
            "one two three four five six",
            48,
            &["sse                    one two three four five", "                       six"],
        );
        check(
            "a",
            "x".repeat(30).as_str(),
            0,
            &[&format!("a{}{}", " ".repeat(22), "x".repeat(30))],
        );
    }

    #[test]
    fn every_row_is_listed() {
        let listing = Listing::new(None);
        let names = listing.names();
        for name in &names {
            let near = nearest(name, &names);
            assert_eq!(near.iter().filter(|near| *near == name).count(), 1, "{name}: {near:?}");
        }
        let (text, object) = (listing.table(80), json::line_of(&listing));
        for row in listing.rows() {
            let is_line = |line: &str| line.split(' ').next() == Some(row.name);
            assert!(text.lines().any(is_line), "{}", row.name);
            assert!(object.contains(row.name) && row.name.len() < NAME_WIDTH, "{}", row.name);
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
