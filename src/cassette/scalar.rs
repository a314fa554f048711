//! The scalars of YAML that hold bodies, quoted ones and literal blocks, a run of bytes at a time
//! (YAML 1.2.2 §7.3, §8.1). Read here is the value of a key of a block map, from its first byte on.

use crate::cassette::source::{BlockReader, Broken, Why};
use crate::cut::Cut as _;
use crate::json;

/// A scalar that was read.
pub(super) struct Scalar {
    pub(super) text: Vec<u8>,
    /// The spaces that were read of the line after it, if it ended with its line.
    pub(super) after: Option<usize>,
}

/// Reads the scalar that begins with this byte, if it is one of these. `column` is that of its key.
pub(super) fn read(
    source: &mut BlockReader<'_>,
    first: u8,
    column: usize,
) -> Result<Option<Scalar>, Broken> {
    match first {
        b'\'' | b'"' => {
            let text = quoted(source, first)?;
            Ok(Some(Scalar { text, after: None }))
        }
        b'|' => literal(source, column).map(Some),
        _ => Ok(None),
    }
}

fn wrong(source: &BlockReader<'_>, what: &str) -> Broken {
    Broken::new(Why::Malformed, source.offset(), format!("it is no YAML: {what}"))
}

/// Reads the text between two quotes. Of the white space around a line break, one space is left, or
/// the breaks after the first. Its lines may stand anywhere, as those who write them have it.
fn quoted(source: &mut BlockReader<'_>, quote: u8) -> Result<Vec<u8>, Broken> {
    source.skip(1);
    let mut text = Vec::new();
    // The blanks at the end of the text that no escape says.
    let mut blanks = 0;
    loop {
        let chunk = source.chunk()?;
        if chunk.is_empty() {
            let message = "it is no YAML: a text in quotes does not end";
            return Err(Broken::new(Why::Cut, source.offset(), message));
        }
        let length = if quote == b'"' {
            json::unescape(chunk, &mut text)
        } else {
            let length = memchr::memchr3(quote, b'\n', b'\r', chunk).unwrap_or(chunk.len());
            text.extend_from_slice(chunk.before(length));
            length
        };
        let run = chunk.before(length);
        let last = run.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        blanks = if last == length { blanks + last } else { last };
        let Some(sign) = chunk.get(length).copied() else {
            source.skip(length);
            continue;
        };
        source.skip(length + 1);
        match sign {
            b'\'' if quote == sign && source.peek()? == Some(quote) => {
                source.skip(1);
                text.push(quote);
                blanks = 0;
            }
            b'\n' | b'\r' => {
                text.truncate(text.len() - blanks);
                fold(source, sign, &mut text, false)?;
                blanks = 0;
            }
            b'\\' => {
                escape(source, &mut text)?;
                blanks = 0;
            }
            _ if sign == quote => return Ok(text),
            _ => {
                text.push(sign);
                blanks = if sign == b'\t' { blanks + 1 } else { 0 };
            }
        }
    }
}

/// Reads on after the break of a line in quotes, up to the next text.
fn fold(
    source: &mut BlockReader<'_>,
    mut sign: u8,
    text: &mut Vec<u8>,
    is_escaped: bool,
) -> Result<(), Broken> {
    let mut breaks = 0;
    loop {
        end_break(source, sign)?;
        while let Some(b' ' | b'\t') = source.peek()? {
            source.skip(1);
        }
        match source.peek()? {
            None => return Ok(()),
            Some(next @ (b'\n' | b'\r')) => sign = next,
            Some(_) => break,
        }
        source.skip(1);
        breaks += 1;
    }
    match breaks {
        0 if !is_escaped => text.push(b' '),
        _ => text.resize(text.len() + breaks, b'\n'),
    }
    Ok(())
}

/// Reads on after a line break whose first byte is this one.
fn end_break(source: &mut BlockReader<'_>, sign: u8) -> Result<(), Broken> {
    if sign == b'\r' && source.peek()? == Some(b'\n') {
        source.skip(1);
    }
    Ok(())
}

