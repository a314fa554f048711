//! The next request: REQUEST's own bytes, grown by an answer and the results of its calls.
//!
//! [`LastMessage`] gathers what the events say of the answer; [`verdict`] decides what becomes of it;
//! [`grow`] splices. Knows nothing of providers but their rows, and runs nothing.

mod body;
mod grow;
mod message;
mod results;
mod written;

pub(crate) use body::RequestBody;
pub(crate) use grow::{
    Fate, GrowthOptions, Refused, add_system, add_user, assign, check_end, declare, forbid_calls,
    grow, guess, new, row, unanswered, verdict,
};
pub(crate) use message::{CallResult, LastMessage, MessageEnding, PendingCall, config};
pub(crate) use results::read as read_results;
