//! The next request of Cohere's v2 chat: the assistant's message, and a message for each result.

use crate::event::{Of, Piece};
use crate::format::openai_chat::turn as chat;
use crate::format::support::draft::{Draft, Drafts, is_blank};
use crate::format::support::object::Object;
use crate::format::turn::{Appended, Ending, Incomplete, Request, ToolChoice, Turn, no_content};
use crate::json::array;

pub(in crate::format) static REQUEST: Request = Request {
    endpoints: &["/v2/chat"],
    marks: &["documents", "safety_mode", "citation_options"],
    turn: || Box::new(CohereTurn::default()),
    choice: Some(&ToolChoice {
        paths: &["tool_choice"],
        relax: |json| (json == "\"REQUIRED\"").then(String::new),
        none: Some("\"NONE\""),
    }),
    ..chat::REQUEST
};

#[derive(Default)]
struct CohereTurn {
    message: Draft,
    content: Drafts,
    calls: Drafts,
}

impl Turn for CohereTurn {
    fn feed(&mut self, of: Of, piece: Piece<'_>) {
        let (list, members) = match of {
            Of::Call(_) => (&mut self.calls, Draft::new(piece.json)),
            Of::Block(_) => (&mut self.content, Draft::new(piece.json)),
            _ => {
                let plan = Draft::new(piece.json).remove("tool_plan");
                return self.message.join("tool_plan", plan.as_deref().unwrap_or("null"));
            }
        };
        let own = list.at(of, piece);
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

    fn size(&self) -> usize {
        self.message.size() + self.content.size() + self.calls.size()
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        let mut message = self.message.take();
        let is_blank = |part: &Draft| {
            let text = part.get("text").or(part.get("thinking"));
            text.is_some_and(is_blank)
        };
        let content: Vec<_> =
            self.content.take(ending).into_iter().filter(|part| !is_blank(part)).collect();
        if !content.is_empty() {
            message.set("content", array(content.iter().map(Draft::json)));
        }
        let mut calls = self.calls.take(ending);
        if !calls.is_empty() {
            calls.iter_mut().for_each(|call| call.inside("function", chat::set_arguments));
            message.set("tool_calls", array(calls.iter().map(Draft::json)));
        }
        let is_text = |part: &Draft| part.text("type").as_deref() != Some("thinking");
        if calls.is_empty() && !content.iter().any(is_text) {
            return Err(no_content(ending));
        }
        message.set_first("role", "\"assistant\"");
        Ok(Appended { append: vec![message.json()], set: Vec::new() })
    }
}
