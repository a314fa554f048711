//! What a server answers: a capture that is played, or a text.

use std::sync::Arc;

use crate::capture::replay::Plan;

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct PlayedAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: AnswerBody,
    /// The capture that it is made of.
    pub(crate) file: Option<String>,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum AnswerBody {
    Played(Arc<Plan>),
    Whole(String),
}
