//! Helpers that several formats share.

pub(crate) mod action;
pub(crate) mod answers;
pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod draft;
pub(crate) mod emit;
pub(crate) mod error;
pub(crate) mod finish;
pub(crate) mod function;
pub(crate) mod lifecycle;
pub(crate) mod many;
pub(crate) mod misnamed;
pub(crate) mod object;
pub(crate) mod payload;
pub(crate) mod prelude;
mod repair;
pub(crate) mod said;
pub(crate) mod turn_prelude;
pub(crate) mod usage;
pub(crate) mod write_prelude;
pub(crate) mod writing;
