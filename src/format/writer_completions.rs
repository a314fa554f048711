//! Writer's text generation: the records of a stream. Nothing marks the last.
//!
//! Source: Writer, "Text generation".

use crate::format::format::Format;
use crate::format::support::text_rows::{End, Shape, Simple};

pub(super) static FORMAT: Format = Format {
    aliases: &["writer"],
    about: "Writer's text generation, stream",
    link: "https://dev.writer.com/api-reference/completion-api/text-generation",
    evidence: &["value"],
    sniff: |record| record.is_only("value") && record.text("value").is_some(),
    ..Format::new("writer-completions", || {
        Simple::boxed(Shape { text: "value", end: End::OfInput, ..Shape::of(&FORMAT) })
    })
};
