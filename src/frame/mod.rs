//! Framing: bytes in, frames out. Knows nothing of JSON's meaning or of
//! providers.
//!
//! A framer takes bytes as they were read, cut anywhere, and hands on each
//! frame when its last byte has come. What it cannot frame it reports as a
//! [`Fault`], and goes on after it where that is possible.

mod event_stream;
mod event_stream_base64;
mod framer;
mod header;
pub(crate) mod http;
mod json;
mod leading;
mod ndjson;
mod sse;
mod table;
mod text;

#[cfg(feature = "cli")]
pub(crate) use framer::without_mark;
pub(crate) use framer::{BYTE_ORDER_MARK, is_begun_mark, lossy, skip_blank};
pub use framer::{
    Content, Fault, FaultKind, Frame, FrameConfig, FrameEnvelope, FrameOut, Framed, Framer,
    Framing, Holds, Sniff,
};
pub use header::{Header, HeaderValue};
pub(crate) use leading::{Leading, is_of_log, leading};
pub(crate) use table::NDJSON;
pub use table::{FRAMINGS, find};
