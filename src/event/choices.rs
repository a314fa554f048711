//! The limit on the choices of a message. An index costs nothing, but what is
//! known of each choice does.

use std::collections::BTreeMap;

use crate::event::{Code, Failure};

/// The most choices of one message; OpenAI's `n` is at most 128.
const MAX_CHOICES: usize = 1024;

/// The error that ends a message with more of them.
pub(crate) const TOO_MANY_CHOICES: Failure<'_> = Failure {
    code: Code::Limit,
    message: "more than 1024 choices in one message",
    offset: None,
    provider_code: None,
    status: None,
    retryable: None,
    raw: None,
};

/// True if this choice would be one more than there may be.
pub(crate) fn is_too_many<T>(known: &BTreeMap<u64, T>, choice: u64) -> bool {
    known.len() >= MAX_CHOICES && !known.contains_key(&choice)
}
