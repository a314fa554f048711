//! One pattern, tried at one place, and what must follow it.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::scan::pattern::{Captures, Pattern, PatternToken, is_word};
use crate::scan::{MAX_ATTRIBUTES, MAX_WORD};

/// The result of an attempt so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The text does not match.
    No,
    /// The text matches so far.
    More,
    /// The text matches, over this many bytes.
    Yes(usize),
}

/// The effect of the text on a token.
enum TokenStep {
    /// The token is complete.
    Over,
    /// The token does not match.
    Fail,
    /// More bytes are needed.
    Wait,
}

/// One pattern, tried at one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempt {
    token: usize,
    /// The place where the current token begins, and the next byte to read.
    begun: usize,
    at: usize,
    quote: Option<u8>,
    /// True after the `=` of an attribute, where a quote may open.
    after_equals: bool,
    /// The end of the first tag, or of its beginning; 0 before it.
    tag_end: usize,
    words: SmallVec<[(usize, Range<usize>); 2]>,
    /// The token and the beginning of the capture that is open.
    capture: Option<(usize, usize)>,
    /// The optional parts that are open, the innermost last: the token of its end, the place
    /// where it began, and the number of words and `tag_end` at that time.
    optional: SmallVec<[(usize, usize, usize, usize); 1]>,
}

impl Attempt {
    /// Reads the new bytes. `text` begins where the attempt does,
    /// and only grows from call to call; `ended` is true if it won't grow any more.
    pub(crate) fn advance(&mut self, pattern: &Pattern, text: &[u8], ended: bool) -> Match {
        while let Some(token) = pattern.tokens.get(self.token) {
            match self.take_token(token, text, ended) {
                TokenStep::Wait => return Match::More,
                TokenStep::Over => self.next(self.token + 1),
                TokenStep::Fail => match self.optional.pop() {
                    Some((end, at, words, tag_end)) => {
                        (self.at, self.tag_end) = (at, tag_end);
                        self.words.truncate(words);
                        self.next(end + 1);
                    }
                    None => return Match::No,
                },
            }
        }
        Match::Yes(self.at)
    }

    /// True if it is past the first tag of the marker, or past the beginning of
    /// that: the text can be nothing else.
    pub(crate) fn is_inside(&self) -> bool {
        self.tag_end > 0 && self.at > self.tag_end
    }

    fn next(&mut self, token: usize) {
        self.token = token;
        self.begun = self.at;
        (self.quote, self.after_equals) = (None, false);
    }

