//! The one scanner: it reads a text without its escapes, and finds secrets by their shapes and by
//! the names that stand before them.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr_iter, memchr2_iter, memchr3_iter, memmem, memrchr};

use crate::capture::redaction::decoded::{LINE_END, LastRun, UnescapedText};
use crate::capture::redaction::names::{
    ATTRIBUTES, NO_VALUES, OPTIONS, SCHEMES, SecretOption, SecretPlace, may_end_name, named,
};
use crate::capture::redaction::rooms::Rooms;
use crate::capture::redaction::word::{ADDRESS, is_word};
use crate::cut::Cut as _;
use crate::event::secrets::{Letters, SHAPES, SecretShape};

/// The shortest token after `Bearer` in a text, in bytes: shorter ones are words.
const MIN_TOKEN: usize = 16;

/// The shortest value that a name of many meanings makes a secret, and the shortest one in a text.
const MIN_VALUE: usize = 8;

/// The shortest id of an account.
const MIN_ID: usize = 6;

/// The longest name, and the longest user before a host, in bytes.
const MAX_NAME: usize = 128;

/// The longest command, in bytes.
const MAX_COMMAND: usize = 1 << 11;

/// The most members between those of a pair, and the most heads in a list.
const MAX_SIBLINGS: usize = 8;
const MAX_HEADS: usize = 100;

/// The most lines of a value.
const MAX_LINES: usize = 400;

/// The most bytes between two lines of a key, and the shortest one that is known by itself.
const MAX_BETWEEN: usize = 32;
const MIN_KEY_LINE: usize = 40;

/// What stands around the name of a key's first and last lines.
const MARK: &[u8] = b"-----";

/// The depth to which lists and objects in a secret's place are looked into.
const MAX_DEPTH: usize = 6;

/// The members of a pair.
const PAIR_NAMES: &[&str] = &["name", "key"];
const PAIR_VALUES: &[&str] = &["value"];

/// The members of an object that have its value: a pair's, those of mocks that say what to wait
/// for, and those that are called as the type of the value is (DynamoDB, Firestore).
const VALUES: &[&str] = &["value", "values", "equalto", "s", "stringvalue"];

/// The members of an object whose values look like secrets, and are none.
const NO_OPAQUE: &[&str] = &["id", "format"];

/// What is a secret in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sought {
    /// Nothing: the end of the value is.
    End,
    /// What looks like a secret.
    Opaque,
    /// The value; in an object what its `VALUES` have, and what looks like a secret.
    Value,
    /// All but what an object says about it.
    All,
}

impl Sought {
    /// Returns what is a secret in a member of an object.
    fn within(self, (what, place): (&str, SecretPlace), name: &[u8]) -> Self {
        let is_jar = what == "a cookie";
        match self {
            Sought::Opaque | Sought::Value if is_any(name, VALUES) && !is_jar => Sought::Value,
            Sought::End => Sought::End,
            _ if is_any(name, ATTRIBUTES) => Sought::End,
            Sought::All => Sought::All,
            Sought::Opaque | Sought::Value if is_jar => self,
            Sought::Opaque | Sought::Value if is_any(name, NO_OPAQUE) => Sought::End,
            Sought::Opaque | Sought::Value if place == SecretPlace::Everywhere => Sought::Opaque,
            Sought::Opaque | Sought::Value => Sought::End,
        }
    }
}

/// A secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) what: &'static str,
    /// Its place in these bytes.
    pub(super) range: Range<usize>,
    /// The place of what says that it is one: its name, or its beginning.
    pub(super) origin: usize,
    /// The secret itself, without escapes.
    pub(super) value: Vec<u8>,
}

impl Secret {
    /// Returns its lines that are long enough to be known again.
    pub(super) fn lines(&self) -> impl Iterator<Item = Vec<u8>> {
        let lines = self.value.split(|&byte| byte <= b' ');
        let is_known = |line: &&[u8]| line.len() >= MIN_TOKEN && is_random(line) && !is_word(line);
        lines.filter(is_known).map(<[u8]>::to_vec)
    }
}

