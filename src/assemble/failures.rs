//! The errors of one message. One error is its last line; the others are
//! warnings, so that none is lost.

use std::{io, mem};

use crate::assemble::context::{ChoiceOut, OwnedFailure};
use crate::event::owned::Owned;
use crate::event::{Code, Done, Failure, Kind, ProviderEvent, Warning, WarningCode};

#[derive(Default)]
pub(super) struct Failures {
    /// The error that the message will end with.
    last: Option<OwnedFailure>,
    /// The input ended inside a frame: an error, unless the message had ended.
    tail: Option<OwnedFailure>,
}

impl Failures {
    /// Adds an error; returns true if nothing more can be read after it. The
    /// worst one counts, of equals the first, but a provider's words are worth
    /// more than a bare status.
    pub(super) fn feed(
        &mut self,
        failure: Failure<'_>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> io::Result<bool> {
        match failure.code {
            Code::Malformed => warn(failure, out)?,
            Code::Truncated => {
                self.tail = Some(Owned::new(failure));
                return Ok(false);
            }
            _ => {}
        }
        match &mut self.last {
            Some(last) if is_bare(last.get()) && failure.code == Code::Provider => {
                *last = Owned::new(with_words(last.get(), failure));
            }
            Some(last) => {
                let later = Owned::new(failure);
                let is_worse = rank(failure.code) > rank(last.get().code);
                let other = if is_worse { mem::replace(last, later) } else { later };
                warn_beside(last.get(), other.get(), out)?;
            }
            None => self.last = Some(Owned::new(failure)),
        }
        Ok(matches!(failure.code, Code::Limit | Code::Unrecognised))
    }

    /// Returns the error that the message ends with, if it doesn't end well.
    /// `cut` is the reason if it has not come to its own end.
    pub(super) fn finish(
        &mut self,
        cut: Option<Failure<'_>>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> io::Result<Option<OwnedFailure>> {
        let (last, tail) = (self.last.take(), self.tail.take());
        let is_worst = |cut: &Failure<'_>| {
            last.as_ref().is_none_or(|last| rank(cut.code) > rank(last.get().code))
        };
        let Some(cut) = cut.filter(is_worst) else {
            // Bytes may be missing after the message's end, or after its error.
            if let Some(tail) = tail {
                warn(tail.get(), out)?;
            }
            return Ok(last);
        };
        let cut = tail.unwrap_or_else(|| Owned::new(cut));
        if let Some(last) = last {
            warn_beside(cut.get(), last.get(), out)?;
        }
        Ok(Some(cut))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// True if bytes are missing at the end of the input.
    pub(super) fn is_cut(&self) -> bool {
        self.tail.is_some()
    }
}

/// Emits an error that the message does not end with as a warning.
fn warn(failure: Failure<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
    let Failure { code, message, offset, raw, .. } = failure;
    let Some(code) = WarningCode::of_error(code) else { return Ok(()) };
    out.emit(Kind::Warning(Warning { code, message, offset, index: None }))?;
    match raw {
        Some(data) if out.config().raw => {
            out.emit(Kind::ProviderEvent(ProviderEvent { event: None, data }))
        }
        _ => Ok(()),
    }
}

/// Emits `other` as a warning, unless that has been done, or the message ends
/// with an error of the same message.
fn warn_beside(last: Failure<'_>, other: Failure<'_>, out: &mut ChoiceOut<'_, '_>) -> Done {
    let is_known = other.code == Code::Malformed || other.message == last.message;
    if is_known { Ok(()) } else { warn(other, out) }
}

/// Returns which of two errors a message ends with: the one of the higher rank.
fn rank(code: Code) -> u8 {
    match code {
        Code::Limit => 5,
        Code::Interrupted => 4,
        Code::Provider => 3,
        Code::Truncated => 2,
        Code::Malformed | Code::Unrecognised => 1,
    }
}

/// True for a bare status, without the provider's words.
fn is_bare(failure: Failure<'_>) -> bool {
    failure.code == Code::Provider && failure.raw.is_none()
}

/// Returns a bare status with the provider's words added to it.
fn with_words<'a>(status: Failure<'a>, words: Failure<'a>) -> Failure<'a> {
    Failure {
        message: words.message,
        raw: words.raw,
        retryable: words.retryable.or(status.retryable),
        provider_code: words.provider_code.or(status.provider_code),
        status: words.status.or(status.status),
        ..status
    }
}