    /// Takes all that is there of a token.
    fn take_token(&mut self, token: &PatternToken, bytes: &[u8], ended: bool) -> TokenStep {
        match token {
            PatternToken::Literal(literal, is_tag) => {
                return self.literal(literal, *is_tag, bytes, ended);
            }
            PatternToken::Word(_, stop) => return self.word(bytes, *stop, ended),
            PatternToken::Any(until, other) => {
                return self.any(bytes, until.as_bytes(), other.as_bytes(), ended);
            }
            PatternToken::Attributes(_) => return self.attributes(bytes, ended),
            PatternToken::Namespace => return self.namespace(bytes, ended),
            PatternToken::Space => {
                return self.run(bytes, ended, |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            }
            PatternToken::Blank => {
                return self.run(bytes, ended, |byte| matches!(byte, b' ' | b'\t'));
            }
            PatternToken::Number => {
                let rest = self.begun + MAX_WORD;
                let near = bytes.before(rest);
                let step =
                    self.run(near, ended || near.len() < bytes.len(), |byte| byte.is_ascii_digit());
                return if matches!(step, TokenStep::Over) && self.at == self.begun {
                    TokenStep::Fail
                } else {
                    step
                };
            }
            PatternToken::Newline => match bytes.get(self.at) {
                None if !ended => return TokenStep::Wait,
                byte => self.at += usize::from(byte == Some(&b'\n')),
            },
            PatternToken::Optional(end) => {
                self.optional.push((*end, self.at, self.words.len(), self.tag_end));
            }
            PatternToken::OptionalEnd => drop(self.optional.pop()),
            PatternToken::Capture(_) => self.capture = Some((self.token, self.at)),
            PatternToken::CaptureEnd => {
                if let Some((token, begun)) = self.capture.take() {
                    self.words.push((token, begun..self.at));
                }
            }
        }
        TokenStep::Over
    }

    /// Takes bytes as long as they are of a kind.
    fn run(&mut self, bytes: &[u8], ended: bool, is_inside: impl Fn(u8) -> bool) -> TokenStep {
        let rest = bytes.after(self.at);
        self.at += rest.iter().take_while(|byte| is_inside(**byte)).count();
        if self.at >= bytes.len() && !ended { TokenStep::Wait } else { TokenStep::Over }
    }

    fn literal(&mut self, literal: &str, is_tag: bool, bytes: &[u8], ended: bool) -> TokenStep {
        let want = literal.as_bytes().after(self.at - self.begun);
        let got = bytes.after(self.at);
        let alike = if got.starts_with(want) { want.len() } else { common_length(want, got) };
        self.at += alike;
        if alike < want.len() {
            return if alike == got.len() && !ended { TokenStep::Wait } else { TokenStep::Fail };
        }
        if is_tag && self.tag_end == 0 {
            // After an equals sign, a name is missing.
            self.tag_end = self.at - usize::from(literal.ends_with('='));
        }
        TokenStep::Over
    }

    fn word(&mut self, bytes: &[u8], stop: Option<u8>, ended: bool) -> TokenStep {
        // A longer one is no word, and a part of it may end inside a character.
        let near = bytes.before(self.begun + MAX_WORD + 1);
        if self.at == self.begun && near.get(self.at) == Some(&b'/') {
            return TokenStep::Fail;
        }
        let step = self.run(near, ended, |byte| is_word(byte) && Some(byte) != stop);
        let length = self.at - self.begun;
        if length > MAX_WORD || (length == 0 && matches!(step, TokenStep::Over)) {
            return TokenStep::Fail;
        }
        if matches!(step, TokenStep::Over) {
            self.words.push((self.token, self.begun..self.at));
        }
        step
    }

    /// Takes all that is there of the line at once, up to the text `until`; neither a brace nor the
    /// text `other` may stand before that.
    fn any(&mut self, bytes: &[u8], until: &[u8], other: &[u8], ended: bool) -> TokenStep {
        let rest = bytes.after(self.at);
        let room = MAX_ATTRIBUTES - (self.at - self.begun).min(MAX_ATTRIBUTES);
        let near = |more: usize| rest.before(room + more);
        let found = memchr::memmem::find(near(until.len()), until);
        let sign = memchr::memchr2(b'\n', b'{', near(1)).unwrap_or(usize::MAX);
        let is_other = |_: &()| !other.is_empty();
        let marker = Some(()).filter(is_other).and_then(|()| memchr::memmem::find(near(1), other));
        let end = sign.min(marker.unwrap_or(usize::MAX));
        if let Some(length) = found.filter(|length| *length <= end) {
            self.at += length;
            return TokenStep::Over;
        }
        // The text may end inside of either.
        let is_begun =
            |text: &[u8], known: usize| rest.ends_with(text.get(..known).unwrap_or(b"\0"));
        let longest = until.len().max(other.len());
        let is_cut = |known: &usize| is_begun(until, *known) || is_begun(other, *known);
        let known = (1..longest).rev().find(is_cut).unwrap_or(0);
        let taken = rest.len() - known;
        if ended || taken > end || taken > room {
            return TokenStep::Fail;
        }
        self.at += taken;
        TokenStep::Wait
    }

    /// Matches letters and a colon, or neither: if no colon comes, the letters are not
    /// a namespace, and the next token begins at them.
    fn namespace(&mut self, bytes: &[u8], ended: bool) -> TokenStep {
        let rest = bytes.after(self.at);
        let letters = rest.iter().take(MAX_WORD - (self.at - self.begun));
        self.at += letters.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        match bytes.get(self.at) {
            None if !ended => return TokenStep::Wait,
            Some(b':') if self.at > self.begun => {
                self.at += 1;
                self.words.push((self.token, self.begun..self.at));
            }
            _ => self.at = self.begun,
        }
        TokenStep::Over
    }

    /// Takes all that is there of white space and `name="value"`, up to `>`, `/` or another
    /// marker outside of quotes.
    fn attributes(&mut self, bytes: &[u8], ended: bool) -> TokenStep {
        while let Some(&byte) = bytes.get(self.at) {
            let length = self.at - self.begun;
            match (self.quote, byte) {
                (None, b'>' | b'<' | b'/') => {
                    self.words.push((self.token, self.begun..self.at));
                    return TokenStep::Over;
                }
                (None, byte) if length == 0 && !byte.is_ascii_whitespace() => {
                    return TokenStep::Fail;
                }
                (None, b'"' | b'\'') if !self.after_equals => return TokenStep::Fail,
                (None, b'=') if self.after_equals => return TokenStep::Fail,
                (None, b'"' | b'\'') => self.quote = Some(byte),
                (Some(quote), byte) if quote == byte => self.quote = None,
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.after_equals = byte == b'=';
            }
            if length >= MAX_ATTRIBUTES {
                return TokenStep::Fail;
            }
            self.at += 1;
        }
        if ended { TokenStep::Fail } else { TokenStep::Wait }
    }

    /// Returns the captures of a finished attempt, or `None` if an attribute that the
    /// pattern requires isn't there.
    pub(crate) fn captures<'t>(&self, pattern: &Pattern, text: &'t str) -> Option<Captures<'t>> {
        let mut captures = Captures::default();
        for (token, range) in &self.words {
            let word = text.within(range.clone());
            match pattern.tokens.get(*token)? {
                PatternToken::Word(name, _) | PatternToken::Capture(name) => {
                    captures.words.push((name, Cow::Borrowed(word)))
                }
                PatternToken::Namespace => captures.words.push(("ns", Cow::Borrowed(word))),
                PatternToken::Attributes(wanted) => {
                    captures.attributes = Cow::Borrowed(word);
                    for wanted in wanted {
                        match attributes(word).find(|(key, _)| *key == wanted.attribute) {
                            Some((_, value)) => {
                                let value = match wanted.is_escaped && value.contains('&') {
                                    true => Cow::Owned(unescape(value)),
                                    false => Cow::Borrowed(value),
                                };
                                captures.words.push((wanted.word, value))
                            }
                            None if wanted.may_miss => {}
                            None => return None,
                        }
                    }
                }
                _ => {}
            }
        }
        Some(captures)
    }
}

