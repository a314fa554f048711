//! OpenAI Assistants: the events of a run, and runs as they are polled.
//!
//! Source: OpenAI API reference, "Assistants streaming". A run takes steps: a
//! step makes a message or calls tools. The events' names say what has
//! happened, their payloads are the run, the step or the message itself.

use crate::event::FinishReason;
use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format = Format::of(&SPEC);

static SPEC: Spec = Spec {
    name: "openai-assistants",
    aliases: &["assistants"],
    about: "OpenAI Assistants: the stream of a run, and runs as they are polled",
    link: "https://platform.openai.com/docs/api-reference/assistants-streaming/events",
    evidence: &["id", "thread_id"],
    kind: &["object", "status"],
    start: Start { id: "run_id|id", model: "model", ..Start::NEW },
    // By its caller: it didn't fail.
    finish_words: &[("cancelled", FinishReason::Other)],
    on: &[
        // The thread that the run is in.
        Rule { kind: "thread", begin: Begin::No, weak: Weak::Yes, ..Rule::NEW },
        // The messages of a thread, as they are listed.
        Rule {
            kind: "list",
            has: &["data"],
            is: &[("data.0.object", "thread.message")],
            begin: Begin::No,
            each: &["data > listed"],
            ..Rule::NEW
        },
        Rule {
            kind: "thread.run/queued|thread.run/in_progress|thread.run/cancelling",
            begin: Begin::Yes,
            usage: &["usage"],
            ..Rule::NEW
        },
        // It goes on after its tools have been run.
        Rule {
            kind: "thread.run/requires_action",
            whole: true,
            each: &["required_action.submit_tool_outputs.tool_calls > function"],
            finish: "status",
            ..RUN_END
        },
        Rule {
            kind: "thread.run/incomplete",
            finish: "incomplete_details.reason|status",
            ..RUN_END
        },
        Rule {
            kind: "thread.run/failed",
            error: Some(Failure { message: "last_error.message|'the run failed'", ..FAILURE }),
            ..RUN_END
        },
        Rule {
            kind: "thread.run/expired",
            error: Some(Failure { message: "last_error.message|'the run expired'", ..FAILURE }),
            ..RUN_END
        },
        Rule { kind: "thread.run/*", finish: "status", ..RUN_END },
        Rule { kind: "thread.run.step/in_progress", begin: Begin::Yes, ..Rule::NEW },
        Rule {
            kind: "thread.run.step.delta",
            each: &["delta.step_details.tool_calls > function"],
            ..Rule::NEW
        },
        Rule {
            kind: "thread.run.step/*",
            whole: true,
            each: &["step_details.tool_calls > tool"],
            ..Rule::NEW
        },
        Rule { kind: "thread.message.delta", each: &["delta.content > part"], ..Rule::NEW },
        // The question that the run answers.
        Rule {
            kind: "thread.message|thread.message/*",
            is: &[("role", "user")],
            begin: Begin::No,
            weak: Weak::Yes,
            ..Rule::NEW
        },
        Rule {
            kind: "thread.message|thread.message/*",
            is: &[("role", "assistant")],
            whole: true,
            each: &["content > part"],
            ..Rule::NEW
        },
    ],
    groups: &[
        Group {
            name: "listed",
            on: &[
                Rule { is: &[("role", "user")], begin: Begin::No, ..Rule::NEW },
                Rule {
                    begin: Begin::Yes,
                    whole: true,
                    each: &["content > part"],
                    stop: true,
                    end: End::Yes,
                    ..Rule::NEW
                },
            ],
            ..Group::NEW
        },
        Group {
            name: "part",
            on: &[Rule {
                at: &["/id", "index|#"],
                text: "text.value",
                refusal: "refusal",
                each: &["text.annotations > annotation"],
                blocks: &["image_file", "image_url"],
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        Group {
            name: "annotation",
            on: &[Rule { block: Some(Block::of("'annotation'", ".")), ..Rule::NEW }],
            ..Group::NEW
        },
        // Each step counts from 0, ids are known in all of the run.
        Group {
            name: "function",
            on: &[Rule {
                has: &["function"],
                call: Some(Call {
                    key: &["/id", "index|#"],
                    id: "id",
                    name: "function.name",
                    arguments: "function.arguments|function.parameters",
                    ..Call::NEW
                }),
                ..Rule::NEW
            }],
            ..Group::NEW
        },
        // Functions are called when the run asks for them.
        Group {
            name: "tool",
            on: &[
                Rule {
                    has: &["code_interpreter"],
                    call: Some(Call {
                        name: "'code_interpreter'",
                        arguments: "{input: code_interpreter.input}",
                        ..TOOL
                    }),
                    result: Some(Outcome { output: "code_interpreter.outputs", ..OUTCOME }),
                    ..Rule::NEW
                },
                Rule {
                    has: &["file_search"],
                    call: Some(Call {
                        name: "'file_search'",
                        arguments: "{ranking_options: file_search.ranking_options}",
                        ..TOOL
                    }),
                    result: Some(Outcome { output: "file_search.results", ..OUTCOME }),
                    ..Rule::NEW
                },
            ],
            ..Group::NEW
        },
    ],
    usage: USAGE,
    ..Spec::NEW
};

const RUN_END: Rule = Rule { begin: Begin::Yes, usage: &["usage"], end: End::Yes, ..Rule::NEW };

const FAILURE: Failure = Failure { at: "last_error", code: "last_error.code|status", message: "" };

/// A tool that the provider runs.
const TOOL: Call = Call { key: &["/id", "index|#"], id: "id", provider: "'true'", ..Call::NEW };

const OUTCOME: Outcome = Outcome { condition: "", id: "id", ..Outcome::NEW };

const USAGE: &[Row] = &[
    ("prompt_tokens", Op::Is, &[Field::Input]),
    ("completion_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    ("prompt_token_details.cached_tokens", Op::Is, &[Field::Cached]),
    ("completion_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];
