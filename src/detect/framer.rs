//! The framer that finds out how its input is framed, behind the heads that
//! `curl -i` prints.

use std::io;

use crate::detect::{WINDOW, reject};
use crate::frame::http;
use crate::frame::http::{Dechunker, Found};
use crate::frame::{
    FRAMINGS, Fault, FaultKind, Frame, FrameOut, FrameResult, Framer, Framing, Next, Settings,
    Sniff, TakeFrames, is_begun_mark, skip_blank,
};

/// A framer of any framing.
pub struct AutoFramer {
    wanted: Option<&'static Framing>,
    settings: Settings,
    /// The input so far, while nothing is decided.
    head: Vec<u8>,
    state: State,
    /// The bytes of the heads before the body.
    base: u64,
    /// Whether the body may be chunked: the last head said so.
    maybe_chunked: bool,
    dechunker: Option<Dechunker>,
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
    /// A framer that finds out, or takes the framing that is wanted.
    pub fn new(wanted: Option<&'static Framing>, settings: Settings) -> Self {
        let state = match wanted {
            Some(framing) if framing.name == "text" => State::Chosen((framing.framer)(settings)),
            _ => State::Head,
        };
        AutoFramer {
            wanted,
            settings,
            head: Vec::new(),
            state,
            base: 0,
            maybe_chunked: false,
            dechunker: None,
        }
    }

    /// Decides what can be decided. At the end of the input, or of the window,
    /// what could have become something else hasn't.
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
        if self.wanted.is_none() {
            match reject::find(&self.head, ended) {
                Some(Ok(message)) => return self.reject(message, out),
                Some(Err(())) => return Ok(()),
                None => {}
            }
        }
        let framing = match self.choose(ended) {
            Ok(Some(framing)) => framing,
            Ok(None) => return Ok(()),
            Err(message) => return self.reject(message, out),
        };
        self.state = State::Chosen((framing.framer)(self.settings));
        let head = std::mem::take(&mut self.head);
        self.pass(&head, out)
    }

    /// The framing that is wanted, unless the input can only be another one, or
    /// the one that it can only be.
    fn choose(&self, ended: bool) -> Result<Option<&'static Framing>, String> {
        let found = choose(&self.head, ended);
        let Some(wanted) = self.wanted else { return Ok(found) };
        match ((wanted.sniff)(&self.head), found) {
            (Sniff::No, None) if !ended => Ok(None),
            (Sniff::No, Some(found)) if found.name != "text" => Err(format!(
                "--framing {} was asked for, but the input looks like {}",
                wanted.name, found.name
            )),
            _ => Ok(Some(wanted)),
        }
    }

    /// Takes heads off the input; tells whether the body has begun.
    fn pass_heads(&mut self, ended: bool, out: &mut FrameOut<'_>) -> io::Result<bool> {
        match http::find_head(&self.head) {
            Found::More if !ended => return Ok(false),
            Found::More if self.head.starts_with(b"HTTP/") => {
                self.state = State::Rejected;
                let message = "the input ended inside an HTTP head".into();
                let (kind, code, raw) = (FaultKind::Truncated, "truncated", self.head.as_slice());
                out.frame(Err(Fault { kind, code, message, offset: 0, raw }))?;
                return Ok(false);
            }
            Found::More | Found::No => {}
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
                Found::More if !ended => return Ok(false),
                Found::Yes(_) => {
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
        out.frame(Err(Fault {
            kind: FaultKind::Status,
            code: "http_status",
            message,
            offset: 0,
            raw: &[],
        }))
    }

    fn reject(&mut self, message: String, out: &mut FrameOut<'_>) -> io::Result<()> {
        self.state = State::Rejected;
        let offset = self.base;
        out.frame(Err(Fault {
            kind: FaultKind::Unrecognised,
            code: "unrecognised",
            message,
            offset,
            raw: &[],
        }))
    }

    /// Hands bytes of the body to the framer that was chosen.
    fn pass(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let base = self.base;
        match &mut self.state {
            State::Chosen(framer) if base == 0 => framer.feed(bytes, out),
            State::Chosen(framer) => framer.feed(bytes, &mut Shifted { out, base }),
            _ => Ok(()),
        }
    }
}

/// Moves positions in the body to those in the input.
struct Shifted<'s, 'o> {
    out: &'s mut FrameOut<'o>,
    base: u64,
}

impl TakeFrames for Shifted<'_, '_> {
    fn frame(&mut self, frame: FrameResult<'_>) -> io::Result<()> {
        let base = self.base;
        self.out.frame(match frame {
            Ok(frame) => Ok(Frame { offset: frame.offset + base, ..frame }),
            Err(fault) => Err(Fault { offset: fault.offset + base, ..fault }),
        })
    }

    fn alike(&mut self, next: &Next<'_>) -> usize {
        self.out.alike(next)
    }
}

/// The first row that says yes while no row above it may still do so.
fn choose(head: &[u8], ended: bool) -> Option<&'static Framing> {
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

impl Framer for AutoFramer {
    fn feed(&mut self, bytes: &[u8], out: &mut FrameOut<'_>) -> io::Result<()> {
        let body = self.dechunker.as_mut().map(|dechunker| dechunker.feed(bytes));
        let bytes = body.as_deref().unwrap_or(bytes);
        match self.state {
            State::Chosen(_) => self.pass(bytes, out),
            State::Rejected => Ok(()),
            State::Head | State::Body => {
                self.head.extend_from_slice(bytes);
                self.decide(false, out)
            }
        }
    }

    fn finish(&mut self, out: &mut FrameOut<'_>) -> io::Result<()> {
        let is_open = matches!(self.state, State::Head | State::Body);
        if is_open && (skip_blank(&self.head).is_empty() || is_begun_mark(&self.head)) {
            return Ok(());
        }
        self.decide(true, out)?;
        let base = self.base;
        match &mut self.state {
            State::Chosen(framer) => framer.finish(&mut Shifted { out, base }),
            _ => Ok(()),
        }
    }
}
