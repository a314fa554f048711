//! Bedrock's Converse API, beside its row: the requests
//! that go on after an answer, and its server's errors.

#[cfg(feature = "cli")]
pub(super) mod reply;
pub(super) mod turn;
