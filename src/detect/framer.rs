//! The framer that detects how its input is framed, after the heads that
//! `curl -i` prints; that of each response, if there are several.

use std::borrow::Cow;
use std::io;

use crate::cut::Cut as _;
use crate::detect::decoder::MOST_UNKNOWN;
use crate::detect::formats::KnownFormats;
use crate::detect::leading::{LeadingLines, Looks, Skipped, first, holds_known};
use crate::detect::reject::Rejected;
use crate::detect::{WINDOW, reject};
use crate::event::WarningCode;
use crate::frame::http::{BodyBegin, BodyPlaces, HttpResponses, ResponsePiece};
use crate::frame::{
    Content, FRAMINGS, Fault, FaultKind, FrameConfig, FrameEnvelope, FrameOut, Framed, Framer,
    Framing, NDJSON, Sniff, is_begun_mark, skip_blank,
};

/// A framer of any framing.
pub struct AutoFramer {
    wanted: Option<&'static Framing>,
    known: KnownFormats,
    /// True if JSON that is in no known format is text.
    is_text_else: bool,
    config: FrameConfig,
    beginning: LeadingLines,
    responses: HttpResponses,
    /// True between the end of a response and what is an input of its own.
    is_next: bool,
    /// The buffered beginning of the body, while its framing is not known.
    head: Vec<u8>,
    state: FramerState,
    /// Where the body is in the input.
    places: BodyPlaces,
    looks: Looks,
}

/// The kind of the flaw of a body that ends before its length.
const SHORT: FaultKind = FaultKind::Note(WarningCode::WrongLength);

enum FramerState {
    /// In a body of unknown framing.
    Body,
    Chosen(&'static Framing, Box<dyn Framer>),
    Rejected,
}

impl FramerState {
    fn chosen(framing: &'static Framing, config: FrameConfig) -> Self {
        FramerState::Chosen(framing, (framing.framer)(config))
    }

    fn is_text(&self) -> bool {
        matches!(self, FramerState::Chosen(framing, _) if framing.is_text())
    }
}

impl AutoFramer {
    /// Returns a framer that detects the framing, or takes the one that is wanted.
    pub fn new(wanted: Option<&'static Framing>, config: FrameConfig) -> Self {
        let text = wanted.filter(|framing| framing.is_text());
        AutoFramer {
            wanted,
            known: KnownFormats::default(),
            is_text_else: false,
            config,
            beginning: LeadingLines::new(wanted.is_none()),
            responses: HttpResponses::new(text.is_none()),
            is_next: false,
            head: Vec::new(),
            state: text.map_or(FramerState::Body, |text| FramerState::chosen(text, config)),
            places: BodyPlaces::new(0),
            looks: Looks::default(),
        }
    }

    /// Returns one that knows these formats.
    #[must_use]
    pub(crate) fn knowing(self, known: KnownFormats) -> Self {
        AutoFramer { known, ..self }
    }

    /// Returns one that takes JSON for plain text where it is in no known format.
    #[must_use]
    pub(crate) fn or_text(self) -> Self {
        AutoFramer { is_text_else: true, ..self }
    }

    /// Decides what can be decided. At the end of the body, or of the window,
    /// nothing more is waited for.
    fn decide(&mut self, ended: bool, out: &mut FrameOut<'_>) -> io::Result<()> {
        let ended = ended || self.head.len() >= WINDOW;
        if !matches!(self.state, FramerState::Body) || self.head.is_empty() {
            return Ok(());
        }
        if !ended && is_begun_mark(&self.head) {
            return Ok(());
        }
        let chosen = match self.choose(ended) {
            Some(chosen) => chosen,
            None => return Ok(()),
        };
        self.next(self.places.input(0), out)?;
        match chosen {
            Ok(framing) => self.state = FramerState::chosen(framing, self.config),
            Err(rejected) => self.reject(rejected, out)?,
        }
        Ok(())
    }

    /// Returns the framing that is wanted, or the one that was detected, or why
    /// there is none; nothing while more bytes are needed to decide. No byte after
    /// the window counts: it may not have come yet.
    fn choose(&self, ended: bool) -> Option<Result<&'static Framing, Rejected>> {
        let head = self.head.before(WINDOW);
        let Some(wanted) = self.wanted else {
            return match detect(head, ended, &self.known)? {
                Ok(found) if self.is_text_else => {
                    Some(Ok(or_text(found, head, ended, &self.known)?))
                }
                found => Some(found),
            };
        };
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

