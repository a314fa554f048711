//! The pattern of a marker, parsed from its text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::scan::MAX_WORD;

/// The number of tokens that most patterns have, or less.
const USUAL: usize = 8;

/// The names that words are asked for by.
const NAMES: [&str; 8] = ["name", "key", "id", "type", "suffix", "server", "ns", "_"];

/// The pattern of a marker. Copies share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(super) tokens: Arc<[PatternToken]>,
    place: MarkerPlace,
    /// What a match begins with, as far as that is known.
    head: FirstBytes,
}

/// The first eight bytes of a text, or fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstBytes {
    bytes: u64,
    /// The bits of those that count.
    mask: u64,
}

impl FirstBytes {
    pub(crate) fn new(text: &[u8]) -> Self {
        let (mut bytes, mut mask) = ([0; 8], [0; 8]);
        for ((byte, mask), known) in bytes.iter_mut().zip(&mut mask).zip(text) {
            (*byte, *mask) = (*known, u8::MAX);
        }
        FirstBytes { bytes: u64::from_le_bytes(bytes), mask: u64::from_le_bytes(mask) }
    }

    /// True if a text does not begin so, as far as it goes.
    #[inline]
    pub(crate) fn differs(self, text: &[u8]) -> bool {
        match text.first_chunk() {
            Some(first) => (u64::from_le_bytes(*first) ^ self.bytes) & self.mask != 0,
            None => {
                let bytes = text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                let is_there = !(u64::MAX << (8 * text.len()));
                (bytes ^ self.bytes) & self.mask & is_there != 0
            }
        }
    }
}

/// The place in a message where a marker may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkerPlace {
    /// Anywhere.
    Any,
    /// The beginning of the message, or of its answer after the reasoning.
    Start,
    /// The beginning of a line.
    Line,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternToken {
    /// Text as it is; true if only a tag has it.
    Literal(String, bool),
    Space,
    Blank,
    Newline,
    Namespace,
    /// Digits.
    Number,
    /// A word, up to a byte that no word has, or that begins the next literal.
    Word(&'static str, Option<u8>),
    /// Anything of a line without a brace, up to this text, which follows, and not past the other.
    Any(String, String),
    /// A tag's attributes, of which these are captured.
    Attributes(Vec<WantedAttribute>),
    /// An optional part, up to the token of this number.
    Optional(usize),
    OptionalEnd,
    Capture(&'static str),
    CaptureEnd,
}

/// An attribute that is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedAttribute {
    pub(super) word: &'static str,
    pub(super) attribute: String,
    pub(super) may_miss: bool,
    pub(super) is_escaped: bool,
}

/// A word of a match, after its name in the pattern.
pub(crate) type CapturedWord<'t> = (&'static str, Cow<'t, str>);

/// The captures of a match: words by their names, and a tag's attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Captures<'t> {
    /// Words, by their names in the pattern.
    pub words: SmallVec<[CapturedWord<'t>; 1]>,
    /// The text of the tag's attributes.
    pub attributes: Cow<'t, str>,
}

impl Captures<'_> {
    /// Returns the word of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(key, _)| *key == name).map(|(_, word)| word.as_ref())
    }

    /// Returns the words whose names are kept, without the text that they stand in.
    pub(crate) fn keep(&self, is_kept: impl Fn(&str) -> bool) -> Captures<'static> {
        let mut kept = Captures::default();
        for (name, word) in self.words.iter().filter(|(name, _)| is_kept(name)) {
            kept.words.push((name, owned(word)));
        }
        kept
    }

    /// Returns all of it without the text that it stands in.
    pub(crate) fn to_static(&self) -> Captures<'static> {
        Captures { attributes: owned(&self.attributes), ..self.keep(|_| true) }
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    if text.is_empty() { Cow::Borrowed("") } else { Cow::Owned(text.to_owned()) }
}

/// The letters that a name has, at least, which is known where it is damaged.
const NAME: usize = 4;

impl Pattern {
    fn new(tokens: impl Into<Arc<[PatternToken]>>, place: MarkerPlace) -> Self {
        let tokens = tokens.into();
        let first = match tokens.first() {
            Some(PatternToken::Literal(text, _)) => text.as_bytes(),
            _ => &[],
        };
        Pattern { head: FirstBytes::new(first), tokens, place }
    }

