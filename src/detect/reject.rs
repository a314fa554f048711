//! Recognises inputs that hold no stream among those that only plain text fits, so that the error
//! names what they are and what to do.

use memchr::{memmem, memrchr};

use crate::cut::Cut as _;

use crate::event::mask;
use crate::frame::{FaultKind, skip_blank};

/// Returns what the input is, if it holds no stream: `Err` while more bytes may
/// show that it is something else. Each verdict is reached at the first byte
/// that shows it, whatever comes in the same read.
pub(super) fn find(head: &[u8], ended: bool) -> Option<Result<Rejected, ()>> {
    if let Some(found) = stranger(head, ended) {
        return Some(found.map(|message| Rejected { kind: FaultKind::Unrecognised, message }));
    }
    let (gateway, tool) = (is_gateway_error(head, ended), is_error_of_tool(head, ended));
    let text = String::from_utf8_lossy(skip_blank(head));
    let kind = match (gateway, tool) {
        (Some(true), _) => FaultKind::Gateway,
        (_, Some(true)) => FaultKind::Tool(hidden_status(&text)),
        (None, _) | (_, None) if !ended => return Some(Err(())),
        _ => return None,
    };
    let message = mask(text.trim());
    Some(Ok(Rejected { kind, message }))
}

/// Returns the status that `curl -f` hid, and says: `curl: (22) The requested URL returned error: 429`.
fn hidden_status(text: &str) -> Option<u16> {
    let (_, status) = text.rsplit_once(" error: ")?;
    status.before(3).parse().ok()
}

/// The reason why an input is not read, and its kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rejected {
    pub(super) kind: FaultKind,
    pub(super) message: String,
}

/// Returns what an input is that no model wrote.
fn stranger(head: &[u8], ended: bool) -> Option<Result<String, ()>> {
    for (magic, what) in MAGIC {
        let known = head.len().min(magic.len());
        if head.get(..known) == magic.get(..known) && (known == magic.len() || !ended) {
            return Some(if known == magic.len() { Ok((*what).to_owned()) } else { Err(()) });
        }
    }
    match head {
        [_] if !ended => return Some(Err(())),
        // A character of ASCII in two bytes, without a mark before it.
        [first, 0, ..] if first.is_ascii_graphic() => return Some(Ok(UTF_16LE.to_owned())),
        _ => {}
    }
    if head.first().is_some_and(|byte| is_binary(*byte)) {
        let is_enough = ended || head.len() >= SHOWN;
        return Some(if is_enough { Ok(binary(head)) } else { Err(()) });
    }
    match is_html(head) {
        Some(true) => html(head, ended),
        None if !ended => Some(Err(())),
        _ => match is_chunked(head) {
            Some(true) => Some(Ok("this looks like HTTP chunks; do not use `curl --raw`".into())),
            None if !ended => Some(Err(())),
            _ => None,
        },
    }
}

/// Kinds of files by their first bytes.
const MAGIC: &[(&[u8], &str)] = &[
    (&[0x1F, 0x8B], GZIP),
    (&[0x28, 0xB5, 0x2F, 0xFD], ZSTD),
    (b"%PDF-", PDF),
    (&[0x78, 0x01], ZLIB),
    (&[0x78, 0x9C], ZLIB),
    (&[0x78, 0xDA], ZLIB),
    (&[0xFF, 0xFE, 0, 0], UTF_32),
    (&[0xFF, 0xFE], UTF_16),
    (&[0xFE, 0xFF], UTF_16),
];
const GZIP: &str = "the input is compressed (gzip); put `gzip -dc FILE |` in front, or let curl \
                    decompress what it fetches with `--compressed`";
const ZSTD: &str = "the input is compressed (zstd); put `zstd -dc FILE |` in front, or let curl \
                    decompress what it fetches with `--compressed`";
const ZLIB: &str = "the input is compressed (zlib); let curl decompress it with `--compressed`";
const UTF_32: &str = "the input is UTF-32, not UTF-8; convert it with `iconv -f UTF-32 -t UTF-8`";
const PDF: &str = "the input is a PDF file, and no stream of a model";
const UTF_16LE: &str =
    "the input is UTF-16, not UTF-8; convert it with `iconv -f UTF-16LE -t UTF-8`";
const UTF_16: &str = "the input is UTF-16, not UTF-8; convert it with `iconv -f UTF-16 -t UTF-8`";

/// The number of bytes of a binary input that are shown.
const SHOWN: usize = 16;

fn binary(head: &[u8]) -> String {
    let bytes = head.iter().take(SHOWN).map(|byte| format!(" {byte:02x}")).collect::<String>();
    format!("the input is binary and no stream of a known kind; it begins with{bytes}")
}

