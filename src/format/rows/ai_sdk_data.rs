//! The data stream protocol of Vercel's AI SDK, versions 3 and 4.
//!
//! Source: AI SDK 4 documentation, "Stream Protocols" (data stream), and the
//! package `@ai-sdk/ui-utils`. Each line is a code, a colon and a JSON value;
//! the framing `ai-data` makes the code the frame's name. `e` ends a step, `d`
//! the message; what the application appends (`2`, `8`) may still follow `d`.
//! Calls that were run on the way have their result after them; those that have
//! none when the text goes on, or when the step ends, are the caller's to run.

use crate::format::openai_chat::reply::REPLY as OPENAI;
use crate::format::reply::Reply;
use crate::format::rows::prelude::*;
use crate::json::quote;

pub(in crate::format) static FORMAT: Format =
    Format { sniff: |record| record.framing.is_coded(), ..Format::of(&SPEC) };

pub(in crate::format) static REPLY: Reply = Reply {
    formats: &[&FORMAT],
    headers: &[("x-vercel-ai-data-stream", "v1")],
    record: |trouble| ("3", quote(trouble.message)),
    ..OPENAI
};

static SPEC: Spec = Spec {
    name: "ai-sdk-data",
    aliases: &["ai-sdk-data-v1", "ai-sdk-v4"],
    about: "Vercel AI SDK, data stream (versions 3 and 4)",
    link: "https://ai-sdk.dev/v4/docs/ai-sdk-ui/stream-protocol",
    kind: &["event:"],
    start: Start { id: "messageId", ..Start::NEW },
    hold: true,
    on: &[
        Rule { kind: "0", release: true, text: ".", ..PART },
        Rule { kind: "g", release: true, thought: ".", ..PART },
        Rule { kind: "i", redacted: "data", ..PART },
        Rule { kind: "j", signature: "signature", ..PART },
        Rule { kind: "9", whole: true, call: Some(CALL), ..PART },
        Rule { kind: "b|c", call: Some(Call { arguments: "argsTextDelta", ..CALL }), ..PART },
        Rule {
            kind: "a",
            result: Some(Outcome { id: "toolCallId", output: "result", ..Outcome::NEW }),
            ..PART
        },
        Rule { kind: "2", block: block("'data'"), ..Rule::NEW },
        Rule { kind: "8", block: block("'annotations'"), ..Rule::NEW },
        Rule { kind: "6", block: block("'data_message'"), ..Rule::NEW },
        Rule { kind: "h", block: block("'source'"), ..Rule::NEW },
        Rule { kind: "k", block: block("'file'"), ..Rule::NEW },
        Rule { kind: "3", release: true, error: Some(Failure { at: ".", ..Failure::NEW }), ..PART },
        // OpenAI's assistants.
        Rule { kind: "4", each: &["content > content"], ..PART },
        // A message or a step begins.
        Rule { kind: "5|f", release: true, ..PART },
        Rule { kind: "e", release: true, usage: &["usage"], ..PART },
        Rule {
            kind: "d",
            release: true,
            total: true,
            usage: &["usage"],
            finish: "finishReason",
            stop: true,
            ..PART
        },
    ],
    groups: &[Group {
        name: "content",
        on: &[Rule { text: "text.value", ..Rule::NEW }],
        ..Group::NEW
    }],
    usage: &[
        ("promptTokens", Op::Is, &[Field::Input]),
        ("completionTokens", Op::Is, &[Field::Output]),
        ("totalTokens", Op::Is, &[Field::Total]),
    ],
    ..Spec::NEW
};

/// After the end of a message, the next one begins.
const PART: Rule = Rule { begin: Begin::Yes, ..Rule::NEW };

const CALL: Call = Call { id: "toolCallId", name: "toolName", arguments: "args", ..Call::NEW };

/// What the application sends, as it is.
const fn block(name: &'static str) -> Option<Block> {
    Some(Block { name, text: "data:", ..Block::NEW })
}
