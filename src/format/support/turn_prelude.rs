//! The words in which turns are written.

pub(in crate::format) use crate::event::{Of, Output, Piece};
pub(in crate::format) use crate::format::support::answers::{
    AnswerBlock, GivenAnswer, calls_in, declarations, function, functions, given, is_answer,
    is_typed, message_of, plain, user,
};
pub(in crate::format) use crate::format::support::draft::{Draft, is_blank};
pub(in crate::format) use crate::format::support::object::Object;
pub(in crate::format) use crate::format::turn::{
    Answer, Appended, Ending, Incomplete, NativeCall, Request, Shape, System, ToolChoice,
    TurnDraft, no_content,
};
pub(in crate::format) use crate::json::{self, AsIs, array, object_of};
