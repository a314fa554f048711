//! The bytes around the data of the last event.

use memchr::memchr2;

use crate::frame::framer::Envelope;

/// The bytes around the data of an event that has one line of it, and perhaps a
/// name. In one stream they are the same for nearly all events.
#[derive(Default)]
pub(super) struct Last {
    /// The bytes before the data; empty if the last event was of another kind.
    head: Vec<u8>,
    tail: &'static [u8],
    event_type: String,
}

impl Last {
    /// Keeps what surrounds `data` in `event`, the bytes of a whole event.
    pub(super) fn note(&mut self, event: &[u8], data: &[u8], event_type: &str) {
        let tails: [&'static [u8]; 2] = [b"\r\n\r\n", b"\n\n"];
        let tail = tails.into_iter().find(|tail| event.ends_with(tail)).unwrap_or_default();
        let length = event.len().saturating_sub(data.len() + tail.len());
        let head = event.get(..length).unwrap_or_default();
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

    /// Returns what surrounded the data of the last event, if it was of this
    /// kind.
    pub(super) fn envelope(&self) -> Option<Envelope<'_>> {
        let Last { head, tail, event_type } = self;
        (!head.is_empty()).then_some(Envelope { head, event_type, tail })
    }
}