/// True if no text begins with this byte: a control character, or one that
/// begins no character in UTF-8.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F..=0xC1 | 0xF5..=0xFF)
}

/// True if this is HTML or XML; nothing while it may still become so.
fn is_html(head: &[u8]) -> Option<bool> {
    let start = skip_blank(head);
    for tag in ["<!doctype", "<html", "<?xml"] {
        let length = start.len().min(tag.len());
        let is_alike = start
            .get(..length)
            .is_some_and(|begun| begun.eq_ignore_ascii_case(&tag.as_bytes()[..length]));
        if is_alike && length < tag.len() {
            return None;
        }
        if is_alike {
            return Some(true);
        }
    }
    Some(false)
}

/// Returns the message for an HTML page, once its title has come.
fn html(head: &[u8], ended: bool) -> Option<Result<String, ()>> {
    let text = String::from_utf8_lossy(head);
    let lower = text.to_ascii_lowercase();
    let start =
        lower.find("<title").and_then(|at| lower.get(at..)?.find('>').map(|end| at + end + 1));
    let title = start.and_then(|start| {
        let end = lower.get(start..)?.find('<')?;
        text.get(start..start + end)
    });
    let about = "this is an HTML page, probably a gateway's error, and no stream of a model";
    match title {
        Some(title) => Some(Ok(format!("{about}: {}", mask(title.trim())))),
        None if ended => Some(Ok(about.into())),
        None => Some(Err(())),
    }
}

/// True if this is a size line before JSON or before a field of an event stream;
/// nothing while it may still become so.
fn is_chunked(head: &[u8]) -> Option<bool> {
    let digits = head.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if !(1..=8).contains(&digits) {
        return Some(false);
    }
    let rest = head.after(digits);
    let bodies = [&b"\r\ndata:"[..], b"\r\nevent:", b"\r\n{", b"\r\n["];
    if bodies.iter().any(|body| rest.starts_with(body)) {
        return Some(true);
    }
    if bodies.iter().any(|body| body.starts_with(rest)) { None } else { Some(false) }
}

/// Whole errors of gateways that come as plain text, with no head to tell their status, in lower
/// case. A status may stand before one, and a full stop after it.
const WHOLE_ERRORS: &[&[u8]] = &[
    b"bad gateway",
    b"gateway timeout",
    b"gateway time-out",
    b"internal server error",
    b"no healthy upstream",
    b"service temporarily unavailable",
    b"service unavailable",
    b"stream timeout",
    b"too many requests",
    b"upstream request timeout",
];

/// Beginnings of errors of one line, in lower case.
const BEGUN_ERRORS: &[&[u8]] = &[b"error code: 5", b"upstream connect error"];

/// The longest of these errors, in bytes.
const LONGEST_ERROR: usize = 1024;

/// Returns true if the input is such an error and no more, and nothing while it
/// may still be one: only the end of the input shows it. A model that writes of
/// these errors goes on.
fn is_gateway_error(head: &[u8], ended: bool) -> Option<bool> {
    let text = skip_blank(head).trim_ascii_end();
    if text.len() > LONGEST_ERROR || text.contains(&b'\n') {
        return Some(false);
    }
    let lower = text.to_ascii_lowercase();
    let digits = lower.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let words = match digits {
        3 => lower.after(digits).trim_ascii_start(),
        _ => &lower,
    };
    let words = words.strip_suffix(b".").unwrap_or(words);
    let is_error =
        WHOLE_ERRORS.contains(&words) || BEGUN_ERRORS.iter().any(|begun| words.starts_with(begun));
    if ended {
        return Some(is_error);
    }
    let is_begun = |error: &&[u8]| error.starts_with(words);
    let is_status = digits == lower.len() && digits <= 3;
    let may_be = is_error || is_status || WHOLE_ERRORS.iter().chain(BEGUN_ERRORS).any(is_begun);
    if may_be { None } else { Some(false) }
}

/// The lines that a program prints in place of an answer it could not fetch, in lower case: how they
/// begin, and what else is in them.
const TOOL_ERRORS: &[(&[u8], &[u8])] = &[
    // curl: src/tool_msgs.c, and what tool_operate.c adds where no certificate fits.
    (b"curl: (", b") "),
    (b"more details here: https://curl.", b""),
    (b"curl failed to verify the legitimacy of the server", b""),
    (b"establish a secure connection to it.", b""),
    (b"how to fix it, please visit the web", b""),
    // GNU wget and BusyBox's.
    (b"wget: unable to ", b""),
    (b"wget: bad address ", b""),
    (b"wget: can't connect to ", b""),
    (b"wget: server returned error: ", b""),
    // HTTPie, xh, ssh, Docker, Ollama.
    (b"http: error: ", b""),
    (b"https: error: ", b""),
    (b"xh: error: ", b""),
    (b"ssh: connect to host ", b": "),
    (b"ssh: could not resolve hostname ", b": "),
    (b"docker: error response from daemon: ", b""),
    (b"docker: cannot connect to the docker daemon", b""),
    (b"error: could not connect to ollama", b""),
    (b"error: ollama server not responding", b""),
    // A shell in a script.
    (b"bash: line ", b": command not found"),
    (b"sh: ", b": not found"),
    (b"/bin/sh: ", b": not found"),
];

