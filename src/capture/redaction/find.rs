//! The one scanner: it reads a text without its escapes, and finds secrets by their shapes and by
//! the names that stand before them.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr, memchr_iter, memchr2_iter, memchr3_iter, memmem};

use crate::capture::redaction::decoded::{LINE_END, UnescapedText};
use crate::capture::redaction::word::{ADDRESS, is_word};
use crate::cut::Cut as _;
use crate::event::secrets::{
    Letters, SCHEMES, SHAPES, SecretPlace, SecretShape, may_end_name, named,
};

/// The shortest token after `Bearer` in a text, in bytes: shorter ones are words.
const MIN_TOKEN: usize = 16;

/// The shortest value that a name of many meanings makes a secret, and the shortest one in a text.
const MIN_VALUE: usize = 8;

/// The shortest id of an account.
const MIN_ID: usize = 6;

/// The longest name, and the longest user before a host, in bytes.
const MAX_NAME: usize = 128;

/// A secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) what: &'static str,
    /// Its place in the capture.
    pub(super) range: Range<usize>,
    /// The secret itself, without escapes.
    pub(super) value: Vec<u8>,
}

/// Returns the secrets in these bytes, in order; none overlaps another.
pub(super) fn find(bytes: &[u8]) -> Vec<Secret> {
    let decoded = UnescapedText::new(bytes);
    let mut finder = SecretFinder { bytes, text: &decoded, found: Vec::new() };
    finder.shapes();
    finder.private_keys();
    finder.at_signs();
    finder.accounts();
    finder.names();
    let mut found = finder.found;
    found.sort_by_key(|secret| (secret.range.start, usize::MAX - secret.range.end));
    let mut secrets: Vec<Secret> = Vec::new();
    for secret in found {
        match secrets.last_mut().filter(|last| secret.range.start < last.range.end) {
            // Both go, as one.
            Some(last) if secret.range.end > last.range.end => {
                last.range.end = secret.range.end;
                last.value = bytes.within(last.range.clone()).to_vec();
            }
            Some(_) => {}
            None => secrets.push(secret),
        }
    }
    secrets
}

struct SecretFinder<'t> {
    bytes: &'t [u8],
    text: &'t UnescapedText<'t>,
    found: Vec<Secret>,
}

/// Bytes of a token after a scheme, and of a value in a text.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=%".contains(&byte)
}

/// Bytes of a value in the query of a URL.
fn is_query(byte: u8) -> bool {
    is_token(byte) || b":,!*@|;".contains(&byte)
}

/// Bytes of a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

/// Returns the length of the run of such bytes at the beginning.
fn run(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&byte| is(byte)).count()
}

/// Returns the length of the run of such bytes at the end.
fn run_back(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let begin = text.len().saturating_sub(MAX_NAME);
    let mut at = text.len();
    while at > begin && is(text[at - 1]) {
        at -= 1;
    }
    text.len() - at
}

/// True if a value of this kind may be a number.
fn may_be_number(what: &str) -> bool {
    !matches!(what, "a token" | "a secret" | "credentials")
}

