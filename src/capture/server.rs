//! The answers of a server that plays captures: one of these, in the format of the endpoint, or an
//! error.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::capture::file::Capture;
use crate::capture::replay::{Plan, Play};
use crate::capture::rhythm::{Read, Rhythm};
use crate::capture::tape::Tape;
use crate::convert::{self, Converter, OneMessage, Options, Seen};
use crate::format::support::object::Object;
use crate::format::{Envelope, FORMATS, Format, Losses, Reply, Writing, reply_of};
use crate::io::http::Request;
use crate::json;
use crate::json::Line;
use crate::pipeline::{Config, Pipeline};
use crate::sink::Sink as _;

/// The choice of the capture that answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The one after as many others as the request has answers of the model.
    Turn,
    /// The one after as many others as there were requests.
    Request,
    /// Of those in the format of the endpoint, the one by turn.
    Path,
}

/// Captures, and how they are played.
#[derive(Debug)]
pub(crate) struct Server {
    /// Of each capture, the body alone.
    pub(crate) captures: Vec<Capture>,
    /// Recorded exchanges, in place of captures.
    pub(crate) tape: Option<Tape>,
    pub(crate) play: Play,
    pub(crate) by: By,
    /// The number of requests that fail, if not all, and their HTTP status.
    pub(crate) fail: Option<(Option<usize>, u16)>,
    pub(crate) arrived: AtomicUsize,
    /// What was made of a capture for one kind of request, which all like it share.
    pub(crate) made: Mutex<BTreeMap<Asked, Arc<Made>>>,
}

/// A kind of request: the place of the capture that answers it, the name of its format, whether it
/// wants one body, and the framing.
type Asked = (usize, Option<&'static str>, Option<bool>, Option<&'static str>);

/// A capture as it is played for one kind of request.
#[derive(Debug)]
pub(crate) struct Made {
    status: u16,
    headers: Vec<(String, String)>,
    plan: Arc<Plan>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// The capture that it is made of.
    pub(crate) file: Option<String>,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    Played(Arc<Plan>),
    Whole(String),
}

impl Server {
    /// Returns the answer to a request.
    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let recorded = self.tape.as_ref().map(|tape| tape.answer(request));
        if let Some(Ok(answer)) = recorded {
            return answer;
        }
        if matches!((&*request.method, &*request.target), ("HEAD", _) | ("GET", "/")) {
            let headers = vec![("content-length".into(), "0".into())];
            return Answer { status: 200, headers, body: Body::Whole(String::new()), file: None };
        }
        let asked = asked(&request.target);
        let first = self.captures.first().and_then(|capture| capture.format);
        let reply = reply_of(asked.or(first));
        let text = String::from_utf8_lossy(&request.body);
        if !request.body.is_empty() && !json::is_json(&text) {
            return failure(reply, 400, Some("The body of the request is not JSON."));
        }
        let arrived = self.arrived.fetch_add(1, Ordering::SeqCst);
        let failed = match self.fail {
            Some((count, status)) if count.is_none_or(|count| arrived < count) => {
                return failure(reply, status, None);
            }
            Some((count, _)) => count.unwrap_or(0),
            None => 0,
        };
        if let Some(Err(why)) = recorded {
            return failure(reply, 400, Some(&why));
        }
        let asks = Object::new(&text);
        let is_asked = |(_, capture): &(usize, &Capture)| {
            self.by != By::Path || asked.is_none_or(|asked| capture.is_in(asked))
        };
        let mut captures = self.captures.iter().enumerate().filter(is_asked);
        let number = match self.by {
            By::Request => arrived - failed,
            By::Turn | By::Path => answers(&asks, asked.or(first)),
        };
        let Some((place, capture)) = captures.nth(number) else {
            let why = format!("There are no more answers: this would be number {}.", number + 1);
            // No client asks again after it.
            return failure(reply, 400, Some(&why));
        };
        let address = reply.addresses.iter().find(|(part, _)| request.target.contains(part));
        let framing = address.map(|(_, framing)| *framing);
        let is_whole = match framing {
            Some(framing) => Some(framing == Envelope::BODY.framing),
            None => asks.flag("stream").map(|streams| !streams),
        };
        let file = Some(capture.name.clone());
        let kind = (place, asked.map(|format| format.name), is_whole, framing);
        let made = self.made(kind, || {
            let made = fit(capture, asked, is_whole, framing)?;
            let capture = made.as_ref().unwrap_or(capture);
            Ok(Made {
                status: capture.head.as_ref().map_or(200, |recorded| recorded.head.status),
                headers: headers(capture),
                plan: Arc::new(Plan::new(capture, &self.play)?),
            })
        });
        match made {
            Ok(made) => Answer {
                status: made.status,
                headers: made.headers.clone(),
                body: Body::Played(Arc::clone(&made.plan)),
                file,
            },
            Err(why) => Answer { file, ..failure(reply, 500, Some(&why)) },
        }
    }

    /// Returns what was made for a kind of request, or makes it: once, however many ask at a time.
    fn made(
        &self,
        kind: Asked,
        make: impl FnOnce() -> Result<Made, String>,
    ) -> Result<Arc<Made>, String> {
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = all.get(&kind) {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        all.insert(kind, Arc::clone(&made));
        Ok(made)
    }
}

