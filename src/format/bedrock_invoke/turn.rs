//! The next request of InvokeModel: that of the format inside.

use crate::event::{Of, Piece};
use crate::format::bedrock_converse::turn as converse;
use crate::format::openai_chat::turn as chat;
use crate::format::support::object::Object;
use crate::format::turn::{
    Answer, Appended, Call, Ending, Incomplete, Request, Shape, Turn, no_content,
};
use crate::format::{self, anthropic::turn as anthropic};

/// Anthropic's, but for the calls of models that have none of its blocks.
pub(super) static REQUEST: Request = Request {
    // The body is that of the model's own provider.
    shape: Shape::ANY,
    turn: || Box::new(InvokeTurn::default()),
    calls,
    results,
    new: r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":8192,"messages":[]}"#,
    ..anthropic::REQUEST
};

/// The requests of the models on Bedrock that call tools.
static INNER: [&Request; 3] = [&anthropic::REQUEST, &converse::REQUEST, &chat::REQUEST];

fn calls(append: &[String]) -> Vec<Call> {
    INNER
        .iter()
        .map(|request| (request.calls)(append))
        .find(|calls| !calls.is_empty())
        .unwrap_or_default()
}

fn results(answers: &[Answer<'_>]) -> Vec<String> {
    let first = answers.first().map_or("", |answer| answer.call.json.as_str());
    let call = Object::new(first);
    let request = match (call.get("toolUseId"), call.get("function")) {
        (Some(_), _) => &converse::REQUEST,
        (_, Some(_)) => &chat::REQUEST,
        _ => &anthropic::REQUEST,
    };
    (request.results)(answers)
}

/// The builder of the format inside, once it is known.
#[derive(Default)]
struct InvokeTurn(Option<Box<dyn Turn>>);

impl Turn for InvokeTurn {
    fn feed(&mut self, of: Of, piece: Piece<'_>) {
        match (of, &mut self.0) {
            (Of::Format, inner) => {
                let request = format::find(piece.json).and_then(|row| row.request);
                *inner = request.map(|request| (request.turn)());
            }
            (_, Some(inner)) => inner.feed(of, piece),
            (_, None) => {}
        }
    }

    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, |inner| inner.size())
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        match &mut self.0 {
            Some(inner) => inner.finish(ending),
            None => Err(no_content(ending)),
        }
    }
}
