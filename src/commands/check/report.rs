//! What is printed of the results: for people, as JSON, for GitHub, for JUnit.

use std::collections::BTreeMap;

use quick_xml::Writer;
use quick_xml::escape::escape;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::cli::ReportForm;
use crate::commands::check::laws::Violation;
use crate::commands::check::result::{Checked, ResultKind, ResultSum};
use crate::commands::check::select::GOLDEN;
use crate::json::{self, Minified, object_of};
use crate::sink::grouped;

/// The most lines that are printed for people, unless all are asked for, and the most of one
/// difference in an annotation.
const MAX_LINES: usize = 200;

/// The most kinds of differences that the sum names, and the most files that share a difference.
const MAX_KINDS: usize = 20;
const MAX_NAMES: usize = 3;

/// How results are printed.
#[derive(Clone, Copy)]
pub(super) struct ReportStyle {
    pub(super) form: ReportForm,
    pub(super) is_full: bool,
    pub(super) has_color: bool,
}

/// Returns the report. `why` says why the answer is no, if it is, and what can be done.
pub(super) fn report(
    checked: &[Checked],
    sum: &ResultSum,
    why: Option<&str>,
    style: ReportStyle,
) -> String {
    let why_line: String = why.map(|why| safe(why) + "\n").into_iter().collect();
    match style.form {
        ReportForm::Text => format!("{}{why_line}{sum}\n", text(checked, style)),
        ReportForm::Json => {
            let objects: String =
                checked.iter().filter(|one| one.row().is_some()).map(object).collect();
            format!("{objects}{}\n", sum.json(why))
        }
        ReportForm::Github => {
            let annotations: String = checked.iter().map(annotation).collect();
            format!("{annotations}{why_line}{sum}\n")
        }
        ReportForm::Junit => junit(checked),
    }
}

/// Returns the difference of one capture as people read it.
pub(super) fn difference(one: &Checked, has_color: bool) -> String {
    let names = format!("--- {}{GOLDEN}\n+++ {}\n", safe(&one.name), safe(&one.name));
    names + &one.diff.page(has_color)
}

fn text(checked: &[Checked], style: ReportStyle) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    for one in checked {
        let is_quiet = one.message.is_empty() || one.is_excused;
        if !is_quiet && !matches!(one.kind, ResultKind::Unreadable | ResultKind::Unwritten) {
            lines.push(safe(&format!("{}: {}", one.name, one.message)));
        }
        lines.extend(one.notes.iter().map(|note| safe(&format!("{}: note: {note}", one.name))));
        let broken = one.broken.iter().flatten().map(Violation::page).collect::<String>();
        lines.extend(broken.lines().map(str::to_owned));
        if !one.diff.hunks.is_empty() {
            let names = alike.entry(one.diff.page(style.has_color)).or_default();
            if names.is_empty() {
                order.push(one);
            }
            names.push(&one.name);
        }
    }
    for one in order {
        lines.extend(difference(one, style.has_color).lines().map(str::to_owned));
        let names = alike.get(&one.diff.page(style.has_color));
        if let Some([_, others @ ..]) = names.map(Vec::as_slice)
            && !others.is_empty()
        {
            let more = if others.len() > MAX_NAMES { ", …" } else { "" };
            let shown = others.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
            let count = grouped(others.len() as u64);
            lines.push(safe(&format!("the same in {count} more: {shown}{more}")));
        }
    }
    let count = lines.len();
    if !style.is_full && count > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines.push(format!(
            "… {} more lines: --full prints them",
            grouped((count - MAX_LINES) as u64)
        ));
    }
    lines.extend(kinds(checked));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn safe(text: &str) -> String {
    let mut line = String::new();
    json::make_safe(text, &mut line);
    line
}

/// Returns how often each key differs, the most frequent one first.
fn kinds(checked: &[Checked]) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for kind in checked.iter().flat_map(|one| one.diff.kinds()) {
        *counts.entry(kind).or_default() += 1;
    }
    let mut counts: Vec<(u64, &str)> =
        counts.into_iter().map(|(kind, count)| (count, kind)).collect();
    counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let shown = counts.iter().take(MAX_KINDS);
    let mut lines: Vec<String> =
        shown.map(|(count, kind)| safe(&format!("{:>7} × {kind}", grouped(*count)))).collect();
    if counts.len() > MAX_KINDS {
        lines.push(format!("        and {} more kinds", counts.len() - MAX_KINDS));
    }
    lines
}

