//! The next request of InvokeModel: that of the format inside.

use crate::format::anthropic::turn as anthropic;
use crate::format::bedrock_converse::turn as converse;
use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

/// Anthropic's, but for the calls of models that have none of its blocks.
pub(super) static REQUEST: Request = Request {
    // The body is that of the model's own provider.
    shape: Shape::ANY,
    // The pieces come after the name of the format inside, whose request then counts.
    add: |_, _, _| {},
    finish: |_, ending| Err(no_content(ending)),
    calls,
    results,
    new: r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":8192,"messages":[]}"#,
    ..anthropic::REQUEST
};

/// The requests of the models on Bedrock that call tools.
static INNER: [&Request; 3] = [&anthropic::REQUEST, &converse::REQUEST, &chat::REQUEST];

fn calls(append: &[String]) -> Vec<NativeCall> {
    INNER
        .iter()
        .map(|request| (request.calls)(append))
        .find(|calls| !calls.is_empty())
        .unwrap_or_default()
}

fn results(answers: &[Answer<'_>]) -> Vec<String> {
    let first = answers.first().map_or("", |answer| answer.call.json.as_str());
    let call = Object::new(first);
    let request = match (call.get("toolUseId"), call.get("function")) {
        (Some(_), _) => &converse::REQUEST,
        (_, Some(_)) => &chat::REQUEST,
        _ => &anthropic::REQUEST,
    };
    (request.results)(answers)
}
