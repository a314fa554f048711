//! Ollama's own API, beside its row: the requests that go on after
//! an answer, its server's errors, and answers written in it.

#[cfg(feature = "cli")]
pub(super) mod reply;
pub(super) mod turn;
pub(super) mod write;
