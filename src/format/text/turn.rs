//! The next request after plain text: a message of Chat Completions with the text as it came,
//! markup and thoughts included.

use crate::cut::Cut as _;
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
        // A model that runs on makes up the results of its own calls.
        let forged = FORGED.iter().filter_map(|marker| text.find(marker)).min();
        let text = match forged.filter(|_| ending.wants_tools) {
            Some(end) => text.before(end).trim_end(),
            None => &text,
        };
        if text.trim().is_empty() {
            return Err(no_content(ending));
        }
        let message = format!("{{\"role\":\"assistant\",\"content\":{}}}", json::quote(text));
        Ok(Appended { append: vec![message], set: Vec::new() })
    }
}

/// The beginnings of results, which a model writes only by mistake.
const FORGED: &[&str] = &[
    "\nObservation:",
    "<function_results>",
    "<tool_response>",
    "<|tool_response>",
    "[TOOL_RESULTS]",
    "✿RESULT✿",
    "```tool_output",
];
