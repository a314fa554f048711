//! Goose: `goose run --output-format stream-json`, the stream of its server, and
//! its session files and exports.
//!
//! Source: block/goose, `crates/goose/src/conversation/message.rs`, and the
//! events of `goose-cli` and `goose-server`. A message of a stream is a piece of
//! the answer: several of one id are one. Calls and results wrap what MCP calls
//! them in a status.

use crate::format::rows::agents::*;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&RUN);
pub(in crate::format) static SESSION: Format = Format::of(&FILE);

static RUN: Spec = Spec {
    name: "goose",
    aliases: &["goose-stream-json"],
    about: "Goose, --output-format stream-json and its server's stream",
    link: "https://block.github.io/goose/docs/guides/goose-cli-commands",
    evidence: &["message", "extension_id", "token_state"],
    kind: &["type"],
    log: Some(Log { ends: true, ..Log::NEW }),
    on: &[
        Rule {
            kind: "message|Message",
            needs: &["message.role", "message.content[]", "message.created"],
            each: &["message > message"],
            ..Rule::NEW
        },
        Rule { kind: "complete", weak: Weak::Yes, ..END },
        Rule { kind: "Finish", needs: &["reason", "token_state"], ..END },
        Rule {
            kind: "error|Error",
            weak: Weak::Yes,
            error: Some(Failure { at: "error", ..Failure::NEW }),
            end: End::Yes,
            ..Rule::NEW
        },
        Rule { kind: "notification", needs: &["extension_id"], ..Rule::NEW },
        Rule {
            kind: "Notification|model_change|ModelChange|Ping|ActiveRequests|UpdateConversation",
            weak: Weak::Yes,
            ..Rule::NEW
        },
    ],
    groups: &[Group { name: "message", kind: &["role"], on: MESSAGE, ..Group::NEW }, PART, GIVEN],
    usage: USAGE,
    ..Spec::NEW
};

static FILE: Spec = Spec {
    name: "goose-session",
    aliases: &["goose-export"],
    about: "Goose, session files and exports",
    link: "https://block.github.io/goose/docs/guides/sessions/",
    evidence: &["working_dir", "conversation", "created"],
    kind: &["role"],
    session: Start { id: "id", model: "model_config.model_name", ..Start::NEW },
    detect: Detect { has: &[], not: &["type"] },
    log: Some(Log::NEW),
    on: &[
        Rule {
            kind: "",
            has: &["working_dir"],
            needs: &["message_count|conversation"],
            each: &["conversation|messages > message"],
            ..Rule::NEW
        },
        USER,
        ASSISTANT,
    ],
    groups: &[Group { name: "message", kind: &["role"], on: MESSAGE, ..Group::NEW }, PART, GIVEN],
    ..Spec::NEW
};

const END: Rule = Rule { usage: &["token_state|."], total: true, end: End::Yes, ..Rule::NEW };

const MESSAGE: &[Rule] = &[USER, ASSISTANT];

const USER: Rule = Rule {
    kind: "user",
    needs: &["content[]", "created"],
    prompt: true,
    each: &["content > given"],
    ..Rule::NEW
};

const ASSISTANT: Rule = Rule {
    kind: "assistant",
    needs: &["content[]", "created"],
    whole: true,
    each: &["content > part"],
    ..Rule::NEW
};

const PART: Group = Group {
    name: "part",
    kind: &["type"],
    on: &[
        TEXT,
        THINKING,
        Rule {
            kind: "toolRequest|frontendToolRequest",
            call: Some(Call {
                id: "id",
                name: "toolCall.value.name",
                arguments: "toolCall.value.arguments|'{}'",
                ..Call::NEW
            }),
            ..Rule::NEW
        },
        RESPONSE,
        Rule { kind: "toolConfirmationRequest|actionRequired|systemNotification", ..Rule::NEW },
    ],
    ..Group::NEW
};

const GIVEN: Group = Group { name: "given", kind: &["type"], on: &[RESPONSE, WORDS], ..Group::NEW };

const RESPONSE: Rule = Rule {
    kind: "toolResponse",
    result: Some(Outcome {
        id: "id",
        output: "toolResult.value.content|toolResult.error|toolResult",
        is_error: "toolResult.value.isError|toolResult.status=true|error",
        ..Outcome::NEW
    }),
    ..Rule::NEW
};

const USAGE: &[Row] = &[
    ("total_tokens|totalTokens", Op::Is, &[Field::Total]),
    ("input_tokens|inputTokens", Op::Is, &[Field::Input]),
    ("output_tokens|outputTokens", Op::Is, &[Field::Output]),
];
