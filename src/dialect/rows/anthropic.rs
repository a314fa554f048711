//! `<function_calls>` with `<invoke>` and `<parameter>`, plain or with a
//! namespace before each tag, and the form of 2023 with a tag for each key.

use crate::dialect::spec::{Body, Call, Dialect, Ends, Parameters, Region, Results, Role, Section};

const THINKING: Region = Region {
    open: "<{ns}thinking>{nl}",
    close: "{nl}</{ns}thinking>{nl}{nl}",
    role: Role::Reasoning,
    name: "",
    ends: Ends::Calls,
};

const SECTION: Section = Section::new("<{ns}function_calls>", "</{ns}function_calls>");

const FUNCTION_RESULTS: Results = Results {
    open: "<function_results>\n",
    each: "<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{output}\n</stdout>\n</result>",
    error: "<error>\n{output}\n</error>",
    between: "\n",
    close: "\n</function_results>",
};

pub(crate) static XML: Dialect = Dialect {
    name: "anthropic_xml",
    aliases: &["anthropic_xml_ns"],
    models: &["Claude in text mode, and agents that prompt for this XML"],
    auto: true,
    regions: &[THINKING],
    sections: &[SECTION],
    calls: &[Call {
        open: "<{ns}invoke{@name}>",
        close: "</{ns}invoke>",
        body: Body::Parameters(Parameters {
            open: "<{ns}parameter{@key=name}>",
            close: "</{ns}parameter>",
            ..Parameters::TEXT
        }),
        ..Call::NEW
    }],
    results: FUNCTION_RESULTS,
    ..Dialect::EMPTY
};

pub(crate) static LEGACY: Dialect = Dialect {
    name: "anthropic_xml_legacy",
    models: &["Claude 2.1 and 3 with the prompts of their time"],
    auto: true,
    sections: &[SECTION],
    calls: &[Call {
        open: "<invoke>{ws}<tool_name>{ws}{name}{ws}</tool_name>{ws}<parameters>",
        close: "</parameters>{ws}</invoke>{|}</invoke>",
        body: Body::Parameters(Parameters {
            open: "<{key}>",
            close: "</{key}>",
            ..Parameters::TEXT
        }),
        ..Call::NEW
    }],
    results: FUNCTION_RESULTS,
    ..Dialect::EMPTY
};
