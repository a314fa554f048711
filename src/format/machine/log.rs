//! An agent's log: whose conversation it is, and where its messages end.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;

use crate::event::{Kind, ProviderEvent, WarningCode};
use crate::format::machine::fields::Fields;
use crate::format::machine::state::Chunked;
use crate::format::machine::{Closing, RowMachine};
use crate::format::spec::{ReadFailure, ReadRule, is_one_of};
use crate::format::support::emit::output;
use crate::format::support::prelude::*;
use crate::format::support::said::hash;
use crate::json::JsonStatus;

/// What is known of a log, beside the message that is open.
#[derive(Debug, Default)]
pub(super) struct LogState {
    /// True if a prompt has come that has no answer yet.
    pub(super) has_prompt: bool,
    /// True if a record has come.
    pub(super) has_begun: bool,
    /// The record in which the agent reported its last error, which it may have overcome.
    pub(super) last_error: Option<ReportedError>,
    /// True if nothing has come after that, and it is the message's error then.
    pub(super) ends_in_error: bool,
    /// True if messages have an end of their own.
    pub(super) has_ends: bool,
    owner: LogOwner,
    /// The latest message of anybody's, and the last ones of others.
    latest: u64,
    pub(super) foreign: VecDeque<u64>,
}

/// An error that an agent reported: its record, and the words that the row finds in it.
#[derive(Debug, Default)]
pub(super) struct ReportedError {
    pub(super) json: String,
    pub(super) message: Option<String>,
    pub(super) code: Option<String>,
}

/// The one whose conversation the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LogOwner {
    /// That isn't known yet.
    #[default]
    Unknown,
    /// The agent's, and none of a subagent's has come.
    Agent,
    /// The agent's, and some of a subagent's has come.
    Both,
    /// A subagent's.
    Subagent,
}

/// What is said of an agent's error that has no words of its own.
pub(super) const AGENT_ERROR: &str = "the agent reported an error";

/// The most messages of others that are told apart from the answer.
const MAX_FOREIGN: usize = 4096;

/// The most prompts that are known again.
const MAX_PROMPTS: usize = 64;

impl RowMachine {
    /// True if an object is of a message that is not the assistant's, and no new prompt.
    pub(super) fn is_foreign(
        &mut self,
        rule: &ReadRule,
        fields: Fields,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        let is_models = is_models(rule, fields);
        if rule.spec.of.is_empty() {
            return Ok(!is_models && !rule.spec.prompt);
        }
        let LogState { latest, foreign, .. } = &mut self.log;
        *latest = fields.word(&rule.of).map_or(*latest, |id| hash(id.as_ref()));
        let is_known = foreign.contains(latest);
        if is_known || is_models {
            return Ok(is_known);
        }
        match self.spec.log {
            Some(_) => foreign.truncate(MAX_PROMPTS - 1),
            None => {
                out.check_limit(foreign.len() + 1, MAX_FOREIGN, "messages of others in one run")?
            }
        }
        foreign.push_front(*latest);
        Ok(!rule.spec.prompt)
    }

    /// True if a record is a subagent's in the agent's log, and is passed over.
    pub(super) fn is_subagents(
        &mut self,
        rule: &ReadRule,
        fields: Fields,
        out: &mut EventOut,
    ) -> io::Result<bool> {
        let tells = self.spec.log.is_some_and(|log| !log.subagent.is_empty());
        if !tells || !fields.is_record || (rule.holds.nothing && !rule.spec.prompt) {
            return Ok(false);
        }
        let log = fields.record_places().log.as_ref();
        let is_subagents = log.is_some_and(|log| fields.flag(&log.subagent));
        let owner = &mut self.log.owner;
        *owner = match *owner {
            LogOwner::Unknown if is_subagents => LogOwner::Subagent,
            LogOwner::Unknown => LogOwner::Agent,
            known => known,
        };
        if !is_subagents || *owner == LogOwner::Subagent {
            return Ok(false);
        }
        if std::mem::replace(owner, LogOwner::Both) == LogOwner::Agent {
            let message = "what subagents said is passed over: --raw shows it";
            out.warn(WarningCode::Subagent, message)?;
        }
        let event = ProviderEvent { event: Some("subagent"), data: output(fields.here()) };
        out.emit(0, Kind::ProviderEvent(event)).map(|()| true)
    }

    /// The user's words have come: the message before them has ended.
    pub(super) fn prompt(&mut self, out: &mut EventOut) -> Done {
        self.log.has_prompt = true;
        if !self.message.is_open() {
            return Ok(());
        }
        if self.log.has_ends {
            return self.end(Closing::Cut, out);
        }
        out.infer_finish_of_log(self.open.of_log.reason.as_deref())?;
        self.end(Closing::Whole, out)
    }

    /// An error is reported that the message may overcome.
    pub(super) fn note_error(
        &mut self,
        failure: &ReadFailure,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let json = fields.json(&failure.at).unwrap_or(Cow::Borrowed(fields.here()));
        let (message, code) = (fields.scalar(&failure.message), fields.scalar(&failure.code));
        let message = message.map(Cow::into_owned).or_else(|| error::message(&json));
        self.log.last_error = Some(ReportedError {
            message: message.clone().filter(|_| !failure.spec.message.is_empty()),
            code: code.map(Cow::into_owned),
            json: json.into_owned(),
        });
        self.log.ends_in_error = true;
        let (code, default) = match self.tables.flags.is_log {
            true => (WarningCode::AgentError, AGENT_ERROR),
            false => (WarningCode::ErrorEvent, "the provider reported an error"),
        };
        out.warn(code, message.as_deref().unwrap_or(default))
    }

    /// The input has ended, and with it the message, if that has no end of its own.
    pub(super) fn finish_log(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            // There is a prompt, and no answer.
            return if self.log.has_prompt { self.start(out) } else { Ok(()) };
        }
        if self.message.state == State::Stopped {
            return self.close(out);
        }
        self.message.meter.finish(out)?;
        let is_cut = |call: &Chunked| call.arguments.status() != JsonStatus::Whole;
        if self.open.chunked.as_ref().is_some_and(is_cut) {
            return Ok(());
        }
        self.open.end_chunked(out)?;
        self.open.release(out)?;
        let reason = self.open.of_log.reason.as_deref();
        if self.log.has_ends { Ok(()) } else { out.infer_finish_of_log(reason) }
    }
}

/// The words for whoever wrote what is the model's, where a row has none of its own.
const MODELS: [&str; 5] = ["assistant", "model", "agent", "ai", "bot"];

/// True if an object is the model's, or does not say whose it is.
fn is_models(rule: &ReadRule, fields: Fields) -> bool {
    fields.word(&rule.role).is_none_or(|role| match rule.role.words {
        Some(words) => is_one_of(words, &role),
        None => MODELS.iter().any(|word| word.eq_ignore_ascii_case(&role)),
    })
}
