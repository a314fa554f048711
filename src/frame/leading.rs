//! The lines that other programs print before a stream on the same output: curl's `-v`, a server's
//! log, a prompt. A table says what such lines begin with. Other lines than these are not waited
//! for, so plain text goes out at once.

use crate::cut::Cut as _;
use crate::event::WarningCode;
use crate::frame::framer::{FIELDS, Fault};

/// Lines of one origin. In the beginnings, `#` is one or more digits, `…` is a word, and a space is
/// one or more spaces. None begins with a word: the first word of a text would be held back.
struct Origin {
    /// The beginnings of its lines.
    begins: &'static [&'static str],
    /// The beginnings of lines that are its own only after one of those.
    goes_on: &'static [&'static str],
    /// True if a program's log has such lines: a record may stand in one.
    is_log: bool,
}

impl Origin {
    const fn of(begins: &'static [&'static str]) -> Self {
        Origin { begins, goes_on: &[], is_log: false }
    }

    const fn of_log(begins: &'static [&'static str]) -> Self {
        Origin { is_log: true, ..Origin::of(begins) }
    }

    /// Returns an origin whose lines are of these kinds after one that begins so.
    const fn with(begins: &'static [&'static str], goes_on: &'static [&'static str]) -> Self {
        Origin { goes_on, ..Origin::of(begins) }
    }
}

static ORIGINS: &[Origin] = &[
    // curl -v: src/tool_cb_dbg.c, and the words of lib/connect.c, lib/url.c and lib/vtls.
    Origin::with(
        &[
            "* Trying ", "* Host ", "* Hostname ", "* Could not resolve ", "* Uses proxy ",
            "* Added ", "* Re-using ", "* Reusing ", "* Found bundle ", "* Rebuilt URL ",
            "* About to connect", "* Connected to ", "* Connection #", "* Established connection ",
            "* using HTTP/", "* ALPN", "* !!! ", "> GET ", "> POST ", "< HTTP/",
        ],
        &["* ", ">", "<", "{ [# bytes data]", "} [# bytes data]"],
    ),
    // curl's progress: lib/progress.c.
    Origin::with(&[" % Total % Received"], &[" Dload Upload "]),
    // curl's warnings and notes: src/tool_msgs.c.
    Origin::with(&["Warning: ", "Note: ", "curl: (#) "], &["Warning: ", "curl: "]),
    // wget: src/http.c, src/connect.c.
    Origin::with(
        &["--#-#-# #:#:#-- http"],
        &["Resolving ", "Connecting to ", "HTTP request sent", "Length: ", "Saving to: "],
    ),
    // Prompts of shells, and what `set -x` prints.
    Origin::of(&["$ ", "> ", "+ ", "❯ ", "➜ ", "[…@… …]$ ", "PS …:"]),
    // util-linux: script.c.
    Origin::of(&["Script started on ", "Script started, "]),
    // The beginnings of lines of logs: a time; the months of syslog,
    Origin::of_log(&[
        "Jan # #:", "Feb # #:", "Mar # #:", "Apr # #:", "May # #:", "Jun # #:", "Jul # #:",
        "Aug # #:", "Sep # #:", "Oct # #:", "Nov # #:", "Dec # #:",
    ]),
    Origin::of_log(&[
        "#-#-#T#:#", "#-#-# #:#", "#/#/# #:#", "#:#:#", "[#-#-#", "[#/…:#:#", "[#:#:#", "[#.#]",
        "[ #.#]", "[… … # #:#", "(#:#", "time=", "ts=",
    ]),
    // a level,
    Origin::of_log(&[
        "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "FATAL", "trace:", "debug:", "info:",
        "warn:", "warning:", "error:", "level=", "[I #", "[W #", "[E #", "I# #:#", "W# #:#",
        "E# #:#",
    ]),
    // or brackets.
    Origin::of_log(&["[…] ", "[… "]),
    // npm and npx, Node, Deno, Java, Go, Cargo, uv, Python's warnings and their line of source.
    Origin::of(&["npm ", "(node:#) ", "(Use `node ", "Debugger ", "Picked up JAVA_TOOL_OPTIONS: "]),
    Origin::of(&[
        "go: ", "Compiling ", " Compiling ", " Finished ", " Running ", "Installed # package",
    ]),
    Origin::with(&["/…:#: …: "], &[" warnings.warn("]),
    // ssh, sh, nohup, docker, kubectl.
    Origin::of(&["Pseudo-terminal ", "Connection to ", "bash: ", "sh: ", "nohup: "]),
    Origin::of(&["Unable to find image ", "Forwarding from ", "Handling connection for "]),
];