/// Returns the format of an endpoint.
fn asked(target: &str) -> Option<&'static Format> {
    // Kin stand above the format whose requests they share.
    let mut rows = FORMATS.iter().copied().rev();
    rows.find(|row| row.request.is_some_and(|request| target.contains(request.endpoint)))
}

/// Returns how many answers of the model a request holds. Elements without one of the user's
/// between them are one answer.
fn answers(request: &Object<'_>, format: Option<&Format>) -> usize {
    let Some(row) = format.and_then(|format| format.request) else { return 0 };
    let list = request.get(row.list).and_then(json::elements).unwrap_or_default();
    let own: Vec<bool> = list.iter().map(|element| (row.is_answer)(element)).collect();
    let is_first = |at: &usize| *at == 0 || !own.get(at - 1).copied().unwrap_or_default();
    (0..own.len()).filter(|at| own.get(*at) == Some(&true) && is_first(at)).count()
}

/// Returns the answer that is an error.
pub(crate) fn failure(reply: &Reply, status: u16, why: Option<&str>) -> Answer {
    let mut trouble = reply.trouble(status, 0);
    trouble.message = why.unwrap_or(trouble.message);
    let body = (reply.body)(&trouble);
    let mut headers = vec![
        ("content-type".into(), "application/json".into()),
        ("content-length".into(), body.len().to_string()),
    ];
    if matches!(status, 429 | 529) {
        headers.push(("retry-after".into(), "1".into()));
    }
    Answer { status, headers, body: Body::Whole(body), file: None }
}

/// Returns the headers of a capture's answer: those that were recorded, or those of its format.
fn headers(capture: &Capture) -> Vec<(String, String)> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    if let Some(head) = &capture.head {
        return head.headers.clone();
    }
    let media = match capture.framing {
        _ if capture.is_whole() => "application/json",
        Some(framing) => framing.media_type,
        None => "application/octet-stream",
    };
    let mut headers = vec![own(&("content-type", media)), own(&("cache-control", "no-cache"))];
    headers.extend(capture.reply().headers.iter().map(own));
    headers
}

/// Returns what a capture has to become for a request: nothing if it is right as it is, in whatever
/// framing.
fn fit(
    capture: &Capture,
    asked: Option<&'static Format>,
    is_whole: Option<bool>,
    framing: Option<&str>,
) -> Result<Option<Capture>, String> {
    let Some(asked) = asked.filter(|_| capture.is_message()) else { return Ok(None) };
    // A stream of lines may have one line, which then is a body as well.
    let usual = asked.write.and_then(|writing| writing.envelopes.first());
    let is_stream = !capture.is_whole()
        || usual.zip(capture.framing).is_some_and(|(usual, own)| usual.framing == own.name);
    let is_right =
        is_whole.is_none_or(|is_whole| if is_whole { capture.is_whole() } else { is_stream });
    if capture.is_in(asked) && is_right {
        return Ok(None);
    }
    let is_whole = is_whole.unwrap_or(capture.is_whole());
    let writing = asked.write.ok_or_else(|| {
        format!("{} cannot be answered in {}, which cannot be written", capture.name, asked.name)
    })?;
    let envelope = writing.envelopes.iter().find(|envelope| Some(envelope.framing) == framing);
    let options = Options { whole: is_whole, envelope, ..Options::default() };
    Ok(Some(converted(capture, writing, &options)))
}

