//! The next request after plain text: a message of Chat Completions with the text as it came,
//! markup and thoughts included.

use crate::event::{Of, Piece};
use crate::format::openai_chat::turn as chat;
use crate::format::turn::{Appended, Ending, Incomplete, Request, Shape, Turn, no_content};
use crate::json;

pub(super) static REQUEST: Request =
    Request { shape: Shape::ANY, turn: || Box::new(TextTurn::default()), ..chat::REQUEST };

#[derive(Default)]
struct TextTurn(String);

impl Turn for TextTurn {
    fn feed(&mut self, _: Of, piece: Piece<'_>) {
        self.0.push_str(piece.json);
    }

    fn size(&self) -> usize {
        self.0.len()
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        let text = std::mem::take(&mut self.0);
        if text.trim().is_empty() {
            return Err(no_content(ending));
        }
        let message = format!("{{\"role\":\"assistant\",\"content\":{}}}", json::quote(&text));
        Ok(Appended { append: vec![message], set: Vec::new() })
    }
}