impl SecretFinder<'_> {
    /// Adds what stands in this part of the text, unless it was replaced.
    fn add(&mut self, what: &'static str, range: Range<usize>) {
        let raw = self.text.raw(range.start)..self.text.raw(range.end);
        self.add_raw(what, range, raw);
    }

    fn add_raw(&mut self, what: &'static str, range: Range<usize>, raw: Range<usize>) {
        let is_replaced = is_word(self.bytes.within(raw.clone()));
        if !raw.is_empty() && !is_replaced {
            let value = self.text.text.within(range).to_vec();
            self.found.push(Secret { what, range: raw, value });
        }
    }

    /// Adds the value of a name. One that is a key keeps the beginning that says whose.
    fn add_value(&mut self, what: &'static str, range: Range<usize>, raw_end: usize) {
        let value = self.text.text.within(range.clone());
        let key = shape_of(value).filter(|(shape, rest)| shape.prefix.len() + rest == value.len());
        let (what, begin) = match key {
            Some((shape, _)) => (shape.name, range.start + shape.prefix.len()),
            None => (what, range.start + scheme(value)),
        };
        self.add_raw(what, begin..range.end, self.text.raw(begin)..raw_end);
    }

    fn before(&self, at: usize) -> &[u8] {
        self.text.text.before(at)
    }

    /// Finds keys by their shapes, and tokens, each by a byte in its beginning that words seldom
    /// have: a separator, or a capital where there is none.
    fn shapes(&mut self) {
        let text = &*self.text.text;
        let mut end = 0;
        for separator in memchr3_iter(b'-', b'_', b'.', text) {
            if !STARTS.may_end_at(text, separator) {
                continue;
            }
            let word = run_back(self.before(separator), |byte| byte.is_ascii_alphanumeric());
            let begin = separator - word;
            end = match self.before(begin).last() {
                // The letter of an escape, and a byte that is coded as in a URL.
                Some(b'\\') => self.shape(begin + 1, end),
                Some(b'%') => self.shape(begin + 2, end),
                _ => end,
            };
            end = self.shape(begin, end);
        }
        for capital in memchr3_iter(b'A', b'J', b'L', text) {
            let inside = if text.get(capital) == Some(&b'J') { 2 } else { 0 };
            self.solid(capital.saturating_sub(inside));
        }
        for at in memmem::find_iter(text, "dapi") {
            self.solid(at);
        }
        for at in memmem::find_iter(text, "earer ").chain(memmem::find_iter(text, "EARER ")) {
            let begin = at.saturating_sub(1);
            if let Some((skip, length)) = bearer(self.text.from(begin)) {
                let range = begin + skip..begin + skip + length;
                self.add_value("a bearer token", range.clone(), self.text.raw(range.end));
            }
        }
    }

    /// Adds the key or the token without a separator that begins at this place.
    fn solid(&mut self, begin: usize) {
        let begins_word = || match self.before(begin) {
            [.., b'\\', last] if is_escape(*last) => true,
            [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
            before => !before.last().is_some_and(u8::is_ascii_alphanumeric),
        };
        if STARTS.may_begin(self.text.from(begin)) && begins_word() {
            self.shape(begin, 0);
        }
    }

    /// Adds the key or the token that begins at this place, if that is not before `end`. Returns
    /// its end, or `end`.
    fn shape(&mut self, begin: usize, end: usize) -> usize {
        let rest = self.text.from(begin);
        if begin < end || !STARTS.may_begin(rest) {
            return end;
        }
        let is_inside = matches!(self.before(begin).last(), Some(b'-' | b'_'));
        let (what, skip, length) = match shape_of(rest) {
            Some((shape, _)) if is_inside && (shape.is_word || shape.prefix.len() < 4) => {
                return end;
            }
            Some((shape, length)) => (shape.name, shape.prefix.len(), length),
            None => match web_token(rest) {
                Some(length) => ("a web token", 0, length),
                None => return end,
            },
        };
        let range = begin + skip..begin + skip + length;
        let end = range.end;
        self.add(what, range);
        end
    }

    /// Finds private keys, with the lines around them.
    fn private_keys(&mut self) {
        let text = &*self.text.text;
        for begin in memmem::find_iter(text, "-----BEGIN ") {
            let rest = self.text.from(begin);
            let head = rest.before(128);
            if memmem::find(head, b"PRIVATE KEY").is_none() {
                continue;
            }
            // In a string it ends with the string, in a text at the first byte of no key.
            let in_lines = memchr(b'\n', head).is_some_and(|end| {
                !head.iter().take(end).any(|&byte| byte == LINE_END || byte == b'\\')
            });
            let is_key = |byte: u8| {
                byte.is_ascii_alphanumeric()
                    || b"+/=- :,.()<>@\\\t\r\x0b".contains(&byte)
                    || (byte == b'\n' && in_lines)
            };
            let key = rest.before(run(rest, is_key));
            let mark: &[u8] = b"-----";
            let end = memmem::find(key, b"-----END").and_then(|end| {
                let after = end + "-----END".len();
                Some(after + memmem::find(key.get(after..)?, mark)? + mark.len())
            });
            self.add("a private key", begin..begin + end.unwrap_or(key.len()));
        }
    }

    /// Finds passwords before the host of a URL, and e-mail addresses.
    fn at_signs(&mut self) {
        for at in memchr_iter(b'@', &self.text.text) {
            let before = self.before(at);
            let user =
                run_back(before, |byte| byte.is_ascii_graphic() && !b"\"'<>/?#\\".contains(&byte));
            let begin = at - user;
            if self.before(begin).ends_with(b"://") {
                let user = before.after(begin);
                let password = memchr(b':', user).map(|colon| begin + colon + 1);
                let begin = password.or((user.len() >= MIN_VALUE).then_some(begin));
                let is_variable =
                    |at: &usize| self.text.get(*at).is_some_and(|byte| b"${<".contains(&byte));
                if let Some(begin) = begin.filter(|begin| !is_variable(begin)) {
                    self.add_value("a password", begin..at, self.text.raw(at));
                }
            } else {
                self.address(at);
            }
        }
    }

    /// Finds the e-mail address whose `@` is at this place.
    fn address(&mut self, at: usize) {
        let mut begin =
            at - run_back(self.before(at), |byte| is_name(byte) || b"+%".contains(&byte));
        if self.before(begin).ends_with(b"\\")
            && matches!(self.text.get(begin), Some(b'n' | b't' | b'r'))
        {
            begin += 1;
        }
        let host = self.text.from(at + 1);
        let host = host
            .before(run(host, |byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)))
            .trim_end_dots();
        let name = self.text.text.within(begin..at);
        let mut labels = host.rsplit(|&byte| byte == b'.');
        let is_domain = labels
            .next()
            .is_some_and(|last| last.len() > 1 && last.iter().all(u8::is_ascii_alphabetic));
        let mut labels = labels.peekable();
        let has_host = labels.peek().is_some_and(|label| !label.is_empty());
        let is_replaced = is_word(name) && labels.all(is_word);
        let has_name = name.first().is_some_and(u8::is_ascii_alphanumeric);
        if is_domain && has_host && has_name && !is_replaced {
            self.add(ADDRESS, begin..at + 1 + host.len());
        }
    }

    /// Finds the account in names of AWS (`arn:aws:SERVICE:REGION:ACCOUNT:…`), and numbers of
    /// projects of Google (`projects/NUMBER`).
    fn accounts(&mut self) {
        let text = &*self.text.text;
        for at in memmem::find_iter(text, "arn:aws") {
            let rest = self.text.from(at);
            let mut colons = memchr_iter(b':', rest.before(200));
            if let Some(colon) = colons.nth(3) {
                self.digits("an account of AWS", at + colon + 1, 12);
            }
        }
        for at in memmem::find_iter(text, "projects/") {
            self.digits("a project of Google", at + "projects/".len(), MIN_ID);
        }
    }

    /// Adds the number at this place.
    fn digits(&mut self, what: &'static str, at: usize, shortest: usize) {
        let length = run(self.text.from(at), |byte| byte.is_ascii_digit());
        if length >= shortest {
            self.add(what, at..at + length);
        }
    }

    /// Finds what is named: in heads, in members of JSON and Python, in queries of URLs, and where
    /// a variable is set.
    fn names(&mut self) {
        for sign in memchr2_iter(b':', b'=', &self.text.text) {
            let last = |end: usize| end.checked_sub(1).and_then(|at| self.text.get(at));
            let mut end = sign;
            while last(end) == Some(b' ') {
                end -= 1;
            }
            let is_tight = end == sign;
            let is_set = self.text.get(sign) == Some(b'=');
            if is_set && last(end) == Some(b']') {
                end -= 1;
            }
            let is_quoted = matches!(last(end), Some(b'"' | b'\''));
            end -= usize::from(is_quoted);
            if !may_end_name(self.before(end)) {
                continue;
            }
            let begin = end - run_back(self.before(end), is_name);
            let name = self.text.text.within(begin..end);
            let name = NamedSecret { begin, name, after: sign + 1, is_quoted, is_tight };
            match (is_set, is_quoted) {
                (true, _) => self.set(&name),
                (false, true) => self.member(&name),
                (false, false) => self.head(&name),
            }
        }
    }

    /// Finds the value of a member, also where it is a list, and where the member beside it names
    /// it (`"name": "authorization", "value": "…"`).
    fn member(&mut self, name: &NamedSecret<'_>) {
        let begin = self.skip_space(name.after);
        let Some((what, place)) = named(name.name) else {
            if matches!(name.name, b"name" | b"key") {
                self.pair(begin);
            }
            return;
        };
        if place == SecretPlace::Query {
            return;
        }
        let is_owner = place == SecretPlace::Owner;
        match self.text.get(begin) {
            Some(b'"' | b'\'') => self.string(what, begin, is_owner),
            Some(b'[') => {
                let mut at = self.skip_space(begin + 1);
                while let Some((end, _)) = self.text.string_end(at) {
                    self.string(what, at, is_owner);
                    at = self.skip_space(end + 1);
                    if self.text.get(at) == Some(b',') {
                        at = self.skip_space(at + 1);
                    }
                }
            }
            Some(b'0'..=b'9') if may_be_number(what) => self.digits(what, begin, MIN_ID),
            _ => {}
        }
    }

    /// Finds the value in the string that begins here.
    fn string(&mut self, what: &'static str, opener: usize, is_owner: bool) {
        let Some((end, raw_end)) = self.text.string_end(opener) else { return };
        let range = opener + 1..end;
        let value = self.text.text.within(range.clone());
        let is_enough = match what {
            "a token" => value.len() >= MIN_VALUE && !self.is_of_model(value, end),
            _ if is_owner => value.len() >= MIN_ID,
            _ => true,
        };
        if is_enough {
            self.add_value(what, range, raw_end);
        }
    }

    /// True if it is a token that a model reads or writes: its probability or its number stands
    /// beside it.
    fn is_of_model(&self, value: &[u8], end: usize) -> bool {
        let is_known = ["logprob", "log_prob", "likelihood", "tokenid", "token_id"];
        let is_beside = self
            .next_member(end + 1)
            .map(<[u8]>::to_ascii_lowercase)
            .is_some_and(|beside| is_known.iter().any(|name| beside.starts_with(name.as_bytes())));
        is_beside || value.after(scheme(value)).contains(&b' ')
    }

    /// Returns the text from the name of the next member on.
    fn next_member(&self, at: usize) -> Option<&[u8]> {
        let comma = self.skip_space(at);
        let quote = self.skip_space(comma + 1);
        let is_next = self.text.get(comma) == Some(b',');
        (is_next && matches!(self.text.get(quote), Some(b'"' | b'\''))).then(|| {
            let rest = self.text.from(quote + 1);
            rest.before(16)
        })
    }

    /// Finds the value of a pair whose name is the string that begins here.
    fn pair(&mut self, opener: usize) {
        let Some((end, _)) = self.text.string_end(opener) else { return };
        let name = self.text.text.within(opener + 1..end);
        let Some((what, SecretPlace::Everywhere)) = named(name) else { return };
        let is_value = self.next_member(end + 1).is_some_and(|name| name.starts_with(b"value"));
        let colon = memchr(b':', self.text.from(end)).filter(|_| is_value);
        if let Some(colon) = colon {
            self.string(what, self.skip_space(end + colon + 1), false);
        }
    }

    /// Finds the value in a query of a URL, or of a variable that is set.
    fn set(&mut self, name: &NamedSecret<'_>) {
        let Some((what, place)) = named(name.name) else { return };
        let is_query = self.before(name.begin).ends_with(b"?")
            || self.before(name.begin).ends_with(b"&")
            || self.before(name.begin).ends_with(b"#")
            || self.before(name.begin).ends_with(b"&amp;");
        if is_query && name.is_tight && !name.is_quoted && place != SecretPlace::Owner {
            let value = self.text.from(name.after);
            let length = run(value, self::is_query);
            let is_enough = place != SecretPlace::Query || length >= MIN_VALUE;
            if is_enough {
                let end = name.after + length;
                self.add_value(what, name.after..end, self.text.raw(end));
            }
            return;
        }
        if place != SecretPlace::Everywhere || what == "a cookie" {
            return;
        }
        let arrow = usize::from(self.text.get(name.after) == Some(b'>'));
        let spaces = run(self.text.from(name.after + arrow), |byte| byte == b' ');
        let begin = name.after + arrow + spaces;
        let (range, raw_end) = match self.text.get(begin) {
            Some(b'"' | b'\'') => match self.text.string_end(begin) {
                Some((end, raw_end)) => (begin + 1..end, raw_end),
                None => return,
            },
            _ if spaces == 0 && name.is_tight => {
                let end = begin + run(self.text.from(begin), is_token);
                // What is called or indexed is code.
                if matches!(self.text.get(end), Some(b'(' | b'[')) {
                    return;
                }
                (begin..end, self.text.raw(end))
            }
            _ => return,
        };
        let value = self.text.text.within(range.clone());
        let is_number = value.iter().all(u8::is_ascii_digit) && !may_be_number(what);
        if value.len() >= MIN_VALUE && !value.contains(&b' ') && !is_number && !is_variable(value) {
            self.add_value(what, range, raw_end);
        }
    }

    /// Finds the value of a head: of HTTP, of `curl -v`, of YAML, and in a text.
    fn head(&mut self, name: &NamedSecret<'_>) {
        if !name.is_tight {
            return;
        }
        let Some((what, place)) = named(name.name) else { return };
        if place == SecretPlace::Query {
            return;
        }
        let before = self.before(name.begin);
        let marks = run_back(before, |byte| b" <>*-\t".contains(&byte));
        let is_line = matches!(before.get(..before.len() - marks), Some([] | [.., b'\n']));
        let is_head = name.name.contains(&b'-') || matches!(what, "credentials" | "a cookie");
        let opener = before.last().copied().unwrap_or(b'\n');
        let mut begin = name.after + run(self.text.from(name.after), |byte| byte == b' ');
        let mut line = self.text.from(begin);
        // A list of YAML.
        let indent = run(line, |byte| b"\r\n ".contains(&byte));
        if is_line
            && matches!(line, [b'\r' | b'\n', ..])
            && line.get(indent..).is_some_and(|rest| rest.starts_with(b"- "))
        {
            begin += indent + 2;
            line = self.text.from(begin);
        }
        let is_end = |byte: u8| match is_line {
            true => byte == b'\n',
            false => b"\n\x0b\"'<".contains(&byte) || (byte == b']' && opener == b'['),
        };
        let value = line.before(run(line, |byte| !is_end(byte)));
        let trim: &[u8] = if is_line { b" \t\r\"'[]" } else { b" \t" };
        let skip = run(value, |byte| trim.contains(&byte));
        begin += skip;
        let value = value.after(skip);
        let value = value.before(value.len() - run_all_back(value, trim));
        let is_whole = is_line || b"[\"'".contains(&opener);
        if what == "a cookie" {
            if !is_line && value.len() < MIN_VALUE {
                return;
            }
            let is_set = name.name.to_ascii_lowercase().starts_with(b"set");
            return self.cookies(begin, value, is_set);
        }
        let is_enough = if !is_head {
            is_line && value.len() >= MIN_VALUE && !value.after(scheme(value)).contains(&b' ')
        } else {
            is_line || !is_variable(value.after(scheme(value)))
        };
        let is_count = value.iter().all(u8::is_ascii_digit) && !may_be_number(what);
        if !is_enough || is_count {
            return;
        }
        if is_whole {
            let end = begin + value.len();
            return self.add_value(what, begin..end, self.text.raw(end));
        }
        let skip = scheme(value);
        let length = run(value.after(skip), is_token);
        if length >= MIN_VALUE {
            let end = begin + skip + length;
            self.add_value(what, begin..end, self.text.raw(end));
        }
    }

    /// Finds the values of cookies. After the first one of `set-cookie` come attributes.
    fn cookies(&mut self, begin: usize, value: &[u8], is_set: bool) {
        let mut at = begin;
        for part in value.split_inclusive(|&byte| byte == b';') {
            let text = part.strip_suffix(b";").unwrap_or(part);
            let skip = memchr(b'=', text).map_or(0, |sign| sign + 1);
            let (from, end) = (at + skip, at + text.trim_ascii_end().len());
            if from < end {
                self.add("a cookie", from..end);
            }
            at += part.len();
            if is_set {
                break;
            }
        }
    }

    /// Returns the place after white space.
    fn skip_space(&self, at: usize) -> usize {
        at + run(self.text.from(at), |byte| b" \t\r\n\x0b".contains(&byte))
    }
}