/// An attempt at a pattern that one of several others must follow, after white
/// space. The others are bound to the words of the first one; the end of the
/// text, or the beginning of one of them there, may follow as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookahead {
    first: Attempt,
    /// The first pattern's length, once it has been found.
    found: Option<usize>,
    /// The beginning of what follows, as far as it is known.
    at: usize,
    /// True once what follows has begun; then the attempts at it that have not failed.
    has_begun: bool,
    next: Vec<(Pattern, Attempt)>,
    /// The word `name` in what follows.
    name: Option<String>,
}

/// The result of a [`Lookahead`] so far.
#[derive(Debug)]
pub(crate) enum Sight<'t> {
    /// The text does not match.
    No,
    /// The text matches so far.
    More,
    /// The first pattern matches, over this many bytes, with these captures.
    Yes(usize, Captures<'t>),
}

impl Lookahead {
    /// Reads the new bytes. A match is as long as the first
    /// pattern; what follows is only checked.
    pub(crate) fn advance<'t>(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        text: &'t str,
        ended: bool,
    ) -> Sight<'t> {
        let length = match self.found {
            Some(length) => length,
            None => match self.first.advance(first, text.as_bytes(), ended) {
                Match::Yes(length) => {
                    self.at = length;
                    *self.found.insert(length)
                }
                Match::More => return Sight::More,
                Match::No => return Sight::No,
            },
        };
        let Some(words) = self.first.captures(first, text) else { return Sight::No };
        if next.is_empty() {
            return Sight::Yes(length, words);
        }
        let mut rest = text.after(self.at);
        let attempts = std::mem::take(&mut self.next);
        let (mut found, mut name) = (false, None);
        // At the end of the text, a pattern that matches so far may follow.
        let mut advance = |pattern: Pattern, mut attempt: Attempt, rest: &str| match attempt
            .advance(&pattern, rest.as_bytes(), false)
        {
            Match::Yes(_) => {
                let words = attempt.captures(&pattern, rest);
                found |= words.is_some();
                name = words.and_then(|words| words.get("name").map(str::to_owned));
            }
            Match::More => self.next.push((pattern, attempt)),
            Match::No => {}
        };
        if self.has_begun {
            attempts.into_iter().for_each(|(pattern, attempt)| advance(pattern, attempt, rest));
        } else {
            let space = rest.len() - rest.trim_ascii_start().len();
            self.at += space;
            rest = rest.after(space);
            if rest.is_empty() {
                return if ended { Sight::Yes(length, words) } else { Sight::More };
            }
            self.has_begun = true;
            let fitting = next.iter().filter(|next| next.may_begin(rest.as_bytes()));
            fitting.for_each(|next| advance(next.bind(&words), Attempt::default(), rest));
        }
        self.name = self.name.take().or(name);
        match (found, self.next.is_empty(), ended) {
            (true, ..) | (_, false, true) => Sight::Yes(length, words),
            (_, false, false) => Sight::More,
            (_, true, _) => Sight::No,
        }
    }

    /// The word `name` in what follows.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// True if the text ends inside the first pattern, after text that only a
    /// marker has.
    pub(crate) fn is_inside(&self) -> bool {
        self.found.is_none() && self.first.is_inside()
    }

    /// Returns the captures of what has matched so far.
    pub(crate) fn captures<'t>(&self, first: &Pattern, text: &'t str) -> Captures<'t> {
        self.first.captures(first, text).unwrap_or_default()
    }
}

