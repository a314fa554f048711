//! Captures: files of recorded bytes of streams, what stands beside them, and the golden files that
//! they are held to. Knows no provider but by its row.

mod difference;
mod golden;
mod rhythm;

pub(crate) use difference::{changes, unified};
pub(crate) use golden::{Filter, Golden, GoldenError, events};
pub(crate) use rhythm::{Rhythm, times_of};