/// A name and the place after the sign that sets its value.
struct NamedSecret<'t> {
    begin: usize,
    name: &'t [u8],
    after: usize,
    is_quoted: bool,
    /// True if nothing stands between the name and the sign.
    is_tight: bool,
}

/// True if a value names another: `$KEY`, `{key}`, `<your key>`.
fn is_variable(value: &[u8]) -> bool {
    value.first().is_some_and(|first| b"${<%".contains(first))
}

fn run_all_back(text: &[u8], of: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| of.contains(byte)).count()
}

/// Returns the length of the scheme before credentials, with the spaces after it.
fn scheme(value: &[u8]) -> usize {
    let Some(space) = memchr(b' ', value) else { return 0 };
    let (scheme, rest) = value.split_at(space);
    let is_known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    if is_known { space + run(rest, |byte| byte == b' ') } else { 0 }
}

/// Returns the length of the web token at the beginning of a text (RFC 7519): its parts are JSON
/// in base64, which begins with `eyJ`.
fn web_token(text: &[u8]) -> Option<usize> {
    let text = text.strip_prefix(b"eyJ")?;
    let first = run(text, |byte| Letters::Url.has(byte));
    let second = text.get(first..)?.strip_prefix(b".")?;
    let is_token = first >= MIN_VALUE && run(second, |byte| Letters::Url.has(byte)) >= MIN_VALUE;
    let all = text.get(..run(text, |byte| Letters::Dots.has(byte) || byte == b'='))?;
    is_token.then_some("eyJ".len() + all.trim_end_dots().len())
}

