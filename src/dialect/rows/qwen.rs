//! Qwen, and what took its forms over: JSON in `<tool_call>` as Hermes
//! introduced it, `<function=…>` as Qwen3-Coder does, and the labels of
//! Qwen-Agent.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Call, Dialect, Region, Results};

const PARAMETER: (&str, &str) = ("<parameter={key}>{nl}", "{nl}</parameter>");
const VERBATIM: (&str, &str) = ("<parameter={key}>", "</parameter>");

/// A call whose wrapper may be missing at either end.
const fn function(open: &'static str, (key, end): (&'static str, &'static str)) -> Call {
    Call::parameters(open, FUNCTION_END, key, end)
}

const FUNCTION_END: &str = "</function>{[}{ws}</tool_call>{]}{|}</tool_call>";

pub(crate) static HERMES: Dialect = Dialect {
    name: "hermes",
    aliases: &["qwen", "qwen25", "qwen3_json", "granite4", "trinity"],
    models: &["Hermes 2 and 3", "Qwen 2.5", "Qwen 3", "QwQ", "Granite 4", "SmolLM 3"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call::json("<tool_call>", "</tool_call>")],
    ..Dialect::EMPTY
};

/// What vllm-mlx's parser of Qwen reads beside Hermes' form. Only by name: it's ordinary text.
pub(crate) static CALLING_TOOL: Dialect = Dialect {
    name: "calling_tool",
    models: &["Qwen on MLX"],
    regions: &[tags::REASONING],
    calls: &[Call::arguments("[Calling tool:{ws}{name}(", "{ws}){ws}]")],
    ..Dialect::EMPTY
};

pub(crate) static EXAONE4: Dialect = Dialect {
    name: "exaone4",
    models: &["EXAONE 4.0"],
    results: Results::of("<tool_result>{\"result\": {json}}</tool_result>"),
    ..HERMES_FORM
};

pub(crate) static ERNIE45: Dialect = Dialect {
    name: "ernie45",
    aliases: &[],
    models: &["ERNIE 4.5 thinking"],
    start_in: crate::dialect::spec::StartIn::Auto,
    drops: &["<response>{nl}", "{nl}</response>{nl}"],
    results: Results::of("<tool_output>\n{output}\n</tool_output>"),
    ..HERMES_FORM
};

const HERMES_FORM: Dialect = Dialect {
    regions: &[tags::REASONING],
    calls: &[Call::json("<tool_call>", "</tool_call>")],
    ..Dialect::EMPTY
};

/// LongCat-Flash-Lite writes its arguments as GLM does.
pub(crate) static LONGCAT: Dialect = Dialect {
    name: "longcat",
    models: &["LongCat-Flash", "LongCat-Flash-Lite"],
    auto: true,
    regions: &[Region::reasoning("<longcat_think>{nl}", "{nl}</longcat_think>{nl}{nl}")],
    calls: &[
        Call::json("<longcat_tool_call>", "</longcat_tool_call>"),
        Call::parameters(
            "<longcat_tool_call>{ws}{name}",
            "</longcat_tool_call>",
            "<longcat_arg_key>{ws}{key}{ws}</longcat_arg_key>{ws}<longcat_arg_value>",
            "</longcat_arg_value>",
        ),
    ],
    results: Results::of("<longcat_tool_response>\n{output}\n</longcat_tool_response>"),
    ..Dialect::EMPTY
};

pub(crate) static QWEN3_CODER: Dialect = Dialect {
    name: "qwen3_coder",
    aliases: &[
        "qwen3_xml", "qwen_xml", "qwen_coder", "nemotron", "nemotron_nano", "step3p5", "step5",
        "nanbeige", "nemotron_v3", "granite_thinking_parser",
    ],
    models: &["Qwen3-Coder", "Qwen 3.5 to 3.8", "Nemotron 3", "Granite 4.2"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[
        Call::empty("<tool_call>{ws}<function={name}{sp}/>", "</tool_call>"),
        function("<tool_call>{ws}<function={name}>", PARAMETER),
        Call { narrated: true, ..function("<function={name}>", PARAMETER) },
        // At times they fall back to what their ancestors wrote.
        Call::json("<tool_call>", "</tool_call>"),
        Call::unreadable("<tool_call>{ws}<function={name}>", FUNCTION_END),
    ],
    ..Dialect::EMPTY
};

pub(crate) static MIMO: Dialect = Dialect {
    name: "mimo",
    models: &["Xiaomi MiMo-V2"],
    regions: &[tags::REASONING],
    calls: &[
        function("<tool_call>{ws}<function={name}>", VERBATIM),
        Call { narrated: true, ..function("<function={name}>", VERBATIM) },
    ],
    ..Dialect::EMPTY
};

pub(crate) static SEED_OSS: Dialect = Dialect {
    name: "seed_oss",
    models: &["ByteDance Seed-OSS"],
    auto: true,
    regions: &[Region::reasoning("<seed:think>{nl}", "{nl}</seed:think>{nl}{nl}")],
    calls: &[
        Call::parameters(
            "<seed:tool_call>{ws}<function={name}>",
            "</function>{[}{ws}</seed:tool_call>{]}{|}</seed:tool_call>",
            "<parameter={key}>",
            "</parameter>",
        ),
        Call::unreadable("<seed:tool_call>", "</seed:tool_call>"),
    ],
    results: Results::of("{output}"),
    ..Dialect::EMPTY
};

pub(crate) static OPENHANDS: Dialect = Dialect {
    name: "openhands_fn",
    models: &["OpenHands CodeAct", "SWE-agent"],
    calls: &[
        Call { ..Call::parameters("<function={name}>", "</function>", PARAMETER.0, PARAMETER.1) },
        Call { ..Call::parameters("<function{@name}>", "</function>", PARAMETER.0, PARAMETER.1) },
    ],
    ..Dialect::EMPTY
};

pub(crate) static MINICPM5: Dialect = Dialect {
    name: "minicpm5",
    models: &["MiniCPM5"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call {
        narrated: true,
        ..Call::parameters(
            "<function{@name}>",
            "</function>",
            "<param{@key=name}>{[}<![CDATA[{]}",
            "{[}]]>{]}</param>",
        )
    }],
    ..Dialect::EMPTY
};

pub(crate) static QWEN_AGENT: Dialect = Dialect {
    name: "qwen_agent",
    models: &["Qwen with Qwen-Agent's older prompt"],
    auto: true,
    calls: &[Call::arguments("{nl}✿FUNCTION✿:{sp}{name}{ws}✿ARGS✿:", "")],
    drops: &["{nl}✿RESULT✿{[}:{]}{sp}", "{nl}✿RETURN✿:{sp}"],
    results: Results::of("✿RESULT✿: {output}\n✿RETURN✿:"),
    ..Dialect::EMPTY
};
