//! Kimi: section tokens with JSON in K2, tags of three tokens each in K3, and
//! the thinking brackets of k1.5.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Call, Dialect, Ends, Region, Results, Section, StartIn};

pub(crate) static K2: Dialect = Dialect {
    name: "kimi_k2",
    aliases: &["kimik2", "kimi_k25", "kimi_thinking"],
    models: &["Kimi K2", "Kimi K2.5 to K2.7"],
    start_in: StartIn::Auto,
    auto: true,
    regions: &[tags::REASONING],
    calls: &[
        Call::arguments(
            "{[}<|tool_call{[}s{]}_section_begin|>{ws}{]}<|tool_call_begin|>{ws}\
             {id(}{[}functions.{]}{name}:{number}{)}{ws}<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
        ),
        // An id without a number, or without a name, is none of a tool.
        Call::arguments(
            "{[}<|tool_call{[}s{]}_section_begin|>{ws}{]}<|tool_call_begin|>{ws}\
             {id}{ws}<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
        ),
        Call {
            next: &["{start}{*}<|tool_call_argument_begin|>", "{start}{*}<|tool_call_end|>"],
            ..Call::unreadable(
                "{[}<|tool_call{[}s{]}_section_begin|>{ws}{]}<|tool_call_begin|>",
                "<|tool_call_end|>{|}<|tool_calls_section_end|>",
            )
        },
    ],
    drops: &[
        "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
        "<|tool_call_section_begin|>", "<|tool_call_section_end|>",
    ],
    results: Results::of("## Return of {id}\n{output}"),
    ..Dialect::EMPTY
};

/// What is left of K2's calls where the special tokens are not printed, as ik_llama.cpp reads it.
/// Only by name: it's ordinary text.
pub(crate) static K2_BARE: Dialect = Dialect {
    name: "kimi_k2_bare",
    models: &["Kimi K2 without its special tokens"],
    start_in: StartIn::Auto,
    regions: &[tags::REASONING],
    calls: &[Call::arguments("{id(}functions.{name}:{number}{)}", "")],
    results: K2.results,
    ..Dialect::EMPTY
};

/// Detokenisers may put spaces between the tokens of a tag; a closer may lack
/// its last one.
pub(crate) static K3: Dialect = Dialect {
    name: "kimi_k3",
    models: &["Kimi K3"],
    start_in: StartIn::Auto,
    auto: true,
    regions: &[
        Region {
            ends: Ends::Anything,
            ..Region::reasoning(
                "<|open|>{sp}think{sp}<|sep|>",
                "<|close|>{sp}think{sp}{[}<|sep|>{]}",
            )
        },
        Region::answer("<|open|>{sp}response{sp}<|sep|>", "<|close|>{sp}response{sp}{[}<|sep|>{]}"),
    ],
    sections: &[Section::new("<|open|>{sp}tools{sp}<|sep|>", "<|close|>{sp}tools{sp}<|sep|>")],
    calls: &[
        Call::arguments(
            "<|open|>{sp}call{@name=tool&}<|sep|>{ws}<|open|>{sp}json{@}<|sep|>",
            "<|close|>{sp}json{sp}<|sep|>{ws}<|close|>{sp}call{sp}<|sep|>",
        ),
        Call::parameters(
            "<|open|>{sp}call{@name=tool&}<|sep|>",
            "<|close|>{sp}call{sp}<|sep|>",
            "<|open|>{sp}argument{@key&,type?}<|sep|>",
            "<|close|>{sp}argument{sp}<|sep|>",
        ),
    ],
    drops: &[
        "<|open|>{sp}message{@}<|sep|>",
        "<|close|>{sp}message{sp}{[}<|sep|>{]}",
        "<|end_of_msg|>",
    ],
    ..Dialect::EMPTY
};

pub(crate) static THINK: Dialect = Dialect {
    name: "kimi_think_legacy",
    aliases: &["kimi"],
    models: &["Kimi k1.5", "Kimi-VL thinking"],
    auto: true,
    regions: &[Region::reasoning("◁think▷{nl}", "{nl}◁/think▷{nl}{nl}")],
    ..Dialect::EMPTY
};
