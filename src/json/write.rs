//! JSON for the output: without white space between tokens, and without
//! characters in strings that could harm a terminal.

use crate::cut::Cut as _;
use crate::json::plain::{
    SUSPECT_LETTERS, after_space, append_start, calm_letters_length, char_length, plain_length,
    printable_length, string_length,
};

/// What JSON is appended to.
pub(crate) trait JsonOut {
    /// Appends the first `length` bytes of a text, which end a character.
    fn append(&mut self, text: &str, length: usize);

    /// Appends a text.
    fn push_str(&mut self, text: &str) {
        self.append(text, text.len());
    }
}

impl JsonOut for String {
    #[inline]
    fn append(&mut self, text: &str, length: usize) {
        String::push_str(self, text.before(length));
    }
}

impl JsonOut for Vec<u8> {
    #[inline]
    fn append(&mut self, text: &str, length: usize) {
        append_start(text.as_bytes(), length, self);
    }
}

/// Removes the white space between tokens of JSON text that comes in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Minifier {
    in_string: bool,
    /// True if the last byte was a backslash in a string.
    is_escaped: bool,
}

impl Minifier {
    /// Appends `json` without that white space to `out`. Copies what is between two
    /// runs of it at once.
    pub(crate) fn feed(&mut self, json: &str, out: &mut String) {
        let bytes = json.as_bytes();
        let mut at = if self.in_string { self.after_string(bytes, 0) } else { 0 };
        // The text before `from` has been appended.
        let mut from = 0;
        loop {
            let rest = bytes.after(at);
            // Above the quote are all bytes of tokens that are no strings.
            let Some(length) = rest.iter().position(|&byte| byte <= b'"') else { break };
            at += length;
            let token = after_space(bytes, at);
            if token > at {
                out.push_str(json.within(from..at));
                (from, at) = (token, token);
            } else if rest.get(length) == Some(&b'"') {
                self.in_string = true;
                at = self.after_string(bytes, at + 1);
            } else {
                at += 1;
            }
        }
        out.push_str(json.after(from));
    }

    /// Returns the place after the string that goes on at a place, or the end of the text.
    fn after_string(&mut self, bytes: &[u8], start: usize) -> usize {
        let mut at = start + usize::from(std::mem::take(&mut self.is_escaped));
        loop {
            at += string_length(bytes.after(at));
            match bytes.get(at) {
                Some(b'"') => {
                    self.in_string = false;
                    return at + 1;
                }
                Some(b'\\') if at + 1 == bytes.len() => self.is_escaped = true,
                Some(b'\\') => at += 1,
                Some(_) => {}
                None => return bytes.len(),
            }
            at += 1;
        }
    }
}

/// Returns JSON text without white space between its tokens.
pub(crate) fn minify(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    minify_into(json, &mut out);
    out
}

/// Appends JSON text without white space between its tokens.
pub(crate) fn minify_into(json: &str, out: &mut String) {
    if has_space(json) { Minifier::default().feed(json, out) } else { out.push_str(json) }
}

/// True if JSON text may hold white space, be it in a string.
pub(crate) fn has_space(json: &str) -> bool {
    // Without a branch for each byte, this becomes a few instructions for sixteen.
    let has_any = |block: &[u8]| block.iter().fold(false, |any, &byte| any | (byte <= b' '));
    json.as_bytes().chunks(64).any(has_any)
}

/// Returns text as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(text, &mut out);
    out
}

/// Returns the first sixty characters as a JSON string: enough to recognise a text.
pub(crate) fn quote_start(text: &str) -> String {
    let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    quote(text.before(end))
}

/// Appends text as a JSON string.
pub(crate) fn quote_into(text: &str, out: &mut impl JsonOut) {
    out.push_str("\"");
    escape_into(text, out);
    out.push_str("\"");
}

/// Appends text as the inside of a JSON string.
pub(crate) fn escape_into(text: &str, out: &mut impl JsonOut) {
    escape(text, true, out);
}

/// Appends JSON text whose strings may hold harmful characters, with these as
/// escapes. In valid JSON, such characters stand only in strings.
pub(crate) fn make_safe(json: &str, out: &mut impl JsonOut) {
    escape(json, false, out);
}

