//! Heads of responses.

use crate::cut::Cut as _;
/// The longest head, in bytes.
pub(crate) const MAX_HEAD: usize = 64 << 10;

/// One head, or several, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HttpHead {
    /// The length of them all, in bytes.
    pub len: usize,
    /// The status code of the last one.
    pub status: u16,
    /// True if the last one announces a chunked body. The body may be decoded: `curl` does that.
    pub is_chunked: bool,
    /// The length of the body, if the last one says it.
    pub length: Option<u64>,
    /// True if that is the length of a compressed body, which may have been decoded.
    pub is_compressed: bool,
    /// True if the lines of the last one end in CR LF.
    pub has_cr: bool,
}

/// Finds the heads of one answer at the start of a whole input. What begins a head after a head is
/// one too: no body begins like that.
#[cfg(feature = "cli")]
pub(crate) fn find_heads(bytes: &[u8]) -> Option<HttpHead> {
    let mut found = None;
    let mut at = 0;
    while found.is_none_or(|head: HttpHead| head.may_be_followed())
        && let Some(head) = find_head(bytes.after(at))
    {
        at += head.len;
        found = Some(HttpHead { len: at, ..head });
    }
    found
}

/// Finds one head at the start of a whole input, with the blank lines before it.
#[cfg(feature = "cli")]
fn find_head(bytes: &[u8]) -> Option<HttpHead> {
    if begins_head(bytes) != Some(true) {
        return None;
    }
    let head = after_blank_lines(bytes);
    let len = head_len(head.before(MAX_HEAD))?;
    let found = read_head(head.get(..len)?)?;
    Some(HttpHead { len: bytes.len() - head.len() + len, ..found })
}

/// The beginning of every head.
const MAGIC: &[u8] = b"HTTP/";

/// The most line ends before a head, in bytes: one empty line at least is to be passed over
/// (RFC 9112 §2.2).
const MAX_BLANK: usize = 16;

/// The most digits and points of a version.
const MAX_VERSION: usize = 8;

/// The most bytes that are needed to tell that a head begins.
pub(super) const MAX_START: usize = MAX_BLANK + MAGIC.len() + MAX_VERSION + STATUS;

/// The length of a status with the spaces around it.
const STATUS: usize = 5;

/// Returns the bytes after the blank lines that may stand before a head, and after the bytes of a
/// byte order mark.
pub(super) fn after_blank_lines(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &&u8| matches!(byte, b'\r' | b'\n' | 0xEF | 0xBB | 0xBF);
    bytes.after(bytes.iter().take(MAX_BLANK).take_while(is_blank).count())
}

/// True if a head begins with these bytes, as far as they have come.
pub(super) fn is_begun_head(bytes: &[u8]) -> bool {
    after_blank_lines(bytes).starts_with(MAGIC)
}

/// Returns true if these bytes begin with `HTTP/`, a version and a status of three digits, a word of
/// its own, and nothing while they may still do so. Blank lines may stand before that.
pub(crate) fn begins_head(bytes: &[u8]) -> Option<bool> {
    let bytes = after_blank_lines(bytes);
    let known = bytes.len().min(MAGIC.len());
    let version = bytes.after(MAGIC.len());
    let size = version.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let status = version.after(size);
    let is_head = bytes.get(..known) == MAGIC.get(..known)
        && (size > 0 || version.is_empty())
        && size <= MAX_VERSION
        && status.iter().take(STATUS).enumerate().all(|(at, byte)| match at {
            0 => *byte == b' ',
            1..=3 => byte.is_ascii_digit(),
            _ => byte.is_ascii_whitespace(),
        });
    (!is_head || status.len() >= STATUS).then_some(is_head)
}

/// Returns the length of a head with its blank line; `None` if that has not
/// come.
#[cfg(feature = "cli")]
pub(crate) fn head_len(bytes: &[u8]) -> Option<usize> {
    let mut line_start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let line = bytes.within(line_start..end);
        if line.is_empty() || line == b"\r" {
            return Some(end + 1);
        }
        line_start = end + 1;
    }
    None
}

