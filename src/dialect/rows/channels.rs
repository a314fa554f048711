//! Messages with a recipient and a channel: gpt-oss's Harmony, and what is
//! built like it.

use crate::dialect::spec::{
    Body, Call, Dialect, Ends, Envelope, Parameters, Region, Results, Role, Section, Untyped,
};

pub(crate) static HARMONY: Dialect = Dialect {
    name: "harmony",
    aliases: &["gpt_oss", "openai", "openai_gptoss"],
    models: &["gpt-oss"],
    auto: true,
    regions: &[
        ANALYSIS,
        FINAL,
        FINAL_LINE,
        to_reader("{[}<|start|>assistant{]}<|channel|>{_} to=user{*<|channel|>}<|message|>"),
        to_reader("{[}<|start|>assistant{]}<|channel|>{_} to=assistant{*<|channel|>}<|message|>"),
        to_reader("<|start|>assistant to=user{*<|start|>}<|message|>"),
        to_reader("<|start|>assistant to=assistant{*<|start|>}<|message|>"),
    ],
    calls: &[
        to_two("{[}<|start|>assistant{]}<|channel|>{_} to={_} to="),
        to_two("<|start|>assistant to={_} to="),
        to_two("{[}<|start|>assistant{]}<|channel|>{_} to={_}<|channel|>{_} to="),
        to_two("<|start|>assistant to={_}<|channel|>{_} to="),
        to_two("{start}{[} {]}to=functions.{_} to="),
        to_function(
            "{[}<|start|>assistant{]}<|channel|>{_} to=functions.{name}{*<|start|>}<|message|>",
        ),
        to_function(
            "{[}<|start|>assistant{]}<|channel|>{_} to=functions.{name}{ws}{[}<|constrain|>{_}{ws}{]}<|message|>",
        ),
        to_function("<|start|>assistant to=functions.{name}{*<|start|>}<|message|>"),
        // The first header's beginning is in the prompt.
        to_function("{start}{[} {]}to=functions.{name}{*<|start|>}<|message|>"),
        to_other("{[}<|start|>assistant{]}<|channel|>{_} to={name}{*<|start|>}<|message|>"),
        to_other("<|start|>assistant to={name}{*<|start|>}<|message|>"),
        Call::unreadable("{[}<|start|>assistant{]}<|channel|>{_} to=<", MESSAGE_END),
        // Another tool's, and no object.
        Call::unreadable(
            "{[}<|start|>assistant{]}<|channel|>{_} to={name}{*<|channel|>}<|message|>",
            MESSAGE_END,
        ),
        Call::unreadable("<|start|>assistant to={name}{*<|start|>}<|message|>", MESSAGE_END),
        // A header that lost its end.
        Call::unreadable("{[}<|start|>assistant{]}<|channel|>{_} to=functions.{name}", MESSAGE_END),
        Call::unreadable("<|start|>assistant to=functions.{name}", MESSAGE_END),
    ],
    drops: &[
        "{[}<|start|>assistant{]}<|channel|>commentary{ws}<|message|>",
        // A header that the model began and gave up.
        "{[}<|start|>assistant{]}<|channel|>commentary to=assistant",
        "<|start|>assistant",
        // A header that lacks its role.
        "<|start|>\n",
        "<|end|>",
        "<|return|>",
        "<|call|>",
    ],
    results: Results::of(
        "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{output}<|end|>",
    ),
    ..Dialect::EMPTY
};

/// A function's message is a call, whatever its body is.
const fn to_function(open: &'static str) -> Call {
    Call { next: &["{start}"], ..to_other(open) }
}

/// A header with two recipients does not say which tool is called.
const fn to_two(open: &'static str) -> Call {
    Call::unreadable(open, MESSAGE_END)
}

/// A message to someone else is a call if it holds an object.
const fn to_other(open: &'static str) -> Call {
    Call::arguments(open, MESSAGE_END)
}

const ANALYSIS: Region = Region {
    ends: Ends::Anything,
    ..Region::reasoning(
        "{[}<|start|>assistant{]}<|channel|>analysis{ws}<|message|>",
        "<|end|>{|}<|return|>",
    )
};

/// The answer: what closes it is dropped, and any header ends it.
const FINAL: Region = Region::answer(
    "{[}<|start|>assistant{]}<|channel|>final{*<|start|>}<|message|>",
    "<|end|>{|}<|return|>",
);

/// A message to who reads the answer.
const fn to_reader(open: &'static str) -> Region {
    Region { open, ..FINAL }
}

