//! Detects an event stream.

use memchr::memchr2;

use crate::frame::framer::{BYTE_ORDER_MARK, DONE, Sniff, is_begun_mark};

pub(super) const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];

/// Says yes once a line can be nothing but a field of an event stream. Prose may
/// begin with `data` or a colon: then the next line decides. A second byte
/// order mark spoils the name of the first field, not the stream.
pub(super) fn sniff(head: &[u8]) -> Sniff {
    let mut rest = head;
    while let Some(after) = rest.strip_prefix(BYTE_ORDER_MARK) {
        rest = after;
    }
    if is_begun_mark(rest) {
        return Sniff::More;
    }
    let mut fields = 0;
    while let Some(end) = memchr2(b'\n', b'\r', rest) {
        let line = rest.get(..end).unwrap_or_default();
        match sniff_line(line, true) {
            // A blank line after a field ends an event.
            Sniff::More if line.is_empty() && fields > 0 => return Sniff::Yes,
            Sniff::More => fields += usize::from(!line.is_empty()),
            verdict => return verdict,
        }
        if fields > 1 {
            return Sniff::Yes;
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    match sniff_line(rest, false) {
        Sniff::More if fields > 0 => Sniff::Likely,
        verdict => verdict,
    }
}

fn sniff_line(line: &[u8], is_whole: bool) -> Sniff {
    let Some(colon) = memchr::memchr(b':', line) else {
        let may_grow = !is_whole && FIELDS.iter().any(|field| field.starts_with(line));
        return if may_grow || line.is_empty() { Sniff::More } else { Sniff::No };
    };
    let (name, value) =
        (line.get(..colon).unwrap_or_default(), line.get(colon + 1..).unwrap_or_default());
    if !name.is_empty() && !FIELDS.contains(&name) {
        return Sniff::No;
    }
    match (name, value.trim_ascii_start().first()) {
        (b"data" | b"error", Some(b'{')) => Sniff::Yes,
        (b"data", _) if value.trim_ascii() == DONE && is_whole => Sniff::Yes,
        (b"data", _) if value.trim_ascii() == DONE => Sniff::Likely,
        _ => Sniff::More,
    }
}
