//! One of the alternative answers, from chunk to chunk.

use crate::event::Block;
use crate::format::gemini::parts::GeminiParts;
use crate::format::gemini::payload::GeminiCandidate;
use crate::format::support::blocks::LatestBlocks;
use crate::format::support::prelude::*;

/// One candidate so far.
#[derive(Debug)]
pub(super) struct CandidateState {
    choice: u64,
    parts: GeminiParts,
    /// True if a finish reason came, and nothing after it.
    pub(super) is_finished: bool,
    /// The metadata: streams repeat it on each chunk, and let it grow.
    metadata: LatestBlocks,
}

impl CandidateState {
    pub(super) fn new(choice: u64) -> Self {
        let parts = GeminiParts::new(choice);
        CandidateState { choice, parts, is_finished: false, metadata: LatestBlocks::default() }
    }

    /// Takes what a chunk adds, or what a record holds that may be a whole body.
    pub(super) fn feed(
        &mut self,
        candidate: &GeminiCandidate,
        may_be_body: bool,
        frame: &Frame,
        out: &mut EventOut,
    ) -> Done {
        // Where enums are numbers, 0 is a reason that isn't there.
        let raw = candidate.finish_reason.map(word).unwrap_or_default();
        let has_reason = !finish::is_none(&raw) && raw != "0";
        self.parts.hold(may_be_body && !has_reason, out)?;
        let content = candidate.content.as_ref();
        let is_sent = content.is_some_and(|content| content.role.other_role().is_some());
        for part in candidate.parts().filter(|_| is_sent) {
            out.block(self.choice, "user", part.json)?;
        }
        for part in candidate.parts().filter(|_| !is_sent) {
            self.is_finished &= !part.has_content();
            self.parts.emit(part, frame, out)?;
        }
        for (name, json) in candidate.metadata() {
            if let Some(json) = json.map(RawJson::get).filter(|json| *json != "{}") {
                self.metadata.feed(self.choice, name, json, out)?;
            }
        }
        if let Some(json) = candidate.logprobs_result {
            out.raw_member(self.choice, "logprobs", json.get())?;
        }
        for (name, text) in candidate.remarks() {
            if let Some(text) = text {
                out.emit(self.choice, Kind::Block(Block { name, text, attributes: None }))?;
            }
        }
        if !has_reason {
            return Ok(());
        }
        let reason = normalise(&raw);
        self.is_finished = true;
        self.parts.finish(reason == FinishReason::Stop, out)?;
        out.finish_as(self.choice, reason, &raw, None)
    }

    /// The answer will not go on.
    pub(super) fn cut(&mut self, out: &mut EventOut) -> Done {
        self.parts.finish(false, out)
    }
}

/// Our word for a reason: a word, one after its enum's name as Python prints
/// it, or its number. Above 9, the numbers differ from API to API.
fn normalise(raw: &str) -> FinishReason {
    let words = [
        "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT",
        "SPII", "MALFORMED_FUNCTION_CALL",
    ];
    let number = raw.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let word = number.and_then(|place| words.get(place)).copied();
    finish::normalise(word.unwrap_or_else(|| raw.rsplit('.').next().unwrap_or(raw)))
}