/// What programs put before each line of a log, as docker compose and grep do. Text may begin so:
/// such lines are not waited for.
const BEFORE_LINES: &[&str] = &["… | ", "…:{", "…:data:", "…:#:{", "…:#:data:"];

/// The most of such lines, their most bytes, and the most of one.
const MOST_LINES: usize = 64;
const MOST_BYTES: usize = 8 << 10;
const LONGEST: usize = 1024;

/// The longest name and line of a field of an event stream that the standard ignores.
const LONGEST_NAME: usize = 32;
const LONGEST_FIELD: usize = 128;

/// The lines at the beginning of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leading {
    /// The first line is none of them.
    None,
    /// More bytes may show that there is one more.
    Open,
    /// They have this many bytes, blank lines between and after them among those.
    Lines(usize),
}

/// True if curl's `-v` prints this line between the bytes of a body, wherever it has read some.
pub(super) fn is_between_bytes(line: &[u8]) -> bool {
    let marks = ["{ [# bytes data]", "} [# bytes data]"];
    line.get(1..3) == Some(b" [") && marks.iter().any(|mark| begins(mark, line, true) == Some(true))
}

/// True if a line begins as those of a program's log do: with a time, a level, brackets, or the name
/// or number that another program has put before it.
pub(crate) fn is_of_log(line: &[u8]) -> bool {
    let logs = ORIGINS.iter().filter(|origin| origin.is_log).flat_map(|origin| origin.begins);
    logs.chain(BEFORE_LINES).any(|one| begins(one, line, true) == Some(true))
}

/// Returns a line at an offset without the line of curl's progress that it begins with, if it does, and
/// a note of that.
pub(super) fn without_progress(line: &[u8], offset: u64) -> Option<(&[u8], Fault<'static>)> {
    let may_be = line.first().is_some_and(|first| first.is_ascii_digit() || *first == b' ');
    let length = if may_be { progress(line, true).unwrap_or(0) } else { 0 };
    let message = "curl's progress was passed over";
    let note = || Fault::note(WarningCode::LeadingText, message, offset);
    (length > 0).then(|| (line.after(length), note()))
}

/// Returns the lines before a stream that an input begins with: `others` are the beginnings of
/// those that the formats' own programs print.
pub(crate) fn leading<'o>(
    head: &[u8],
    ended: bool,
    others: impl Iterator<Item = &'o str> + Clone,
) -> Leading {
    let (mut at, mut count) = (blank(head), 0);
    let mut seen = [false; ORIGINS.len()];
    loop {
        let rest = head.after(at);
        let size = match line(rest, ended, &mut seen, others.clone()) {
            Some(0) if count == 0 => return Leading::None,
            Some(0) => return Leading::Lines(at),
            Some(size) => size,
            None => {
                return if at + rest.len() > MOST_BYTES { Leading::None } else { Leading::Open };
            }
        };
        count += 1;
        at += size;
        at += blank(head.after(at));
        if count > MOST_LINES || at > MOST_BYTES {
            return Leading::None;
        }
    }
}

/// Returns how many bytes of white space lines begin with, the last line's own indentation not
/// among them.
fn blank(bytes: &[u8]) -> usize {
    let end = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let space = bytes.before(end);
    space.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1)
}

/// Returns the bytes of the line, or the part of it, that stands before a stream: 0 if it does not,
/// nothing while it may.
fn line<'o>(
    rest: &[u8],
    ended: bool,
    seen: &mut [bool; ORIGINS.len()],
    others: impl Iterator<Item = &'o str>,
) -> Option<usize> {
    let end = rest.iter().take(LONGEST + 1).position(|byte| matches!(byte, b'\n' | b'\r'));
    let is_whole = end.is_some() || ended;
    let line = rest.before(end.unwrap_or(rest.len()));
    if line.len() > LONGEST {
        return Some(0);
    }
    let mut is_open = false;
    if seen.iter().any(|seen| *seen) {
        match progress(line, is_whole) {
            Some(0) => {}
            Some(size) => return Some(size),
            None => is_open = true,
        }
    }
    let mut is_one = false;
    let mut see = |found: Option<bool>| {
        is_open |= found.is_none();
        found == Some(true)
    };
    for (origin, seen) in ORIGINS.iter().zip(seen) {
        let goes_on = if *seen { origin.goes_on } else { &[] };
        let found = origin.begins.iter().chain(goes_on).any(|one| see(begins(one, line, is_whole)));
        *seen |= found;
        is_one |= found;
    }
    is_one |= others.into_iter().any(|one| see(begins(one, line, is_whole)));
    is_one |= see(ignored_field(line, is_whole));
    match is_whole {
        true if is_one => Some(line.len()),
        false if is_one || is_open => None,
        _ => Some(0),
    }
}

