//! The exchanges of a file, one after another: one in memory at a time.

use std::collections::VecDeque;
use std::io::Read;

use crate::cassette::coding::{self, Decoded};
use crate::cassette::find::FileShape;
use crate::cassette::json::JsonNodes;
use crate::cassette::source::{BlockReader, Broken, Why};
use crate::cassette::table::{BodyPart, Coded, FileLayout, HTTPRR, RECORDERS, Recorder};
use crate::cassette::tree::{Nodes, TreeNode, TreeValue, key, skip, unpacked};
use crate::cassette::yaml::YamlNodes;
use crate::cut::{Cut as _, until};

/// A request and its response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Its place among all of the file, from 1.
    pub(crate) number: u64,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) request: Vec<u8>,
    /// 0 if there was no response.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The response's body, decoded.
    pub(crate) body: Vec<u8>,
    /// What is to be said of it: a sentence.
    pub(crate) note: Option<String>,
    /// True if that is why its body is not whole.
    pub(crate) is_undecoded: bool,
}

/// The end of a note on a body that was not decoded.
const READ_AS_IT_STANDS: &str = ": it is read as it stands";

/// Headers of what was decoded.
const OF_CODING: &[&str] = &["content-encoding", "content-length", "transfer-encoding"];

impl Exchange {
    /// Returns the head of the response, as `curl -i` shows it; nothing if none came.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = String::new();
        if !(100..1000).contains(&self.status) {
            return Vec::new();
        }
        head.push_str(&format!("HTTP/1.1 {} \r\n", self.status));
        for (name, value) in &self.headers {
            let is_token = |c: char| c.is_ascii_graphic() && !"\"(),/:;<=>?@[\\]{}".contains(c);
            let is_coding = OF_CODING.iter().any(|coding| name.eq_ignore_ascii_case(coding));
            let is_name = !name.is_empty() && name.chars().all(is_token);
            if !is_name || is_coding || head.len() + value.len() > 32 << 10 {
                continue;
            }
            let value = value.replace(|c: char| c.is_ascii_control(), " ");
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// Returns why the body can't be read, if it was not decoded and may be an answer: its head does
    /// not say that it is a page, a picture or a script.
    pub(crate) fn undecoded(&self) -> Option<Broken> {
        let kind = self.header("content-type").to_ascii_lowercase();
        let is_kind = |part: &str| kind.contains(part);
        let may_be_answer =
            kind.is_empty() || ["json", "event", "text/plain"].into_iter().any(is_kind);
        let note = self.note.as_ref().filter(|_| self.is_undecoded && may_be_answer)?;
        Some(Broken::new(Why::Malformed, 0, until(note, READ_AS_IT_STANDS)))
    }

    fn header(&self, wanted: &str) -> &str {
        let found = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map_or("", |(_, value)| value)
    }

    /// Takes the body as it was recorded. Fails if it unpacks to too much.
    fn set_body(&mut self, body: Vec<u8>, offset: u64) -> Result<(), Broken> {
        let [transfer, content] =
            ["transfer-encoding", "content-encoding"].map(|name| self.header(name));
        let Decoded { body, note, is_too_large, is_cut } = coding::decode(body, transfer, content);
        self.body = body;
        self.is_undecoded |= is_cut;
        if let (true, Some(note)) = (is_too_large, &note) {
            let message = format!("exchange {}: {note}", self.number);
            return Err(Broken::new(Why::Limit, offset, message));
        }
        self.note = self.note.take().or(note);
        Ok(())
    }
}

/// The exchanges of a file.
pub(super) enum Exchanges<'r> {
    Tree(Box<ExchangeTree<'r>>),
    Wire(BlockReader<'r>, u64),
}

impl<'r> Exchanges<'r> {
    pub(super) fn new(
        row: &'static Recorder,
        shape: FileShape,
        reader: Box<dyn Read + 'r>,
    ) -> Self {
        let source = BlockReader::new(reader);
        let FileShape::Tree { layout, is_yaml } = shape else { return Exchanges::Wire(source, 0) };
        let nodes: Box<dyn Nodes + 'r> = match is_yaml {
            true => Box::new(YamlNodes::new(source)),
            false => Box::new(JsonNodes::new(source)),
        };
        let steps = layout.exchanges.split('.').filter(|step| !step.is_empty()).collect();
        let (open, ahead, requests, number, other, is_over) = Default::default();
        let tree = ExchangeTree {
            row,
            layout,
            steps,
            nodes,
            is_yaml,
            open,
            ahead,
            requests,
            number,
            other,
            is_over,
        };
        Exchanges::Tree(Box::new(tree))
    }

    /// Returns the next exchange. After an error there is none.
    pub(super) fn next(&mut self) -> Option<Result<Exchange, Broken>> {
        match self {
            Exchanges::Tree(tree) => tree.next().transpose(),
            Exchanges::Wire(source, number) => wire(source, number).transpose(),
        }
    }
}

/// The exchanges of a tree.
pub(super) struct ExchangeTree<'r> {
    row: &'static Recorder,
    layout: &'static FileLayout,
    /// The way from the top to an exchange.
    steps: Vec<&'static str>,
    nodes: Box<dyn Nodes + 'r>,
    is_yaml: bool,
    /// The maps and lists on the way that are open: whether one is a map, and the step from it on.
    open: Vec<(bool, usize)>,
    /// A node that was looked at, and is read next.
    ahead: Option<TreeNode>,
    /// The requests that were read before their responses.
    requests: VecDeque<TreeValue>,
    number: u64,
    /// A member at the top where another row has its exchanges, and that row's name.
    other: Option<(String, &'static str)>,
    is_over: bool,
}

impl ExchangeTree<'_> {
    fn next(&mut self) -> Result<Option<Exchange>, Broken> {
        if self.is_over {
            return Ok(None);
        }
        self.is_over = true;
        let Some(value) = self.value()? else {
            let Some((name, row)) = self.other.take() else { return Ok(None) };
            let message = format!(
                "it is read as {}, and holds {name:?} as {row} has it, which is passed over",
                self.row.name
            );
            return Err(Broken::new(Why::Malformed, self.nodes.offset(), message));
        };
        self.number += 1;
        let exchange = self.exchange(&value)?;
        self.is_over = false;
        Ok(Some(exchange))
    }