    /// Parses a pattern. Fails with a sentence that names what is wrong in it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (place, mut rest) = match text {
            _ if text.starts_with("{start}") => {
                (MarkerPlace::Start, text.trim_start_matches("{start}"))
            }
            _ if text.starts_with("{line}") => {
                (MarkerPlace::Line, text.trim_start_matches("{line}"))
            }
            _ => (MarkerPlace::Any, text),
        };
        let mut tokens = Vec::with_capacity(USUAL);
        while let Some((literal, tail)) = cut(rest, b'{') {
            // A brace that opens no word is a brace: JSON follows some markers.
            let Some((inside, tail)) = cut(tail, b'}') else { break };
            if !literal.is_empty() {
                tokens.push(PatternToken::literal(literal));
            }
            tokens.push(PatternToken::parse(inside)?);
            rest = tail;
        }
        if !rest.is_empty() {
            tokens.push(PatternToken::literal(rest));
        }
        link(&mut tokens)?;
        let pattern = Pattern::new(tokens, place);
        let has_head = pattern.head.mask != 0;
        if place != MarkerPlace::Start && !has_head && pattern.first_bytes().is_empty() {
            return Err(format!(
                "the pattern {text:?} must begin with text that tells it from other text"
            ));
        }
        Ok(pattern)
    }

    /// Parses a closer: a pattern, or several with `{|}` between them; none if
    /// the text is empty.
    pub(crate) fn parse_any(text: &str) -> Result<Vec<Self>, String> {
        text.split("{|}").filter(|text| !text.is_empty()).map(Self::parse).collect()
    }

    /// Parses patterns that have no mistakes.
    pub(crate) fn parse_all(texts: &[&str]) -> Vec<Self> {
        texts.iter().filter_map(|text| Self::parse(text).ok()).collect()
    }

    /// Returns the place where the marker may stand.
    pub(crate) fn place(&self) -> MarkerPlace {
        self.place
    }

    /// True if it begins like the special tokens of many models.
    pub(crate) fn is_token(&self) -> bool {
        match self.tokens.first() {
            Some(PatternToken::Literal(text, _)) => is_token(text.as_bytes()),
            _ => false,
        }
    }

    /// Returns the pattern up to the end of its first tag, white space before that aside.
    pub(crate) fn first_tag(&self) -> Pattern {
        let is_space = |token: &&PatternToken| {
            matches!(token, PatternToken::Newline | PatternToken::Blank | PatternToken::Space)
        };
        let from = self.tokens.iter().take_while(is_space).count();
        let (mut tokens, mut at): (Vec<PatternToken>, usize) = (Vec::new(), from);
        while let Some(token) = self.tokens.get(at) {
            let end = match token {
                PatternToken::Literal(text, _) if !text.starts_with("]<]") => text.find('>'),
                _ => None,
            };
            // Where blanks may follow, it is spelt in several tokens.
            let is_spelt = matches!(self.tokens.get(at + 1), Some(PatternToken::Blank));
            if let (PatternToken::Literal(text, _), Some(end)) = (token, end.filter(|_| !is_spelt))
            {
                tokens.push(PatternToken::literal(text.before(end + 1)));
                return Pattern::new(tokens, self.place);
            }
            let next = match token {
                PatternToken::Optional(end) => end + 1,
                _ => at + 1,
            };
            tokens.extend(self.tokens.within(at..next).iter().cloned().map(|token| match token {
                PatternToken::Optional(end) => PatternToken::Optional(end - from),
                token => token,
            }));
            at = next;
        }
        self.clone()
    }

    /// Returns the pattern from its last tag on, if white space may stand before that.
    pub(crate) fn last_tag(&self) -> Pattern {
        let (mut from, mut at, mut is_spaced) = (0, 0, false);
        while let Some(token) = self.tokens.get(at) {
            let next = match token {
                PatternToken::Optional(end) => end + 1,
                _ => at + 1,
            };
            if is_spaced && matches!(token, PatternToken::Literal(text, _) if text.starts_with('<'))
            {
                from = at;
            }
            let inner = self.tokens.within(at..next);
            is_spaced = matches!(
                inner,
                [.., PatternToken::Space] | [.., PatternToken::Space, PatternToken::OptionalEnd]
            );
            at = next;
        }
        let tokens = self.tokens.iter().skip(from).cloned().map(|token| match token {
            PatternToken::Optional(end) => PatternToken::Optional(end - from),
            token => token,
        });
        let place = if from == 0 { self.place } else { MarkerPlace::Any };
        Pattern::new(tokens.collect::<Vec<_>>(), place)
    }

    /// True if it begins with a tag or a token, whatever else it holds.
    pub(crate) fn begins_tag(&self) -> bool {
        matches!(self.tokens.first(), Some(PatternToken::Literal(text, _))
            if text.starts_with(['<', '[', ']']) || !text.is_ascii())
    }

    /// The pattern where it stands at the beginning of a line.
    pub(crate) fn on_a_line(self) -> Pattern {
        Pattern { place: MarkerPlace::Line, ..self }
    }

    /// The pattern after a line end, wherever it stands.
    pub(crate) fn after_line_end(&self) -> Pattern {
        let tokens = self.tokens.iter().cloned().map(|token| match token {
            PatternToken::Optional(end) => PatternToken::Optional(end + 1),
            token => token,
        });
        let tokens: Vec<PatternToken> =
            [PatternToken::literal("\n")].into_iter().chain(tokens).collect();
        Pattern::new(tokens, MarkerPlace::Any)
    }

    /// The pattern before a line end.
    pub(crate) fn before_line_end(&self) -> Pattern {
        let tokens = self.tokens.iter().cloned().chain([PatternToken::literal("\n")]);
        Pattern::new(tokens.collect::<Vec<_>>(), self.place)
    }

    /// Returns what a marker begins with whose first name is damaged: the name as it is, and without
    /// one of its characters. Nothing if it has no name that tells it from other text.
    pub(crate) fn damaged(&self) -> Vec<Pattern> {
        let mut texts = Vec::new();
        for start in self.starts() {
            let text = String::from_utf8_lossy(&start.text);
            let text = text.trim_start();
            let (name, rest) = text.split_at(text.find([' ', '=', '>', '"']).unwrap_or(text.len()));
            // What comes before the name tells nothing.
            let is_first = match rest.strip_prefix('>') {
                Some("") => start.is_token() && !start.is_before_word,
                Some(rest) => rest.starts_with(char::is_alphabetic),
                None => false,
            };
            let letters = name.bytes().filter(u8::is_ascii_alphabetic).count();
            if is_first || letters < NAME {
                continue;
            }
            texts.push(name.to_owned());
            texts.extend(
                name.char_indices()
                    .map(|(at, c)| [name.before(at), name.after(at + c.len_utf8())].concat()),
            );
        }
        texts.sort_unstable();
        texts.dedup();
        let pattern = |text: String| Pattern::new([PatternToken::literal(&text)], MarkerPlace::Any);
        texts.into_iter().map(pattern).collect()
    }

    /// Returns the pattern, and if it begins with an optional part, that without it and the rest.
    pub(crate) fn without_option(&self) -> impl Iterator<Item = Pattern> {
        let rest = match self.tokens.first() {
            Some(PatternToken::Optional(end)) => {
                let part = |from: usize, to: usize| {
                    let tokens = self.tokens.within(from..to);
                    let tokens = tokens.iter().cloned().map(|token| match token {
                        PatternToken::Optional(end) => PatternToken::Optional(end - from),
                        token => token,
                    });
                    Pattern::new(tokens.collect::<Vec<_>>(), self.place)
                };
                vec![part(1, *end), part(end + 1, self.tokens.len())]
            }
            _ => vec![self.clone()],
        };
        rest.into_iter()
    }

    /// Returns a list of one pattern that no text matches: only the end may stand for it.
    pub(crate) fn never() -> Vec<Pattern> {
        vec![Pattern::new([PatternToken::literal("\0")], MarkerPlace::Any)]
    }

    /// True if it has no text of its own.
    pub(crate) fn is_blank(&self) -> bool {
        !self.tokens.iter().any(|token| matches!(token, PatternToken::Literal(..)))
    }

    /// True if it is the end of a line, and no more.
    pub(crate) fn is_line_end(&self) -> bool {
        matches!(&*self.tokens, [PatternToken::Literal(text, _)] if text == "\n")
    }

    /// Returns the pattern with its words replaced by the captures of an opener. Words that
    /// have no capture stay words. Texts that stand side by side become one.
    pub(crate) fn bind(&self, captures: &Captures<'_>) -> Pattern {
        let varies = |token: &PatternToken| match token {
            PatternToken::Word(name, _) => captures.get(name).is_some(),
            token => matches!(token, PatternToken::Namespace),
        };
        if !self.tokens.iter().any(varies) {
            return self.clone();
        }
        let mut tokens: Vec<PatternToken> = Vec::with_capacity(self.tokens.len());
        for token in self.tokens.iter() {
            let bound = match token {
                PatternToken::Word(name, _) => {
                    captures.get(name).map_or_else(|| token.clone(), PatternToken::literal)
                }
                PatternToken::Namespace => {
                    PatternToken::literal(captures.get("ns").unwrap_or_default())
                }
                token => token.clone(),
            };
            match (tokens.last_mut(), bound) {
                (_, PatternToken::Literal(text, _)) if text.is_empty() => {}
                (
                    Some(PatternToken::Literal(before, false)),
                    PatternToken::Literal(text, false),
                ) => {
                    before.push_str(&text);
                }
                (_, bound) => tokens.push(bound),
            }
        }
        for at in 0..tokens.len() {
            if let (PatternToken::Optional(_), Some(end)) = (&tokens[at], end_of(&tokens, at)) {
                tokens[at] = PatternToken::Optional(end);
            }
        }
        Pattern::new(tokens, self.place)
    }

    /// True if a match can begin as this text does, as far as line ends, literals
    /// and a namespace at the pattern's beginning tell.
    #[inline]
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        !self.head.differs(text) && self.fits(text)
    }

    fn fits(&self, text: &[u8]) -> bool {
        let (mut tokens, mut rest) = (&*self.tokens, text);
        loop {
            (tokens, rest) = match tokens {
                [PatternToken::Newline, after @ ..] => {
                    (after, rest.strip_prefix(b"\n").unwrap_or(rest))
                }
                [PatternToken::Literal(literal, _), after @ ..] => {
                    let (literal, known) = (literal.as_bytes(), literal.len().min(rest.len()));
                    if literal.get(..known) != rest.get(..known) {
                        return false;
                    }
                    (after, rest.after(known))
                }
                [PatternToken::Namespace, after @ ..] => {
                    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric());
                    match rest.get(letters.take(MAX_WORD).count()) {
                        Some(byte) if *byte != b':' => (after, rest),
                        _ => return true,
                    }
                }
                [PatternToken::Word(..), ..] => {
                    return rest.first().is_none_or(|&byte| begins_word(byte));
                }
                _ => return true,
            };
            if rest.is_empty() {
                return true;
            }
        }
    }

    /// Returns the bytes that a match can begin with; none if that can be any.
    pub(crate) fn first_bytes(&self) -> SmallVec<[u8; 4]> {
        let mut bytes = SmallVec::new();
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            match token {
                PatternToken::Literal(text, _) if text.is_empty() => {}
                PatternToken::Literal(text, _) => {
                    bytes.extend(text.bytes().next());
                    return bytes;
                }
                PatternToken::Newline => bytes.push(b'\n'),
                PatternToken::Blank => bytes.extend(*b" \t"),
                PatternToken::Space => bytes.extend(*b" \t\r\n"),
                PatternToken::Optional(end) => {
                    let inner = self.tokens.within(at + 1..*end);
                    bytes.extend(Pattern::new(inner, MarkerPlace::Any).first_bytes());
                    at = *end;
                }
                PatternToken::Capture(_) | PatternToken::CaptureEnd | PatternToken::OptionalEnd => {
                }
                _ => break,
            }
            at += 1;
        }
        SmallVec::new()
    }
}

