//! What is known of a message's end before it comes.

use crate::event::{Finish, FinishReason};

/// A [`Finish`] that is kept until the message ends.
#[derive(Clone, Debug)]
pub(super) struct OwnedFinish {
    pub(super) finish_reason: FinishReason,
    pub(super) raw: Option<String>,
    pub(super) stop_sequence: Option<String>,
    pub(super) inferred: bool,
}

impl OwnedFinish {
    /// That of a format which has none.
    pub(super) const INFERRED: OwnedFinish = OwnedFinish {
        finish_reason: FinishReason::Stop,
        raw: None,
        stop_sequence: None,
        inferred: true,
    };

    pub(super) fn new(finish: Finish<'_>) -> Self {
        OwnedFinish {
            finish_reason: finish.finish_reason,
            raw: finish.raw.map(str::to_owned),
            stop_sequence: finish.stop_sequence.map(str::to_owned),
            inferred: finish.inferred,
        }
    }
}
