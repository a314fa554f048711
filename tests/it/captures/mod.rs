//! Captures: kept, played, converted, held to golden files.

/// Files of recorded exchanges.
pub(crate) mod cassettes;
/// Captures against their golden files.
pub(crate) mod check;
/// Streams of other providers, written.
pub(crate) mod convert;
/// Captures that are played over HTTP.
pub(crate) mod listening;
/// Streams that are kept with their rhythm, and played.
pub(crate) mod recording;
