//! Decides which calls may run: by rule, or by asking on the terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::str::FromStr;
use std::time::Instant;

use rustix::termios::{QueueSelector, tcflush};

use crate::agent::stop::Stop;
use crate::io::{Signals, Woken, report, wait_for};
use crate::json;
use crate::request::Call;

/// The decision on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It runs.
    Auto,
    /// The user is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// The rules of `--approve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    named: Vec<(String, Rule)>,
    /// The rule of all other tools; without one they are asked about, if there is a terminal.
    other: Option<Rule>,
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" => Ok(Rule::Auto),
            "ask" => Ok(Rule::Ask),
            "deny" => Ok(Rule::Deny),
            _ => Err(format!("`{word}` is none of auto, ask, deny")),
        }
    }
}

impl FromStr for Rules {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = Rules::default();
        for part in text.split(',') {
            match part.split_once('=') {
                Some((name, rule)) => rules.named.push((name.to_owned(), rule.parse()?)),
                None => rules.other = Some(part.parse()?),
            }
        }
        Ok(rules)
    }
}

impl Rules {
    /// Returns the names of the tools that have a rule of their own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the rule for a tool.
    fn of(&self, name: &str) -> Rule {
        let named = self.named.iter().rfind(|(named, _)| named == name);
        named.map(|(_, rule)| *rule).or(self.other).unwrap_or(Rule::Ask)
    }
}

/// Decides which calls may run.
pub(crate) struct Approval<'a> {
    rules: &'a Rules,
    signals: &'a Signals,
    terminal: Option<File>,
    /// True if it was reported that there is no terminal to ask on.
    has_told: bool,
}

impl<'a> Approval<'a> {
    /// Opens the terminal that the program was started from, if there is one.
    pub(crate) fn new(rules: &'a Rules, signals: &'a Signals) -> Self {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").ok();
        Approval { rules, signals, terminal, has_told: false }
    }

    /// True if calls of a tool run, and no one has to be asked.
    pub(crate) fn is_auto(&self, name: &str) -> bool {
        self.rules.of(name) == Rule::Auto
    }

    /// Returns why a call may not run; nothing if it may. Asks if it has to.
    pub(crate) fn refusal(
        &mut self,
        call: &Call,
        deadline: Option<Instant>,
    ) -> Result<Option<&'static str>, Stop> {
        match self.rules.of(&call.tool()) {
            Rule::Auto => Ok(None),
            Rule::Deny => Ok(Some("no one has approved it")),
            Rule::Ask if self.terminal.is_none() => {
                if !std::mem::replace(&mut self.has_told, true) {
                    let name = call.tool();
                    let message = format!(
                        "the tool {name} was not run: there is no terminal to ask on; \
                         `--approve {name}=auto` runs it"
                    );
                    report(&mut io::stderr(), &message);
                }
                Ok(Some("no one has approved it"))
            }
            Rule::Ask => {
                let is_yes = self.ask(call, deadline)?;
                Ok((!is_yes).then_some("the user has denied it"))
            }
        }
    }

    /// Shows a call with all of its arguments, and returns the answer; by default, no.
    fn ask(&mut self, call: &Call, deadline: Option<Instant>) -> Result<bool, Stop> {
        let Some(terminal) = &mut self.terminal else { return Ok(false) };
        // What was typed before the question is no answer to it.
        let _ = tcflush(&*terminal, QueueSelector::IFlush);
        let question = question(call);
        let mut exchange = terminal.write_all(question.as_bytes());
        let mut answer = Vec::new();
        while exchange.is_ok() && !answer.contains(&b'\n') {
            match wait_for(&*terminal, self.signals, deadline).map_err(Stop::Failed)? {
                Woken::Signal(signal) => return Err(Stop::Signal(signal)),
                Woken::Time => return Err(Stop::Deadline),
                Woken::Ready => {}
            }
            let mut bytes = [0; 256];
            match terminal.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(bytes.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => exchange = Err(error),
            }
        }
        let answer = String::from_utf8_lossy(&answer).trim().to_ascii_lowercase();
        Ok(exchange.is_ok() && matches!(answer.as_str(), "y" | "yes"))
    }
}

/// Returns the question about a call: a line for each argument, escaped, none shortened.
fn question(call: &Call) -> String {
    let mut out = String::from("toolstream: run ");
    json::make_safe(&call.tool(), &mut out);
    out.push_str("?\n");
    let members = json::members(&call.input);
    for (key, value) in &members {
        out.push_str("  ");
        json::make_safe(key, &mut out);
        out.push_str(": ");
        json::make_safe(value.get(), &mut out);
        out.push('\n');
    }
    if members.is_empty() {
        out.push_str("  ");
        json::make_safe(&call.input, &mut out);
        out.push('\n');
    }
    out.push_str("[y/N] ");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_in_any_order() {
        let rules: Rules = "a=auto,deny,b=ask".parse().unwrap();
        assert_eq!(["a", "b", "c"].map(|name| rules.of(name)), [Rule::Auto, Rule::Ask, Rule::Deny]);
        assert_eq!(Rules::default().of("a"), Rule::Ask);
        for wrong in ["yes", "a=", "", "a=auto,,"] {
            assert!(wrong.parse::<Rules>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn all_of_a_call_is_shown_and_nothing_of_it_moves_the_cursor() {
        let call = Call {
            name: "rm\u{1b}[2J".into(),
            input: "{\"path\":\"/\u{202e}\",\"n\":[1, 2]}".into(),
            ..Call::default()
        };
        assert_eq!(
            question(&call),
            "toolstream: run rm\\u001b[2J?\n  path: \"/\\u202e\"\n  n: [1, 2]\n[y/N] "
        );
        let call = Call { input: "rm -r /\n".into(), ..call };
        assert!(question(&call).contains("\n  rm -r /\\n\n[y/N]"));
    }
}
