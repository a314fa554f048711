//! The framer that detects how its input is framed, after the heads that
//! `curl -i` prints.

use std::borrow::Cow;
use std::io;

use crate::detect::reject::Rejected;
use crate::detect::{WINDOW, banner, reject};
use crate::frame::http;
use crate::frame::http::{Dechunker, Found};
use crate::frame::{
    Envelope, FRAMINGS, Fault, FaultKind, Frame, FrameConfig, FrameOut, FrameResult, Framer,
    Framing, NDJSON, Sniff, is_begun_mark, skip_blank,
};

/// The most times that a byte of the head is read.
const LOOKS: usize = 256;

/// A framer of any framing.
pub struct AutoFramer {
    wanted: Option<&'static Framing>,
    config: FrameConfig,
    /// The buffered input, while its framing is not known.
    head: Vec<u8>,
    state: State,
    /// The length of the heads before the body, in bytes.
    base: u64,
    /// True if the body may be chunked: the last head announces that.
    maybe_chunked: bool,
    dechunker: Option<Dechunker>,
    /// The number of bytes that were looked at in order to decide, each as often as it was.
    looked: usize,
}

enum State {
    /// Before the body: heads may come.
    Head,
    /// In the body, of unknown framing.
    Body,
    Chosen(Box<dyn Framer>),
    Rejected,
}

impl AutoFramer {
    /// Returns a framer that detects the framing, or takes the one that is wanted.
    pub fn new(wanted: Option<&'static Framing>, config: FrameConfig) -> Self {
        let state = match wanted {
            Some(framing) if framing.is_text() => State::Chosen((framing.framer)(config)),
            _ => State::Head,
        };
        AutoFramer {
            wanted,
            config,
            head: Vec::new(),
            state,
            base: 0,
            maybe_chunked: false,
            dechunker: None,
            looked: 0,
        }
    }

    /// Decides what can be decided. At the end of the input, or of the window,
    /// nothing more is waited for.
    fn decide(&mut self, ended: bool, out: &mut FrameOut<'_>) -> io::Result<()> {
        let ended = ended || self.head.len() >= WINDOW;
        if matches!(self.state, State::Head) && !self.pass_heads(ended, out)? {
            return Ok(());
        }
        if !matches!(self.state, State::Body) || self.head.is_empty() {
            return Ok(());
        }
        if !ended && is_begun_mark(&self.head) {
            return Ok(());
        }
        let framing = match self.choose(ended) {
            Some(Ok(framing)) => framing,
            Some(Err(rejected)) => return self.reject(rejected, out),
            None => return Ok(()),
        };
        self.state = State::Chosen((framing.framer)(self.config));
        Ok(())
    }

