//! The answers of a provider's server beside its streams: errors, headers, and the bytes that keep
//! a connection alive.

use crate::event::Start;
use crate::format::format::Format;

/// The row of a server.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The formats that it speaks.
    pub(crate) formats: &'static [&'static Format],
    /// The headers of its streams beside the media type.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Parts of the address of a request, and the framing that each asks for; the first part that
    /// is there counts.
    pub(crate) addresses: &'static [(&'static str, &'static str)],
    /// The provider's word for an error with this HTTP status.
    pub(crate) word: fn(status: u16) -> &'static str,
    /// The body of an error that comes in place of a stream.
    pub(crate) body: fn(&ReplyFailure<'_>) -> String,
    /// The record of an error in a stream: its name and its payload.
    pub(crate) record: fn(&ReplyFailure<'_>) -> (&'static str, String),
    /// True if that record stands in a stream of events without their framing.
    pub(crate) is_bare: bool,
    /// What it answers beside models' answers.
    pub(crate) asides: &'static [Aside],
    /// The record that keeps a stream alive, if there is one: its name and its payload.
    pub(crate) idle: Option<(&'static str, &'static str)>,
}

/// An answer that is no model's.
#[derive(Debug)]
pub(crate) struct Aside {
    /// The method of the request.
    pub(crate) method: &'static str,
    /// The end of its path.
    pub(crate) path: &'static str,
    /// The body.
    pub(crate) body: fn(&Known<'_>) -> String,
}

/// What a server knows that is asked for beside models' answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// The name of its only model.
    pub(crate) model: &'a str,
    /// The number of tokens of a request.
    pub(crate) input_tokens: u64,
}

/// An error to be reported as a provider reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyFailure<'a> {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The provider's word.
    pub(crate) word: &'a str,
    /// A sentence for people.
    pub(crate) message: &'a str,
    /// The number of records before it.
    pub(crate) records: usize,
    /// The message that fails.
    pub(crate) start: Start<'a>,
}

/// The errors that a server may be asked to report: the HTTP status, a word for it, and a sentence.
const FAILURES: &[(u16, &str, &str)] = &[
    (400, "invalid_request", "The request is invalid."),
    (401, "authentication", "The key is not valid."),
    (403, "permission", "The key may not do this."),
    (404, "not_found", "There is no such model."),
    (413, "too_large", "The request is too large."),
    (429, "rate_limit", "There were too many requests."),
    (500, "server_error", "The server failed."),
    (503, "unavailable", "The service is not available."),
    (504, "timeout", "The server took too long."),
    (529, "overloaded", "Overloaded."),
];

impl Reply {
    /// Returns the HTTP status of an error's code: a status, our word, or the provider's. An error
    /// lists the words.
    pub(crate) fn status(&self, code: &str) -> Result<u16, String> {
        let is_it =
            |(status, word, _): &&(u16, &str, &str)| *word == code || (self.word)(*status) == code;
        let known = FAILURES.iter().find(is_it).map(|(status, ..)| *status);
        let status = || code.parse().ok().filter(|status| (400..600).contains(status));
        known.or_else(status).ok_or_else(|| {
            let words: Vec<&str> = FAILURES.iter().map(|(_, word, _)| *word).collect();
            format!(
                "{code} is no code of an error: one is a status from 400 to 599, or {}",
                words.join(", ")
            )
        })
    }

    /// Returns the error with this HTTP status, which comes after so many records.
    pub(crate) fn failure(&self, status: u16, records: usize) -> ReplyFailure<'static> {
        let known = FAILURES.iter().find(|(known, ..)| *known == status);
        let message = known.map_or("The request failed.", |(_, _, message)| message);
        ReplyFailure {
            status,
            word: (self.word)(status),
            message,
            records,
            start: Start::default(),
        }
    }
}
