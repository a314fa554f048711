//! Where the values of JSON text end.

use crate::cut::Cut as _;
use crate::json::plain::{after_space, inside_length, is_space, string_length};
use crate::json::scanner::is_escape_letter;

/// Returns the place after the value at a place, which may have white space before it; `None` if
/// it is no JSON.
pub(super) fn value_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // A bit for each container that is open, the innermost lowest: 1 for an object.
    let (mut open, mut depth) = (0_u64, 0_usize);
    let mut outer = Vec::new();
    loop {
        at = after_space(text, at);
        at = match *text.get(at)? {
            b'"' => string_end(text, at)?,
            opener @ (b'{' | b'[') => {
                at = after_space(text, at + 1);
                if *text.get(at)? != opener + 2 {
                    if depth > 0 && depth % 64 == 0 {
                        outer.push(open);
                    }
                    (open, depth) = (open << 1 | u64::from(opener == b'{'), depth + 1);
                    if opener == b'{' {
                        at = key_end(text, at)?;
                    }
                    continue;
                }
                at + 1
            }
            b't' => word_end(text, at, b"true")?,
            b'f' => word_end(text, at, b"false")?,
            b'n' => word_end(text, at, b"null")?,
            _ => number_end(text, at)?,
        };
        loop {
            if depth == 0 {
                return Some(at);
            }
            at = after_space(text, at);
            match (*text.get(at)?, open & 1 == 1) {
                (b',', true) => {
                    at = key_end(text, after_space(text, at + 1))?;
                    break;
                }
                (b',', false) => {
                    at += 1;
                    break;
                }
                (b'}', true) | (b']', false) => {
                    (at, open, depth) = (at + 1, open >> 1, depth - 1);
                    if depth > 0 && depth % 64 == 0 {
                        open = outer.pop()?;
                    }
                }
                _ => return None,
            }
        }
    }
}

/// Returns the place after the colon that follows the key at a place.
#[inline]
fn key_end(text: &[u8], start: usize) -> Option<usize> {
    if *text.get(start)? != b'"' {
        return None;
    }
    let colon = after_space(text, string_end(text, start)?);
    (*text.get(colon)? == b':').then_some(colon + 1)
}

/// Returns the place after the string whose opening quote is at a place.
#[inline]
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let end = start + 1 + string_length(text.get(start + 1..)?);
    match *text.get(end)? {
        b'"' => Some(end + 1),
        _ => escaped_end(text, end),
    }
}

/// Returns the place after the string that has its first escape at a place.
#[inline(never)]
fn escaped_end(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at = escape_end(text, at)?,
            _ => return None,
        }
        at += string_length(text.get(at..)?);
    }
}

/// Returns the place after the escape whose backslash is at a place.
fn escape_end(text: &[u8], start: usize) -> Option<usize> {
    match *text.get(start + 1)? {
        b'u' => {
            let digits = text.get(start + 2..start + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(start + 6)
        }
        letter => is_escape_letter(letter).then_some(start + 2),
    }
}

/// Returns the place after a word at a place.
pub(super) fn word_end(text: &[u8], start: usize, word: &[u8]) -> Option<usize> {
    text.get(start..)?.starts_with(word).then_some(start + word.len())
}

/// Returns the place after the number at a place.
#[inline]
pub(super) fn number_end(text: &[u8], start: usize) -> Option<usize> {
    let end = after_digits(text, start);
    match text.get(end) {
        // Most are whole, and end where a member or an element does.
        Some(b',' | b'}' | b']') if matches!(text.get(start), Some(b'1'..=b'9')) => Some(end),
        _ => long_number_end(text, start),
    }
}

/// Returns the place after a number of any form.
fn long_number_end(text: &[u8], start: usize) -> Option<usize> {
    let is = |at: usize, bytes: &[u8]| text.get(at).is_some_and(|byte| bytes.contains(byte));
    let digits = |start: usize| Some(after_digits(text, start)).filter(|&end| end > start);
    let whole = start + usize::from(is(start, b"-"));
    let mut end = digits(whole)?;
    if is(whole, b"0") && end > whole + 1 {
        return None;
    }
    if is(end, b".") {
        end = digits(end + 1)?;
    }
    if is(end, b"eE") {
        end = digits(end + 1 + usize::from(is(end + 1, b"+-")))?;
    }
    Some(end)
}

/// Returns the first place from this one on that has no digit.
#[inline]
fn after_digits(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Returns the length of the value that a text begins with, which is known to be JSON.
pub(super) fn value_length(json: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    if !matches!(json.first(), Some(b'"' | b'{' | b'[')) {
        let is_end = |&byte: &u8| matches!(byte, b'}' | b']' | b',') || is_space(byte);
        return json.iter().position(is_end).unwrap_or(json.len());
    }
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => at += 1 + inside_length(json.after(at + 1)),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    at
}
