//! Secrets in a capture, replaced by words of the same length.
//!
//! A capture is taken as a whole: a secret keeps its word wherever it stands, and no offset, chunk
//! size or length changes. `event/secrets.rs` and `names.rs` have the tables of what is looked for,
//! `find.rs` the scanner that looks. In an AWS event stream the checksums are made anew, and text that
//! is written in base64, in hexadecimal digits or as in a URL is looked into (`coded.rs`); what comes
//! in pieces is looked at as a whole (`spread.rs`). No value leaves the string or the message that it
//! is in (`rooms.rs`).

mod coded;
mod decoded;
mod find;
mod names;
mod rooms;
mod spread;
mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memchr::{memchr_iter, memmem};

use crate::capture::redaction::coded::CodedText;
use crate::capture::redaction::decoded::UnescapedText;
use crate::capture::redaction::find::{Secret, find, is_random};
use crate::capture::redaction::rooms::Rooms;
use crate::capture::redaction::spread::SpreadText;
use crate::capture::redaction::word::{ADDRESS, address, is_word, word};
use crate::cut::Cut as _;
use crate::frame::http::{HttpResponses, ResponsePiece, find_heads};

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
    /// Lines of what the models have said that are secrets.
    lines: BTreeSet<Vec<u8>>,
    /// How many have been replaced, each as often as it was.
    replacements: usize,
}

/// How often a text is looked at, at most.
const MAX_ROUNDS: usize = 4;

impl Redactor {
    /// Replaces the secrets of a capture in which a model has said this. After that, there is nothing
    /// to replace in it.
    pub(crate) fn redact(&mut self, capture: &mut [u8], said: &str) -> Vec<Replaced> {
        self.lines.extend(secrets_in(said.as_bytes()).iter().flat_map(Secret::lines));
        let said = UnescapedText::new(said.as_bytes());
        let mut replaced = self.redact_all(capture, &said.text);
        replaced.sort_by_key(|row| row.offset);
        replaced
    }

    /// True if a secret, or a line of one that a model has said, is in these events.
    pub(crate) fn leaves(&self, events: &str) -> bool {
        let text = UnescapedText::new(events.as_bytes());
        !secrets_in(events.as_bytes()).is_empty()
            || self.lines.iter().any(|line| memmem::find(&text.text, line).is_some())
    }

    /// Replaces the secrets of a capture, also those that the lines between the chunks of HTTP cut.
    fn redact_all(&mut self, capture: &mut [u8], said: &[u8]) -> Vec<Replaced> {
        let Some(body) = without_chunks(capture) else { return self.redact_text(capture, said) };
        let mut text = body.text.clone();
        let mut replaced = self.redact_text(&mut text, said);
        for row in &mut replaced {
            row.offset = body.offset_of(row.offset as usize) as u64;
        }
        body.write(&text, capture);
        for between in body.between(capture.len()) {
            let at = between.start as u64;
            let Some(text) = capture.get_mut(between) else { continue };
            let within = self.redact_text(text, said);
            replaced
                .extend(within.into_iter().map(|row| Replaced { offset: at + row.offset, ..row }));
        }
        replaced
    }

    fn redact_text(&mut self, capture: &mut [u8], said: &[u8]) -> Vec<Replaced> {
        let mut replaced = BTreeMap::new();
        let mut within = Vec::new();
        // What stands beside a word may be more than it was beside the secret.
        for _ in 0..MAX_ROUNDS {
            let known = self.replacements;
            let messages = messages(capture);
            let mut rooms = Rooms::of(capture, &messages);
            for spread in rooms.spread_texts() {
                self.replace_spread(&spread, capture, said, &mut replaced);
            }
            let mut at = 0;
            while at < capture.len() {
                let end = at + stretch(capture.after(at));
                let secrets = find(capture, at..end, &rooms);
                let Some(text) = capture.get_mut(at..end) else { break };
                self.replace(secrets, text, |part| at + part, &mut replaced);
                self.decode(CodedText::urls(text), text, at, said, &mut within);
                self.decode(CodedText::all(text), text, at, said, &mut within);
                at = end;
            }
            for message in messages {
                let message = capture.get_mut(message).and_then(<[u8]>::split_last_chunk_mut);
                if let Some((content, checksum)) = message {
                    *checksum = crc32fast::hash(content).to_be_bytes();
                }
            }
            if self.replacements == known {
                break;
            }
        }
        replaced.into_values().chain(within).collect()
    }

    /// Replaces the secrets that go on, or have their names, in another piece of a text. What comes in
    /// one more piece looks like a part of a secret, or the model has said it.
    fn replace_spread(
        &mut self,
        spread: &SpreadText,
        capture: &mut [u8],
        said: &[u8],
        replaced: &mut BTreeMap<Vec<u8>, Replaced>,
    ) {
        let mut text = spread.text.clone();
        let mut secrets = find(&text, 0..text.len(), &Rooms::of_string(&text));
        secrets.retain(|Secret { range, origin, value, .. }| {
            let mut beyond = spread.beyond(*origin, range).peekable();
            beyond.peek().is_some()
                && (is_random(&beyond.filter(|piece| !is_word(piece)).collect::<Vec<_>>().concat())
                    || memmem::find(said, value).is_some())
        });
        if !secrets.is_empty() {
            self.replace(secrets, &mut text, |part| spread.offset_of(part), replaced);
            spread.write(&text, capture);
        }
    }

    /// Replaces these secrets of a text of which `offset_of` returns an offset in the capture.
    fn replace(
        &mut self,
        secrets: Vec<Secret>,
        text: &mut [u8],
        offset_of: impl Fn(usize) -> usize,
        replaced: &mut BTreeMap<Vec<u8>, Replaced>,
    ) {
        for Secret { what, range, value, .. } in secrets {
            let offset = offset_of(range.start) as u64;
            let Some(place) = text.get_mut(range) else { continue };
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(value.clone()).or_insert(next);
            let is_address = what == ADDRESS && value == place && !place.contains(&b'\n');
            let word = if is_address { address(place, number) } else { word(place, number) };
            place.copy_from_slice(&word);
            self.replacements += 1;
            replaced.entry(value).or_insert(Replaced { what, count: 0, offset }).count += 1;
        }
    }

