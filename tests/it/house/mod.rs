//! Order in the house: who uses whom, names, rows, what is given away.

/// What is given away, installed.
pub(crate) mod dist;
/// Who uses whom in `src`.
pub(crate) mod imports;
/// What the library makes public.
mod public;
/// What reviewers would repeat: rows, files, fixtures, imports, lines.
pub(crate) mod tidy;
