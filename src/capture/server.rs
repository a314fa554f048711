//! The answers of a server that plays captures: one of these, in the format of the endpoint, or an
//! error.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::capture::answer::{AnswerBody, PlayedAnswer};
use crate::capture::file::Capture;
use crate::capture::held::{self, HeldAnswer};
use crate::capture::replay::{Plan, Play};
use crate::capture::rhythm::{Rhythm, TimedRead};
use crate::capture::tape::Tape;
use crate::convert::{self, Converter, OneMessage, Options};
use crate::detect::KnownFormats;
use crate::event::Output;
use crate::format::support::object::Object;
use crate::format::{
    FORMATS, Format, Known, Losses, RecordEnvelope, Reply, Writing, aside, reply_of,
};
use crate::io::http::HttpRequest;
use crate::json::{self, Line, members};
use crate::pipeline::{Config, Pipeline};
use crate::sink::Sink as _;

/// The choice of the capture that answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// The one after as many others as the request has answers of the model.
    Turn,
    /// The next one each time.
    Request,
    /// By turn, of those in the format of the endpoint.
    Path,
}

/// Captures, and how they are played.
#[derive(Debug)]
pub(crate) struct Server {
    /// Of each capture, the body alone.
    captures: Vec<Capture>,
    /// What is known of each.
    given: Vec<HeldAnswer>,
    /// Recorded exchanges, in place of captures.
    tape: Option<Tape>,
    play: Play,
    by: By,
    /// The number of requests that fail, if not all, and their HTTP status.
    fail: Option<(Option<usize>, u16)>,
    /// The number of answers that the options end early, if not all.
    faulty: Option<usize>,
    /// The number of requests for an answer.
    arrived: AtomicUsize,
    /// What was made of a capture for one kind of request, which all like it share.
    made: Mutex<BTreeMap<RequestKind, Arc<Made>>>,
}

/// A kind of request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestKind {
    /// The place of the capture that answers it.
    place: usize,
    /// The name of its format.
    format: Option<&'static str>,
    /// True if it wants one body.
    is_whole: Option<bool>,
    framing: Option<&'static str>,
    /// The tools that it declares to take free text.
    free_tools: Vec<String>,
    /// True if the options end the answer early.
    is_faulty: bool,
}

/// A capture as it is played for one kind of request.
#[derive(Debug)]
struct Made {
    status: u16,
    headers: Vec<(String, String)>,
    plan: Arc<Plan>,
}

impl Server {
    pub(crate) fn new(
        captures: Vec<Capture>,
        tape: Option<Tape>,
        play: Play,
        by: By,
        fail: Option<(Option<usize>, u16)>,
        faulty: Option<usize>,
    ) -> Self {
        let given =
            captures.iter().zip(0..).map(|(one, number)| HeldAnswer::new(one, number)).collect();
        let (arrived, made) = (AtomicUsize::new(0), Mutex::default());
        Server { captures, given, tape, play, by, fail, faulty, arrived, made }
    }

    /// Returns the names of the captures that hold several messages.
    pub(crate) fn of_several(&self) -> impl Iterator<Item = &str> {
        let captures = self.captures.iter().zip(&self.given);
        captures.filter(|(_, given)| given.is_first_of_several).map(|(one, _)| one.name.as_str())
    }

    /// Returns the answer to a request: of a capture, if its path is that of an endpoint, and else
    /// one that takes none.
    pub(crate) fn answer(&self, request: &HttpRequest) -> PlayedAnswer {
        let path = request.path();
        let first = self.captures.first().and_then(|capture| capture.format);
        let asked = endpoint(path);
        let reply = reply_of(asked.or(first));
        if let Some(tape) = &self.tape {
            return tape.answer(request).unwrap_or_else(|why| failure(reply, 400, Some(&why)));
        }
        if matches!((&*request.method, path), ("HEAD", _) | ("GET", "" | "/")) {
            return whole(200, String::new(), Vec::new());
        }
        let text = String::from_utf8_lossy(&request.body);
        let asks = Object::new(&text);
        let is_upgrade = |value: &str| value.to_ascii_lowercase().contains("websocket");
        if request.header("upgrade").is_some_and(is_upgrade) {
            let answer =
                failure(reply, 426, Some("There is no WebSocket: send the request over HTTP."));
            let headers = [answer.headers, vec![("upgrade".into(), "HTTP/1.1".into())]].concat();
            return PlayedAnswer { headers, ..answer };
        }
        if let Some(body) = aside(&request.method, path, first) {
            return whole(200, body(&self.known(&asks, path)), json_type());
        }
        let has_endpoint = |capture: &Capture| capture.format.is_some_and(has_endpoint);
        let is_endpoint = asked.is_some() || !self.captures.iter().any(has_endpoint);
        if request.method != "POST" || !is_endpoint {
            let why = format!("No endpoint answers {} {path}.", request.method);
            return failure(reply_of(kin(path).or(first)), 404, Some(&why));
        }
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
        let arrived = arrived - failed;
        let (number, place) = self.next(&asks, asked, arrived);
        let Some((place, capture)) =
            place.and_then(|place| Some((place, self.captures.get(place)?)))
        else {
            let why = format!("There are no more answers: this would be number {}.", number + 1);
            // No client asks again after it.
            return failure(reply, 400, Some(&why));
        };
        let address = reply.addresses.iter().find(|(part, _)| request.target.contains(part));
        let framing = address.map(|(_, framing)| *framing);
        let streams = || asked.and_then(|format| format.request).map(|row| row.streams);
        let is_whole = match framing {
            Some(framing) => Some(framing == RecordEnvelope::BODY.framing),
            None => asks.flag("stream").or_else(streams).map(|streams| !streams),
        };
        let file = Some(capture.name.clone());
        let kind = RequestKind {
            place,
            format: asked.map(|format| format.name),
            is_whole,
            framing,
            free_tools: free_tools(&asks),
            is_faulty: self.faulty.is_none_or(|count| arrived < count),
        };
        match self.made(&kind, || self.make(capture, asked, &kind)) {
            Ok(made) => PlayedAnswer {
                status: made.status,
                headers: made.headers.clone(),
                body: AnswerBody::Played(Arc::clone(&made.plan)),
                file,
            },
            // The same request would fail again.
            Err(why) => PlayedAnswer { file, ..failure(reply, 400, Some(&why)) },
        }
    }