    /// Returns the next exchange's own tree.
    fn value(&mut self) -> Result<Option<TreeValue>, Broken> {
        loop {
            let ahead = self.ahead.take();
            let Some(node) = ahead.map_or_else(|| self.nodes.next(), |node| Ok(Some(node)))? else {
                return Ok(None);
            };
            let at = self.open.last().copied();
            let (node, step) = match (at, node) {
                (Some(_), TreeNode::End) => {
                    self.open.pop();
                    continue;
                }
                (None, node) => (node, 0),
                (Some((false, step)), node) => (node, step),
                (Some((true, step)), node) => {
                    let name = key(node, &mut *self.nodes)?;
                    let Some(value) = self.nodes.next()? else { return Ok(None) };
                    if self.layout.requests.is_some_and(|word| word.as_bytes() == name) {
                        if let TreeValue::List(requests) = TreeValue::read(value, &mut *self.nodes)?
                        {
                            self.requests = requests.into();
                        }
                        continue;
                    }
                    match self.step_after(&name, step) {
                        Some(step) => (value, step),
                        None => {
                            skip(&value, &mut *self.nodes)?;
                            continue;
                        }
                    }
                }
            };
            match (self.steps.get(step), &node) {
                (None, _) => {
                    let value = TreeValue::read(node, &mut *self.nodes)?;
                    return Ok(Some(self.with_request(value)));
                }
                (Some(&"[]"), TreeNode::List) => self.open.push((false, step + 1)),
                (Some(word), TreeNode::Map) if *word != "[]" => self.open.push((true, step)),
                _ => skip(&node, &mut *self.nodes)?,
            }
        }
    }

    /// Returns an exchange with its request, if that stands apart.
    fn with_request(&mut self, value: TreeValue) -> TreeValue {
        if self.layout.requests.is_none() {
            return value;
        }
        let request = self.requests.pop_front().map(|request| (b"request".to_vec(), request));
        TreeValue::Map(request.into_iter().chain([(b"response".to_vec(), value)]).collect())
    }

    /// Returns the step after a member, if it is on the way.
    fn step_after(&mut self, name: &[u8], step: usize) -> Option<usize> {
        let is_it = |word: &str| word.split('|').any(|word| word.as_bytes() == name);
        if self.steps.get(step).is_some_and(|word| is_it(word)) {
            return Some(step + 1);
        }
        if self.layout.is_nested && self.steps.first().is_some_and(|word| is_it(word)) {
            return Some(1);
        }
        if self.open.len() == 1 {
            let others = RECORDERS.iter().filter(|row| row.name != self.row.name);
            let has_it = |row: &&Recorder| {
                row.layouts.iter().any(|layout| {
                    let mut first = until(layout.exchanges, ".").split('|');
                    first.any(|word| word.as_bytes() == name)
                })
            };
            let other = others.into_iter().find(has_it).map(|row| row.name);
            self.other = other.map(|row| (String::from_utf8_lossy(name).into_owned(), row));
        }
        None
    }

