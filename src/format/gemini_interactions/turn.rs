//! The next request of the Interactions API, for a server that is not asked by the id of the last
//! one: the steps as they came, and a step for each result.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

static SHAPE: Shape = Shape {
    name: "gemini-interactions",
    marks: &[
        "generation_config",
        "agent",
        "previous_interaction_id",
        "input.*.type=user_input",
        "input.*.content.*.type=function_result",
    ],
};

pub(in crate::format) static REQUEST: Request = Request {
    list: "input",
    shape: &SHAPE,
    endpoints: &["/interactions"],
    by_id: Some("previous_interaction_id"),
    add,
    finish,
    fit: |_, append| append,
    is_answer: |step| match Object::new(step).word("type") {
        Some(kind) => kind != "user_input" && kind != "function_result",
        None => is_answer(step),
    },
    calls,
    results: |answers| answers.iter().map(result).collect(),
    user: |text| {
        object_of!(line;
            "type": "user_input", "content": [{ "type": "text", "text": text }],
        )
    },
    system: System::text(&["system_instruction"]),
    new: r#"{"model":"","input":[],"stream":true}"#,
    tools: |tools| {
        let declare = |mut draft: Draft| {
            draft.set_first("type", "\"function\"");
            draft.json()
        };
        ("tools", array(declarations(tools, "parameters").into_iter().map(declare)))
    },
    choice: Some(&ToolChoice {
        paths: &["generation_config.tool_choice"],
        relax: |json| match json::string(json).as_deref() {
            Some("validated") => None,
            _ => chat::relax(json),
        },
        none: Some("\"none\""),
    }),
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    let step = turn.objects.at(of, piece);
    match step.is_empty() {
        true => *step = Draft::new(piece.json),
        false => add_delta(step, &Draft::new(piece.json)),
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut steps = turn.take(ending);
    for step in &mut steps {
        if step.get("signature") == Some("\"\"") {
            step.remove("signature");
        }
        if step.get("arguments").is_some() {
            step.set_object("arguments");
        }
    }
    let is_thought = |step: &Draft| step.text("type").as_deref() == Some("thought");
    if steps.iter().all(is_thought) {
        return Err(no_content(ending));
    }
    Ok(Appended { append: steps.iter().map(Draft::json).collect(), set: Vec::new() })
}

/// Adds a delta to a step.
fn add_delta(step: &mut Draft, delta: &Draft) {
    let is_output = step.text("type").as_deref() == Some("model_output");
    match delta.text("type").as_deref() {
        // A piece of a message is one of the list of its pieces.
        Some("text" | "text_delta") if is_output => {
            let text = delta.get("text").unwrap_or("null");
            step.inside_list("content", |content| {
                match content.last_mut().filter(|last| last.has("text")) {
                    Some(last) => last.join("text", text),
                    None => content.push(Draft::of(&[("type", "\"text\""), ("text", text)])),
                }
            });
        }
        Some("thought_summary") => {
            let piece = delta.get("content").unwrap_or("null");
            step.join("summary", &array([piece.to_owned()]));
        }
        Some(kind) if is_output => {
            let mut piece = delta.clone();
            piece.set_first("type", json::quote(kind));
            step.inside_list("content", |content| content.push(piece));
        }
        _ => {
            for (key, json) in delta.members().filter(|(key, _)| *key != "type") {
                if key != "arguments" || !is_blank(&json) {
                    step.join(key, &json);
                }
            }
        }
    }
}

fn calls(append: &[String]) -> Vec<NativeCall> {
    let calls = append.iter().map(|json| Object::new(json));
    let calls = calls.filter(|step| step.word("type").as_deref() == Some("function_call"));
    calls.map(|step| function(&step, "id", "name")).collect()
}

fn result(answer: &Answer<'_>) -> String {
    let result = match answer.output {
        Output::Json(json) if json.trim_ascii_start().starts_with('{') => json::minify(json),
        output => json::quote(&given(output).text()),
    };
    object_of!(
        line;
        "type": "function_result",
        "call_id": answer.call.id.as_deref().unwrap_or_default(),
        "name": &*answer.call.name,
        "result": AsIs(&result),
        "is_error": answer.is_error.then_some(true),
    )
}