/// Returns the secrets in a part of the bytes that these are the rooms of, in order; none overlaps
/// another.
pub(super) fn find(all: &[u8], part: Range<usize>, rooms: &Rooms) -> Vec<Secret> {
    let (base, bytes) = (part.start, all.within(part));
    let decoded = UnescapedText::new(bytes);
    let mut finder = SecretFinder {
        all,
        base,
        rooms,
        origin: None,
        bytes,
        text: &decoded,
        found: Vec::new(),
        covered: Vec::new(),
        token: LastRun::default(),
        query: LastRun::default(),
        part: LastRun::default(),
        heads: Default::default(),
    };
    finder.shapes();
    finder.private_keys();
    finder.basic();
    finder.at_signs();
    finder.accounts();
    finder.names();
    finder.lists();
    finder.options();
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
    all: &'t [u8],
    /// The place of the text in all bytes.
    base: usize,
    rooms: &'t Rooms,
    /// Where in the text the name whose value is looked for begins, and the sign after it.
    origin: Option<(usize, usize)>,
    bytes: &'t [u8],
    text: &'t UnescapedText<'t>,
    found: Vec<Secret>,
    /// The parts of the text that are secrets, in order.
    covered: Vec<Range<usize>>,
    token: LastRun,
    query: LastRun,
    /// The part of a web token.
    part: LastRun,
    /// The rest of a head, and that of one in brackets.
    heads: [LastRun; 2],
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
        let (begin, sign) = self.origin.unwrap_or((range.start, range.start));
        let (origin, sign) = (self.text.raw(begin), self.text.raw(sign));
        let part = self.base + raw.start..self.base + raw.end;
        let part = self.rooms.part(self.all, self.base + sign, part);
        let own = part.start - self.base..part.end - self.base;
        if own == raw {
            self.cover(range.clone());
        }
        if !own.is_empty() && !is_word(self.bytes.within(own.clone())) {
            let value = match own == raw {
                true => self.text.text.within(range),
                false => self.bytes.within(own.clone()),
            };
            self.found.push(Secret { what, range: own, origin, value: value.to_vec() });
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

    /// Notes that nothing in this part of the text is to be looked at for what is named in it.
    fn cover(&mut self, range: Range<usize>) {
        let at = self.covered.partition_point(|other| other.start <= range.start);
        let before = at.checked_sub(1).and_then(|last| self.covered.get(last));
        if before.is_some_and(|before| range.end <= before.end) {
            return;
        }
        let after = self.covered.partition_point(|other| other.start < range.end);
        self.covered.splice(at..after, [range]);
    }

    /// True if this place is inside a secret: what a name in it says is a part of that.
    fn is_covered(&self, at: usize) -> bool {
        let before = self.covered.partition_point(|secret| secret.start <= at);
        let before = before.checked_sub(1).and_then(|last| self.covered.get(last));
        before.is_some_and(|secret| at < secret.end)
    }

    fn before(&self, at: usize) -> &[u8] {
        self.text.text.before(at)
    }

    /// Returns the length of the token that begins here.
    fn token(&self, at: usize) -> usize {
        self.token.length(&self.text.text, at, |rest| run(rest, is_token))
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
        let mut end = 0;
        for capital in memchr3_iter(b'A', b'J', b'L', text) {
            let inside = if text.get(capital) == Some(&b'J') { 2 } else { 0 };
            end = self.solid(capital.saturating_sub(inside), end);
        }
        for at in memmem::find_iter(text, "dapi") {
            self.solid(at, 0);
        }
        for colon in memmem::find_iter(text, ":AA") {
            let number = run_back(self.before(colon), |byte| byte.is_ascii_digit());
            let length = run(self.text.from(colon + 1), |byte| Letters::Url.has(byte));
            if number >= MIN_ID && length >= 30 {
                self.add("a token of Telegram", colon + 1..colon + 1 + length);
            }
        }
        for at in memmem::find_iter(text, "earer ").chain(memmem::find_iter(text, "EARER ")) {
            let begin = at.saturating_sub(1);
            if let Some((skip, length)) = bearer(self.text.from(begin)) {
                let range = begin + skip..begin + skip + length;
                self.add_value("a bearer token", range.clone(), self.text.raw(range.end));
            }
        }
    }

    /// Finds a user and a password after `Basic` (RFC 7617).
    fn basic(&mut self) {
        let text = &*self.text.text;
        for at in memmem::find_iter(text, "asic ").chain(memmem::find_iter(text, "ASIC ")) {
            let begin = at + "asic ".len();
            let end = begin + self.token(begin);
            let read = STANDARD.decode(self.text.text.within(begin..end));
            let is_pair =
                |read: &Vec<u8>| memchr(b':', read).is_some() && str::from_utf8(read).is_ok();
            if read.is_ok_and(|read| is_pair(&read)) {
                self.add("credentials", begin..end);
            }
        }
    }

    /// Adds the key or the token without a separator that begins at this place, as `shape` does.
    fn solid(&mut self, begin: usize, end: usize) -> usize {
        let begins_word = || match self.before(begin) {
            [.., b'\\', last] if is_escape(*last) => true,
            [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
            before => !before.last().is_some_and(u8::is_ascii_alphanumeric),
        };
        if STARTS.may_begin(self.text.from(begin)) && begins_word() {
            return self.shape(begin, end);
        }
        end
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
            None => match self.web_token(begin) {
                Some(length) => ("a web token", 0, length),
                None => return end,
            },
        };
        let range = begin + skip..begin + skip + length;
        let end = range.end;
        self.origin = Some((begin, begin));
        self.add(what, range);
        self.origin = None;
        end
    }

    /// Returns the length of the web token at this place (RFC 7519): its parts are JSON in base64,
    /// which begins with `eyJ`.
    fn web_token(&self, begin: usize) -> Option<usize> {
        let is_part = |rest: &[u8]| run(rest, |byte| Letters::Url.has(byte));
        let text = self.text.from(begin);
        let first = self.part.length(&self.text.text, begin, is_part);
        let second = text.get(first..)?.strip_prefix(b".")?;
        if !text.starts_with(b"eyJ") || first < MIN_VALUE + 3 || is_part(second) < MIN_VALUE {
            return None;
        }
        let all = run(text, |byte| Letters::Dots.has(byte) || byte == b'=');
        Some(text.before(all).trim_end_dots().len())
    }

    /// Finds private keys, with the lines around them.
    fn private_keys(&mut self) {
        let text = &*self.text.text;
        let mut end = 0;
        for begin in memmem::find_iter(text, "-----BEGIN ") {
            let rest = self.text.from(begin);
            let head = rest.before(128);
            if begin < end || memmem::find(head, b"PRIVATE KEY").is_none() {
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
            let length = memmem::find(key, b"-----END").and_then(|end| {
                let after = end + "-----END".len();
                Some(after + memmem::find(key.get(after..)?, MARK)? + MARK.len())
            });
            let (length, lines) = match length {
                Some(length) => (length, Vec::new()),
                None => self.lines_of_key(begin, key.len()),
            };
            end = lines.last().map_or(begin + length, |line| line.end);
            self.add("a private key", begin..begin + length);
            for line in lines {
                self.add("a private key", line);
            }
        }
    }

    /// Returns the length of the head of a private key, and the lines after it, where other signs stand
    /// between these: numbers of lines, marks of a list. Without its last line it has no other
    /// lines than long ones, or is in one piece of this length.
    fn lines_of_key(&self, begin: usize, length: usize) -> (usize, Vec<Range<usize>>) {
        let name = begin + MARK.len();
        let head = memmem::find(self.text.from(name).before(MAX_NAME), MARK);
        let Some(head) = head.map(|head| head + 2 * MARK.len()) else {
            return (length, Vec::new());
        };
        let (mut lines, mut at) = (Vec::new(), begin + head);
        while lines.len() < MAX_LINES {
            at += self.signs_before_line(at);
            let line = self.text.from(at);
            if line.starts_with(b"END ") && self.before(at).ends_with(MARK) {
                let end =
                    memmem::find(line.before(MAX_NAME), MARK).map_or(0, |end| end + MARK.len());
                lines.push(at - MARK.len()..at + end);
                return (head, lines);
            }
            let own = run(line, |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
            if own == 0 || line.starts_with(b"BEGIN") {
                break;
            }
            lines.push(at..at + own);
            at += own;
        }
        let long = lines.iter().take_while(|line| line.len() >= MIN_KEY_LINE).count();
        lines.truncate(long);
        // What has no end and no more long lines than were known is replaced as far as that goes.
        match lines.last() {
            Some(last) if last.end > begin + length => (head, lines),
            _ => (length, Vec::new()),
        }
    }

    /// Returns the length of the signs before a line of a key, with its number.
    fn signs_before_line(&self, at: usize) -> usize {
        let signs = |text: &[u8]| run(text, |byte| !byte.is_ascii_alphanumeric());
        let between = self.text.from(at).before(MAX_BETWEEN);
        let before = signs(between);
        let digits = run(between.after(before), |byte| byte.is_ascii_digit());
        let after = signs(between.after(before + digits));
        let is_new_line =
            between.before(before).iter().any(|&byte| matches!(byte, b'\n' | LINE_END));
        let is_number = is_new_line && (1..7).contains(&digits) && after > 0;
        before + if is_number { digits + after } else { 0 }
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
        for sign in memchr3_iter(b':', b'=', b'>', &self.text.text) {
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
            end -= usize::from(is_quoted || last(end) == Some(b'`'));
            if !may_end_name(self.before(end)) {
                continue;
            }
            let begin = end - run_back(self.before(end), is_name);
            self.origin = Some((begin, sign));
            let name = self.text.text.within(begin..end);
            let is_long =
                [&b":="[..], b"=>"].iter().any(|long| self.text.from(sign).starts_with(long));
            let after = sign + 1 + usize::from(is_long);
            let name = NamedSecret { begin, name, after, is_quoted, is_tight };
            match self.text.get(sign) {
                Some(b'>') => self.tag(&name),
                Some(b'=') => self.set(&name),
                _ if is_quoted => self.member(&name),
                _ => self.head(&name),
            }
        }
        self.origin = None;
    }

    /// Finds the value of a member, and of a pair of members (`"name": "authorization", "value": "…"`).
    fn member(&mut self, name: &NamedSecret<'_>) {
        let begin = self.element(name.after);
        let is_name = is_any(name.name, PAIR_NAMES);
        if is_name && self.name_at(begin).is_some() {
            let value = self.sibling(begin, PAIR_VALUES);
            self.pair(Some(begin), value);
        } else if is_any(name.name, PAIR_VALUES) {
            let name = self.sibling(begin, PAIR_NAMES);
            self.pair(name, Some(begin));
        }
        match named(name.name).filter(|(_, place)| *place != SecretPlace::Query) {
            Some(secret) if self.text.get(begin) == Some(b'`') => drop(self.quoted(name, secret)),
            Some(_) if self.is_yaml(begin) => self.lines(name, name.begin.saturating_sub(1)),
            Some(secret) => drop(self.value(secret, begin, Sought::Value, 0)),
            None => {}
        }
    }

    /// Finds the secret in the value of a pair.
    fn pair(&mut self, name: Option<usize>, value: Option<usize>) {
        if let Some(secret) = name.and_then(|name| self.name_at(name))
            && let Some(value) = value
        {
            self.value(secret, value, Sought::All, 0);
        }
    }

    /// Returns what the name of a pair says: a string, or the first member of an object.
    fn name_at(&self, at: usize) -> Option<(&'static str, SecretPlace)> {
        let opener = match self.text.get(at)? {
            b'{' => self.member_at(self.skip_space(at + 1))?.1,
            _ => at,
        };
        let (end, _) = self.text.string_end(opener)?;
        named(self.text.text.within(opener + 1..end))
    }

    /// Returns the name of the member that begins here, and the place of its value.
    fn member_at(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let (end, _) = self.text.string_end(at)?;
        let colon = self.skip_space(end + 1);
        (self.text.get(colon) == Some(b':')).then(|| (at + 1..end, self.skip_space(colon + 1)))
    }

    /// Returns the place of the value of the first of the members after this value that has one of
    /// these names.
    fn sibling(&mut self, value: usize, names: &[&str]) -> Option<usize> {
        let mut value = value;
        for _ in 0..MAX_SIBLINGS {
            let end = self.value(("", SecretPlace::Query), value, Sought::End, 0)?;
            let (name, next) = self.member_at(self.skip_comma(end)?)?;
            if is_any(self.text.text.within(name), names) {
                return Some(next);
            }
            value = next;
        }
        None
    }

    /// Finds the secret in the value that begins here, also in a list or an object. Returns its end,
    /// if it has one.
    fn value(
        &mut self,
        secret: (&'static str, SecretPlace),
        at: usize,
        sought: Sought,
        depth: usize,
    ) -> Option<usize> {
        let opener = self.text.get(at)?;
        if !matches!(opener, b'[' | b'{') || depth == MAX_DEPTH {
            if let Some((end, _)) = self.text.string_end(at) {
                let is_secret = match sought {
                    Sought::End => false,
                    Sought::Opaque => is_opaque(secret.0, self.text.text.within(at + 1..end)),
                    Sought::Value | Sought::All => true,
                };
                if is_secret {
                    self.string(secret, at);
                }
                return Some(end + 1);
            }
            let is_meant = matches!(sought, Sought::Value | Sought::All);
            if is_meant && opener.is_ascii_digit() && may_be_number(secret.0) {
                self.digits(secret.0, at, MIN_ID);
            }
            let end = at + self.token(at);
            // In YAML, a string needs no quotation marks.
            if is_meant
                && is_opaque(secret.0, self.text.text.within(at..end))
                && matches!(self.text.get(end), None | Some(b',' | b']' | b'}' | b'\n' | LINE_END))
            {
                self.add_value(secret.0, at..end, self.text.raw(end));
            }
            return (end > at).then_some(end);
        }
        let mut at = self.element(at + 1);
        while !matches!(self.text.get(at)?, b']' | b'}') {
            let mut own = sought;
            if opener == b'{' {
                let (name, value) = self.member_at(at)?;
                own = sought.within(secret, self.text.text.within(name));
                at = value;
            }
            let end = self.value(secret, at, own, depth + 1)?;
            at = self.skip_comma(end).unwrap_or_else(|| self.skip_space(end));
            if at == end && !matches!(self.text.get(at), Some(b']' | b'}')) {
                return None;
            }
        }
        Some(at + 1)
    }

    /// Finds the value in the string that begins here.
    fn string(&mut self, (what, place): (&'static str, SecretPlace), opener: usize) {
        let Some((end, raw_end)) = self.text.string_end(opener) else { return };
        let range = opener + 1..end;
        let value = self.text.text.within(range.clone());
        let is_enough = match place {
            SecretPlace::Owner => value.len() >= MIN_ID,
            SecretPlace::Query => value.len() >= MIN_VALUE,
            SecretPlace::Quoted => value.len() >= MIN_VALUE || is_scrambled(value),
            SecretPlace::Everywhere if what == "a token" => {
                (value.len() >= MIN_VALUE || is_scrambled(value)) && !self.is_of_model(value, end)
            }
            SecretPlace::Everywhere => true,
        };
        if is_enough {
            self.add_value(what, range, raw_end);
        }
    }

    /// True if it is a token that a model reads or writes: its probability or its number stands
    /// beside it.
    fn is_of_model(&self, value: &[u8], end: usize) -> bool {
        let quote = self.skip_comma(end + 1).filter(|&at| self.text.quote(at).is_some());
        let beside = quote.map(|at| self.text.from(at + 1).before(16).to_ascii_lowercase());
        let beside = beside.unwrap_or_default();
        let is_known = ["logprob", "log_prob", "likelihood", "tokenid", "token_id", "bytes"];
        let token = value.after(scheme(value));
        token.contains(&b' ') || is_known.iter().any(|name| beside.starts_with(name.as_bytes()))
    }

    /// Finds values in lists of heads, where each stands after its name: `["Authorization", "Basic …"]`.
    fn lists(&mut self) {
        for opener in memchr2_iter(b'[', b'(', &self.text.text) {
            self.origin = Some((opener, opener));
            let mut at = self.element(opener + 1);
            for _ in 0..MAX_HEADS {
                if self.text.quote(at).is_none() {
                    self.plain_list(at);
                    break;
                }
                let length = run(self.text.from(at + 1), is_name);
                let name = self.text.text.within(at + 1..at + 1 + length);
                let Some(comma) = self.text.quote(at + 1 + length).map(|_| at + 2 + length) else {
                    break;
                };
                let Some(value) = self.skip_comma(comma) else { break };
                let Some((end, _)) = self.text.string_end(value) else { break };
                let text = self.text.text.within(value + 1..end);
                if let Some(secret) = named(name).filter(|secret| is_head(name, secret.0))
                    && named(text).is_none()
                    && !is_variable(text.after(scheme(text)))
                {
                    self.string(secret, value);
                }
                match self.skip_comma(end + 1) {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
        self.origin = None;
    }

    /// Finds the value after the name of a head at the beginning of a list of YAML.
    fn plain_list(&mut self, at: usize) {
        let name = self.text.from(at);
        let name = name.before(run(name, is_name));
        let Some((what, _)) = named(name).filter(|(what, _)| is_head(name, what)) else { return };
        let Some(begin) = self.skip_comma(at + name.len()) else { return };
        let begin = begin + scheme(self.text.line(begin));
        let end = begin + self.token(begin);
        if is_opaque(what, self.text.text.within(begin..end)) && self.text.get(end) == Some(b']') {
            self.add_value(what, begin..end, self.text.raw(end));
        }
    }

    /// Finds what options of a command say: those of the table, and those that are named as secrets are.
    fn options(&mut self) {
        let text = &*self.text.text;
        let is_blank = |at: &usize| text.get(*at).is_some_and(|byte| b" \t\n\x0b".contains(byte));
        let words = memmem::find_iter(text, "password ").filter_map(|at| at.checked_sub(1));
        let words = words.filter(is_blank);
        for at in memmem::find_iter(text, " -").chain(words) {
            let begin = at + 1;
            self.origin = Some((begin, begin));
            let hyphens = run(self.text.from(begin), |byte| byte == b'-');
            let name = self.text.from(begin + hyphens);
            let name = match hyphens {
                1 => name.before(1),
                _ => name.before(run(name, |byte| {
                    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
                })),
            };
            let after = begin + hyphens + name.len();
            let spaces = run(self.text.from(after), |byte| byte == b' ');
            let spelled = self.text.text.within(begin..after);
            let mut known = OPTIONS.iter().filter(|option| option.name.as_bytes() == spelled);
            let option = known.find(|option| hyphens == 2 || self.is_of(begin, option));
            let (what, sign) = match option {
                Some(option) => (option.what, option.sign),
                _ if hyphens < 2 || spaces == 0 => continue,
                _ => match named(name) {
                    Some((what, SecretPlace::Everywhere)) => (what, None),
                    _ => continue,
                },
            };
            if hyphens != 1 && spaces == 0 {
                continue;
            }
            let begin = after + spaces;
            let (range, raw_end) = match self.text.string_end(begin) {
                Some((end, raw_end)) => (begin + 1..end, raw_end),
                None => {
                    let is_part =
                        |byte: u8| byte.is_ascii_graphic() && !b"\"'`<>|&\\".contains(&byte);
                    let end = begin + run(self.text.from(begin), is_part);
                    (begin..end, self.text.raw(end))
                }
            };
            let value = self.text.text.within(range.clone());
            let sign = sign.map(|sign| memchr(sign, value).map(|at| at + 1));
            let is_enough = match sign {
                Some(sign) => sign.is_some_and(|sign| sign < value.len()),
                None if hyphens == 0 => has_digit(value) || self.is_after_login(after),
                None => option.is_some() || (value.len() >= MIN_VALUE && has_digit(value)),
            };
            let skip = if what == "a cookie" { 0 } else { sign.flatten().unwrap_or_default() };
            let secret = value.after(skip);
            if !is_enough || is_variable(secret) || secret.iter().all(u8::is_ascii_digit) {
                continue;
            }
            match what {
                "a cookie" => self.cookies(range.start, value, false),
                _ => self.add_value(what, range.start + skip..range.end, raw_end),
            }
        }
        self.origin = None;
    }

    /// True if a user of a file of `netrc` stands before this word.
    fn is_after_login(&self, end: usize) -> bool {
        let before = self.before(end).after(end.saturating_sub(MAX_NAME));
        let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.nth(2) == Some(b"login")
    }

    /// True if the command of an option begins shortly before this place, and goes on to it.
    fn is_of(&self, at: usize, option: &SecretOption) -> bool {
        let before = self.before(at).after(at.saturating_sub(MAX_COMMAND));
        memmem::rfind(before, option.command.as_bytes())
            .is_some_and(|begin| !before.after(begin).iter().any(|byte| option.ends.contains(byte)))
    }

    /// Finds the value in a query of a URL, or of a variable that is set.
    fn set(&mut self, name: &NamedSecret<'_>) {
        if is_any(name.name, PAIR_NAMES) {
            self.pair_of_text(name);
        }
        let secret = named(name.name).filter(|_| !self.is_covered(name.after));
        let Some((what, place)) = secret else { return };
        let is_query = self.before(name.begin).ends_with(b"?")
            || self.before(name.begin).ends_with(b"&")
            || self.before(name.begin).ends_with(b"#")
            || self.before(name.begin).ends_with(b"&amp;");
        if is_query && name.is_tight && !name.is_quoted && place != SecretPlace::Owner {
            let to_end = |rest: &[u8]| run(rest, self::is_query);
            let length = self.query.length(&self.text.text, name.after, to_end);
            let is_enough = place == SecretPlace::Everywhere || length >= MIN_VALUE;
            if is_enough {
                let end = name.after + length;
                self.add_value(what, name.after..end, self.text.raw(end));
            }
            return;
        }
        if what == "a cookie" {
            return;
        }
        if !self.quoted(name, (what, place)) && place == SecretPlace::Everywhere {
            let is_loose = !name.is_tight || self.text.get(name.after) == Some(b' ');
            self.bare(name, what, is_loose);
        }
    }

    /// Finds the value in quotation marks that a text sets. Returns whether one is there.
    fn quoted(
        &mut self,
        name: &NamedSecret<'_>,
        (what, place): (&'static str, SecretPlace),
    ) -> bool {
        let begin = self.skip_blanks(name.after);
        // The type of a variable: `let apiKey: String = "…"`.
        let kind = begin + run(self.text.from(begin), |byte| is_name(byte) || byte == b'&');
        let sign = self.skip_blanks(kind);
        let is_typed = kind > begin && self.text.get(sign) == Some(b'=');
        let begin = if is_typed { self.skip_blanks(sign + 1) } else { begin };
        let Some((range, raw_end)) = self.in_quotes(begin) else { return false };
        let value = self.text.text.within(range.clone());
        let is_setting = matches!(place, SecretPlace::Everywhere | SecretPlace::Quoted);
        if is_setting && is_value(what, name.name, value.after(scheme(value))) {
            self.add_value(what, range, raw_end);
        }
        true
    }

    /// Returns where the value in quotation marks that begins here is, and where it ends in the raw
    /// bytes. A mark before what stands between strings ends one.
    fn in_quotes(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let (end, raw_end) = match self.text.get(at)? {
            b'`' => {
                let end = at + 1 + memchr(b'`', self.text.line(at + 1))?;
                (end, self.text.raw(end))
            }
            _ => self.text.string_end(at)?,
        };
        let first = self.text.get(at + 1)?;
        (end > at + 1 && !b",:;)]} \t\r\n".contains(&first)).then_some((at + 1..end, raw_end))
    }

    /// Finds the value without quotation marks that a text sets. One that is loose has blanks before it, or
    /// words around it, and is no word itself.
    fn bare(&mut self, name: &NamedSecret<'_>, what: &'static str, is_loose: bool) {
        let begin = self.skip_blanks(name.after);
        let begin = begin + scheme(self.text.line(begin));
        let mut end = begin + self.token(begin);
        if what == "a connection" && self.text.from(end).starts_with(b"://") {
            end += run(self.text.from(end), |byte| is_query(byte) || b"?&#".contains(&byte));
        }
        // What is called or indexed is code.
        if matches!(self.text.get(end), Some(b'(' | b'[')) {
            return;
        }
        let value = self.text.text.within(begin..end);
        let is_secret = match is_loose {
            true => is_opaque(what, value),
            false => is_value(what, name.name, value),
        };
        if is_secret {
            self.add_value(what, begin..end, self.text.raw(end));
        }
    }

    /// Finds the value of a pair whose name is in quotation marks after `name` or `key`, in a text:
    /// `<add key="…" value="…"/>`, `{ name: '…', value: '…' }`, `<field name="…">…</field>`, and a part
    /// of a form (RFC 7578).
    fn pair_of_text(&mut self, name: &NamedSecret<'_>) {
        let Some((range, _)) = self.scalar(self.skip_blanks(name.after)) else { return };
        let secret = named(self.text.text.within(range.clone()));
        let secret = secret.filter(|(_, place)| *place != SecretPlace::Query);
        let Some((what, _)) = secret else { return };
        let is_form = self.before(name.begin).ends_with(b"form-data; ");
        let is_end = |byte: u8| byte < b' ' || byte == b'"';
        let mut at = range.end;
        for _ in 0..MAX_SIBLINGS {
            at += run(self.text.from(at), |byte| b"\"'` \t\r\n\x0b,".contains(&byte));
            if self.text.get(at) == Some(b'>') {
                return self.inner_text(what, at + 1);
            }
            let line = at + run(self.text.from(at), |byte| !is_end(byte));
            let length = run(self.text.from(at), is_name);
            let sign = self.skip_blanks(at + length);
            let is_member = length > 0
                && match self.text.get(sign) {
                    Some(b':') => true,
                    Some(b'=') => !is_form,
                    _ => false,
                };
            if is_form && is_member {
                at = line;
                continue;
            }
            if is_form && !self.text.from(at).starts_with(b"--") {
                return self.add_value(what, at..line, self.text.raw(line));
            }
            let value = self.scalar(self.skip_blanks(sign + 1)).filter(|_| is_member);
            let Some((range, raw_end)) = value else { return };
            if is_any(self.text.text.within(at..at + length), PAIR_VALUES) {
                let value = self.text.text.within(range.clone());
                let is_quoted = range.start > self.skip_blanks(sign + 1);
                let own = value.after(scheme(value));
                if is_value(what, b"", own) && (is_quoted || is_opaque("a key", own)) {
                    self.add_value(what, range, raw_end);
                }
                return;
            }
            at = range.end;
        }
    }

    /// Returns where the value that begins here is, with or without quotation marks, and where it ends
    /// in the raw bytes.
    fn scalar(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let end = at + self.token(at);
        self.in_quotes(at).or((end > at).then(|| (at..end, self.text.raw(end))))
    }

    /// Finds the text of an element that is named as a secret is: `<ApiKey>…</ApiKey>`.
    fn tag(&mut self, name: &NamedSecret<'_>) {
        let before = self.before(name.begin);
        let space = before.strip_suffix(b":");
        let before =
            space.map_or(before, |space| space.before(space.len() - run_back(space, is_name)));
        if before.ends_with(b"<")
            && let Some((what, SecretPlace::Everywhere)) = named(name.name)
        {
            self.inner_text(what, name.after);
        }
    }

    /// Adds the text of an element, which ends with its tag.
    fn inner_text(&mut self, what: &'static str, begin: usize) {
        let Some(length) = memchr(b'<', self.text.line(begin)) else { return };
        let end = begin + length;
        let value = self.text.text.within(begin..end);
        if self.text.from(end).starts_with(b"</") && is_value(what, b"", value) {
            self.add_value(what, begin..end, self.text.raw(end));
        }
    }

    /// Finds the value of a head: of HTTP, of `curl -v`, of YAML, and in a text.
    fn head(&mut self, name: &NamedSecret<'_>) {
        // Two colons are in a path of code.
        if self.text.get(name.after) == Some(b':') {
            return;
        }
        if is_any(name.name, PAIR_NAMES) {
            self.pair_of_text(name);
        }
        let before = self.before(name.begin);
        let opener = before.last().copied().unwrap_or(b'\n');
        let marks = run_back(before, |byte| b" <>*-\t".contains(&byte));
        let around = before.before(before.len() - marks).last().copied().unwrap_or(b'\n');
        let secret = named(name.name);
        let is_word = |(what, place): &(&'static str, SecretPlace)| {
            *place == SecretPlace::Everywhere && !is_head(name.name, what)
        };
        let is_quote = matches!(self.text.get(self.skip_blanks(name.after)), Some(b'"' | b'\''));
        let is_line = around == b'\n' && name.is_tight;
        if is_line && (!is_quote || secret.filter(is_word).is_none()) {
            return self.lines(name, name.begin);
        }
        let secret = secret.filter(|_| !self.is_covered(name.after));
        let Some((what, place)) = secret else { return };
        let is_pair =
            name.is_tight && matches!(place, SecretPlace::Everywhere | SecretPlace::Owner);
        if is_pair && is_head(name.name, what) && self.is_in_flow(around, name.begin) {
            return self.flow(&HeadRow::new(name.name, what), name.after);
        }
        let is_quoted = what != "a cookie" && self.quoted(name, (what, place));
        if is_quoted || matches!(place, SecretPlace::Query | SecretPlace::Quoted) {
            return;
        }
        let begin = name.after + run(self.text.from(name.after), |byte| b" \t".contains(&byte));
        let is_in_list = opener == b'[';
        let is_end = |byte: u8| b"\n\x0b\"'<".contains(&byte) || (byte == b']' && is_in_list);
        let to_end = |rest: &[u8]| run(rest, |byte| !is_end(byte));
        let length = self.heads[usize::from(is_in_list)].length(&self.text.text, begin, to_end);
        let value = self.text.from(begin).before(length);
        let value = value.before(value.len() - run_all_back(value, b" \t\r"));
        let begins_text = opener == b'=' || matches!(around, LINE_END | b'"' | b'\'');
        let is_setting = name.is_tight && begins_text && !is_head(name.name, what);
        if what == "a cookie" {
            if name.is_tight && value.len() >= MIN_VALUE {
                self.cookies(begin, value, is_set_cookie(name.name));
            }
            return;
        }
        let own = value.after(scheme(value));
        let is_enough = match is_setting {
            true => {
                let is_long = own.len() >= MIN_VALUE || own.iter().all(|&byte| is_token(byte));
                is_value(what, name.name, own) && has_digit(own) && is_long
            }
            false => name.is_tight && is_head(name.name, what),
        };
        let is_count = value.iter().all(u8::is_ascii_digit) && !may_be_number(what);
        if !is_enough && place == SecretPlace::Everywhere {
            let at = begin + value.len() - own.len();
            let token = own.before(self.token(at));
            // The name of a type may have one number.
            let numbers = token.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
            if is_opaque("a token", token) && numbers.count() >= 4 {
                self.bare(name, what, true);
            }
            return;
        }
        if !is_enough || is_variable(own) || is_count {
            return;
        }
        if is_setting || b"[\"'".contains(&opener) {
            let end = begin + value.len();
            return self.add_value(what, begin..end, self.text.raw(end));
        }
        let skip = scheme(value);
        let length = self.token(begin + skip).min(value.len() - skip);
        if length >= MIN_VALUE {
            let end = begin + skip + length;
            self.add_value(what, begin..end, self.text.raw(end));
        }
    }

    /// True if a name after this byte is one of YAML's between braces: `{a: b, NAME: …}`.
    fn is_in_flow(&self, around: u8, begin: usize) -> bool {
        let before = self.before(begin).after(begin.saturating_sub(MAX_COMMAND));
        let line = before.after(memrchr(b'\n', before).map_or(0, |end| end + 1));
        around == b'{'
            || (around == b',' && memchr_iter(b'{', line).count() > memchr_iter(b'}', line).count())
    }

    /// Finds the value of a pair between braces: it, or each of its list, ends before a comma or a
    /// bracket.
    fn flow(&mut self, row: &HeadRow, after: usize) {
        let mut at = self.skip_blanks(after);
        let is_list = self.text.get(at) == Some(b'[');
        at += usize::from(is_list);
        for _ in 0..MAX_HEADS {
            let begin = self.skip_space(at);
            let quote = self.text.get(begin).filter(|byte| matches!(byte, b'"' | b'\''));
            let (begin, length) = match quote {
                Some(quote) => {
                    let line = self.text.line(begin + 1);
                    (begin + 1, memchr(quote, line).unwrap_or(line.len()))
                }
                None => {
                    (begin, run(self.text.from(begin), |byte| !b",[]{}\n\x0b\"'".contains(&byte)))
                }
            };
            let value = self.text.from(begin).before(length).trim_ascii_end();
            let own = value.after(scheme(value));
            if quote.is_some() || is_list || own.len() >= MIN_VALUE {
                self.plain(row, begin, begin + value.len());
            }
            at = begin + length + usize::from(quote.is_some());
            match self.skip_comma(at).filter(|_| is_list) {
                Some(next) => at = next,
                None => break,
            }
        }
    }

    /// Finds what is named at the beginning of a line: in the rest of it, in the lines of a list, of a
    /// block and of a pair of YAML, and in those that go on with it. `begin` is where the name, or
    /// the quotation mark before it, is.
    fn lines(&mut self, name: &NamedSecret<'_>, begin: usize) {
        let start = memrchr(b'\n', self.before(begin)).map_or(0, |end| end + 1);
        let column = begin - start;
        if is_any(name.name, PAIR_NAMES) || is_any(name.name, PAIR_VALUES) {
            self.pair_of_lines(name, column);
        }
        let Some((what, place)) = named(name.name) else { return };
        if matches!(place, SecretPlace::Query | SecretPlace::Quoted) {
            return;
        }
        let row = HeadRow::new(name.name, what);
        let value = self.text.line(name.after).trim_ascii();
        let (is_empty, is_block) = (value.is_empty(), is_block(value));
        if value.starts_with(b"[") {
            return self.flow(&row, name.after);
        }
        if !is_block {
            self.rest_of_line(&row, name.after);
        }
        if !is_empty && !is_block && !row.is_head {
            return;
        }
        let indent = run(self.text.from(start), |byte| b" \t".contains(&byte));
        let mut at = name.after;
        let mut has_cookie = value.contains(&b';');
        for _ in 0..MAX_LINES {
            let Some(end) = memchr(b'\n', self.text.from(at)) else { break };
            at += end + 1;
            let line = self.text.line(at);
            let own = run(line, |byte| b" \t".contains(&byte));
            let text = line.after(own).trim_ascii_end();
            let item = if text.starts_with(b"- ") && !is_block { 2 } else { 0 };
            let is_deeper = own > indent && own > 0;
            if text.is_empty() || !(is_deeper || (is_empty && own == indent && item > 0)) {
                break;
            }
            let begin = at + own + item;
            let is_attribute = row.is_set && has_cookie && item == 0;
            has_cookie = is_attribute || text.contains(&b';');
            if is_attribute {
                continue;
            }
            match entry(text.after(item)).filter(|_| !is_block) {
                None => self.rest_of_line(&row, begin),
                Some((name, _)) if row.is_head && !is_empty && !is_any(name, &["value"]) => break,
                Some((name, after)) if row.holds(name) => {
                    self.rest_of_line(&HeadRow { is_jar: false, ..row }, begin + after);
                }
                Some(_) => {}
            }
        }
    }

    /// Finds the value of a pair in lines of YAML: its name and its value, one of which is here.
    fn pair_of_lines(&mut self, name: &NamedSecret<'_>, column: usize) {
        let is_name = is_any(name.name, PAIR_NAMES);
        let others = if is_name { PAIR_VALUES } else { PAIR_NAMES };
        let mut at = name.after;
        for _ in 0..MAX_SIBLINGS {
            let Some(end) = memchr(b'\n', self.text.from(at)) else { return };
            at += end + 1;
            let line = self.text.line(at);
            if run(line, |byte| byte == b' ') != column {
                return;
            }
            let Some((other, after)) = entry(line.after(column)) else { return };
            if !is_any(other, others) {
                continue;
            }
            let other = at + column + after;
            let (named_at, value) = if is_name { (name.after, other) } else { (other, name.after) };
            let named_as = trim_quotes(self.text.line(named_at));
            if let Some((what, _)) = named(named_as) {
                let row = HeadRow { is_head: true, ..HeadRow::new(named_as, what) };
                self.rest_of_line(&row, value);
            }
            return;
        }
    }

    /// Adds what stands in a line from this place on.
    fn rest_of_line(&mut self, row: &HeadRow, begin: usize) {
        let line = self.text.line(begin);
        let skip = run(line, |byte| b" \t\r\"'[]".contains(&byte));
        let value = line.after(skip);
        // What ends a value of YAML between braces ends one of another line, too.
        let is_open = memchr(b'{', value).is_none();
        let end = |byte: &u8| b" \t\r\"'[],".contains(byte) || (is_open && *byte == b'}');
        let value =
            value.before(value.iter().rposition(|byte| !end(byte)).map_or(0, |last| last + 1));
        self.plain(row, begin + skip, begin + skip + value.len());
    }

    /// Adds a value of a head.
    fn plain(&mut self, row: &HeadRow, begin: usize, end: usize) {
        let text = self.text;
        let value = text.text.within(begin..end);
        if row.is_jar {
            return self.cookies(begin, value, row.is_set);
        }
        let is_enough = row.is_head
            || (value.len() >= MIN_VALUE && !value.after(scheme(value)).contains(&b' '));
        let is_count = value.iter().all(u8::is_ascii_digit) && !may_be_number(row.what);
        // The credentials are in the next line.
        let is_scheme = is_any(value, SCHEMES);
        if is_enough && !is_count && !is_scheme {
            self.add_value(row.what, begin..end, self.text.raw(end));
        }
    }

    /// True if a value of YAML that no mark encloses begins here: a list of lines, or a block.
    fn is_yaml(&self, at: usize) -> bool {
        let line = self.text.from(at).before(MAX_NAME);
        let line = line.before(memchr(b'\n', line).unwrap_or(line.len()));
        line.starts_with(b"- ") || is_block(line.trim_ascii())
    }

    /// Finds the values of cookies. After the first one of `set-cookie` come attributes.
    fn cookies(&mut self, begin: usize, value: &[u8], is_set: bool) {
        let mut at = begin;
        if !is_set {
            self.cover(begin..begin + value.len());
        }
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

    /// Returns the place after a comma and white space, where a comma comes next.
    fn skip_comma(&self, at: usize) -> Option<usize> {
        let comma = self.skip_space(at);
        (self.text.get(comma) == Some(b',')).then(|| self.element(comma + 1))
    }

    /// Returns the place of a value after white space: of Python's bytes, that of their mark.
    fn element(&self, at: usize) -> usize {
        let at = self.skip_space(at);
        let is_bytes = self.text.get(at) == Some(b'b') && self.text.quote(at + 1).is_some();
        at + usize::from(is_bytes)
    }

    /// Returns the place after blanks.
    fn skip_blanks(&self, at: usize) -> usize {
        at + run(self.text.from(at), |byte| b" \t".contains(&byte))
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

/// How the value of a head is looked at.
#[derive(Clone, Copy)]
struct HeadRow {
    what: &'static str,
    /// True if all that it has is the value.
    is_head: bool,
    /// True if cookies stand in it with their names.
    is_jar: bool,
    /// True for `set-cookie`.
    is_set: bool,
}

impl HeadRow {
    fn new(name: &[u8], what: &'static str) -> Self {
        let is_jar = what == "a cookie";
        HeadRow {
            what,
            is_head: is_head(name, what),
            is_jar,
            is_set: is_jar && is_set_cookie(name),
        }
    }

    /// True if a member of this name holds the secret of the object that it is in: of a cookie all
    /// but what is said about it.
    fn holds(self, name: &[u8]) -> bool {
        if self.is_jar { !is_any(name, ATTRIBUTES) } else { is_any(name, VALUES) }
    }
}

/// True if a name is one of these, however it is written.
fn is_any(name: &[u8], of: &[&str]) -> bool {
    of.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// True if this is the name of a head, and no word that texts have.
fn is_head(name: &[u8], what: &str) -> bool {
    name.contains(&b'-') || matches!(what, "credentials" | "a cookie")
}

fn is_set_cookie(name: &[u8]) -> bool {
    name.get(..3).is_some_and(|first| first.eq_ignore_ascii_case(b"set"))
}

/// True if a value of YAML stands in the lines after its own: `|`, `>-`, also after a tag.
fn is_block(value: &[u8]) -> bool {
    let mut words = value.rsplit(|&byte| byte == b' ');
    let Some(last) = words.next() else { return false };
    matches!(last, [b'|' | b'>', rest @ ..] if rest.iter().all(|byte| b"+-123456789".contains(byte)))
        && words.all(|word| matches!(word.first(), None | Some(b'!' | b'&')))
}

/// Returns the name in a line `name: value` of YAML, and the place after its colon.
fn entry(line: &[u8]) -> Option<(&[u8], usize)> {
    let colon = memchr(b':', line)?;
    let name = trim_quotes(line.before(colon));
    let is_entry = matches!(line.get(colon + 1), None | Some(b' ' | b'\r'));
    (is_entry && !name.is_empty() && name.iter().all(|&byte| is_name(byte)))
        .then_some((name, colon + 1))
}

fn trim_quotes(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let quote = text.first().filter(|byte| matches!(byte, b'"' | b'\''));
    let inner = quote.and_then(|_| text.get(1..text.len() - 1));
    inner.unwrap_or(text)
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// True if a digit stands between letters, as in few words that a model writes.
fn is_scrambled(value: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let ends = (value.iter().position(is_letter), value.iter().rposition(is_letter));
    let (Some(first), Some(last)) = ends else { return false };
    value.len() >= 5 && !value.contains(&b' ') && has_digit(value.within(first..last))
}

/// True if a word in it has letters and digits, or small letters before great ones, or is a long number:
/// what a name or a sentence goes on with seldom has.
pub(super) fn is_random(text: &[u8]) -> bool {
    let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
    let is_camel = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    words.any(|word| {
        let is_number = word.len() >= MIN_ID && word.iter().all(u8::is_ascii_digit);
        is_mixed(word) || is_number || word.windows(2).any(is_camel)
    })
}

/// True if a value has letters and digits.
fn is_mixed(value: &[u8]) -> bool {
    has_digit(value) && value.iter().any(u8::is_ascii_alphabetic)
}

/// True if a value looks like a secret, whatever its name is. What is a token to a model is short.
fn is_opaque(what: &str, value: &[u8]) -> bool {
    let shortest = if what == "a token" { MIN_TOKEN } else { MIN_VALUE };
    value.len() >= shortest
        && is_mixed(value)
        && value.iter().all(|&byte| is_token(byte))
        && named(value).is_none()
}

/// True if a name in a text says that this value is a secret.
fn is_value(what: &str, name: &[u8], value: &[u8]) -> bool {
    let is_number = value.iter().all(u8::is_ascii_digit) && !may_be_number(what);
    let is_enough = value.len() >= MIN_VALUE || is_short(what, name, value);
    let is_word = |byte: &u8| *byte > b' ';
    is_enough
        && !is_variable(value)
        && value.iter().all(is_word)
        && !is_number
        && !value.eq_ignore_ascii_case(name)
}

/// True if a value in a text is shorter than most secrets, and is one by its name.
fn is_short(what: &str, name: &[u8], value: &[u8]) -> bool {
    let is_mixed = value.len() >= 4 && is_mixed(value);
    let is_variable_of_shell = !name.iter().any(u8::is_ascii_lowercase);
    let is_secret = match what {
        "a token" => is_scrambled(value) || (is_variable_of_shell && is_mixed),
        "a password" => !value.is_empty(),
        _ => is_mixed || (is_variable_of_shell && value.len() >= 3),
    };
    is_secret && named(value).is_none() && !is_any(value, NO_VALUES)
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
    let Some(space) = memchr(b' ', value.before(MAX_NAME)) else { return 0 };
    let (scheme, rest) = value.split_at(space);
    if is_any(scheme, SCHEMES) { space + run(rest, |byte| byte == b' ') } else { 0 }
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
