//! The chunked coding that `curl --raw` leaves in a body (RFC 9112 §7.1).

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
