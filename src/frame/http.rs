//! HTTP around a body: the heads that `curl -i` prints before it (RFC 9112 §2.1), and the chunked
//! coding that `curl --raw` leaves in it (§7.1).

/// One head, or several, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The length of them all, in bytes.
    pub len: usize,
    /// The status code of the last one.
    pub status: u16,
    /// True if the body may still be chunked: the last head announces that.
    pub is_chunked: bool,
}

/// The verdict on the beginning of an input: a head, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No.
    No,
    /// More bytes are needed to decide.
    More,
    /// Yes: one, or several one after another (100 Continue, redirects, a proxy's
    /// answer, a head that a server writes twice).
    Yes(Head),
}

/// Finds the heads at the start of an input, which is no longer if it has
/// ended. What begins a head after a head is one too: no body begins like that.
pub(crate) fn find_head(bytes: &[u8], ended: bool) -> Found {
    let mut found = Found::No;
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let is_cut = ended && !rest.starts_with(MAGIC);
        if is_cut || !begins_head(rest) {
            return found;
        }
        let Some(len) = head_len(rest) else { return Found::More };
        let Some(head) = read_head(rest.get(..len).unwrap_or_default()) else { return found };
        at += len;
        found = Found::Yes(Head { len: at, ..head });
    }
}

/// The beginning of every head.
const MAGIC: &[u8] = b"HTTP/";

/// True if these bytes are, or can become, `HTTP/`, a version and a status of
/// three digits.
fn begins_head(bytes: &[u8]) -> bool {
    let known = bytes.len().min(5);
    let version = bytes.get(5..).unwrap_or_default();
    let size = version.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let status = version.get(size..).unwrap_or_default();
    bytes.get(..known) == MAGIC.get(..known)
        && (size > 0 || version.is_empty())
        && status.iter().take(4).enumerate().all(|(at, byte)| match at {
            0 => *byte == b' ',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns the length of a head with its blank line; `None` if that has not
/// come.
pub(crate) fn head_len(bytes: &[u8]) -> Option<usize> {
    let mut line_start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = bytes.get(line_start..end).unwrap_or_default();
        if line.is_empty() || line == b"\r" {
            return Some(end + 1);
        }
        line_start = end + 1;
    }
    None
}

/// Parses a head.
fn read_head(head: &[u8]) -> Option<Head> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let first = lines.next()?;
    let status = first.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let is_chunked = lines.filter_map(|line| line.split_once(':')).any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding")
            && value.to_ascii_lowercase().contains("chunked")
    });
    Some(Head { len: 0, status, is_chunked })
}

/// The most digits of a chunk's size: a `u64` has no more.
const MAX_DIGITS: usize = 16;

/// Returns true if a body begins with the size line of a chunk, and nothing
/// while it may still do so.
pub(crate) fn is_chunk_size(bytes: &[u8]) -> Option<bool> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let is_size = (1..=MAX_DIGITS).contains(&digits);
    match bytes.get(digits..) {
        Some([]) if is_size || bytes.is_empty() => None,
        Some([b'\r']) if is_size => None,
        Some([b'\r', b'\n', ..] | [b'\n', ..]) if is_size => Some(true),
        _ => Some(false),
    }
}

/// Decodes a chunked body.
#[derive(Debug, Default)]
pub(crate) struct Dechunker {
    /// The buffered beginning of a size line.
    line: Vec<u8>,
    /// The number of bytes of the chunk that are still to come.
    left: u64,
    /// True after the last chunk.
    ended: bool,
}

impl Dechunker {
    /// Returns the body's bytes in these. The line end after a chunk is an empty
    /// size line, and is skipped.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() && !self.ended {
            if self.left > 0 {
                let (chunk, tail) = rest.split_at(rest.len().min(self.left as usize));
                self.left -= chunk.len() as u64;
                body.extend_from_slice(chunk);
                rest = tail;
                continue;
            }
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            let (line, tail) = rest.split_at(end + 1);
            self.line.extend_from_slice(line);
            rest = tail;
            self.size_line();
        }
        body
    }

    /// True after the last chunk.
    #[cfg(feature = "cli")]
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    fn size_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let digits = text.split(';').next().unwrap_or_default().trim();
        if let Ok(size) = u64::from_str_radix(digits, 16) {
            self.left = size;
            self.ended = size == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_one_after_another() {
        let input = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/2 200 \r\na: b\r\n\r\ndata: {}";
        let found = Found::Yes(Head { len: 46, status: 200, is_chunked: false });
        assert_eq!(find_head(input, false), found);
        for cut in 0..=46 {
            assert_eq!(find_head(input.get(..cut).unwrap(), false), Found::More, "{cut}");
        }
        assert_eq!(find_head(input.get(..46).unwrap(), true), found);
        assert_eq!(find_head(input.get(..44).unwrap(), true), Found::More);
    }

    #[test]
    fn other_texts_are_none() {
        assert_eq!(find_head(b"HTTPS is a protocol", false), Found::No);
        assert_eq!(find_head(b"HTTP/ 200 OK\n\n", false), Found::No);
        assert_eq!(find_head(b"{}", false), Found::No);
    }

    #[test]
    fn sizes_of_chunks() {
        let found = |bytes: &[u8]| match is_chunk_size(bytes) {
            Some(false) => "no",
            None => "more",
            Some(true) => "yes",
        };
        for bytes in ["", "5", "5a\r", &"f".repeat(16)] {
            assert_eq!(found(bytes.as_bytes()), "more", "{bytes:?}");
        }
        for bytes in ["5\r\n", "1F\n{"] {
            assert_eq!(found(bytes.as_bytes()), "yes", "{bytes:?}");
        }
        for bytes in ["\r", "\r\n", "\n", "5\rx", "5 ", "g", &"f".repeat(17)] {
            assert_eq!(found(bytes.as_bytes()), "no", "{bytes:?}");
        }
    }

    #[test]
    fn chunks_are_taken_off_at_any_split() {
        let input = b"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n";
        for size in 1..input.len() {
            let mut dechunker = Dechunker::default();
            let body: Vec<u8> =
                input.chunks(size).flat_map(|piece| dechunker.feed(piece)).collect();
            assert_eq!(body, b"hello, world", "in pieces of {size}");
        }
    }
}
