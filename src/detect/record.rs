//! The record that shows a format.

use memchr::{memchr, memmem};

use crate::cut::Cut as _;
use crate::format::format::Record;
use crate::frame::{Frame, NDJSON};
use crate::json;

/// Hands over the record that shows a frame's format. Where rubbish or another record follows it, or
/// it is not UTF-8, it is what a decoder reads.
pub(super) fn see_record<R>(frame: &Frame<'_>, then: impl FnOnce(&Record<'_>) -> R) -> R {
    let record = Record::new(frame);
    if record.is_object() {
        return then(&record);
    }
    let text = frame.text();
    match json::records(text.as_bytes()).next() {
        Some(first) => then(&Record::new(&frame.part(first))),
        None => then(&record),
    }
}

/// Returns what is found in the record that stands in a line after something else, if one does: after
/// its last `data:`, or from the first brace on.
pub(super) fn inside<R>(line: &[u8], find: impl FnOnce(&Record<'_>) -> Option<R>) -> Option<R> {
    let field = memmem::rfind(line, b"data:").map(|at| line.after(at + b"data:".len()));
    let is_object = |text: &&[u8]| text.starts_with(b"{");
    let record = field.map(<[u8]>::trim_ascii).filter(is_object);
    let record = record.or_else(|| Some(line.after(memchr(b'{', line)?)))?;
    see_record(&Frame::new(NDJSON, record, 0), find)
}
