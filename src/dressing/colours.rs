//! The colours of a text: a program that prints any begins with one.

use crate::cut::Cut as _;
use std::borrow::Cow;

/// Takes colours out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) enum Colours {
    /// The text has not begun.
    #[default]
    Unknown,
    Off,
    /// The text begins with one. What is kept may be the beginning of another.
    On(String),
}

/// The longest sequence, in bytes.
const LONGEST: usize = 32;

impl Colours {
    /// Returns a piece without its colours.
    pub(super) fn strip<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if let Colours::Unknown = self
            && let Some(first) = text.trim_start().chars().next()
        {
            *self = if first == '\x1b' { Colours::On(String::new()) } else { Colours::Off };
        }
        let Colours::On(held) = self else { return Cow::Borrowed(text) };
        if held.is_empty() && !text.contains('\x1b') {
            return Cow::Borrowed(text);
        }
        held.push_str(text);
        let text = std::mem::take(held);
        let mut plain = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain.push_str(before);
            match sequence(after) {
                None => {
                    *held = format!("\x1b{after}");
                    return Cow::Owned(plain);
                }
                Some(0) => {
                    plain.push('\x1b');
                    rest = after;
                }
                Some(length) => rest = after.after(length),
            }
        }
        plain.push_str(rest);
        Cow::Owned(plain)
    }

    /// The text has ended: returns what was kept.
    pub(super) fn end(&mut self) -> String {
        match self {
            Colours::On(held) => std::mem::take(held),
            Colours::Unknown | Colours::Off => String::new(),
        }
    }
}

/// Returns the length of a sequence after its escape character that sets a colour, a mode or the
/// column: 0 if it is none, nothing while it may be one. One that moves back or erases breaks a word:
/// see `leftovers`.
fn sequence(text: &str) -> Option<usize> {
    let Some(parameters) = text.strip_prefix('[') else {
        return if text.is_empty() { None } else { Some(0) };
    };
    let is_parameter = |c: char| matches!(c, '0'..='?');
    let length = parameters.find(|c| !is_parameter(c)).unwrap_or(parameters.len());
    match parameters.get(length..).and_then(|rest| rest.chars().next()) {
        Some('m' | 'h' | 'l' | 'G') => Some(length + 2),
        None if length < LONGEST => None,
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        for size in 1..=text.len() {
            let mut colours = Colours::default();
            let pieces = text.as_bytes().chunks(size);
            let mut plain: String = pieces
                .map(|piece| colours.strip(std::str::from_utf8(piece).unwrap()).into_owned())
                .collect();
            plain += &colours.end();
            assert_eq!(plain, expected, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn a_text_that_begins_with_one_has_none() {
        check("\n\x1b[1;33mHi\x1b[0m.\x1b[?25h", "\nHi.");
        check("\x1b[33mab\x1b[2D\x1b[K\nabc", "ab\x1b[2D\x1b[K\nabc");
        check("\x1b[0mx\x1b", "x\x1b");
    }

    #[test]
    fn any_other_keeps_them() {
        check("Hi \x1b[1mthere\x1b[0m", "Hi \x1b[1mthere\x1b[0m");
    }
}
