//! The AWS event stream: binary messages with headers and two checksums.
//!
//! Source: Smithy specification, "Amazon Event Stream". A message is a prelude
//! (its length, that of its headers, and a checksum of these two), headers, a
//! payload, and a checksum of all that. A message is handed on once both
//! checksums are right, and nothing in it is believed before. A wrong one ends
//! the stream, as the specification says: where the next message begins is
//! known from the lengths alone, so what follows is counted and not read.

use std::io;

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{
    Content, Fault, FaultKind, Frame, FrameConfig, FrameOut, Framed, Framer, Framing, Holds, Sniff,
};
use crate::frame::header::{self, Defect, Header};

pub(super) static FRAMING: Framing = Framing {
    name: "eventstream",
    about: "binary messages of an AWS event stream",
    content: Content::Binary,
    ends_with_done: false,
    holds: Holds::Stream,
    sniff,
    framer: |config| Box::new(EventStream { config, ..EventStream::default() }),
    media_type: "application/vnd.amazon.eventstream",
    idle: "",
    add: Some(|stream, name, data| {
        let headers = [
            (":exception-type", name),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ];
        add_message(stream, &headers, data.as_bytes());
    }),
};

/// Adds a message whose headers are text. Their names and values, and the payload, are short.
fn add_message(stream: &mut Vec<u8>, headers: &[(&str, &str)], payload: &[u8]) {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.push(TEXT);
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let mut message = Vec::new();
    let total = length(&block) + length(payload) + SHORTEST as u32;
    message.extend_from_slice(&total.to_be_bytes());
    message.extend_from_slice(&length(&block).to_be_bytes());
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    message.extend_from_slice(&block);
    message.extend_from_slice(payload);
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    stream.extend_from_slice(&message);
}

/// The bytes of a prelude, and of the shortest message.
const PRELUDE: usize = 12;
const SHORTEST: usize = 16;
/// The type of a header whose value is text.
const TEXT: u8 = 7;
/// The longest block of headers that is read, in bytes. Services allow an
/// eighth of it.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Yes, once a prelude's checksum is right, which no other input's is. Until
/// then, what begins with a length below 150 MB is one: no text does.
fn sniff(head: &[u8]) -> Sniff {
    match (head.first(), head.first_chunk()) {
        (None, _) => Sniff::More,
        (Some(0..=8), None) => Sniff::Likely,
        (Some(0..=8), Some(prelude)) => Prelude::new(prelude).has_right_checksum().into(),
        _ => Sniff::No,
    }
}

/// The beginning of a message.
#[derive(Clone, Copy, Debug)]
struct Prelude {
    /// The length of the message.
    total: usize,
    /// The length of its headers.
    headers: usize,
    declared: u32,
    actual: u32,
}

impl Prelude {
    fn new(bytes: &[u8; PRELUDE]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Prelude {
            total: u32::from_be_bytes([a, b, c, d]) as usize,
            headers: u32::from_be_bytes([e, f, g, h]) as usize,
            declared: u32::from_be_bytes([i, j, k, l]),
            actual: crc32fast::hash(&[a, b, c, d, e, f, g, h]),
        }
    }

    fn has_right_checksum(&self) -> bool {
        self.declared == self.actual
    }

    /// Fails if the prelude is not that of a message that can be read.
    fn check(&self, config: &FrameConfig, offset: u64) -> Result<(), Fault<'static>> {
        let Prelude { total, headers, declared, actual } = *self;
        let room = total.saturating_sub(SHORTEST);
        let message = if declared != actual {
            format!(
                "the checksum of a message's prelude is {declared:08x}, but its bytes give {actual:08x}"
            )
        } else if total < SHORTEST {
            format!(
                "a message gives its length as {total} bytes, and none is shorter than {SHORTEST}"
            )
        } else if headers > room {
            format!(
                "a message gives the length of its headers as {headers} bytes, and has room for {room}"
            )
        } else if config.is_over(total) {
            return Err(config.limit_fault(offset));
        } else if headers > MAX_HEADER_BYTES {
            return Err(Fault::new(
                FaultKind::Limit,
                format!("a message has more than {MAX_HEADER_BYTES} bytes of headers"),
                offset,
            ));
        } else {
            return Ok(());
        };
        Err(Fault::new(FaultKind::Broken, message, offset))
    }
}

#[derive(Debug, Default)]
struct EventStream {
    config: FrameConfig,
    /// The buffered beginning of a message: never more than has come, whatever
    /// length it gives.
    held: Vec<u8>,
    /// The length of that message, once its prelude has been checked.
    length: Option<usize>,
    /// The offset of the message.
    offset: u64,
    /// The number of bytes that have come.
    fed: u64,
    /// True after a message that breaks the specification: no more is read.
    is_broken: bool,
}

