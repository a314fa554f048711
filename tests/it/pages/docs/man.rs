//! The man page: README's first words, the command line, then the reference.

use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use toolstream::event::WarningCode;
use toolstream::internals::Cli;

/// The sections of the reference that the command line says as well.
const NOT_HERE: &[&str] = &["Commands", "Options"];

/// What roff begins each text with: how an apostrophe is written. Once is enough.
const APOSTROPHE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The whole page.
pub(super) fn page(readme: &str, reference: &str) -> String {
    let mut command = Cli::command().disable_help_flag(true).disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default();
    let mut page = format!(".TH TOOLSTREAM 1 \"\" \"toolstream {version}\" \"User Commands\"\n");
    page.push_str(&heading());
    page.push_str(&synopsis(&command));
    page.push_str(&description(readme));
    for command in command.get_subcommands() {
        page.push_str(&section(command));
    }
    for section in reference.split("\n## ").skip(1) {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        if !NOT_HERE.contains(&title) {
            page.push_str(&markdown(title, body));
        }
    }
    page.push_str(&warnings());
    format!("{APOSTROPHE}{}", page.replace(APOSTROPHE, ""))
}

/// Every warning code, and when it comes.
fn warnings() -> String {
    let about = "The code of a warning is one of these words, whose meaning does not change.";
    let mut body = format!("{about}\n\n| code | when |\n| --- | --- |\n");
    for code in WarningCode::ALL {
        body.push_str(&format!("| `{}` | {} |\n", code.name(), code.meaning()));
    }
    markdown("Warnings", &body)
}

fn render(build: impl FnOnce(&mut Roff)) -> String {
    let mut roff = Roff::new();
    build(&mut roff);
    roff.render()
}

fn heading() -> String {
    render(|roff| {
        roff.control("SH", ["NAME"]);
        roff.text([roman(
            "toolstream - read the stream of a language model, write NDJSON events or a summary",
        )]);
    })
}

fn synopsis(command: &Command) -> String {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (at, command) in command.get_subcommands().enumerate() {
        if at > 0 {
            roff.control("br", []);
        }
        let has_options = command.get_arguments().any(|arg| !arg.is_positional());
        let options = if has_options { " [OPTIONS]" } else { "" };
        let name = |arg: &Arg| {
            let name = arg.get_value_names().into_iter().flatten().next();
            name.map_or(arg.get_id().as_str(), |name| name.as_str()).to_uppercase()
        };
        let needed = command.get_opts().filter(|arg| arg.is_required_set());
        let needed =
            needed.map(|arg| format!(" --{} {}", arg.get_long().unwrap_or_default(), name(arg)));
        let files = command.get_positionals().map(|arg| match arg.get_id().as_str() {
            "command" => " -- COMMAND [ARG]...".to_owned(),
            id => {
                let several = if id == "files" { "..." } else { "" };
                let name = name(arg);
                let name = if arg.is_required_set() { name } else { format!("[{name}]") };
                format!(" {name}{several}")
            }
        });
        let rest: String = [options.to_owned()].into_iter().chain(needed).chain(files).collect();
        roff.text([bold(format!("toolstream {}", command.get_name())), roman(rest)]);
    }
    roff.render()
}

/// README's words above its first section.
fn description(readme: &str) -> String {
    let (head, _) = readme.split_once("\n## ").unwrap_or((readme, ""));
    let (_, body) = head.split_once('\n').unwrap_or_default();
    let lines = body.lines().filter(|line| !line.starts_with("!["));
    markdown("Description", &lines.collect::<Vec<_>>().join("\n"))
}

/// One command: what it's for, and its options, as clap_mangen writes them.
fn section(command: &Command) -> String {
    let name = command.get_name().to_owned();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut out = Vec::new();
    // What all commands have says nothing of this one.
    let bare = command
        .clone()
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(|arg| arg.help_heading(None::<&str>));
    Man::new(bare).render_options_section(&mut out).unwrap();
    let options = String::from_utf8(out).unwrap();
    let options = options.split_once(".SH OPTIONS\n").map_or("", |(_, items)| items);
    let mut page = render(|roff| {
        roff.control("SH", [format!("toolstream {name}").to_uppercase().as_str()]);
        roff.text([roman(format!("{about}."))]);
    });
    page.push_str(options);
    if let Some(examples) = examples.strip_prefix("Examples:\n") {
        page.push_str(&render(|roff| {
            roff.control("PP", []);
            roff.text([roman("Examples:")]);
        }));
        page.push_str(&verbatim(examples));
    }
    page
}

/// Text as it stands.
fn verbatim(text: &str) -> String {
    render(|roff| {
        roff.control("PP", []);
        roff.control("nf", []);
        roff.control("RS", ["2"]);
        for line in text.trim_end().lines() {
            roff.text([roman(line)]);
        }
        roff.control("RE", []);
        roff.control("fi", []);
    })
}

/// A section of a page: paragraphs, lists, tables and examples, and no more of
/// Markdown than that.
fn markdown(title: &str, body: &str) -> String {
    let mut page = render(|roff| {
        roff.control("SH", [title.to_uppercase().as_str()]);
    });
    let mut lines = body.trim().lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let code: Vec<&str> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            page.push_str(&verbatim(&code.join("\n")));
        } else if line.starts_with('|') {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(row);
            }
            page.push_str(&table(&rows));
        } else if let Some(item) = line.strip_prefix("- ") {
            let mut item = item.to_owned();
            while let Some(more) = lines.next_if(|line| line.starts_with("  ")) {
                item.push_str(&format!(" {}", more.trim()));
            }
            page.push_str(&render(|roff| {
                roff.control("IP", ["\\(bu", "2"]);
                roff.text(inline(&item));
            }));
        } else if !line.is_empty() {
            let mut paragraph = line.to_owned();
            while let Some(more) = lines.next_if(|line| !line.is_empty()) {
                paragraph.push_str(&format!(" {more}"));
            }
            page.push_str(&render(|roff| {
                roff.control("PP", []);
                roff.text(inline(&paragraph));
            }));
        }
    }
    page
}

/// A table: a tagged paragraph for each row, whose cells after the first are
/// named by their column where there are several.
fn table(rows: &[&str]) -> String {
    let cells = |row: &str| -> Vec<String> {
        let row = row.trim_matches('|').replace("\\|", "\u{1}");
        row.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    let head = cells(rows.first().unwrap_or(&""));
    render(|roff| {
        for row in rows.iter().skip(2) {
            let row = cells(row);
            roff.control("TP", []);
            roff.text(inline(&row[0]));
            let rest: Vec<String> = match &row[1..] {
                [only] => vec![only.clone()],
                several => several
                    .iter()
                    .zip(&head[1..])
                    .map(|(cell, head)| format!("{head}: {cell}"))
                    .collect(),
            };
            for (at, cell) in rest.iter().enumerate() {
                if at > 0 {
                    roff.control("br", []);
                }
                roff.text(inline(cell));
            }
        }
    })
}

/// Words, with code and stress in bold, and links without their address.
fn inline(text: &str) -> Vec<Inline> {
    let text = unlinked(&text.replace("**", "`"));
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { bold(part) } else { roman(part) }).collect()
}

/// A text with the words of its links in place of the links.
fn unlinked(text: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let at = out.rfind('[').expect("a link begins with a bracket");
        out.remove(at);
        let (_, rest) = part.split_once(')').expect("a link has an address");
        out.push_str(rest);
    }
    out
}
