//! Ollama's own API, beside its row: the requests that go on after
//! an answer, and answers written in it.

pub(super) mod turn;
pub(super) mod write;