/// True if a line after the first one of a head can be a part of it: it is blank, goes on with the
/// one before, or has a name and a colon (RFC 9112 §5).
pub(super) fn is_field(line: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_graphic() && !b"\"(),/;<=>?@[\\]{}".contains(byte);
    match memchr::memchr(b':', line) {
        Some(colon) => colon > 0 && line.iter().take(colon).all(is_token),
        None => line.first().is_none_or(u8::is_ascii_whitespace),
    }
}

/// Parses a head.
pub(super) fn read_head(head: &[u8]) -> Option<HttpHead> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let first = lines.next()?;
    let status = first.split_ascii_whitespace().nth(1)?.parse().ok()?;
    if !head.split(|&byte| byte == b'\n').skip(1).all(is_field) {
        return None;
    }
    let (mut is_chunked, mut length, mut is_compressed) = (false, None, false);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked |= value.to_ascii_lowercase().contains("chunked");
        } else if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        } else if name.eq_ignore_ascii_case("content-encoding") {
            is_compressed = !value.trim().eq_ignore_ascii_case("identity");
        }
    }
    let has_cr = text.get(first.len()..).is_some_and(|rest| rest.starts_with('\r'));
    Some(HttpHead { len: head.len(), status, is_chunked, length, is_compressed, has_cr })
}

/// Errors that the client answers by itself and asks again: the challenges of a server and of a
/// proxy, and the refusal of `Expect: 100-continue`.
const ASKED_AGAIN: [u16; 3] = [401, 407, 417];

impl HttpHead {
    /// True if a head that follows at once may be of the same answer: after an interim one, a
    /// redirect, what a proxy says of its connection, a head that a server writes twice, and an
    /// error that the client answers by itself. Any other error is an answer without a body.
    pub(super) fn may_be_followed(&self) -> bool {
        self.status < 400 || ASKED_AGAIN.contains(&self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: HttpHead = HttpHead {
        len: 19,
        status: 200,
        is_chunked: false,
        length: None,
        is_compressed: false,
        has_cr: true,
    };

    #[test]
    fn heads_are_found_one_after_another() {
        let input = b"HTTP/1.1 100 Continue\n\nHTTP/2 200 \r\na: b\r\n\r\ndata: {}";
        assert_eq!(find_heads(input), Some(HttpHead { len: 44, ..HEAD }));
        assert_eq!(
            find_heads(&input[..43]),
            Some(HttpHead { len: 23, status: 100, has_cr: false, ..HEAD })
        );
        assert_eq!(find_heads(&input[..22]), None);
        for cut in 0..MAX_START {
            let expected = (cut >= MAGIC.len() + 8).then_some(true);
            assert_eq!(begins_head(&input[..cut]), expected, "{cut}");
        }
    }

    #[test]
    fn a_head_says_how_long_its_body_is() {
        let read = |lines: &str| {
            let head = read_head(format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes()).unwrap();
            (head.is_chunked, head.length)
        };
        assert_eq!(read("Content-Length: 7\r\n"), (false, Some(7)));
        assert_eq!(read("content-length: 7, 7\r\n"), (false, None));
        assert_eq!(read("TRANSFER-ENCODING: gzip, Chunked\r\n"), (true, None));
        assert_eq!(read("x-note: chunked\r\n"), (false, None));
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["HTTPS is a protocol", "HTTP/ 200 OK", "HTTP/1.1 20x", "HTTP/1.1 2000", "{}"] {
            assert_eq!(begins_head(text.as_bytes()), Some(false), "{text}");
        }
        assert_eq!(begins_head(b"HTTP/111111111 200 OK\n\n"), Some(false));
        let long = format!("HTTP/1.1 200 OK\na: {}\n\n", "x".repeat(MAX_HEAD));
        assert_eq!(find_heads(long.as_bytes()), None);
    }
}
