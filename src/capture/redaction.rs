//! Secrets in a capture, replaced by words of the same length.
//!
//! A capture is taken as a whole: a secret keeps its word wherever it stands, and no offset, chunk
//! size or length changes. What is looked for: keys by their shape (`event/keys.rs`), tokens after
//! `Bearer`, what the heads of HTTP and the members of JSON name as a secret or as an account,
//! accounts in names of AWS and projects of Google, and e-mail addresses. In an AWS event stream
//! the checksums are made anew, and base64 in a member `bytes` is looked into.

use std::collections::BTreeMap;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use crate::event::keys::{Shape, is_random};
use crate::frame::http::{find_head, find_heads};

/// The words that secrets are replaced by are made of this, and end with a number.
const WORD: &[u8] = b"redacted";

/// The shortest token after `Bearer`, in bytes.
const MIN_TOKEN: usize = 16;

/// The shortest value of a member that is replaced, in bytes.
const MIN_VALUE: usize = 6;

/// The headers whose values are secrets, or say whose the answer is: the kind of the value, and the
/// names in lower case.
const HEADERS: &[(&str, &[&str])] = &[
    ("credentials", &["authorization", "proxy-authorization", "cf-aig-authorization"]),
    ("credentials", &["helicone-auth"]),
    ("a cookie", &["cookie", "set-cookie"]),
    ("a key", &["api-key", "x-api-key", "x-goog-api-key", "x-portkey-api-key"]),
    ("a key", &["ocp-apim-subscription-key"]),
    ("a token", &["x-amz-security-token", "x-auth-token", "x-csrf-token"]),
    ("an organisation", &["openai-organization", "anthropic-organization-id"]),
    ("a project", &["openai-project", "x-goog-user-project"]),
];

/// The members whose values are: the kind of the value, and the letters of the names.
const MEMBERS: &[(&str, &[&str])] = &[
    ("a key", &["apikey", "accesskey", "accesskeyid", "secretaccesskey", "secretkey"]),
    ("a key", &["privatekey"]),
    ("a token", &["accesstoken", "refreshtoken", "idtoken", "sessiontoken", "authtoken"]),
    ("credentials", &["authorization"]),
    ("a secret", &["clientsecret"]),
    ("a password", &["password"]),
    ("a cookie", &["cookie", "setcookie"]),
    ("an organisation", &["organizationid", "orgid", "organizationuuid"]),
    ("a project", &["projectid"]),
    ("an account", &["accountid", "accountuuid", "tenantid"]),
    ("a workspace", &["workspaceid"]),
];

/// A secret in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    what: &'static str,
    range: Range<usize>,
}

/// A secret that was replaced in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// Its kind, in words.
    pub(crate) what: &'static str,
    /// The number of times that it was there.
    pub(crate) count: u64,
    /// The offset of the first one.
    pub(crate) offset: u64,
}

/// Replaces secrets, each by the same word in all captures.
#[derive(Default)]
pub(crate) struct Redactor {
    /// The number of each secret.
    numbers: BTreeMap<Vec<u8>, usize>,
}

impl Redactor {
    /// Replaces the secrets of a capture. After that, there is nothing to replace in it.
    pub(crate) fn redact(&mut self, capture: &mut [u8]) -> Vec<Replaced> {
        let messages = messages(capture);
        let mut replaced: BTreeMap<Vec<u8>, Replaced> = BTreeMap::new();
        // What is found in a part of another secret is found again in the rest of it.
        for _ in 0..4 {
            let secrets = find(capture);
            if secrets.is_empty() {
                break;
            }
            for Secret { what, range } in secrets {
                let offset = range.start as u64;
                let Some(place) = capture.get_mut(range) else { continue };
                let next = self.numbers.len() + 1;
                let number = *self.numbers.entry(place.to_vec()).or_insert(next);
                let row = Replaced { what, count: 0, offset };
                replaced.entry(place.to_vec()).or_insert(row).count += 1;
                let word = word(place, number);
                place.copy_from_slice(&word);
            }
        }
        let mut replaced: Vec<Replaced> = replaced.into_values().collect();
        for range in encoded(capture) {
            let Some(place) = capture.get_mut(range.clone()) else { continue };
            let Ok(mut inner) = STANDARD.decode(&*place) else { continue };
            let within = self.redact(&mut inner);
            let text = STANDARD.encode(&inner);
            if !within.is_empty() && text.len() == place.len() {
                place.copy_from_slice(text.as_bytes());
                let offset = range.start as u64;
                replaced.extend(within.into_iter().map(|row| Replaced { offset, ..row }));
            }
        }
        for message in messages {
            make_checksum(capture.get_mut(message).unwrap_or_default());
        }
        replaced.sort_by_key(|row| row.offset);
        replaced
    }
}

