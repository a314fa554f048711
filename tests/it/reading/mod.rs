//! What is read: dialects, what stands around a stream, rows, and whether others read the same.

/// Every row of the dialects, tried with what its own fixture shows.
pub(crate) mod dialects;
/// Where others have written a reader of the same thing, it agrees.
pub(crate) mod differential;
/// What local programs print around a model's words.
pub(crate) mod dressing;
/// Lines of other programs before a stream.
pub(crate) mod leading;
/// `classify --rows`.
pub(crate) mod rows;
/// Fixtures of dialects, joined and spliced.
pub(crate) mod splice;
/// Beginnings of inputs, one after another, cut at every byte.
pub(crate) mod spliced;
/// Random records that repeat the last one.
pub(crate) mod templates;
/// Every warning code comes in some answer.
pub(crate) mod warnings;
