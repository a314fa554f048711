//! A capture as it is played: its bytes, and where its parts begin.

use std::ops::Range;
use std::{io, iter};

use crate::capture::rhythm::Rhythm;
use crate::cut::Cut as _;
use crate::detect::{self, KnownFormats};
use crate::format::{Format, Reply, reply_of};
use crate::frame;
use crate::frame::http::{BodyBegin, HttpHead, HttpResponses, ResponsePiece, find_heads};
use crate::frame::{FrameConfig, Framing, Holds};
use crate::io::read_whole;

/// A capture in memory.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) name: String,
    /// The HTTP head before the body, if it was recorded.
    pub(crate) head: Option<RecordedHead>,
    /// All bytes, the head's as well.
    pub(crate) bytes: Vec<u8>,
    /// The offset of the body.
    pub(crate) body: usize,
    pub(crate) framing: Option<&'static Framing>,
    pub(crate) format: Option<&'static Format>,
    /// The offsets at which frames begin, in ascending order.
    pub(crate) starts: Vec<usize>,
    /// The times at which the bytes came, if that was asked for and is known.
    pub(crate) rhythm: Option<Rhythm>,
}

/// The head of an answer, as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct RecordedHead {
    /// Names and values, but for those that are of the connection that was recorded.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) head: HttpHead,
}

/// Headers of one connection, or of the bytes that went over it.
const OF_CONNECTION: &[&str] = &[
    "alt-svc", "connection", "content-encoding", "content-length", "date", "keep-alive",
    "set-cookie", "strict-transport-security", "trailer", "transfer-encoding", "upgrade",
];

impl RecordedHead {
    /// Reads the last of the heads that these bytes are.
    pub(crate) fn new(bytes: &[u8], head: HttpHead) -> Self {
        let text = String::from_utf8_lossy(bytes).replace('\r', "");
        let text = text.trim_end();
        let last = text.rsplit_once("\n\n").map_or(text, |(_, last)| last);
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let is_kept = !OF_CONNECTION.contains(&name.to_ascii_lowercase().as_str());
            is_kept.then(|| (name.to_owned(), value.trim().to_owned()))
        };
        let headers = last.lines().filter_map(header).collect();
        RecordedHead { headers, head }
    }
}

