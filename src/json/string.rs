//! JSON strings as they are met in payloads: borrowed where they can be, and
//! with the halves of characters that a provider cut over two events.

use crate::cut::Cut as _;
use std::borrow::Cow;
use std::fmt;

/// The text in the place of half a character.
const HALF: &str = "\u{FFFD}";

/// A JSON string.
///
/// A lone surrogate becomes U+FFFD, as invalid UTF-8 does. One at either end is kept as
/// well, for it may be the half of a character whose other half is in the next event or
/// was in the last one.
#[derive(Clone)]
pub struct Str<'a>(StrForm<'a>);

/// Nearly every string is one of the first two: payloads hold many, and are moved often.
#[derive(Clone)]
enum StrForm<'a> {
    Borrowed(&'a str),
    Owned(String),
    Flawed(Box<Flawed>),
}

/// A string that holds what is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flawed {
    text: String,
    low: Option<u16>,
    high: Option<u16>,
    is_replaced: bool,
}

impl<'a> Str<'a> {
    /// Returns the text of a string that no other one continues.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            StrForm::Borrowed(text) => text,
            StrForm::Owned(text) => text,
            StrForm::Flawed(flawed) => &flawed.text,
        }
    }

    /// Returns the low surrogate that the text begins with.
    pub fn low(&self) -> Option<u16> {
        self.flawed()?.low
    }

    /// Returns the high surrogate that the text ends with.
    pub fn high(&self) -> Option<u16> {
        self.flawed()?.high
    }

    /// True if something had to be replaced.
    pub fn is_replaced(&self) -> bool {
        self.flawed().is_some_and(|flawed| flawed.is_replaced)
    }

    fn flawed(&self) -> Option<&Flawed> {
        match &self.0 {
            StrForm::Flawed(flawed) => Some(flawed),
            _ => None,
        }
    }

    /// Returns the text without the halves at its ends.
    pub fn body(&self) -> &str {
        let text = self.as_str();
        let start = if self.low().is_some() { HALF.len() } else { 0 };
        let end = if self.high().is_some() { HALF.len() } else { 0 };
        text.within(start..text.len() - end)
    }

    /// Returns a text with halves at its ends.
    pub(crate) fn with_halves(low: Option<u16>, body: Cow<'a, str>, high: Option<u16>) -> Self {
        match (low, high, body) {
            (None, None, Cow::Borrowed(text)) => Str::from(text),
            (None, None, Cow::Owned(text)) => Str::from(text),
            (low, high, body) => Str::flawed_of(low, &body, high, false),
        }
    }

    fn flawed_of(low: Option<u16>, body: &str, high: Option<u16>, is_replaced: bool) -> Self {
        let text = [low.map_or("", |_| HALF), body, high.map_or("", |_| HALF)].concat();
        Str(StrForm::Flawed(Box::new(Flawed { text, low, high, is_replaced })))
    }

    /// Returns the text, borrowed if it was. See [`Str::as_str`].
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self.0 {
            StrForm::Borrowed(text) => Cow::Borrowed(text),
            StrForm::Owned(text) => Cow::Owned(text),
            StrForm::Flawed(flawed) => Cow::Owned(flawed.text),
        }
    }

    /// True if there is neither text nor half a character.
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Returns the text, or `None` if it is empty.
    pub fn non_empty(&self) -> Option<&str> {
        Some(self.as_str()).filter(|text| !text.is_empty())
    }

    /// True if it is text and nothing else: not empty, without half characters and
    /// replacements.
    pub fn is_plain(&self) -> bool {
        !self.is_empty() && self.flawed().is_none()
    }

    /// Copies a string from the bytes that serde_json gives, in generalised UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Str::from(text.to_owned()),
            Err(_) => Str::from_wtf8(bytes),
        }
    }

    fn from_wtf8(bytes: &[u8]) -> Str<'static> {
        let (low, rest) = match surrogate(bytes) {
            Some(unit) if is_low(unit) => (Some(unit), bytes.after(3)),
            _ => (None, bytes),
        };
        let tail = rest.len().saturating_sub(3);
        let (high, body) = match rest.get(tail..).and_then(surrogate) {
            Some(unit) if !is_low(unit) => (Some(unit), rest.before(tail)),
            _ => (None, rest),
        };
        let mut text = String::with_capacity(body.len());
        let mut replaced = false;
        let mut at = 0;
        for chunk in body.utf8_chunks() {
            text.push_str(chunk.valid());
            at += chunk.valid().len();
            if chunk.invalid().is_empty() {
                continue;
            }
            // A surrogate is three invalid chunks of one byte, but one mistake.
            if body.get(at..).and_then(surrogate).is_some() || !is_inside_surrogate(body, at) {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            replaced = true;
            at += chunk.invalid().len();
        }
        Str::flawed_of(low, &text, high, replaced)
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() && self.flawed() == other.flawed()
    }
}