/// Reads an escape, after its backslash.
fn escape(source: &mut BlockReader<'_>, text: &mut Vec<u8>) -> Result<(), Broken> {
    let Some(letter) = source.peek()? else { return Ok(()) };
    source.skip(1);
    let char = match letter {
        b'\n' | b'\r' => return fold(source, letter, text, true),
        b'0' => '\0',
        b'a' => '\x07',
        b'v' => '\x0B',
        b'e' => '\x1B',
        b' ' | b'\t' => char::from(letter),
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        b'x' => code(source, 2)?,
        b'u' => code(source, 4)?,
        b'U' => code(source, 8)?,
        _ => match json::escaped(letter) {
            Some(byte) => char::from(byte),
            None => return Err(wrong(source, "an escape that YAML does not have")),
        },
    };
    text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}

fn code(source: &mut BlockReader<'_>, length: usize) -> Result<char, Broken> {
    let digits = source.take(length)?;
    let is_hex = digits.len() == length && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = str::from_utf8(&digits).ok().filter(|_| is_hex);
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let char = code.and_then(char::from_u32);
    char.ok_or_else(|| wrong(source, "an escape with a number that is no character"))
}

/// Reads a block of lines.
fn literal(source: &mut BlockReader<'_>, column: usize) -> Result<Scalar, Broken> {
    source.skip(1);
    let mut head = Vec::new();
    read_line(source, &mut head)?;
    let signs = head.iter().position(u8::is_ascii_whitespace).unwrap_or(head.len());
    let (signs, comment) = head.split_at(signs);
    let (keeps, deeper) = match *signs {
        [] => (None, None),
        [keeps @ (b'+' | b'-')] => (Some(keeps), None),
        [deeper @ b'1'..=b'9'] => (None, Some(deeper)),
        [keeps @ (b'+' | b'-'), deeper @ b'1'..=b'9']
        | [deeper @ b'1'..=b'9', keeps @ (b'+' | b'-')] => (Some(keeps), Some(deeper)),
        _ => return Err(wrong(source, "the head of a block is none")),
    };
    if !matches!(comment.trim_ascii_start().first(), None | Some(b'#')) {
        return Err(wrong(source, "the head of a block is not alone in its line"));
    }
    let mut indent = deeper.map(|digit| column + usize::from(digit - b'0'));
    let mut text = Vec::new();
    // The most spaces of a line before the first text, and the breaks since the last one.
    let (mut most, mut breaks) = (0, 0);
    let spaces = loop {
        let spaces = read_spaces(source, indent.unwrap_or(usize::MAX))?;
        most = most.max(spaces);
        let Some(next) = source.peek()? else { break 0 };
        if matches!(next, b'\n' | b'\r') {
            source.skip(1);
            end_break(source, next)?;
            breaks += 1;
            continue;
        }
        let indent = *indent.get_or_insert(most.max(column + 1));
        if spaces < indent {
            if text.is_empty() && spaces > column {
                return Err(wrong(source, "the first line of a block stands too far left"));
            }
            break spaces;
        }
        text.resize(text.len() + breaks, b'\n');
        read_line(source, &mut text)?;
        breaks = 1;
    };
    let kept = match keeps {
        Some(b'+') => breaks,
        None if !text.is_empty() => 1,
        _ => 0,
    };
    text.resize(text.len() + kept, b'\n');
    Ok(Scalar { text, after: Some(spaces) })
}

/// Reads up to so many spaces.
fn read_spaces(source: &mut BlockReader<'_>, most: usize) -> Result<usize, Broken> {
    let mut count = 0;
    while count < most {
        let chunk = source.chunk()?;
        let here = chunk.iter().take(most - count).take_while(|byte| **byte == b' ').count();
        let is_end = here < chunk.len() || here == 0;
        source.skip(here);
        count += here;
        if is_end {
            break;
        }
    }
    Ok(count)
}

/// Appends what is left of a line, and reads its break.
fn read_line(source: &mut BlockReader<'_>, line: &mut Vec<u8>) -> Result<(), Broken> {
    loop {
        let chunk = source.chunk()?;
        let length = memchr::memchr2(b'\n', b'\r', chunk).unwrap_or(chunk.len());
        line.extend_from_slice(chunk.before(length));
        let sign = chunk.get(length).copied();
        let is_empty = chunk.is_empty();
        source.skip(length + usize::from(sign.is_some()));
        match sign {
            Some(sign) => return end_break(source, sign),
            None if is_empty => return Ok(()),
            None => {}
        }
    }
}
