//! The loop of an agent, and the scripts of the guide.

/// The loop of an agent.
pub(crate) mod agent;
/// The request after an answer.
pub(crate) mod next;
/// Answers in a format of the user's own.
pub(crate) mod own_format;
/// Folders with a request, answers and tools.
pub(crate) mod scene;
/// The shell scripts of the guide.
pub(crate) mod scripts;
/// The guide's recipes, with curl.
pub(crate) mod served;
/// What a request grows by, provider by provider.
pub(crate) mod turn;
