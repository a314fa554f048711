//! What went wrong in one message. One error is its last line; the others are
//! warnings, so that none is lost.

use std::{io, mem};

use crate::assemble::Out;
use crate::event::{Code, Failure, Kind, Output, ProviderEvent, Warning};

#[derive(Default)]
pub(super) struct Failures {
    /// What the message will end with.
    last: Option<OwnedFailure>,
    /// The input ended inside a frame: an error, unless the message had ended.
    tail: Option<OwnedFailure>,
}

impl Failures {
    /// Takes an error; tells whether nothing more can be read. The worst one
    /// counts, of equals the first, but a provider's words are worth more than a
    /// bare status.
    pub(super) fn feed(&mut self, failure: Failure<'_>, out: &mut Out<'_, '_>) -> io::Result<bool> {
        let later = OwnedFailure::new(failure);
        match failure.code {
            Code::Malformed => tell(failure, out)?,
            Code::Truncated => {
                self.tail = Some(later);
                return Ok(false);
            }
            _ => {}
        }
        match &mut self.last {
            Some(last) if last.is_bare() && later.code == Code::Provider => last.complete(later),
            Some(last) => {
                let is_worse = rank(later.code) > rank(last.code);
                let other = if is_worse { mem::replace(last, later) } else { later };
                tell_beside(last, &other, out)?;
            }
            None => self.last = Some(later),
        }
        Ok(matches!(failure.code, Code::Limit | Code::Unrecognised))
    }

    /// What the message ends with, if it doesn't end well. `cut` is why, if it
    /// has not come to its own end.
    pub(super) fn finish(
        &mut self,
        cut: Option<Failure<'_>>,
        out: &mut Out<'_, '_>,
    ) -> io::Result<Option<OwnedFailure>> {
        let (last, tail) = (self.last.take(), self.tail.take());
        let is_worst =
            |cut: &Failure<'_>| last.as_ref().is_none_or(|last| rank(cut.code) > rank(last.code));
        let Some(cut) = cut.filter(is_worst) else {
            // Bytes may be missing behind the message's end, or behind its error.
            if let Some(tail) = tail {
                tell(tail.borrow(), out)?;
            }
            return Ok(last);
        };
        let cut = tail.unwrap_or_else(|| OwnedFailure::new(cut));
        if let Some(last) = last {
            tell_beside(&cut, &last, out)?;
        }
        Ok(Some(cut))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Whether bytes are missing at the end of the input.
    pub(super) fn is_cut(&self) -> bool {
        self.tail.is_some()
    }
}

fn tell(failure: Failure<'_>, out: &mut Out<'_, '_>) -> io::Result<()> {
    let Failure { code, message, offset, raw, .. } = failure;
    out.emit(Kind::Warning(Warning { code: code.name(), message, offset, index: None }))?;
    match raw {
        Some(data) if out.options.raw => {
            out.emit(Kind::ProviderEvent(ProviderEvent { event: None, data }))
        }
        _ => Ok(()),
    }
}

/// Tells of an error that the message doesn't end with, unless that has been
/// done, or the one that it ends with says the same.
fn tell_beside(last: &OwnedFailure, other: &OwnedFailure, out: &mut Out<'_, '_>) -> io::Result<()> {
    let is_told = other.code == Code::Malformed || other.message == last.message;
    if is_told { Ok(()) } else { tell(other.borrow(), out) }
}

/// Which of two errors a message ends with: the one of the higher rank.
fn rank(code: Code) -> u8 {
    match code {
        Code::Limit => 5,
        Code::Interrupted => 4,
        Code::Provider => 3,
        Code::Truncated => 2,
        Code::Malformed | Code::Unrecognised => 1,
    }
}

/// A [`Failure`] that is kept until the message ends.
#[derive(Clone, Debug)]
pub(super) struct OwnedFailure {
    pub(super) code: Code,
    message: String,
    offset: Option<u64>,
    provider_code: Option<String>,
    retryable: Option<bool>,
    raw: Option<(bool, String)>,
}

impl OwnedFailure {
    pub(super) fn new(failure: Failure<'_>) -> Self {
        OwnedFailure {
            code: failure.code,
            message: failure.message.to_owned(),
            offset: failure.offset,
            provider_code: failure.provider_code.map(str::to_owned),
            retryable: failure.retryable,
            raw: failure.raw.map(|raw| match raw {
                Output::Text(text) => (false, text.to_owned()),
                Output::Json(json) => (true, json.to_owned()),
            }),
        }
    }

    /// How many bytes its texts take.
    pub(super) fn size(&self) -> usize {
        self.message.len() + self.raw.as_ref().map_or(0, |(_, raw)| raw.len())
    }

    /// Whether it is a bare status, without the provider's words.
    fn is_bare(&self) -> bool {
        self.code == Code::Provider && self.raw.is_none()
    }

    /// Adds the provider's words to a bare status.
    fn complete(&mut self, later: OwnedFailure) {
        self.message = later.message;
        self.raw = later.raw;
        self.retryable = later.retryable.or(self.retryable);
        self.provider_code = later.provider_code.or(self.provider_code.take());
    }

    pub(super) fn borrow(&self) -> Failure<'_> {
        Failure {
            code: self.code,
            message: &self.message,
            offset: self.offset,
            provider_code: self.provider_code.as_deref(),
            retryable: self.retryable,
            raw: self.raw.as_ref().map(|(is_json, text)| match is_json {
                true => Output::Json(text),
                false => Output::Text(text),
            }),
        }
    }
}
