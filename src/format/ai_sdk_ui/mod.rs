//! The AI SDK's UI message stream, beside its [row](crate::format::rows::ai_sdk_ui): its server's
//! errors, and answers written in it.

pub(super) mod reply;
pub(super) mod write;