    /// Begins a body: what its head says.
    fn begin(&mut self, begin: &BodyBegin, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.places = BodyPlaces::new(begin.offset);
        self.looks = Looks::default();
        let Some((status, offset)) = begin.head else { return Ok(()) };
        self.next(offset, out)?;
        if status < 400 {
            return Ok(());
        }
        let message = format!("HTTP status {status}");
        out(Framed::Fault(Fault::new(FaultKind::Status(status), message, offset)))
    }

    /// Says that what is at this offset is no part of the input before it, if so.
    fn next(&mut self, offset: u64, out: &mut FrameOut<'_>) -> io::Result<()> {
        if !std::mem::take(&mut self.is_next) {
            return Ok(());
        }
        out(Framed::Next(offset))
    }

    /// Ends a body. What lacks its end because the body does needs no other reason. A note is of the
    /// message that is open.
    fn end(&mut self, flaw: Option<Fault<'_>>, out: &mut FrameOut<'_>) -> io::Result<()> {
        let is_blank = skip_blank(&self.head).is_empty() || is_begun_mark(&self.head);
        let is_empty = matches!(self.state, FramerState::Body) && is_blank;
        if !is_empty {
            self.decide(true, out)?;
        }
        let flaw = match flaw {
            // Plain text has no end of its own that would show it whole.
            Some(note) if note.kind == SHORT && self.state.is_text() => {
                Some(Fault { kind: FaultKind::Truncated, ..note })
            }
            Some(note) if matches!(note.kind, FaultKind::Note(_)) => {
                out(Framed::Fault(note))?;
                None
            }
            flaw => flaw,
        };
        let mut is_cut = false;
        if !is_empty {
            let body = self.decided();
            self.feed_body(&body, out)?;
            if let FramerState::Chosen(_, framer) = &mut self.state {
                framer.finish(&mut |framed| {
                    is_cut |= matches!(&framed, Framed::Fault(fault) if fault.kind == FaultKind::Truncated);
                    self.places.pass(framed, out)
                })?;
            }
        }
        self.head.clear();
        self.state = FramerState::Body;
        self.is_next = true;
        match flaw {
            Some(flaw) if !(is_cut && flaw.kind == FaultKind::Truncated) => {
                out(Framed::Fault(flaw))
            }
            _ => Ok(()),
        }
    }

    fn reject(&mut self, rejected: Rejected, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.state = FramerState::Rejected;
        let offset = self.places.input(0);
        let Rejected { kind, message } = rejected;
        let is_error = matches!(kind, FaultKind::Gateway | FaultKind::Tool(_));
        let raw = if is_error { self.head.trim_ascii() } else { &[] };
        out(Framed::Fault(Fault::new(kind, message, offset).with_raw(raw)))
    }

