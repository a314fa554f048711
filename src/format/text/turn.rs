//! The next request after plain text: a message of Chat Completions with the text as it came,
//! markup and thoughts included.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

pub(super) static REQUEST: Request = Request { shape: Shape::ANY, add, finish, ..chat::REQUEST };

/// The piece is the text, once what a program printed besides is taken out.
fn add(turn: &mut TurnDraft, _: Of, piece: Piece<'_>) {
    turn.message.set("content", json::quote(piece.json));
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let mut message = turn.message.take();
    if message.get("content").is_none_or(is_blank) {
        return Err(no_content(ending));
    }
    message.set_first("role", "\"assistant\"");
    Ok(Appended { append: vec![message.json()], set: Vec::new() })
}
