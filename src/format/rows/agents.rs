//! Parts that the logs of several agents have: the blocks of Anthropic's messages, the calls of
//! OpenAI's chat, the parts of Gemini's contents.

use crate::format::rows::prelude::*;

/// A block of text, or of one thought.
pub(super) const TEXT: Rule = Rule { kind: "text", text: "text", ..Rule::NEW };

pub(super) const THINKING: Rule =
    Rule { kind: "thinking", thought: "thinking", signature: "signature", ..Rule::NEW };

/// A call as a block.
pub(super) const TOOL_USE: Rule = Rule {
    kind: "tool_use",
    call: Some(Call { id: "id", name: "name", arguments: "input|'{}'", ..Call::NEW }),
    ..Rule::NEW
};

/// A result as a block.
pub(super) const BLOCK_RESULT: Outcome =
    Outcome { id: "tool_use_id", output: "content", is_error: "is_error", ..Outcome::NEW };

/// The blocks of a message of the model's.
pub(super) const BLOCKS: Group =
    Group { name: "block", kind: &["type"], on: &[TEXT, THINKING, TOOL_USE], ..Group::NEW };

/// The blocks of a message of the user's.
pub(super) const GIVEN: Group = Group {
    name: "given",
    kind: &["type"],
    on: &[Rule { kind: "tool_result", result: Some(BLOCK_RESULT), ..Rule::NEW }, WORDS],
    ..Group::NEW
};

/// A call that is an object of its own.
pub(super) const CALL: Call =
    Call { id: "id", name: "name", arguments: "arguments|'{}'", ..Call::NEW };

/// Counts whose input has what was read from a cache.
pub(super) const USAGE: &[Row] = &[
    ("inputTokens", Op::Is, &[Field::Input]),
    ("outputTokens", Op::Is, &[Field::Output]),
    ("cacheReadTokens", Op::Is, &[Field::Cached]),
    ("cacheWriteTokens", Op::Is, &[Field::CacheWrite]),
];

/// What a message of the user's has beside results.
pub(super) const WORDS: Rule = Rule { begin: Begin::No, ..Rule::NEW };

/// A call of chat completions.
pub(super) const CHAT_CALL: Rule = Rule {
    call: Some(Call {
        id: "id",
        name: "function.name",
        arguments: "function.arguments|'{}'",
        ..Call::NEW
    }),
    ..Rule::NEW
};

/// A message of chat completions that holds a result.
pub(super) const CHAT_RESULT: Outcome =
    Outcome { id: "tool_call_id", name: "tool_name", output: "content", ..Outcome::NEW };

/// A call as a part of Gemini's.
pub(super) const FUNCTION_CALL: Rule = Rule {
    has: &["functionCall"],
    call: Some(Call {
        id: "functionCall.id",
        name: "functionCall.name",
        arguments: "functionCall.args|'{}'",
        signature: "thoughtSignature",
        ..Call::NEW
    }),
    ..Rule::NEW
};

/// A result as a part of Gemini's.
pub(super) const FUNCTION_RESPONSE: Rule = Rule {
    has: &["functionResponse"],
    result: Some(Outcome {
        id: "functionResponse.id",
        name: "functionResponse.name",
        output: "functionResponse.response.output|functionResponse.response",
        ..Outcome::NEW
    }),
    ..Rule::NEW
};

/// A thought as a part of Gemini's, and text.
pub(super) const THOUGHT_PART: Rule =
    Rule { is: &[("thought", "true")], thought: "text", ..Rule::NEW };

pub(super) const TEXT_PART: Rule = Rule { has: &["text"], text: "text", ..Rule::NEW };