    /// Reads the parts of an exchange. The last one of a file that was cut may lack its response, or the
    /// end of it, where YAML has no end of its own.
    fn exchange(&mut self, value: &TreeValue) -> Result<Exchange, Broken> {
        let row = self.row;
        let (request, of_request) = body_at(value, row.request, &mut false);
        let mut exchange = Exchange {
            number: self.number,
            method: text_at(value, row.method).unwrap_or_else(|| "GET".into()).to_ascii_uppercase(),
            url: url(text_at(value, row.host), text_at(value, row.url)),
            request,
            status: text_at(value, row.status).map_or(0, |text| status(&text)),
            headers: places(value, row.headers).into_iter().flat_map(headers).collect(),
            ..Exchange::default()
        };
        let is_status =
            text_at(value, row.status).is_some() && !(1..100).contains(&exchange.status);
        if self.is_yaml && !is_status {
            self.ahead = self.nodes.next()?;
            if self.ahead.as_ref().is_none_or(|node| *node == TreeNode::End) {
                let message = format!("it breaks off: exchange {} has no status", self.number);
                return Err(Broken::new(Why::Cut, self.nodes.offset(), message));
            }
        }
        let (body, note) = body_at(value, row.body, &mut exchange.is_undecoded);
        exchange.note = note.or(of_request.map(|note| format!("of its request, {note}")));
        exchange.set_body(body, self.nodes.offset())?;
        Ok(exchange)
    }
}

/// Joins a host, which may lack its scheme, and a path; what is alone is the URL.
fn url(host: Option<String>, path: Option<String>) -> String {
    let lacks_scheme = |host: &&String| !host.is_empty() && !host.contains("://");
    let scheme = host.as_ref().filter(lacks_scheme).map(|_| "https://".to_owned());
    [scheme, host, path].into_iter().flatten().collect()
}

/// Returns the value at the first of these places that has one.
fn places<'v>(value: &'v TreeValue, places: &str) -> Option<&'v TreeValue> {
    places.split('|').find_map(|place| value.at(place).filter(|value| !value.is_null()))
}

/// Returns the text at the first of these places that has some.
fn text_at(value: &TreeValue, places: &str) -> Option<String> {
    let text = places.split('|').find_map(|place| value.at(place)?.text());
    text.map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Returns the number that a status begins with; 0, which is none, if it begins with none.
fn status(text: &str) -> u16 {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.before(end).parse().unwrap_or(0)
}

/// Returns headers, however they are written: a map, whose values may be lists, or a list of maps,
/// or of names and values in turn.
fn headers(value: &TreeValue) -> Vec<(String, String)> {
    let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let joined = |value: &TreeValue| match value {
        TreeValue::List(list) => {
            let texts = list.iter().filter_map(TreeValue::text).map(shown);
            texts.collect::<Vec<_>>().join(", ")
        }
        value => value.text().into_iter().map(shown).collect(),
    };
    match value {
        TreeValue::Map(members) => {
            members.iter().map(|(name, value)| (shown(name), joined(value))).collect()
        }
        TreeValue::List(list) if list.iter().all(|one| matches!(one, TreeValue::Map(_))) => {
            let pair =
                |one: &TreeValue| Some((text_at(one, "name|key")?, joined(one.at("value")?)));
            list.iter().filter_map(pair).collect()
        }
        TreeValue::List(list) => {
            let pair = |pair: &[TreeValue]| match pair {
                [name, value] => Some((shown(name.text()?), joined(value))),
                _ => None,
            };
            list.chunks(2).filter_map(pair).collect()
        }
        TreeValue::Text(_) | TreeValue::Bare(_) => Vec::new(),
    }
}

/// Returns the bytes of a body as it is recorded, none if there is no body, and what is to be said of
/// it. Notes if it can't be decoded.
fn body_at(
    value: &TreeValue,
    parts: &[BodyPart],
    is_undecoded: &mut bool,
) -> (Vec<u8>, Option<String>) {
    let (mut note, mut unread) = (None, None);
    for part in parts {
        let is_it = part.only.is_none_or(|(place, word)| {
            value.at(place).and_then(TreeValue::text) == Some(word.as_bytes())
        });
        let found = value.at(part.at).filter(|found| is_it && !found.is_null());
        let Some(found) = found else { continue };
        let bytes = match (part.coded, found.text()) {
            (Coded::Text | Coded::Tree, Some(text)) => Some(text.to_vec()),
            (Coded::Tree, None) => {
                let mut json = Vec::new();
                found.write_json(&mut json);
                Some(json)
            }
            (Coded::Base64 | Coded::Gzip | Coded::Hex, Some(text)) => {
                let is_hex = part.coded == Coded::Hex;
                let (bytes, name) =
                    if is_hex { (hex(text), "hexadecimal") } else { (base64(text), "base64") };
                *is_undecoded |= bytes.is_none();
                if bytes.is_none() {
                    note = Some(format!("its body is no {name}, as it says{READ_AS_IT_STANDS}"));
                }
                let packed =
                    (part.coded == Coded::Gzip).then(|| bytes.as_deref().map(coding::unzip));
                match packed.flatten() {
                    Some((bytes, None)) => Some(bytes),
                    Some((bytes, Some(error))) => {
                        *is_undecoded = true;
                        note = Some(format!("its body can't be unpacked to its end: {error}"));
                        Some(bytes)
                    }
                    None => bytes,
                }
            }
            (Coded::HexPieces, _) => hex_pieces(found),
            (Coded::Text | Coded::Base64 | Coded::Gzip | Coded::Hex, None) => None,
        };
        if let Some(bytes) = bytes {
            return (bytes, note);
        }
        let holds = |other: &BodyPart| other.at.starts_with(part.at) && other.at != part.at;
        let is_other = match found {
            TreeValue::List(_) => true,
            // Each part of it may be null.
            TreeValue::Map(_) => !parts.iter().any(holds),
            TreeValue::Text(_) | TreeValue::Bare(_) => false,
        };
        if is_other {
            let message = "its body is in a form that is not this recorder's: it is left out";
            unread = Some(message.to_owned());
        }
    }
    (Vec::new(), note.or(unread))
}

/// Decodes base64 that may be in lines, or a JSON list of pieces.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?;
    if !text.starts_with('[') {
        return unpacked(text);
    }
    let pieces: Vec<String> = serde_json::from_str(text).ok()?;
    let pieces: Option<Vec<Vec<u8>>> = pieces.iter().map(|piece| unpacked(piece)).collect();
    Some(pieces?.concat())
}

