//! Properties of every marker of every row: what ends a region, what a cut after it is, where white
//! space may stand, and what the quotes of a value are.

use toolstream::Config;
use toolstream::dialect::{Body, Call, DIALECTS, Dialect, Ends, Role, Selection};
use toolstream::format;

use super::{Example, is_in, spelt, spelt_with};
use crate::case::{Print, kind, run};
use crate::json::read;

/// Returns the lines that a text gives.
fn lines(row: &'static Dialect, is_auto: bool, text: &str) -> Vec<String> {
    let dialect = if is_auto { Selection::Auto } else { Selection::Row(row) };
    let config = Config { format: format::find("text"), dialect, ..Config::default() };
    let out = run(&config, Print::Joined, [text.as_bytes()]).out;
    out.lines().filter(|line| kind(line) != "start").map(str::to_owned).collect()
}

/// By its name, and in `auto` if that finds it.
fn choices(row: &Dialect) -> impl Iterator<Item = bool> + use<> {
    let auto = row.auto.then_some(true);
    [false].into_iter().chain(auto)
}

/// The body of a call of `lookup`, `value` as it stands there.
fn body(call: &Call, value: &str) -> Option<String> {
    let is_list = call.next.first().is_some_and(|next| next.starts_with('['));
    let wrapped = |text: String| if is_list { format!("[{text}]") } else { text };
    Some(match &call.body {
        Body::Json(envelope) if envelope.keyed => format!(r#"[{{"lookup": {{"a": {value}}}}}]"#),
        Body::Json(envelope) => {
            let (name, arguments) = (envelope.name.first()?, envelope.arguments.first()?);
            wrapped(format!(r#"{{"{name}": "lookup", "{arguments}": {{"a": {value}}}}}"#))
        }
        Body::Literal(_) => format!("[{{'name': 'lookup', 'arguments': {{'a': {value}}}}}]"),
        Body::Arguments => format!(r#"{{"a": {value}}}"#),
        Body::Braces(_) => format!("{{a: {value}}}"),
        Body::Python if call.next.iter().any(|next| next.contains(".call")) => {
            format!("lookup.call(a={value})")
        }
        Body::Python => wrapped(format!("lookup(a={value})")),
        Body::Parameters(form) => format!("{}{value}{}", spelt(form.open), spelt(form.close)),
        Body::Raw(_) | Body::Yaml | Body::Empty | Body::Unreadable => return None,
    })
}

/// A call of this form in the section of its row, its opener and its body given.
fn in_section(row: &Dialect, call: &Call, open: &str, body: &str) -> String {
    in_section_with(row, call, open, body, &spelt(call.close))
}

fn in_section_with(row: &Dialect, call: &Call, open: &str, body: &str, close: &str) -> String {
    let (before, after) = match row.sections.first() {
        // What opens a call may stand in the place of a section.
        Some(section) if section.open != call.open => (spelt(section.open), spelt(section.close)),
        _ => (String::new(), String::new()),
    };
    format!("{before}{open}{body}{close}{after}")
}

/// True if the lines have one call of `lookup` to run, and nothing else.
fn is_lookup(lines: &[String]) -> bool {
    let calls: Vec<_> = lines.iter().filter(|line| kind(line) == "tool_call").collect();
    let kinds = ["tool_call", "finish_reason", "block", "warning"];
    let name = calls.first().map(|line| read(line)["name"].clone());
    calls.len() == 1
        && name.is_some_and(|name| name == "lookup")
        && lines.iter().all(|line| kinds.contains(&kind(line)))
}

/// Rows whose calls the spelling of a pattern doesn't make, and why.
const NOT_SPELT: &[(&str, &str)] = &[
    ("openai_json_text", "what follows its opener names the envelope"),
    ("yaml_xml", "its opener is any tag"),
    ("cline_xml", "its opener is any tag"),
];

/// Each form of each row that needs no tools.
fn forms() -> impl Iterator<Item = (&'static Dialect, &'static Call)> {
    let is_spelt = |row: &&&'static Dialect| !NOT_SPELT.iter().any(|(name, _)| *name == row.name);
    let rows = DIALECTS.iter().filter(is_spelt);
    rows.flat_map(|row| row.calls.iter().map(move |call| (*row, call)))
        // An opener without a name is that of no tool.
        .filter(|(_, call)| {
            !call.known && (!call.open.contains("{id}") || call.open.contains("{name}"))
        })
}

/// True if `auto` finds calls of this form without tools, and as this row's.
fn is_found(row: &Dialect, call: &Call) -> bool {
    call.open != "{start}{ws}" && (row.name, call.open) != ("granite3", "<tool_call>")
}

/// White space may stand at each joint of a header that leaves it open.
#[test]
fn white_space_at_each_joint_makes_no_difference() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (row, call) in forms() {
        let Some(body) = body(call, "1") else { continue };
        let mut joints = 0;
        spelt_with(call.open, |_| {
            joints += 1;
            String::new()
        });
        for (joint, space) in (0..joints.max(1)).flat_map(|at| ["", " ", "\n"].map(|s| (at, s))) {
            let mut at = 0;
            let open = spelt_with(call.open, |word| {
                at += 1;
                let may_be = match word {
                    "sp" => space != "\n",
                    "nl" => space != " ",
                    _ => true,
                };
                if at == joint + 1 && may_be { space.to_owned() } else { String::new() }
            });
            for is_auto in choices(row).filter(|is_auto| !is_auto || is_found(row, call)) {
                count += 1;
                let text = in_section(row, call, &open, &body);
                let lines = lines(row, is_auto, &text);
                if !is_lookup(&lines) {
                    wrong.push(format!("{} {is_auto}: {text:?} gave {lines:?}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 300, "of {count}:\n{}", wrong.join("\n"));
}

/// What stands between the quotes of a value never holds the quotes.
#[test]
fn values_never_hold_their_quotes() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (row, call) in forms() {
        let quotes: &[&str] = match call.body {
            Body::Json(_) | Body::Arguments => &["\""],
            Body::Literal(_) | Body::Python => &["\"", "'", "\"\"\"", "'''"],
            Body::Braces(delimiter) => &[delimiter, "\"", "'"],
            _ => continue,
        };
        for quote in quotes {
            let Some(body) = body(call, &format!("{quote}Dune II{quote}")) else { continue };
            let text = in_section(row, call, &spelt(call.open), &body);
            count += 1;
            let lines = lines(row, false, &text);
            let call = lines.iter().find(|line| kind(line) == "tool_call");
            let value = call.map(|line| read(line)["arguments"]["a"].clone());
            if !is_lookup(&lines) || value.is_none_or(|value| value != "Dune II") {
                wrong.push(format!("{}: {text:?} gave {lines:?}", row.name));
            }
        }
    }
    assert!(wrong.is_empty() && count > 60, "of {count}:\n{}", wrong.join("\n"));
}

/// What a model writes between the opener and the closer of any form and can't be read is no text.
#[test]
fn insides_of_every_form_are_malformed() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (row, call) in forms() {
        let is_marked = call.open.starts_with(['<', '[', ']']) || call.open.starts_with("{[}<");
        // The bare tag is ordinary text, and free text can be read.
        let has_text = row.calls.iter().any(|call| matches!(call.body, Body::Raw(_)));
        let is_free = call.narrated || has_text || body(call, "1").is_none();
        if is_free || call.close.is_empty() || !is_marked {
            continue;
        }
        for inside in ["no call at all", "[!!!]", "{\"name\": \"f\", "] {
            // What closes the wrapper as well.
            let close = call.close.split("{|}").last().map(spelt).unwrap_or_default();
            let inside = format!("\n{inside}\n");
            let text = in_section_with(row, call, &spelt(call.open), &inside, &close);
            for is_auto in choices(row) {
                let lines = lines(row, is_auto, &text);
                // Braces that are open take in the closer.
                let is_open = matches!(call.body, Body::Braces(_));
                let is_cut = |line: &String| read(line)["reason"] == "truncated" && !is_open;
                let invalid = || lines.iter().filter(|line| kind(line) == "invalid_tool_call");
                count += 1;
                let is_told = invalid().count() > 0 && !invalid().any(is_cut);
                let has = |wanted: &str| lines.iter().any(|line| kind(line) == wanted);
                let is_another = is_auto && OPENS_ANOTHER.contains(&row.name);
                let is_well = is_told && !has("text") || is_another && invalid().count() > 0;
                if !is_well || has("tool_call") {
                    wrong.push(format!("{} {is_auto}: {text:?} gave {lines:?}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 150, "of {count}:\n{}", wrong.join("\n"));
}

/// Rows in whose wrapper `auto` finds the opener of a call of `function_eq_json`.
const OPENS_ANOTHER: &[&str] = &["qwen3_coder", "seed_oss"];

/// Rows whose first markers are text by themselves, and why.
const UNMARKED: &[(&str, &str)] = &[
    ("muse_atem", "its first token begins any message"),
    ("beam", "its first token begins any message"),
    ("harmony", "its first token begins any message"),
    ("inkling", "its first token begins any message"),
    ("hyperclovax", "its first token begins any message"),
    ("functionary_v2", "its first token begins any message"),
    ("functionary_v32", "its marker is three signs"),
    ("gigachat3", "its first token ends the message before"),
    ("kimi_k3", "its tags are three tokens, and a tag is any"),
    ("minimax_m3", "its tags have signs before them"),
];

/// A text that ends after any marker of a call, before its last one, was cut.
#[test]
fn a_text_that_ends_after_a_marker_of_a_call_was_cut() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for example in Example::all().filter(|example| !is_in(UNMARKED, example)) {
        let row = example.row;
        for is_auto in choices(row) {
            let dialect = if is_auto { Selection::Auto } else { Selection::Row(row) };
            let config = Config { dialect, ..example.config.clone() };
            let of = |text: &str| run(&config, Print::Joined, [text.as_bytes()]).out;
            let is_call = |out: &str| out.lines().any(|line| kind(line) == "tool_call");
            let ends = example.input.match_indices('>').map(|(at, _)| at + 1);
            let outs = ends.map(|end| (end, of(&example.input[..end])));
            for (end, out) in outs.take_while(|(_, out)| !is_call(out)) {
                count += 1;
                if !out.lines().any(|line| kind(line) == "error") {
                    wrong.push(format!("{} {is_auto}: {:?}", row.name, &example.input[..end]));
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 200, "of {count}:\n{}", wrong.join("\n"));
}

/// The part that the text of a region is.
fn part(role: Role) -> Option<&'static str> {
    match role {
        Role::Text => Some("text"),
        Role::Reasoning => Some("reasoning"),
        Role::Block | Role::Drop => None,
    }
}

/// What a text says, in the order of its parts.
fn said(lines: &[String]) -> Vec<(&'static str, String)> {
    let mut said: Vec<(&'static str, String)> = Vec::new();
    for line in lines {
        let part = match kind(line) {
            "text" => "text",
            "reasoning" => "reasoning",
            _ => continue,
        };
        let text = read(line)["text"].as_str().unwrap().to_owned();
        match said.last_mut() {
            Some((last, before)) if *last == part => before.push_str(&text),
            _ => said.push((part, text)),
        }
    }
    said
}

/// Where markers frame messages, the opener of one ends what is open: another one, or a call that
/// lacks its closer.
#[test]
fn openers_end_regions() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for example in Example::all() {
        let row = example.row;
        let framed = || row.regions.iter().filter(|region| region.ends == Ends::Anything);
        let elsewhere = framed().filter(|region| !region.open.starts_with("{start}"));
        let close = row.calls.first().map_or("", |call| call.close);
        let mut open_call = example.input.trim_end();
        for closer in close.split("{|}").map(spelt).filter(|closer| !closer.is_empty()) {
            open_call = open_call.strip_suffix(closer.as_str()).unwrap_or(open_call);
        }
        for second in elsewhere {
            let Some(last) = part(second.role) else { continue };
            let firsts = framed().filter_map(|first| Some((spelt(first.open), part(first.role)?)));
            let firsts = firsts.map(|(open, part)| (format!("{open}one"), Some(part)));
            for (text, first) in firsts.chain([(open_call.to_owned(), None)]) {
                let line_end = if second.open.starts_with("{line}") { "\n" } else { "" };
                let text = format!("{text}{line_end}{}two", spelt(second.open));
                let wanted = match first {
                    Some(first) if first == last => vec![(last, format!("one{line_end}two"))],
                    Some(first) => {
                        vec![(first, format!("one{line_end}")), (last, "two".to_owned())]
                    }
                    None => vec![(last, "two".to_owned())],
                };
                // In `auto`, no later marker begins with a space, and messages to readers are of
                // several dialects.
                let is_shared =
                    |text: &str| text.contains("to=user") || text.contains("to=assistant");
                let is_other = second.open.starts_with(' ') || is_shared(&text);
                for is_auto in choices(row).filter(|is_auto| !(*is_auto && is_other)) {
                    let mut said = said(&lines(row, is_auto, &text));
                    count += 1;
                    if first.is_none() && said.len() > 1 {
                        said.drain(..said.len() - 1);
                    }
                    let is_after =
                        first.is_none() && said.iter().any(|(_, text)| text.ends_with("\ntwo"));
                    if said != wanted && !is_after {
                        wrong.push(format!("{} {is_auto}: {text:?} said {said:?}", row.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 60, "of {count}:\n{}", wrong.join("\n"));
}
