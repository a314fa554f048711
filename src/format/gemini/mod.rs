//! Google Gemini: `generateContent` and `streamGenerateContent`, as AI Studio,
//! Vertex and Code Assist send them, and as SDKs dump them.
//!
//! Source: Gemini API reference, "GenerateContentResponse". A stream is chunks
//! of one message, in SSE or in one JSON array; a body is all of them in one.
//! Nothing marks the end: a finish reason may be followed by more, when the
//! provider has run code in between, so only the end of the input counts, or
//! another response's id.

mod arguments;
mod call;
mod candidate;
mod parts;
mod payload;
mod turn;
mod write;

use crate::event::ByChoice;
use crate::format::support::prelude::*;
use crate::frame::Holds;
use candidate::CandidateState;
use payload::{Feedback, GeminiCandidate, GeminiChunk};

pub(super) static FORMAT: Format = Format {
    aliases: &["google", "google-gemini", "vertex"],
    about: "Google Gemini generateContent, stream and body",
    link: "https://ai.google.dev/api/generate-content",
    evidence: &[
        "candidates", "usageMetadata", "promptFeedback", "response", "modelVersion", "responseId",
    ],
    sniff,
    request: Some(&turn::REQUEST),
    write: Some(&write::WRITING),
    ..Format::new("gemini", |_| {
        let (message, progress) = (Lifecycle::new(&FORMAT, USAGE), GeminiProgress::default());
        Box::new(Gemini { message, progress, holds: Holds::Stream, repeats: false })
    })
};

fn sniff(record: &Record) -> bool {
    record.inner("response").is_some_and(|inner| is_ours(&inner)) || is_ours(record)
}

/// True if a record is a chunk.
fn is_ours(record: &Record) -> bool {
    let has = |places| record.at(places).is_some();
    let is_answer = record.get("candidates").is_some_and(|json| json.starts_with('['));
    let is_bare = has("usageMetadata|usage_metadata")
        && has("modelVersion|model_version|responseId|response_id");
    is_answer || has("promptFeedback|prompt_feedback") || is_bare
}

/// Thinking is not in `candidatesTokenCount`, nor what tools have read in
/// `promptTokenCount`.
const USAGE: &[CountRule] = &[
    ("promptTokenCount|prompt_token_count", Op::Adds, &[Field::Input]),
    ("toolUsePromptTokenCount|tool_use_prompt_token_count", Op::Adds, &[Field::Input]),
    ("candidatesTokenCount|candidates_token_count", Op::Adds, &[Field::Output]),
    ("responseTokenCount|response_token_count", Op::Adds, &[Field::Output]),
    ("thoughtsTokenCount|thoughts_token_count", Op::Adds, &[Field::Output, Field::Reasoning]),
    ("cachedContentTokenCount|cached_content_token_count", Op::Is, &[Field::Cached]),
    ("totalTokenCount|total_token_count", Op::Is, &[Field::Total]),
];

