//! The words in which formats are written.

pub(in crate::format) use crate::format::format::{Decoder, Format, Record};
pub(in crate::format) use crate::format::support::calls::Calls;
pub(in crate::format) use crate::format::support::emit::{Done, EventOut};
pub(in crate::format) use crate::format::support::error;
pub(in crate::format) use crate::format::support::lifecycle::{Lifecycle, State};
pub(in crate::format) use crate::format::support::object::Object;
pub(in crate::format) use crate::format::support::payload::{OptionalStr, payload, read};
pub(in crate::format) use crate::format::support::usage::{Field, Op, Row};
pub(in crate::format) use crate::frame::Frame;
pub(in crate::format) use crate::json;
pub(in crate::format) use crate::json::Str;