impl EventStream {
    /// Takes the bytes of one message, or as many as there are. Returns how many.
    fn take(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<usize> {
        if let Some(prelude) = bytes.first_chunk().filter(|_| self.held.is_empty()) {
            let prelude = Prelude::new(prelude);
            if let Err(fault) = prelude.check(&self.config, self.offset) {
                return self.fail(fault, out).map(|()| bytes.len());
            }
            self.length = Some(prelude.total);
            if let Some(message) = bytes.get(..prelude.total) {
                return self.message(message, out).map(|()| prelude.total);
            }
        }
        let wanted = self.length.unwrap_or(PRELUDE);
        let (part, _) = bytes.split_at(bytes.len().min(wanted - self.held.len()));
        self.held.extend_from_slice(part);
        if self.held.len() < wanted {
            return Ok(part.len());
        }
        if self.length.is_some() {
            let message = std::mem::take(&mut self.held);
            self.message(&message, out)?;
        } else if let Some(prelude) = self.held.first_chunk().map(Prelude::new) {
            match prelude.check(&self.config, self.offset) {
                Ok(()) => self.length = Some(prelude.total),
                Err(fault) => self.fail(fault, out)?,
            }
        }
        Ok(part.len())
    }

    /// Hands on a message that has come as a whole, if it is as it should be.
    fn message(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        self.length = None;
        match split(bytes, self.offset) {
            Ok((headers, data)) => {
                let frame = Frame {
                    event_type: name(&headers),
                    headers: &headers,
                    ..Frame::new(&FRAMING, data, self.offset)
                };
                self.offset += bytes.len() as u64;
                out(Framed::Frame(frame))
            }
            Err(fault) => self.fail(fault, out),
        }
    }

    fn fail(&mut self, fault: Fault<'_>, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.is_broken = true;
        self.held = Vec::new();
        out(Framed::Fault(fault))
    }
}

/// The headers and the payload of a message whose prelude has been checked.
fn split(message: &[u8], offset: u64) -> Result<(Vec<Header<'_>>, &[u8]), Fault<'static>> {
    let parts = message.split_last_chunk().zip(message.first_chunk());
    let Some(((covered, checksum), prelude)) = parts else {
        return Err(Fault::new(FaultKind::Broken, "a message is too short", offset));
    };
    let (declared, actual) = (u32::from_be_bytes(*checksum), crc32fast::hash(covered));
    if declared != actual {
        let message =
            format!("the checksum of a message is {declared:08x}, but its bytes give {actual:08x}");
        return Err(Fault::new(FaultKind::Broken, message, offset));
    }
    let body = covered.after(PRELUDE);
    let headers = Prelude::new(prelude).headers;
    let (block, payload) = (body.before(headers), body.after(headers));
    match header::read(block) {
        Ok(headers) => Ok((headers, payload)),
        Err(Defect::Malformed(message)) => Err(Fault::new(FaultKind::Broken, message, offset)),
        Err(Defect::TooMany(message)) => Err(Fault::new(FaultKind::Limit, message, offset)),
    }
}

/// Returns the type of the event, exception or error that a message is.
fn name<'h>(headers: &'h [Header<'_>]) -> &'h str {
    [":event-type", ":exception-type", ":error-code"]
        .into_iter()
        .find_map(|name| header::text(headers, name))
        .unwrap_or_default()
}

impl Framer for EventStream {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let taken = if self.is_broken { bytes.len() } else { self.take(bytes, out)? };
        self.fed += taken as u64;
        Ok(bytes.after(taken))
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let offset = self.offset;
        if self.is_broken {
            let message = format!("{} bytes, from the damage on, were not read", self.fed - offset);
            return out(Framed::Fault(Fault::note(WarningCode::Unread, message, offset)));
        }
        if self.held.is_empty() {
            return Ok(());
        }
        let (wanted, part) =
            (self.length.unwrap_or(PRELUDE), self.length.map_or("the prelude of ", |_| ""));
        let missing = wanted - self.held.len();
        let message = format!(
            "the input ended inside {part}a message: {missing} of {wanted} bytes are missing"
        );
        out(Framed::Fault(Fault::new(FaultKind::Truncated, message, offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::framer::tests::check;

    /// A message with right checksums, whatever its lengths.
    fn message(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let total = (SHORTEST + headers.len() + payload.len()) as u32;
        sealed(total, headers.len() as u32, &[headers, payload].concat())
    }

    fn sealed(total: u32, headers: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = [total.to_be_bytes(), headers.to_be_bytes()].concat();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    const EVENT: &[u8] = b"\x0B:event-type\x07\x00\x05chunk\x0D:message-type\x07\x00\x05event";

    /// Checks the faults of these bytes, fed in pieces of several sizes.
    #[track_caller]
    fn faults(input: &[u8], config: FrameConfig, expected: &[&str]) {
        for size in [1, 2, 5, 12, 13, input.len()] {
            let mut framer = (FRAMING.framer)(config);
            let mut seen = Vec::new();
            let mut out = |framed: Framed<'_>| {
                if let Framed::Fault(fault) = framed {
                    seen.push(format!("{:?}: {}", fault.kind, fault.message));
                }
                Ok(())
            };
            input.chunks(size.max(1)).for_each(|piece| framer.feed(piece, &mut out).unwrap());
            framer.finish(&mut out).unwrap();
            assert_eq!(seen, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn messages_are_handed_on_when_they_are_whole() {
        let input = [message(EVENT, b"{}"), message(b"", b""), message(b"", b"\xFF")].concat();
        check(&FRAMING, false, &input, &["chunk|{}", "|", "|\u{FFFD}"]);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = message(EVENT, br#"{"bytes":"e30="}"#);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let mut framer = (FRAMING.framer)(FrameConfig::default());
            let (mut frames, mut broken) = (0, 0);
            let mut out = |framed: Framed<'_>| {
                match framed {
                    Framed::Frame(_) => frames += 1,
                    Framed::Fault(fault) => broken += usize::from(fault.kind == FaultKind::Broken),
                    other => panic!("{other:?}"),
                }
                Ok(())
            };
            framer.feed(&bad, &mut out).unwrap();
            framer.feed(&good, &mut out).unwrap();
            framer.finish(&mut out).unwrap();
            assert_eq!((frames, broken), (0, 1), "bit {bit}");
        }
    }

    #[test]
    fn a_prelude_is_checked_before_anything_is_held() {
        let mut bad = sealed(u32::MAX, 0, b"");
        bad[8] ^= 1;
        let mut framer = EventStream::default();
        framer.feed(&bad[..PRELUDE], &mut |_: Framed<'_>| Ok(())).unwrap();
        assert!(framer.is_broken && framer.held.capacity() == 0);
        let mut framer = EventStream {
            config: FrameConfig { max_event: 0, ..FrameConfig::default() },
            ..framer
        };
        framer.is_broken = false;
        framer.feed(&sealed(u32::MAX, 0, b"")[..PRELUDE], &mut |_: Framed<'_>| Ok(())).unwrap();
        assert!(!framer.is_broken && framer.held.capacity() < 64, "{framer:?}");
    }

    #[test]
    fn lengths_that_cannot_be_are_told_apart() {
        let fault = |input: &[u8], expected: &str| {
            let unread =
                format!("Note(Unread): {} bytes, from the damage on, were not read", input.len());
            faults(input, FrameConfig::default(), &[expected, &unread]);
        };
        fault(
            &sealed(15, 0, b""),
            "Broken: a message gives its length as 15 bytes, and none is shorter than 16",
        );
        fault(
            &sealed(20, 5, b"abcd"),
            "Broken: a message gives the length of its headers as 5 bytes, and has room for 4",
        );
        fault(&sealed(u32::MAX, 0, b""), "Limit: one event is larger than --max-event 268435456");
        fault(
            &sealed((2 << 20) + 16, 2 << 20, b""),
            "Limit: a message has more than 1048576 bytes of headers",
        );
        let most = sealed((1 << 20) + 16, 1 << 20, b"");
        let prelude = Prelude::new(most.first_chunk().unwrap());
        assert!(prelude.check(&FrameConfig::default(), 0).is_ok());
        fault(&message(b"\x01a\x0A", b""), "Broken: the header \"a\" is of the unknown type 10");
        fault(
            &message(b"\x01a\x07\0\x04hi", b"payload"),
            "Broken: the header \"a\" runs past the end of the headers",
        );
    }

    #[test]
    fn the_checksum_of_the_prelude_tells() {
        assert_eq!(sniff(&message(EVENT, b"{}")), Sniff::Yes);
        assert_eq!(sniff(b""), Sniff::More);
        assert_eq!(sniff(b"\0\0\0"), Sniff::Likely);
        assert_eq!(sniff(&[0; 64]), Sniff::No);
        assert_eq!(sniff(b"data"), Sniff::No);
    }
}
