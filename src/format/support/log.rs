//! Logs of agents as a table: which record holds what, and where.

use serde_json::value::RawValue;

use crate::event::{CallPart, Executor, Key, Kind, ProviderEvent, WarningCode};
use crate::format::format::Decoder;
use crate::format::support::emit::{Done, EventOut, Slot, output};
use crate::format::support::object::{Object, Places, string};
use crate::format::support::payload::{Payload, read};
use crate::format::support::session::{Repeats, Role, Session, Source, role};
use crate::format::support::usage::Row;
use crate::frame::Frame;
use crate::json;
use crate::json::{Fault, FromJson, Reader, Scanner, Status};

/// A log. Its places are those in a record.
pub(crate) struct Log {
    /// The name of its format.
    pub(crate) format: &'static str,
    /// The places of the words that make a record's kind, joined by
    /// slashes.
    pub(crate) kind: &'static [Places],
    /// The meaning of records. The first step of a record's kind counts.
    pub(crate) steps: &'static [Step],
    /// The kinds of records that hold nothing but what is true of the session, unless they have a
    /// step: with `|` between them, each written as in a step.
    pub(crate) notes: &'static str,
    /// The beginning of a user's message that the agent wrote; empty if there is none.
    pub(crate) own_words: &'static str,
    /// The session's id.
    pub(crate) session: Places,
    /// The model.
    pub(crate) model: Places,
    /// The id of the model's message or step.
    pub(crate) part: Places,
    /// A place whose value is neither absent, false nor empty if a record is a subagent's.
    pub(crate) aside: Places,
    /// The place of the counts of a model's message, and their meaning.
    pub(crate) usage: (Places, &'static [Row]),
    /// The reason why the model stopped, in the record that ends a message.
    pub(crate) reason: Places,
    /// The place of the counts of a whole message, in its end.
    pub(crate) total: Places,
    /// The way in which it repeats texts.
    pub(crate) repeats: Repeats,
    /// True if a message names its end, so one without it is cut.
    pub(crate) has_end: bool,
}

/// A log without any of these.
pub(crate) const LOG: Log = Log {
    format: "",
    kind: &["type"],
    steps: &[],
    notes: "",
    own_words: "",
    session: "sessionId|session_id|sessionID",
    model: "model",
    part: "",
    aside: "",
    usage: ("", &[]),
    reason: "",
    total: "",
    repeats: Repeats::Never,
    has_end: false,
};

/// A record's kind, which may end with `*` for any that begins so, what the
/// record holds, and where.
pub(crate) type Step = (&'static str, What, Places);

/// The meaning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing but what is true of the session.
    Note,
    /// The user's words.
    Prompt,
    /// A message of the role that it or its record names.
    Message,
    /// A message of the model's.
    Answer,
    /// A block, an item or a part.
    Block,
    /// A piece of the answer.
    Text,
    /// A piece of a thought.
    Thought,
    /// A text of the answer that an item has, too.
    TextEvent,
    /// A thought that an item has, too.
    ThoughtEvent,
    /// A call.
    Call,
    /// A call whose arguments may go on in the next records.
    OpenCall,
    /// More of its arguments.
    CallPart,
    /// A call whose only member is named after its tool.
    NamedCall,
    /// An [`Action`] of the agent, which may be that of a call before it.
    Action,
    /// A result.
    Result,
    /// The state of a call: its result, once that is there.
    Update,
    /// The cost of a step.
    Usage,
    /// The end of a message.
    End,
    /// The whole text of a message that has none yet, and its end.
    Whole,
    /// An error that the message ends with.
    Error,
    /// An error that the agent goes on after.
    Warning,
    /// Records.
    Records,
}

/// Reads a log.
pub(crate) struct LogDecoder {
    log: &'static Log,
    session: Session,
    has_aside: Aside,
    open: Option<OpenCall>,
}

/// A call whose arguments may go on, and how far they have come.
struct OpenCall {
    key: Key,
    arguments: Scanner,
}

/// The one whose conversation the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aside {
    /// That isn't known yet.
    Open,
    /// The agent's, and none of a subagent's has come.
    Main,
    /// The agent's, and some of a subagent's has come.
    Both,
    /// A subagent's.
    Subagent,
}

/// A record, as its text.
pub(crate) struct Raw<'a>(pub(crate) &'a RawValue);

impl<'t> FromJson<'t> for Raw<'t> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, Fault> {
        <&RawValue>::from_json(reader).map(Raw)
    }
}