impl Pattern {
    /// True if [`Pattern::bind`] replaces an opener's word of this name.
    pub(crate) fn has_word(&self, name: &str) -> bool {
        self.tokens.iter().any(|token| match token {
            PatternToken::Word(word, _) => *word == name,
            token => matches!(token, PatternToken::Namespace) && name == "ns",
        })
    }

    /// True if a namespace may stand in it.
    pub(crate) fn has_namespace(&self) -> bool {
        self.tokens.contains(&PatternToken::Namespace)
    }

    /// Returns the length of the text that each match holds, in bytes: none is shorter.
    pub(crate) fn min_length(&self) -> usize {
        let (mut length, mut at) = (0, 0);
        while let Some(token) = self.tokens.get(at) {
            at = match token {
                PatternToken::Optional(end) => end + 1,
                _ => at + 1,
            };
            if let PatternToken::Literal(text, _) = token {
                length += text.len();
            }
        }
        length
    }

    /// Returns the texts that a match can begin with, up to the first part that varies. Empty if
    /// the first byte can be any. Tags stand there without a namespace: see
    /// [`Pattern::has_namespace`].
    pub(crate) fn starts(&self) -> Vec<MatchStart> {
        let mut starts = Vec::new();
        if collect_starts(&self.tokens, 0, Vec::new(), &mut starts) { starts } else { Vec::new() }
    }
}