    /// Takes bytes of the input, and returns those of the stream in it: none while its first lines may
    /// stand before one.
    pub fn input<'b>(
        &mut self,
        bytes: &'b [u8],
        out: &mut FrameOut<'_>,
    ) -> io::Result<Cow<'b, [u8]>> {
        let (input, skipped) = self.beginning.take(bytes, &self.known);
        self.note_skipped(skipped, out)?;
        Ok(input)
    }

    /// Says what stood before the stream, if anything did.
    fn note_skipped(&mut self, skipped: Option<Skipped>, out: &mut FrameOut<'_>) -> io::Result<()> {
        let Some(Skipped { bytes, message, offset }) = skipped else { return Ok(()) };
        self.responses.skip(bytes);
        out(Framed::Fault(Fault::note(WarningCode::LeadingText, message, offset)))
    }

    /// Takes bytes of the input, and returns those of the body that can be framed: none until its
    /// framing is known. Returns the rest of the bytes, too: they are taken after the body's.
    pub fn body<'b>(
        &mut self,
        bytes: &'b [u8],
        out: &mut FrameOut<'_>,
    ) -> io::Result<(Cow<'b, [u8]>, &'b [u8])> {
        let (piece, rest) = self.responses.step(bytes);
        Ok((self.piece(piece, out)?, rest))
    }

    /// Takes a part of the input, as [`Self::body`] does.
    fn piece<'b>(
        &mut self,
        piece: ResponsePiece<'b>,
        out: &mut FrameOut<'_>,
    ) -> io::Result<Cow<'b, [u8]>> {
        match piece {
            ResponsePiece::Body(body, offset) => {
                self.places.add(body.len(), offset);
                match self.state {
                    FramerState::Chosen(..) => return Ok(body),
                    FramerState::Rejected => {}
                    FramerState::Body => {
                        self.head.extend_from_slice(&body);
                        if self.looks.may_look(self.head.len()) {
                            self.decide(false, out)?;
                        }
                    }
                }
            }
            ResponsePiece::Begin(begin) => self.begin(&begin, out)?,
            ResponsePiece::End(flaw) => self.end(flaw, out)?,
            ResponsePiece::Flaw(fault) => {
                if !matches!(fault.kind, FaultKind::Note(_)) {
                    self.next(fault.offset, out)?;
                }
                out(Framed::Fault(fault))?;
            }
            ResponsePiece::None => {}
        }
        Ok(Cow::Owned(self.decided()))
    }

    /// Returns the beginning of the body, once its framing is known.
    fn decided(&mut self) -> Vec<u8> {
        match self.state {
            FramerState::Chosen(..) => std::mem::take(&mut self.head),
            _ => Vec::new(),
        }
    }

    /// Takes bytes of the body up to the end of the next frame, or all of them,
    /// and returns the rest. Fails only if `out` does.
    pub fn step<'b>(&mut self, body: &'b [u8], out: &mut FrameOut<'_>) -> io::Result<&'b [u8]> {
        let AutoFramer { state, places, .. } = self;
        match state {
            FramerState::Chosen(_, framer) => {
                framer.step(body, &mut |frame| places.pass(frame, out))
            }
            _ => Ok(&[]),
        }
    }

    /// Takes the next bytes of the input. Fails only if `out` does.
    #[cfg(feature = "cli")]
    pub fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let input = self.input(bytes, out)?;
        self.feed_input(&input, out)
    }

    fn feed_input(&mut self, input: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let mut rest = input;
        while !rest.is_empty() {
            let (body, after) = self.body(rest, out)?;
            self.feed_body(&body, out)?;
            rest = after;
        }
        Ok(())
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
        let (input, skipped) = self.beginning.end(&self.known);
        self.note_skipped(skipped, out)?;
        self.feed_input(&input, out)?;
        loop {
            let piece = match self.responses.end() {
                ResponsePiece::None => return Ok(()),
                piece => piece,
            };
            let body = self.piece(piece, out)?;
            self.feed_body(&body, out)?;
        }
    }

    /// Returns what surrounded the data of the last frame: see
    /// [`Framer::envelope`].
    pub fn envelope(&self) -> Option<FrameEnvelope<'_>> {
        match &self.state {
            FramerState::Chosen(_, framer) => framer.envelope(),
            _ => None,
        }
    }

    /// Counts bytes of the body that are not framed: see [`Framer::skip`].
    pub fn skip(&mut self, bytes: usize) {
        if let FramerState::Chosen(_, framer) = &mut self.state {
            framer.skip(bytes);
        }
    }
}

/// Detects the framing of an input that begins with these bytes. One that only plain text fits may
/// be no stream.
fn detect(
    head: &[u8],
    ended: bool,
    known: &KnownFormats,
) -> Option<Result<&'static Framing, Rejected>> {
    let found = first(head, ended)?;
    if !found.is_text() {
        return Some(Ok(found));
    }
    match reject::find(head, ended) {
        Some(Ok(rejected)) => Some(Err(rejected)),
        Some(Err(())) => None,
        None if known.of_damaged(skip_blank(head)).is_some() => Some(Ok(NDJSON)),
        None => Some(Ok(found)),
    }
}

/// Returns the framing that was found, or that of text where it is JSON's and no record is in a known
/// format; nothing while one may be.
fn or_text(
    found: &'static Framing,
    head: &[u8],
    ended: bool,
    known: &KnownFormats,
) -> Option<&'static Framing> {
    let is_json = matches!(found.content, Content::Json) && !found.idle.starts_with(':');
    if !is_json {
        return Some(found);
    }
    match holds_known(found, head, MOST_UNKNOWN, known) {
        None if !ended => None,
        Some(true) => Some(found),
        _ => FRAMINGS.iter().copied().find(|framing| framing.is_text()),
    }
}

/// Returns the offsets at which the frames of an input begin.
#[cfg(feature = "cli")]
pub(crate) fn offsets(
    framing: Option<&'static Framing>,
    config: FrameConfig,
    input: &[u8],
) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut see = |framed: Framed<'_>| {
        if let Framed::Frame(frame) = framed {
            offsets.extend(usize::try_from(frame.offset));
        }
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
    use crate::detect::leading::LOOKS;

    #[test]
    fn the_head_is_looked_at_in_linear_time() {
        let mut framer = AutoFramer::new(None, FrameConfig::default());
        for length in 1..WINDOW {
            framer.feed(b" ", &mut |_| Ok(())).unwrap();
            assert!(matches!(framer.state, FramerState::Body), "{length} spaces decide");
            for Looks(looked) in [&framer.looks, &framer.beginning.looks] {
                assert!(*looked <= (LOOKS + 1) * length, "{looked} of {length}");
            }
        }
    }
}
