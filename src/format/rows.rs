//! Formats as rows, in the language of [`spec`](crate::format::spec): one TOML file each, which the
//! build writes as a static (`.cargo/rows.rs`), and which has all that a user's own has.

use crate::format::format::Format;
use crate::format::{ai_sdk_ui, bedrock_converse, cohere, gemini_interactions, ollama};

/// What the build has written: a `Row` for each file, and the format of each, named after it.
#[allow(clippy::needless_update, dead_code)]
mod written {
    use std::sync::OnceLock;

    use crate::event::{FinishReason, WarningCode};
    use crate::format::format::Format;
    use crate::format::machine::RowTables;
    use crate::format::repeatable::Repeatable;
    use crate::format::spec::{
        Begin, BlockSpec, CallEnds, CallSpec, Cumulative, DetectSpec, DoneSpec, End, FailureSpec,
        Group, Hook, LogSpec, ResultSpec, Row, Rule, Spec, StartSpec, Total, WarnSpec, Weak,
        WrapSpec,
    };
    use crate::format::support::action;
    use crate::format::support::usage::{Field, Op};

    include!(concat!(env!("OUT_DIR"), "/rows.rs"));
}

pub(in crate::format) use written::*;

/// Declares the formats of which code has more to say, in place of those that the build has written.
macro_rules! formats {
    ($($NAME:ident { $($field:ident: $value:expr),* })*) => {$(
        pub(in crate::format) static $NAME: Format =
            Format { $($field: $value,)* ..Format::of(written::row::$NAME) };
    )*};
}

formats! {
    AI_SDK_DATA { sniff: |record| record.framing.is_coded() }
    AI_SDK_UI { write: Some(&ai_sdk_ui::write::WRITING) }
    BEDROCK_CONVERSE { request: Some(&bedrock_converse::turn::REQUEST) }
    // Others have events of these names in other framings.
    BEDROCK_RAG { sniff: |record| record.has_headers || record.event_type.is_empty() }
    COHERE { request: Some(&cohere::turn::REQUEST) }
    GEMINI_INTERACTIONS { request: Some(&gemini_interactions::turn::REQUEST) }
    OLLAMA_CHAT { request: Some(&ollama::turn::REQUEST), write: Some(&ollama::write::WRITING) }
}
