//! The loop: ask the model, run the tools that it calls, ask again.
//!
//! COMMAND is run once a round and asks the model; this program opens no connection and knows no
//! key. A round is written into the request once all of its results are there, so a crash loses a
//! round at most and never leaves a call without an answer.

mod answer;
mod approval;
mod clip;
mod echo;
mod rounds;
mod runner;
mod schema;
mod stop;
mod tools;

pub(crate) use approval::Approval;
pub(crate) use rounds::{FUNCTION_HINT, Loop, Rounds};
pub(crate) use runner::{Runner, RunnerOptions};
pub(crate) use stop::Stop;
pub(crate) use tools::Toolbox;
