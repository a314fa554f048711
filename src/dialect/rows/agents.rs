//! The forms that agents prompt for: code, a tag for each tool, labelled lines.

use crate::dialect::rows::tags;
use crate::dialect::spec::{Body, Call, Dialect, Ends, Region, Results, StartIn};

pub(crate) static CODE: Dialect = Dialect {
    name: "code_block_agent",
    models: &["smolagents", "CodeAct", "SmolLM 3"],
    calls: &[
        Call::raw("<code>{nl}", "{nl}</code>", "code", "code"),
        Call::raw("{line}```py{[}thon{]}{nl}", "{nl}```", "code", "code"),
        Call::raw("<execute_bash>{nl}", "{nl}</execute_bash>", "execute_bash", "code"),
        Call::raw("<execute_ipython>{nl}", "{nl}</execute_ipython>", "execute_ipython", "code"),
    ],
    results: Results::of("Observation:\n{output}"),
    ..Dialect::EMPTY
};

pub(crate) static CLINE: Dialect = Dialect {
    name: "cline_xml",
    aliases: &["morph_xml"],
    models: &["Cline", "Roo", "Kilo"],
    regions: &[Region::reasoning("<thinking>{nl}", "{nl}</thinking>{nl}{nl}")],
    calls: &[Call {
        known: true,
        narrated: true,
        ..Call::parameters("<{name}>", "</{name}>", "<{key}>{nl}", "{nl}</{key}>")
    }],
    results: Results::of("[{name}] Result:\n{output}"),
    ..Dialect::EMPTY
};

pub(crate) static YAML: Dialect = Dialect {
    name: "yaml_xml",
    models: &["models prompted for YAML in tags"],
    auto: true,
    calls: &[
        Call { known: true, ..Call::empty("<{name}{sp}/>", "") },
        Call { known: true, ..Call::empty("<{name}>", "</{name}>") },
        Call {
            known: true,
            body: Body::Yaml,
            ..Call::arguments("<{name}>{sp}{[}\r{]}\n", "\n</{name}>")
        },
    ],
    ..Dialect::EMPTY
};

pub(crate) static REACT: Dialect = Dialect {
    name: "react",
    models: &["LangChain's ReAct prompt, and many like it"],
    regions: &[
        Region { ends: Ends::Anything, ..Region::reasoning("{line}Thought:{sp}", "") },
        Region::answer("{line}Final Answer:{sp}", ""),
    ],
    calls: &[
        Call::arguments("{line}Action:{sp}{name}{sp}\nAction Input:{sp}", ""),
        Call::raw("{line}Action:{sp}{name}{sp}\nAction Input:{sp}", "\n", "", "input"),
    ],
    results: Results::of("Observation: {output}"),
    ..Dialect::EMPTY
};

pub(crate) static LANGCHAIN_XML: Dialect = Dialect {
    name: "langchain_xml_agent",
    models: &["LangChain's XML agent"],
    calls: &[Call {
        ..Call::raw("<tool>{ws}{name}{ws}</tool>{ws}<tool_input>", "</tool_input>", "", "input")
    }],
    drops: &["<final_answer>", "</final_answer>"],
    ..Dialect::EMPTY
};

/// The prompting guide of facebookresearch/cwm, and vLLM's parser of that name, which finds the
/// tool's name in a body that is labelled `function`. Only by name: it's ordinary text.
pub(crate) static CWM: Dialect = Dialect {
    name: "cwm",
    models: &["Code World Model"],
    start_in: StartIn::Auto,
    regions: &[tags::REASONING],
    calls: &[
        Call { next: &["{"], ..Call::arguments("<tool:{ws}function>{ws}{name}", "</tool>") },
        Call::raw("<tool:{ws}function>{ws}{name}{ws}", "{nl}</tool>", "", "command"),
        Call { next: &["{"], ..Call::arguments("<tool:{ws}{name}>", "</tool>") },
        Call::raw("<tool:{ws}{name}>{nl}", "{nl}</tool>", "", "command"),
    ],
    results: Results::of("<|start_header_id|>tool: {name}<|end_header_id|>\n\n{output}<|eot_id|>"),
    ..Dialect::EMPTY
};