    /// Replaces the secrets in what is coded in a text that begins at this offset.
    fn decode(
        &mut self,
        all: Vec<CodedText>,
        text: &mut [u8],
        at: usize,
        said: &[u8],
        replaced: &mut Vec<Replaced>,
    ) {
        for coded in all {
            let mut inner = coded.text.clone();
            let is_text = str::from_utf8(&inner).is_ok() || !messages(&inner).is_empty();
            let within = if is_text { self.redact_all(&mut inner, said) } else { Vec::new() };
            let Some(first) = coded.pieces.first().filter(|_| !within.is_empty()) else { continue };
            let offset = (at + first.start) as u64;
            for (place, byte) in coded.bytes_of(&inner) {
                if let Some(place) = text.get_mut(place) {
                    *place = byte;
                }
            }
            replaced.extend(within.into_iter().map(|row| Replaced { offset, ..row }));
        }
    }
}

/// The length of a stretch of a capture that is looked at by itself: what is read of it several
/// times stays close to the processor.
const STRETCH: usize = 1 << 15;

/// Returns the length of the first stretch. It ends with a line before one that begins with an
/// object: no name has its value, and no key goes on, beyond that.
fn stretch(capture: &[u8]) -> usize {
    let far = capture.after(STRETCH);
    let end = memchr_iter(b'\n', far).map(|at| at + 1).find(|&at| {
        let line = far.after(at);
        let line = line.strip_prefix(b"data:").unwrap_or(line);
        line.strip_prefix(b" ").unwrap_or(line).starts_with(b"{")
    });
    end.map_or(capture.len(), |end| STRETCH + end)
}

/// Returns the secrets in a capture without messages.
fn secrets_in(capture: &[u8]) -> Vec<Secret> {
    let (mut secrets, mut at) = (Vec::new(), 0);
    let rooms = Rooms::of(capture, &[]);
    while at < capture.len() {
        let end = at + stretch(capture.after(at));
        secrets.extend(find(capture, at..end, &rooms));
        at = end;
    }
    secrets
}

