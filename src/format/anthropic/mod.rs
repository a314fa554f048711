//! Anthropic Messages: the events of a stream, and complete messages.
//!
//! Source: Claude API reference, "Messages" and "Streaming messages". A stream
//! is `message_start`, blocks of content, each with its start, deltas and stop,
//! then `message_delta` and `message_stop`. Blocks are known by their index,
//! which may come again once its block has stopped.

pub(super) mod blocks;
mod compaction;
pub(super) mod payload;
pub(super) mod turn;
mod write;

use crate::format::support::prelude::*;
use blocks::{BlockExtent, Blocks};
use payload::{AnthropicBlock, AnthropicEnding, AnthropicEvent, AnthropicMessage, object};

pub(super) static FORMAT: Format = Format {
    aliases: &["anthropic-messages", "claude", "messages"],
    about: "Anthropic Messages, stream and body",
    link: "https://platform.claude.com/docs/en/build-with-claude/streaming",
    evidence: &["message", "delta", "content_block", "role", "content", "stop_reason"],
    sniff,
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("anthropic", |_| {
        Box::new(Anthropic {
            message: Lifecycle::new(&FORMAT, USAGE),
            blocks: Blocks::default(),
            repeats: false,
        })
    })
};

fn sniff(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("message_start" | "message_delta" | "message_stop") => true,
        Some("content_block_start" | "content_block_delta" | "content_block_stop") => true,
        Some("message") => is_body(record),
        _ => false,
    }
}

fn is_body(record: &Record) -> bool {
    let is_answer = record.text("role").as_deref() == Some("assistant");
    let has_blocks = record.get("content").is_some_and(|content| content.starts_with('['));
    is_answer && has_blocks && record.get("stop_reason").is_some()
}

/// Tokens read from a cache or written to one are not in `input_tokens`; those that
/// compactions cost are only in `iterations`, beside all else.
pub(super) const USAGE: &[CountRule] = &[
    ("iterations.+.input_tokens|input_tokens", Op::Adds, &[Field::Input]),
    (
        "iterations.+.cache_read_input_tokens|cache_read_input_tokens",
        Op::Adds,
        &[Field::Input, Field::Cached],
    ),
    (
        "iterations.+.cache_creation_input_tokens|cache_creation_input_tokens",
        Op::Adds,
        &[Field::Input, Field::CacheWrite],
    ),
    ("iterations.+.output_tokens|output_tokens", Op::Is, &[Field::Output]),
    ("output_tokens_details.thinking_tokens", Op::Is, &[Field::Reasoning]),
];

struct Anthropic {
    message: Lifecycle,
    blocks: Blocks,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

impl Decoder for Anthropic {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        // The format has no such end, but some gateways send one.
        if frame.is_done() {
            return Ok(());
        }
        if frame.event_type == "error" {
            return self.message.fail(&frame.text(), out);
        }
        read!(&frame, out, |event: AnthropicEvent| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Stopped {
            return self.end_unstopped(out);
        }
        self.blocks.cut(out)?;
        self.message.finish(out)
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.repeats.then_some(&Repeatable::TEXT)
    }
}

impl Anthropic {
    fn event(&mut self, frame: &Frame, event: &AnthropicEvent, out: &mut EventOut) -> Done {
        let kind = event.kind.non_empty().unwrap_or(frame.event_type);
        match kind {
            "ping" => Ok(()),
            "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
                if self.message.passes_over(out)? =>
            {
                Ok(())
            }
            "message_start" => match object("message", event.message, out)? {
                Some(json) => self.message(&frame.part(json), BlockExtent::Start, out),
                None => self.begin(None, None, out),
            },
            "message" => self.message(frame, BlockExtent::Whole, out),
            "message_delta" => {
                self.begin_late(out)?;
                self.message.count(event.usage);
                self.ending(&event.ending(), out)?;
                let Some(delta) = &event.delta else { return Ok(()) };
                delta.warn_of_unread(out)?;
                delta.error.map_or(Ok(()), |json| self.message.fail(json.get(), out))
            }
            "message_stop" => self.stop(out),
            "content_block_start" => {
                self.begin_late(out)?;
                let Some(json) = object("content_block", event.content_block, out)? else {
                    return Ok(());
                };
                read!(&frame.part(json), out, |block: AnthropicBlock| {
                    self.blocks.start(event.index, block, json.get(), out)
                })
            }
            "content_block_delta" => {
                self.begin_late(out)?;
                self.repeats = event.delta.as_ref().is_none_or(|delta| !delta.passes_text);
                self.blocks.delta(frame, event, out)
            }
            "content_block_stop" => {
                self.begin_late(out)?;
                self.blocks.stop(event.index, out)
            }
            "error" => self.message.fail(&frame.text(), out),
            kind => self.stray(frame, kind, out),
        }
    }

