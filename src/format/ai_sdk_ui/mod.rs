//! The AI SDK's UI message stream, beside its row: its server's
//! errors, and answers written in it.

#[cfg(feature = "cli")]
pub(super) mod reply;
pub(super) mod write;