/// Its header may end in a line end.
const FINAL_LINE: Region =
    Region { open: "{[}<|start|>assistant{]}<|channel|>final{ws}<|message|>", ..FINAL };

pub(crate) static BEAM: Dialect = Dialect {
    name: "beam",
    models: &["Beam"],
    auto: true,
    regions: &[
        ANALYSIS,
        Region::answer(
            "{[}<|start|>assistant{[} to={_}{]}{]}<|channel|>final{*<|start|>}<|message|>",
            MESSAGE_END,
        ),
    ],
    calls: &[
        Call::parameters(
            BEAM_CALL, MESSAGE_END, "<rfl:parameter{@key=name}>{nl}", "{nl}</rfl:parameter>",
        ),
        Call::unreadable(BEAM_CALL, MESSAGE_END),
    ],
    drops: &[
        "{[}<|start|>assistant{]}<|channel|>commentary{ws}<|message|>",
        // A header that was left before its message.
        "{[}<|start|>assistant{]}<|channel|>{_}<|end|>",
        "<|constrain|>",
        "<|message|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
    ],
    ..Dialect::EMPTY
};

const BEAM_CALL: &str = "<|start|>assistant{ws}to={name}<|channel|>{*<|start|>}<|message|>";

const MESSAGE_END: &str = "<|call|>{|}<|end|>{|}<|return|>";

/// A header names the recipient, which decides what the body is. The first one's
/// beginning is in the prompt; a later one's may be missing.
pub(crate) static MUSE: Dialect = Dialect {
    name: "muse_atem",
    aliases: &["muse", "muse_glimmer", "musespark1x", "muse_spark", "muse_spark_open"],
    models: &["Muse Spark", "Muse Glimmer"],
    auto: true,
    regions: &[
        muse(Role::Reasoning, "{start}{[} {]}to=self<|message|>"),
        muse(Role::Reasoning, "<|start|>assistant to=self<|message|>"),
        muse(Role::Reasoning, " to=self<|message|>"),
        muse(Role::Reasoning, "{start}<|message|>"),
        muse(Role::Text, "{start}{[} {]}to=user<|message|>"),
        muse(Role::Text, "<|start|>assistant to=user<|message|>"),
        muse(Role::Text, " to=user<|message|>"),
        muse(Role::Text, "{start}{[} {]}to=commentary<|message|>"),
        muse(Role::Text, "<|start|>assistant to=commentary<|message|>"),
        muse(Role::Text, " to=commentary<|message|>"),
        muse(Role::Text, "<|start|>assistant<|message|>"),
        muse(Role::Drop, "{start}{[} {]}to=developer<|message|>"),
        muse(Role::Drop, "<|start|>assistant to=developer<|message|>"),
        muse(Role::Drop, " to=developer<|message|>"),
    ],
    sections: &[
        muse_calls("{start}{[} {]}to={_}<|message|>{[}{ws}<atem:function_calls>{]}"),
        muse_calls("<|start|>assistant to={_}<|message|>{[}{ws}<atem:function_calls>{]}"),
        muse_calls(" to={_}<|message|>{[}{ws}<atem:function_calls>{]}"),
    ],
    calls: &[
        Call {
            body: Body::Parameters(Parameters {
                open: "<atem:parameter{@key=name}>",
                close: "</atem:parameter>",
                untyped: Untyped::Json,
                ..Parameters::TEXT
            }),
            ..Call::arguments("<atem:invoke{@name}>", "</atem:invoke>")
        },
        // Calls in a message to nobody, and those that can't be read.
        muse_stray("{start}<|message|>{ws}<atem:function_calls>"),
        muse_stray("<|start|>assistant<|message|>{ws}<atem:function_calls>"),
        muse_stray("{start}{[} {]}to={_}<|message|>{ws}<atem:function_calls>"),
        muse_stray("<|start|>assistant to={_}<|message|>{ws}<atem:function_calls>"),
        muse_stray(" to={_}<|message|>{ws}<atem:function_calls>"),
    ],
    drops: &["<|eom|>", "<|eot|>"],
    results: Results::of("<tool_output name=\"{name}\">\n{output}\n</tool_output>"),
    ..Dialect::EMPTY
};

const fn muse_stray(open: &'static str) -> Call {
    Call::unreadable(open, "</atem:function_calls>{|}<|eom|>{|}<|eot|>")
}

const MUSE_END: &str = "<|eom|>{|}<|eot|>";

const fn muse(role: Role, open: &'static str) -> Region {
    Region { open, close: MUSE_END, role, name: "", ends: Ends::Anything }
}

