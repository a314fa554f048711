//! The event that looks like the last one, whatever its data.

use memchr::memchr2;

/// What stands around the data of an event that has one line of it, and perhaps
/// a name. In one stream, nearly all are alike.
#[derive(Default)]
pub(super) struct Block {
    /// The bytes before the data; none if the last event was of another kind.
    pub(super) head: Vec<u8>,
    pub(super) tail: &'static [u8],
    pub(super) event_type: String,
}

impl Block {
    /// Notes what stands around this data in these bytes.
    pub(super) fn note(&mut self, bytes: &[u8], data: &[u8], event_type: &str) {
        let tails: [&'static [u8]; 2] = [b"\r\n\r\n", b"\n\n"];
        let tail = tails.into_iter().find(|tail| bytes.ends_with(tail)).unwrap_or_default();
        let length = bytes.len().saturating_sub(data.len() + tail.len());
        let head = bytes.get(..length).unwrap_or_default();
        let name = head.strip_suffix(b"data: ").filter(|_| !tail.is_empty());
        let is_name = |name: &[u8]| {
            let line = name.strip_suffix(b"\r").unwrap_or(name);
            line.starts_with(b"event:") && memchr2(b'\n', b'\r', line).is_none()
        };
        let is_plain =
            |name: &[u8]| name.is_empty() || name.strip_suffix(b"\n").is_some_and(is_name);
        self.head.clear();
        if name.is_some_and(is_plain) {
            self.head.extend_from_slice(head);
            self.tail = tail;
            event_type.clone_into(&mut self.event_type);
        }
    }
}
