//! Blocks of content: their starts, the deltas that add to them, and their
//! stops.

use std::io;

use crate::format::anthropic::compaction::Compaction;
use crate::format::anthropic::payload::{AnthropicBlock, AnthropicEvent};
use crate::format::support::blocks::{self, IndexedBlocks};
use crate::format::support::prelude::*;

/// The blocks of one message.
#[derive(Debug, Default)]
pub(in crate::format) struct Blocks {
    /// The executor of calls that are the caller's to run by their type.
    executor: Option<Executor>,
    blocks: IndexedBlocks<Compaction>,
    /// The index and the id of the call that began last.
    begun: Option<(u64, String)>,
}

/// A block that has started and not stopped.
type OpenBlock = blocks::OpenIndexedBlock<Compaction>;

/// The extent of a message or a block in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum BlockExtent {
    /// Its start.
    Start,
    /// All of it.
    Whole,
}

impl Blocks {
    /// Those of an agent's log: it has run all calls.
    pub(in crate::format) fn of_agent() -> Self {
        Blocks { executor: Some(Executor::Agent), ..Blocks::default() }
    }

    /// True if none has begun.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// `content_block_start`.
    pub(in crate::format) fn start(
        &mut self,
        index: Option<u64>,
        block: &AnthropicBlock,
        json: &str,
        out: &mut EventOut,
    ) -> Done {
        let id = block.id.non_empty();
        if let (Some(at), Some((begun, known))) = (index, &self.begun)
            && (at, id) == (*begun, Some(known))
            && self.blocks.is_call(at)
        {
            let message = "the start of an open block came again, and was passed over";
            return out.warn(WarningCode::ReusedIndex, message);
        }
        let index = self.blocks.place_new(index, out)?;
        self.begun = id.map(|id| (index, id.to_owned()));
        let open = self.emit(block, Piece::part(json), out)?;
        if !matches!(open, OpenBlock::Call(_)) {
            out.native(0, self.blocks.object_at(Some(index)), Piece::part(json))?;
        }
        self.blocks.insert(index, open, out)
    }

    /// A block that came complete.
    pub(in crate::format) fn whole(
        &mut self,
        block: &AnthropicBlock,
        json: &str,
        out: &mut EventOut,
    ) -> Done {
        let open = self.emit(block, Piece::whole(json), out)?;
        if !matches!(open, OpenBlock::Call(_)) {
            out.native(0, self.blocks.object_at(None), Piece::whole(json))?;
        }
        open.close(out)
    }

    /// `content_block_delta`. Nothing is lost if its block never started: the
    /// type of the delta says what it is.
    pub(in crate::format) fn delta(
        &mut self,
        frame: &Frame,
        event: &AnthropicEvent,
        out: &mut EventOut,
    ) -> Done {
        let delta = event.delta.as_ref();
        let kind = delta.and_then(|delta| delta.kind.non_empty());
        let (Some(delta), Some(kind)) = (delta, kind) else {
            // One that doesn't say of what it is may be of a call that is open.
            out.lost()?;
            return out.unknown(frame, "content_block_delta");
        };
        let index = self.blocks.place(event.index, out)?;
        let is_started = match (self.blocks.get(index), kind) {
            (None, _) => false,
            (Some(open), "input_json_delta") => matches!(open, OpenBlock::Call(_)),
            (Some(open), "compaction_delta") => matches!(open, OpenBlock::Gathered(_)),
            (Some(OpenBlock::Call(_)), "text_delta" | "thinking_delta" | "signature_delta") => {
                false
            }
            (Some(_), _) => true,
        };
        if !is_started {
            let message = "a delta came for a block of its kind that had not started";
            out.warn(WarningCode::OrphanDelta, message)?;
            if self.blocks.get(index).is_none() {
                self.blocks.insert(index, OpenBlock::Plain, out)?;
            }
            self.blocks.pass_over(index, out)?;
        }
        let (none, piece) = (Str::default(), Piece::part(delta.json));
        if kind != "input_json_delta" {
            out.native(0, self.blocks.object_at(Some(index)), piece)?;
        }
        let done = match kind {
            "text_delta" => match &delta.text {
                Some(text) => out.text(0, text),
                None => out.unread(0, delta.json, |key| key == "type"),
            },
            "thinking_delta" => match &delta.thinking {
                Some(thinking) => out.reasoning(0, thinking),
                None => out.unread(0, delta.json, |key| key == "type"),
            },
            "signature_delta" => out.signature(0, delta.signature.or_empty()),
            "citations_delta" => {
                delta.citation.map_or(Ok(()), |json| out.block(0, "citation", json.get()))
            }
            "input_json_delta" => {
                let arguments = delta.partial_json.as_ref().unwrap_or(&none);
                if delta.partial_json.is_none() {
                    self.blocks.pass_over(index, out)?;
                }
                self.blocks.fragment(index, arguments, Some(piece), out)
            }
            "compaction_delta" => {
                let mut compaction = match self.blocks.remove(index) {
                    Some(OpenBlock::Gathered(compaction)) => compaction,
                    _ => Compaction::default(),
                };
                compaction.add(delta);
                self.blocks.gather(delta.content.or_empty().len(), out)?;
                self.blocks.insert(index, OpenBlock::Gathered(compaction), out)
            }
            kind => {
                self.blocks.pass_over(index, out)?;
                return out.unknown(frame, kind);
            }
        };
        done.and_then(|()| delta.warn_of_unread(out))
    }

