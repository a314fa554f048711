//! The next request of Cohere's v2 chat: the assistant's message, and a message for each result.

use crate::format::openai_chat::turn as chat;
use crate::format::support::draft::{Draft, Drafts, each_record, is_blank};
use crate::format::support::object::Object;
use crate::format::turn::{Appended, Ending, Incomplete, Request, ToolChoice, Turn, no_content};
use crate::frame::Frame;
use crate::json::{array, elements};

pub(in crate::format) static REQUEST: Request = Request {
    endpoint: "/v2/chat",
    marks: &["documents", "safety_mode", "citation_options"],
    turn: |_| Box::new(CohereTurn::default()),
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
    /// Parts of the content and calls: a stream counts each from 0.
    content: Drafts,
    calls: Drafts,
}

impl Turn for CohereTurn {
    fn feed(&mut self, frame: &Frame<'_>) {
        each_record(frame, |record| {
            if let Some(message) = record.get("message").filter(|json| json.starts_with('{')) {
                return self.body(message);
            }
            let index = record.get("index").unwrap_or_default();
            let message = Object::new(record.get("delta.message").unwrap_or_default());
            let kind = record.word("type").unwrap_or_else(|| frame.event_type.to_owned());
            let first = |places: &str| {
                let json = message.get(places)?;
                Some(elements(json).map_or(json, |list| list.first().copied().unwrap_or("{}")))
            };
            match kind.as_str() {
                "content-start" => {
                    self.content.start(index, Draft::new(first("content").unwrap_or_default()));
                }
                "content-delta" => {
                    let part = self.content.at(index);
                    let piece = Draft::new(first("content").unwrap_or_default());
                    let pieces = piece.members().filter(|(key, _)| *key != "type");
                    pieces.for_each(|(key, json)| part.join(key, json));
                }
                "tool-plan-delta" => {
                    self.message.join("tool_plan", message.get("tool_plan").unwrap_or("null"));
                }
                "tool-call-start" => {
                    self.calls.start(index, Draft::new(first("tool_calls").unwrap_or_default()));
                }
                "tool-call-delta" => {
                    let piece = Object::new(first("tool_calls").unwrap_or_default());
                    if let Some(json) = piece.get("function.arguments") {
                        let call = self.calls.at(index);
                        call.inside("function", |function| function.join("arguments", json));
                    }
                }
                _ => {}
            }
        });
    }

    fn size(&self) -> usize {
        self.message.size() + self.content.size() + self.calls.size()
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        let mut message = std::mem::take(&mut self.message);
        let is_blank = |part: &Draft| {
            let text = part.get("text").or(part.get("thinking"));
            text.is_some_and(is_blank)
        };
        let content: Vec<_> =
            self.content.take().into_iter().filter(|part| !is_blank(part)).collect();
        if !content.is_empty() {
            message.set("content", array(content.iter().map(Draft::json)));
        }
        let mut calls = self.calls.take();
        ending.retain(&mut calls, |call| call.word("id"), |_| true);
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

impl CohereTurn {
    /// A complete message.
    fn body(&mut self, json: &str) {
        let message = Object::new(json);
        for (list, key) in [(&mut self.content, "content"), (&mut self.calls, "tool_calls")] {
            let json = message.get(key).unwrap_or("[]");
            for one in elements(json).unwrap_or_else(|| vec![json]) {
                list.start("", Draft::new(one));
            }
        }
        if let Some(plan) = message.get("tool_plan") {
            self.message.set("tool_plan", plan);
        }
    }
}
