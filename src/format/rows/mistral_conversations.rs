//! Mistral's Conversations API: the events of a stream, and complete responses.
//!
//! Source: Mistral's API reference, "Conversations", and the event types of its
//! Python client. The entries of a response are shaped like the events of a
//! stream. No event holds why the model stopped.

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "mistral-conversations",
    aliases: &["mistral-agents"],
    about: "Mistral Conversations, stream and body",
    link: "https://docs.mistral.ai/api/endpoint/beta/conversations",
    evidence: &["response_id", "conversation_id", "outputs"],
    kind: &["type|object|event:"],
    start: Start { id: "conversation_id", ..Start::NEW },
    on: &[
        Rule { kind: "conversation.response.started", begin: Begin::Cut, ..Rule::NEW },
        Rule {
            kind: "conversation.response.done",
            usage: &["usage"],
            call_end: "output_index",
            end: End::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "conversation.response",
            has: &["outputs[]"],
            begin: Begin::Cut,
            whole: true,
            each: &["outputs[] > entry"],
            usage: &["usage"],
            end: End::Yes,
            ..Rule::NEW
        },
        Rule { kind: "message.output.delta", ..CONTENT },
        Rule { kind: "function.call.delta", ..CALL },
        Rule { kind: "tool.execution.started|tool.execution.delta", result: None, ..EXECUTION },
        Rule { kind: "tool.execution.done", whole: true, ..EXECUTION },
        Rule { kind: "agent.handoff.started|agent.handoff.done", ..HANDOFF },
    ],
    groups: &[
        Group {
            name: "entry",
            kind: &["type"],
            on: &[
                Rule { kind: "message.output", ..CONTENT },
                Rule { kind: "function.call", ..CALL },
                Rule { kind: "tool.execution", ..EXECUTION },
                Rule { kind: "agent.handoff", ..HANDOFF },
            ],
            ..Group::NEW
        },
        Group {
            name: "chunk",
            kind: &["type"],
            on: &[
                Rule { has: &["text"], text: "text", ..Rule::NEW },
                Rule { has: &["thinking"], each: &["thinking[] > thought"], ..Rule::NEW },
                Rule { block: Some(Block::of("kind:|'content'", ".")), ..Rule::NEW },
            ],
            ..Group::NEW
        },
        Group { name: "thought", on: &[Rule { thought: "text", ..Rule::NEW }], ..Group::NEW },
    ],
    usage: &[
        // The tokens of connectors are read by the model, but counted apart.
        ("prompt_tokens", Op::Adds, &[Field::Input]),
        ("connector_tokens", Op::Adds, &[Field::Input]),
        ("completion_tokens", Op::Is, &[Field::Output]),
        ("total_tokens", Op::Is, &[Field::Total]),
    ],
    ..Spec::NEW
};

const CONTENT: Rule =
    Rule { text: "content\"\"", each: &["content[]|content{} > chunk"], ..Rule::NEW };

/// Each piece repeats the call's id and name.
const CALL: Rule = Rule { call: Some(Call { id: "tool_call_id", ..TOOL }), ..Rule::NEW };

/// A tool that Mistral runs.
const EXECUTION: Rule = Rule {
    call: Some(Call { provider: "'true'", ..TOOL }),
    result: Some(Outcome {
        condition: "info",
        id: "id",
        name: "name",
        output: "info",
        ..Outcome::NEW
    }),
    ..Rule::NEW
};

const TOOL: Call =
    Call { key: &["output_index|#"], id: "id", name: "name", arguments: "arguments", ..Call::NEW };

const HANDOFF: Rule = Rule { block: Some(Block::of("'agent_handoff'", ".")), ..Rule::NEW };
