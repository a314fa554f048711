//! Captures: files of recorded bytes of streams, and what stands beside them. Knows no provider
//! but by its row.

mod rhythm;

pub(crate) use rhythm::{Rhythm, times_of};
