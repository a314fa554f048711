//! The next request of Cohere's v2 chat: the assistant's message, and a message for each result.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

pub(in crate::format) static REQUEST: Request = Request {
    endpoints: &["/v2/chat"],
    marks: &["documents", "safety_mode", "citation_options"],
    add,
    finish,
    choice: Some(&ToolChoice {
        paths: &["tool_choice"],
        relax: |json| (json == "\"REQUIRED\"").then(String::new),
        none: Some("\"NONE\""),
    }),
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    let members = Draft::new(piece.json);
    if of == Of::Message {
        return turn.message.join("tool_plan", members.get("tool_plan").unwrap_or("null"));
    }
    let own = turn.objects.at(of, piece);
    if own.is_empty() {
        *own = members;
        return;
    }
    for (key, json) in members.members().filter(|(key, _)| !matches!(*key, "type" | "id")) {
        match key {
            "function" => own.inside(key, |function| {
                let piece = Object::new(&json);
                let arguments = piece.get("arguments|parameters");
                function.join("arguments", arguments.unwrap_or("null"));
            }),
            _ => own.join(key, &json),
        }
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut message = turn.message.take();
    let is_blank = |part: &Draft| {
        let text = part.get("text").or(part.get("thinking"));
        text.is_some_and(is_blank)
    };
    let objects = turn.take(ending).into_iter().filter(|part| !is_blank(part));
    let (mut calls, content): (Vec<_>, Vec<_>) = objects.partition(|part| part.has("function"));
    calls.iter_mut().for_each(|call| call.inside("function", chat::set_arguments));
    message.set_list("content", &content);
    message.set_list("tool_calls", &calls);
    let is_text = |part: &Draft| part.text("type").as_deref() != Some("thinking");
    if calls.is_empty() && !content.iter().any(is_text) {
        return Err(no_content(ending));
    }
    message.set_first("role", "\"assistant\"");
    Ok(Appended { append: vec![message.json()], set: Vec::new() })
}
