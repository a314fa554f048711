//! `--review`: each difference is shown on the terminal, and written if the user accepts it.

use anyhow::{Context, bail};

use crate::commands::check::report::difference;
use crate::commands::check::result::{Checked, ResultKind};
use crate::io::{Signals, Terminal, TerminalAnswer, die};
use crate::json;
use crate::sink::grouped;

const HELP: &str =
    "accept: write what came; skip: leave the golden file as it is; quit: ask no more";

/// Asks about each difference. What is accepted is written, and becomes new, changed or mended.
pub(super) fn review(checked: &mut [Checked], signals: &Signals) -> anyhow::Result<()> {
    let mut terminal =
        Terminal::open().context("--review asks on a terminal, and there is none")?;
    let is_open = |one: &Checked| {
        let kinds = [ResultKind::Differs, ResultKind::NoGolden, ResultKind::Broken];
        one.fresh.is_some() && kinds.contains(&one.kind)
    };
    let count = checked.iter().filter(|one| is_open(one)).count();
    for (one, at) in checked.iter_mut().filter(|one| is_open(one)).zip(1..) {
        let place = format!("[{}/{}] ", grouped(at), grouped(count as u64));
        match ask(&mut terminal, &(place + &shown(one)), signals)? {
            ReviewAnswer::Accept => {
                one.accept()?;
                one.message = "its golden file was written".into();
                one.diff.hunks.clear();
            }
            ReviewAnswer::Skip => {}
            ReviewAnswer::Quit => break,
        }
    }
    Ok(())
}

enum ReviewAnswer {
    Accept,
    Skip,
    Quit,
}

fn ask(terminal: &mut Terminal, question: &str, signals: &Signals) -> anyhow::Result<ReviewAnswer> {
    let mut question = format!("{question}accept, skip or quit? [a/S/q] ");
    loop {
        let answer = match terminal.ask(&question, signals, None)? {
            TerminalAnswer::Answer(answer) => answer,
            TerminalAnswer::Signal(signal) => die(signal),
            TerminalAnswer::Time => bail!("no answer came"),
        };
        match answer.to_lowercase().as_str() {
            "a" | "accept" => return Ok(ReviewAnswer::Accept),
            "" | "s" | "skip" => return Ok(ReviewAnswer::Skip),
            "q" | "quit" => return Ok(ReviewAnswer::Quit),
            _ => question = format!("{HELP}\naccept, skip or quit? [a/S/q] "),
        }
    }
}

/// Returns what a question is about.
fn shown(one: &Checked) -> String {
    let mut page = String::new();
    if !one.message.is_empty() {
        json::make_safe(&format!("{}: {}", one.name, one.message), &mut page);
        page.push('\n');
    }
    if !one.diff.hunks.is_empty() {
        page.push_str(&difference(one, true));
    } else if let Some(golden) = &one.fresh {
        golden.events.lines().take(20).for_each(|event| {
            json::make_safe(&crate::capture::shorten(event, 120, 40), &mut page);
            page.push('\n');
        });
    }
    page.extend(one.notes.iter().map(|note| format!("note: {note}\n")));
    page
}
