//! The base64 of an AWS event stream, alone: what recorders and logs keep where they have room for
//! text only. It may stand in lines, and in pieces that are padded each.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::frame::event_stream;
use crate::frame::framer::{
    Content, Fault, FaultKind, FrameConfig, FrameOut, Framed, Framer, Framing, Holds, Sniff,
};

pub(super) static FRAMING: Framing = Framing {
    name: "eventstream-base64",
    about: "the base64 of an AWS event stream",
    content: Content::Binary,
    ends_with_done: false,
    holds: Holds::Stream,
    sniff,
    framer: |config| Box::new(Base64Framer::new(config)),
    media_type: "text/plain",
    idle: "",
    add: None,
};

/// The letters of a prelude.
const PRELUDE: usize = 16;

/// Yes, once the checksum of a prelude in it is right. Until then the letters have to be those of
/// lengths below 16 MB.
fn sniff(head: &[u8]) -> Sniff {
    let mut letters = head.iter().copied().filter(|byte| !is_line_end(*byte)).take(PRELUDE);
    let mut prelude = Vec::with_capacity(PRELUDE);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    if !letters.all(|byte| {
        prelude.push(byte);
        is_letter(byte)
    }) {
        return Sniff::No;
    }
    // The first byte of either length is 0: six bits in a letter each, from bit 0 and from bit 32 on.
    let is_low =
        |at: usize, last: u8| prelude.get(at).is_none_or(|byte| (b'A'..=last).contains(byte));
    if !(is_low(0, b'A') && is_low(1, b'P') && is_low(6, b'A')) {
        return Sniff::No;
    }
    if prelude.len() < PRELUDE {
        return Sniff::More;
    }
    STANDARD.decode(&prelude).map_or(Sniff::No, |bytes| (event_stream::FRAMING.sniff)(&bytes))
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

struct Base64Framer {
    inner: Box<dyn Framer>,
    /// Letters of a group of four that is not whole.
    held: Vec<u8>,
    /// The number of bytes that have come.
    fed: u64,
    is_broken: bool,
}

impl Base64Framer {
    fn new(config: FrameConfig) -> Self {
        let inner = (event_stream::FRAMING.framer)(config);
        Base64Framer { inner, held: Vec::new(), fed: 0, is_broken: false }
    }

    /// Feeds what some groups of letters stand for, the first of which is at this offset.
    fn decode(&mut self, bytes: &[u8], begin: u64, out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut decoded = Vec::with_capacity(bytes.len() / 4 * 3);
        let mut broken = None;
        for (&byte, offset) in bytes.iter().zip(begin..) {
            if is_line_end(byte) {
                continue;
            }
            self.held.push(byte);
            if self.held.len() < 4 {
                continue;
            }
            let is_group = STANDARD.decode_vec(&self.held, &mut decoded).is_ok();
            self.held.clear();
            if !is_group {
                broken = Some(offset);
                break;
            }
        }
        let mut rest = decoded.as_slice();
        while !rest.is_empty() {
            rest = self.inner.step(rest, &mut placed(self.fed, out))?;
        }
        let Some(offset) = broken.map(|offset| self.fed.min(offset)) else { return Ok(()) };
        self.is_broken = true;
        let message = "the base64 of an event stream has other letters in it";
        out(Framed::Fault(Fault::new(FaultKind::Broken, message, offset)))
    }
}

/// Passes what a framer finds on with its place in the letters, as far as no line ends stand before,
/// of which `most` have come.
fn placed<'o>(
    most: u64,
    out: &'o mut FrameOut<'_>,
) -> impl FnMut(Framed<'_>) -> io::Result<()> + 'o {
    move |framed| out(framed.at(|offset| most.min(offset / 3 * 4 + offset % 3)))
}

impl Framer for Base64Framer {
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let begin = self.fed;
        self.fed += bytes.len() as u64;
        if !self.is_broken {
            self.decode(bytes, begin, out)?;
        }
        Ok(&[])
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        if self.is_broken {
            return Ok(());
        }
        if !self.held.is_empty() {
            // It was cut inside a group: what is whole of it is read.
            let mut group = std::mem::take(&mut self.held);
            group.resize(4, b'=');
            self.decode(&group, self.fed, out)?;
        }
        self.inner.finish(&mut placed(self.fed, out))
    }
}