/// True if a line begins so; nothing while it may.
fn begins(pattern: &str, line: &[u8], is_whole: bool) -> Option<bool> {
    let mut rest = line;
    for expected in pattern.chars() {
        let run = |is_it: fn(&u8) -> bool| rest.iter().take_while(|byte| is_it(byte)).count();
        let taken = match expected {
            '#' => run(u8::is_ascii_digit),
            ' ' => run(|byte| *byte == b' '),
            '…' => run(|byte| byte.is_ascii_alphanumeric() || b"_.-/\\~".contains(byte)),
            expected => {
                let mut bytes = [0; 4];
                let expected = expected.encode_utf8(&mut bytes).as_bytes();
                if !rest.starts_with(expected) && expected.starts_with(rest) && !is_whole {
                    return None;
                }
                if rest.starts_with(expected) { expected.len() } else { 0 }
            }
        };
        if taken == 0 {
            return if rest.is_empty() && !is_whole { None } else { Some(false) };
        }
        rest = rest.after(taken);
    }
    Some(true)
}

/// True if this is a field of an event stream that the standard ignores, as `message:`, which
/// Flowise sends before each event; nothing while it may be.
fn ignored_field(line: &[u8], is_whole: bool) -> Option<bool> {
    let is_name = |byte: &&u8| matches!(byte, b'a'..=b'z' | b'_' | b'-');
    let name = line.iter().take_while(is_name).count();
    let is_short = name <= LONGEST_NAME && line.len() <= LONGEST_FIELD;
    match line.get(name) {
        Some(b':') if name > 0 && is_short => {
            let is_other = line.get(name + 1) == Some(&b'/') || FIELDS.contains(&&line[..name]);
            if is_whole || is_other { Some(!is_other) } else { None }
        }
        None if !is_whole && is_short => None,
        _ => Some(false),
    }
}

/// Returns the length of a line of curl's progress, which the body follows without a line end: 0 if
/// there is none, nothing while there may be. Eight numbers, three times and a speed of five
/// characters: lib/progress.c.
fn progress(line: &[u8], is_whole: bool) -> Option<usize> {
    let is_size = |byte: &u8| byte.is_ascii_digit() || b".kMGTP".contains(byte);
    let is_time = |byte: &u8| byte.is_ascii_digit() || b"-:dhmsy".contains(byte);
    let mut at = 0;
    for column in 0..11 {
        let rest = line.after(at);
        let space = rest.iter().take_while(|byte| **byte == b' ').count();
        let rest = rest.after(space);
        let size =
            rest.iter().take_while(|byte| if column < 8 { is_size(byte) } else { is_time(byte) });
        let size = size.count();
        if size == 0 || (column > 0 && space == 0) {
            return if rest.is_empty() && !is_whole { None } else { Some(0) };
        }
        at += space + size;
    }
    const SPEED: usize = 6;
    let speed = line.after(at);
    match speed.get(..SPEED) {
        Some([b' ', speed @ ..]) if speed.trim_ascii().iter().all(is_size) => Some(at + SPEED),
        None if !is_whole => None,
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Leading) {
        let found = leading(text.as_bytes(), true, ["Reading prompt"].into_iter());
        assert_eq!(found, expected, "{text:?}");
        for cut in 0..text.len() {
            let found = leading(&text.as_bytes()[..cut], false, ["Reading prompt"].into_iter());
            assert!(found == Leading::Open || found == expected, "{text:?} up to {cut}: {found:?}");
        }
    }

    #[test]
    fn they_end_where_the_stream_begins() {
        for lines in [
            "* Trying 1.2.3.4:443...\n* Connected\n> POST / HTTP/1.1\r\n> \r\n{ [5 bytes data]\n",
            "message:\n",
            "Reading prompt from stdin...\n",
            "> a@1 b\n> c\n\n",
            "2026-11-27 10:00:00,1 INFO up\n[server] listening\n",
            "[me@box src]$ curl -N x\n",
            "  % Total    % Received % Xferd\n                                 Dload  Upload  \n\
             \r  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0",
        ] {
            check(&format!("{lines}data: {{}}\n"), Leading::Lines(lines.len()));
        }
    }

    #[test]
    fn text_is_none() {
        for text in
            ["Hello", "The answer: 42\n", "data: {}\n", "https://a.example\n", "# A\n", "- b\n"]
        {
            check(text, Leading::None);
        }
        check(&"INFO up\n".repeat(MOST_LINES + 1), Leading::None);
    }
}
