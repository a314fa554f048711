//! Amazon Bedrock Converse: the events of a stream, and complete answers.
//!
//! Source: Amazon Bedrock API reference, "ConverseStream" and "Converse". A
//! stream is `messageStart`, blocks of content, `messageStop` with the reason,
//! and `metadata` with the usage. In an AWS event stream the event's name is a
//! header; elsewhere (a log of what an SDK gave, Nova's own format) it's the
//! one key of an object. Text and thinking have no `contentBlockStart`.

use crate::format::bedrock_converse::turn;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format =
    Format { request: Some(&turn::REQUEST), ..Format::of(&SPEC) };

static SPEC: Spec = Spec {
    name: "bedrock-converse",
    aliases: &["bedrock-converse-stream", "converse", "nova"],
    about: "Amazon Bedrock Converse, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
    evidence: &[
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
        "output",
        "stopReason",
    ],
    kind: &["event:|key:"],
    // Logs of agents have metadata as well.
    detect: Detect { has: &[], not: &["session_id|sessionId"] },
    start: Start { late: Some(WarningCode::MissingMessageStart), ..Start::NEW },
    on: &[
        Rule { kind: "messageStart", begin: Begin::Cut, ..Rule::NEW },
        // Protocols of several events begin with it; it has no content here.
        Rule { kind: "initial-response", weak: Weak::Yes, begin: Begin::No, ..Rule::NEW },
        Rule {
            kind: "contentBlockStart",
            at: &["contentBlockIndex"],
            open: true,
            each: &["start > block"],
            ..Rule::NEW
        },
        Rule {
            kind: "contentBlockDelta",
            at: &["contentBlockIndex"],
            each: &["delta > block"],
            ..Rule::NEW
        },
        Rule { kind: "contentBlockStop", at: &["contentBlockIndex"], close: true, ..Rule::NEW },
        Rule { kind: "messageStop", has: &["stopReason"], finish: "stopReason", ..STOP },
        Rule {
            kind: "messageStop",
            warn: Some(Warn {
                code: WarningCode::NoFinishReason,
                text: "'`messageStop` came without a stop reason'",
            }),
            ..STOP
        },
        // Some servers in front of Bedrock send none. Other formats have an event of this name.
        Rule {
            kind: "metadata",
            weak: Weak::Without("usage.inputTokens"),
            blocks: &["trace"],
            usage: &["usage"],
            end: End::Stopped,
            ..Rule::NEW
        },
        Rule {
            kind: "",
            has: &["output|stopReason"],
            needs: &["output{}", "output.message.content|stopReason"],
            begin: Begin::Cut,
            whole: true,
            each: &["output.message.content > block"],
            blocks: &["additionalModelResponseFields", "trace"],
            usage: &["usage"],
            finish: "stopReason",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "*Exception",
            weak: Weak::Yes,
            begin: Begin::Yes,
            error: Some(Failure { at: ".", message: "message", code: "kind:" }),
            ..Rule::NEW
        },
    ],
    groups: &[
        // Of starts, of deltas and of whole blocks.
        Group {
            name: "block",
            native: true,
            kind: &["key:"],
            on: &[
                Rule { kind: "text", text: ".", ..Rule::NEW },
                Rule {
                    kind: "toolUse",
                    call: Some(Call {
                        id: "toolUseId",
                        name: "name",
                        arguments: "input",
                        provider: "type=server_tool_use",
                        ..Call::NEW
                    }),
                    ..Rule::NEW
                },
                Rule {
                    kind: "toolResult",
                    result: Some(Outcome {
                        id: "toolUseId",
                        output: "content[]|.[]",
                        is_error: "status=error",
                        is_ok: "status=success",
                        ..Outcome::NEW
                    }),
                    ..Rule::NEW
                },
                // In deltas its fields stand here, in complete answers one level deeper.
                Rule {
                    kind: "reasoningContent",
                    thought: "text|reasoningText.text",
                    signature: "signature|reasoningText.signature",
                    redacted: "redactedContent",
                    ..Rule::NEW
                },
                Rule {
                    kind: "citationsContent",
                    each: &["content > cited", "citations > citation"],
                    ..Rule::NEW
                },
                Rule {
                    kind: "image|video|audio|document|searchResult|guardContent|cachePoint|citation",
                    block: Some(Block::of("kind:", ".")),
                    ..Rule::NEW
                },
            ],
            ..Group::NEW
        },
        Group { name: "cited", on: &[Rule { text: "text", ..Rule::NEW }], ..Group::NEW },
        Group {
            name: "citation",
            on: &[Rule { block: Some(Block::of("'citation'", ".")), ..Rule::NEW }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const STOP: Rule = Rule { blocks: &["additionalModelResponseFields"], stop: true, ..Rule::NEW };

/// Tokens read from a cache or written to one are not in `inputTokens`; both
/// have two spellings, and often come in both.
const USAGE: &[Row] = &[
    ("inputTokens", Op::Adds, &[Field::Input]),
    ("cacheReadInputTokens|cacheReadInputTokenCount", Op::Adds, &[Field::Input, Field::Cached]),
    (
        "cacheWriteInputTokens|cacheWriteInputTokenCount",
        Op::Adds,
        &[Field::Input, Field::CacheWrite],
    ),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("totalTokens", Op::Is, &[Field::Total]),
];
