//! Markers in text that arrives in pieces: find one, or hold back its
//! beginning.
//!
//! A [`Pattern`] is written as the marker stands in the text, with what varies
//! in braces:
//!
//! | in a pattern | stands for |
//! | --- | --- |
//! | `{ws}` | any white space, or none |
//! | `{nl}` | one line feed, or none |
//! | `{name}`, `{key}`, `{id}`, `{type}` | a word, which is remembered under that name |
//! | `{ns}` | letters and a colon, or nothing: a namespace |
//! | `{@}` | the attributes of a tag, or none |
//! | `{@name}`, `{@key=name,type=string}` | attributes, of which the named ones are remembered |
//!
//! In the closer that belongs to an opener, a word stands for what the opener
//! remembered. An [`Attempt`] follows one pattern from one place in the text,
//! byte by byte, and never looks at a byte twice.

use std::ops::Range;

/// The longest word, in bytes: tools have names, not stories.
pub const MAX_WORD: usize = 256;
/// The longest list of attributes, in bytes.
pub const MAX_ATTRIBUTES: usize = 1024;

/// A marker's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(String),
    Space,
    Newline,
    Namespace,
    Word(String),
    /// What to remember, as (under which name, of which attribute).
    Attributes(Vec<(String, String)>),
}

/// What a match remembers: words by their names, and a tag's attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    /// Words, by the names that the pattern gives them.
    pub words: Vec<(String, String)>,
    /// All attributes of the tag.
    pub attributes: Vec<(String, String)>,
}

impl Captures {
    /// The word that is remembered under a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(key, _)| key == name).map(|(_, word)| word.as_str())
    }
}

impl Pattern {
    /// Reads a pattern. Fails with a sentence that says what is wrong in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            // A brace that opens no word is a brace: JSON follows some markers.
            let Some((inside, tail)) = tail.split_once('}') else { break };
            if !literal.is_empty() {
                tokens.push(Token::Literal(literal.to_owned()));
            }
            tokens.push(Token::parse(inside)?);
            rest = tail;
        }
        if !rest.is_empty() {
            tokens.push(Token::Literal(rest.to_owned()));
        }
        match tokens.iter().find(|token| !matches!(token, Token::Newline | Token::Space)) {
            Some(Token::Literal(_)) => Ok(Pattern(tokens)),
            _ => Err(format!("the pattern {text:?} must begin with text that tells it from other text")),
        }
    }

    /// The pattern with words replaced by what an opener remembered. Words that
    /// it doesn't know stay words.
    pub fn bind(&self, captures: &Captures) -> Pattern {
        let mut tokens: Vec<Token> = Vec::new();
        for token in &self.0 {
            let literal = match token {
                Token::Literal(text) => Some(text.as_str()),
                Token::Word(name) => captures.get(name),
                Token::Namespace => Some(captures.get("ns").unwrap_or_default()),
                _ => None,
            };
            match (literal, tokens.last_mut()) {
                (Some(literal), Some(Token::Literal(text))) => text.push_str(literal),
                (Some(literal), _) => tokens.push(Token::Literal(literal.to_owned())),
                (None, _) => tokens.push(token.clone()),
            }
        }
        Pattern(tokens)
    }

    /// The bytes that a match can begin with.
    pub fn first_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for token in &self.0 {
            match token {
                Token::Literal(text) => {
                    bytes.extend(text.bytes().next());
                    break;
                }
                Token::Newline => bytes.push(b'\n'),
                Token::Space => bytes.extend(*b" \t\r\n"),
                _ => break,
            }
        }
        bytes
    }

    /// The literal that the pattern can be known by.
    pub fn literal(&self) -> &str {
        let mut literals = self.0.iter().filter_map(|token| match token {
            Token::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        literals.next().unwrap_or_default()
    }
}

impl Token {
    fn parse(inside: &str) -> Result<Self, String> {
        match inside {
            "ws" => Ok(Token::Space),
            "nl" => Ok(Token::Newline),
            "ns" => Ok(Token::Namespace),
            "name" | "key" | "id" | "type" => Ok(Token::Word(inside.to_owned())),
            _ => match inside.strip_prefix('@') {
                Some(list) => Ok(Token::Attributes(
                    list.split(',')
                        .filter(|item| !item.is_empty())
                        .map(|item| item.split_once('=').unwrap_or((item, item)))
                        .map(|(name, attribute)| (name.to_owned(), attribute.to_owned()))
                        .collect(),
                )),
                None => Err(format!("{{{inside}}} is not a word of patterns: ws, nl, ns, name, key, id, type, @…")),
            },
        }
    }
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// This is something else.
    No,
    /// So far it fits.
    More,
    /// It fits, and is this many bytes long.
    Yes(usize),
}

/// One pattern, tried at one place.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    token: usize,
    /// Where the current token begins, and the next byte to look at.
    begun: usize,
    at: usize,
    quote: Option<u8>,
    words: Vec<(usize, Range<usize>)>,
}

