//! Cohere: actions as JSON, and the fenced list of Command R.

use crate::dialect::spec::{Body, Call, Dialect, Ends, Envelope, Region, Results, Role, StartIn};

const PARTS: Body = Body::Json(Envelope {
    name: &["tool_name"],
    arguments: &["parameters"],
    id: &["tool_call_id"],
    ..Envelope::NEW
});

const ACTION: Dialect = Dialect {
    start_in: StartIn::Auto,
    regions: &[
        Region::reasoning("<|START_THINKING|>", "<|END_THINKING|>"),
        // The sources of what was cited.
        Region {
            open: "</co:{sp}",
            close: ">",
            role: Role::Block,
            name: "citation",
            ends: Ends::Closer,
        },
    ],
    calls: &[Call { body: PARTS, ..Call::json("<|START_ACTION|>", "<|END_ACTION|>") }],
    drops: &[
        "<co>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
        "<|END_OF_TURN_TOKEN|>",
    ],
    results: Results {
        open: "<|START_TOOL_RESULT|>[\n",
        each: "    {\n        \"tool_call_id\": \"{id}\",\n        \"results\": {\n            \
            \"0\": {json}\n        },\n        \"is_error\": null\n    }",
        between: ",\n",
        close: "\n]<|END_TOOL_RESULT|>",
        ..Results::NEW
    },
    ..Dialect::EMPTY
};

pub(crate) static COMMAND_A: Dialect = Dialect {
    name: "cohere_action",
    aliases: &["cohere", "cohere_command3", "cohere_cmd"],
    models: &["Command R7B", "Command A"],
    auto: true,
    ..ACTION
};

pub(crate) static COMMAND4: Dialect =
    Dialect { name: "cohere_command4", models: &["Command A+"], ..ACTION };

pub(crate) static COMMAND_R: Dialect = Dialect {
    name: "cohere_command_r",
    models: &["Command R and R+ (2024)"],
    calls: &[Call { body: PARTS, ..Call::json("Action:{ws}```json", "```") }],
    drops: &["<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
    results: Results::of("<results>\n{output}</results>"),
    ..Dialect::EMPTY
};