/// Returns a capture without the lines between the chunks of HTTP, if it has any.
fn without_chunks(capture: &[u8]) -> Option<SpreadText> {
    let (mut responses, mut rest) = (HttpResponses::new(true), capture);
    let (mut pieces, mut end, mut is_chunked) = (Vec::new(), 0, false);
    loop {
        let is_end = rest.is_empty();
        let piece = match is_end {
            true => responses.end(),
            false => {
                let (piece, after) = responses.step(rest);
                rest = after;
                piece
            }
        };
        let (begin, next) = match piece {
            ResponsePiece::None if is_end => break,
            ResponsePiece::Begin(begin) => (end, begin.offset as usize),
            ResponsePiece::Body(bytes, offset) => {
                is_chunked |= offset as usize > end;
                (offset as usize, offset as usize + bytes.len())
            }
            _ => continue,
        };
        pieces.push(begin..next);
        end = next;
    }
    is_chunked.then(|| SpreadText::of(capture, pieces))
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

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::*;
    use crate::capture::dice::Dice;
    use crate::event::secrets::SHAPES;

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
        let replaced = Redactor::default().redact(&mut bytes, "");
        assert_eq!(bytes.len(), text.len());
        let mut again = bytes.clone();
        let second = Redactor::default().redact(&mut again, "");
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

    /// Where a named secret stands: a text with `NAME` and `VALUE`.
    const NAMED: &[&str] = &[
        "data: {\"x\":{\"NAME\":\"VALUE\",\"y\":1}}\n\n",
        "data: {\"x\":{\"NAME\" : [\"VALUE\", \"\"]}}\n\n",
        "data: {\"x\":\"{\\\"NAME\\\": \\\"VALUE\\\"}\"}\n\n",
        "data: {\"x\":\"{\\\"a\\\":\\\"{\\\\\\\"NAME\\\\\\\":\\\\\\\"VALUE\\\\\\\"}\\\"}\"}\n\n",
        "data: {\"x\":\"{\\u0022NAME\\u0022:\\u0022VALUE\\u0022}\"}\n\n",
        "data: {\"x\":\"{'NAME': 'VALUE'}\"}\n\n",
        "[{\"name\": \"NAME\", \"value\": \"VALUE\"}]",
        "HTTP/1.1 200 OK\r\nNAME: VALUE\r\n\r\ndata: {}\n\n",
        "> POST / HTTP/2\n> NAME: VALUE\n> \n< HTTP/2 200 \n< NAME: VALUE\n< \n",
        "* [HTTP/2] [1] [x-NAME: VALUE]\n",
        "    x-NAME:\n    - VALUE\n    b: c\n",
        "data: {\"text\":\"curl -H \\\"X-NAME: VALUE\\\" https://a.example\"}\n\n",
        "data: {\"text\":\"see https://a.example/?a=1&NAME=VALUE&b=2.\"}\n\n",
        "data: {\"text\":\"see https://a.example/?a=1\\u0026NAME=VALUE#b\"}\n\n",
        "data: {\"text\":\"a\\nexport NAME=VALUE\\nb\"}\n\n",
        "data: {\"text\":\"NAME = \\\"VALUE\\\"\"}\n\n",
    ];

    /// Each letter of a value as JSON may write it.
    const SPELLINGS: &[fn(char) -> String] = &[
        |c| c.to_string(),
        |c| if c == '/' { "\\/".into() } else { c.to_string() },
        |c| if "aeiou7".contains(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() },
    ];

    #[test]
    fn what_is_named_goes_wherever_it_stands_and_however_it_is_spelled() {
        let names = [
            "api_key", "apiKey", "x-api-key", "OPENAI_API_KEY", "access_token", "refreshToken",
            "client_secret", "password", "DB_PASSWD", "aws_secret_access_key", "sessionToken",
        ];
        for (seed, place) in (1..).zip(NAMED) {
            for name in names {
                for (spelling, spell) in SPELLINGS.iter().enumerate() {
                    let is_json = place.contains("\":");
                    if spelling > 0 && !is_json {
                        continue;
                    }
                    let letters = u64::is_multiple_of(seed, 2);
                    let value = match letters {
                        true => "w/alrxutnfemik/mdengbpxrficykeyholes".to_owned(),
                        false => rest(16, seed),
                    };
                    let spelled: String = value.chars().map(spell).collect();
                    let text = place.replace("NAME", name).replace("VALUE", &spelled);
                    let (out, replaced) = redacted(&text);
                    assert_eq!(replaced.len(), 1, "{text} → {out}");
                    let plain: String = SPELLINGS[spelling..=spelling]
                        .iter()
                        .flat_map(|_| value.as_bytes().windows(6))
                        .map(|window| {
                            window.iter().map(|&byte| spell(byte.into())).collect::<String>()
                        })
                        .filter(|piece| out.contains(piece.as_str()))
                        .collect();
                    assert_eq!(plain, "", "{text} → {out}");
                    let (before, _) = place.split_once("NAME").unwrap();
                    assert!(out.starts_with(before), "{text} → {out}");
                    for line in out.lines().filter_map(|line| line.strip_prefix("data: ")) {
                        assert!(crate::json::is_json(line), "{text} → {out}");
                    }
                }
            }
        }
    }

    /// Where a secret stands, beside the places above: a text with `VALUE`, and whether the text may
    /// stand in a string of JSON, where its line ends are escaped.
    const PLACES: &[(&str, bool)] = &[
        // Heads, also folded ones.
        ("HTTP/1.1 200 OK\r\nX-Api-Key: VALUE\r\nVia: a\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nX-Api-Key:\r\n VALUE\r\nVia: a\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nAuthorization: Bearer\r\n\tVALUE\r\nVia: a\r\n\r\n", false),
        ("> Cookie: sid=VALUE\n> Via: a\n", true),
        // Members, and objects that say what a member has to be.
        ("{\"api_key\": \"VALUE\", \"a\": 1}", true),
        ("{\"Authorization\": {\"equalTo\": \"Bearer VALUE\"}}", true),
        ("{\"x-api-key\": [\"VALUE\"], \"a\": [\"b\"]}", true),
        // Pairs.
        ("[{\"name\": \"x-api-key\", \"value\": \"VALUE\"}]", true),
        ("[{\"name\": \"openai-organization\", \"value\": \"VALUE\"}]", true),
        ("[{\"key\": \"token\", \"type\": \"string\", \"on\": true, \"value\": \"VALUE\"}]", true),
        ("[{\n  \"key\": \"x-api-key\",\n  \"value\": \"VALUE\"\n}]", true),
        ("[{\"value\": \"VALUE\", \"key\": \"Authorization\"}]", true),
        ("[{\"Key\": \"Authorization\", \"Value\": \"Bearer VALUE\"}]", true),
        ("{\"queryString\": [{\"name\": \"key\", \"value\": \"VALUE\"}]}", true),
        // Lists.
        ("[\"Accept\", \"text/plain\", \"X-Api-Key\", \"VALUE\", \"Via\", \"a\"]", true),
        ("[[\"Authorization\", \"Basic VALUE\"], [\"Via\", \"a\"]]", true),
        ("[\n  \"Set-Cookie\",\n  \"VALUE\"\n]", true),
        ("[(b'authorization', b'Bearer VALUE'), (b'via', b'a')]", true),
        // Cookies as data.
        ("{\"cookies\": [{\"name\": \"sid\", \"value\": \"VALUE\", \"path\": \"/\"}]}", true),
        ("{\"cookies\": {\"sid\": \"VALUE\"}, \"a\": {\"b\": \"c\"}}", true),
        ("{\"cookie\": {\"sid\": {\"value\": \"VALUE\", \"domain\": \"a.example\"}}}", true),
        ("[{\"key\": \"x-api-key\", \"value\": {\"stringValue\": \"VALUE\"}}]", true),
        (
            "[{\"key\": \"a.header.token\", \"value\": {\"list\": {\"values\": [{\"t\": \"VALUE\"}]}}}]",
            true,
        ),
        ("[{\"value\": {\"stringValue\": \"VALUE\"}, \"key\": \"db.password\"}]", true),
        ("[{\"name\": \"token\", \"of\": {\"a\": [1]}, \"value\": \"VALUE\"}]", true),
        ("{\"Name\": {\"S\": \"api_key\"}, \"Value\": {\"S\": \"VALUE\"}}", true),
        ("{\"api_key\": {\"S\": \"VALUE\"}, \"city\": {\"S\": \"Freiburg1x\"}}", true),
        ("<add key=\"ApiKey\" value=\"VALUE\"/>", true),
        ("<field name='api_key' type='text'>VALUE</field>", true),
        ("<c:ApiKey>VALUE</c:ApiKey>", true),
        ("set({ name: 'x-api-key', value: 'VALUE' })", true),
        ("--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nVALUE\r\n--b--", true),
        (
            "--b\nContent-Disposition: form-data; name=\"api_key\"\nContent-Type: text/plain\n\nVALUE\n--b--",
            true,
        ),
        // Objects under a name.
        ("{\"secrets\": {\"OPENAI\": \"VALUE\", \"n\": 12345678}}", true),
        ("{\"credentials\": {\"a\": {\"b\": [\"VALUE\"], \"c\": true}}}", true),
        ("{\"smtp\": {\"user\": \"bob\", \"pass\": \"VALUE\"}}", true),
        // Code and settings.
        ("[default]\naws_secret_access_key = VALUE\nregion = eu-west-1\n", true),
        ("client = new Client({ apiKey: 'VALUE' })", true),
        ("client = new Client({retries: 2, apiKey: \"VALUE\"})", true),
        ("smtp({ auth: { user: 'bob', pass: 'VALUE' } })", true),
        ("const API_KEY: &str = \"VALUE\";", true),
        ("- name: API_KEY\n  value: VALUE\n- name: CITY\n  value: Freiburg1x\n", true),
        ("x := f()\n\tapiKey := \"VALUE\"\n", true),
        ("{ :api_key => 'VALUE' }", true),
        ("{ \"api_key\" => \"VALUE\" }", true),
        ("<a b=\"{&quot;api_key&quot;:&quot;VALUE&quot;,&quot;c&quot;:1}\"/>", true),
        ("Use `API_KEY`: `VALUE` there", true),
        ("api_key: VALUE", true),
        ("- password: VALUE", true),
        ("apiKey: 'VALUE'", true),
        ("a:\n  apiKey: \"VALUE\", // b", true),
        ("project_id: \"VALUE\"\n", false),
        ("headers: { \"x-api-key\": `VALUE`, b: c }", true),
        // Queries and forms.
        ("https://a.example/?b=1&api_key=VALUE#c", true),
        ("https://a.example/?key=VALUE", true),
        ("https://a.example/?b=api_key%3A%20VALUE", true),
        ("GET /b?to=https%3A%2F%2Fa.example%2F%3faccess_token%3dVALUE&c=1 HTTP/1.1", true),
        ("see /b?q=%7B%22api_key%22%3A%22VALUE%22%7D&c=1", true),
        ("see /b?state=c%26client_secret%3DVALUE%26d%3D1", true),
        ("Endpoint=a;SharedAccessSignature=VALUE;b", true),
        // YAML.
        ("headers:\n  x-api-key: VALUE\n  via: a\n", false),
        ("headers:\n  x-api-key: \"VALUE\"\n  via: a\n", false),
        ("headers:\n  x-api-key: ['VALUE']\n  via: a\n", false),
        ("headers:\n  x-api-key:\n  - VALUE\n  via:\n  - a\n", false),
        (
            "headers:\n  set-cookie:\n    - a=VALUE; Path=/;\n      Secure\n    - b=; Path=/\n  via: a\n",
            false,
        ),
        ("headers:\n  \"Authorization\":\n  - Bearer VALUE\n  via: a\n", false),
        ("headers:\n  Api-Key: >-\n    VALUE\n  via: a\n", false),
        ("headers:\n  \"Api-Key\": |\n    VALUE\n  via: a\n", false),
        ("headers:\n  Api-Key: !!str |-\n    VALUE\n\n  via: a\n", false),
        ("headers:\n- name: x-api-key\n  value: VALUE\n- name: via\n  value: a\n", false),
        ("headers:\n- value: VALUE\n  name: x-api-key\n", false),
        ("cookies:\n- name: sid\n  path: /\n  value: VALUE\nvia: a\n", false),
        ("cookie:\n  sid: VALUE\nvia: a\n", false),
        ("string: \"{\\\"api_key\\\":\\\"VALUE\\\",\\\n  \\ \\\"a\\\":1}\"\n", false),
        ("headers: {Accept: [x], Cookie: [sid=VALUE], Via: [a]}\n", true),
        ("headers: {Set-Cookie: ['sid=VALUE; path=/'], Via: [a]}\n", true),
        ("headers: {x-api-key: VALUE, Accept: [x]}\n", true),
        ("a: {b: {c: d}, X-Api-Key: ['VALUE']}\n", true),
        ("headers: {\n  Authorization: [Basic VALUE],\n  Accept: ['*/*']}\n", false),
        ("headers: {\n  Accept: x,\n  X-Api-Key: VALUE}\n", false),
        ("headers: {\"x-api-key\": [VALUE], Accept: [x]}\n", true),
        ("headers: {\"x-api-key\": VALUE}\n", true),
        ("\"x-api-key\": VALUE\n", true),
        ("- [x-api-key, VALUE]\n", true),
        // Commands.
        ("http -a bob:VALUE https://a.example", true),
        ("curl -u bob:VALUE https://a.example", true),
        ("curl -s --proxy-user 'bob:VALUE' a.example", true),
        ("curl --oauth2-bearer VALUE a.example", true),
        ("curl a.example -b 'sid=VALUE'", true),
        ("curl --cookie \"sid=VALUE\" a.example", true),
        ("deploy --api-key VALUE --fast", true),
        ("docker login -u bob -p VALUE a.example", true),
        ("sshpass -p 'VALUE' ssh a.example", true),
        ("machine a.example login bob password VALUE", true),
        ("machine a.example\n  login bob\n  password VALUE\n", true),
        ("PASSWORD=VALUE run", true),
        // Texts.
        ("so:\npassword: VALUE\nuser: bob\n", true),
    ];

    /// How a text with secrets is written, and how it is read again.
    type Dressing = (fn(&str) -> String, fn(&str) -> String);

    fn string_of(line: &str) -> String {
        let json = line.trim().strip_prefix("data: ").unwrap_or(line);
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        value["text"].as_str().unwrap().to_owned()
    }

    fn in_string(text: &str) -> String {
        format!("data: {}\n\n", serde_json::json!({ "text": text }))
    }

    fn text_of(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    const DRESSINGS: &[Dressing] = &[
        (str::to_owned, str::to_owned),
        (in_string, string_of),
        (|text| in_string(&in_string(text)), |text| string_of(&string_of(text))),
        (
            |text| {
                let coded = |byte: u8| match byte {
                    b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
                    _ => format!("%{byte:02x}"),
                };
                format!(
                    "GET /?q=%0A{} HTTP/1.1\r\n\r\n",
                    text.bytes().map(coded).collect::<String>()
                )
            },
            |get| {
                let mut bytes = get.bytes().skip("GET /?q=%0A".len());
                let mut text = Vec::new();
                while let Some(byte) = bytes.next().filter(|byte| *byte != b' ') {
                    text.push(match byte {
                        b'%' => {
                            let pair = [bytes.next().unwrap(), bytes.next().unwrap()];
                            u8::from_str_radix(str::from_utf8(&pair).unwrap(), 16).unwrap()
                        }
                        _ => byte,
                    });
                }
                text_of(text)
            },
        ),
        (
            |text| {
                serde_json::json!({ "encoding": "base64", "text": STANDARD.encode(text) })
                    .to_string()
            },
            |json| text_of(STANDARD.decode(string_of(json)).unwrap()),
        ),
        (
            |text| {
                let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
                format!("response:\n  - \"{digits}\"\n")
            },
            |yaml| {
                let digits = yaml.split('"').nth(1).unwrap().as_bytes().chunks(2);
                let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
                text_of(digits.map(byte).collect())
            },
        ),
        (
            |text| {
                let lines = STANDARD.encode(text);
                let lines: Vec<&str> =
                    lines.as_bytes().chunks(60).map(|line| str::from_utf8(line).unwrap()).collect();
                format!("body: !binary |\n  {}\nend: 1\n", lines.join("\n  "))
            },
            |yaml| {
                let lines: String =
                    yaml.lines().filter_map(|line| line.strip_prefix("  ")).collect();
                text_of(STANDARD.decode(lines).unwrap())
            },
        ),
    ];

    #[test]
    fn every_secret_goes_from_every_place_and_all_else_stays() {
        let secrets = [
            ("sk-proj-", rest(30, 1)),
            ("ghp_", rest(36, 2)),
            ("", rest(24, 3)),
            ("", "hunter2x".to_owned()),
            ("", format!("{}+/{}==", rest(9, 4), rest(9, 5))),
        ];
        for &(place, in_string) in PLACES {
            let (before, after) = place.split_once("VALUE").unwrap();
            for (prefix, secret) in &secrets {
                let text = place.replace("VALUE", &format!("{prefix}{secret}"));
                for (number, (dressed, undressed)) in DRESSINGS.iter().enumerate() {
                    if (1..3).contains(&number) && !in_string {
                        continue;
                    }
                    let (out, replaced) = redacted(&dressed(&text));
                    let out = undressed(&out);
                    let word = out.strip_prefix(before).and_then(|out| out.strip_suffix(after));
                    let Some(word) = word else { panic!("{number}: {text} → {out}") };
                    assert_eq!(replaced.len(), 1, "{number}: {text} → {out}");
                    assert_eq!(word.len(), prefix.len() + secret.len(), "{text} → {out}");
                    let left =
                        secret.as_bytes().windows(4).map(|piece| str::from_utf8(piece).unwrap());
                    let left: Vec<&str> = left.filter(|piece| word.contains(piece)).collect();
                    assert!(left.is_empty(), "{number}: {text} → {out}");
                }
            }
        }
    }

    #[test]
    fn short_secrets_go_where_their_names_say_so() {
        for (text, left) in [
            (
                "{\"token\":\"t0k3n\",\"password\":\"pw\",\"api_key\":\"abc123\"}",
                ["t0k3n", "pw", "abc123"],
            ),
            ("PASSWORD=hunter2 api_key=abc123 GITHUB_TOKEN=tok42", ["hunter2", "abc123", "tok42"]),
            (
                "SECRET_KEY_BASE=hunter2 GH_PAT=abc123 SESSION_ID=tok42",
                ["hunter2", "abc123", "tok42"],
            ),
            ("LDAP_BIND_PW=hunter2 CREDS=abc123 SENTRY_DSN=tok42", ["hunter2", "abc123", "tok42"]),
            ("PHPSESSID=hunter2 JSESSIONID=abc123 passcode=tok42", ["hunter2", "abc123", "tok42"]),
            (
                "{\"client_assertion\":\"hunter2\",\"code_verifier\":\"abc123\",\"x-functions-key\":\"tok42\"}",
                ["hunter2", "abc123", "tok42"],
            ),
            ("DB_PASS=hunter2 REDIS_AUTH=abc123 MAPS_KEY=tok42", ["hunter2", "abc123", "tok42"]),
            (
                "X-Api-Key: abc123\nCookie: s=ab12\nAuthorization: Bearer tok42\n",
                ["abc123", "ab12", "tok42"],
            ),
        ] {
            let (out, _) = redacted(text);
            assert!(left.iter().all(|secret| !out.contains(&format!("{secret}\""))), "{out}");
            assert!(left.iter().all(|secret| !out.contains(&format!("={secret}"))), "{out}");
            assert!(left.iter().all(|secret| !out.contains(&format!(" {secret}"))), "{out}");
        }
    }

    #[test]
    fn a_key_over_lines_of_a_string_goes_and_the_lines_stay() {
        check(
            "string: \"key sk-ant-api03-aB3dE5\\\n    fG7hJ9kL2m\\\r\n    \\ and\"\n",
            "string: \"key sk-ant-redactedreda\\\n    ctedredac1\\\r\n    \\ and\"\n",
        );
        check(
            "key: |\n  -----BEGIN PRIVATE KEY-----\n  QUJDabc+\n  -----END PRIVATE KEY-----\nb: c\n",
            "key: |\n  redactedredactedredactedred\n  actedred\n  actedredactedredactedred1\nb: c\n",
        );
    }

    #[test]
    fn what_looks_like_words_goes_after_a_known_beginning() {
        let word = "abcdefghijklmnopqrstuvwxyzabcdef";
        for (text, left) in [
            (format!("Authorization: Bearer {word}"), "Authorization: Bearer "),
            (format!("x\\nBearer {word}."), "x\\nBearer "),
            (format!("see https://bob:{word}@a.example/x"), "see https://bob:"),
            (format!("%3Dsk-ant-{word}%26"), "%3Dsk-ant-"),
            (format!("\\nghp_{word}"), "\\nghp_"),
            (format!("\\\\nnpm_{word}"), "\\\\nnpm_"),
        ] {
            let (out, replaced) = redacted(&text);
            assert!(replaced.len() == 1 && out.starts_with(left), "{text} → {out}");
            assert!(!out.contains("abcdefgh"), "{text} → {out}");
        }
        let lines = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEabc/def+\\nQUJD\\n-----END RSA PRIVATE KEY-----\\n";
        let key = format!("data: {{\"private_key\":\"{lines}\",\"text\":\"a {lines}b\"}}\n\n");
        let (out, _) = redacted(&key);
        assert!(!out.contains("MIIE") && !out.contains("BEGIN") && !out.contains("QUJD"), "{out}");
        assert!(out.contains("\"text\":\"a ") && out.ends_with("\\nb\"}\n\n"), "{out}");
    }

    #[test]
    fn a_private_key_goes_also_where_signs_stand_between_its_lines() {
        let lines = [
            "-----BEGIN PRIVATE KEY-----",
            &rest(64, 1),
            &rest(64, 2),
            "QUJD=",
            "-----END PRIVATE KEY-----",
        ];
        let numbered = |sign: &str| -> String {
            (1..).zip(lines).map(|(number, line)| format!("  {number}{sign}{line}\n")).collect()
        };
        let text = lines.join("\n");
        let half = text.len() / 2;
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        for text in [
            numbered("→"),
            numbered(": "),
            numbered(" | "),
            json!({"a": numbered("\t")}).to_string(),
            json!({ "source": lines }).to_string(),
            json!({"source": lines.map(|line| format!("{line}\n"))}).to_string(),
            serde_json::to_string_pretty(&json!({ "source": lines })).unwrap(),
            format!("key = ('{}')\n", lines.join("\\n'\n    '")),
            format!("diff\n+{}\n", lines.join("\n+")),
            [head, &chunk(text.before(half)), &chunk(text.after(half)), "0\r\n\r\n"].concat(),
            json!({"body": text.lines().map(|line| {
                format!("data: {}\n\n", json!({"c": [{"text": format!("{line}\n")}]}))
            }).collect::<String>()})
            .to_string(),
        ] {
            let (out, _) = redacted(&text);
            for line in lines {
                assert!(!out.contains(line), "{text} → {out}");
            }
        }
    }

    #[test]
    fn keys_of_one_service_and_pairs_of_a_user_are_replaced() {
        check(
            "ek_68af296e8e408191a1120ab6383263c2 {\"up\":\"Basic Ym9iOnBhc3N3b3Jk\"} default login bob password hunter",
            "ek_redactedredactedredactedredacte1 {\"up\":\"Basic redactedredacte2\"} default login bob password redac3",
        );
        check(
            "WEBHOOK_URL=https://a.example/b/c4?d=e f",
            "WEBHOOK_URL=redactedredactedredactedr1 f",
        );
    }

    #[test]
    fn text_that_only_looks_like_keys_stays() {
        for text in [
            "sk-learn, sk-estimators-for-beginners, risk-takers and task-forces",
            "a user-friendly interface, user-defined-functions-of-2024, org-mode-for-everyone",
            "pa-system announcements-over-the-air, fw_ and hf_transfer_with_many_workers_at_once",
            "The Bearer token is missing; Bearer authentication",
            "\"usage\":{\"input_tokens\":120000000001},\"id\":\"chatcmpl-9xYz12AbCd34EfGh56Ij\"",
            "toolu_01A09q90qw90lq917835lq9 call_b7Xk2mP9qR4s msg_013Zva2CMHLNnXjNJJKqJ2EF",
            "npm install package@1.2.3 and user@localhost, @decorator, a @ b.com",
            "projects/alpha and src/projects/12/x; arn:aws:s3:::bucket",
            "data: [DONE]\n\n",
            "\"password\":\"\",\"api_key\":null,\"api_key_id\":\"12\",\"token\":\"a\"",
            "{\"token\":\"international\",\"logprob\":-0.1},{\"token\":\" a warm day\"}",
            "{\"bytes\":\"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCJ9\",\"signature\":\"EqQBCgIYAhIM1gbcDa9GJwZA2b3h\"}",
            "{\"key\":\"city\",\"name\":\"get_weather\",\"next_page_token\":\"abcdefghijkl\"}",
            "{\"token\":\"the\"}{\"token\":\"utf8\"}{\"token\":\"2024\"}{\"max_tokens\":4096}",
            "{\"token\":\"international\",\"bytes\":[105],\"logprob\":-0.1}",
            "{\"required\":[\"api_key\",\"password\",\"session-token\"],\"enum\":[\"x-api-key\",\"token\"]}",
            "{\"api_key\":{\"type\":\"string\",\"description\":\"The key of the service\"}}",
            "{\"cookie\":{\"type\":\"string\",\"description\":\"What the browser sent\"}}",
            "{\"name\":\"city\",\"value\":\"Freiburg im Breisgau\"},[\"Accept\",\"text/event-stream\"]",
            "def ask(password=None, token=token, api_key=key): # MAX_TOKENS=32k, SECRET=str",
            "git push -u origin main:next; curl -b cookies.txt -u $USER:$PASS; ls --token-limit many",
            "authorization:\n  description: how it is asked\n  type: none\n",
            "headers:\n- name: accept\n  value: text/event-stream\n- name: via\n  value: 1.1 somewhere\n",
            "xai-grok-4-responses-v1, pplx-70b-online-and-chat, gsk_of_words_and_more_words",
            "HTTP/1.1 200 OK\r\nX-Ratelimit-Reset-Tokens: 6m0s\r\nx-max-tokens: 123456789\r\n\
             access-control-allow-credentials: true\r\n\r\n",
            "{\"x\":\"password=\",\"y\":1} {\"x\":\"the password: \",\"y\":2} {\"x\":\"password: \"}",
            "{\"text\":\"password: it must be long\"} {\"text\":\"token: see below\"}",
            "the api_key: `apiKey`, { password: 'password', token: string } as {token: 'a'}",
            "{\"usage\":{\"tokens\":{\"input\":120000000001,\"total\":5,\"model\":\"m2-large-2024-11\"}}}",
            "{\"token\":{\"id\":5,\"text\":\"utf8mb4x\",\"logprob\":-0.1},\"author\":\"3f2504e04f8911d39a0c\"}",
            "{\"credentials\":{\"type\":\"object\",\"properties\":{\"a\":{\"format\":\"uuid-v4x\"}}}}",
            "{\"credentials\":{\"id\":\"cred4x7b\"}}",
            "{\"auth\":{\"url\":\"https://a.example/v2/x\",\"modes\":[\"required\",\"optional\"]}}",
            "[{\"key\":\"city\",\"value\":{\"stringValue\":\"Freiburg-79098\"}}]",
            "<token>the</token> <secret kind=\"a\"> <a title=\"x\" name=\"token\" value=\"{{ token }}\">",
            "def f(client_secret=client_secret): token = tokens2[0]; api_key = read_key2(path)",
            "ask('Password: ') if credentials === 'same-origin' { Token::U64x2(*v), }",
            "\"fn f(\\n  secret: &[u8],\\n  key: Key)\" and X_TOKEN = 2i32; PrivateKey: X509ExportOptionsOfKeys",
            "name = \\\"A_TOKEN\\\"\\n  value = agent_2.main.token\\n",
            "get(url, auth=auth, cookies=self.cookies, cookie='a-cookie-jar')",
            "PASS: tests/redaction_of_2.rs; the machine asks for the password again",
            "docker login a.example; docker run -p 8080:80 x; mkdir -p a2/b2; --password is asked",
            "https://a.example/?q=a%20warm%20day%3A%2212%22&page_token=abc%3Ddef",
            "the passcode is short, the passcode: short; Basic knowledge of things, Basic authentication",
            "{\"session_id\":\"3f2504e04f8911d39a0c\",\"pat\":\"Pat wrote 3 lines\",\"dsn\":\"dsn_0123456\"}",
            "secret_manager_of_the_cloud_with_many_words_2, week_2_of_many_weeks; see login page for 2 words",
            "ask({authorization: none, cookie: jar}, [api_key, password2]) if a, b: c",
            "curl -H \"Authorization: Bearer $OPENAI_API_KEY\" -u ${USER}, max_tokens=100000000",
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
    fn a_line_of_many_names_is_read_once() {
        for (names, secret) in [
            ("cookie: a=b4; ", Some("b4;")),
            ("authorization: x", None),
            ("{api_key: ", None),
            ("{\"api_key\":", None),
            ("api_key%3D", None),
            ("-----BEGIN PRIVATE KEY", Some("KEY")),
            ("eyJhbGciOiJ.", Some("OiJ")),
            ("-----BEGIN PRIVATE KEY-----\",", None),
            ("[\"", None),
            ("{\"a\":", None),
            ("{\\\"password\\\":\"", None),
            ("{cookie: [a, ", None),
            (", x-api-key: [", None),
            ("&quot;", None),
            ("Basic YTpi", None),
        ] {
            let (out, _) = redacted(&format!("x {}", names.repeat(20_000)));
            assert!(secret.is_none_or(|secret| !out.contains(secret)), "{names}");
        }
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
            .map(|capture| redactor.redact(capture, "").iter().map(|row| row.count).collect())
            .collect();
        assert_eq!(counts, [vec![1, 2], vec![1]]);
        let words = captures.map(|capture| String::from_utf8(capture).unwrap());
        let word = |text: &str| text.rsplit([' ', '\n']).next().unwrap().to_owned();
        assert_eq!(word(&words[0]), word(&words[1]));
    }

    /// A text with a name, the signs that may stand before its value, and a value, or a part of these.
    fn fragment() -> impl Strategy<Value = String> {
        const BEFORE: &[&str] = &[
            "", "the \"", "{\"", "{\\\"", "--", "$", "export ", "{'", "a: 1\n", "[\"", "[\\\"",
            "<", "> ", "- ", "curl -u ", "Authorization: ", "\"name\":\"", "\"key\": \"",
            "{\"a\":\"{\\\"b\\\":1,\\\"",
        ];
        const NAMES: &[&str] = &[
            "password", "api_key", "Authorization", "cookie", "set-cookie", "PASSWD",
            "credentials", "account_id", "sk-ant-", "-----BEGIN PRIVATE KEY-----\n", "AKIA",
            "Bearer ", "https://u:",
        ];
        const SIGNS: &[&str] = &[
            ":", "=", ": ", "\":", "\": ", "\":\"", "\": \"", "=>", "':", "' : ", " ", "=\"", "='",
            "\\\":", "\\\": ", "\\\":\\\"", "=%22", "(\"", ": [", ": {", "\":[", "\\\":[\\\"",
            "\":{\"", ">", "\n", ": |\n  ",
        ];
        const VALUES: &[&str] =
            &["", "a", "Zx8kQ2mN4pR6", "two words", "12", "é", "***", "Ab1\\", "{\"a\":\"b\"}"];
        const AFTER: &[&str] = &[
            "", "\"", "}", "\"}", "'", "\n", "\\\"}", "\n\n", "=", "&b=1", "\\", "\\\\", ";",
            "\",\"", "\"]", "</x>",
        ];
        (select(BEFORE), select(NAMES), select(SIGNS), select(VALUES), select(AFTER))
            .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat())
    }

    /// Documents of such texts, also in strings of each other.
    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![8 => fragment().prop_map(Value::String), 1 => Just(json!(1))];
        let value = leaf.prop_recursive(3, 12, 3, |value| {
            let keys = select(&["a", "b", "t", "type", "password", "token", "cookie"][..]);
            prop_oneof![
                vec(value.clone(), 0..4).prop_map(Value::Array),
                vec((keys, value.clone()), 1..4).prop_map(object),
                value.prop_map(|value| Value::String(value.to_string())),
            ]
        });
        value.prop_map(|value| object(vec![("t", value)]))
    }

    fn object(members: Vec<(&str, Value)>) -> Value {
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// What of a document no secret is: all but its strings.
    fn structure(value: &Value) -> Value {
        match value {
            Value::String(_) => Value::Null,
            Value::Array(all) => all.iter().map(structure).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), structure(value))).collect()
            }
            value => value.clone(),
        }
    }

    /// Records, as one body has them.
    fn body(records: &[Value], framing: usize) -> String {
        let each = |before: &str, after: &str| -> String {
            records.iter().map(|record| format!("{before}{record}{after}")).collect()
        };
        match framing {
            0 => each("", "\n"),
            1 => each("event: x\ndata: ", "\n\n"),
            2 => Value::from(records).to_string(),
            _ => serde_json::to_string_pretty(records).unwrap(),
        }
    }

    /// The records of a body.
    fn records(body: &str, framing: usize) -> Vec<Value> {
        let lines = || body.lines().filter(|line| !line.is_empty() && !line.starts_with("event"));
        let read = |text: &str| serde_json::from_str(text);
        let all: Result<Vec<Value>, _> = match framing {
            0 | 1 => lines().map(|line| read(line.trim_start_matches("data: "))).collect(),
            _ => serde_json::from_str(body),
        };
        all.unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    fn structures(body: &str, framing: usize) -> Vec<Value> {
        records(body, framing).iter().map(structure).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn all_but_strings_stays_as_it_is(all in vec(document(), 1..4), framing in 0..4_usize) {
            let whole = body(&all, framing);
            let (out, _) = redacted(&whole);
            prop_assert_eq!(structures(&out, framing), structures(&whole, framing), "{}\n{}", whole, out);
        }

        #[test]
        fn what_frames_records_stays_as_it_is(all in vec(document(), 1..4), cut in 1..64_usize) {
            let whole = body(&all, 1);
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let chunk = |chunk: &[u8]| {
                [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()
            };
            let chunks: Vec<Vec<u8>> = whole.as_bytes().chunks(cut).map(chunk).collect();
            let mut capture = [head.as_bytes(), &chunks.concat(), b"0\r\n\r\n"].concat();
            Redactor::default().redact(&mut capture, "");
            let mut rest = capture.after(head.len());
            let mut out = Vec::new();
            for chunk in chunks {
                let (own, after) = rest.split_at(chunk.len());
                rest = after;
                let size = memchr::memchr(b'\n', &chunk).unwrap() + 1;
                prop_assert_eq!(own.before(size), chunk.before(size));
                out.extend_from_slice(own.within(size..own.len() - 2));
            }
            prop_assert_eq!(rest, b"0\r\n\r\n");
            prop_assert_eq!(text_of(out), redacted(&whole).0);

            let mut stream: Vec<u8> = all.iter().flat_map(|record| message(&record.to_string())).collect();
            let lengths: Vec<usize> = messages(&stream).iter().map(|message| message.len()).collect();
            Redactor::default().redact(&mut stream, "");
            let after = messages(&stream);
            prop_assert_eq!(after.iter().map(|message| message.len()).collect::<Vec<_>>(), lengths);
            for (message, record) in after.into_iter().zip(&all) {
                let payload = text_of(stream.within(message.start + 12..message.end - 4).to_vec());
                prop_assert_eq!(structures(&payload, 0), [structure(record)]);
            }
        }
    }

    #[test]
    fn a_value_ends_where_its_string_ends() {
        for text in [
            "{\"t\":\"{\\\"password\\\":\",\"u\":\"some words here\",\"v\":2}\n",
            "{\"t\":\"'password':\",\"u\":\"some words here\"}\n",
            "{\"x\":\"password\\\":[\\\"\",\"d\":\"\"}",
            "{\"x\":\"{\\\"a\\\":\\\"'password':\\\",\\\"b\\\":\\\"words\\\"}\"}",
        ] {
            check(text, text);
        }
        check(
            "{\"t\":\"{\\\"password\\\": \\\"ab\\\\\"}",
            "{\"t\":\"{\\\"password\\\": \\\"red1\"}",
        );
    }

    #[test]
    fn only_what_looks_like_a_secret_goes_on_in_another_record() {
        for text in [
            "{\"type\":\"user_message\"}\n{\"type\":\"message\"}\n{\"type\":\"message\"}\n",
            "{\"level\":\"password:\"}\n{\"level\":\"info\"}\n{\"level\":\"warning\"}\n",
            "{\"m\":\"Authorization:\"}\n{\"m\":\"Not given.\"}\n",
        ] {
            check(text, text);
        }
        for (pieces, expected) in [
            (["gl", "pat-xxYYzz0123456789ABcd"], ["gl", "pat-redactedredactedred1"]),
            (["DB_PASSWOR", "D=tLpByQxCGClb"], ["DB_PASSWOR", "D=redactedred1"]),
            (
                ["{\\\"password\\\":", " \\\"hunter2\\\"}"],
                ["{\\\"password\\\":", " \\\"redact1\\\"}"],
            ),
        ] {
            for record in ["{\"t\":\"P\"}\n", "[{\"a\":[\"x\",\"P\"]}]\n"] {
                let text =
                    |pieces: [&str; 2]| pieces.map(|piece| record.replace('P', piece)).concat();
                check(&text(pieces), &text(expected));
            }
            let log = |pieces: [&str; 2]| {
                let records: String =
                    pieces.map(|piece| format!("data: {{\"t\":\"{piece}\"}}\n\n")).concat();
                json!({"level": "info", "body": records}).to_string()
            };
            check(&log(pieces), &log(expected));
            let messages = |pieces: [&str; 2]| {
                json!({"all": pieces.map(|piece| json!({"data": format!("{{\"t\":\"{piece}\"}}")}))})
                    .to_string()
            };
            check(&messages(pieces), &messages(expected));
        }
        let mut bytes = b"{\"m\":\"password: correct\"}\n{\"m\":\"horse\"}\n".to_vec();
        Redactor::default().redact(&mut bytes, "{\"text\":\"password: correcthorse\"}");
        assert_eq!(text_of(bytes), "{\"m\":\"password: redacte\"}\n{\"m\":\"dred1\"}\n");
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
        let replaced = Redactor::default().redact(&mut stream, "");
        assert_eq!(replaced.iter().map(|row| row.count).sum::<u64>(), 2);
        let expected =
            [message("{\"a\":\"re1@reda.example\"}"), message(&inner("x re1@reda.example"))]
                .concat();
        assert_eq!(stream, expected);
    }
}
