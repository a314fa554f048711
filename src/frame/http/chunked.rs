//! The chunked coding (RFC 9112 §7.1).

use crate::cut::Cut as _;
use crate::frame::http::head::{HttpHead, begins_head};

/// The most digits of a chunk's size: a `u64` has no more.
const MAX_DIGITS: usize = 16;

/// The longest line between chunks, in bytes: a size with its extensions, or a trailer.
pub(super) const MAX_LINE: usize = 4 << 10;

/// What is wrong with a chunked body: it's not known where the next chunk begins, or the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkFault {
    /// No size stands where a chunk begins.
    NoSize,
    /// No line end stands where a chunk ends.
    NoEnd,
    /// A head stands where trailers or a blank line do.
    NoBlank,
    /// A line between chunks is longer than [`MAX_LINE`].
    LongLine,
}

impl ChunkFault {
    /// Returns a sentence for people.
    pub(crate) fn message(self) -> String {
        match self {
            ChunkFault::NoSize => "a chunk of HTTP begins without its size".into(),
            ChunkFault::NoEnd => "a chunk of HTTP is longer than its size".into(),
            ChunkFault::NoBlank => "the last chunk of HTTP has no blank line after it".into(),
            ChunkFault::LongLine => {
                format!("a line between chunks of HTTP has more than {MAX_LINE} bytes")
            }
        }
    }
}

/// Decodes a chunked body.
#[derive(Debug, Default)]
pub(crate) struct Dechunker {
    part: ChunkPart,
    /// The buffered beginning of a line between chunks.
    line: Vec<u8>,
}

/// The part of a chunked body that comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChunkPart {
    /// The line with the size of a chunk.
    #[default]
    Size,
    /// So many bytes of a chunk.
    Data(u64),
    /// The line end after them.
    DataEnd,
    /// Trailers, which mean nothing here, and a blank line.
    Trailers,
    /// Nothing: the body has ended.
    Ended,
}

impl Dechunker {
    /// Takes bytes of at most one chunk or line; returns those of the body among them, and the rest
    /// of the bytes. Takes none after the end. After a fault, the wrong line is buffered, or as much
    /// of it as is allowed.
    pub(crate) fn step<'b>(&mut self, bytes: &'b [u8]) -> Result<(&'b [u8], &'b [u8]), ChunkFault> {
        match self.part {
            ChunkPart::Ended => return Ok((&[], bytes)),
            ChunkPart::Data(left) => {
                let size = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let left = left - size as u64;
                self.part = if left == 0 { ChunkPart::DataEnd } else { ChunkPart::Data(left) };
                return Ok(bytes.split_at(size));
            }
            ChunkPart::Size | ChunkPart::DataEnd | ChunkPart::Trailers => {}
        }
        let end = memchr::memchr(b'\n', bytes).map(|end| end + 1);
        let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        let room = MAX_LINE - self.line.len();
        if line.len() > room {
            self.line.extend_from_slice(line.before(room));
            return Err(ChunkFault::LongLine);
        }
        self.line.extend_from_slice(line);
        if end.is_some() {
            self.part = self.next_part()?;
            self.line.clear();
        }
        Ok((&[], rest))
    }

    /// Returns the part after the line.
    fn next_part(&self) -> Result<ChunkPart, ChunkFault> {
        let line = self.line.trim_ascii_end();
        match self.part {
            ChunkPart::Size => match size(line).ok_or(ChunkFault::NoSize)? {
                0 => Ok(ChunkPart::Trailers),
                size => Ok(ChunkPart::Data(size)),
            },
            ChunkPart::DataEnd if line.is_empty() => Ok(ChunkPart::Size),
            ChunkPart::DataEnd => Err(ChunkFault::NoEnd),
            ChunkPart::Trailers if line.is_empty() => Ok(ChunkPart::Ended),
            ChunkPart::Trailers if begins_head(&self.line) == Some(true) => {
                Err(ChunkFault::NoBlank)
            }
            part => Ok(part),
        }
    }

    /// Returns what is buffered of the line that comes.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Takes what is buffered: of the line that is wrong.
    pub(crate) fn take_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// True once the last chunk has come: nothing of the body is missing.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.part, ChunkPart::Trailers | ChunkPart::Ended)
    }

    /// True after the trailers: what follows is no part of the body.
    pub(crate) fn is_ended(&self) -> bool {
        self.part == ChunkPart::Ended
    }

    /// True inside the bytes of a chunk.
    pub(crate) fn is_inside(&self) -> bool {
        matches!(self.part, ChunkPart::Data(_))
    }
}

impl HttpHead {
    /// Returns true if a body begins with the size line of a chunk, and nothing while it may still
    /// do so. Its line ends as those of the head do: a number in a text that was chunked may
    /// stand alone in the first line.
    pub(crate) fn is_chunk_size(&self, body: &[u8]) -> Option<bool> {
        let body = body.before(MAX_LINE);
        let end = memchr::memchr(b'\n', body);
        let line = body.before(end.unwrap_or(body.len()));
        let may_be = self.is_chunked && (body.is_empty() || size(line).is_some());
        match end {
            _ if !may_be => Some(false),
            Some(_) => Some(!self.has_cr || line.ends_with(b"\r")),
            None => (body.len() == MAX_LINE).then_some(false),
        }
    }
}

