//! The next request of the Messages API: the assistant's blocks as they came, and one message of
//! the user's with all results.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

static SHAPE: Shape = Shape {
    name: "anthropic",
    marks: &[
        "anthropic_version",
        "system",
        "system.*.type=text",
        "tools.*.input_schema",
        "messages.*.content.*.type=tool_use",
        "messages.*.content.*.type=server_tool_use",
        "messages.*.content.*.type=mcp_tool_use",
        "messages.*.content.*.type=tool_result",
        "messages.*.content.*.type=thinking",
        "messages.*.content.*.source",
    ],
};

pub(in crate::format) static REQUEST: Request = Request {
    shape: &SHAPE,
    endpoints: &["/messages", ":rawPredict", ":streamRawPredict"],
    add,
    finish,
    fit: |_, append| append,
    paused: &["content.*.type=server_tool_use", "content.*.type=mcp_tool_use"],
    calls: |append| {
        calls_in(append, "content", |block| {
            (block.kind("type") == "tool_use").then(|| function(block, "id", "name"))
        })
    },
    results: |answers| vec![message_of("user", "content", answers.iter().map(result))],
    system: System::text(&["system"]),
    // The most that every model of its has allowed since Claude 3.5.
    new: r#"{"model":"","max_tokens":8192,"messages":[],"stream":true}"#,
    tools: |tools| ("tools", array(declarations(tools, "input_schema").iter().map(Draft::json))),
    choice: Some(&ToolChoice {
        paths: &["tool_choice"],
        relax: |json| {
            let mut choice = Draft::new(json);
            if matches!(choice.word("type").as_deref(), Some("auto" | "none")) {
                return None;
            }
            choice.set_first("type", "\"auto\"");
            choice.remove("name");
            Some(choice.json())
        },
        none: Some("{\"type\":\"none\"}"),
    }),
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    if of == Of::Message {
        // The container that the provider's tools ran in.
        if let Some(id) = Draft::new(piece.json).word("id") {
            turn.message.set("container", json::quote(&id));
        }
        return;
    }
    let block = turn.objects.at(of, piece);
    let piece = Draft::new(piece.json);
    match block.is_empty() && !piece.text("type").is_some_and(|kind| kind.ends_with("_delta")) {
        true => *block = piece,
        false => add_delta(block, &piece),
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut blocks = turn.take(ending);
    // The model that the message was handed to refuses another model's thoughts.
    let is_fallback = |block: &Draft| block.text("type").as_deref() == Some("fallback");
    let own = blocks.iter().rposition(is_fallback).unwrap_or_default();
    let mut at = 0..;
    blocks.retain(|block| at.next().is_some_and(|at| at >= own) || !is_thought(block));
    let is_text = |block: &Draft| block.text("type").as_deref() == Some("text");
    let texts: Vec<_> = blocks.iter().map(is_text).collect();
    let mut at = 0..;
    blocks.retain(|block| {
        let at = at.next().unwrap_or_default();
        // White space goes with the texts around it, and is refused by itself.
        let is_between = at > 0 && texts.get(at - 1..at + 2) == Some(&[true; 3][..]);
        match block.text("type").as_deref() {
            Some("text") if is_between => block.text("text").is_some_and(|text| !text.is_empty()),
            Some("text") => block.text("text").is_some_and(|text| !text.trim().is_empty()),
            // A thought without a signature was cut, and would be refused.
            Some("thinking") => block.word("signature").is_some(),
            Some("tool_use") => block.word("name").is_some(),
            kind => kind.is_some(),
        }
    });
    for block in &mut blocks {
        if block.get("input").is_some() || is_call(block) {
            block.set_object("input");
        }
    }
    // Text after a call counts as the next turn.
    blocks.sort_by_key(is_call);
    if blocks.iter().all(is_thought) {
        return Err(no_content(ending));
    }
    let container = turn.message.remove("container");
    let set = container.map(|id| ("container", id)).into_iter().collect();
    let message = message_of("assistant", "content", blocks.iter().map(Draft::json));
    Ok(Appended { append: vec![message], set })
}

fn is_call(block: &Draft) -> bool {
    block.text("type").as_deref() == Some("tool_use")
}

fn is_thought(block: &Draft) -> bool {
    matches!(block.text("type").as_deref(), Some("thinking" | "redacted_thinking"))
}

/// Adds a delta to a block, which it begins where the block's start is missing.
fn add_delta(block: &mut Draft, delta: &Draft) {
    if block.is_empty() {
        let kind = delta.text("type").unwrap_or_default();
        let kind = kind.trim_end_matches("_delta").replace("signature", "thinking");
        let kind = kind.replace("input_json", "tool_use");
        block.set("type", json::quote(&kind));
    }
    for (key, json) in delta.members() {
        match key {
            "type" => {}
            "partial_json" if is_blank(&json) => {}
            // The block's start holds a placeholder.
            "partial_json" => block.join("input", &json),
            "citation" => block.join("citations", &format!("[{json}]")),
            "encrypted_content" => block.set(key, json),
            _ => block.join(key, &json),
        }
    }
}

fn result(answer: &Answer<'_>) -> String {
    let id = answer.call.id.as_deref().unwrap_or_default();
    object_of!(
        line;
        "type": "tool_result",
        "tool_use_id": id,
        "content": AsIs(&content(answer.output)),
        "is_error": answer.is_error.then_some(true),
    )
}

fn content(output: Output<'_>) -> String {
    match given(output) {
        GivenAnswer::Blocks(blocks) => array(blocks.iter().map(|block| match block {
            AnswerBlock::Media { mime, data } if is_media(mime) => {
                let kind = if mime.starts_with("image/") { "image" } else { "document" };
                let (mime, data) = (mime.as_str(), data.as_str());
                let source = object_of!(line; "type": "base64", "media_type": mime, "data": data);
                object_of!(line; "type": kind, "source": AsIs(&source))
            }
            block => object_of!(line; "type": "text", "text": &*block.text()),
        })),
        GivenAnswer::List(json) if is_typed(json) => json::minify(json),
        given => json::quote(&given.text()),
    }
}

/// True for the types that a result may hold.
fn is_media(mime: &str) -> bool {
    mime.starts_with("image/") || mime == "application/pdf"
}
