//! Our own events: what `parse`, `next` and `agent` print.
//!
//! Each line is the event that it was: nothing is assembled a second time. So `parse` of `parse`'s
//! output prints the same lines again.

use crate::event::words::ClosedWords;
use crate::event::{
    Block, CallInput, Code, EndReason, Failure, Finish, InvalidToolCall, Prompt, ProviderEvent,
    Ran, Reasoning, RunEnd, Start, Text, ToolCall, ToolCallDelta, ToolCallStart, ToolCallValue,
    Turn, Usage, VERSION, Warning,
};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["toolstream"],
    about: "toolstream's own events, as parse prints them",
    link: "https://github.com/toolstream/toolstream#events",
    evidence: &["v", "format", "framing"],
    sniff,
    is_ours: true,
    ..Format::new("events", |_| Box::new(EventsDecoder { is_open: false }))
};

fn sniff(record: &Record) -> bool {
    let is_start = record.text("type").as_deref() == Some("start");
    is_start && record.has("v") && record.has("format") && record.has("framing")
}

struct EventsDecoder {
    /// True if a message has begun.
    is_open: bool,
}

payload! {
    /// A line: all members that any has.
    struct EventLine<'a> {
        kind: Option<Str<'a>> = "type",
        v: Option<u64>,
        choice: Option<u64>,
        file: Option<Str<'a>>,
        format: Option<Str<'a>>,
        framing: Option<Str<'a>>,
        dialect: Option<Str<'a>>,
        id: Option<Str<'a>>,
        model: Option<Str<'a>>,
        created: Option<u64>,
        round: Option<u64>,
        attempt: Option<u64>,
        text: Option<Str<'a>>,
        channel: Option<Str<'a>>,
        signature: Option<Str<'a>>,
        redacted: Option<Str<'a>>,
        part: Option<u64>,
        item_id: Option<Str<'a>>,
        index: Option<u64>,
        namespace: Option<Str<'a>>,
        name: Option<Str<'a>>,
        arguments: Option<RawJson<'a>>,
        input: Option<Str<'a>>,
        path: Option<Str<'a>>,
        value: Option<RawJson<'a>>,
        source: Option<Str<'a>>,
        /// A word: of any other value, the call is nobody's here.
        executor: Option<RawJson<'a>>,
        own_kind: Option<Str<'a>> = "kind",
        arguments_raw: Option<Str<'a>>,
        role: Option<Str<'a>>,
        media: Option<u64>,
        reason: Option<Str<'a>>,
        output: Option<RawJson<'a>>,
        is_error: Option<bool>,
        exit: Option<i32>,
        ms: Option<u64>,
        left_out: Option<u64>,
        rounds: Option<u64>,
        calls: Option<u64>,
        /// The counts of all messages of a run, which a usage has as well.
        usage: Option<Box<EventLine<'a>>>,
        attributes: Option<RawJson<'a>>,
        code: Option<Str<'a>>,
        message: Option<Str<'a>>,
        offset: Option<u64>,
        event: Option<Str<'a>>,
        data: Option<RawJson<'a>>,
        append: Option<RawJson<'a>>,
        set: Option<RawJson<'a>>,
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        total_tokens: Option<u64>,
        cached_input_tokens: Option<u64>,
        cache_write_tokens: Option<u64>,
        reasoning_tokens: Option<u64>,
        raw: Option<RawJson<'a>>,
        finish_reason: Option<Str<'a>>,
        raw_finish_reason: Option<Str<'a>>,
        stop_sequence: Option<Str<'a>>,
        inferred: Option<bool>,
        provider_code: Option<Str<'a>>,
        status: Option<u16>,
        retryable: Option<bool>,
        retried: Option<bool>,
        t_ms: Option<u64>,
    }
}