/// Returns how much stands before a token after `Bearer`, and its length.
fn bearer(text: &[u8]) -> Option<(usize, usize)> {
    const BEARER: &[u8] = b"bearer";
    let rest = text.get(BEARER.len()..)?;
    if !text.get(..BEARER.len())?.eq_ignore_ascii_case(BEARER) {
        return None;
    }
    let spaces = run(rest, |byte| byte == b' ');
    let token = rest.get(spaces..)?;
    let token = token.get(..run(token, is_token))?.trim_end_dots();
    (spaces > 0 && token.len() >= MIN_TOKEN).then_some((BEARER.len() + spaces, token.len()))
}

/// Returns the shape of the key at the beginning of a text, and the length of its rest.
fn shape_of(text: &[u8]) -> Option<(&'static SecretShape, usize)> {
    let fits = SHAPES.iter().filter_map(|shape| Some((shape, shape.rest(text)?)));
    fits.max_by_key(|(shape, _)| shape.prefix.len())
}

/// Where shapes and web tokens may begin. Most places are no such beginning, and not looked at.
struct SecretStarts {
    /// The two bytes that they begin with: a set of bits for each first one.
    first: [[u64; 4]; 256],
    /// The two bytes before a prefix's first separator, five bits of each: the separators.
    before: [u8; 1 << 10],
}

