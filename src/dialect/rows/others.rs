//! Families with a form or two of their own.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Body, Call, Dialect, Ends, Envelope, Region, Results, Section};

pub(crate) static DOTS: Dialect = Dialect {
    name: "dots",
    models: &["rednote dots"],
    auto: true,
    sections: &[Section::new("<dots_function_call>", "</dots_function_call>")],
    calls: &[
        Call::json("<dots_function_call>", "</dots_function_call>"),
        Call::parameters("<invoke{@name}>", "</invoke>", "<parameter{@key=name}>", "</parameter>"),
    ],
    ..Dialect::EMPTY
};

pub(crate) static STEP3: Dialect = Dialect {
    name: "step3",
    models: &["Step3"],
    auto: true,
    regions: &[tags::REASONING],
    sections: &[Section::new("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>")],
    calls: &[Call::parameters(
        "<｜tool_call_begin｜>{ws}function{ws}<｜tool_sep｜>{ws}<steptml:invoke{@name}>",
        "</steptml:invoke>{[}{ws}<｜tool_call_end｜>{]}{|}<｜tool_call_end｜>",
        "<steptml:parameter{@key=name}>",
        "</steptml:parameter>",
    )],
    ..Dialect::EMPTY
};

pub(crate) static GRANITE3: Dialect = Dialect {
    name: "granite3",
    aliases: &["granite"],
    models: &["Granite 3.0 to 3.3"],
    auto: true,
    regions: &[
        Region::reasoning("{start}Here is my thought process:{ws}", "Here is my response:{ws}"),
        Region::reasoning("{start}Here's my thought process:{ws}", "Here's my response:{ws}"),
        tags::REASONING,
    ],
    calls: &[
        Call { next: &["[{ws}{{}", "[{ws}]"], ..Call::json("<|tool_call|>", "") },
        Call { next: &["[{ws}{{}", "[{ws}]"], ..Call::json("<tool_call>", "") },
    ],
    drops: &["<response>", "</response>"],
    ..Dialect::EMPTY
};

pub(crate) static GRANITE20B: Dialect = Dialect {
    name: "granite20b_fc",
    aliases: &["granite_20b_fc"],
    models: &["granite-20b-functioncalling"],
    auto: true,
    calls: &[Call::json("<function_call>", "")],
    ..Dialect::EMPTY
};

const ARRAY: Call = Call { next: &["["], ..Call::json("<tool_calls>", "</tool_calls>") };

pub(crate) static TOOL_CALLS: Dialect = Dialect {
    name: "tool_calls_json_array",
    aliases: &["jamba", "apriel"],
    models: &["Jamba 1.5 and 1.6", "Apriel 1.5 and 1.6"],
    auto: true,
    // Apriel's opener is in the prompt.
    regions: &[Region::reasoning(
        "{start}Here are my reasoning steps:{nl}",
        "{nl}[BEGIN FINAL RESPONSE]{nl}",
    )],
    calls: &[ARRAY],
    drops: &["{nl}[END FINAL RESPONSE]"],
    ..Dialect::EMPTY
};

pub(crate) static HUNYUAN: Dialect = Dialect {
    name: "hunyuan_a13b",
    models: &["Hunyuan-A13B"],
    regions: &[Region::reasoning("<think>{nl}", "{nl}</think>{nl}{[}<answer>{nl}{]}")],
    calls: &[Call { narrated: true, ..ARRAY }],
    drops: &["<answer>{nl}", "{nl}</answer>"],
    ..Dialect::EMPTY
};

pub(crate) static NEMOTRON: Dialect = Dialect {
    name: "nemotron_toolcall",
    aliases: &["nemotron_deci"],
    models: &["Nemotron Nano v2", "Llama-Nemotron"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call::json("<TOOLCALL>", "</TOOLCALL>")],
    results: Results {
        open: "<TOOL_RESPONSE>[",
        each: "{output}",
        between: ", ",
        close: "]</TOOL_RESPONSE>",
        ..Results::NEW
    },
    ..Dialect::EMPTY
};