impl Capture {
    /// Reads a file, or standard input if its name is `-`, and the rhythm beside it if that is
    /// wanted. An error names the file.
    pub(crate) fn read(name: &str, wants_rhythm: bool, formats: &KnownFormats) -> io::Result<Self> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
        let bytes = read_whole(name).map_err(named)?;
        let size = bytes.len() as u64;
        let rhythm = if wants_rhythm { Rhythm::beside(name, size)? } else { None };
        Ok(Capture { rhythm, ..Capture::new(name, bytes, formats) })
    }

    /// Finds the parts of these bytes, which may be in these formats.
    pub(crate) fn new(name: &str, bytes: Vec<u8>, formats: &KnownFormats) -> Self {
        let head = find_heads(&bytes);
        let body = head.map_or(0, |head| head.len);
        let head = head.zip(bytes.get(..body)).map(|(head, text)| RecordedHead::new(text, head));
        let verdict = detect::explain_of(formats, &bytes, true);
        let mut capture = Capture {
            name: name.to_owned(),
            head,
            bytes,
            body,
            framing: frame::find(&verdict.framing),
            format: verdict.row,
            starts: Vec::new(),
            rhythm: None,
        };
        capture.starts = capture.find_starts();
        capture
    }

    /// Returns the offsets at which frames begin; those of words in plain text, which has none.
    /// Bytes whose places are those of other bytes have none.
    fn find_starts(&self) -> Vec<usize> {
        let body = self.bytes.after(self.body);
        match self.framing {
            None => return Vec::new(),
            Some(_) if self.is_chunked() => return Vec::new(),
            Some(framing) if framing.is_text() => {
                let is_space = |at: usize| body.get(at).is_some_and(u8::is_ascii_whitespace);
                let begins = |at: &usize| *at == 0 || (is_space(at - 1) && !is_space(*at));
                return (0..body.len()).filter(begins).map(|at| at + self.body).collect();
            }
            Some(_) => {}
        }
        let mut starts = detect::offsets(self.framing, FrameConfig::default(), &self.bytes);
        starts.dedup();
        starts
    }

    /// True if the body is in the chunks of HTTP, as `curl --raw` leaves it.
    fn is_chunked(&self) -> bool {
        let body = self.bytes.after(self.body);
        self.head.as_ref().is_some_and(|recorded| recorded.head.is_chunk_size(body) == Some(true))
    }

    /// Returns the capture of each response's body alone, without the chunks of HTTP; of all bytes
    /// if no head is among them.
    pub(crate) fn into_responses(self, formats: &KnownFormats) -> Vec<Self> {
        let (mut responses, mut found) =
            (HttpResponses::new(true), Vec::<(BodyBegin, Vec<_>)>::new());
        let mut see = |piece: &ResponsePiece<'_>| match piece {
            ResponsePiece::Begin(begin) => found.push((*begin, Vec::new())),
            ResponsePiece::Body(body, at) => {
                if let Some((_, ranges)) = found.last_mut() {
                    ranges.push(*at..*at + body.len() as u64);
                }
            }
            ResponsePiece::None | ResponsePiece::End(_) | ResponsePiece::Flaw(_) => {}
        };
        let mut rest = self.bytes.as_slice();
        while !rest.is_empty() {
            let (piece, after) = responses.step(rest);
            see(&piece);
            rest = after;
        }
        iter::repeat_with(|| responses.end())
            .take_while(|piece| !matches!(piece, ResponsePiece::None))
            .for_each(|piece| see(&piece));
        let has_heads = found.iter().any(|(begin, _)| begin.head.is_some());
        found.retain(|(begin, _)| begin.head.is_some() == has_heads);
        if found.is_empty() {
            return vec![self];
        }
        let response = |(begin, ranges): (BodyBegin, Vec<Range<u64>>)| {
            let head = begin.head.and_then(|(_, at)| {
                let text = self.within(&(at..begin.offset));
                Some(RecordedHead::new(text, find_heads(text)?))
            });
            let body = ranges.iter().flat_map(|range| self.within(range)).copied().collect();
            let rhythm = self.rhythm.as_ref().map(|rhythm| rhythm.of(&ranges));
            Capture { head, rhythm, ..Capture::new(&self.name, body, formats) }
        };
        found.into_iter().map(response).collect()
    }

    /// Returns the bytes in this range.
    fn within(&self, range: &Range<u64>) -> &[u8] {
        let place = |at| usize::try_from(at).unwrap_or(usize::MAX);
        self.bytes.within(place(range.start)..place(range.end))
    }

    /// True if it is in this format.
    pub(crate) fn is_in(&self, format: &Format) -> bool {
        self.format.is_some_and(|own| own == format)
    }

    /// True if it holds a message, and not the error of a server.
    pub(crate) fn is_message(&self) -> bool {
        self.format.is_some_and(|format| !format.is_of_errors())
    }

    /// True if it is one body, and no stream.
    pub(crate) fn is_whole(&self) -> bool {
        self.framing.is_some_and(|framing| match framing.holds {
            Holds::Body => true,
            Holds::Either => self.starts.len() == 1,
            Holds::Stream => false,
        })
    }

    /// True if it is one body, in a framing that holds no streams.
    pub(crate) fn is_body(&self) -> bool {
        self.framing.is_some_and(|framing| framing.holds == Holds::Body)
    }

    /// Returns how the server speaks that the capture is of.
    pub(crate) fn reply(&self) -> &'static Reply {
        reply_of(self.format)
    }

    /// Returns what keeps the stream alive between frames; empty if there is nothing.
    pub(crate) fn idle(&self) -> Vec<u8> {
        let Some(framing) = self.framing else { return Vec::new() };
        let mut record = Vec::new();
        match (self.reply().idle, framing.add) {
            (Some((name, data)), Some(add)) if framing.holds != Holds::Body => {
                add(&mut record, name, data);
                record
            }
            _ => framing.idle.into(),
        }
    }

    /// Returns the offset after so many frames. An error says how many there are.
    pub(crate) fn after_frames(&self, count: usize) -> Result<usize, String> {
        let frames = self.starts.len();
        match self.starts.get(count) {
            Some(start) => Ok(*start),
            None if count == frames && count > 0 => Ok(self.bytes.len()),
            None if frames == 0 => Err(format!("{}: its frames are not known", self.name)),
            None => Err(format!("{}: there are {frames} frames", self.name)),
        }
    }
}
