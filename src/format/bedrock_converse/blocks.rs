//! Blocks of content: their starts, the deltas that add to them, and their
//! stops.

use std::io;

use serde_json::value::RawValue;

use crate::event;
use crate::event::{Arguments, CallPart, Executor, Key, Kind, Output, WarningCode};
use crate::format::bedrock_converse::payload::{
    Block, Delta, Event, Reasoning, ToolResult, ToolUse,
};
use crate::format::support::blocks::{Gathered, IndexedBlocks, Open};
use crate::format::support::prelude::*;

/// The blocks of one message.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Those that are more than text.
    blocks: IndexedBlocks<Collected>,
}

/// The result of a tool of the provider's, which comes in pieces and is emitted whole.
#[derive(Debug, Default)]
struct Collected {
    id: String,
    is_error: Option<bool>,
    /// The elements of its content: JSON with commas between.
    content: String,
}

/// Kinds of block that are known, and have no event of their own.
const PASSED_ON: [&str; 8] = [
    "image",
    "video",
    "audio",
    "document",
    "searchResult",
    "guardContent",
    "cachePoint",
    "citation",
];

impl Blocks {
    /// `contentBlockStart`.
    pub(super) fn start(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let index = self.blocks.place(event.content_block_index, out)?;
        self.blocks.clear(index, out)?;
        let Some(start) = &event.start else { return out.unknown(frame, "contentBlockStart") };
        if let Some(call) = &start.tool_use {
            let key = self.call(call, Arguments::None, out)?;
            self.blocks.insert(index, Open::Call(key), out)?;
        } else if let Some(result) = &start.tool_result {
            let result = Collected::new(result);
            self.blocks.gather(result.content.len(), out)?;
            self.blocks.insert(index, Open::Gathered(result), out)?;
        } else if let Some(json) = start.image {
            out.block(0, "image", json.get())?;
        } else {
            out.unknown(frame, "contentBlockStart")?;
        }
        Ok(())
    }

    /// `contentBlockDelta`.
    pub(super) fn delta(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let index = self.blocks.place(event.content_block_index, out)?;
        match &event.delta {
            Some(Delta { text: Some(text), .. }) => out.text(0, text),
            Some(Delta { tool_use: Some(call), .. }) => {
                self.blocks.fragment(index, call.input.as_ref().unwrap_or(&Str::default()), out)
            }
            Some(Delta { reasoning_content: Some(reasoning), .. }) => {
                emit_reasoning(reasoning, out)
            }
            Some(Delta { citation: Some(json), .. }) => out.block(0, "citation", json.get()),
            Some(Delta { tool_result: Some(content), .. }) => self.gather(index, content, out),
            Some(Delta { image: Some(json), .. }) => out.block(0, "image", json.get()),
            _ => {
                self.blocks.pass_over(index, out)?;
                out.unknown(frame, "contentBlockDelta")
            }
        }
    }

    /// `contentBlockStop`.
    pub(super) fn stop(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let index = self.blocks.place(event.content_block_index, out)?;
        self.blocks.remove(index).unwrap_or(Open::Plain).close(out)
    }

    /// A block of a complete answer.
    pub(super) fn whole(&mut self, frame: &Frame, json: &str, out: &mut EventOut) -> Done {
        read!(frame, out, |block: Block| {
            if let Some(text) = &block.text {
                return out.text(0, text).and_then(|()| out.flush());
            }
            if let Some(call) = &block.tool_use {
                let key = self.call(
                    call,
                    call.input.map_or(Arguments::None, |json| Arguments::of_value(json.get())),
                    out,
                )?;
                return out.call_end(0, key);
            }
            if let Some(result) = &block.tool_result {
                return Collected::new(result).emit(out);
            }
            if let Some(reasoning) = &block.reasoning_content {
                return emit_reasoning(reasoning, out).and_then(|()| out.flush());
            }
            if let Some(cited) = &block.citations_content {
                let texts = cited.content.iter().flatten().filter_map(|cited| cited.text.as_ref());
                for text in texts {
                    out.text(0, text)?;
                }
                let mut citations = cited.citations.iter().flatten();
                return citations.try_for_each(|json| out.block(0, "citation", json.get()));
            }
            pass_on(json, out)
        })
    }

