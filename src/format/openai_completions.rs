//! OpenAI's legacy Completions, and the servers that speak it still: chunks of
//! a stream and complete bodies, which look alike.
//!
//! Source: OpenAI API reference, "Completions". Each chunk holds pieces of the
//! text of one or more choices.

use serde_json::value::RawValue;

use crate::event::{ByChoice, FinishReason, WarningCode};
use crate::format::openai_chat;
use crate::format::openai_chat::USAGE;
use crate::format::support::many::Few;
use crate::format::support::prelude::*;
use crate::frame::Holds;

pub(super) static FORMAT: Format = Format {
    aliases: &["completions", "text-completion"],
    about: "OpenAI's legacy Completions and compatible servers, stream and body",
    link: "https://platform.openai.com/docs/api-reference/completions",
    evidence: &["choices", "choices.0.text"],
    sniff,
    ..Format::new("openai-completions", |_| {
        let message = Lifecycle::new(&FORMAT, USAGE);
        Box::new(Completions {
            message,
            finished: ByChoice::default(),
            holds: Holds::Stream,
            awaits_done: false,
        })
    })
};

/// Together writes `text.completion`, Writer no object at all.
fn sniff(record: &Record) -> bool {
    let object = record.text("object").unwrap_or_default();
    let choices = record.get("choices").filter(|choices| choices.starts_with('['));
    let is_text = choices.is_some_and(openai_chat::are_texts);
    let is_named =
        matches!(object.as_str(), "text_completion" | "text.completion" | "text_completion.chunk");
    is_text || (is_named && choices.is_some())
}

payload! {
    struct Chunk<'a> {
        id: Option<Str<'a>>,
        model: Option<Str<'a>>,
        choices: Option<Few<Choice<'a>>>,
        usage: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
    }

    struct Choice<'a> {
        index: Option<u64>,
        /// Some proxies end with a chunk of the chat format, without a text.
        text: Option<Str<'a>>,
        /// TGI writes an empty one while there is none.
        finish_reason: Option<Str<'a>>,
        logprobs: Option<&'a RawValue>,
    }
}

struct Completions {
    message: Lifecycle,
    /// For each choice, true if it has finished.
    finished: ByChoice<bool>,
    holds: Holds,
    awaits_done: bool,
}

impl Decoder for Completions {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return self.done("`[DONE]` came without a finish reason", out);
        }
        self.holds = frame.framing.holds;
        self.awaits_done = frame.framing.ends_with_done;
        if frame.event_type == "error" {
            return self.message.fail(&frame.text(), out);
        }
        read!(&frame, out, |chunk: Chunk| self.chunk(&frame, chunk, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.holds == Holds::Body {
            return self.done("the body has no finish reason", out);
        }
        if !self.is_finished() {
            return self.message.finish(out);
        }
        if self.awaits_done {
            out.warn(
                WarningCode::MissingDone,
                "the stream ended without `[DONE]`, after its finish reason",
            )?;
        }
        self.end(out)
    }
}

impl Completions {
    fn chunk(&mut self, frame: &Frame, chunk: &Chunk, out: &mut EventOut) -> Done {
        let is_empty = chunk.choices.as_ref().is_none_or(Few::is_empty);
        if is_empty && chunk.usage.is_none() && chunk.error.is_none() {
            return self.stray(frame, chunk, out);
        }
        let id = chunk.id.non_empty();
        let is_other = id.is_some() && id != self.message.id();
        if is_other && self.is_finished() && !is_empty {
            self.end(out)?;
        }
        self.message.begin(id, chunk.model.non_empty(), out)?;
        for choice in chunk.choices.iter().flatten() {
            let number = choice.index.unwrap_or(0);
            if let Some(text) = &choice.text {
                out.text(number, text)?;
            }
            if let Some(json) = choice.logprobs {
                out.raw_member(number, "logprobs", json.get())?;
            }
            let is_finished = out.finish_if(number, choice.finish_reason.as_ref())?;
            *self.finished.or_default(number) |= is_finished;
            out.check_choices(self.finished.len())?;
        }
        chunk.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        match chunk.error {
            Some(error) => error::report(error.get(), out),
            None => Ok(()),
        }
    }

    /// A record without anything of ours: Azure's opinion of the prompt has an
    /// empty list of choices.
    fn stray(&mut self, frame: &Frame, chunk: &Chunk, out: &mut EventOut) -> Done {
        let record = Record::new(frame);
        match chunk.choices {
            Some(_) => Ok(()),
            None if error::is_error(&record) => self.message.fail(&frame.text(), out),
            None => out.unknown(frame, &record.text("object").unwrap_or_default()),
        }
    }

    fn is_finished(&self) -> bool {
        !self.finished.is_empty() && self.finished.values().all(|&finished| finished)
    }

    /// The end of the message, whether or not it gave a reason.
    fn done(&mut self, warning: &str, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        if !self.is_finished() {
            out.warn(WarningCode::NoFinishReason, warning)?;
        }
        if self.holds == Holds::Body {
            for (choice, _) in self.finished.iter().filter(|(_, finished)| !**finished) {
                out.infer_finish(choice, FinishReason::Other, None)?;
            }
        }
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.finished.clear();
        self.message.end(out)
    }
}