const FUNCTOOLS: Call = Call { next: &["["], narrated: true, ..Call::json("functools", "") };

pub(crate) static PHI4: Dialect = Dialect {
    name: "phi4_mini",
    aliases: &["phi4", "phi4_mini_json"],
    models: &["Phi-4-mini"],
    auto: true,
    calls: &[FUNCTOOLS, Call::json("<|tool_call|>", "<|/tool_call|>")],
    results: Results::of("<|tool_response|>{json}<|end|>"),
    ..Dialect::EMPTY
};

pub(crate) static FIREFUNCTION: Dialect = Dialect {
    name: "firefunction_v2",
    models: &["FireFunction v2"],
    calls: &[FUNCTOOLS],
    ..Dialect::EMPTY
};

pub(crate) static INTERNLM2: Dialect = Dialect {
    name: "internlm2",
    aliases: &["internlm", "interns1"],
    models: &["InternLM 2 and 2.5", "Intern-S1"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call::json("<|action_start|>{ws}<|plugin|>", "<|action_end|>")],
    ..Dialect::EMPTY
};

pub(crate) static APERTUS: Dialect = Dialect {
    name: "apertus",
    aliases: &["apertus2509"],
    models: &["Apertus"],
    auto: true,
    regions: &[Region::reasoning("<|inner_prefix|>", "<|inner_suffix|>")],
    calls: &[Call {
        body: Body::Json(Envelope { name: &[], arguments: &[], keyed: true, ..Envelope::NEW }),
        ..Call::json("<|tools_prefix|>", "<|tools_suffix|>")
    }],
    ..Dialect::EMPTY
};

pub(crate) static GIGACHAT3: Dialect = Dialect {
    name: "gigachat3",
    models: &["GigaChat 3"],
    auto: true,
    calls: &[
        Call::json("<|function_call|>", ""),
        Call::json("{[}<|message_sep|>{ws}{]}function call<|role_sep|>", ""),
    ],
    drops: &["<|message_sep|>", "</s>"],
    ..Dialect::EMPTY
};

const PARTS: Body = Body::Json(Envelope::NEW);

pub(crate) static XLAM: Dialect = Dialect {
    name: "xlam",
    models: &["xLAM 1 and 2"],
    calls: &[
        Call { next: &["[{ws}{{}"], ..Call::json("{start}{ws}", "") },
        Call { body: PARTS, narrated: true, ..Call::json("```json", "```") },
        Call::json("[TOOL_CALLS]", ""),
        Call::json("<tool_call>", "</tool_call>"),
    ],
    regions: &[tags::REASONING],
    ..Dialect::EMPTY
};

const ENVELOPES: Body = Body::Json(Envelope {
    name: &["name", "recipient_name"],
    arguments: &["arguments", "parameters"],
    id: &["id"],
    inner: &["tool_calls", "function_call", "tool_call", "tool_uses", "function"],
    ..Envelope::NEW
});

pub(crate) static OPENAI_TEXT: Dialect = Dialect {
    name: "openai_json_text",
    models: &["models prompted for OpenAI's JSON as text"],
    calls: &[Call {
        body: ENVELOPES,
        next: &[
            "{{}{ws}\"tool_calls\"", "{{}{ws}\"function_call\"", "{{}{ws}\"tool_call\"",
            "{{}{ws}\"tool_uses\"",
        ],
        ..Call::json("{start}{ws}", "")
    }],
    ..Dialect::EMPTY
};

const FENCED: Body = Body::Json(Envelope {
    name: &["name", "action"],
    arguments: &["arguments", "parameters", "action_input"],
    ..Envelope::NEW
});

/// A fence with JSON in it. An empty one, or a longer one, is none.
const fn fenced(open: &'static str) -> Call {
    Call { body: FENCED, next: &["{", "[{ws}{", "[{ws}]"], ..Call::json(open, "```") }
}

pub(crate) static FENCED_JSON: Dialect = Dialect {
    name: "fenced_json",
    models: &["prompted models", "LangChain's JSON agent"],
    calls: &[fenced("{line}```json"), fenced("{line}```tool_call"), fenced("{line}```")],
    ..Dialect::EMPTY
};

