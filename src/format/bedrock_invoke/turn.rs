//! The next request of InvokeModel: that of the format inside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::format::anthropic::turn as anthropic;
use crate::format::bedrock_converse::turn as converse;
use crate::format::bedrock_invoke::known;
use crate::format::format::Record;
use crate::format::openai_chat::turn as chat;
use crate::format::support::draft::each_record;
use crate::format::support::object::Object;
use crate::format::turn::{
    Answer, Appended, Call, Ending, Incomplete, Request, Shape, Turn, no_content,
};
use crate::frame::Frame;

/// Anthropic's, but for the calls of models that have none of its blocks.
pub(super) static REQUEST: Request = Request {
    // The body is that of the model's own provider.
    shape: Shape::ANY,
    turn: |choice| Box::new(InvokeTurn { choice, inner: None }),
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

struct InvokeTurn {
    choice: u64,
    /// The builder of the format inside, once it's known.
    inner: Option<Box<dyn Turn>>,
}

impl Turn for InvokeTurn {
    fn feed(&mut self, frame: &Frame<'_>) {
        each_record(frame, |chunk| {
            let bytes = chunk.text("bytes");
            let bytes = bytes.and_then(|bytes| BASE64.decode(bytes.as_str()).ok());
            let Some(data) = bytes else { return };
            let inner = Frame { event_type: "", headers: &[], ..frame.with(&data) };
            let builder = self.inner.take().or_else(|| {
                let request = known(&Record::new(&inner))?.request?;
                Some((request.turn)(self.choice))
            });
            self.inner = builder.map(|mut builder| {
                builder.feed(&inner);
                builder
            });
        });
    }

    fn size(&self) -> usize {
        self.inner.as_ref().map_or(0, |inner| inner.size())
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        match &mut self.inner {
            Some(inner) => inner.finish(ending),
            None => Err(no_content(ending)),
        }
    }
}
