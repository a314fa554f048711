//! What a capture holds: one stream, or the answers in a file of recorded exchanges.

use std::borrow::Cow;

use crate::capture::{joined_as, unread};
use crate::cassette::{self, Broken, Exchange};
use crate::commands::exchanges::{code_of, fail, is_answer, may_be_cassette};
use crate::event::Code;
use crate::pipeline::Config;
use crate::sink::{Join, Label, Ndjson};

/// The streams of a capture.
pub(in crate::commands) struct CaptureParts<'c> {
    /// Each with its name within the capture, `#N`, if that is a file of exchanges.
    streams: Vec<(Option<String>, CaptureStream<'c>)>,
}

/// The bytes of a stream; or why it can't be read, or the capture any further.
type CaptureStream<'c> = Result<Cow<'c, [u8]>, Broken>;

impl<'c> CaptureParts<'c> {
    /// Returns the streams of a capture that is read so.
    pub(in crate::commands) fn of(capture: &'c [u8], config: &Config) -> Self {
        let cassette = cassette::open(capture).filter(|_| may_be_cassette(config));
        let Some(cassette) = cassette else {
            return CaptureParts { streams: vec![(None, Ok(capture.into()))] };
        };
        let stream = |exchange: Result<Exchange, Broken>| {
            let exchange = match exchange {
                Ok(exchange) => exchange,
                Err(broken) => return Some((None, Err(broken))),
            };
            let stream = match is_answer(&exchange, &config.formats()) {
                true => Ok([exchange.head(), exchange.body].concat().into()),
                false => Err(exchange.undecoded()?),
            };
            Some((Some(format!("#{}", exchange.number)), stream))
        };
        CaptureParts { streams: cassette.filter_map(stream).collect() }
    }

    /// True if nothing in it is a model's: there are exchanges, and no such answer among them.
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// True if it is a file of exchanges, with what is or may be an answer in it.
    pub(super) fn is_of_exchanges(&self) -> bool {
        self.streams.iter().any(|(name, _)| name.is_some())
    }

    /// Returns each stream with its name within the capture.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.streams.iter().filter_map(|(name, stream)| {
            Some((name.as_deref().unwrap_or_default(), stream.as_deref().ok()?))
        })
    }

    /// Returns the lines that `parse --join` prints of it, each with the name of its stream.
    pub(in crate::commands) fn joined(&self, config: &Config) -> String {
        let streams = self.streams.iter();
        let events = streams.map(|(name, stream)| match stream {
            Ok(bytes) => joined_as(config, &[bytes], name.as_deref()),
            Err(broken) => failed(broken, name.clone()),
        });
        events.collect()
    }

    /// Returns the members that no rule reads, each once.
    pub(super) fn unread(&self, config: &Config) -> Vec<String> {
        let mut all = Vec::new();
        for member in self.each().flat_map(|(_, bytes)| unread(config, bytes)) {
            if !all.contains(&member) {
                all.push(member);
            }
        }
        all
    }
}

/// Returns the lines of what can't be read.
fn failed(broken: &Broken, name: Option<String>) -> String {
    let mut out = Vec::new();
    let mut sink = Join::new(Ndjson::new(&mut out, Label::new(name)));
    let code = code_of(broken).unwrap_or(Code::Truncated);
    // Writing to memory does not fail.
    let _ = fail(&mut sink, code, &broken.message, broken.offset);
    drop(sink);
    String::from_utf8_lossy(&out).into_owned()
}