const fn muse_calls(open: &'static str) -> Section {
    let close = "</atem:function_calls>{|}<|eom|>{|}<|eot|>";
    Section { required: true, ..Section::new(open, close) }
}

const INKLING_END: &str = "<|end_message|>{|}<|content_model_end_sampling|>";

const INKLING_BODY: Body =
    Body::Json(Envelope { arguments: &["args", "arguments"], ..Envelope::NEW });

pub(crate) static INKLING: Dialect = Dialect {
    name: "inkling",
    models: &["Inkling"],
    auto: true,
    regions: &[
        Region {
            ends: Ends::Anything,
            ..Region::reasoning("{[}<|message_model|>{]}<|content_thinking|>", "<|end_message|>")
        },
        Region::answer("{[}<|message_model|>{]}<|content_text|>", INKLING_END),
        Region {
            open: "{[}<|message_model|>{]}<|content_audio_input|>",
            close: "<|end_message|>",
            role: Role::Block,
            name: "audio",
            ends: Ends::Closer,
        },
    ],
    calls: &[
        Call {
            body: INKLING_BODY,
            ..Call::json("<|message_model|>{ws}{name}{ws}<|content_invoke_tool_json|>", INKLING_END)
        },
        Call {
            body: INKLING_BODY,
            ..Call::json("{[}<|message_model|>{]}<|content_invoke_tool_json|>", INKLING_END)
        },
        // The first header may be in the prompt, but for the tool's name.
        Call {
            body: INKLING_BODY,
            ..Call::json("{start}{name}<|content_invoke_tool_json|>", INKLING_END)
        },
        Call::unreadable("{[}<|message_model|>{_}{]}<|content_invoke_tool_text|>", INKLING_END),
        Call::unreadable("{[}<|message_model|>{_}{]}<|content_invoke_tool_json|>", INKLING_END),
    ],
    drops: &[
        "{[}<|message_model|>{]}<|content_tool_error|>",
        "{start}<|message_model|>",
        "<|end_message|>",
        "<|content_model_end_sampling|>",
    ],
    ..Dialect::EMPTY
};

pub(crate) static SOLAR: Dialect = Dialect {
    name: "solar_open",
    models: &["Solar Open"],
    auto: true,
    regions: &[Region::reasoning("<|think|>", "<|end|>")],
    calls: &[Call::arguments(
        "{[}<|tool_calls|>{ws}{]}<|tool_call:begin|>{ws}{id}{ws}<|tool_call:name|>{ws}{name}{ws}<|tool_call:args|>",
        "<|tool_call:end|>",
    )],
    drops: &["<|begin|>assistant", "<|calls|>", "<|content|>", "<|end|>"],
    ..Dialect::EMPTY
};

/// As SGLang's detector reads Solar Open 2: the name's line, then the arguments as they are.
pub(crate) static SOLAR2: Dialect = Dialect {
    name: "solar_open2",
    models: &["Solar Open 2", "Solar Pro 4"],
    auto: true,
    regions: &[Region::reasoning("<|think:start|>{nl}", "{nl}<|think:end|>{nl}")],
    calls: &[Call::parameters(
        "<|tool_call:start|>{ws}{name}",
        "<|tool_call:end|>",
        "<|tool_arg:start|>{ws}{key}{ws}<|tool_arg:value|>",
        "<|tool_arg:end|>",
    )],
    drops: &["<|im:end|>"],
    results: Results::of("<|tool_response:start|>{output}<|tool_response:end|>"),
    ..Dialect::EMPTY
};

pub(crate) static PLAMO3: Dialect = Dialect {
    name: "plamo3",
    models: &["PLaMo 3"],
    auto: true,
    regions: &[Region::reasoning(
        "<|plamo:begin_think:plamo|>{nl}",
        "{nl}<|plamo:end_think:plamo|>{nl}",
    )],
    calls: &[Call::arguments(
        "{[}<|plamo:begin_tool_requests:plamo|>{ws}{]}\
         <|plamo:begin_tool_request:plamo|>{ws}<|plamo:begin_tool_name:plamo|>{ws}\
         {name}{ws}<|plamo:end_tool_name:plamo|>{ws}\
         <|plamo:begin_tool_arguments:plamo|>{ws}{[}<|plamo:constrain|>json{]}<|plamo:msg|>",
        "<|plamo:end_tool_arguments:plamo|>{ws}<|plamo:end_tool_request:plamo|>",
    )],
    drops: &["<|plamo:end_tool_requests:plamo|>", "<|plamo:tag|>"],
    ..Dialect::EMPTY
};
