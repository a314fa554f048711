//! What a capture holds: one stream, or the answers in a file of recorded exchanges.

use std::borrow::Cow;

use crate::capture::{joined_as, unread};
use crate::cassette::{self, Broken};
use crate::commands::exchanges::{code_of, fail, is_answer, may_be_cassette};
use crate::event::Code;
use crate::pipeline::Config;
use crate::sink::{Join, Label, Ndjson};

/// The streams of a capture.
pub(in crate::commands) struct CaptureParts<'c> {
    /// Each with its name within the capture, `#N`, if that is a file of exchanges.
    streams: Vec<(Option<String>, Cow<'c, [u8]>)>,
    /// The reason why there are no more.
    broken: Option<Broken>,
}

impl<'c> CaptureParts<'c> {
    /// Returns the streams of a capture that is read so.
    pub(in crate::commands) fn of(capture: &'c [u8], config: &Config) -> Self {
        let cassette = cassette::open(capture).filter(|_| may_be_cassette(config));
        let Some(cassette) = cassette else {
            return CaptureParts { streams: vec![(None, capture.into())], broken: None };
        };
        let (mut streams, mut broken) = (Vec::new(), None);
        for exchange in cassette {
            match exchange {
                Ok(exchange) if is_answer(&exchange, config.format) => {
                    let bytes = [exchange.head(), exchange.body].concat();
                    streams.push((Some(format!("#{}", exchange.number)), bytes.into()));
                }
                Ok(_) => {}
                Err(error) => broken = Some(error),
            }
        }
        CaptureParts { streams, broken }
    }

    /// True if nothing in it is a model's: there are exchanges, and no such answer among them.
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.broken.is_none()
    }

    /// Returns each stream with its name within the capture.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.streams.iter().map(|(name, bytes)| (name.as_deref().unwrap_or_default(), &**bytes))
    }

    /// Returns the lines that `parse --join` prints of it, each with the name of its stream.
    pub(in crate::commands) fn joined(&self, config: &Config) -> String {
        let streams = self.streams.iter();
        let mut events: String =
            streams.map(|(name, bytes)| joined_as(config, &[bytes], name.as_deref())).collect();
        if let Some(broken) = &self.broken {
            let mut out = Vec::new();
            let mut sink = Join::new(Ndjson::new(&mut out, Label::default()));
            let code = code_of(broken).unwrap_or(Code::Truncated);
            // Writing to memory does not fail.
            let _ = fail(&mut sink, code, &broken.message, broken.offset);
            drop(sink);
            events.push_str(&String::from_utf8_lossy(&out));
        }
        events
    }

    /// Returns the members that no rule reads, each once.
    pub(super) fn unread(&self, config: &Config) -> Vec<String> {
        let mut all = Vec::new();
        for member in self.streams.iter().flat_map(|(_, bytes)| unread(config, bytes)) {
            if !all.contains(&member) {
                all.push(member);
            }
        }
        all
    }
}
