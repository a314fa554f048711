//! Formats as rows in the language of [`spec`](crate::format::spec): one file a provider.

pub(super) mod ag_ui;
pub(super) mod ai21_j2;
pub(super) mod ai_sdk_data;
pub(super) mod ai_sdk_ui;
pub(super) mod anthropic_completions;
pub(super) mod bedrock_converse;
pub(super) mod bedrock_llama;
pub(super) mod bedrock_mistral;
pub(super) mod bedrock_rag;
pub(super) mod bedrock_titan;
pub(super) mod cohere;
pub(super) mod cohere_v1;
pub(super) mod dashscope;
pub(super) mod llama_completion;
pub(super) mod mistral_conversations;
pub(super) mod ollama;
pub(super) mod openai_assistants;
pub(super) mod openai_completions;
mod prelude;
pub(super) mod replicate;
pub(super) mod tgi;
pub(super) mod watsonx;
pub(super) mod writer_completions;
