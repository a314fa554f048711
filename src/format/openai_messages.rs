//! Messages as OpenAI's API takes them back, and LiteLLM keeps them: one a line,
//! or in an array.
//!
//! Source: OpenAI API reference, "Create chat completion", `messages`. Each
//! assistant's message is a message. The results that follow belong to the
//! message of their call: it stays open until another role speaks, and so long a
//! call waits for the result that shows that it was run. What the other roles
//! write is no answer, and is passed over. Why the model stopped isn't kept, and
//! is inferred: for tools if any of its calls has no result.
//! Messages of Anthropic's API are read, too, as requests and Cline's
//! `api_conversation_history.json` hold them: their calls, thoughts and results
//! are blocks.

use std::io;

use crate::format::anthropic::blocks::Blocks;
use crate::format::anthropic::payload::AnthropicBlock;
use crate::format::openai_chat::delta::{ReasoningDetails, emit};
use crate::format::openai_chat::payload::ChatDelta;
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["litellm-messages", "chat-messages"],
    about: "OpenAI and LiteLLM message objects of all roles, as requests hold them",
    link: "https://platform.openai.com/docs/api-reference/chat/create",
    evidence: &["role", "content", "tool_calls", "function_call", "refusal"],
    sniff: is_ours,
    ..Format::new("openai-messages", |_| {
        Box::new(OpenAiMessages {
            message: Lifecycle::new(&FORMAT, &[]),
            calls: Calls::default(),
            blocks: Blocks::default(),
        })
    })
};

fn is_ours(record: &Record) -> bool {
    let is_role = matches!(
        record.text("role").as_deref(),
        Some("assistant" | "tool" | "function" | "user" | "system" | "developer")
    );
    let has_content = ["content", "tool_calls", "function_call", "refusal"]
        .iter()
        .any(|key| record.get(key).is_some());
    // A thread's messages are OpenAI Assistants'.
    is_role && has_content && !record.has("type") && !record.has("object")
}

payload! {
    /// The role of a message, and the fields of a result.
    struct Head<'a> {
        role: Option<Str<'a>>,
        tool_call_id: Option<Str<'a>>,
        /// The tool's.
        name: Option<Str<'a>>,
        content: Option<RawJson<'a>>,
    }
}

struct OpenAiMessages {
    message: Lifecycle,
    calls: Calls,
    /// The blocks of a message of Anthropic's shape.
    blocks: Blocks,
}

impl Decoder for OpenAiMessages {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |head: Head| {
            match head.role.or_empty() {
                "assistant" => {
                    self.end(out)?;
                    self.message.begin(None, None, out)?;
                    match blocks(head) {
                        Some(blocks) => self.blocks(&frame, &blocks, out),
                        None => {
                            read!(&frame, out, |message: ChatDelta| self.message(message, out))
                        }
                    }
                }
                "user"
                    if self.message.is_open()
                        && let Some(results) = results(head) =>
                {
                    self.blocks(&frame, &results, out)
                }
                "tool" | "function" => self.result(head, out),
                "user" | "system" | "developer" => self.end(out),
                _ => self.stray(&frame, out),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        self.calls.release(out)?;
        out.infer_finish(0, FinishReason::Stop, None)
    }
}

impl OpenAiMessages {
    fn message(&mut self, message: &ChatDelta, out: &mut EventOut) -> Done {
        emit(0, message, true, &mut ReasoningDetails::default(), out)?;
        out.flush()?;
        for call in message.tool_calls.iter().flat_map(|calls| &calls.0) {
            let signature = call.signature();
            let (id, name, signature) = (call.id(), call.name(), signature.as_deref());
            let part = self.call(CallPart { id, name, signature, ..CallPart::default() }, out)?;
            call.emit(0, part, out)?;
            self.calls.hold(part.key, out)?;
        }
        if let Some(function) = &message.function_call {
            // Such a call has no id: its result names the function.
            let name = function.name.non_empty();
            let part = self.call(CallPart { id: name, name, ..CallPart::default() }, out)?;
            function.emit(0, part, out)?;
            self.calls.hold(part.key, out)?;
        }
        message.blocks().try_for_each(|(name, json)| out.block(0, name, json))
    }

    /// Begins a call: whether it was run, its result tells.
    fn call<'a>(&mut self, part: CallPart<'a>, out: &mut EventOut) -> io::Result<CallPart<'a>> {
        self.calls.place(CallPart { is_undecided: true, ..part }, out)
    }

    /// A message of Anthropic's API: results stand in the user's.
    fn blocks(&mut self, frame: &Frame, blocks: &[&str], out: &mut EventOut) -> Done {
        blocks.iter().try_for_each(|json| {
            let frame = frame.with(json.as_bytes());
            read!(&frame, out, |block: AnthropicBlock| self.block(block, json, out))
        })
    }

    fn block(&mut self, block: &AnthropicBlock, json: &str, out: &mut EventOut) -> Done {
        match block.kind.or_empty() {
            "tool_use" => {
                let (id, name) = (block.id.non_blank(), block.name.non_empty());
                let arguments = block.input().map_or(Arguments::None, Arguments::of_value);
                let part = CallPart { id, name, arguments, ..CallPart::default() };
                let part = self.call(part, out)?;
                out.call(0, part)?;
                self.calls.hold(part.key, out)
            }
            "tool_result" => self.calls.result(block.result(), out),
            _ => self.blocks.whole(block, json, out),
        }
    }

    fn result(&mut self, head: &Head, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        let name = head.name.non_empty();
        // The call of an older API has no id but its name.
        let of_name = name.filter(|name| self.calls.has(name));
        let id = head.tool_call_id.non_empty().or(of_name).unwrap_or_default();
        let output = output_of(head.content);
        self.calls.result(ToolResult { id, name, output, ..ToolResult::default() }, out)
    }

    /// A record that is none of this format's.
    fn stray(&mut self, frame: &Frame, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        let name = record.text("role").or(record.text("type")).unwrap_or_default();
        self.message.stray(frame, &name, out).map(drop)
    }

    /// Another role speaks: there will be no more results.
    fn end(&mut self, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        self.calls.release(out)?;
        out.infer_finish(0, FinishReason::Stop, None)?;
        self.calls = Calls::default();
        self.blocks = Blocks::default();
        self.message.end(out)
    }
}

/// The blocks of a message, if any is one that only Anthropic's API has.
fn blocks<'a>(head: &Head<'a>) -> Option<Vec<&'a str>> {
    let blocks = json::elements(head.content?.get())?;
    let is_ours = |block: &&str| {
        matches!(
            kind(block).as_deref(),
            Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking")
        )
    };
    blocks.iter().any(is_ours).then_some(blocks)
}

/// The results among the blocks of a message, if there are any.
fn results<'a>(head: &Head<'a>) -> Option<Vec<&'a str>> {
    let mut blocks = blocks(head)?;
    blocks.retain(|block| kind(block).as_deref() == Some("tool_result"));
    (!blocks.is_empty()).then_some(blocks)
}

fn kind(block: &str) -> Option<String> {
    Object::new(block).word("type")
}
