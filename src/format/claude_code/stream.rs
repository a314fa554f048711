//! Partial messages: the events of the model's own stream, as they came.

use crate::format::anthropic::payload::{AnthropicBlock, AnthropicEvent, AnthropicMessage};
use crate::format::claude_code::{BLOCKS, ClaudeCode, MAX_BLOCKS, Streamed};
use crate::format::support::prelude::*;
use crate::format::support::said::SaidStretch;

impl ClaudeCode {
    /// An event of the model's own stream.
    pub(super) fn stream(
        &mut self,
        frame: &Frame,
        event: &AnthropicEvent,
        out: &mut EventOut,
    ) -> Done {
        match event.kind.or_empty() {
            "message_start" => {
                let Some(json) = event.message else { return out.unknown(frame, "message_start") };
                read!(&frame.part(json), out, |message: AnthropicMessage| {
                    let id = message.id.non_empty();
                    self.turn_to(id);
                    self.streamed = id.map(str::to_owned);
                    self.blocks_streamed.clear();
                    self.count(message.usage);
                    Ok(())
                })
            }
            "content_block_start" => {
                let Some(json) = event.content_block else {
                    return out.unknown(frame, "content_block_start");
                };
                read!(&frame.part(json), out, |block: AnthropicBlock| {
                    self.has_text |= block.text.is_some();
                    let (index, id) = (event.index, block.id.non_blank().map(str::to_owned));
                    let begin = block.text.as_ref().or(block.thinking.as_ref());
                    let said = begin.map(SaidStretch::of).unwrap_or_default();
                    self.blocks_streamed.push(Streamed { index, id, said });
                    out.check_limit(self.blocks_streamed.len(), MAX_BLOCKS, BLOCKS)?;
                    self.blocks.start(event.index, block, json.get(), out)
                })
            }
            "content_block_delta" => {
                let delta = event.delta.as_ref();
                let text = delta.and_then(|delta| delta.text.as_ref().or(delta.thinking.as_ref()));
                // In Qwen Code, each block of a message has the index 0.
                let of = self.blocks_streamed.iter_mut().rev();
                if let Some(text) = text
                    && let Some(block) = of.into_iter().find(|block| block.index == event.index)
                {
                    block.said.add(text);
                }
                self.blocks.delta(frame, event, out)
            }
            "content_block_stop" => self.blocks.stop(event.index, out),
            "message_delta" => {
                self.count(event.usage);
                self.note_reason(event.ending().reason);
                Ok(())
            }
            "message_stop" => self.blocks.cut(out),
            "ping" | "goal_state" => Ok(()),
            "error" => error::report(&frame.text(), out),
            kind => out.unknown(frame, kind),
        }
    }
}