/// Decodes hexadecimal digits.
fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    pairs.iter().map(byte).collect()
}

/// Decodes a list of pieces in hexadecimal digits. Text alone is none: it may be what it says.
fn hex_pieces(value: &TreeValue) -> Option<Vec<u8>> {
    let TreeValue::List(list) = value else { return None };
    let piece = |piece: &TreeValue| match piece {
        TreeValue::Text(text) => hex(text),
        _ => None,
    };
    let pieces: Option<Vec<Vec<u8>>> = list.iter().map(piece).collect();
    Some(pieces?.concat())
}

/// Returns the next exchange of httprr: a line with two lengths, then the request and the response.
fn wire(source: &mut BlockReader<'_>, number: &mut u64) -> Result<Option<Exchange>, Broken> {
    if *number == 0 && source.offset() == 0 {
        source.take(HTTPRR.len())?;
    }
    let offset = source.offset();
    let mut line = Vec::new();
    while let Some(byte) = source.peek()? {
        source.skip(1);
        if byte == b'\n' {
            break;
        }
        if line.len() > 64 {
            break;
        }
        line.push(byte);
    }
    if line.is_empty() {
        return Ok(None);
    }
    *number += 1;
    let text = String::from_utf8_lossy(&line);
    let lengths: Vec<usize> =
        text.split(' ').map_while(|length| length.trim().parse().ok()).collect();
    let [asked, answered] = *lengths else {
        let message = format!("exchange {number} does not begin with its two lengths");
        source.take(usize::MAX)?;
        return Err(Broken::new(Why::Malformed, offset, message));
    };
    let (request, response) = (source.take(asked)?, source.take(answered)?);
    let is_cut = request.len() < asked || response.len() < answered;
    let (head, asks) = split_head(&request);
    let request_line = until(&head, "\r\n");
    let (method, rest) = request_line.split_once(' ').unwrap_or((request_line, ""));
    let (answer, body) = split_head(&response);
    let (status_line, lines) = answer.split_once("\r\n").unwrap_or((&answer, ""));
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let mut exchange = Exchange {
        number: *number,
        method: method.to_owned(),
        url: until(rest, " ").to_owned(),
        request: asks.to_vec(),
        status: status_line.split_once(' ').map_or(0, |(_, rest)| status(rest)),
        headers: lines.lines().filter_map(header).collect(),
        ..Exchange::default()
    };
    if is_cut {
        let message = format!("it breaks off in exchange {number}");
        return Err(Broken::new(Why::Cut, source.offset(), message));
    }
    exchange.set_body(body.to_vec(), source.offset())?;
    Ok(Some(exchange))
}

/// Splits a message of HTTP into its head and its body.
fn split_head(message: &[u8]) -> (String, &[u8]) {
    let end = memchr::memmem::find(message, b"\r\n\r\n").unwrap_or(message.len());
    let (head, body) = message.split_at(end);
    (String::from_utf8_lossy(head).into_owned(), body.after(4))
}