static STARTS: LazyLock<SecretStarts> = LazyLock::new(|| {
    let mut starts = SecretStarts { first: [[0; 4]; 256], before: [0; 1 << 10] };
    for prefix in SHAPES.iter().map(|shape| shape.prefix.as_bytes()).chain([&b"eyJ"[..]]) {
        if let [first, second, ..] = prefix {
            starts.first[usize::from(*first)][usize::from(second >> 6)] |= 1 << (second & 63);
        }
        let first = prefix.iter().position(|byte| separator(*byte) != 0);
        if let Some([.., a, b, last]) = first.and_then(|at| prefix.get(..=at)) {
            starts.before[pair(*a, *b)] |= separator(*last);
        }
    }
    starts
});

impl SecretStarts {
    fn may_begin(&self, text: &[u8]) -> bool {
        let [first, second, ..] = text else { return false };
        self.first[usize::from(*first)][usize::from(second >> 6)] & (1 << (second & 63)) != 0
    }

    /// True if the separator at this place may be the first one of a prefix.
    fn may_end_at(&self, text: &[u8], at: usize) -> bool {
        let Some([.., a, b, last]) = text.get(..=at) else { return false };
        self.before[pair(*a, *b)] & separator(*last) != 0
    }
}

/// A number for two bytes: letters have different ones.
fn pair(a: u8, b: u8) -> usize {
    usize::from(a & 31) << 5 | usize::from(b & 31)
}

/// A bit for each separator.
fn separator(byte: u8) -> u8 {
    match byte {
        b'-' => 1,
        b'_' => 2,
        b'.' => 4,
        _ => 0,
    }
}

/// True for the letter of an escape of one letter.
fn is_escape(byte: u8) -> bool {
    matches!(byte, b'n' | b'r' | b't' | b'b' | b'f')
}

/// Bytes without some at their end.
trait Trim {
    fn trim_end_dots(&self) -> &Self;
}

impl Trim for [u8] {
    fn trim_end_dots(&self) -> &[u8] {
        self.before(self.len() - run_all_back(self, b"."))
    }
}