/// Returns true if each line of the input is such an error, and nothing while it may still be so.
fn is_error_of_tool(head: &[u8], ended: bool) -> Option<bool> {
    let text = skip_blank(head);
    if text.is_empty() || text.len() > LONGEST_ERROR {
        return if text.is_empty() && !ended { None } else { Some(false) };
    }
    let lower = text.to_ascii_lowercase();
    let (lines, open) = lower.split_at(memrchr(b'\n', &lower).map_or(0, |at| at + 1));
    let mut lines = lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let open = open.trim_ascii_end();
    let is_one = |line: &[u8]| {
        let holds = |(begins, has): &(&[u8], &[u8])| {
            line.starts_with(begins) && (has.is_empty() || memmem::find(line, has).is_some())
        };
        line.is_empty() || TOOL_ERRORS.iter().any(holds)
    };
    let may_become = |(begins, _): &(&[u8], &[u8])| {
        if open.len() < begins.len() { begins.starts_with(open) } else { open.starts_with(begins) }
    };
    match lines.all(is_one) {
        false => Some(false),
        true if ended => Some(is_one(open)),
        true if TOOL_ERRORS.iter().any(may_become) => None,
        true => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], expected: Option<&str>) {
        let found = find(head, true).and_then(Result::ok).map(|rejected| rejected.message);
        match expected {
            Some(part) => assert!(found.as_deref().is_some_and(|m| m.contains(part)), "{found:?}"),
            None => assert_eq!(found, None),
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check(b"\x1f\x8b\x08", Some("gzip"));
        check(b"\xff\xfeh\0", Some("UTF-16"));
        check(b"\x89PNG\r\n\x1a\n\0", Some("binary"));
        check(&[0; 12], Some("binary"));
        check(
            b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title>",
            Some("502 Bad Gateway"),
        );
        check(b"1a\r\ndata: {}", Some("--raw"));
    }

    #[test]
    fn what_can_be_read_is_not() {
        check(b"<function_calls>", None);
        check(b"data: {}", None);
        check(b"1a is a number", None);
    }

    #[track_caller]
    fn check_error(text: &str, expected: bool) {
        assert_eq!(is_gateway_error(text.as_bytes(), true), Some(expected), "{text:?}");
        // A part of an error is not decided, and what is decided stays so.
        let decided =
            (0..text.len()).find_map(|cut| is_gateway_error(&text.as_bytes()[..cut], false));
        assert!(!(expected && decided.is_some()), "{text:?}");
    }

    #[test]
    fn errors_are_all_there_is() {
        check_error("Bad Gateway\n", true);
        check_error("502 Bad Gateway", true);
        check_error("Service Unavailable.", true);
        check_error(
            "upstream connect error or disconnect/reset before headers. reset reason: overflow",
            true,
        );
        check_error("Bad Gateway errors come from proxies.", false);
        check_error("upstream connect error\nis what Envoy says", false);
        check_error("502", false);
        check_error("A bad gateway", false);
        check_error("", false);
    }

    #[track_caller]
    fn check_tool(text: &str, expected: bool) {
        assert_eq!(is_error_of_tool(text.as_bytes(), true), Some(expected), "{text:?}");
        let decided =
            (0..text.len()).find_map(|cut| is_error_of_tool(&text.as_bytes()[..cut], false));
        assert!(decided.is_none_or(|decided| !expected && !decided), "{text:?}: {decided:?}");
    }

    #[test]
    fn errors_of_tools_are_all_there_is() {
        check_tool("curl: (6) Could not resolve host: a.example\n", true);
        check_tool("\ncurl: (7) Failed to connect\ncurl: (7) Failed to connect\n\n", true);
        check_tool("curl: (22) The requested URL returned error: 404", true);
        check_tool("wget: unable to resolve host address ‘a.example’\n", true);
        check_tool("bash: line 1: ask: command not found\n", true);
        check_tool("curl: (6) means that the host is not known.\nTry another.\n", false);
        check_tool("curl: option -x: requires a parameter", false);
        check_tool("Use curl: (6) is an error.", false);
        check_tool("sh: a shell", false);
        check_tool("", false);
    }
}