/// Returns what the value of a head is, if it is a secret; `name` is in lower case.
pub(crate) fn secret_head(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(_, names)| names.contains(&name)).map(|(what, _)| *what)
}

/// Returns how many secrets are found in a text.
pub(crate) fn count(text: &str) -> usize {
    find(text.as_bytes()).len()
}

/// Returns the word of a secret: as long, and of digits if that is.
fn word(secret: &[u8], number: usize) -> Vec<u8> {
    let (length, digits) = (secret.len(), number.to_string());
    if let Some(at) = secret.iter().position(|&byte| byte == b'@') {
        return address(secret, at, &digits);
    }
    let digits = if digits.len() < length { digits } else { String::new() };
    let rest = length - digits.len();
    let filler: Vec<u8> = match secret.iter().all(u8::is_ascii_digit) {
        // No number begins with a zero.
        true => [b'1'].into_iter().chain([b'0'].into_iter().cycle()).take(rest).collect(),
        false => WORD.iter().copied().cycle().take(rest).collect(),
    };
    [filler, digits.into_bytes()].concat()
}

/// Returns an e-mail address in place of one whose `@` is at `at`.
fn address(secret: &[u8], at: usize, digits: &str) -> Vec<u8> {
    let (name, host) = secret.split_at(at);
    let digits = if digits.len() < name.len() { digits } else { "" };
    let cycle = || WORD.iter().copied().cycle();
    let mut out: Vec<u8> = cycle().take(name.len() - digits.len()).collect();
    out.extend_from_slice(digits.as_bytes());
    let last = host.iter().rposition(|&byte| byte == b'.').unwrap_or(host.len());
    let mut letters = cycle();
    for (place, &byte) in host.iter().enumerate() {
        if byte == b'.' || byte == b'@' {
            letters = cycle();
        }
        let is_kept = place >= last || b".@".contains(&byte);
        out.push(if is_kept { byte } else { letters.next().unwrap_or(byte) });
    }
    out
}

/// True if it stands in place of a secret.
fn is_word(text: &[u8]) -> bool {
    let end = text.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    match text.split_at_checked(end) {
        Some(([], digits)) => {
            let zeros = digits.iter().skip(1).take_while(|&&byte| byte == b'0').count();
            digits.first() == Some(&b'1') && zeros >= digits.len() / 2
        }
        Some((letters, _)) => letters.iter().zip(WORD.iter().cycle()).all(|(a, b)| a == b),
        None => false,
    }
}

/// True if nothing of it is left to replace.
fn is_replaced(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let rest = Shape::of(&text).and_then(|shape| text.strip_prefix(shape.prefix));
    is_word(text.as_bytes()) || rest.is_some_and(|rest| is_word(rest.as_bytes()))
}

/// Returns the secrets in these bytes, in order; none overlaps another.
fn find(bytes: &[u8]) -> Vec<Secret> {
    let mut found: BTreeMap<usize, Secret> = BTreeMap::new();
    let mut add = |what: &'static str, range: Range<usize>| {
        // Of those that begin before its end, the last one ends last.
        let before = found.range(..range.end).next_back();
        let is_free = before.is_none_or(|(_, other)| other.range.end <= range.start);
        if range.start < range.end && is_free {
            found.insert(range.start, Secret { what, range });
        }
    };
    shapes(bytes, &mut add);
    addresses(bytes, &mut add);
    accounts(bytes, &mut add);
    heads(bytes, &mut add);
    members(bytes, &mut add);
    found.into_values().collect()
}

