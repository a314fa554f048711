//! The heads that `curl -i` prints before a body (RFC 9112 §2.1).

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
fn head_len(bytes: &[u8]) -> Option<usize> {
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
}