    /// Returns the framing that is wanted, or the one that was detected, or why
    /// there is none; nothing while more bytes are needed to decide. No byte after
    /// the window counts: it may not have come yet.
    fn choose(&self, ended: bool) -> Option<Result<&'static Framing, Rejected>> {
        let head = self.head.get(..WINDOW).unwrap_or(&self.head);
        let Some(wanted) = self.wanted else { return detect(head, ended) };
        let found = first(head, ended);
        match ((wanted.sniff)(head), found) {
            (Sniff::No, None) | (Sniff::More | Sniff::Likely, _) if !ended => None,
            (Sniff::No, Some(found)) if !found.is_text() => {
                let message = format!(
                    "--framing {} was asked for, but the input looks like {}",
                    wanted.name, found.name
                );
                Some(Err(Rejected { kind: FaultKind::Unrecognised, message }))
            }
            _ => Some(Ok(wanted)),
        }
    }

    /// Removes heads from the input; true if the body has begun.
    fn pass_heads(&mut self, ended: bool, out: &mut FrameOut<'_>) -> io::Result<bool> {
        match http::find_head(&self.head, ended) {
            Found::More if !ended => return Ok(false),
            Found::More => {
                self.state = State::Rejected;
                let message = "the input ended inside an HTTP head".into();
                let (kind, raw) = (FaultKind::Truncated, self.head.as_slice());
                out(Err(Fault { kind, message, offset: 0, raw }))?;
                return Ok(false);
            }
            Found::No => {}
            Found::Yes(head) => {
                self.head.drain(..head.len);
                self.base += head.len as u64;
                self.maybe_chunked = head.is_chunked;
                if head.status >= 400 {
                    self.status(head.status, out)?;
                }
            }
        }
        if self.maybe_chunked {
            match http::is_chunk_size(&self.head) {
                None if !ended => return Ok(false),
                Some(true) => {
                    let mut dechunker = Dechunker::default();
                    self.head = dechunker.feed(&self.head);
                    self.dechunker = Some(dechunker);
                }
                _ => {}
            }
            self.maybe_chunked = false;
        }
        self.state = State::Body;
        Ok(true)
    }

    fn status(&self, status: u16, out: &mut FrameOut<'_>) -> io::Result<()> {
        let message = format!("HTTP status {status}");
        out(Err(Fault { kind: FaultKind::Status(status), message, offset: 0, raw: &[] }))
    }

    fn reject(&mut self, rejected: Rejected, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.state = State::Rejected;
        let offset = self.base;
        let Rejected { kind, message } = rejected;
        let raw = if kind == FaultKind::Gateway { self.head.trim_ascii() } else { &[] };
        out(Err(Fault { kind, message, offset, raw }))
    }

    /// Takes the next bytes of the input, and returns those of the body that can
    /// be framed: none until its framing is known.
    pub fn body<'b>(
        &mut self,
        bytes: &'b [u8],
        out: &mut FrameOut<'_>,
    ) -> io::Result<Cow<'b, [u8]>> {
        let body = match &mut self.dechunker {
            Some(dechunker) => Cow::Owned(dechunker.feed(bytes)),
            None => Cow::Borrowed(bytes),
        };
        match self.state {
            State::Chosen(_) => return Ok(body),
            State::Rejected => return Ok(Cow::Borrowed(&[])),
            State::Head | State::Body => self.head.extend_from_slice(&body),
        }
        if self.may_look() {
            self.decide(false, out)?;
        }
        Ok(Cow::Owned(self.decided()))
    }

    /// True if the head is to be looked at again. All of it is, so that many
    /// small reads would take the square of its length: it's looked at only as
    /// often as that stays linear.
    fn may_look(&mut self) -> bool {
        let length = self.head.len();
        let may_look = length >= WINDOW || self.looked <= LOOKS * length;
        self.looked += if may_look { length } else { 0 };
        may_look
    }

    /// Returns the beginning of the body, once its framing is known.
    fn decided(&mut self) -> Vec<u8> {
        match self.state {
            State::Chosen(_) => std::mem::take(&mut self.head),
            _ => Vec::new(),
        }
    }

    /// Takes bytes of the body up to the end of the next frame, or all of them,
    /// and returns the rest. Fails only if `out` does.
    pub fn step<'b>(&mut self, body: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let base = self.base;
        match &mut self.state {
            State::Chosen(framer) => framer.step(body, &mut |frame| out(shifted(frame, base))),
            _ => Ok(&[]),
        }
    }

    /// Takes the next bytes of the input. Fails only if `out` does.
    pub fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let body = self.body(bytes, out)?;
        self.feed_body(&body, out)
    }

    fn feed_body(&mut self, body: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut rest = body;
        while !rest.is_empty() {
            rest = self.step(rest, out)?;
        }
        Ok(())
    }

    /// The input has ended: emits what was held back, or a fault that names what
    /// is missing.
    pub fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        if matches!(self.state, State::Head) {
            self.pass_heads(true, out)?;
        }
        let is_open = matches!(self.state, State::Body);
        if is_open && (skip_blank(&self.head).is_empty() || is_begun_mark(&self.head)) {
            return Ok(());
        }
        self.decide(true, out)?;
        let body = self.decided();
        self.feed_body(&body, out)?;
        let base = self.base;
        match &mut self.state {
            State::Chosen(framer) => framer.finish(&mut |frame| out(shifted(frame, base))),
            _ => Ok(()),
        }
    }

    /// Returns what surrounded the data of the last frame: see
    /// [`Framer::envelope`].
    pub fn envelope(&self) -> Option<Envelope<'_>> {
        match &self.state {
            State::Chosen(framer) => framer.envelope(),
            _ => None,
        }
    }

    /// Counts bytes of the body that are not framed: see [`Framer::skip`].
    pub fn skip(&mut self, bytes: usize) {
        if let State::Chosen(framer) = &mut self.state {
            framer.skip(bytes);
        }
    }
}

/// Moves a position in the body to that in the input.
fn shifted(frame: FrameResult<'_>, base: u64) -> FrameResult<'_> {
    match frame {
        Ok(frame) => Ok(Frame { offset: frame.offset + base, ..frame }),
        Err(fault) => Err(Fault { offset: fault.offset + base, ..fault }),
    }
}

/// Detects the framing of an input that begins with these bytes. One that only plain text fits may
/// be no stream, or the log of an agent after other lines.
fn detect(head: &[u8], ended: bool) -> Option<Result<&'static Framing, Rejected>> {
    let found = first(head, ended)?;
    if !found.is_text() {
        return Some(Ok(found));
    }
    match reject::find(head, ended) {
        Some(Ok(rejected)) => Some(Err(rejected)),
        Some(Err(())) => None,
        None => {
            let is_log = banner::is_before_log(head, ended)?;
            Some(Ok(if is_log { NDJSON } else { found }))
        }
    }
}

/// Returns the first row that returns yes, once all rows above it return no.
fn first(head: &[u8], ended: bool) -> Option<&'static Framing> {
    for framing in FRAMINGS {
        match (framing.sniff)(head) {
            Sniff::Yes => return Some(framing),
            Sniff::Likely if ended => return Some(framing),
            Sniff::More | Sniff::Likely if !ended => return None,
            _ => {}
        }
    }
    None
}

/// Returns the offsets at which the frames of an input begin.
#[cfg(feature = "cli")]
pub(crate) fn offsets(
    framing: Option<&'static Framing>,
    config: FrameConfig,
    input: &[u8],
) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut see = |frame: FrameResult<'_>| {
        offsets.extend(frame.ok().and_then(|frame| usize::try_from(frame.offset).ok()));
        Ok(())
    };
    let mut framer = AutoFramer::new(framing, config);
    // The closure never fails, and a framer only fails if it does.
    let fed = framer.feed(input, &mut see);
    let _ = fed.and_then(|()| framer.finish(&mut see));
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_looked_at_in_linear_time() {
        let mut framer = AutoFramer::new(None, FrameConfig::default());
        for length in 1..WINDOW {
            framer.feed(b" ", &mut |_| Ok(())).unwrap();
            assert!(matches!(framer.state, State::Head | State::Body), "{length} spaces decide");
            assert!(framer.looked <= (LOOKS + 1) * length, "{} of {length}", framer.looked);
        }
    }
}