type Add<'a> = dyn FnMut(&'static str, Range<usize>) + 'a;

/// True for the bytes of a word: a key, an id.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

/// True for the bytes of a token: those of a word, and of base64.
fn is_token_byte(byte: u8) -> bool {
    is_word_byte(byte) || b"+/=~".contains(&byte)
}

/// Returns the length of the run of such bytes at a place.
fn run(bytes: &[u8], at: usize, is: fn(u8) -> bool) -> usize {
    bytes.iter().skip(at).take_while(|&&byte| is(byte)).count()
}

/// Returns where a word begins whose letters begin at `at`: after the letters of an escape.
fn after_escape(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
    match bytes.get(at) {
        Some(b'u') if slashes % 2 == 1 => at + 5,
        Some(b'n' | b't' | b'r' | b'b' | b'f') if slashes % 2 == 1 => at + 1,
        _ => at,
    }
}

/// Finds keys by their shapes, and tokens.
fn shapes(bytes: &[u8], add: &mut Add<'_>) {
    let mut at = 0;
    let mut is_after_bearer = false;
    while at < bytes.len() {
        if !bytes.get(at).copied().is_some_and(is_word_byte) {
            is_after_bearer &= bytes.get(at) == Some(&b' ');
            at += 1;
            continue;
        }
        let begin = after_escape(bytes, at);
        let end = (begin + run(bytes, begin, is_token_byte)).max(at + 1);
        let token = bytes.get(begin..end).unwrap_or_default().trim_suffix_of(b'.');
        let text = String::from_utf8_lossy(token);
        let is_web = text.starts_with("eyJ")
            && text.split('.').count() == 3
            && text.split('.').all(|part| part.len() >= 8);
        let key = Shape::of(&text).and_then(|shape| Some((shape, shape.secret(&text)?)));
        let whole = begin..begin + token.len();
        if let Some((shape, _)) = key.filter(|(_, rest)| !is_word(rest.as_bytes())) {
            add(shape.name, begin + shape.prefix.len()..whole.end);
        } else if is_web {
            add("a web token", whole);
        } else if is_after_bearer && token.len() >= MIN_TOKEN && is_random(&text) {
            add("a bearer token", whole);
        }
        is_after_bearer = text.eq_ignore_ascii_case("bearer");
        // What a token holds after its first word may begin another one.
        at = (begin + run(bytes, begin, is_word_byte)).max(at + 1);
        if key.is_some() || is_web {
            at = end;
        }
    }
}

