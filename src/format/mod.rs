//! Wire formats: frames in, events out. Knows nothing of framing, dialects or
//! output.
//!
//! A format is a row in `rows`, in the language of `spec`, which the one `machine`
//! decodes. What no row says so far is one file or one folder: its [`Format`], the
//! structs that are the table of its fields, and its own [`Decoder`]. Every field is
//! optional; what a decoder doesn't name it doesn't pay for. What several formats
//! share is in `support`.

mod acp;
mod ai_sdk_ui;
mod anthropic;
mod bedrock_agent;
mod bedrock_converse;
mod bedrock_invoke;
mod check;
mod claude_code;
mod cohere;
pub(crate) mod error;
mod events;
// The file of the central type has the name of the room.
#[allow(clippy::module_inception)]
pub(crate) mod format;
mod gemini;
mod gemini_interactions;
mod load;
mod machine;
mod named;
mod ollama;
mod openai_chat;
mod openai_messages;
mod openai_responses;
mod otel;
#[cfg(feature = "cli")]
mod overlap;
mod place;
pub(crate) mod repeatable;
#[cfg(feature = "cli")]
mod replies;
#[cfg(feature = "cli")]
mod reply;
mod rows;
mod spec;
pub(crate) mod support;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod turn;
pub(crate) mod write;

pub use crate::json::{FieldKey, FromJson, Line, ReadError, Reader};
pub use crate::row_error::RowError;
pub use format::{Decoder, Format, FormatDecoder, Record};
#[cfg(feature = "cli")]
pub(crate) use load::open;
pub use load::{choose, load};
pub use repeatable::Repeatable;
#[cfg(feature = "cli")]
pub(crate) use replies::{aside, reply_of};
#[cfg(feature = "cli")]
pub(crate) use reply::{Known, Reply, ReplyFailure};
pub use spec::Row;
pub use support::emit::{Done, EventOut};
pub(crate) use support::finish::normalise;
pub use support::payload::{Payload, payload, read_records as read};
pub(crate) use table::is_own;
pub use table::{FORMATS, find};
pub use turn::{
    Answer, Appended, Declaration, Ending, Incomplete, NativeCall, Request, ToolChoice, TurnDraft,
};
pub use write::{
    BlockKind, Carry, Encoder, Info, Losses, Message, RecordEnvelope, Records, TextBlock, Writing,
};
