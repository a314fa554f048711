//! Decides which calls may run: by rule, or by asking on the terminal.

use std::borrow::Cow;
use std::io;
use std::time::Instant;

use signal_hook::consts::SIGINT;

use crate::agent::stop::Stop;
use crate::approval::{ApprovalRule, Rules};
use crate::cut::Cut as _;
use crate::io::{Signals, Terminal, TerminalAnswer, report};
use crate::json;
use crate::request::PendingCall;

/// Decides which calls may run.
pub(crate) struct Approval<'a> {
    rules: &'a Rules,
    signals: &'a Signals,
    terminal: Option<Terminal>,
    /// The tools that always run, as the user said.
    always: Vec<String>,
    /// The tools that no one could be asked about, and how many of them were reported.
    unasked: Vec<String>,
    told: usize,
}

impl<'a> Approval<'a> {
    /// Opens the terminal that the program was started from, if there is one.
    pub(crate) fn new(rules: &'a Rules, signals: &'a Signals) -> Self {
        Approval {
            rules,
            signals,
            terminal: Terminal::open(),
            always: Vec::new(),
            unasked: Vec::new(),
            told: 0,
        }
    }

    /// True if calls of a tool run, and no one has to be asked.
    pub(crate) fn is_auto(&self, name: &str) -> bool {
        self.rules.of(name) == ApprovalRule::Auto || self.always.iter().any(|known| known == name)
    }

    /// Returns why a call may not run; nothing if it may. Asks if it has to.
    pub(crate) fn refusal(
        &mut self,
        call: &PendingCall,
        deadline: Option<Instant>,
    ) -> Result<Option<Cow<'static, str>>, Stop> {
        match self.rules.of(&call.tool()) {
            ApprovalRule::Auto => Ok(None),
            ApprovalRule::Deny => Ok(Some("no one has approved it".into())),
            ApprovalRule::Ask if self.is_auto(&call.tool()) => Ok(None),
            ApprovalRule::Ask if self.terminal.is_none() => {
                let name = call.tool();
                if !self.unasked.iter().any(|known| *known == name) {
                    self.unasked.push(name.into_owned());
                }
                Ok(Some("no one has approved it".into()))
            }
            ApprovalRule::Ask => {
                let mut question = question(call);
                loop {
                    let answer = self.ask(&question, deadline)?;
                    return Ok(match answer.to_ascii_lowercase().as_str() {
                        "?" => {
                            question = HELP.to_owned();
                            continue;
                        }
                        "y" | "yes" => None,
                        "a" | "always" => {
                            self.always.push(call.tool().into_owned());
                            None
                        }
                        "q" | "quit" => return Err(Stop::Signal(SIGINT)),
                        "" | "n" | "no" => Some("the user has denied it".into()),
                        _ => Some(format!("the user has denied it: {answer}").into()),
                    });
                }
            }
        }
    }

    /// Reports the tools that no one could be asked about, each once a run.
    pub(crate) fn report(&mut self) {
        let names = self.unasked.after(self.told);
        let rules: Vec<_> = names.iter().map(|name| format!("{name}=auto")).collect();
        let (tools, them) = match names {
            [] => return,
            [name] => (format!("the tool {name} was"), "it"),
            names => (format!("the tools {} were", names.join(", ")), "them"),
        };
        let message = format!(
            "{tools} not run: there is no terminal to ask on; `--approve {}` runs {them}",
            rules.join(",")
        );
        report(&mut io::stderr(), &message);
        self.told = self.unasked.len();
    }

    /// Asks, and returns the answer. It is empty if there is none.
    fn ask(&mut self, question: &str, deadline: Option<Instant>) -> Result<String, Stop> {
        let Some(terminal) = &mut self.terminal else { return Ok(String::new()) };
        match terminal.ask(question, self.signals, deadline).map_err(Stop::Failed)? {
            TerminalAnswer::Answer(answer) => Ok(answer),
            TerminalAnswer::Signal(signal) => Err(Stop::Signal(signal)),
            TerminalAnswer::Time => Err(Stop::Deadline),
        }
    }
}