pub(crate) static SARASHINA: Dialect = Dialect {
    name: "sarashina",
    models: &["Sarashina"],
    calls: &[
        Call { body: Body::Literal(Envelope::NEW), ..Call::json("<|tool_calls|>", "") },
        Call {
            body: Body::Literal(Envelope::NEW),
            next: &["[{ws}{{}"],
            ..Call::json("{start}{ws}", "")
        },
    ],
    ..Dialect::EMPTY
};

pub(crate) static MIROTHINKER: Dialect = Dialect {
    name: "mirothinker",
    models: &["MiroThinker 1"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call {
        narrated: true,
        ..Call::arguments(
            "<use_mcp_tool>{ws}<server_name>{ws}{server}{ws}</server_name>{ws}\
             <tool_name>{ws}{name}{ws}</tool_name>{ws}<arguments>",
            "</arguments>{ws}</use_mcp_tool>",
        )
    }],
    ..Dialect::EMPTY
};

pub(crate) static LFM2: Dialect = Dialect {
    name: "lfm2",
    models: &["LFM2", "LFM2.5"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[
        Call::python("<|tool_call_start|>", "<|tool_call_end|>"),
        Call::json("<|tool_call_start|>", "<|tool_call_end|>"),
    ],
    results: Results::of("<|tool_response_start|>{output}<|tool_response_end|>"),
    ..Dialect::EMPTY
};

pub(crate) static MINICPM3: Dialect = Dialect {
    name: "minicpm3",
    aliases: &["minicpm"],
    models: &["MiniCPM3"],
    auto: true,
    regions: &[Region::reasoning("<|thought_start|>{nl}", "{nl}<|thought_end|>{nl}")],
    calls: &[Call::python("<|tool_call_start|>{ws}```python{nl}", "```{ws}<|tool_call_end|>")],
    ..Dialect::EMPTY
};

/// The call stands first, and the model explains it.
pub(crate) static NEXUSRAVEN: Dialect = Dialect {
    name: "nexusraven",
    models: &["NexusRaven V2"],
    regions: &[Region::reasoning("{nl}Thought:{sp}", "")],
    calls: &[Call::python("{line}Call:{sp}", "<bot_end>{sp}")],
    ..Dialect::EMPTY
};

pub(crate) static OLMO3: Dialect = Dialect {
    name: "olmo3",
    models: &["Olmo 3"],
    auto: true,
    regions: &[tags::REASONING],
    calls: &[Call::python("<function_calls>", "</function_calls>")],
    ..Dialect::EMPTY
};

/// Messages of several roles of the assistant's. The first one's beginning is in the prompt. Source:
/// the model's page, and its parser in vLLM. Only by name: the headers are those of a prompt as
/// well.
pub(crate) static HYPERCLOVAX: Dialect = Dialect {
    name: "hyperclovax",
    aliases: &["hyperclovax_seed_think_14b", "hcx"],
    models: &["HyperCLOVA X SEED Think 14B"],
    regions: &[
        hyperclovax_thought("{start}/think\n"),
        hyperclovax_thought("{nl}<|im_start|>assistant/think\n"),
    ],
    calls: &[
        Call::json("{start}{[} {]}-> tool/function_call\n", HYPERCLOVAX_END),
        Call::json("{nl}<|im_start|>assistant -> tool/function_call\n", HYPERCLOVAX_END),
    ],
    drops: &[
        "{nl}<|im_start|>assistant\n", "{start}\n", HYPERCLOVAX_END, "<|endofturn|>", "<|stop|>",
    ],
    results: Results::of("<|im_start|>tool/function_call\n{output}<|im_end|>"),
    ..Dialect::EMPTY
};

const fn hyperclovax_thought(open: &'static str) -> Region {
    Region { ends: Ends::Anything, ..Region::reasoning(open, HYPERCLOVAX_END) }
}

const HYPERCLOVAX_END: &str = "{nl}<|im_end|>{nl}";
