//! What is known of a log's message: what comes again in it.

use std::collections::HashMap;
use std::io;

use crate::format::machine::rule::RowFlags;
use crate::format::spec::ReadRule;
use crate::format::support::emit::Slot;
use crate::format::support::prelude::*;
use crate::format::support::said::{SaidText, hash};

/// The most texts of one message that are remembered.
const MAX_TEXTS: usize = 1 << 16;

/// What is known of a log's message.
#[derive(Debug, Default)]
pub(super) struct LogMessage {
    /// The last reason why the model stopped.
    pub(super) reason: Option<String>,
    /// The part whose counts came last.
    counted: Option<u64>,
    has_text: bool,
    /// True if records of several origins repeat each other.
    has_origins: bool,
    /// For each text, how often it came from the records without an origin less how often it came
    /// from others, of which each may repeat the other.
    echoes: HashMap<u64, i64>,
    /// The pieces of text since the last call or whole text, and those of thoughts.
    pieces: [SaidText; 2],
    /// The part that each call came in last.
    called: HashMap<String, Option<u64>>,
    /// The name of the tool that was called last.
    pub(super) tool: Option<String>,
    /// The number of results.
    pub(super) results: usize,
}

impl LogMessage {
    pub(super) fn new(flags: RowFlags) -> LogMessage {
        LogMessage { has_origins: flags.has_origins, ..LogMessage::default() }
    }

    /// Takes note of a call: its tool, its id and the part that it came in.
    pub(super) fn call(&mut self, tool: Option<&str>, id: Option<&str>, part: Option<u64>) {
        self.tool = tool.map(str::to_owned);
        self.called.extend(id.map(|id| (id.to_owned(), part)));
    }

    /// True if the call of an id came in this part.
    pub(super) fn was_called_in(&self, id: &str, part: Option<u64>) -> bool {
        part.is_some() && self.called.get(id) == Some(&part)
    }

    /// True if a text says what has come before.
    pub(super) fn says_again(
        &mut self,
        rule: &ReadRule,
        (slot, text): (Slot, &Str),
        is_whole: bool,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        let pieces = &mut self.pieces[usize::from(slot.is_thought())];
        let is_again = match rule.spec.origin {
            "all" => self.has_text && !slot.is_thought(),
            _ if !is_whole => {
                pieces.add(text);
                false
            }
            origin => {
                let are_pieces = std::mem::take(pieces).is_said_by(text);
                (self.has_origins && self.is_echo(origin, slot, text)) || are_pieces
            }
        };
        out.check_limit(self.echoes.len(), MAX_TEXTS, "texts in one message")?;
        self.has_text |= !is_again && !text.is_empty() && !slot.is_thought();
        Ok(is_again)
    }

    /// True if a text has come from another origin.
    fn is_echo(&mut self, origin: &str, slot: Slot, text: &Str) -> bool {
        let balance = self.echoes.entry(hash(&(slot.is_thought(), text.as_str()))).or_default();
        let step = if origin.is_empty() { 1 } else { -1 };
        let is_echo = balance.signum() == -step;
        *balance += step;
        is_echo
    }

    /// A call, or a result, has come: texts begin anew.
    pub(super) fn saw_call(&mut self) {
        self.pieces = Default::default();
    }

    /// True if counts are not those of the part that was counted last.
    pub(super) fn counts_anew(&mut self, part: Option<u64>) -> bool {
        let is_new = part.is_none() || part != self.counted;
        self.counted = part;
        is_new
    }
}
