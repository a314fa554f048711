//! Formats as rows in the language of [`spec`](crate::format::spec): one file a provider.

pub(super) mod cohere;
pub(super) mod ollama;