impl Decoder for EventsDecoder {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |line: EventLine| {
            let kind = line.kind.or_empty();
            if kind == "start"
                && let Some(version) = line.v.filter(|version| *version > VERSION)
            {
                let message = format!(
                    "these events are of version {version}, and this toolstream reads version \
                     {VERSION}: a newer one has written them"
                );
                if self.is_open {
                    out.end()?;
                }
                out.start(FORMAT.name, None, None)?;
                let failure = Failure::new(Code::Unrecognised, &message, Some(frame.offset));
                return out.emit(0, Kind::Error(failure));
            }
            if kind == "start" && std::mem::replace(&mut self.is_open, true) {
                out.end()?;
            }
            if !self.is_open {
                self.is_open = true;
                let (format, framing) = (FORMAT.name, frame.framing.name);
                out.emit(0, Kind::Start(Start { format, framing, ..Start::default() }))?;
                let message = "a part of a message came without its `start`";
                out.warn(WarningCode::MissingMessageStart, message)?;
            }
            // The arguments of a call are an object, a piece of them is text.
            let fragment = line.arguments.map(|json| json::text(json.get()));
            match line.event(kind, fragment.as_ref()) {
                Some(event) => {
                    line.t_ms.map_or(Ok(()), |time| out.emit(0, Kind::Time(time)))?;
                    out.emit(line.choice.unwrap_or(0), event)
                }
                None => {
                    let message =
                        format!("lines of type {} are passed over", json::quote_start(kind));
                    out.warn(WarningCode::UnknownEvent, &message)
                }
            }
        })
    }

    fn finish(&mut self, _: &mut EventOut) -> Done {
        Ok(())
    }
}

/// The variant of a list of words that has this word.
fn variant<W: ClosedWords>(word: &Option<Str<'_>>) -> Option<W> {
    W::from_word(word.text()?)
}

