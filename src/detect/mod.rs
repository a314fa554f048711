//! Layers that choose their own row: [`AutoFramer`] is a framer and
//! [`AutoDecoder`] a decoder. Each buffers the head of its input until one row
//! says yes, feeds it the buffer, and passes everything on from then on.

mod decoder;
#[cfg(feature = "cli")]
mod explain;
mod formats;
mod framer;
mod leading;
mod record;
mod reject;
mod stray;

pub(crate) use decoder::AutoDecoder;
#[cfg(feature = "cli")]
pub(crate) use explain::explain_of;
#[cfg(feature = "cli")]
pub use explain::{Verdict, explain};
pub(crate) use formats::KnownFormats;
pub use framer::AutoFramer;
#[cfg(feature = "cli")]
pub(crate) use framer::offsets;

/// The most bytes of the input that detection buffers.
pub(crate) const WINDOW: usize = 64 << 10;
