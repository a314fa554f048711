//! Captures: files of recorded bytes of streams, what stands beside them, and the golden files that
//! they are held to. Knows no provider but by its row.
//!
//! A [`Capture`] is what is known of a file that is played, its [`Rhythm`] when its bytes came, and
//! a [`Plan`] what is written of it when. A [`Server`] says which of several answers a request.

mod answer;
mod dice;
mod difference;
mod file;
mod filter;
mod golden;
mod held;
mod laws;
mod redaction;
mod replay;
mod rhythm;
mod server;
mod shrink;
mod tape;
mod unread;

pub(crate) use answer::{AnswerBody, PlayedAnswer};
pub use dice::Dice;
pub(crate) use difference::{Diff, shorten};
pub(crate) use file::Capture;
pub(crate) use filter::{Compared, Filter, kind};
pub(crate) use golden::{Golden, GoldenError, GoldenFile, GoldenHead, joined, joined_as};
pub use laws::{Excuse, other_lines, prefix_of, without_offsets};
pub(crate) use laws::{LAWS, Law, ReadWith};
pub(crate) use redaction::{Redactor, Replaced};
pub(crate) use replay::{CapturePlace, Plan, Play, PlayChunk, PlayFailure, Tempo};
pub(crate) use rhythm::{Rhythm, times_of};
pub(crate) use server::{By, Server, failure, log_line};
pub use shrink::{Split, shrink, stretch, stretches};
pub(crate) use tape::Tape;
pub(crate) use unread::unread;
