//! The answers of a server that has a cassette: to each request the response that was recorded for it.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::capture::answer::{AnswerBody, PlayedAnswer};
use crate::capture::file::{Capture, RecordedHead};
use crate::capture::replay::{Plan, Play};
use crate::cassette::Exchange;
use crate::cut::{Cut as _, until};
use crate::detect::KnownFormats;
use crate::frame::http::find_heads;
use crate::io::http::HttpRequest;
use crate::json;

/// Parameters of a query that hold a key: a cassette that others may read has another one.
const KEYS: &[&str] = &["api-key", "api_key", "key"];

/// Recorded exchanges.
#[derive(Debug)]
pub(crate) struct Tape {
    tracks: Vec<Track>,
    /// How often each was played.
    played: Mutex<Vec<usize>>,
}

/// A request and what answers it.
#[derive(Debug)]
struct Track {
    /// The file and the exchange's number.
    name: String,
    asked: TapeRequest,
    status: u16,
    headers: Vec<(String, String)>,
    plan: Arc<Plan>,
}

/// What tells one request from another.
#[derive(Debug)]
struct TapeRequest {
    method: String,
    path: String,
    /// The parameters of the query, but for keys, in the order of their names.
    query: Vec<String>,
    body: Vec<u8>,
    /// What the body means, if it is JSON.
    value: Option<Value>,
}

/// How much of a request has to be what was recorded.
#[derive(Clone, Copy)]
enum Likeness {
    /// The bytes of its body.
    Bytes,
    /// What its body means.
    Value,
    /// Its place alone, where no body was recorded.
    Place,
}

impl TapeRequest {
    fn new(method: &str, url: &str, body: &[u8]) -> Self {
        let url = until(url, "#");
        let target = url
            .split_once("://")
            .map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| rest.after(at)));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let is_key = |part: &&str| KEYS.contains(&until(part, "="));
        let parts = query.split('&').filter(|part| !part.is_empty() && !is_key(part));
        let mut query: Vec<String> = parts.map(str::to_owned).collect();
        query.sort_unstable();
        TapeRequest {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            query,
            body: body.to_vec(),
            value: serde_json::from_slice(body).ok(),
        }
    }

    /// True if this is the request that was recorded.
    fn is_of(&self, recorded: &TapeRequest, likeness: Likeness) -> bool {
        let is_alike = match likeness {
            Likeness::Bytes => self.body == recorded.body,
            Likeness::Value => self.value.is_some() && self.value == recorded.value,
            Likeness::Place => recorded.body.is_empty(),
        };
        is_alike && self.is_at(recorded) && self.query == recorded.query
    }

    fn is_at(&self, recorded: &TapeRequest) -> bool {
        self.method == recorded.method && self.path == recorded.path
    }
}

impl Tape {
    /// Returns the tape of these exchanges of files, whose answers may be in these formats, each played
    /// so. An error says what is asked for and cannot be done.
    pub(crate) fn new(
        exchanges: Vec<(String, Exchange)>,
        play: &Play,
        formats: &KnownFormats,
    ) -> Result<Self, String> {
        let track = |(name, exchange): (String, Exchange)| {
            let head = exchange.head();
            let recorded = find_heads(&head).map(|found| RecordedHead::new(&head, found));
            let capture = Capture::new(&name, exchange.body, formats);
            // A body without a frame can be played at once alone.
            let plan = match capture.bytes.is_empty() {
                true => Plan::new(&capture, &Play::default()),
                false => Plan::new(&capture, play),
            };
            Ok(Track {
                asked: TapeRequest::new(&exchange.method, &exchange.url, &exchange.request),
                status: exchange.status,
                headers: recorded.into_iter().flat_map(|recorded| recorded.headers).collect(),
                plan: Arc::new(plan?),
                name,
            })
        };
        let tracks: Vec<Track> = exchanges.into_iter().map(track).collect::<Result<_, String>>()?;
        let played = Mutex::new(vec![0; tracks.len()]);
        Ok(Tape { tracks, played })
    }

    /// Returns the answer that was recorded for a request: of several, each once in their order, and
    /// then the last one again. An error says which one is the nearest.
    pub(crate) fn answer(&self, request: &HttpRequest) -> Result<PlayedAnswer, String> {
        let asked = TapeRequest::new(&request.method, &request.target, &request.body);
        let places = |likeness: Likeness| -> Vec<usize> {
            let all = self.tracks.iter().enumerate();
            all.filter(|(_, track)| asked.is_of(&track.asked, likeness)).map(|(at, _)| at).collect()
        };
        let mut all = [Likeness::Bytes, Likeness::Value, Likeness::Place].into_iter().map(places);
        let found = all.find(|found| !found.is_empty());
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = found.iter().flatten().filter(|at| played.get(**at) == Some(&0));
        let at = next.next().or(found.iter().flatten().last()).copied();
        let Some((at, track)) = at.and_then(|at| Some((at, self.tracks.get(at)?))) else {
            return Err(self.nearest(&asked));
        };
        if let Some(count) = played.get_mut(at) {
            *count += 1;
        }
        Ok(PlayedAnswer {
            status: track.status,
            headers: track.headers.clone(),
            body: AnswerBody::Played(Arc::clone(&track.plan)),
            file: Some(track.name.clone()),
        })
    }