impl Attempt {
    /// Looks at the bytes that are new. `text` begins where the attempt does,
    /// and only grows from call to call; `ended` if it won't grow any more.
    pub fn advance(&mut self, pattern: &Pattern, text: &str, ended: bool) -> Match {
        let bytes = text.as_bytes();
        while let Some(token) = pattern.0.get(self.token) {
            let byte = bytes.get(self.at).copied();
            let next = match (token, byte) {
                (Token::Literal(literal), byte) => {
                    let known = self.at - self.begun;
                    match (literal.as_bytes().get(known), byte) {
                        (None, _) => true,
                        (Some(want), Some(got)) if *want == got => {
                            self.at += 1;
                            known + 1 == literal.len()
                        }
                        (Some(_), None) if !ended => return Match::More,
                        _ => return Match::No,
                    }
                }
                (_, None) if !ended => return Match::More,
                (Token::Space, Some(b' ' | b'\t' | b'\r' | b'\n')) => {
                    self.at += 1;
                    false
                }
                (Token::Newline, Some(b'\n')) => {
                    self.at += 1;
                    true
                }
                (Token::Space | Token::Newline, _) => true,
                (Token::Namespace, byte) => match self.namespace(byte) {
                    Some(next) => next,
                    None => return Match::No,
                },
                (Token::Word(_), Some(byte)) if is_word(byte) && self.at - self.begun < MAX_WORD => {
                    self.at += 1;
                    false
                }
                (Token::Word(_), _) if self.at == self.begun => return Match::No,
                (Token::Word(_), _) => {
                    self.words.push((self.token, self.begun..self.at));
                    true
                }
                (Token::Attributes(_), Some(byte)) => match self.attribute(byte) {
                    Some(next) => next,
                    None => return Match::No,
                },
                (Token::Attributes(_), None) => return Match::No,
            };
            if next {
                self.token += 1;
                self.begun = self.at;
                self.quote = None;
            }
        }
        Match::Yes(self.at)
    }

    /// Letters and a colon, or neither: if no colon comes, the letters are not
    /// a namespace, and the token behind it begins at them.
    fn namespace(&mut self, byte: Option<u8>) -> Option<bool> {
        match byte {
            Some(b':') if self.at > self.begun => {
                self.at += 1;
                self.words.push((self.token, self.begun..self.at));
                Some(true)
            }
            Some(byte) if byte.is_ascii_alphanumeric() && self.at - self.begun < MAX_WORD => {
                self.at += 1;
                Some(false)
            }
            _ => {
                self.at = self.begun;
                Some(true)
            }
        }
    }

    /// White space and `name="value"`, up to `>` outside of quotes. Gives
    /// whether the list is over.
    fn attribute(&mut self, byte: u8) -> Option<bool> {
        let length = self.at - self.begun;
        match (self.quote, byte) {
            (None, b'>') => {
                self.words.push((self.token, self.begun..self.at));
                return Some(true);
            }
            (None, b'<') => return None,
            (None, byte) if length == 0 && !byte.is_ascii_whitespace() => return None,
            (None, b'"' | b'\'') => self.quote = Some(byte),
            (Some(quote), byte) if quote == byte => self.quote = None,
            _ => {}
        }
        if length >= MAX_ATTRIBUTES {
            return None;
        }
        self.at += 1;
        Some(false)
    }

    /// What a finished attempt remembers; nothing if an attribute that the
    /// pattern asks for isn't there.
    pub fn captures(&self, pattern: &Pattern, text: &str) -> Option<Captures> {
        let mut captures = Captures::default();
        for (token, range) in &self.words {
            let word = text.get(range.clone()).unwrap_or_default();
            match pattern.0.get(*token)? {
                Token::Word(name) => captures.words.push((name.clone(), word.to_owned())),
                Token::Namespace => captures.words.push(("ns".into(), word.to_owned())),
                Token::Attributes(wanted) => {
                    captures.attributes = attributes(word);
                    for (name, attribute) in wanted {
                        let found = captures.attributes.iter().find(|(key, _)| key == attribute)?;
                        let word = found.1.clone();
                        captures.words.push((name.clone(), word));
                    }
                }
                _ => {}
            }
        }
        Some(captures)
    }
}

/// A pattern, and one of several others that must follow it behind white
/// space.
#[derive(Clone, Debug)]
pub struct Lookahead {
    first: Attempt,
    /// The first pattern's length, once it has been found.
    length: Option<usize>,
    /// Where what follows begins, as far as is known.
    at: usize,
    /// The attempts at what follows; those that failed are gone.
    next: Vec<Option<Attempt>>,
    is_dead: bool,
}

impl Lookahead {
    /// Begins at the next place, unless it isn't `allowed` there.
    pub fn new(allowed: bool, next: usize) -> Self {
        Lookahead {
            first: Attempt::default(),
            length: None,
            at: 0,
            next: vec![Some(Attempt::default()); next],
            is_dead: !allowed,
        }
    }