    /// Returns what is known beside answers, for this request.
    fn known(&self, request: &Object<'_>, path: &str) -> Known<'_> {
        let failing = self.fail.map_or(0, |(count, _)| count.unwrap_or(0));
        let arrived = self.arrived.load(Ordering::SeqCst).saturating_sub(failing);
        let (_, place) = self.next(request, kin(path), arrived);
        let next = place.and_then(|place| self.given.get(place)).or(self.given.last());
        let model = self.given.iter().find_map(|given| given.model.as_deref());
        let input_tokens = next.and_then(|given| given.input_tokens).unwrap_or_default();
        Known { model: model.unwrap_or("toolstream"), input_tokens }
    }

    /// Returns the number of the answer that a request asks for, and the place of the capture that
    /// is it, if there is one.
    fn next(
        &self,
        request: &Object<'_>,
        asked: Option<&'static Format>,
        arrived: usize,
    ) -> (usize, Option<usize>) {
        let is_asked = |(_, capture): &(usize, &Capture)| {
            self.by != By::Path || asked.is_none_or(|asked| capture.is_in(asked))
        };
        let places: Vec<usize> =
            self.captures.iter().enumerate().filter(is_asked).map(|(place, _)| place).collect();
        let number = match self.by {
            By::Request => arrived,
            By::Turn | By::Path => {
                let first = self.captures.first().and_then(|capture| capture.format);
                let given: Vec<_> = places.iter().filter_map(|at| self.given.get(*at)).collect();
                held::next(&given, request, asked.or(first).and_then(|format| format.request))
            }
        };
        (number, places.get(number).copied())
    }

    /// Returns what was made for a kind of request, or makes it: once, however many ask at a time.
    fn made(
        &self,
        kind: &RequestKind,
        make: impl FnOnce() -> Result<Made, String>,
    ) -> Result<Arc<Made>, String> {
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = all.get(kind) {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        all.insert(kind.clone(), Arc::clone(&made));
        Ok(made)
    }

    /// Plans how a capture is played for a kind of request.
    fn make(
        &self,
        capture: &Capture,
        format: Option<&'static Format>,
        kind: &RequestKind,
    ) -> Result<Made, String> {
        let mut play = if kind.is_faulty { self.play.clone() } else { self.play.whole() };
        // The words of one provider are not those of another: a status is.
        if let Some(failure) = &mut play.failure {
            failure.code = capture.reply().status(&failure.code)?.to_string();
        }
        let play = Play { is_body: kind.is_whole == Some(true), ..play };
        let fitting = self.fit(capture, format, kind)?;
        let (capture, play) = match &fitting {
            Some(made) => (made, play.within(made)),
            None if capture.is_whole() => (capture, play.within(capture)),
            None => (capture, play),
        };
        let plan = Plan::new(capture, &play)?;
        let recorded = capture.head.as_ref().map_or(200, |recorded| recorded.head.status);
        let status = plan.status().unwrap_or(recorded);
        Ok(Made { status, headers: headers(capture), plan: Arc::new(plan) })
    }

    /// Returns what a capture has to become for a kind of request: nothing if it is right as it is,
    /// in whatever framing.
    fn fit(
        &self,
        capture: &Capture,
        format: Option<&'static Format>,
        kind: &RequestKind,
    ) -> Result<Option<Capture>, String> {
        let Some(asked) = format.filter(|_| capture.is_message()) else { return Ok(None) };
        // A stream of lines may have one line, which then is a body as well.
        let usual = asked.write.and_then(|writing| writing.envelopes.first());
        let is_stream = !capture.is_whole()
            || usual.zip(capture.framing).is_some_and(|(usual, own)| usual.framing == own.name);
        let is_right =
            kind.is_whole.is_none_or(|whole| if whole { capture.is_whole() } else { is_stream });
        let given = self.given.get(kind.place);
        let is_free = |name: &String| kind.free_tools.contains(name);
        let calls = given.map_or(&[][..], |given| &given.calls);
        let is_called_right = calls.iter().all(|call| call.is_free || !is_free(&call.name));
        if capture.is_in(asked) && is_right && is_called_right {
            return Ok(None);
        }
        let whole = kind.is_whole.unwrap_or(capture.is_whole());
        let writing = asked.write.ok_or_else(|| {
            format!(
                "{} cannot be answered as {} of {}, which cannot be written",
                capture.name,
                if whole { "a body" } else { "a stream" },
                asked.name
            )
        })?;
        let envelopes = &writing.envelopes;
        let envelope = envelopes.iter().find(|one| Some(one.framing) == kind.framing);
        let (unique_ids, free_tools) = (Some(kind.place as u64), kind.free_tools.clone());
        let options = Options { whole, envelope, unique_ids, free_tools, ..Options::default() };
        Ok(Some(converted(capture, writing, &options)))
    }
}

/// Returns the format of the endpoint that a path is.
fn endpoint(path: &str) -> Option<&'static Format> {
    by_endpoint(|end| path.ends_with(end))
}

/// Returns the format of the endpoint that a path is like.
fn kin(path: &str) -> Option<&'static Format> {
    by_endpoint(|end| path.contains(end))
}

