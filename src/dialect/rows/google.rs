//! Gemma: braces with bare keys, and Python in a fence.

use crate::dialect::spec::{Body, Call, Dialect, Region, Results};

pub(crate) static TOOL_CODE: Dialect = Dialect {
    name: "gemma3_tool_code",
    models: &["Gemma 3"],
    calls: &[Call::python("{line}```tool_code{nl}", "```")],
    results: Results::of("```tool_output\n{output}\n```"),
    ..Dialect::EMPTY
};

pub(crate) static FUNCTION_GEMMA: Dialect = Dialect {
    name: "functiongemma",
    models: &["FunctionGemma"],
    auto: true,
    calls: &[Call {
        body: Body::Braces("<escape>"),
        again: "call:{ws}{name}",
        ..Call::arguments("<start_function_call>{ws}call:{ws}{name}", "<end_function_call>")
    }],
    results: Results::of(
        "<start_function_response>response:{name}{value:<escape>{output}<escape>}<end_function_response>",
    ),
    ..Dialect::EMPTY
};

pub(crate) static GEMMA4: Dialect = Dialect {
    name: "gemma4",
    aliases: &["gemma_4"],
    models: &["Gemma 4"],
    auto: true,
    regions: &[
        Region::reasoning("<|channel>{[}thought\n{]}", "<channel|>"),
        // Its opener may be lost.
        Region::reasoning("{start}thought\n", "<channel|>"),
    ],
    calls: &[Call {
        body: Body::Braces("<|\"|>"),
        again: "call:{ws}{name}",
        ..Call::arguments("<|tool_call>{ws}{[}call:{ws}{]}{[}:{]}{name}", "<tool_call|>")
    }],
    drops: &["<turn|>", "<|tool_response>"],
    results: Results::of(
        "<|tool_response>response:{name}{value:<|\"|>{output}<|\"|>}<tool_response|>",
    ),
    ..Dialect::EMPTY
};
