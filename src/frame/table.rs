//! The table of framings.

use crate::frame::framer::Framing;
use crate::frame::{event_stream, event_stream_base64, json, ndjson, sse, text};

/// Every framing. Detection takes the first row whose `sniff` returns yes, once
/// all rows above it return no.
pub static FRAMINGS: &[&Framing] = &[
    &event_stream::FRAMING,
    &event_stream_base64::FRAMING,
    &sse::FRAMING,
    &ndjson::FRAMING,
    &ndjson::CODED,
    &json::ARRAY,
    &json::FRAMING,
    &text::FRAMING,
];

/// One JSON value a line: the framing of logs.
pub(crate) static NDJSON: &Framing = &ndjson::FRAMING;

/// Returns the framing of this name.
///
/// ```
/// assert_eq!(toolstream::frame::find("sse").map(|row| row.about), Some("server-sent events"));
/// ```
pub fn find(name: &str) -> Option<&'static Framing> {
    FRAMINGS.iter().copied().find(|framing| framing.name == name)
}
