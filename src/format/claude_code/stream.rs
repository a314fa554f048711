//! Partial messages: the events of the model's own stream, as they came.

use serde_json::value::RawValue;

use crate::format::anthropic::payload::{Block, Event, Message};
use crate::format::claude_code::ClaudeCode;
use crate::format::support::prelude::*;

impl ClaudeCode {
    /// An event of the model's own stream.
    pub(super) fn stream(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        match event.kind.or_empty() {
            "message_start" => {
                let Some(json) = event.message else { return out.unknown(frame, "message_start") };
                read!(&frame.part(json), out, |message: Message| {
                    let id = message.id.non_empty();
                    self.turn_to(id);
                    self.streamed = id.map(str::to_owned);
                    self.meter.feed(message.usage.map_or("", RawValue::get));
                    Ok(())
                })
            }
            "content_block_start" => {
                let Some(json) = event.content_block else {
                    return out.unknown(frame, "content_block_start");
                };
                read!(&frame.part(json), out, |block: Block| {
                    self.has_text |= block.text.is_some();
                    self.blocks.start(event.index, block, json.get(), out)
                })
            }
            "content_block_delta" => self.blocks.delta(frame, event, out),
            "content_block_stop" => self.blocks.stop(event.index, out),
            "message_delta" => {
                self.meter.feed(event.usage.map_or("", RawValue::get));
                self.note_reason(event.ending().reason);
                Ok(())
            }
            "message_stop" => self.blocks.cut(out),
            "ping" => Ok(()),
            "error" => error::report(&frame.text(), out),
            kind => out.unknown(frame, kind),
        }
    }
}