impl<'de> Payload<'de> for Raw<'static> {
    type Type = Raw<'de>;
}

impl LogDecoder {
    pub(crate) fn new(log: &'static Log) -> Self {
        let mut session = Session::new(log.format, log.usage.1, log.repeats);
        session.own_words = log.own_words;
        LogDecoder { log, session, has_aside: Aside::Open, open: None }
    }

    fn record(&mut self, frame: &Frame, json: &str, is_top: bool, out: &mut EventOut) -> Done {
        let log = self.log;
        let record = Object::new(json);
        let kind: Vec<String> = log.kind.iter().filter_map(|places| record.name(places)).collect();
        let kind = kind.join("/");
        // A type that is no word is not the lack of one.
        let is_strange =
            kind.is_empty() && log.kind.iter().any(|places| record.get(places).is_some());
        let Some((what, places)) = log.step_of(&kind).filter(|_| !is_strange) else {
            return out.unknown(&frame.with(json.as_bytes()), &kind);
        };
        if !matches!(what, What::Records | What::Note) && self.is_aside(&record) {
            return self.aside(json, out);
        }
        self.note(&record);
        match record.get(places) {
            None => Ok(()),
            Some(_) if what == What::Records => {
                // Lists in lists would be read once a level.
                let records = if is_top { record.each(places) } else { Vec::new() };
                records.into_iter().try_for_each(|json| self.record(frame, json, false, out))
            }
            Some(value) => self.step(what, &record, value, out),
        }
    }

    /// Notes the session's members in a record.
    fn note(&mut self, record: &Object) {
        let session = &mut self.session;
        if session.id.is_none() {
            session.id = record.word(self.log.session);
        }
        if let Some(model) = record.word(self.log.model) {
            session.model = Some(model);
        }
    }

    fn step(&mut self, what: What, record: &Object, value: &str, out: &mut EventOut) -> Done {
        let object = Object::new(value);
        let text = string(value).unwrap_or_default();
        if what == What::CallPart {
            let Some(call) = &mut self.open else { return Ok(()) };
            call.arguments.push_all(text.as_str().as_bytes());
            let part = CallPart { key: call.key, ..CallPart::default() };
            return out.call_fragment(0, part, &text);
        }
        self.end_call(out)?;
        let session = &mut self.session;
        match what {
            What::Note | What::Records => Ok(()),
            What::Prompt => session.prompt(out),
            What::Message | What::Answer => {
                let own = object.word("role|type").map(|name| role(&name));
                let outer = record.word("role|type").map(|name| role(&name));
                let known = own.filter(|role| *role != Role::Other).or(outer);
                let role = if what == What::Answer { Some(Role::Model) } else { known };
                self.message(role.unwrap_or(Role::Other), record, &object, out)
            }
            What::Block => {
                self.turn(record);
                self.session.block(0, &object, out)
            }
            What::Text | What::Thought | What::TextEvent | What::ThoughtEvent => {
                self.turn(record);
                let (slot, source) = match what {
                    What::Thought => (Slot::THOUGHT, Source::Delta),
                    What::ThoughtEvent => (self.session.next_thought(), Source::Event),
                    What::TextEvent => (Slot::ANSWER, Source::Event),
                    _ => (Slot::ANSWER, Source::Delta),
                };
                self.session.text(slot, source, 0, &text, out)
            }
            What::Call => session.call(&object, Executor::Agent, out),
            What::OpenCall => {
                let begun = session.open_call(&object, out)?;
                self.open = begun.map(|(key, text)| {
                    let mut arguments = Scanner::new(json::MAX_DEPTH);
                    arguments.push_all(text.as_bytes());
                    OpenCall { key, arguments }
                });
                Ok(())
            }
            What::CallPart => Ok(()),
            What::NamedCall => self.named_call(record, &object, out),
            What::Action => self.session.action(&object, out),
            What::Result => session.result(&object, out),
            What::Update if object.get("rawOutput|content").is_some() => {
                session.result(&object, out)
            }
            What::Update => Ok(()),
            What::Usage => {
                session.usage(record.get(self.log.part), value);
                Ok(())
            }
            What::Whole if record.flag("is_error") == Some(true) => session.fail(value, out),
            What::Whole => {
                if let Some(thought) = record.text("thought") {
                    session.text(Slot::THOUGHT, Source::Item, 0, &thought, out)?;
                }
                if self.log.repeats == Repeats::ByText || !session.has_text() {
                    session.text(Slot::ANSWER, Source::Event, 0, &text, out)?;
                }
                self.stop(record, out)
            }
            What::End => self.stop(record, out),
            What::Error => session.fail(value, out),
            What::Warning => {
                let words = text.non_empty().unwrap_or("the agent reported an error");
                out.warn(WarningCode::AgentError, words)
            }
        }
    }

