//! AG-UI, the protocol between agents and user interfaces.
//!
//! Source: AG-UI documentation, "Events", and the types of `@ag-ui/core`. A run
//! is a message: `RUN_STARTED` … `RUN_FINISHED` or `RUN_ERROR`. Fields are in
//! camel case; some servers in Python send them in snake case. Calls that the
//! agent's backend has run have their result after them; those that have none
//! when the text goes on, or when the run ends, are the caller's to run.

use crate::event::FinishReason;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "ag-ui",
    aliases: &["agui"],
    about: "AG-UI, events of an agent's run",
    link: "https://docs.ag-ui.com/concepts/events",
    evidence: &["threadId", "runId", "messageId", "delta"],
    kind: &["type"],
    start: Start { id: "runId|run_id", late: Some(WarningCode::MissingRunStarted), ..Start::NEW },
    hold: true,
    finish_words: &[("interrupt", FinishReason::Other)],
    on: &[
        Rule { kind: "RUN_STARTED", begin: Begin::Yes, ..Rule::NEW },
        Rule {
            kind: "RUN_FINISHED",
            release: true,
            usage: &["usage"],
            block: Some(Block::of("'result'", "result")),
            finish: "outcome.type",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "RUN_ERROR",
            begin: Begin::Yes,
            release: true,
            error: Some(Failure { at: ".", message: "message", code: "code" }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "TEXT_MESSAGE_START|TEXT_MESSAGE_CHUNK",
            release: true,
            of: "messageId|message_id",
            role: "role",
            text: "delta",
            ..Rule::NEW
        },
        Rule {
            kind: "TEXT_MESSAGE_CONTENT",
            of: "messageId|message_id",
            role: "role",
            text: "delta",
            ..Rule::NEW
        },
        Rule { kind: "TOOL_CALL_START|TOOL_CALL_ARGS", call: Some(CALL), ..Rule::NEW },
        Rule { kind: "TOOL_CALL_CHUNK", call: Some(Call { until: true, ..CALL }), ..Rule::NEW },
        Rule { kind: "TOOL_CALL_END", call_end: "toolCallId|tool_call_id", ..Rule::NEW },
        Rule {
            kind: "TOOL_CALL_RESULT",
            result: Some(Outcome {
                id: "toolCallId|tool_call_id",
                output: "content",
                ..Outcome::NEW
            }),
            ..Rule::NEW
        },
        Rule {
            kind: "THINKING_TEXT_MESSAGE_CONTENT|REASONING_MESSAGE_CONTENT|REASONING_MESSAGE_CHUNK",
            thought: "delta",
            ..Rule::NEW
        },
        Rule {
            kind: "REASONING_ENCRYPTED_VALUE",
            signature: "encryptedValue|encrypted_value",
            ..Rule::NEW
        },
        Rule {
            kind: "STATE_SNAPSHOT|STATE_DELTA|ACTIVITY_SNAPSHOT|ACTIVITY_DELTA|CUSTOM",
            block: Some(Block::of("kind:", ".")),
            ..Rule::NEW
        },
        // The provider's own events, beside ours that were made of them.
        Rule { kind: "RAW", aside: true, provider_event: ".", ..Rule::NEW },
        // Events without content, and the history that a client is sent anew.
        Rule {
            kind: "STEP_STARTED|STEP_FINISHED|TEXT_MESSAGE_END|MESSAGES_SNAPSHOT|THINKING_START|\
                THINKING_END|THINKING_TEXT_MESSAGE_START|THINKING_TEXT_MESSAGE_END|\
                REASONING_START|REASONING_END|REASONING_MESSAGE_START|REASONING_MESSAGE_END",
            ..Rule::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const CALL: Call = Call {
    id: "toolCallId|tool_call_id",
    name: "toolCallName|tool_call_name",
    arguments: "delta",
    ..Call::NEW
};

/// One object for each model that took part.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
    ("cachedInputTokens", Op::Is, &[Field::Cached]),
    ("reasoningTokens", Op::Is, &[Field::Reasoning]),
];