/// Returns what stands before the first of these ASCII characters, and after it.
fn cut(text: &str, sign: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(sign, text.as_bytes())?;
    text.get(..at).zip(text.get(at + 1..))
}

/// A text that a match can begin with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MatchStart {
    pub(crate) text: Vec<u8>,
    /// True if a word follows; else any byte may.
    pub(crate) is_before_word: bool,
}

impl MatchStart {
    /// True if it begins like the special tokens of many models.
    pub(crate) fn is_token(&self) -> bool {
        is_token(&self.text)
    }
}

fn is_token(text: &[u8]) -> bool {
    let starts = ["<|", "</|", "<\u{ff5c}", "</\u{ff5c}", "]<]"];
    starts.iter().any(|start| text.starts_with(start.as_bytes()))
}

/// True for what stands before the namespace of a tag.
fn is_tag(start: &[u8]) -> bool {
    matches!(start, b"<" | b"</" | b"\n<" | b"\n</")
}

/// The namespace of the tag that a text begins with.
pub(crate) enum Namespace {
    None,
    /// The text ends too soon to tell.
    Open,
    /// These bytes, with the colon.
    Is(Range<usize>),
}

/// Returns the namespace of the tag that a text begins with.
pub(crate) fn namespace(text: &[u8]) -> Namespace {
    let line = text.strip_prefix(b"\n").unwrap_or(text);
    let name = match line.strip_prefix(b"<") {
        Some(tag) => tag.strip_prefix(b"/").unwrap_or(tag),
        None if line.is_empty() => return Namespace::Open,
        None => return Namespace::None,
    };
    let letters = name.iter().take(MAX_WORD).take_while(|byte| byte.is_ascii_alphanumeric());
    let (begin, letters) = (text.len() - name.len(), letters.count());
    match name.get(letters) {
        None => Namespace::Open,
        Some(b':') if letters > 0 => Namespace::Is(begin..begin + letters + 1),
        Some(_) => Namespace::None,
    }
}

