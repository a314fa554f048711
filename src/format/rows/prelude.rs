//! The words in which rows are written.

pub(super) use crate::event::WarningCode;
pub(super) use crate::format::format::Format;
pub(super) use crate::format::spec::{
    Begin, Block, Call, Detect, Done, End, Failure, Group, Hook, Log, Outcome, Rule, Spec, Start,
    Warn, Weak,
};
pub(super) use crate::format::support::usage::{Field, Op, Row};
