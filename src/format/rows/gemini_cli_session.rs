//! Gemini CLI's session files, `~/.gemini/tmp/*/chats/session-*.json` and
//! `.jsonl`, and its checkpoints.
//!
//! Source: google-gemini/gemini-cli,
//! `packages/core/src/services/chatRecordingTypes.ts`. A file is an object with
//! all messages, or, since 2026, a record a line: what is true of the session,
//! messages, which come again when they have grown, and changes (`$set`,
//! `$rewindTo`). What was rewound was said, and stays. A checkpoint is a list of
//! Gemini's contents.

use crate::format::rows::agents::*;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "gemini-cli-session",
    aliases: &["gemini-session"],
    about: "Gemini CLI, session files and checkpoints",
    link: "https://geminicli.com/docs/cli/session-management/",
    evidence: &["projectHash", "messages", "history", "parts"],
    kind: &["type|role"],
    session: Start { id: "sessionId", model: "model|meta.model", ..Start::NEW },
    log: Some(Log::NEW),
    on: &[
        Rule {
            kind: "",
            has: &["messages[]|history[]"],
            needs: &["lastUpdated|startTime"],
            each: &["messages|history > message"],
            ..Rule::NEW
        },
        Rule { kind: "", needs: &["projectHash", "sessionId"], ..Rule::NEW },
        Rule { needs: &["id|parts[]", "timestamp|parts[]"], ..USER },
        Rule { needs: &["content|parts[]"], ..MODEL },
        Rule { weak: Weak::Yes, ..TROUBLE },
        Rule { weak: Weak::Yes, ..NOTE },
    ],
    groups: &[
        Group {
            name: "message",
            kind: &["type|role"],
            on: &[USER, MODEL, TROUBLE, NOTE],
            ..Group::NEW
        },
        Group { name: "given", on: &[FUNCTION_RESPONSE], ..Group::NEW },
        Group { name: "text", on: &[Rule { text: "content\"\"", ..Rule::NEW }], ..Group::NEW },
        Group {
            name: "part",
            on: &[
                FUNCTION_CALL,
                Rule { at: &["#"], ..THOUGHT_PART },
                Rule { at: &["#"], ..TEXT_PART },
            ],
            ..Group::NEW
        },
        Group {
            name: "thought",
            on: &[
                Rule { is: &[("subject", "")], ..THOUGHT },
                Rule { has: &["subject"], thought: "subject + '\n' + description", ..THOUGHT },
                THOUGHT,
            ],
            ..Group::NEW
        },
        Group {
            name: "call",
            on: &[Rule {
                call: Some(Call { id: "id", name: "name", arguments: "args|'{}'", ..Call::NEW }),
                result: Some(Outcome {
                    condition: "result",
                    id: "id",
                    name: "name",
                    output: "result.0.functionResponse.response.output|\
                             result.0.functionResponse.response|result",
                    is_error: "status=error|failed|declined",
                    ..Outcome::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const USER: Rule =
    Rule { kind: "user", prompt: true, each: &["content[]|parts[] > given"], ..Rule::NEW };

const MODEL: Rule = Rule {
    kind: "gemini|model",
    whole: true,
    at: &["id"],
    each: &["thoughts > thought", ". > text", "content[]|parts[] > part", "toolCalls > call"],
    usage: &["tokens"],
    ..Rule::NEW
};

const THOUGHT: Rule = Rule { at: &["#"], part: true, thought: "description|text", ..Rule::NEW };

const TROUBLE: Rule = Rule {
    kind: "error|warning",
    warn: Some(Warn {
        code: WarningCode::AgentError,
        text: "content|'the agent reported an error'",
    }),
    ..Rule::NEW
};

const NOTE: Rule = Rule { kind: "info", ..Rule::NEW };

/// Thoughts are not in the output.
const USAGE: &[Row] = &[
    ("input", Op::Is, &[Field::Input]),
    ("output", Op::Adds, &[Field::Output]),
    ("thoughts", Op::Adds, &[Field::Output, Field::Reasoning]),
    ("cached", Op::Is, &[Field::Cached]),
    ("total", Op::Is, &[Field::Total]),
];