    /// The message has stopped: blocks that are open will not come to their
    /// own end. A call that was never closed is the assembler's to judge.
    pub(super) fn cut(&mut self, out: &mut EventOut) -> Done {
        self.blocks.cut(out)
    }

    /// A call begins, or is there.
    fn call(
        &mut self,
        call: &ToolUse,
        arguments: Arguments,
        out: &mut EventOut,
    ) -> io::Result<Key> {
        let key = self.blocks.next_key();
        let executor = (call.kind.text() == Some("server_tool_use")).then_some(Executor::Provider);
        let (id, name) = (call.tool_use_id.non_blank(), call.name.non_empty());
        out.call(0, CallPart { key, id, name, arguments, executor, ..CallPart::default() })?;
        Ok(key)
    }

    /// A result goes on.
    fn gather(&mut self, index: u64, content: &[&RawValue], out: &mut EventOut) -> Done {
        self.blocks.gather(content.iter().map(|json| json.get().len()).sum(), out)?;
        match self.blocks.get_mut(index) {
            Some(Open::Gathered(result)) => {
                result.add(content);
                Ok(())
            }
            _ => {
                let mut result = Collected::default();
                result.add(content);
                self.blocks.insert(index, Open::Gathered(result), out)?;
                out.warn(
                    WarningCode::MissingBlockStart,
                    "a part of a result came without its `contentBlockStart`",
                )
            }
        }
    }
}

impl Collected {
    fn new(result: &ToolResult) -> Self {
        let mut collected = Collected {
            id: result.tool_use_id.or_empty().to_owned(),
            is_error: result.is_error(),
            content: String::new(),
        };
        collected.add(result.content.as_deref().unwrap_or_default());
        collected
    }

    fn add(&mut self, content: &[&RawValue]) {
        for json in content {
            let comma = if self.content.is_empty() { "" } else { "," };
            self.content.push_str(comma);
            self.content.push_str(json.get());
        }
    }
}

impl Gathered for Collected {
    const NOUN: &'static str = "block";
    const CUT: Option<&'static str> = Some("a result was cut");

    fn emit(&self, out: &mut EventOut) -> Done {
        let output = format!("[{}]", self.content);
        let (output, is_error) = (Output::Json(&output), self.is_error);
        out.emit(
            0,
            Kind::ToolResult(event::ToolResult {
                id: &self.id,
                output,
                is_error,
                ..event::ToolResult::default()
            }),
        )
    }
}

fn emit_reasoning(reasoning: &Reasoning, out: &mut EventOut) -> Done {
    let whole = reasoning.reasoning_text.as_ref();
    if let Some(text) = reasoning.text.as_ref().or(whole.and_then(|whole| whole.text.as_ref())) {
        out.reasoning(0, text)?;
    }
    if let Some(signature) =
        reasoning.signature.as_ref().or(whole.and_then(|whole| whole.signature.as_ref()))
    {
        out.signature(0, signature.as_str())?;
    }
    match &reasoning.redacted_content {
        Some(data) => out.redacted(0, data.as_str()),
        None => Ok(()),
    }
}

/// Emits a block of a kind that has no event of its own.
fn pass_on(json: &str, out: &mut EventOut) -> Done {
    for (kind, value) in json::members(json) {
        out.block(0, &kind, value.get())?;
        if !PASSED_ON.contains(&kind.as_ref()) {
            let message = format!("a block of type {} has no meaning here", json::quote(&kind));
            out.warn(WarningCode::UnknownBlock, &message)?;
        }
    }
    Ok(())
}
