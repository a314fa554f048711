//! Formats as rows, in the language of [`spec`](crate::format::spec): one TOML file each, which the
//! build writes as a static (`.cargo/rows.rs`), and which has all that a user's own has.

use crate::format::format::Format;
use crate::format::{ai_sdk_ui, bedrock_converse, cohere, gemini_interactions, ollama};

/// What the build has written: a `Row` for each file, named after it.
#[allow(clippy::needless_update)]
mod written {
    use std::sync::OnceLock;

    use crate::event::{FinishReason, WarningCode};
    use crate::format::machine::RowTables;
    use crate::format::repeatable::Repeatable;
    use crate::format::spec::{
        Begin, BlockSpec, CallSpec, Cumulative, DetectSpec, DoneSpec, End, FailureSpec, Group,
        Hook, LogSpec, ResultSpec, Row, Rule, Spec, StartSpec, Total, WarnSpec, Weak, WrapSpec,
    };
    use crate::format::support::action;
    use crate::format::support::usage::{Field, Op};

    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

/// Declares the format of each row, and what code has to say of it.
macro_rules! formats {
    ($($NAME:ident $({ $($field:ident: $value:expr),* })?,)*) => {$(
        pub(in crate::format) static $NAME: Format =
            Format { $($($field: $value,)*)? ..Format::of(written::$NAME) };
    )*};
}

formats! {
    AG_UI,
    AI21_J2,
    AI_SDK_DATA { sniff: |record| record.framing.is_coded() },
    AI_SDK_UI { write: Some(&ai_sdk_ui::write::WRITING) },
    ANTHROPIC_COMPLETIONS,
    ANTIGRAVITY,
    BATCH,
    BEDROCK_CONVERSE { request: Some(&bedrock_converse::turn::REQUEST) },
    BEDROCK_LLAMA,
    BEDROCK_MISTRAL,
    // Others have events of these names in other framings.
    BEDROCK_RAG { sniff: |record| record.has_headers || record.event_type.is_empty() },
    BEDROCK_TITAN,
    CLINE,
    CLINE_SESSION,
    CODEX,
    CODEX_ROLLOUT,
    CODY,
    COHERE { request: Some(&cohere::turn::REQUEST) },
    COHERE_V1,
    COPILOT_CLI,
    CURSOR,
    CURSOR_TRANSCRIPT,
    DASHSCOPE,
    DROID,
    DROID_SESSION,
    GEMINI_CLI,
    GEMINI_CLI_SESSION,
    GEMINI_INTERACTIONS { request: Some(&gemini_interactions::turn::REQUEST) },
    GEMINI_LIVE,
    GOOSE,
    GOOSE_SESSION,
    GROK,
    GROK_STREAM,
    HERMES,
    KIMI,
    LLAMA_COMPLETION,
    LLM_LOGS,
    MISTRAL_CONVERSATIONS,
    OLLAMA_CHAT {
        request: Some(&ollama::turn::REQUEST),
        write: Some(&ollama::write::WRITING)
    },
    OLLAMA_GENERATE,
    OPENAI_ASSISTANTS,
    OPENAI_COMPLETIONS,
    OPENAI_REALTIME,
    OPENCODE,
    OPENCODE_SESSION,
    PI,
    QWEN_CODE,
    REPLICATE,
    TGI,
    WATSONX,
    WORKERS_AI,
    WRITER_COMPLETIONS,
}
