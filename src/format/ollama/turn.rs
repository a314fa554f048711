//! The next request of Ollama's chat: the assistant's message, and a message for each result.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

pub(in crate::format) static REQUEST: Request = Request {
    endpoints: &["/api/chat"],
    streams: true,
    marks: &["options", "keep_alive", "think"],
    add,
    finish,
    fit: |_, append| append,
    calls: |append| {
        calls_in(append, "tool_calls", |call| Some(function(call, "id", "function.name")))
    },
    results: |answers| answers.iter().map(result).collect(),
    choice: None,
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    match of {
        Of::Message => {
            turn.message.join_all(piece.json);
            turn.message.remove("tool_calls");
        }
        _ => *turn.objects.at(of, piece) = Draft::new(piece.json),
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut message = turn.message.take();
    let mut calls = turn.take(ending);
    let is_named = |call: &Draft| Object::new(&call.json()).word("function.name").is_some();
    calls.retain(is_named);
    for call in &mut calls {
        call.inside("function", |function| {
            function.remove("index");
            chat::rename_arguments(function);
            // Text is refused here.
            function.set_object("arguments");
        });
    }
    message.set_list("tool_calls", &calls);
    let has_text = message.get("content").is_some_and(|text| !is_blank(text));
    if calls.is_empty() && !has_text && message.get("images").is_none() {
        return Err(no_content(ending));
    }
    message.set_first("role", "\"assistant\"");
    Ok(Appended { append: vec![message.json()], set: Vec::new() })
}

/// Results are told apart by the names of their tools, and by their order.
fn result(answer: &Answer<'_>) -> String {
    let given = given(answer.output);
    let images = given.media().filter(|(mime, _)| mime.starts_with("image/"));
    let images = array(images.map(|(_, data)| json::quote(data)));
    object_of!(
        line;
        "role": "tool",
        "tool_name": &*answer.call.name,
        "content": &*plain(answer),
        "images": (images != "[]").then_some(AsIs(&images)),
    )
}
