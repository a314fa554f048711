//! The AI SDK's UI message stream, beside its row: answers
//! written in it.

pub(super) mod write;