fn unescape(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Returns how many bytes two texts begin with alike.
pub(crate) fn common_length(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Returns the attributes in the inside of a tag, their values in double, single or no
/// quotes.
pub(crate) fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text.trim_ascii();
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let is_end = |c: char| c == '=' || c.is_ascii_whitespace();
            let (name, tail) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
            let tail = tail.trim_ascii_start();
            let (value, tail) = match tail.strip_prefix('=').map(str::trim_ascii_start) {
                None => ("", tail),
                Some(tail) => value(tail),
            };
            rest = tail.trim_ascii_start();
            if !name.is_empty() {
                return Some((name, value));
            }
            if value.is_empty() {
                rest = "";
            }
        }
        None
    })
}

fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some((value, tail)) =
            text.strip_prefix(quote).and_then(|inner| inner.split_once(quote))
        {
            return (value, tail);
        }
    }
    text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: Match) {
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(
            Attempt::default().advance(&pattern, text.as_bytes(), false),
            expected,
            "{text:?}"
        );
        let mut attempt = Attempt::default();
        let mut got = Match::More;
        for end in (1..=text.len()).filter(|&end| text.is_char_boundary(end)) {
            got = attempt.advance(&pattern, &text.as_bytes()[..end], false);
            if got != Match::More {
                break;
            }
        }
        assert_eq!(got, expected, "{text:?} byte by byte");
    }

    #[track_caller]
    fn check_words(pattern: &str, text: &str, expected: &[(&str, &str)]) {
        let pattern = Pattern::parse(pattern).unwrap();
        let mut attempt = Attempt::default();
        assert!(
            matches!(attempt.advance(&pattern, text.as_bytes(), false), Match::Yes(_)),
            "{text:?}"
        );
        let captures = attempt.captures(&pattern, text).unwrap();
        let got: Vec<_> = captures.words.iter().map(|(a, b)| (*a, b.as_ref())).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn literals() {
        check("<think>", "<think>x", Match::Yes(7));
        check("<think>", "<thi", Match::More);
        check("<think>", "<thought", Match::No);
        check("{nl}</think>{nl}{nl}", "\n</think>\n\n\n", Match::Yes(11));
        check("{nl}</think>{nl}{nl}", "</think>\nx", Match::Yes(9));
        check("{nl}</think>{nl}{nl}", "</think>", Match::More);
    }

    #[test]
    fn words() {
        check("<tool_{name}>", "<tool_search>", Match::Yes(13));
        check("<tool_{name}>", "<tool_>", Match::No);
        check("<tool_{name}>", "<tool_a b>", Match::No);
        check("f:{number}<", "f:12<", Match::Yes(5));
        check("f:{number}<", "f:<", Match::No);
        check("f:{number}<", "f:1x<", Match::No);
        check_words("<tool_{name}>", "<tool_search>", &[("name", "search")]);
        check_words(
            "<b>{id(}functions.{name}:{_}{)}<",
            "<b>functions.get.it:3<",
            &[("name", "get.it"), ("_", "3"), ("id", "functions.get.it:3")],
        );
    }

    #[test]
    fn what_may_be_missing() {
        check("<a>{[}<b>{]}<c>", "<a><b><c>", Match::Yes(9));
        check("<a>{[}<b>{]}<c>", "<a><c>", Match::Yes(6));
        check("<a>{[}<b>{]}<c>", "<a><d>", Match::No);
        check("<a>{[}<b{[}:c{]}>{]}<d>", "<a><d>", Match::Yes(6));
        check("<a>{[}<b{[}:c{]}>{]}<d>", "<a><b:c><d>", Match::Yes(11));
        check("<a>{*}<m>", "<a> to=x<y><m>", Match::Yes(14));
        check("<a>{*}<m>", "<a>\n<m>", Match::No);
        check("<a>{*}<m>", "<a>json{<m>", Match::No);
        check("<a>{*<b>}<m>", "<a>x<bm><m>", Match::Yes(11));
        check("<a>{*<b>}<m>", "<a>x<b><m>", Match::No);
    }

    #[test]
    fn namespaces() {
        check_words("<{ns}invoke>", "<a:invoke>", &[("ns", "a:")]);
        check_words("<{ns}invoke>", "<invoke>", &[]);
        check("<{ns}invoke>", "<b then", Match::No);
    }

    #[test]
    fn attributes_in_any_quotes_and_order() {
        check("<sources{@}>", "<sources>", Match::Yes(9));
        check("<sources{@}>", "<sources_log>", Match::No);
        check("<a{@}>", "<a b='>' c=\"'\">x", Match::Yes(15));
        check("<a{@}>", "<a b='>'\"c\">", Match::No);
        check("<a{@}>", "<a b=it's>", Match::No);
        check("<a{@}>", "<a b=='c d'>", Match::No);
        check_words("<p{@key=name}>", "<p x='1' name = \"a b\">", &[("key", "a b")]);
        check_words("<p{@name}>", "<p name=f>", &[("name", "f")]);
        check_words("<p{@key=name,type=kind?}>", "<p name=f>", &[("key", "f")]);
    }

    #[test]
    fn closers_are_bound_to_their_openers() {
        let opener = Pattern::parse("<{ns}{name}>").unwrap();
        let mut attempt = Attempt::default();
        attempt.advance(&opener, b"<a:b>", false);
        let captures = attempt.captures(&opener, "<a:b>").unwrap();
        let closer = Pattern::parse("</{ns}{name}>").unwrap().bind(&captures);
        assert_eq!(Attempt::default().advance(&closer, b"</a:b>", false), Match::Yes(6));
        assert_eq!(Attempt::default().advance(&closer, b"</b>", false), Match::No);
    }
}
