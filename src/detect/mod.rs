//! Layers that choose their own row: [`AutoFramer`] is a framer and
//! [`AutoDecoder`] a decoder. Each keeps the head of its input until one row
//! says yes, replays it, and is a pass-through from then on. Nobody else knows
//! that detection exists.

mod decoder;
mod explain;
mod framer;
mod reject;

pub(crate) use decoder::AutoDecoder;
pub use explain::{Verdict, explain};
pub use framer::AutoFramer;

/// How much of the input detection may hold back, in bytes.
pub(crate) const WINDOW: usize = 64 << 10;