impl EventLine<'_> {
    /// Returns the event that the line is; none if it is of no known type, or lacks what its type
    /// needs.
    fn event<'t>(&'t self, kind: &str, fragment: Option<&'t Str<'_>>) -> Option<Kind<'t>> {
        Some(match kind {
            "start" => Kind::Start(self.start()),
            "text" => Kind::Text(Text { text: self.text.or_empty(), channel: self.channel.text() }),
            "reasoning" => Kind::Reasoning(Reasoning {
                text: self.text.or_empty(),
                signature: self.signature.non_empty(),
                redacted: self.redacted.non_empty(),
                part: self.part,
                item_id: self.item_id.text(),
            }),
            "prompt" => Kind::Prompt(self.prompt()),
            "refusal" => Kind::Refusal(self.text.or_empty()),
            "tool_call_start" => Kind::ToolCallStart(self.call_start()?),
            "tool_call_delta" => Kind::ToolCallDelta(ToolCallDelta {
                index: self.index?,
                arguments: fragment?.as_str(),
                is_free: false,
                // A log does not say.
                is_ours: false,
            }),
            "tool_call_value" => Kind::ToolCallValue(ToolCallValue {
                index: self.index?,
                path: self.path.or_empty(),
                value: match self.text.text() {
                    Some(text) => Output::Text(text),
                    None => output_of(self.value),
                },
            }),
            "tool_call" => self.call()?,
            "invalid_tool_call" => Kind::InvalidToolCall(InvalidToolCall {
                index: self.index?,
                id: self.id.text(),
                name: self.name.text(),
                arguments_raw: self.arguments_raw.or_empty(),
                reason: variant::<Reason>(&self.reason)?,
                source: self.source.text(),
            }),
            "tool_result" => Kind::ToolResult(ToolResult {
                id: self.id.or_empty(),
                name: self.name.text(),
                output: output_of(self.output),
                is_error: self.is_error,
                kind: self.own_kind.text(),
                executor: self.executor().flatten(),
                ran: self.ms.map(|ms| Ran { exit: self.exit, ms, left_out: self.left_out }),
            }),
            "tool_start" => Kind::ToolStart(self.call_start()?),
            "end" => Kind::RunEnd(RunEnd {
                reason: variant::<EndReason>(&self.reason)?,
                rounds: self.rounds?,
                calls: self.calls?,
                usage: self.usage.as_ref().map(|counts| counts.usage()),
            }),
            "block" => Kind::Block(self.block()),
            "warning" => Kind::Warning(Warning {
                code: variant::<WarningCode>(&self.code)?,
                message: self.message.or_empty(),
                offset: self.offset,
                index: self.index,
            }),
            "provider_event" => Kind::ProviderEvent(ProviderEvent {
                event: self.event.text(),
                data: output_of(self.data),
            }),
            "turn" => {
                Kind::Turn(Turn { append: self.append?.get(), set: self.set.map(RawJson::get) })
            }
            "usage" => Kind::Usage(self.usage()),
            "finish_reason" => Kind::Finish(Finish {
                finish_reason: variant::<FinishReason>(&self.finish_reason)?,
                raw: self.raw_finish_reason.text(),
                stop_sequence: self.stop_sequence.text(),
                inferred: self.inferred == Some(true),
                wants_tools: false,
            }),
            "error" => Kind::Error(self.failure()?),
            _ => return None,
        })
    }

    fn start(&self) -> Start<'_> {
        Start {
            format: self.format.or_empty(),
            framing: self.framing.non_empty().unwrap_or("unknown"),
            dialect: self.dialect.text(),
            id: self.id.text(),
            model: self.model.text(),
            created: self.created,
            input_tokens: self.input_tokens,
            round: self.round,
            attempt: self.attempt,
            file: self.file.text(),
        }
    }

    fn block(&self) -> Block<'_> {
        Block {
            name: self.name.or_empty(),
            text: self.text.or_empty(),
            attributes: self.attributes.map(RawJson::get),
        }
    }

    fn prompt(&self) -> Prompt<'_> {
        Prompt { text: self.text.or_empty(), role: self.role.text(), media: self.media }
    }

    fn call_start(&self) -> Option<ToolCallStart<'_>> {
        Some(ToolCallStart {
            index: self.index?,
            id: self.id.or_empty(),
            name: self.name.or_empty(),
        })
    }

    /// Returns who runs the call, if not the caller; nothing if that is not known.
    fn executor(&self) -> Option<Option<Executor>> {
        match self.executor {
            Some(json) => Some(Some(Executor::from_word(&json::string(json.get())?)?)),
            None => Some(None),
        }
    }

    /// Returns the call that the line is: one that we would not have printed is invalid.
    fn call(&self) -> Option<Kind<'_>> {
        let input = self.input.text().map(CallInput::Text);
        let arguments = self.arguments.map(|json| CallInput::Arguments(json.get()));
        let (name, input) = (self.name.or_empty(), input.or(arguments));
        let executor = self.executor()?;
        let (index, id, source) = (self.index?, self.id.text(), self.source.text());
        let reason = match (id, input) {
            _ if self.arguments.is_some() && self.input.is_some() => Reason::Conflict,
            _ if name.trim().is_empty() => Reason::NoName,
            (_, Some(CallInput::Arguments(json))) if !json.starts_with('{') => Reason::NotObject,
            (Some(id), Some(input)) => {
                return Some(Kind::ToolCall(ToolCall {
                    index,
                    id,
                    is_made_up: false,
                    namespace: self.namespace.non_empty(),
                    name,
                    input,
                    source,
                    executor,
                    signature: self.signature.non_empty(),
                    kind: self.own_kind.text(),
                    item_id: self.item_id.text(),
                }));
            }
            _ => Reason::Malformed,
        };
        Some(Kind::InvalidToolCall(InvalidToolCall {
            index,
            id,
            name: self.name.non_empty(),
            arguments_raw: input.map_or("", |input| input.as_str()),
            reason,
            source,
        }))
    }

    fn usage(&self) -> Usage<'_> {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            total_tokens: self.total_tokens,
            cached_input_tokens: self.cached_input_tokens,
            cache_write_tokens: self.cache_write_tokens,
            reasoning_tokens: self.reasoning_tokens,
            raw: self.raw.map_or("", RawJson::get),
        }
    }

    fn failure(&self) -> Option<Failure<'_>> {
        Some(Failure {
            code: variant::<Code>(&self.code)?,
            message: self.message.or_empty(),
            offset: self.offset,
            provider_code: self.provider_code.text(),
            status: self.status,
            retryable: self.retryable,
            retried: self.retried == Some(true),
            raw: self.raw.map(|raw| Output::Json(raw.get())),
        })
    }
}