    /// `content_block_stop`.
    pub(in crate::format) fn stop(&mut self, index: Option<u64>, out: &mut EventOut) -> Done {
        let index = self.blocks.place(index, out)?;
        match self.blocks.stop(index) {
            Some(open) => open.close(out),
            None => out.warn(WarningCode::OrphanStop, "a block stopped that had not started"),
        }
    }

    /// The message has ended, or the input has: no block goes on.
    pub(in crate::format) fn cut(&mut self, out: &mut EventOut) -> Done {
        self.blocks.cut(out)
    }

    /// Emits what a block holds.
    fn emit(
        &mut self,
        block: &AnthropicBlock,
        piece: Piece,
        out: &mut EventOut,
    ) -> io::Result<OpenBlock> {
        let json = piece.json;
        let key = self.blocks.next_key();
        let kind = block.kind.non_empty().unwrap_or("unknown");
        match kind {
            "text" | "thinking" | "redacted_thinking" => {
                emit_text(block, out)?;
                if block.text.is_none() && block.thinking.is_none() && block.data.is_none() {
                    let others = ["type", "citations", "signature", "cache_control"];
                    out.unread(0, json, |key| others.contains(&key))?;
                }
            }
            "tool_use" => return call(block, piece, key, self.executor, out),
            "server_tool_use" | "mcp_tool_use" => {
                return call(block, piece, key, Some(Executor::Provider), out);
            }
            "compaction" => {
                self.blocks.gather(json.len(), out)?;
                return Ok(OpenBlock::Gathered(Compaction::of(block)));
            }
            "container_upload" | "mcp_tool_listing" => out.block(0, kind, json)?,
            "fallback" => {
                out.block(0, kind, json)?;
                // Which one gave up, and which one took over.
                let [from, to] = ["from.model", "to.model"].map(|place| {
                    let model = Object::new(json).text(place);
                    json::quote(model.as_ref().map_or("unknown", Str::as_str))
                });
                let message = format!("the model changed from {from} to {to}");
                out.warn(WarningCode::ModelChanged, &message)?;
                out.withdraw()?;
            }
            _ if kind.ends_with("tool_result") => {
                let kind = Some(kind).filter(|kind| *kind != "tool_result");
                out.emit(0, Kind::ToolResult(ToolResult { kind, ..block.result() }))?;
            }
            _ => {
                out.block(0, kind, json)?;
                let message = format!("a block of type {} has no meaning here", json::quote(kind));
                out.warn(WarningCode::UnknownBlock, &message)?;
            }
        }
        Ok(OpenBlock::Plain)
    }
}

/// A call begins, or is there. What stands in the block at its start is
/// whole if no fragment follows, and only a placeholder if one does.
fn call(
    block: &AnthropicBlock,
    piece: Piece,
    key: Key,
    executor: Option<Executor>,
    out: &mut EventOut,
) -> io::Result<OpenBlock> {
    let arguments = match block.input() {
        None => Arguments::None,
        Some(json) if piece.is_whole => Arguments::of_value(json),
        Some(json) => Arguments::Placeholder(json),
    };
    let (id, name) = (block.id.non_blank(), block.name.non_empty());
    let kind = block.kind.text().filter(|kind| *kind != "tool_use");
    let part = CallPart { key, id, name, arguments, executor, kind, ..CallPart::default() };
    out.call(0, CallPart { native: Some(piece), ..part })?;
    Ok(OpenBlock::Call(key))
}

/// Emits text with its citations, and thinking with its signature.
fn emit_text(block: &AnthropicBlock, out: &mut EventOut) -> Done {
    if let Some(text) = &block.text {
        out.text(0, text)?;
    }
    for json in block.citations.iter().flatten() {
        out.block(0, "citation", json.get())?;
    }
    if let Some(thinking) = &block.thinking {
        out.reasoning(0, thinking)?;
    }
    if let Some(signature) = &block.signature {
        out.signature(0, signature.as_str())?;
    }
    match &block.data {
        Some(data) => out.redacted(0, data.as_str()),
        None => Ok(()),
    }
}