    /// Ends the message as the record says.
    fn stop(&mut self, record: &Object, out: &mut EventOut) -> Done {
        self.session.note_reason(record.word(self.log.reason).unwrap_or_default());
        self.session.total(record.get(self.log.total));
        self.session.stop(out)
    }

    /// Ends the call whose arguments went on: it has all of them.
    fn end_call(&mut self, out: &mut EventOut) -> Done {
        self.open.take().map_or(Ok(()), |call| self.session.end_call(call.key, out))
    }

    /// Turns to the model's message or step that the record names.
    fn turn(&mut self, record: &Object) {
        self.session.turn_to(record.get(self.log.part));
    }

    fn message(
        &mut self,
        role: Role,
        record: &Object,
        message: &Object,
        out: &mut EventOut,
    ) -> Done {
        if role == Role::Model {
            self.turn(record);
        }
        self.session.message(role, message, out)?;
        let (places, rows) = self.log.usage;
        match record.get(places) {
            Some(json) if role == Role::Model && !rows.is_empty() => {
                self.session.usage(record.get(self.log.part), json);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `{"shellToolCall": {"args": …, "result": …}}`, beside which the record
    /// has its id.
    fn named_call(&mut self, record: &Object, call: &Object, out: &mut EventOut) -> Done {
        let Some((name, inner)) = call.first() else { return Ok(()) };
        let own = Object::new(inner);
        let id = record.get("call_id").unwrap_or("null");
        let arguments = own.get("args").unwrap_or("{}");
        let name = json::quote(name.strip_suffix("ToolCall").unwrap_or(name));
        let head = format!("\"call_id\":{id},\"name\":{name}");
        let json = format!("{{{head},\"args\":{arguments}}}");
        let begun = Object::new(&json);
        let Some(result) = own.get("result") else {
            return self.session.call(&begun, Executor::Agent, out);
        };
        self.session.call(&begun, Executor::Agent, out)?;
        let is_error = Object::new(result).get("success").is_none();
        let json = format!("{{{head},\"output\":{result},\"is_error\":{is_error}}}");
        self.session.result(&Object::new(&json), out)
    }

    /// True if a record is a subagent's, and the log is not.
    fn is_aside(&mut self, record: &Object) -> bool {
        let value = record.get(self.log.aside);
        let is_aside = value.is_some_and(|json| !matches!(json, "false" | "\"\""));
        self.has_aside = match self.has_aside {
            Aside::Open if is_aside => Aside::Subagent,
            Aside::Open => Aside::Main,
            known => known,
        };
        is_aside && self.has_aside != Aside::Subagent
    }

    /// A subagent's record in the agent's log is no part of the answer.
    fn aside(&mut self, json: &str, out: &mut EventOut) -> Done {
        if self.has_aside == Aside::Main {
            self.has_aside = Aside::Both;
            out.warn(WarningCode::Subagent, "what subagents said is passed over: --raw shows it")?;
        }
        let event = ProviderEvent { event: Some("subagent"), data: output(json) };
        out.emit(0, Kind::ProviderEvent(event))
    }
}

impl Log {
    /// Returns what records of a kind hold, and where.
    fn step_of(&self, kind: &str) -> Option<(What, Places)> {
        let is_it = |name: &str| {
            name.strip_suffix('*').map_or(name == kind, |start| kind.starts_with(start))
        };
        let step = self.steps.iter().find(|(name, ..)| is_it(name));
        let is_note = || !kind.is_empty() && self.notes.split('|').any(is_it);
        step.map(|(_, what, places)| (*what, *places))
            .or_else(|| is_note().then_some((What::Note, ".")))
    }
}

impl Decoder for LogDecoder {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        read!(&frame, out, |raw: Raw| self.record(&frame, raw.0.get(), true, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.open.take_if(|call| call.arguments.status() != Status::Whole).is_some() {
            return self.session.finish(false, out);
        }
        self.end_call(out)?;
        self.session.finish(!self.log.has_end, out)
    }
}