impl Eq for Str<'_> {}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.flawed() {
            Some(flawed) => flawed.fmt(f),
            None => self.as_str().fmt(f),
        }
    }
}

impl Default for Str<'_> {
    fn default() -> Self {
        Str(StrForm::Borrowed(""))
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Str(StrForm::Borrowed(text))
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Str(StrForm::Owned(text))
    }
}

/// Returns the surrogate at the beginning of these bytes in generalised UTF-8.
fn surrogate(bytes: &[u8]) -> Option<u16> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..] => {
            Some(0xD000 | (u16::from(*second & 0x3F) << 6) | u16::from(*third & 0x3F))
        }
        _ => None,
    }
}

fn is_inside_surrogate(bytes: &[u8], at: usize) -> bool {
    (1..=2).any(|back| {
        at.checked_sub(back).and_then(|start| bytes.get(start..)).and_then(surrogate).is_some()
    })
}

fn is_low(unit: u16) -> bool {
    unit >= 0xDC00
}

#[cfg(test)]
mod tests {
    use serde::de::{Deserialize, Deserializer, Error, Visitor};

    use super::*;

    impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            // Asked for bytes, serde_json passes lone surrogates on in generalised
            // UTF-8; asked for a string, it rejects the whole record.
            deserializer.deserialize_bytes(StrVisitor)
        }
    }

    struct StrVisitor;

    impl<'de> Visitor<'de> for StrVisitor {
        type Value = Str<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Str::from(text))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            self.visit_string(text.to_owned())
        }

        fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
            Ok(Str::from(text))
        }

        fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
            Ok(std::str::from_utf8(bytes).map_or_else(|_| Str::from_bytes(bytes), Str::from))
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            Ok(Str::from_bytes(bytes))
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self))
        }
    }

    #[track_caller]
    fn check(json: &[u8], text: &str, low: Option<u16>, high: Option<u16>, replaced: bool) {
        let got: Str<'_> = serde_json::from_slice(json).unwrap();
        assert_eq!(
            (got.body(), got.low(), got.high(), got.is_replaced()),
            (text, low, high, replaced)
        );
    }

    #[test]
    fn plain_text_is_borrowed() {
        let got: Str<'_> = serde_json::from_slice("\"h\u{e9}\"".as_bytes()).unwrap();
        assert!(matches!(got.0, StrForm::Borrowed("h\u{e9}")));
    }

    #[test]
    fn it_takes_no_more_than_a_string() {
        assert_eq!(size_of::<Option<Str<'_>>>(), size_of::<String>());
    }

    #[test]
    fn halves_at_the_ends_are_kept() {
        check(br#""a\ud83d""#, "a", None, Some(0xD83D), false);
        check(br#""\ude00b""#, "b", Some(0xDE00), None, false);
        check(br#""\ude00\ud83d""#, "", Some(0xDE00), Some(0xD83D), false);
        check(br#""\ud83d\ude00""#, "\u{1F600}", None, None, false);
    }

    #[test]
    fn a_string_by_itself_shows_its_halves() {
        let got: Str<'_> = serde_json::from_str(r#""\ude00a\ud83d""#).unwrap();
        assert_eq!(got.as_str(), "\u{FFFD}a\u{FFFD}");
    }

    #[test]
    fn halves_elsewhere_and_invalid_bytes_are_replaced() {
        check(br#""a\ud83db""#, "a\u{FFFD}b", None, None, true);
        check(b"\"a\xFFb\"", "a\u{FFFD}b", None, None, true);
        check(br#""a\ude00""#, "a\u{FFFD}", None, None, true);
        check(br#""\ud83da""#, "\u{FFFD}a", None, None, true);
    }

    #[test]
    fn other_types_are_refused() {
        assert!(serde_json::from_slice::<Str<'_>>(b"[1,2]").is_err());
        assert!(serde_json::from_slice::<Str<'_>>(b"5").is_err());
    }
}
