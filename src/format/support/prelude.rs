//! The words in which formats are written.

pub(in crate::format) use crate::event::{
    Arguments, CallPart, Executor, FinishReason, Key, Kind, Of, Output, Piece, Reason, ToolResult,
    WarningCode,
};
pub(in crate::format) use crate::format::format::{Decoder, Format, Record};
pub(in crate::format) use crate::format::repeatable::Repeatable;
pub(in crate::format) use crate::format::support::calls::Calls;
pub(in crate::format) use crate::format::support::emit::{Done, EventOut};
pub(in crate::format) use crate::format::support::function::Function;
pub(in crate::format) use crate::format::support::lifecycle::{Lifecycle, State};
pub(in crate::format) use crate::format::support::many::{Few, Many};
pub(in crate::format) use crate::format::support::object::Object;
pub(in crate::format) use crate::format::support::payload::{
    OptionalStr, output_of, payload, read, time, word,
};
pub(in crate::format) use crate::format::support::said::hash;
pub(in crate::format) use crate::format::support::usage::{CountRule, Field, Op};
pub(in crate::format) use crate::format::support::{error, finish};
pub(in crate::format) use crate::frame::Frame;
pub(in crate::format) use crate::json::{self, RawJson, Sourced, Str};
