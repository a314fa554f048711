//! The rows of the built-in dialects, one file a family.

pub(crate) mod agents;
pub(crate) mod anthropic;
pub(crate) mod channels;
pub(crate) mod cohere;
pub(crate) mod deepseek;
pub(crate) mod glm;
pub(crate) mod google;
pub(crate) mod llama;
pub(crate) mod minimax;
pub(crate) mod mistral;
pub(crate) mod moonshot;
pub(crate) mod others;
pub(crate) mod qwen;
pub(crate) mod tags;
