//! Tags that separate reasoning, answer and metadata.

use crate::dialect::spec::{Dialect, Ends, Region, Role, StartIn, Tag, TagRole};

/// Tokens that end a message, which servers leave in the text at times. In a
/// dialect that the user chose they are dropped.
pub(crate) const END_TOKENS: &[&str] = &[
    "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
];

/// `<think>`, as DeepSeek R1 introduced it. The line ends around the thought
/// are the template's.
pub(crate) const REASONING: Region = Region {
    open: "<think>{nl}",
    close: "{nl}</think>{nl}{nl}",
    role: Role::Reasoning,
    name: "",
    ends: Ends::Calls,
};

/// Beside `<think>`: EXAONE Deep's tag, and those that agents prompt for.
pub(crate) static THINK: Dialect = Dialect {
    name: "think_tags",
    aliases: &["deepseek_r1", "qwen3", "basic"],
    models: &["DeepSeek R1", "Qwen 3", "QwQ", "most models that reason"],
    start_in: StartIn::Auto,
    auto: true,
    regions: &[
        REASONING,
        Region::reasoning("<thought>{nl}", "{nl}</thought>{nl}{nl}"),
        Region::reasoning("<scratchpad>{nl}", "{nl}</scratchpad>{nl}{nl}"),
        Region::reasoning("<reflection>{nl}", "{nl}</reflection>{nl}{nl}"),
    ],
    ..Dialect::EMPTY
};

pub(crate) static GENERIC: Dialect = Dialect {
    name: "generic_tag_roles",
    models: &["prompted agents; a file of your own names other tags"],
    tags: &[
        Tag { name: "thinking", role: TagRole::Reasoning },
        Tag { name: "scratchpad", role: TagRole::Reasoning },
        Tag { name: "reflection", role: TagRole::Reasoning },
        Tag { name: "answer", role: TagRole::Text },
        Tag { name: "present_answer", role: TagRole::Text },
        Tag { name: "sources", role: TagRole::Block },
        Tag { name: "confidence", role: TagRole::Block },
        Tag { name: "tool_*", role: TagRole::Tool },
    ],
    ..Dialect::EMPTY
};