/// Returns the size in a size line, which may have extensions.
fn size(line: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b';', line).unwrap_or(line.len());
    let digits = line.before(end).trim_ascii_end();
    let is_size = digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_size)?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::http::head::read_head;

    /// Decodes an input in pieces of each size: the body, how it ended, and what follows.
    #[track_caller]
    fn check(input: &str, body: &str, end: Result<bool, ChunkFault>, after: &str) {
        for size in 1..=input.len() {
            let (mut dechunker, mut got, mut taken) = (Dechunker::default(), Vec::new(), 0);
            let mut ended = Ok(());
            'pieces: for piece in input.as_bytes().chunks(size) {
                let mut rest = piece;
                while !rest.is_empty() && !dechunker.is_ended() {
                    match dechunker.step(rest) {
                        Ok((data, after)) => {
                            got.extend_from_slice(data);
                            taken += rest.len() - after.len();
                            rest = after;
                        }
                        Err(fault) => {
                            ended = Err(fault);
                            break 'pieces;
                        }
                    }
                }
            }
            let ended = ended.map(|()| dechunker.is_whole());
            assert_eq!(String::from_utf8_lossy(&got), body, "in pieces of {size}");
            assert_eq!(ended, end, "in pieces of {size}");
            if end.is_ok() {
                assert_eq!(input.get(taken..), Some(after), "in pieces of {size}");
            }
        }
    }

    #[test]
    fn chunks_are_taken_off_at_any_split() {
        check("5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n", "hello, world", Ok(true), "");
        check("5\nhello\n0 ; x\na: b\nc: d\n\nHTTP/1.1 200\n", "hello", Ok(true), "HTTP/1.1 200\n");
        check("0005\r\nhello\r\n0\r\n", "hello", Ok(true), "");
    }

    #[test]
    fn what_is_missing_is_known() {
        check("5\r\nhel", "hel", Ok(false), "");
        check("5\r\nhello\r\n", "hello", Ok(false), "");
        check("5\r\nhello\r\n0", "hello", Ok(false), "");
    }

    #[test]
    fn what_is_no_chunk_is_a_fault() {
        check("5\r\nhello\r\nxyz\r\n0\r\n\r\n", "hello", Err(ChunkFault::NoSize), "");
        check("5\r\nhello\r\n\r\n0\r\n\r\n", "hello", Err(ChunkFault::NoSize), "");
        check("5\r\nhello\r\n+5\r\n", "hello", Err(ChunkFault::NoSize), "");
        check("5\r\nhello\r\n00000000000000005\r\n", "hello", Err(ChunkFault::NoSize), "");
        check("4\r\nhello\r\n0\r\n\r\n", "hell", Err(ChunkFault::NoEnd), "");
        check("2\r\nHi\r\n0\r\na: b\r\nHTTP/2 200 \r\n", "Hi", Err(ChunkFault::NoBlank), "");
        let long = "x".repeat(MAX_LINE);
        for input in [&format!("5;{long}"), &format!("0\r\n{long}\r\n\r\n")] {
            let mut dechunker = Dechunker::default();
            let mut step = |piece: &[u8]| dechunker.step(piece).map(|(_, rest)| rest.len());
            let ended = input.as_bytes().chunks(100).try_for_each(|piece| {
                let left = step(piece)?;
                step(&piece[piece.len() - left..]).map(|_| ())
            });
            assert_eq!(ended, Err(ChunkFault::LongLine));
        }
    }

    #[test]
    fn sizes_of_chunks() {
        let head = |end| format!("HTTP/1.1 200 OK{end}transfer-encoding: chunked{end}{end}");
        let head = |has_cr| head(if has_cr { "\r\n" } else { "\n" });
        let found = |has_cr, bytes: &str| match read_head(head(has_cr).as_bytes())
            .and_then(|head| head.is_chunk_size(bytes.as_bytes()))
        {
            Some(false) => "no",
            None => "more",
            Some(true) => "yes",
        };
        for bytes in ["", "5", "5a\r", "5;a", "5;a=\"b\"\r", &"f".repeat(16)] {
            assert_eq!(found(true, bytes), "more", "{bytes:?}");
        }
        for bytes in ["5\r\n", "1F\r\n{", "5;a=b\r\n", "5 \t\r\n"] {
            assert_eq!(found(true, bytes), "yes", "{bytes:?}");
        }
        for bytes in ["\r", "\r\n", "\n", "5\rx", "5\n", "5;a\n", "5 x", "g", &"f".repeat(17)] {
            assert_eq!(found(true, bytes), "no", "{bytes:?}");
        }
        assert_eq!(found(false, "5\n"), "yes");
        assert_eq!(found(true, &format!("5;{}", "x".repeat(MAX_LINE))), "no");
    }
}