/// Adds how a match of the tokens from `at` on can begin, after the text `start`.
/// Returns false if that can be any byte.
fn collect_starts(
    tokens: &[PatternToken],
    mut at: usize,
    mut start: Vec<u8>,
    starts: &mut Vec<MatchStart>,
) -> bool {
    let after = |start: &[u8], byte: u8| [start, &[byte]].concat();
    let mut is_before_word = false;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let space: &[u8] = match token {
            PatternToken::Literal(text, _) => {
                start.extend_from_slice(text.as_bytes());
                continue;
            }
            PatternToken::Capture(_) | PatternToken::CaptureEnd | PatternToken::OptionalEnd => {
                continue;
            }
            PatternToken::Namespace if is_tag(&start) => continue,
            PatternToken::Word(..) | PatternToken::Number => {
                is_before_word = true;
                break;
            }
            // Two bytes tell markers apart; each part that varies would double the texts.
            _ if start.len() > 1 => break,
            PatternToken::Optional(end) => {
                if !collect_starts(tokens, end + 1, start.clone(), starts) {
                    return false;
                }
                continue;
            }
            PatternToken::Newline => {
                collect_starts(tokens, at, after(&start, b'\n'), starts);
                continue;
            }
            PatternToken::Blank => b" \t",
            PatternToken::Space => b" \t\r\n",
            _ => break,
        };
        let spaced = space.iter().map(|&byte| after(&start, byte));
        starts.extend(spaced.map(|text| MatchStart { text, is_before_word: false }));
    }
    if start.is_empty() {
        return false;
    }
    starts.push(MatchStart { text: start, is_before_word });
    true
}

/// Sets what each token has to know of the tokens after it.
fn link(tokens: &mut [PatternToken]) -> Result<(), String> {
    for at in 0..tokens.len() {
        let linked = match &tokens[at] {
            PatternToken::Word(name, _) => {
                let stop = literal_after(tokens, at).and_then(|literal| literal.bytes().next());
                PatternToken::Word(name, stop)
            }
            PatternToken::Any(_, other) => {
                let until = literal_after(tokens, at).ok_or("{*} needs text after it")?;
                PatternToken::Any(until.to_owned(), other.clone())
            }
            PatternToken::Optional(_) => {
                PatternToken::Optional(end_of(tokens, at).ok_or("{[} needs its {]}")?)
            }
            _ => continue,
        };
        tokens[at] = linked;
    }
    Ok(())
}

