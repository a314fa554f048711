//! Llama, and the forms that grew around it: bare JSON, Python's syntax, and
//! Functionary's recipients.

use crate::dialect::spec::{Body, Call, Dialect, Envelope, Results};

const MANY: Body = Body::Json(Envelope { many: true, ..Envelope::NEW });

/// A bare object is a call only if it begins as one: any answer may be JSON.
pub(crate) static JSON: Dialect = Dialect {
    name: "llama3_json",
    aliases: &["llama3", "llama", "llama4_json"],
    models: &["Llama 3.1 to 3.3", "Llama 4 with its JSON template"],
    auto: true,
    calls: &[
        Call { body: MANY, ..Call::json("<|python_tag|>", "") },
        Call {
            body: MANY,
            next: &["{{}{ws}\"name\"{ws}:", "{{}{ws}\"type\"{ws}:{ws}\"function\""],
            ..Call::json("{start}{ws}", "")
        },
    ],
    drops: &["<|eom_id|>", "<|eot_id|>"],
    results: Results::of("{output}"),
    ..Dialect::EMPTY
};

const BARE: Call = Call { next: &["[{ws}{_}("], ..Call::python("{start}{ws}", "") };

pub(crate) static PYTHONIC: Dialect = Dialect {
    name: "pythonic",
    models: &["Llama 3.2", "ToolACE"],
    auto: true,
    calls: &[Call::python("<|python_start|>", "<|python_end|>"), BARE],
    results: Results::of("{output}"),
    ..Dialect::EMPTY
};

pub(crate) static LLAMA4: Dialect = Dialect {
    name: "llama4_pythonic",
    models: &["Llama 4"],
    calls: &[Call::python("<|python_start|>", "<|python_end|>"), BARE],
    drops: &["<|python_end|>", "<|eom|>", "<|eot|>"],
    results: Results::of("{output}"),
    ..Dialect::EMPTY
};

pub(crate) static BUILTIN: Dialect = Dialect {
    name: "llama31_builtin",
    models: &["Llama 3.1 with its built-in tools"],
    auto: true,
    calls: &[
        // Tools that are not built in are called as in the dialect above.
        Call { body: MANY, ..Call::json("<|python_tag|>", "") },
        Call { next: &["{start}{_}.call("], ..Call::python("<|python_tag|>", "") },
        Call::raw("<|python_tag|>", "<|eom_id|>", "code_interpreter", "code"),
    ],
    drops: &["<|eom_id|>", "<|eot_id|>"],
    results: Results::of("{output}"),
    ..Dialect::EMPTY
};

pub(crate) static FUNCTION_EQ: Dialect = Dialect {
    name: "function_eq_json",
    aliases: &["functionary_v31"],
    models: &["Functionary 3.1", "Llama 3.1 with custom functions"],
    auto: true,
    calls: &[Call { narrated: true, ..Call::arguments("<function={name}>", "</function>") }],
    drops: &["<|eom_id|>"],
    ..Dialect::EMPTY
};

/// The first recipient stands bare: its marker was in the prompt.
pub(crate) static FUNCTIONARY_V32: Dialect = Dialect {
    name: "functionary_v32",
    models: &["Functionary 3.2"],
    calls: &[Call::arguments("{start}{name}\n", ""), Call::arguments(">>>{name}\n", "")],
    drops: &["{start}all\n", ">>>all\n"],
    ..Dialect::EMPTY
};

pub(crate) static FUNCTIONARY_V2: Dialect = Dialect {
    name: "functionary_v2",
    models: &["Functionary 2"],
    calls: &[
        Call::arguments("{start}{name}\n<|content|>", ""),
        Call::arguments("{nl}<|from|>assistant\n<|recipient|>{name}\n<|content|>", ""),
    ],
    drops: &[
        "{start}all\n<|content|>",
        "{nl}<|from|>assistant\n<|recipient|>all\n<|content|>",
        "<|stop|>",
    ],
    ..Dialect::EMPTY
};
