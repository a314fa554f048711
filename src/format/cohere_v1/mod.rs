//! Cohere's Chat API, version 1, and the Generate API before it: the records of
//! a stream, and complete bodies.
//!
//! Source: Cohere API reference, "Chat (V1)" and "Generate". A stream is
//! `stream-start`, pieces of text, of calls and of what was searched and cited,
//! and `stream-end`, whose response repeats all of it. Bedrock sends the text
//! of the Generate API in records without a type.

mod payload;

use crate::event::{Arguments, CallPart, Key};
use crate::format::rows::cohere::USAGE;
use crate::format::support::many::each;
use crate::format::support::prelude::*;
use payload::{CallDelta, Event, ToolCall};

pub(super) static FORMAT: Format = Format {
    aliases: &["cohere-generate"],
    about: "Cohere Chat, version 1, and Generate, stream and body",
    link: "https://docs.cohere.com/v1/reference/chat-stream",
    evidence: &["is_finished", "generation_id", "response_id", "generations", "text"],
    sniff,
    ..Format::new("cohere-v1", |_| {
        Box::new(CohereV1 {
            message: Lifecycle::new(&FORMAT, USAGE),
            progress: Progress::default(),
        })
    })
};

fn sniff(record: &Record) -> bool {
    let has_text = record.get("text").is_some_and(|text| text.starts_with('"'));
    let is_stream = record.has("is_finished");
    let is_body = has_text && (record.has("generation_id") || record.has("response_id"));
    let is_generate = record.get("generations").is_some_and(|all| all.starts_with('['));
    is_stream || is_body || is_generate
}

struct CohereV1 {
    message: Lifecycle,
    progress: Progress,
}

/// The state of one message.
#[derive(Default)]
struct Progress {
    /// True if text or anything but calls has come: the end only repeats it.
    has_content: bool,
    /// The numbers of calls that have begun piece by piece, and that are whole.
    begun: u64,
    whole: u64,
}

impl Decoder for CohereV1 {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl CohereV1 {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        match event.kind().unwrap_or(frame.event_type) {
            "stream-start" => {
                self.cut(out)?;
                self.begin(event, out)
            }
            "text-generation" | "tool-calls-chunk" => {
                self.begin(event, out)?;
                self.text(event, out)?;
                event.tool_call_delta.iter().try_for_each(|delta| self.call_delta(delta, out))
            }
            // Its text repeats that of the chunks before it.
            "tool-calls-generation" => {
                self.begin(event, out)?;
                self.whole(event, out)
            }
            "citation-generation" | "search-queries-generation" | "search-results" => {
                self.begin(event, out)?;
                self.blocks(event, out)
            }
            "stream-end" => {
                self.begin(event, out)?;
                self.stream_end(frame, event, out)
            }
            "debug" => event.prompt.map_or(Ok(()), |prompt| out.block(0, "debug", prompt.get())),
            _ if event.is_body() => {
                self.cut(out)?;
                self.begin(event, out)?;
                if event.has_reason() {
                    self.whole(event, out)?;
                    out.finish_if(0, event.finish_reason.as_ref())?;
                    return self.end(out);
                }
                out.unclosed(|out| self.whole(event, out))?;
                self.progress = Progress::default();
                self.message.end_unfinished([0], out)
            }
            kind if self.message.stray(frame, kind, out)? => self.end(out),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let id = event.generation_id.as_ref().or(event.id.as_ref());
        self.message.begin(id.and_then(Str::non_empty), None, out)
    }

    fn text(&mut self, event: &Event, out: &mut EventOut) -> Done {
        let Some(text) = &event.text else { return Ok(()) };
        self.progress.has_content = true;
        out.text(0, text)
    }

    fn blocks(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.progress.has_content = true;
        if let Some(citations) = event.citations {
            each(citations.get()).into_iter().try_for_each(|one| out.block(0, "citation", one))?;
        }
        let searches = [
            ("search_queries", event.search_queries),
            ("search_results", event.search_results),
            ("documents", event.documents),
        ];
        let mut searches = searches.into_iter().filter_map(|(name, json)| Some((name, json?)));
        searches.try_for_each(|(name, json)| out.block(0, name, json.get()))
    }

    fn call_delta(&mut self, delta: &CallDelta, out: &mut EventOut) -> Done {
        let number = delta.index.unwrap_or(self.progress.begun.saturating_sub(1));
        self.progress.begun = self.progress.begun.max(number.saturating_add(1));
        let name = delta.name.non_empty();
        let part = CallPart { key: Key::Index(number), name, ..CallPart::default() };
        match &delta.parameters {
            Some(parameters) => out.call_fragment(0, part, parameters),
            None => out.call(0, part),
        }
    }

    /// Emits of a body what hasn't come piece by piece.
    fn whole(&mut self, body: &Event, out: &mut EventOut) -> Done {
        if !self.progress.has_content {
            self.text(body, out)?;
            self.blocks(body, out)?;
            for (generation, choice) in body.generations.iter().flatten().zip(0..) {
                generation.text.iter().try_for_each(|text| out.text(choice, text))?;
                out.finish_if(choice, generation.finish_reason.as_ref())?;
            }
        }
        for (call, number) in body.tool_calls.iter().flatten().zip(0..) {
            self.call(call, number, out)?;
        }
        body.meta.iter().for_each(|meta| self.message.meter.pick(meta.get()));
        Ok(())
    }

    /// A whole call, which wins over the pieces that it may have come in.
    fn call(&mut self, call: &ToolCall, number: u64, out: &mut EventOut) -> Done {
        if number < self.progress.whole {
            return Ok(());
        }
        self.progress.whole = number + 1;
        let key = Key::Index(number);
        let name = call.name.non_empty().filter(|_| number >= self.progress.begun);
        let arguments = call.parameters.map_or(Arguments::None, |json| Arguments::Done(json.get()));
        out.call(0, CallPart { key, name, arguments, ..CallPart::default() })?;
        out.call_end(0, key)
    }

    /// The end of the message, well or not.
    fn stream_end(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        if let Some(response) = event.response {
            let frame = frame.part(response);
            read!(&frame, out, |body: Event| self.whole(body, out))?;
        }
        out.finish_if(0, event.finish_reason.as_ref())?;
        if event.error.is_some() {
            error::report(&frame.text(), out)?;
        }
        self.end(out)
    }

    /// Ends a message that has not come to its end.
    fn cut(&mut self, out: &mut EventOut) -> Done {
        self.progress = Progress::default();
        self.message.cut(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.progress = Progress::default();
        self.message.end(out)
    }
}