fn escape(text: &str, is_content: bool, out: &mut impl JsonOut) {
    let mut rest = text;
    loop {
        let clean = clean_length(rest.as_bytes(), is_content);
        out.append(rest, clean);
        rest = rest.after(clean);
        if rest.is_empty() {
            return;
        }
        // Mostly several stand together.
        while let Some(&byte) = rest.as_bytes().first() {
            let length = match escape_of(byte, is_content) {
                Some(escape) => {
                    out.append(escape, 2);
                    1
                }
                None if is_suspect(byte) => push_suspect(rest, out),
                None => break,
            };
            rest = rest.after(length);
        }
    }
}

/// Returns the escape of a byte that has one of two characters; of JSON text, only in strings.
#[inline]
fn escape_of(byte: u8, is_content: bool) -> Option<&'static str> {
    match byte {
        b'"' if is_content => Some("\\\""),
        b'\\' if is_content => Some("\\\\"),
        b'\n' => Some("\\n"),
        b'\r' => Some("\\r"),
        b'\t' => Some("\\t"),
        _ => None,
    }
}

/// Appends the first character of a text, as an escape if it is harmful; returns its length.
#[inline(never)]
fn push_suspect(text: &str, out: &mut impl JsonOut) -> usize {
    let Some(c) = text.chars().next() else { return 0 };
    if !is_harmful(c) {
        out.append(text, c.len_utf8());
        return c.len_utf8();
    }
    push_escape(c, out);
    c.len_utf8()
}

fn push_escape(c: char, out: &mut impl JsonOut) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.append("\\u", 2);
        for shift in [12, 8, 4, 0] {
            let digit = usize::from(*unit >> shift & 15);
            out.append(HEX.after(digit), 1);
        }
    }
}

const HEX: &str = "0123456789abcdef";

/// Returns the JSON array of these elements, which are JSON.
pub(crate) fn array(elements: impl IntoIterator<Item: AsRef<str>>) -> String {
    let mut out = String::from("[");
    for element in elements {
        out.push_str(if out.len() > 1 { "," } else { "" });
        out.push_str(element.as_ref());
    }
    out + "]"
}

/// The bytes that most objects fit into.
const USUAL: usize = 256;

/// Returns the JSON object of these members: their names, and their values as JSON.
pub(crate) fn object(
    members: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
) -> String {
    let mut out = String::with_capacity(USUAL);
    out.push('{');
    for (name, value) in members {
        out.push_str(if out.len() > 1 { "," } else { "" });
        quote_into(name.as_ref(), &mut out);
        out.push(':');
        out.push_str(value.as_ref());
    }
    out + "}"
}

/// Returns the byte offset of the first character that may need an escape.
pub(crate) fn find_escape(text: &str) -> Option<usize> {
    Some(clean_length(text.as_bytes(), true)).filter(|&clean| clean < text.len())
}

/// Returns how many of the first bytes need no escape, as far as a few tell.
#[inline]
fn clean_length(text: &[u8], is_content: bool) -> usize {
    let mut clean = 0;
    loop {
        let rest = text.after(clean);
        clean += if is_content { plain_length(rest) } else { printable_length(rest) };
        match letters_length(text.after(clean)) {
            0 => return clean,
            letters => clean += letters,
        }
    }
}

/// Returns how many of the first bytes are of characters that are not ASCII and not harmful, as far
/// as their first two bytes tell; of dashes and the like, as far as all three do.
fn letters_length(text: &[u8]) -> usize {
    let is_letter = |text: &&[u8]| text.first().is_some_and(|byte| !byte.is_ascii());
    let mut length = 0;
    while let Some(rest) = text.get(length..).filter(is_letter) {
        let is_calm = match rest {
            [0xC2, second, ..] => *second >= 0xA0,
            [0xD8, second, ..] => *second != 0x9C,
            [0xE1 | 0xF3, second, ..] => *second != 0xA0,
            [0xE2, 0x80, third, ..] => matches!(third, 0x90..=0xA7),
            [0xE2, second, ..] => *second != 0x81,
            [0xEF, second, ..] => !matches!(second, 0xBB | 0xBF),
            _ => true,
        };
        if !is_calm {
            break;
        }
        length += char_length(rest);
        // Mostly a letter stands alone, or among many.
        if let Some(rest) = text.get(length..).filter(is_letter) {
            length += calm_letters_length(rest);
        }
    }
    length
}