struct Gemini {
    message: Lifecycle,
    progress: GeminiProgress,
    holds: Holds,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

/// The state of one message.
#[derive(Default)]
struct GeminiProgress {
    /// The number of chunks so far.
    chunks: u64,
    has_usage: bool,
    candidates: ByChoice<CandidateState>,
    /// True if the prompt was blocked: no candidate will come.
    is_blocked: bool,
}

impl Decoder for Gemini {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        self.repeats = false;
        // The format has no such end, but some gateways send one.
        if frame.is_done() {
            return Ok(());
        }
        self.holds = frame.framing.holds;
        if frame.event_type == "error" {
            return self.message.fail(&frame.text(), out);
        }
        read!(&frame, out, |chunk: GeminiChunk| {
            let inner = chunk.response.filter(|json| json.get().starts_with('{'));
            match inner.filter(|_| !chunk.is_answer()) {
                // A `response` is unwrapped once: one inside it is content.
                Some(json) => {
                    let frame = frame.part(json);
                    read!(&frame, out, |chunk: GeminiChunk| self.chunk(&frame, chunk, out))?
                }
                None => return self.chunk(&frame, chunk, out),
            }
            chunk.error.map_or(Ok(()), |error| self.message.fail(error.get(), out))
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.is_complete() {
            return self.end(out);
        }
        self.cut(out)?;
        if !self.may_be_body() || self.message.state != State::Open {
            return self.message.finish(out);
        }
        let candidates = &self.progress.candidates;
        let choices = candidates.choices().chain(candidates.is_empty().then_some(0));
        self.message.end_unfinished(choices, out)
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.repeats.then_some(&Repeatable { counts: Some("usageMetadata"), ..Repeatable::TEXT })
    }

    fn on_repeat(&mut self, _text: &Str, counts: Option<&str>) {
        // A body is one chunk: how many more there are does not matter.
        self.progress.chunks += 1;
        counts.into_iter().for_each(|counts| self.message.meter.feed(counts));
    }
}

impl Gemini {
    fn chunk(&mut self, frame: &Frame, chunk: &GeminiChunk, out: &mut EventOut) -> Done {
        if !chunk.is_answer() {
            return match chunk.error {
                Some(_) => self.message.fail(&frame.text(), out),
                None => self.message.stray(frame, Record::new(frame).first_key(), out).map(drop),
            };
        }
        let id = chunk.response_id.non_empty();
        self.part_from(id, chunk, out)?;
        if !self.message.is_open() {
            self.message.head.created = chunk.create_time.and_then(|json| time(json.get()));
        }
        self.message.begin(id, chunk.model_version.non_empty(), out)?;
        self.progress.chunks += 1;
        self.progress.has_usage |= chunk.usage_metadata.is_some();
        let may_be_body = self.holds == Holds::Body || self.may_be_body();
        let has_logprobs = |candidate: &GeminiCandidate| candidate.logprobs_result.is_some();
        self.repeats = !chunk.candidates.iter().flatten().any(has_logprobs);
        for (candidate, place) in chunk.candidates.iter().flatten().zip(0..) {
            // Two without an index are two answers.
            let choice = candidate.index.unwrap_or(place);
            let state =
                self.progress.candidates.or_insert_with(choice, || CandidateState::new(choice));
            state.feed(candidate, may_be_body, frame, out)?;
            out.check_choices(self.progress.candidates.len())?;
        }
        if let Some(feedback) = &chunk.prompt_feedback {
            self.feedback(feedback, out)?;
        }
        self.message.count(chunk.usage_metadata);
        chunk.error.map_or(Ok(()), |error| self.message.fail(error.get(), out))
    }

    /// Ends the open message if a chunk is of another one: of another id; or
    /// after an error; or, where bodies without ids follow each other, after
    /// a whole body.
    fn part_from(&mut self, id: Option<&str>, chunk: &GeminiChunk, out: &mut EventOut) -> Done {
        if !self.message.is_open() {
            return Ok(());
        }
        let open = self.message.id();
        let is_failed = self.message.state == State::Failed;
        let is_other = id.is_some() && open.is_some() && id != open;
        let has_no_ids = id.is_none() && open.is_none();
        let is_body = self.progress.chunks == 1 && self.holds != Holds::Stream;
        let is_next_body = has_no_ids && is_body && self.is_complete() && chunk.has_content();
        let is_retry = is_failed && chunk.has_content() && (id.is_none() || id != open);
        if !is_other && !is_next_body && !is_retry {
            return Ok(());
        }
        if !self.is_complete() && !is_failed {
            out.overlap()?;
        }
        self.end(out)
    }

    /// True if the message may end here.
    fn is_complete(&self) -> bool {
        let is_finished = !self.progress.candidates.is_empty()
            && self.progress.candidates.values().all(|candidate| candidate.is_finished);
        is_finished || self.progress.is_blocked
    }

    /// Emits the filter's verdict on the prompt. Where it blocks it, no candidate
    /// comes.
    fn feedback(&mut self, feedback: &Sourced<Feedback>, out: &mut EventOut) -> Done {
        let Some(raw) = feedback.block_reason.map(word) else { return Ok(()) };
        if finish::is_none(&raw) || raw == "0" || raw.ends_with("UNSPECIFIED") {
            return Ok(());
        }
        self.progress.is_blocked = true;
        out.block(0, "prompt_feedback", feedback.json)?;
        out.finish_as(0, FinishReason::ContentFilter, &raw, None)
    }

    /// True if the only record so far may be a whole body. A line without usage may be: a stream's
    /// chunk has it.
    fn may_be_body(&self) -> bool {
        let is_line = self.holds == Holds::Either && !self.progress.has_usage;
        (self.holds == Holds::Body || is_line) && self.progress.chunks == 1
    }

    /// The calls that are open will not be closed.
    fn cut(&mut self, out: &mut EventOut) -> Done {
        self.progress.candidates.iter_mut().try_for_each(|(_, candidate)| candidate.cut(out))
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        self.cut(out)?;
        let mut candidates = std::mem::take(&mut self.progress.candidates);
        candidates.clear();
        self.progress = GeminiProgress { candidates, ..GeminiProgress::default() };
        self.message.end(out)
    }
}
