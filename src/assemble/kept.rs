//! What is known of a message's end before it comes.

use crate::event::{Code, Failure, Finish, FinishReason, Output};

/// A [`Finish`] that is kept until the message ends.
#[derive(Clone, Debug)]
pub(super) struct OwnedFinish {
    pub(super) finish_reason: FinishReason,
    pub(super) raw: Option<String>,
    pub(super) stop_sequence: Option<String>,
    pub(super) inferred: bool,
}

impl OwnedFinish {
    /// That of a format which has none.
    pub(super) const INFERRED: OwnedFinish = OwnedFinish {
        finish_reason: FinishReason::Stop,
        raw: None,
        stop_sequence: None,
        inferred: true,
    };

    pub(super) fn new(finish: Finish<'_>) -> Self {
        OwnedFinish {
            finish_reason: finish.finish_reason,
            raw: finish.raw.map(str::to_owned),
            stop_sequence: finish.stop_sequence.map(str::to_owned),
            inferred: finish.inferred,
        }
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

    /// Whether it is a bare status, without the provider's words.
    pub(super) fn is_bare(&self) -> bool {
        self.code == Code::Provider && self.raw.is_none()
    }

    /// Adds the provider's words to a bare status.
    pub(super) fn complete(&mut self, failure: Failure<'_>) {
        if failure.code != Code::Provider {
            return;
        }
        let later = OwnedFailure::new(failure);
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

/// Which of two errors a message ends with: the one of the higher rank.
pub(super) fn rank(code: Code) -> u8 {
    match code {
        Code::Limit => 5,
        Code::Interrupted => 4,
        Code::Provider => 3,
        Code::Truncated => 2,
        Code::Malformed | Code::Unrecognised => 1,
    }
}