fn by_endpoint(is_it: impl Fn(&str) -> bool) -> Option<&'static Format> {
    // Kin stand above the format whose requests they share.
    let mut rows = FORMATS.iter().copied().rev();
    rows.find(|row| {
        row.request.is_some_and(|request| request.endpoints.iter().any(|end| is_it(end)))
    })
}

/// True if requests for this format have an endpoint that tells it.
fn has_endpoint(format: &Format) -> bool {
    let ends = format.request.map_or(&[][..], |request| request.endpoints);
    ends.iter().any(|end| endpoint(end) == Some(format))
}

/// Returns the names of the tools that a request declares to take free text.
fn free_tools(request: &Object<'_>) -> Vec<String> {
    let tools = request.each("tools").into_iter().map(Object::new);
    let free = tools.filter(|tool| tool.word("type").as_deref() == Some("custom"));
    free.filter_map(|tool| tool.word("name|custom.name")).collect()
}

/// Returns an answer that is one text.
fn whole(status: u16, text: String, mut headers: Vec<(String, String)>) -> PlayedAnswer {
    headers.push(("content-length".into(), text.len().to_string()));
    PlayedAnswer { status, headers, body: AnswerBody::Whole(text), file: None }
}

fn json_type() -> Vec<(String, String)> {
    vec![("content-type".into(), "application/json".into())]
}

/// Returns the answer that is an error.
pub(crate) fn failure(reply: &Reply, status: u16, why: Option<&str>) -> PlayedAnswer {
    let mut failure = reply.failure(status, 0);
    failure.message = why.unwrap_or(failure.message);
    let mut answer = whole(status, (reply.body)(&failure), json_type());
    if matches!(status, 429 | 529) {
        answer.headers.push(("retry-after".into(), "1".into()));
    }
    answer
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

/// Converts a capture, with its rhythm.
fn converted(capture: &Capture, writing: &'static Writing, options: &Options) -> Capture {
    let (mut seen, mut losses) = (0_u64, Losses::default());
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
            reads.push(TimedRead { end, ..read });
            last = end;
        }
    }
    let bytes = out.with(std::mem::take);
    let rhythm = capture.rhythm.as_ref().map(|_| Rhythm::new(reads));
    Capture { rhythm, ..Capture::new(&capture.name, bytes, &KnownFormats::default()) }
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
pub(crate) fn log_line(request: &HttpRequest, answer: &PlayedAnswer) -> Line {
    let text = String::from_utf8_lossy(&request.body);
    let body = if json::is_json(&text) { Output::Json(&text) } else { Output::Text(&text) };
    let mut log = Line::default();
    let line = &mut log;
    members!(line; {
        "method": request.method.as_str(),
        "path": request.target.as_str(),
        "headers": {
            ..for (name, value) in &request.headers {
                line.named(name, &json::quote(value));
            },
        },
        "body": body,
        "status": u64::from(answer.status),
        "file": answer.file.as_deref(),
    });
    line.raw("\n");
    log
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
        let mut capture = Capture::new("a", parts.concat().into_bytes(), &KnownFormats::default());
        let reads = parts.iter().zip([5, 700, 900]).scan(0, |end, (part, ms)| {
            *end += part.len() as u64;
            Some(TimedRead { time: Duration::from_millis(ms), end: *end })
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
}
