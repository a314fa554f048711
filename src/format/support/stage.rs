//! How far a message has come, where its end isn't the last that comes of it.

/// How far a decoder's message has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// None has begun, or the last one has ended.
    #[default]
    Closed,
    /// It has begun.
    Open,
    /// It has a reason to stop; its end, or what it cost, is still missing.
    Stopped,
    /// The provider reported an error.
    Failed,
}