/// Finds e-mail addresses.
fn addresses(bytes: &[u8], add: &mut Add<'_>) {
    for at in memchr::memchr_iter(b'@', bytes) {
        let is_name = |byte: u8| is_word_byte(byte) || b"+%".contains(&byte);
        let before = bytes.get(..at).unwrap_or_default();
        let begin = at - before.iter().rev().take_while(|&&byte| is_name(byte)).count();
        let begin = after_escape(bytes, begin);
        let end = at
            + 1
            + run(bytes, at + 1, |byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let (Some(name), Some(host)) = (bytes.get(begin..at), bytes.get(at + 1..end)) else {
            continue;
        };
        let host = host.trim_suffix_of(b'.');
        let mut labels = host.rsplit(|&byte| byte == b'.');
        let is_domain = labels
            .next()
            .is_some_and(|last| last.len() > 1 && last.iter().all(u8::is_ascii_alphabetic));
        let mut labels = labels.peekable();
        let has_name = labels.peek().is_some_and(|label| !label.is_empty());
        let is_replaced = is_word(name) && labels.all(is_word);
        if is_domain
            && has_name
            && !is_replaced
            && name.first().is_some_and(u8::is_ascii_alphanumeric)
        {
            add("an e-mail address", begin..at + 1 + host.len());
        }
    }
}

/// Finds the account in names of AWS (`arn:aws:SERVICE:REGION:ACCOUNT:…`), and numbers of projects
/// of Google (`projects/NUMBER`).
fn accounts(bytes: &[u8], add: &mut Add<'_>) {
    let mut digits = |what, at: usize, shortest: usize| {
        let length = run(bytes, at, |byte| byte.is_ascii_digit());
        let number = bytes.get(at..at + length).unwrap_or_default();
        if length >= shortest && !is_word(number) {
            add(what, at..at + length);
        }
    };
    for at in memmem::find_iter(bytes, "arn:aws") {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut colons = memchr::memchr_iter(b':', rest.get(..200).unwrap_or(rest));
        if let Some(colon) = colons.nth(3) {
            digits("an account of AWS", at + colon + 1, 12);
        }
    }
    for at in memmem::find_iter(bytes, "projects/") {
        digits("a project of Google", at + "projects/".len(), MIN_VALUE);
    }
}

/// Finds the values of heads: those of each response.
fn heads(bytes: &[u8], add: &mut Add<'_>) {
    for at in memmem::find_iter(bytes, "HTTP/") {
        if let Some(head) = find_head(bytes.get(at..).unwrap_or_default()) {
            fields(bytes, at..at + head.len, add);
        }
    }
}

/// Finds the values of the head in this range.
fn fields(bytes: &[u8], head: Range<usize>, add: &mut Add<'_>) {
    let mut at = head.start;
    for line in bytes.get(head).unwrap_or_default().split_inclusive(|&byte| byte == b'\n') {
        let begin = at;
        at += line.len();
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let name =
            String::from_utf8_lossy(line.get(..colon).unwrap_or_default()).to_ascii_lowercase();
        let Some(what) = secret_head(&name) else { continue };
        let value = line.get(colon + 1..).unwrap_or_default();
        let mut part_at = begin + colon + 1;
        let is_cookie = name.ends_with("cookie");
        for (number, part) in value.split_inclusive(|&byte| byte == b';' && is_cookie).enumerate() {
            let place = part_at;
            part_at += part.len();
            // After the first part of set-cookie come attributes.
            if name == "set-cookie" && number > 0 {
                continue;
            }
            // Credentials stand after their scheme, and cookies after their names.
            let separator: &[u8] = if is_cookie { b"=" } else { b" " };
            let trimmed = part.trim_ascii_start();
            let place = place + part.len() - trimmed.len();
            let skip =
                trimmed.iter().position(|byte| separator.contains(byte)).map_or(0, |at| at + 1);
            let secret = trimmed.get(skip..).unwrap_or_default().trim_ascii_end();
            let secret = secret.trim_suffix_of(b';');
            if !secret.is_empty() && !is_replaced(secret) {
                add(what, place + skip..place + skip + secret.len());
            }
        }
    }
}

/// Finds the values of JSON members, also where the JSON is in a string.
fn members(bytes: &[u8], add: &mut Add<'_>) {
    for colon in memchr::memchr_iter(b':', bytes) {
        let before = bytes.get(..colon).unwrap_or_default().trim_ascii_end();
        let Some(before) = before.strip_suffix(b"\"") else { continue };
        let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let (before, quote) = before.split_at(before.len() - slashes);
        let quote = [quote, b"\""].concat();
        let name = before
            .iter()
            .rev()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let mut name: Vec<u8> =
            name.filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
        name.reverse();
        let is_named = |known: &&str| known.as_bytes() == name;
        let Some((what, _)) = MEMBERS.iter().find(|(_, names)| names.iter().any(is_named)) else {
            continue;
        };
        let after = bytes.get(colon + 1..).unwrap_or_default();
        let value = after.trim_ascii_start();
        let mut begin = colon + 1 + after.len() - value.len();
        let length = match value.strip_prefix(quote.as_slice()) {
            Some(text) => {
                begin += quote.len();
                memchr::memchr2(b'"', b'\\', text).unwrap_or_default()
            }
            None => run(value, 0, |byte| byte.is_ascii_digit()),
        };
        let secret = bytes.get(begin..begin + length).unwrap_or_default();
        if length >= MIN_VALUE && !is_replaced(secret) {
            add(what, begin..begin + length);
        }
    }
}

/// Returns where base64 stands in a member `bytes`, as Amazon Bedrock sends it.
fn encoded(bytes: &[u8]) -> Vec<Range<usize>> {
    let mark = "\"bytes\":\"";
    let begins = memmem::find_iter(bytes, mark).map(|at| at + mark.len());
    begins
        .map(|at| {
            at..at + run(bytes, at, |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        })
        .collect()
}

/// Returns the messages of an AWS event stream, up to the first one that is not whole or has a
/// wrong checksum.
fn messages(capture: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut messages) = (find_heads(capture).map_or(0, |head| head.len), Vec::new());
    while let Some(length) = capture.get(at..).and_then(|rest| rest.first_chunk()) {
        let length = u32::from_be_bytes(*length) as usize;
        let Some(message) = capture.get(at..at + length) else { break };
        let Some((content, checksum)) = message.split_last_chunk() else { break };
        if length < 16 || crc32fast::hash(content) != u32::from_be_bytes(*checksum) {
            break;
        }
        messages.push(at..at + length);
        at += length;
    }
    messages
}

/// Makes the checksum of a message anew.
fn make_checksum(message: &mut [u8]) {
    if let Some((content, checksum)) = message.split_last_chunk_mut() {
        *checksum = crc32fast::hash(content).to_be_bytes();
    }
}

/// Bytes without some at their end.
trait Trim {
    fn trim_suffix_of(&self, byte: u8) -> &Self;
}

impl Trim for [u8] {
    fn trim_suffix_of(&self, byte: u8) -> &[u8] {
        let end = self.iter().rposition(|&last| last != byte).map_or(0, |at| at + 1);
        self.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::dice::Dice;
    use crate::event::keys::SHAPES;

    /// A rest of a key, as random as one.
    fn rest(length: usize, seed: u64) -> String {
        let dice = &mut Dice::new(seed);
        let letters = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        (0..length).map(|_| char::from(*dice.pick(letters))).collect()
    }

    /// Replaces what is in a text, twice.
    #[track_caller]
    fn redacted(text: &str) -> (String, Vec<Replaced>) {
        let mut bytes = text.as_bytes().to_vec();
        let replaced = Redactor::default().redact(&mut bytes);
        assert_eq!(bytes.len(), text.len());
        let mut again = bytes.clone();
        let second = Redactor::default().redact(&mut again);
        assert!(second.is_empty(), "{second:?}: {}", String::from_utf8_lossy(&bytes));
        (String::from_utf8(bytes).unwrap(), replaced)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redacted(text).0, expected);
    }

    #[test]
    fn keys_of_every_shape_are_replaced() {
        for (seed, shape) in (1..).zip(SHAPES) {
            let secret = rest(shape.shortest.max(24), seed);
            let key = format!("{}{secret}", shape.prefix);
            for text in [
                key.clone(),
                format!("Incorrect API key provided: {key}. Try again."),
                format!(
                    "data: {{\"text\":\"a\\n{key}\\nb\",\"url\":\"https://a.example/?key={key}&b=1\"}}\n\n"
                ),
            ] {
                let (out, replaced) = redacted(&text);
                assert!(!out.contains(&secret) && out.contains(shape.prefix), "{text} → {out}");
                assert_eq!(replaced.len(), 1, "{text} → {replaced:?}");
                assert_eq!(replaced[0].what, shape.name);
            }
        }
    }

    #[test]
    fn text_that_only_looks_like_keys_stays() {
        for text in [
            "sk-learn, sk-estimators-for-beginners-and-others, risk-takers and task-forces",
            "a user-friendly interface, user-defined-functions-of-2024, org-mode-for-everyone",
            "pa-system announcements-over-the-air, fw_ and hf_transfer_with_many_workers_at_once",
            "The Bearer token is missing; Bearer authentication-is-required-here",
            "\"usage\":{\"input_tokens\":120000000001},\"id\":\"chatcmpl-9xYz12AbCd34EfGh56Ij\"",
            "toolu_01A09q90qw90lq917835lq9 call_b7Xk2mP9qR4s msg_013Zva2CMHLNnXjNJJKqJ2EF",
            "npm install package@1.2.3 and user@localhost, @decorator, a @ b.com",
            "projects/alpha and src/projects/12/x; arn:aws:s3:::bucket",
            "data: [DONE]\n\n",
            "\"password\":\"\",\"api_key\":null,\"api_key_id\":\"12\",\"cookie\":\"a\"",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_heads_say_is_replaced() {
        check(
            "HTTP/1.1 200 OK\r\nset-cookie: __cf_bm=abc.def-1; path=/; secure\r\n\
             openai-organization: acme-corp-7\r\nx-request-id: req_1\r\n\
             Authorization: Basic YWxhZGRpbjpzZXNhbWU=\r\n\r\ndata: set-cookie: a=b\n\n",
            "HTTP/1.1 200 OK\r\nset-cookie: __cf_bm=redacted1; path=/; secure\r\n\
             openai-organization: redactedre2\r\nx-request-id: req_1\r\n\
             Authorization: Basic redactedredactedred3\r\n\r\ndata: set-cookie: a=b\n\n",
        );
    }

    #[test]
    fn what_members_say_is_replaced_also_in_strings() {
        check(
            r#"{"organization_id": "0b1c-77", "a":"{\"apiKey\":\"0123abcd\"}","accountId":123456789012}"#,
            r#"{"organization_id": "redact1", "a":"{\"apiKey\":\"redacte2\"}","accountId":100000000003}"#,
        );
        check(
            "arn:aws:bedrock:eu-west-1:210987654321:x projects/4711471147/locations",
            "arn:aws:bedrock:eu-west-1:100000000001:x projects/1000000002/locations",
        );
        check("Bearer abc123def456ghi789,", "Bearer redactedredactedr1,");
        check("mail\\nbob@corp.example.com.", "mail\\nre1@reda.redacte.com.");
    }

    #[test]
    fn a_secret_has_one_word_in_all_captures() {
        let key = format!("sk-proj-{}", rest(40, 5));
        let mut redactor = Redactor::default();
        let mut captures =
            [format!("a@b.example {key} {key}"), format!("HTTP/1.1 200 OK\n\n{key}")]
                .map(String::into_bytes);
        let counts: Vec<Vec<u64>> = captures
            .iter_mut()
            .map(|capture| redactor.redact(capture).iter().map(|row| row.count).collect())
            .collect();
        assert_eq!(counts, [vec![1, 2], vec![1]]);
        let words = captures.map(|capture| String::from_utf8(capture).unwrap());
        let word = |text: &str| text.rsplit([' ', '\n']).next().unwrap().to_owned();
        assert_eq!(word(&words[0]), word(&words[1]));
    }

    /// A message of an AWS event stream with this payload and no headers.
    fn message(payload: &str) -> Vec<u8> {
        let mut message = u32::to_be_bytes(payload.len() as u32 + 16).to_vec();
        message.extend(u32::to_be_bytes(0));
        message.extend(crc32fast::hash(&message).to_be_bytes());
        message.extend(payload.as_bytes());
        message.extend(crc32fast::hash(&message).to_be_bytes());
        message
    }

    #[test]
    fn checksums_of_an_event_stream_are_made_anew() {
        let inner = |text: &str| format!("{{\"bytes\":\"{}\"}}", STANDARD.encode(text));
        let mut stream =
            [message("{\"a\":\"bob@corp.example\"}"), message(&inner("x bob@corp.example"))]
                .concat();
        let replaced = Redactor::default().redact(&mut stream);
        assert_eq!(replaced.iter().map(|row| row.count).sum::<u64>(), 2);
        let expected =
            [message("{\"a\":\"re1@reda.example\"}"), message(&inner("x re1@reda.example"))]
                .concat();
        assert_eq!(stream, expected);
    }
}
