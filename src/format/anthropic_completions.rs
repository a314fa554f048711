//! Anthropic's Text Completions, the API before Messages: the records of a
//! stream, and bodies.
//!
//! Source: Anthropic, "Create a Text Completion (legacy)".

use crate::format::format::Format;
use crate::format::support::text_rows::{Shape, Simple};

pub(super) static FORMAT: Format = Format {
    aliases: &["anthropic-complete"],
    about: "Anthropic Text Completions, the API before Messages, stream and body",
    link: "https://platform.claude.com/docs/en/api/completions/create",
    evidence: &["completion", "stop_reason"],
    sniff: |record| {
        let is_typed = record.text("type").as_deref() == Some("completion");
        record.has("completion") && (is_typed || record.get("stop_reason").is_some())
    },
    ..Format::new("anthropic-completions", || {
        Simple::boxed(Shape {
            id: "id|log_id",
            model: "model",
            text: "completion",
            finish: "stop_reason",
            stop_sequence: "stop",
            ..Shape::of(&FORMAT)
        })
    })
};
