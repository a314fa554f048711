//! MiniMax: a JSON object a line in M1, tags in M2, nested elements in M3.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Body, Call, Dialect, Envelope, Parameters, Region, Results, Section};

pub(crate) static M1: Dialect = Dialect {
    name: "minimax_m1",
    models: &["MiniMax-M1"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call {
        body: Body::Json(Envelope { many: true, ..Envelope::NEW }),
        next: &["{{}"],
        ..Call::json("<tool_calls>", "</tool_calls>")
    }],
    results: Results::of("tool name: {name}\ntool result: {output}\n"),
    ..Dialect::EMPTY
};

pub(crate) static M2: Dialect = Dialect {
    name: "minimax_m2",
    aliases: &["minimax", "minimax_append_think"],
    models: &["MiniMax-M2"],
    auto: true,
    regions: &[tags::REASONING],
    sections: &[Section::new("<minimax:tool_call>", "</minimax:tool_call>")],
    calls: &[Call {
        narrated: true,
        ..Call::parameters("<invoke{@name}>", "</invoke>", "<parameter{@key=name}>", "</parameter>")
    }],
    results: Results::of("<response>{output}</response>"),
    ..Dialect::EMPTY
};

/// Every tag has this before it, so that no value can hold one by chance.
pub(crate) static M3: Dialect = Dialect {
    name: "minimax_m3",
    aliases: &["minimax_m3_nom"],
    models: &["MiniMax-M3"],
    auto: true,
    regions: &[Region::reasoning("<mm:think>{nl}", "{nl}</mm:think>{nl}{nl}")],
    sections: &[Section::new("]<]minimax[>[<tool_call>", "]<]minimax[>[</tool_call>")],
    calls: &[Call {
        body: Body::Parameters(Parameters {
            open: "]<]minimax[>[<{key}>",
            close: "]<]minimax[>[</{key}>",
            item: "item",
            ..Parameters::TEXT
        }),
        ..Call::arguments("]<]minimax[>[<invoke{@name}>", "]<]minimax[>[</invoke>")
    }],
    results: Results::of("<response>{output}</response>"),
    ..Dialect::EMPTY
};