/// Converts a capture, with its rhythm.
fn converted(capture: &Capture, writing: &'static Writing, options: &Options) -> Capture {
    let (mut seen, mut losses) = (Seen::default(), Losses::default());
    let out = Shared::default();
    let converter = Converter::new(out.clone(), writing, options, &mut losses);
    let mut sink = OneMessage::new(converter, None, &mut seen);
    let config = Config { format: capture.format, ..Config::default() };
    let mut pipeline = Pipeline::new(&convert::config(&config, options));
    let mut reads = Vec::new();
    let (mut offset, mut last) = (0, 0);
    // Writing to memory does not fail.
    while let Some(rest) = capture.bytes.get(offset..).filter(|rest| !rest.is_empty()) {
        let read = capture.rhythm.as_ref().and_then(|rhythm| rhythm.read_of(offset as u64));
        let end = read.and_then(|read| usize::try_from(read.end).ok());
        let piece = end.and_then(|end| capture.bytes.get(offset..end)).unwrap_or(rest);
        offset += piece.len();
        let _ = pipeline.feed(piece, &mut sink).and_then(|()| sink.flush());
        if offset == capture.bytes.len() {
            let _ = pipeline.finish(&mut sink).and_then(|()| sink.flush());
        }
        let end = out.with(|bytes| bytes.len() as u64);
        if let Some(read) = read.filter(|_| end > last) {
            reads.push(Read { end, ..read });
            last = end;
        }
    }
    let bytes = out.with(std::mem::take);
    let rhythm = capture.rhythm.as_ref().map(|_| Rhythm::new(reads));
    Capture { rhythm, ..Capture::new(&capture.name, bytes) }
}

/// Bytes in memory that are looked at while they are written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn with<T>(&self, look: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|all| all.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the line of a log for a request and what answered it.
pub(crate) fn log_line(request: &Request, answer: &Answer) -> Line {
    let mut line = Line::default();
    line.open();
    line.text("method", &request.method);
    line.text("path", &request.target);
    let mut headers = Line::default();
    headers.open();
    for (name, value) in &request.headers {
        headers.named(name, &json::quote(value));
    }
    headers.close();
    line.object("headers", &headers);
    let text = String::from_utf8_lossy(&request.body);
    match json::is_json(&text) {
        true => line.json("body", &text),
        false => line.text("body", &text),
    }
    line.number("status", answer.status.into());
    line.maybe_text("file", answer.file.as_deref());
    line.close();
    line.raw("\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_converted_capture_keeps_its_rhythm() {
        let text = |text: &str| {
            format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
            )
        };
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                   data: [DONE]\n\n";
        let parts = [text("one"), text("two"), end.to_owned()];
        let mut capture = Capture::new("a", parts.concat().into_bytes());
        let reads = parts.iter().zip([5, 700, 900]).scan(0, |end, (part, ms)| {
            *end += part.len() as u64;
            Some(Read { time: Duration::from_millis(ms), end: *end })
        });
        capture.rhythm = Some(Rhythm::new(reads.collect()));
        for name in ["anthropic", "gemini", "ollama-chat"] {
            let target = crate::format::find(name).unwrap().write.unwrap();
            let made = converted(&capture, target, &Options::default());
            let time_of = |word: &str| {
                let stream = String::from_utf8_lossy(&made.bytes);
                let read = made.rhythm.as_ref().unwrap().read_of(stream.find(word).unwrap() as u64);
                read.map(|read| read.time.as_millis())
            };
            assert_eq!((time_of("one"), time_of("two")), (Some(5), Some(700)), "{name}");
            let last = made.rhythm.as_ref().and_then(Rhythm::last).unwrap();
            let expected = (Duration::from_millis(900), made.bytes.len() as u64);
            assert_eq!((last.time, last.end), expected, "{name}");
        }
    }

    #[test]
    fn answers_of_the_model_are_counted() {
        let check = |target: &str, request: &str, expected| {
            assert_eq!(answers(&Object::new(request), asked(target)), expected, "{request}");
        };
        let chat = "/v1/chat/completions";
        check(chat, "{}", 0);
        check(chat, "no JSON", 0);
        check(chat, "{\"messages\":[{\"role\":\"system\"},{\"role\":\"user\"}]}", 0);
        check(
            chat,
            "{\"messages\":[{\"role\":\"assistant\"},{\"role\":\"tool\"},{\"role\":\"assistant\"}]}",
            2,
        );
        check("/v1/responses", "{\"input\":\"Hi\"}", 0);
        check(
            "/v1/responses",
            "{\"input\":[{\"type\":\"reasoning\"},{\"type\":\"function_call\"}]}",
            1,
        );
        check(
            "/v1beta/interactions",
            "{\"input\":[{\"type\":\"thought\"},{\"type\":\"function_result\"}]}",
            1,
        );
        check("/model/m/converse-stream", "{\"messages\":[{\"role\":\"assistant\"}]}", 1);
    }
}