/// Returns the object of a capture.
fn object(one: &Checked) -> String {
    let texts = |list: &[String]| json::array(list.iter().map(|text| json::quote(text)));
    let changes = one.diff.hunks.iter().map(|hunk| {
        object_of!(
            line;
            "line": hunk.line as u64,
            "keys": Minified(&texts(&hunk.kinds)),
            "was": Minified(&json::array(&hunk.was)),
            "is": Minified(&json::array(&hunk.is)),
        )
    });
    let changes = (!one.diff.hunks.is_empty()).then(|| json::array(changes));
    let notes = (!one.notes.is_empty()).then(|| texts(&one.notes));
    let broken = one.broken.as_ref().map(|all| json::array(all.iter().map(Violation::json)));
    let object = object_of!(
        line;
        "type": "capture",
        "file": &*one.name,
        "result": one.row().map_or("", |row| row.name),
        "message": Some(&*one.message).filter(|message| !message.is_empty()),
        "notes": notes.as_deref().map(Minified),
        "changes": changes.as_deref().map(Minified),
        "broken_laws": broken.as_deref().map(Minified),
    );
    object + "\n"
}

/// Returns all that is to be said of a capture: one line, and more.
fn findings(one: &Checked) -> (String, String) {
    let kinds: Vec<&str> = one.diff.kinds().take(4).collect();
    let first = match (one.message.is_empty(), kinds.is_empty()) {
        (true, false) => format!("differs: {}", kinds.join(", ")),
        _ => one.message.clone(),
    };
    let broken: String = one.broken.iter().flatten().map(Violation::page).collect();
    let page = one.diff.page(false);
    let lines: Vec<&str> = page.lines().chain(broken.lines()).take(MAX_LINES).collect();
    (first, lines.join("\n"))
}

/// Returns the annotation of a capture that failed, and of what is odd about one. Source:
/// <https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions>.
fn annotation(one: &Checked) -> String {
    let value = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| value(text).replace(':', "%3A").replace(',', "%2C");
    let line = |level: &str, text: &str| {
        let file = property(&format!("{}{GOLDEN}", one.name));
        let place = format!("file={file},line={},title=toolstream check", one.line());
        format!("::{level} {place}::{}\n", value(&safe_lines(text)))
    };
    let (first, rest) = findings(one);
    let rest = if rest.is_empty() { rest } else { format!("\n{rest}") };
    let failure = one.outcome().map(|_| line("error", &format!("{}: {first}{rest}", one.name)));
    let notes = one.notes.iter().map(|note| line("warning", &format!("{}: {note}", one.name)));
    failure.into_iter().chain(notes).collect()
}

fn safe_lines(text: &str) -> String {
    text.split('\n').map(safe).collect::<Vec<_>>().join("\n")
}

/// Returns the XML that continuous integration reads. Source:
/// <https://github.com/testmoapp/junitxml>.
fn junit(checked: &[Checked]) -> String {
    let cases: Vec<&Checked> = checked.iter().filter(|one| one.row().is_some()).collect();
    let is_error =
        |one: &Checked| matches!(one.kind, ResultKind::Unreadable | ResultKind::Unwritten);
    let failed = cases.iter().filter(|one| one.outcome().is_some() && !is_error(one)).count();
    let errors = cases.iter().filter(|one| is_error(one)).count().to_string();
    let (tests, failed) = (cases.len().to_string(), failed.to_string());
    let counts = [("tests", &*tests), ("failures", &failed), ("errors", &errors)];
    let mut out = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory does not fail.
    let _ = out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
    let suite = [&[("name", "toolstream check")], &counts[..]].concat();
    let _ = out.create_element("testsuites").with_attributes(counts).write_inner_content(|out| {
        let suite = out.create_element("testsuite").with_attributes(suite);
        suite.write_inner_content(|out| {
            cases.iter().try_for_each(|one| {
                let (folder, _) = one.name.rsplit_once('/').unwrap_or((".", ""));
                let names = [("classname", xml(folder)), ("name", xml(&one.name))];
                let names = names.iter().map(|(key, value)| (*key, value.as_str()));
                let case = out.create_element("testcase").with_attributes(names);
                if one.outcome().is_none() {
                    return case.write_empty().map(drop);
                }
                let what = if is_error(one) { "error" } else { "failure" };
                let (first, rest) = findings(one);
                case.write_inner_content(|out| {
                    let first = xml(&first);
                    let element =
                        out.create_element(what).with_attribute(("message", first.as_str()));
                    element
                        .write_text_content(BytesText::from_escaped(escape(xml(&rest))))
                        .map(drop)
                })
                .map(drop)
            })
        })?;
        Ok(())
    });
    String::from_utf8_lossy(&out.into_inner()).into_owned() + "\n"
}

/// Returns a text as XML may hold it: some characters can't stand in it, and are written as escapes.
fn xml(text: &str) -> String {
    let is_bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || ('\u{fffe}'..='\u{ffff}').contains(&c)
    };
    let part = |c: char| if is_bad(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    safe_lines(text).chars().map(part).collect()
}