    /// Looks at the bytes that are new. A match is as long as the first
    /// pattern; what follows is only looked at. With `end`, the end of the text
    /// may follow.
    pub fn advance(
        &mut self,
        first: &Pattern,
        next: &[Pattern],
        end: bool,
        text: &str,
        ended: bool,
    ) -> Match {
        let verdict = if self.is_dead { Match::No } else { self.look(first, next, end, text, ended) };
        self.is_dead = verdict == Match::No;
        verdict
    }

    fn look(&mut self, first: &Pattern, next: &[Pattern], end: bool, text: &str, ended: bool) -> Match {
        let length = match self.length {
            Some(length) => length,
            None => match self.first.advance(first, text, ended) {
                Match::Yes(length) => length,
                other => return other,
            },
        };
        if self.length.is_none() {
            if self.first.captures(first, text).is_none() {
                return Match::No;
            }
            (self.length, self.at) = (Some(length), length);
        }
        if next.is_empty() {
            return Match::Yes(length);
        }
        if self.next.iter().flatten().all(|attempt| attempt.at == 0) {
            let rest = text.get(self.at..).unwrap_or_default();
            self.at += rest.len() - rest.trim_ascii_start().len();
        }
        let rest = text.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return if !ended {
                Match::More
            } else if end {
                Match::Yes(length)
            } else {
                Match::No
            };
        }
        for (slot, pattern) in self.next.iter_mut().zip(next) {
            match slot.as_mut().map(|attempt| attempt.advance(pattern, rest, ended)) {
                Some(Match::Yes(_)) => return Match::Yes(length),
                Some(Match::No) => *slot = None,
                _ => {}
            }
        }
        if self.next.iter().any(Option::is_some) { Match::More } else { Match::No }
    }

    /// What the match remembers.
    pub fn captures(&self, first: &Pattern, text: &str) -> Option<Captures> {
        self.first.captures(first, text)
    }
}

/// Finds the bytes that markers can begin with.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    bytes: Vec<u8>,
}

impl Finder {
    /// A finder for these patterns.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let mut bytes: Vec<u8> = patterns.flat_map(Pattern::first_bytes).collect();
        bytes.sort_unstable();
        bytes.dedup();
        Finder { bytes }
    }

    /// The first of them at or behind `from`.
    pub fn find(&self, text: &str, from: usize) -> Option<usize> {
        let rest = text.as_bytes().get(from..)?;
        let found = match *self.bytes {
            [] => None,
            [a] => memchr::memchr(a, rest),
            [a, b] => memchr::memchr2(a, b, rest),
            [a, b, c] => memchr::memchr3(a, b, c, rest),
            _ => rest.iter().position(|byte| self.bytes.contains(byte)),
        };
        found.map(|at| from + at)
    }
}

/// What names of tools, keys and ids are made of.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/' | b'$' | b'@') || byte >= 0x80
}

/// The attributes in the inside of a tag, their values in double, single or no
/// quotes.
fn attributes(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (name, tail) = rest.split_at(end);
        let tail = tail.trim_ascii_start();
        let (value, tail) = match tail.strip_prefix('=').map(str::trim_ascii_start) {
            None => ("", tail),
            Some(tail) => value(tail),
        };
        if !name.is_empty() {
            found.push((name.to_owned(), value.to_owned()));
        }
        rest = tail.trim_ascii_start();
        if name.is_empty() && value.is_empty() {
            break;
        }
    }
    found
}

fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some((value, tail)) = text.strip_prefix(quote).and_then(|inner| inner.split_once(quote)) {
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
        assert_eq!(Attempt::default().advance(&pattern, text, false), expected, "{text:?}");
        let mut attempt = Attempt::default();
        let mut got = Match::More;
        for end in (1..=text.len()).filter(|&end| text.is_char_boundary(end)) {
            got = attempt.advance(&pattern, text.get(..end).unwrap(), false);
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
        assert!(matches!(attempt.advance(&pattern, text, false), Match::Yes(_)), "{text:?}");
        let captures = attempt.captures(&pattern, text).unwrap();
        let got: Vec<_> = captures.words.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
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
        check_words("<tool_{name}>", "<tool_search>", &[("name", "search")]);
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
        check_words("<p{@key=name}>", "<p x='1' name=\"a b\">", &[("key", "a b")]);
        check_words("<p{@name}>", "<p name=f>", &[("name", "f")]);
    }

    #[test]
    fn closers_are_bound_to_their_openers() {
        let opener = Pattern::parse("<{ns}{name}>").unwrap();
        let mut attempt = Attempt::default();
        attempt.advance(&opener, "<a:b>", false);
        let captures = attempt.captures(&opener, "<a:b>").unwrap();
        assert_eq!(Pattern::parse("</{ns}{name}>").unwrap().bind(&captures).literal(), "</a:b>");
    }
}
