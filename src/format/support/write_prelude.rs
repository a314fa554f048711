//! The words in which encoders are written.

pub(in crate::format) use crate::event::{
    ByChoice, CallInput, Failure, Finish, FinishReason, Output, Reasoning, Start, ToolCall,
    ToolCallDelta, ToolCallStart, ToolResult, Usage,
};
pub(in crate::format) use crate::format::support::writing::{
    calls, error_message, error_type, error_word, input_object, texts, texts_of_parts, timestamp,
};
pub(in crate::format) use crate::format::write::{
    BlockKind, Carry, Encoder, Info, Message, Part, RecordEnvelope, Records, TextBlock, Writing,
};
pub(in crate::format) use crate::json::{
    self, KnownCounts, Line, ListOf, Minified, OrNull, members, object_of,
};