    /// Says that nothing was recorded for a request, and what is most like it.
    fn nearest(&self, asked: &TapeRequest) -> String {
        let TapeRequest { method, path, .. } = asked;
        let at = self.tracks.iter().filter(|track| asked.is_at(&track.asked));
        let by_body = at.map(|track| (difference(asked, &track.asked), track));
        let nearest = by_body.max_by_key(|((same, _), _)| *same);
        let what = match nearest {
            Some(((_, place), track)) => format!("The nearest is {}: {place} differs.", track.name),
            None => {
                let alike = |track: &&Track| {
                    let name = format!("{} {}", track.asked.method, track.asked.path);
                    (strsim::jaro_winkler(&name, &format!("{method} {path}")) * 1e6) as u64
                };
                match self.tracks.iter().max_by_key(alike) {
                    Some(Track { name, asked, .. }) => {
                        format!("The nearest is {name}: {} {}.", asked.method, asked.path)
                    }
                    None => "The file holds no exchange.".into(),
                }
            }
        };
        format!("No exchange was recorded for this request, {method} {path}. {what}")
    }
}

/// Returns where two requests of one place differ first, and how much they have in common.
fn difference(asked: &TapeRequest, recorded: &TapeRequest) -> (usize, String) {
    if asked.query != recorded.query {
        return (0, "the query".into());
    }
    match (&asked.value, &recorded.value) {
        (Some(asked), Some(recorded)) => {
            let (mut same, mut place) = (1, None);
            compare(asked, recorded, "", &mut same, &mut place);
            (same, place.unwrap_or_else(|| "the body".into()))
        }
        _ => (0, "the body".into()),
    }
}

/// Counts the scalars that two values have in common, and finds the first place where they differ.
fn compare(one: &Value, other: &Value, at: &str, same: &mut usize, place: &mut Option<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                let [one, other] = [one, other].map(|map| map.get(key).unwrap_or(&Value::Null));
                compare(one, other, &format!("{at}/{key}"), same, place);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (number, (one, other)) in one.iter().zip(other).enumerate() {
                compare(one, other, &format!("{at}/{number}"), same, place);
            }
        }
        _ if one == other => *same += 1,
        _ => {
            let shown = if at.is_empty() { "the body".into() } else { json::quote(at) };
            place.get_or_insert(shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(number: u64, url: &str, request: &str, body: &str) -> (String, Exchange) {
        let exchange = Exchange {
            number,
            method: "POST".into(),
            url: url.into(),
            request: request.into(),
            status: 200,
            body: body.into(),
            ..Exchange::default()
        };
        (format!("a#{number}"), exchange)
    }

    #[track_caller]
    fn check(tape: &Tape, target: &str, body: &str, expected: Result<&str, &str>) {
        let request = HttpRequest {
            method: "POST".into(),
            target: target.into(),
            body: body.into(),
            ..HttpRequest::default()
        };
        let got = tape.answer(&request).map(|answer| answer.file.unwrap());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn a_request_is_known_by_its_method_path_query_and_body() {
        let all = vec![
            exchange(1, "https://x.example/v1/a?b=1&key=SECRET&a=2", "{\"n\": 1, \"m\":[2]}", "1"),
            exchange(2, "https://x.example/v1/a?a=2&b=1", "{\"m\":[2],\"n\":1}", "2"),
            exchange(3, "/v1/a", "{\"n\":{\"o\":[1,2,3]}}", "3"),
            exchange(4, "/v1/b", "", "4"),
        ];
        let tape = Tape::new(all, &Play::default(), &KnownFormats::default()).unwrap();
        for name in ["a#1", "a#2", "a#2"] {
            check(&tape, "/v1/a?a=2&key=mine&b=1", "{\"n\":1,\"m\":[ 2 ]}", Ok(name));
        }
        check(&tape, "/v1/b", "{\"any\":true}", Ok("a#4"));
        let none = "No exchange was recorded for this request, POST /v1/";
        let wrong = format!("{none}a. The nearest is a#3: \"/n/o/1\" differs.");
        check(&tape, "/v1/a", "{\"n\":{\"o\":[1,5,3]}}", Err(&wrong));
        check(&tape, "/v1/c", "{}", Err(&format!("{none}c. The nearest is a#4: POST /v1/b.")));
    }
}
