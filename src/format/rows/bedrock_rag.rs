//! Amazon Bedrock's knowledge bases: the events of RetrieveAndGenerateStream, and the body of
//! RetrieveAndGenerate.
//!
//! Source: Amazon Bedrock API reference, "RetrieveAndGenerateStream" and "RetrieveAndGenerate". The
//! stream has no event for its end, and the body no reason: both end as they stop.

use crate::event::FinishReason;
use crate::format::rows::prelude::*;

/// Others have events of these names in other framings.
pub(in crate::format) static FORMAT: Format = Format {
    sniff: |record| record.has_headers || record.event_type.is_empty(),
    ..Format::of(&SPEC)
};

static SPEC: Spec = Spec {
    name: "bedrock-rag",
    aliases: &["retrieve-and-generate"],
    about: "Amazon Bedrock RetrieveAndGenerate, stream and body",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_RetrieveAndGenerateStream.html",
    evidence: &["text", "citation", "output.text", "sessionId"],
    kind: &["event:"],
    start: Start { id: "sessionId", ..Start::NEW },
    finish_words: &[("INTERVENED", FinishReason::ContentFilter)],
    on: &[
        Rule { kind: "output", has: &["text"], text: "text", stop: true, ..Rule::NEW },
        Rule {
            kind: "citation",
            has: &["citation|generatedResponsePart|retrievedReferences"],
            block: Some(Block::of("'citation'", "citation|.")),
            stop: true,
            ..Rule::NEW
        },
        Rule {
            kind: "guardrail",
            is: &[("action", "INTERVENED")],
            finish: "action",
            stop: true,
            ..Rule::NEW
        },
        Rule { kind: "guardrail", has: &["action"], stop: true, ..Rule::NEW },
        Rule { is: &[("guardrailAction", "INTERVENED")], finish: "guardrailAction", ..BODY },
        BODY,
    ],
    ..Spec::NEW
};

const BODY: Rule = Rule {
    kind: "",
    has: &["output.text", "sessionId"],
    text: "output.text",
    block: Some(Block::of("'citation'", "citations")),
    stop: true,
    end: End::Yes,
    ..Rule::NEW
};
