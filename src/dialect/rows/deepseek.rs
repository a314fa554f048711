//! DeepSeek: section tokens with JSON until V3.1, tags with typed parameters
//! (DSML) from V3.2 on. GigaChat 3.5 took the latter over under another name.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Call, Dialect, Results, Section, StartIn};

const DROPS: &[&str] = &["<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"];

const OUTPUT: Results = Results {
    between: "",
    ..Results::of("<｜tool▁output▁begin｜>{output}<｜tool▁output▁end｜>")
};

pub(crate) static V3: Dialect = Dialect {
    name: "deepseek_v3",
    aliases: &["deepseek", "deepseekv3"],
    models: &["DeepSeek V3-0324", "DeepSeek R1"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[
        Call::arguments(
            "{[}<｜tool▁calls▁begin｜>{ws}{]}<｜tool▁call▁begin｜>{ws}function{ws}<｜tool▁sep｜>{ws}{name}{ws}```json",
            "```{ws}<｜tool▁call▁end｜>",
        ),
        UNREADABLE,
    ],
    drops: DROPS,
    results: Results {
        open: "<｜tool▁outputs▁begin｜>",
        close: "<｜tool▁outputs▁end｜>",
        ..OUTPUT
    },
    ..Dialect::EMPTY
};

pub(crate) static V31: Dialect = Dialect {
    name: "deepseek_v31",
    aliases: &["deepseek31", "deepseekv31", "deepseek_v3_1"],
    models: &["DeepSeek V3.1", "DeepSeek V3.2-Exp"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[
        Call::arguments(
            "{[}<｜tool▁calls▁begin｜>{ws}{]}<｜tool▁call▁begin｜>{ws}{name}{ws}<｜tool▁sep｜>",
            "<｜tool▁call▁end｜>",
        ),
        UNREADABLE,
    ],
    drops: DROPS,
    results: OUTPUT,
    ..Dialect::EMPTY
};

const UNREADABLE: Call = Call::unreadable(
    "{[}<｜tool▁calls▁begin｜>{ws}{]}<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
);

const DSML: &[Call] = &[
    Call::empty("<｜DSML｜invoke{@name}/>", ""),
    Call::arguments("<｜DSML｜invoke{@name}>", "</｜DSML｜invoke>"),
    Call::parameters(
        "<｜DSML｜invoke{@name}>",
        "</｜DSML｜invoke>",
        "<｜DSML｜parameter{@key=name,type=string?}>",
        "</｜DSML｜parameter>",
    ),
];

const DSML_RESULTS: Results = Results {
    open: "\n\n<function_results>\n",
    close: "\n</function_results>\n\n",
    ..Results::of("<result>{output}</result>")
};

pub(crate) static V32: Dialect = Dialect {
    name: "deepseek_v32",
    aliases: &["deepseek32", "deepseekv32", "deepseek_v3_2"],
    models: &["DeepSeek V3.2"],
    auto: true,
    regions: &[tags::REASONING],
    sections: &[Section::new("{nl}{nl}<｜DSML｜function_calls>", "</｜DSML｜function_calls>")],
    calls: DSML,
    drops: &["<｜end▁of▁sentence｜>"],
    results: DSML_RESULTS,
    ..Dialect::EMPTY
};

pub(crate) static V4: Dialect = Dialect {
    name: "deepseek_v4",
    aliases: &["deepseekv4"],
    models: &["DeepSeek V4"],
    start_in: StartIn::Auto,
    auto: true,
    regions: &[tags::REASONING],
    sections: &[
        Section::new("{nl}{nl}<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
        Section::new("{nl}{nl}<｜DSML｜toolcalls>", "</｜DSML｜toolcalls>"),
        Section::new("{nl}{nl}<｜DSML｜tool>", "</｜DSML｜tool>"),
    ],
    calls: DSML,
    drops: &["<｜end▁of▁sentence｜>"],
    results: DSML_RESULTS,
    ..Dialect::EMPTY
};

pub(crate) static V41: Dialect = Dialect {
    name: "deepseek_v41",
    aliases: &["deepseekv41"],
    models: &["DeepSeek V4.1"],
    auto: true,
    regions: &[tags::REASONING],
    sections: &[Section::new("{nl}{nl}<｜DSML｜ calls>", "</｜DSML｜ calls>")],
    calls: &[
        Call::arguments("<｜DSML｜ invoke{@name}>", "</｜DSML｜ invoke>"),
        Call::parameters(
            "<｜DSML｜ invoke{@name}>",
            "</｜DSML｜ invoke>",
            "<｜DSML｜ parameter{@key=name,type=string?}>",
            "</｜DSML｜ parameter>",
        ),
    ],
    results: DSML_RESULTS,
    ..Dialect::EMPTY
};

pub(crate) static GIGACHAT35: Dialect = Dialect {
    name: "gigachat35",
    models: &["GigaChat 3.5"],
    auto: true,
    sections: &[Section::new("<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>")],
    calls: &[Call::parameters(
        "<｜GCML｜invoke{@name}>",
        "</｜GCML｜invoke>",
        "<｜GCML｜parameter{@key=name,type=string?}>",
        "</｜GCML｜parameter>",
    )],
    drops: &["<|message_sep|>", "</s>"],
    ..Dialect::EMPTY
};