    /// Reads a message, as it is when it begins or complete.
    fn message(&mut self, frame: &Frame, extent: BlockExtent, out: &mut EventOut) -> Done {
        read!(frame, out, |message: AnthropicMessage| {
            let id = message.id.non_empty();
            let is_open =
                self.message.state == State::Open && id.is_some() && id == self.message.id();
            if is_open && extent == BlockExtent::Start && self.blocks.is_empty() {
                let message = "a second `message_start` of the open message was passed over";
                return out.warn(WarningCode::DuplicateMessageStart, message);
            }
            if extent == BlockExtent::Start {
                self.message.head.input_tokens = message.input_tokens();
            }
            self.begin(id, message.model.non_empty(), out)?;
            let has_reason = message.ending().reason().is_some();
            let mut content = message.content.iter().flatten().copied();
            let mut blocks = |out: &mut EventOut| {
                content.try_for_each(|json| self.whole_block(frame, json, out))
            };
            match extent == BlockExtent::Start || has_reason {
                true => blocks(out)?,
                false => out.unclosed(blocks)?,
            }
            self.message.count(message.usage);
            self.ending(&message.ending(), out)?;
            if let Some(json) = message.error {
                self.message.fail(json.get(), out)?;
            }
            match extent {
                BlockExtent::Start => Ok(()),
                BlockExtent::Whole if has_reason => self.end(out),
                BlockExtent::Whole => {
                    self.blocks = Blocks::default();
                    self.message.end_unfinished([0], out)
                }
            }
        })
    }

    fn whole_block(&mut self, frame: &Frame, json: RawJson<'_>, out: &mut EventOut) -> Done {
        let Some(json) = object("content", Some(json), out)? else { return Ok(()) };
        let (frame, json) = (frame.part(json), json.get());
        read!(&frame, out, |block: AnthropicBlock| self.blocks.whole(block, json, out))
    }

    /// A message begins. One that was open ends now: well, if only its
    /// `message_stop` was missing.
    fn begin(&mut self, id: Option<&str>, model: Option<&str>, out: &mut EventOut) -> Done {
        match self.message.state {
            State::Closed => {}
            State::Stopped => self.end_unstopped(out)?,
            State::Failed => self.end(out)?,
            State::Open => {
                out.overlap()?;
                self.end(out)?;
            }
        }
        self.message.begin(id, model, out)
    }

    /// A part of a message came: if none has begun, the input's beginning is
    /// missing.
    fn begin_late(&mut self, out: &mut EventOut) -> Done {
        let warning =
            (WarningCode::MissingMessageStart, "a part of a message came without `message_start`");
        self.message.begin_late(warning, out)
    }

    /// Emits the reason to stop, if there is one, and the blocks beside it.
    fn ending(&mut self, ending: &AnthropicEnding, out: &mut EventOut) -> Done {
        for (name, json) in ending.blocks {
            let Some(json) = json else { continue };
            out.block(0, name, json.get())?;
            // The next request names it.
            if name == "container" {
                out.native(0, Of::Message, Piece::part(json.get()))?;
            }
        }
        let Some(raw) = ending.reason() else { return Ok(()) };
        self.message.stop();
        out.finish(0, raw, ending.sequence.map(Str::as_str))
    }

    /// A record that is none of this format's.
    fn stray(&mut self, frame: &Frame, kind: &str, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        let is_error = record.has("error") || (kind.is_empty() && error::is_error(&record));
        if is_error { self.message.fail(&frame.text(), out) } else { out.unknown(frame, kind) }
    }

    /// `message_stop`.
    fn stop(&mut self, out: &mut EventOut) -> Done {
        if self.message.state == State::Open {
            out.warn(WarningCode::NoFinishReason, "`message_stop` came without a stop reason")?;
        }
        self.end(out)
    }

    fn end_unstopped(&mut self, out: &mut EventOut) -> Done {
        let message = "the message has a stop reason, but no `message_stop`";
        out.warn(WarningCode::MissingMessageStop, message)?;
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.blocks.cut(out)?;
        self.blocks = Blocks::default();
        self.message.end(out)
    }
}
