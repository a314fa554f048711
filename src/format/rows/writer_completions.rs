//! Writer's text generation: the records of a stream. Nothing marks the last.
//!
//! Source: Writer, "Text generation".

use crate::format::rows::prelude::*;

pub(in crate::format) static FORMAT: Format =
    Format { sniff: |record| record.is_only("value"), ..Format::of(&SPEC) };

static SPEC: Spec = Spec {
    name: "writer-completions",
    aliases: &["writer"],
    about: "Writer's text generation, stream",
    link: "https://dev.writer.com/api-reference/completion-api/text-generation",
    evidence: &["value"],
    kind: &["type|event:"],
    done: Some(Done { warn: None, missing: None }),
    on: &[Rule { has: &["value"], needs: &["value\"\""], text: "value", stop: true, ..Rule::NEW }],
    ..Spec::NEW
};
