//! What `formats` prints: every framing, wire format and dialect.

use serde::Serialize;

use crate::cli::Formats;
use crate::commands::print;
use crate::dialect::table::DIALECTS;
use crate::format::table::FORMATS;
use crate::frame::FRAMINGS;
use crate::json;

pub(super) fn formats(args: &Formats) -> anyhow::Result<u8> {
    print(&if args.json { listing_as_json() } else { listing() })
}

/// The tables, their columns aligned.
fn listing() -> String {
    let mut out = String::new();
    let framings = FRAMINGS
        .iter()
        .map(|row| [row.name.into(), row.about.into(), String::new(), String::new()]);
    let formats = FORMATS
        .iter()
        .map(|row| [row.name.into(), row.about.into(), row.aliases.join(", "), row.link.into()]);
    let dialects = DIALECTS.iter().map(|row| {
        let markers: Vec<_> = row.markers().collect();
        [row.name.into(), row.models.join(", "), row.aliases.join(", "), markers.join(" ")]
    });
    table(["FRAMING", "ABOUT", "", ""], framings, &mut out);
    out.push('\n');
    table(["FORMAT", "ABOUT", "ALSO CALLED", "SEE"], formats, &mut out);
    out.push('\n');
    table(["DIALECT", "MODELS", "ALSO CALLED", "MARKERS"], dialects, &mut out);
    out
}

/// Adds a table. The columns are as wide as their widest cell.
fn table(head: [&str; 4], rows: impl Iterator<Item = [String; 4]>, out: &mut String) {
    let rows: Vec<[String; 4]> = [head.map(str::to_owned)].into_iter().chain(rows).collect();
    let mut widths = [0; 4];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in &rows {
        let mut line = String::new();
        for (width, cell) in widths.into_iter().zip(row) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        json::make_safe(line.trim_end(), out);
        out.push('\n');
    }
}

#[derive(Serialize)]
struct Listing {
    framings: Vec<FramingRow>,
    formats: Vec<FormatRow>,
    dialects: Vec<DialectRow>,
}

#[derive(Serialize)]
struct FramingRow {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct FormatRow {
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    link: &'static str,
}

#[derive(Serialize)]
struct DialectRow {
    name: &'static str,
    aliases: &'static [&'static str],
    models: &'static [&'static str],
    markers: Vec<String>,
}

/// The tables as one object, on a line.
fn listing_as_json() -> String {
    let framings = FRAMINGS.iter().map(|row| FramingRow { name: row.name, about: row.about });
    let formats = FORMATS.iter().map(|row| FormatRow {
        name: row.name,
        aliases: row.aliases,
        about: row.about,
        link: row.link,
    });
    let dialects = DIALECTS.iter().map(|row| DialectRow {
        name: row.name,
        aliases: row.aliases,
        models: row.models,
        markers: row.markers().collect(),
    });
    let listing = Listing {
        framings: framings.collect(),
        formats: formats.collect(),
        dialects: dialects.collect(),
    };
    let mut out = String::new();
    // Text and lists of text can always be written.
    json::make_safe(&serde_json::to_string(&listing).unwrap_or_default(), &mut out);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[[&str; 4]], expected: &str) {
        let mut out = String::new();
        let rows = rows.iter().map(|row| row.map(str::to_owned));
        table(["NAME", "ABOUT", "", ""], rows, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn columns_are_aligned() {
        check(&[["a", "b", "", ""]], "NAME  ABOUT\na     b\n");
        check(&[["longer", "b", "c", ""]], "NAME    ABOUT\nlonger  b      c\n");
    }

    #[test]
    fn every_row_is_listed() {
        let (text, object) = (listing(), listing_as_json());
        for name in FORMATS.iter().map(|row| row.name).chain(DIALECTS.iter().map(|row| row.name)) {
            assert!(text.contains(name) && object.contains(name), "{name}");
        }
    }
}