/// True for the bytes that are, or begin, a character that may be harmful.
#[inline]
fn is_suspect(byte: u8) -> bool {
    byte.is_ascii_control() || SUSPECT_LETTERS.contains(&byte)
}

/// Control characters, line separators, bidirectional controls, zero-width and
/// tag characters: what can move a cursor, hide text or change its order.
pub(crate) fn is_harmful(c: char) -> bool {
    matches!(c,
        '\0'..='\x1F' | '\x7F'..='\u{9F}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
}

/// Appends JSON text as [`make_safe`] does, with escapes also for characters that look like nothing
/// and move nothing: for people, who could not see them.
#[cfg(feature = "cli")]
pub(crate) fn make_visible(json: &str, out: &mut impl JsonOut) {
    let mut rest = json;
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| has_no_ink(*c)) {
        let (before, from) = rest.split_at(at);
        make_safe(before, out);
        push_escape(c, out);
        rest = from.after(c.len_utf8());
    }
    make_safe(rest, out);
}

/// Returns a line of JSON of a value of ours, as [`make_safe`] writes it. Text, numbers, flags and
/// lists of them never fail: what does is said in its place.
#[cfg(feature = "cli")]
pub(crate) fn line_of(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_else(|error| quote(&error.to_string()));
    let mut line = String::with_capacity(json.len() + 1);
    make_safe(&json, &mut line);
    line.push('\n');
    line
}

/// True for fillers, soft hyphens, the blank pattern of Braille, and what picks the form of a
/// character but for the two that emoji have. Source: `Default_Ignorable_Code_Point` of Unicode 16,
/// <https://www.unicode.org/Public/16.0.0/ucd/DerivedCoreProperties.txt>.
#[cfg(feature = "cli")]
fn has_no_ink(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0D}' | '\u{FFA0}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0080}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minifying_leaves_strings_alone() {
        assert_eq!(minify("[\"\\\u{e9}\u{e9}\", 1]"), "[\"\\\u{e9}\u{e9}\",1]");
        let json = " { \"a b\\\" \\\\\" : [ 1 ,\n2 ] , \"c\" : \" \\\\\" } ";
        let expected = r#"{"a b\" \\":[1,2],"c":" \\"}"#;
        assert_eq!(minify(json), expected);
        let (mut minifier, mut out) = (Minifier::default(), String::new());
        for piece in json.as_bytes().chunks(1) {
            minifier.feed(std::str::from_utf8(piece).unwrap(), &mut out);
        }
        assert_eq!(out, expected);
    }

    #[test]
    fn harmful_characters_are_escaped_and_come_back() {
        let text = "a\u{1b}[2J\"\\\n\u{9b}\u{202e}\u{200d}\u{e0041}\u{7f}\u{e9}\u{2014}\u{1F600}";
        let quoted = quote(text);
        assert_eq!(
            quoted,
            "\"a\\u001b[2J\\\"\\\\\\n\\u009b\\u202e\\u200d\\udb40\\udc41\\u007f\u{e9}\u{2014}\u{1F600}\""
        );
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }

    #[test]
    fn every_harmful_character_is_found() {
        let letters = "\u{5b57}".repeat(20);
        for c in '\0'..=char::MAX {
            let may_stay = !(is_harmful(c) || matches!(c, '"' | '\\'));
            for before in ["a\u{e9}", "\u{5b57}\u{5b57}\u{ff0c}", &letters] {
                let found = find_escape(&format!("{before}{c}"));
                assert!(found == Some(before.len()) || found.is_none() && may_stay, "{c:?}");
            }
        }
        for calm in ["a — b… ‘c’ “d”", "→ ✓ ⟨", "你好，世界！", "مرحبا", "tiếng Việt", "«ici» £5"]
        {
            assert_eq!(find_escape(calm), None);
        }
    }

    #[test]
    fn json_is_made_safe_without_a_second_layer_of_escapes() {
        let mut out = String::new();
        make_safe("{\"a\":\"\\n\u{202e}\"}", &mut out);
        assert_eq!(out, "{\"a\":\"\\n\\u202e\"}");
    }
}
