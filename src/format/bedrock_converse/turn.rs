//! The next request of Converse: the assistant's blocks as they came, and one message of the
//! user's with all results.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

static SHAPE: Shape = Shape {
    name: "bedrock-converse",
    marks: &[
        "inferenceConfig",
        "toolConfig",
        "modelId",
        "system.*.text",
        "messages.*.content.*.toolUse",
        "messages.*.content.*.toolResult",
        "messages.*.content.*.image.format",
    ],
};

pub(in crate::format) static REQUEST: Request = Request {
    shape: &SHAPE,
    endpoints: &["/converse", "/converse-stream"],
    add,
    finish,
    fit: |_, append| append,
    paused: &["content.*.toolUse.type=server_tool_use"],
    calls: |append| {
        calls_in(append, "content", |block| {
            let call = Object::new(block.get("toolUse")?);
            (call.kind("type") != "server_tool_use").then(|| function(&call, "toolUseId", "name"))
        })
    },
    results: |answers| vec![message_of("user", "content", answers.iter().map(result))],
    user: |text| message_of("user", "content", [text_block(text)]),
    system: System { paths: &["system"], form: |text| array([text_block(text)]) },
    new: r#"{"messages":[]}"#,
    tools: |tools| {
        let declare = |mut draft: Draft| {
            if let Some(schema) = draft.remove("inputSchema") {
                draft.set("inputSchema", object_of!(line; "json": AsIs(&schema)));
            }
            object_of!(line; "toolSpec": AsIs(&draft.json()))
        };
        let list = array(declarations(tools, "inputSchema").into_iter().map(declare));
        ("toolConfig", object_of!(line; "tools": AsIs(&list)))
    },
    choice: Some(&ToolChoice {
        paths: &["toolConfig.toolChoice"],
        relax: |json| Object::new(json).get("any|tool").map(|_| "{\"auto\":{}}".into()),
        none: None,
    }),
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    let block = turn.objects.at(of, piece);
    let is_start = matches!(of, Of::Call(_)) && block.is_empty();
    match piece.is_whole || is_start {
        true => *block = Draft::new(piece.json),
        false => add_delta(block, &Draft::new(piece.json)),
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut blocks = turn.take(ending);
    blocks.retain(|block| {
        let is_blank = block.get("text").is_some_and(is_blank);
        let is_named = !is_call(block) || Object::new(&block.json()).word("toolUse.name").is_some();
        is_named && !is_blank && !block.is_empty()
    });
    let kept: Vec<_> = blocks.into_iter().map(finished).collect();
    if kept.iter().all(|block| block.get("reasoningContent").is_some()) {
        return Err(no_content(ending));
    }
    let message = message_of("assistant", "content", kept.iter().map(Draft::json));
    Ok(Appended { append: vec![message], set: Vec::new() })
}

fn text_block(text: &str) -> String {
    object_of!(line; "text": text)
}

fn is_call(block: &Draft) -> bool {
    block.get("toolUse").is_some()
}

/// Returns a block as a request has it.
fn finished(mut block: Draft) -> Draft {
    if block.get("toolUse").is_some() {
        block.inside("toolUse", |call| call.set_object("input"));
    }
    // In a stream, text and its citations come one beside the other.
    if let Some(citations) = block.remove("citation") {
        let text = block.remove("text").unwrap_or_else(|| "\"\"".to_owned());
        let content = array([object_of!(line; "text": AsIs(&text))]);
        let cited = object_of!(line; "content": AsIs(&content), "citations": AsIs(&citations));
        block.set("citationsContent", cited);
    }
    block
}

/// Adds a delta to a block; the start of a result is one.
fn add_delta(block: &mut Draft, delta: &Draft) {
    for (key, json) in delta.members() {
        match key {
            "toolUse" => block.inside(key, |call| {
                let piece = Object::new(&json);
                if let Some(input) = piece.get("input").filter(|json| !is_blank(json)) {
                    call.join("input", input);
                }
            }),
            "reasoningContent" => block.inside(key, |thought| add_thought(thought, &json)),
            "toolResult" if !json.starts_with('{') => {
                block.inside(key, |result| result.join("content", &json));
            }
            "citation" => block.join(key, &array([json])),
            _ => block.join(key, &json),
        }
    }
}

/// Adds a piece of a thought: its text and its signature stand one level deeper in a request.
fn add_thought(thought: &mut Draft, json: &str) {
    for (key, json) in Draft::new(json).members() {
        match key {
            "text" | "signature" => thought.inside("reasoningText", |text| text.join(key, &json)),
            _ => thought.join(key, &json),
        }
    }
}

fn result(answer: &Answer<'_>) -> String {
    let id = answer.call.id.as_deref().unwrap_or_default();
    let content = content(answer.output);
    // Not every model takes a status.
    let status = answer.is_error.then_some("error");
    object_of!(
        line;
        "toolResult": { "toolUseId": id, "content": AsIs(&content), "status": status },
    )
}

/// The blocks that a result may hold.
const BLOCKS: &[&str] =
    &["cachePoint", "document", "image", "json", "searchResult", "text", "video"];

fn content(output: Output<'_>) -> String {
    let is_block =
        |json: &&str| Object::new(json).first().is_some_and(|(key, _)| BLOCKS.contains(&key));
    match given(output) {
        GivenAnswer::Blocks(blocks) => array(blocks.iter().map(|block| match block {
            AnswerBlock::Media { mime, data } if mime.starts_with("image/") => {
                let (format, data) = (mime.trim_start_matches("image/"), data.as_str());
                object_of!(line; "image": { "format": format, "source": { "bytes": data } })
            }
            block => text_block(&words(block.text())),
        })),
        GivenAnswer::List(json)
            if json::elements(json).is_some_and(|list| list.iter().all(is_block)) =>
        {
            json::minify(json)
        }
        GivenAnswer::Json(json) if json.starts_with('{') => {
            array([object_of!(line; "json": AsIs(&json::minify(json)))])
        }
        given => array([text_block(&words(given.text()))]),
    }
}

/// Blank text is refused.
fn words(text: String) -> String {
    if text.trim().is_empty() { "(no output)".to_owned() } else { text }
}
