//! Memory, hostile and random input, signals, pipes, full disks.

/// What text and calls in text allocate.
pub(crate) mod allocations;
/// Memory on streams without end.
pub(crate) mod bounds;
/// What fuzzing has found and kept goes through its target again.
pub(crate) mod corpus;
/// The instructions that streams take.
pub(crate) mod counts;
/// Signals, deadlines and full disks, in every state.
pub(crate) mod endings;
/// Every read and every write fails once.
pub(crate) mod faults;
/// Inputs that are larger or deeper than anyone has a reason to send.
pub(crate) mod hostile;
/// Records of the fixtures that never repeat take no memory.
pub(crate) mod piles;
/// Pipes, signals, and output that can't be written.
pub(crate) mod pipes;
/// The laws of the output, over random input.
pub(crate) mod random;
