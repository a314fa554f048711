//! What came before the message that it belongs to: it waits for the message's
//! first line.

use crate::assemble::errors::OwnedFailure;
use crate::event::{Code, Kind, Output, ProviderEvent, Warning};

/// A warning, an error or a provider's event that came too early.
pub(super) enum Early {
    Warning { code: String, message: String, offset: Option<u64> },
    Failure(OwnedFailure),
    ProviderEvent { event: Option<String>, is_json: bool, data: String },
}

impl Early {
    /// A copy, if the event is of a kind that can wait.
    pub(super) fn new(kind: &Kind<'_>) -> Option<Self> {
        match kind {
            Kind::Warning(Warning { code, message, offset, .. }) => Some(Early::Warning {
                code: (*code).to_owned(),
                message: (*message).to_owned(),
                offset: *offset,
            }),
            Kind::ProviderEvent(ProviderEvent { event, data }) => Some(Early::ProviderEvent {
                event: event.map(str::to_owned),
                is_json: matches!(data, Output::Json(_)),
                data: match data {
                    Output::Json(data) | Output::Text(data) => (*data).to_owned(),
                },
            }),
            // What ends the input has no message to wait for.
            Kind::Error(failure) if !matches!(failure.code, Code::Limit | Code::Unrecognised) => {
                Some(Early::Failure(OwnedFailure::new(*failure)))
            }
            _ => None,
        }
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let text = match self {
            Early::Warning { message, .. } => message.len(),
            Early::Failure(failure) => failure.size(),
            Early::ProviderEvent { data, .. } => data.len(),
        };
        size_of::<Self>() + text
    }

    /// The event again.
    pub(super) fn kind(&self) -> Kind<'_> {
        match self {
            Early::Warning { code, message, offset } => {
                Kind::Warning(Warning { code, message, offset: *offset, index: None })
            }
            Early::Failure(failure) => Kind::Error(failure.borrow()),
            Early::ProviderEvent { event, is_json, data } => Kind::ProviderEvent(ProviderEvent {
                event: event.as_deref(),
                data: if *is_json { Output::Json(data) } else { Output::Text(data) },
            }),
        }
    }

    /// Behind the last message, a failure needs a message of its own to be
    /// said. That the input ended inside a frame then isn't one: the message
    /// had come to its end.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Early::Failure(failure) if failure.code != Code::Truncated)
    }

    /// What is said of it behind the last message.
    pub(super) fn afterthought(&self) -> Kind<'_> {
        match self.kind() {
            Kind::Error(failure) => Kind::Warning(Warning {
                code: failure.code.name(),
                message: failure.message,
                offset: failure.offset,
                index: None,
            }),
            kind => kind,
        }
    }
}