/// What `?` says. Other words than these are the reason why not.
const HELP: &str = "  y, yes     run this call\n  n, no      do not run it, which is what an empty line says\n  \
                    a, always  run it, and every call of this tool until the run ends\n  q, quit    end the run, \
                    as ^C does\n  ?          this list\n  Anything else is no, and is told to the model as \
                    the reason.\n[y/N] ";

/// The most blanks that are shown as they are.
const MAX_BLANKS: usize = 8;

/// Returns the question about a call: a line for each argument, escaped, none shortened. The last
/// line is ours alone: nothing that a model wrote stands in it, however wide the terminal is.
fn question(call: &PendingCall) -> String {
    let mut out = String::from("toolstream: run ");
    show(&call.tool(), &mut out);
    out.push_str("?\n");
    let members = json::members(&call.input);
    for (key, value) in &members {
        out.push_str("  ");
        show(key, &mut out);
        out.push_str(": ");
        show(value.get(), &mut out);
        out.push('\n');
    }
    if members.is_empty() {
        out.push_str("  ");
        show(&call.input, &mut out);
        out.push('\n');
    }
    out.push_str("toolstream: these are all of its arguments; ? explains the answers.\n[y/N] ");
    out
}

/// Appends a text with everything in it that a person could not see: what moves the cursor, what
/// has no ink, and a wide run of blanks as its count, which could push what follows it to the next
/// row.
fn show(text: &str, out: &mut String) {
    let mut visible = String::new();
    json::make_visible(text, &mut visible);
    let is_hidden =
        |c: char| (c.is_whitespace() && c != ' ') || matches!(c, '\u{FE0E}' | '\u{FE0F}');
    let mut rest = visible.as_str();
    while let Some(c) = rest.chars().next() {
        let blanks = rest.chars().take_while(|c| c.is_whitespace()).count();
        let taken = if blanks > MAX_BLANKS { blanks } else { 1 };
        match taken {
            1 if is_hidden(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            1 => out.push(c),
            _ => out.push_str(&format!("[{blanks} blanks]")),
        }
        let end = rest.char_indices().nth(taken).map_or(rest.len(), |(at, _)| at);
        rest = rest.after(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_call_is_shown_and_nothing_of_it_moves_the_cursor() {
        let call = PendingCall {
            name: "rm\u{1b}[2J".into(),
            input: "{\"path\":\"/\u{202e}\",\"n\":[1, 2]}".into(),
            ..PendingCall::default()
        };
        assert_eq!(
            question(&call),
            "toolstream: run rm\\u001b[2J?\n  path: \"/\\u202e\"\n  n: [1, 2]\n\
             toolstream: these are all of its arguments; ? explains the answers.\n[y/N] "
        );
        let call = PendingCall { input: "rm -r /\n".into(), ..call };
        assert!(question(&call).contains("\n  rm -r /\\n\ntoolstream: "));
    }

    #[test]
    fn nothing_of_a_call_is_invisible_or_looks_like_the_question() {
        for c in
            "\u{ad}\u{115f}\u{17b4}\u{2800}\u{3164}\u{ffa0}\u{fe0f}\u{e0100}\u{3000}\u{a0}".chars()
        {
            let call =
                PendingCall { input: format!("{{\"a\":\"x{c}y\"}}"), ..PendingCall::default() };
            let question = question(&call);
            assert!(!question.contains(c) && question.contains("x\\u"), "{c:?}: {question}");
        }
        for blank in [" ", "\u{3000}", "\u{2003}"] {
            let input = format!("{{\"a\":\"x{}[y/N] \"}}", blank.repeat(200));
            let question = question(&PendingCall { input, ..PendingCall::default() });
            assert!(question.contains("  a: \"x[200 blanks][y/N] \"\n"), "{question}");
            assert_eq!(question.lines().last(), Some("[y/N] "));
        }
    }
}
