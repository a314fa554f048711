//! Cohere's Chat API, version 2, beside its row: the requests that
//! go on after an answer.

pub(super) mod turn;
