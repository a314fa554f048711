//! The UI message stream of Vercel's AI SDK, version 5 and later.
//!
//! Source: AI SDK documentation, "Stream Protocols" (UI message stream), and
//! the types of the package `ai`. One stream is one message of several steps;
//! it ends with `finish` and `[DONE]`. Calls that were run on the way have their
//! output after them; those that have none when the text goes on, or when the
//! step ends, are the caller's to run.

use crate::format::ai_sdk_ui::write;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format =
    Format { write: Some(&write::WRITING), ..Format::of(&SPEC) };

static SPEC: Spec = Spec {
    name: "ai-sdk-ui",
    aliases: &["ai-sdk", "ai-sdk-ui-message-stream", "vercel-ai"],
    about: "Vercel AI SDK, UI message stream (version 5 and later)",
    link: "https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol",
    evidence: &["id", "toolCallId", "errorText", "url", "data"],
    kind: &["type"],
    start: Start { id: "messageId", ..Start::NEW },
    done: Some(Done {
        warn: Some(WarningCode::NoFinishReason),
        missing: Some(WarningCode::MissingDone),
    }),
    hold: true,
    on: &[
        Rule { kind: "start", begin: Begin::Yes, ..METADATA },
        Rule { kind: "message-metadata", ..METADATA },
        Rule { kind: "start-step|finish-step", release: true, ..Rule::NEW },
        Rule { kind: "text-start", needs: &["id"], release: true, ..Rule::NEW },
        Rule { kind: "text-delta", needs: &["id"], text: "delta", ..Rule::NEW },
        Rule { kind: "text-end", needs: &["id"], ..Rule::NEW },
        Rule { kind: "reasoning-start", release: true, part: true, ..THOUGHT },
        Rule { kind: "reasoning-delta|reasoning-end", ..THOUGHT },
        Rule {
            kind: "tool-input-start",
            call: Some(Call { free: "inputEncoding=text", ..CALL }),
            ..TOOL
        },
        Rule {
            kind: "tool-input-delta",
            call: Some(Call { id: "toolCallId", arguments: "inputTextDelta", ..Call::NEW }),
            ..TOOL
        },
        Rule {
            kind: "tool-input-available",
            whole: true,
            call: Some(Call { arguments: "input", ..CALL }),
            ..TOOL
        },
        Rule {
            kind: "tool-input-error",
            call: Some(Call { invalid: "input|'{}'", ..CALL }),
            warn: Some(Warn {
                code: WarningCode::ToolInputError,
                text: "errorText|'the input of a tool is wrong'",
            }),
            ..TOOL
        },
        // It is repeated by the final one.
        Rule { kind: "tool-output-available", is: &[("preliminary", "true")], ..TOOL },
        Rule { kind: "tool-output-available", result: Some(OUTPUT), ..TOOL },
        Rule {
            kind: "tool-output-error",
            result: Some(Outcome { output: "errorText", is_error: "'true'", ..OUTPUT }),
            ..TOOL
        },
        Rule {
            kind: "tool-output-denied",
            result: Some(Outcome { output: "'denied'", is_error: "'true'", ..OUTPUT }),
            ..TOOL
        },
        Rule {
            kind: "source-url|source-document|tool-approval-request",
            block: Some(Block::of("kind:", ".")),
            ..Rule::NEW
        },
        Rule { kind: "file", needs: &["url"], block: Some(Block::of("kind:", ".")), ..Rule::NEW },
        Rule {
            kind: "data-*",
            needs: &["data"],
            block: Some(Block::of("kind:", ".")),
            ..Rule::NEW
        },
        Rule {
            kind: "error",
            needs: &["errorText"],
            release: true,
            error: Some(Failure { at: ".", ..Failure::NEW }),
            ..Rule::NEW
        },
        Rule {
            kind: "abort",
            release: true,
            error: Some(Failure {
                at: ".",
                message: "reason|'the stream was aborted'",
                code: "'abort'",
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "finish",
            not: &["message"],
            release: true,
            finish: "finishReason",
            stop: true,
            ..METADATA
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const METADATA: Rule = Rule {
    usage: &["messageMetadata.totalUsage|messageMetadata.usage"],
    rest: Some(Block::of("'message-metadata'", "messageMetadata")),
    ..Rule::NEW
};

/// Whichever provider there is.
const SIGNATURE: &str = "providerMetadata.*.signature|providerMetadata.*.thoughtSignature";

const THOUGHT: Rule = Rule {
    needs: &["id"],
    thought: "delta",
    signature: SIGNATURE,
    redacted: "providerMetadata.*.redactedData|providerMetadata.*.reasoningEncryptedContent",
    ..Rule::NEW
};

const TOOL: Rule = Rule { needs: &["toolCallId"], ..Rule::NEW };

const CALL: Call = Call {
    id: "toolCallId",
    name: "toolName",
    provider: "providerExecuted",
    signature: SIGNATURE,
    ..Call::NEW
};

const OUTPUT: Outcome = Outcome { id: "toolCallId", output: "output", ..Outcome::NEW };

/// The protocol has no usage of its own: applications put the SDK's into the
/// metadata, as version 5 or as version 6 has it.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("inputTokenDetails.cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cachedInputTokens", Op::Is, &[Field::Cached]),
    ("inputTokenDetails.cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
    ("outputTokenDetails.reasoningTokens", Op::Is, &[Field::Reasoning]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
];