/// Returns the end of the optional part that begins with a token.
fn end_of(tokens: &[PatternToken], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (end, token) in tokens.iter().enumerate().skip(at) {
        match token {
            PatternToken::Optional(_) => depth += 1,
            PatternToken::OptionalEnd if depth == 1 => return Some(end),
            PatternToken::OptionalEnd => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the literal that comes next after a token, white space aside.
fn literal_after(tokens: &[PatternToken], at: usize) -> Option<&str> {
    let after = tokens.iter().skip(at + 1);
    let is_seen = |token: &&PatternToken| {
        use PatternToken::{Blank, CaptureEnd, Newline, OptionalEnd, Space};
        !matches!(token, CaptureEnd | OptionalEnd | Space | Blank | Newline)
    };
    let mut after = after.filter(is_seen);
    match after.next() {
        Some(PatternToken::Literal(literal, _)) => Some(literal),
        _ => None,
    }
}

/// True for a byte of the names of tools, of keys and of ids.
pub(super) fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// True for a byte that a word can begin with.
pub(crate) fn begins_word(byte: u8) -> bool {
    is_word(byte) && byte != b'/'
}

static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80
            || (byte as u8).is_ascii_alphanumeric()
            || matches!(byte as u8, b'_' | b'-' | b'.' | b':' | b'/' | b'$' | b'@');
        byte += 1;
    }
    table
};

/// Returns the name that a word is asked for by; nothing if it is never asked for.
fn known(name: &str) -> &'static str {
    NAMES.into_iter().find(|known| *known == name).unwrap_or_default()
}

impl PatternToken {
    fn literal(text: &str) -> Self {
        let is_tag = text.bytes().any(|byte| matches!(byte, b'<' | b'[') || !byte.is_ascii());
        let has_word = text.contains(|c: char| c.is_alphanumeric());
        PatternToken::Literal(text.to_owned(), is_tag && has_word)
    }

    fn parse(inside: &str) -> Result<Self, String> {
        Ok(match inside {
            "ws" => PatternToken::Space,
            "sp" => PatternToken::Blank,
            "nl" => PatternToken::Newline,
            "ns" => PatternToken::Namespace,
            "number" => PatternToken::Number,
            "name" | "key" | "id" | "type" | "suffix" | "server" | "_" => {
                PatternToken::Word(known(inside), None)
            }
            "{" => PatternToken::literal("{"),
            "[" => PatternToken::Optional(0),
            "]" => PatternToken::OptionalEnd,
            ")" => PatternToken::CaptureEnd,
            _ if inside.starts_with('*') => {
                PatternToken::Any(String::new(), inside.trim_start_matches('*').to_owned())
            }
            _ => match (inside.strip_prefix('@'), inside.strip_suffix('(')) {
                (Some(list), _) => PatternToken::Attributes(
                    list.split(',').filter_map(WantedAttribute::parse).collect(),
                ),
                (_, Some(name)) => PatternToken::Capture(known(name)),
                _ => {
                    let known = "ws, sp, nl, ns, number, name, key, id, type, suffix, server, _, *, @…, [, ], …(, ), {";
                    return Err(format!("{{{inside}}} is not a word of patterns: {known}"));
                }
            },
        })
    }
}

impl WantedAttribute {
    fn parse(item: &str) -> Option<Self> {
        let (item, may_miss) = item.strip_suffix('?').map_or((item, false), |item| (item, true));
        let (item, is_escaped) = item.strip_suffix('&').map_or((item, false), |item| (item, true));
        let (word, attribute) = item.split_once('=').unwrap_or((item, item));
        let (word, attribute) = (known(word), attribute.to_owned());
        let wanted = WantedAttribute { word, attribute, may_miss, is_escaped };
        Some(wanted).filter(|_| !item.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_match_can_begin_with() {
        let check = |text: &str, expected: &[u8]| {
            assert_eq!(Pattern::parse(text).unwrap().first_bytes().as_slice(), expected, "{text}");
        };
        check("<think>", b"<");
        check("{nl}</think>", b"\n<");
        check("{[}]]>{]}</param>", b"]<");
        check("{id(}functions.{name}{)}", b"f");
        check("{start}{name}\n", b"");
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Pattern::parse(text).unwrap_err();
        assert!(error("{name}>").contains("must begin with"));
        assert!(error("<{nam}>").contains("{nam}"));
        assert!(error("<a{[}b>").contains("{]}"));
        assert!(error("<a{*}").contains("text after"));
    }

    #[test]
    fn braces_of_json_are_text() {
        assert_eq!(Pattern::parse("{\"tool_calls\":").unwrap().first_bytes().as_slice(), b"{");
    }
}
