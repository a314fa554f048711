//! The prompt that a program printed again before the model's answer: `llama-completion` and
//! Hugging Face's `TextStreamer` do so by default.
//!
//! Text that begins as a prompt is kept up to its end. What stands before the last opener of an
//! assistant's turn is the prompt; a call in it is an example.

use crate::cut::Cut as _;
use crate::dialect::turns::{FORMS, TurnForm};

/// What tokenizers put before a prompt.
const BEGINNINGS: [&str; 6] =
    ["<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>", "<BOS_TOKEN>"];

/// Returns a text without what stands before a prompt.
fn without_beginning(text: &str) -> &str {
    let mut rest = text;
    loop {
        let text = rest.trim_start_matches([' ', '\n', '\r']);
        match BEGINNINGS.iter().find_map(|token| text.strip_prefix(token)) {
            Some(after) => rest = after,
            None => return text,
        }
    }
}

/// The most text that is kept, in bytes. A longer one holds no call that may run.
const MAX_KEPT: usize = 16 << 20;

/// Finds a prompt at the beginning of a text.
pub(super) enum Echo {
    /// The text so far may begin a prompt.
    Unknown(String),
    /// It begins as one.
    Prompt(String),
    /// It is none.
    None,
    /// It began as one, and grew too long: nothing in it is a call.
    TooLong,
}

/// What becomes of a text.
pub(super) enum HeardText<'t> {
    /// It is kept.
    Kept,
    /// It is the answer.
    Answer(std::borrow::Cow<'t, str>),
    /// It is text, and no markup in it counts.
    Text(std::borrow::Cow<'t, str>),
}

/// The end of a text that was kept.
pub(super) enum KeptText {
    /// The answer, after a prompt.
    Answer { prompt: String, answer: String },
    /// A prompt without an answer: it was cut.
    Prompt(String),
    /// Text in which no markup counts.
    Text(String),
    /// Text, which may be the answer.
    Unknown(String),
}

impl Default for Echo {
    fn default() -> Self {
        Echo::Unknown(String::new())
    }
}

impl Echo {
    /// Takes the next piece of text.
    pub(super) fn feed<'t>(&mut self, text: &'t str) -> HeardText<'t> {
        match self {
            Echo::None => return HeardText::Answer(text.into()),
            Echo::TooLong => return HeardText::Text(text.into()),
            Echo::Prompt(kept) => {
                kept.push_str(text);
                if kept.len() <= MAX_KEPT {
                    return HeardText::Kept;
                }
                let kept = std::mem::take(kept);
                *self = Echo::TooLong;
                return HeardText::Text(kept.into());
            }
            Echo::Unknown(kept) => kept.push_str(text),
        }
        let Echo::Unknown(kept) = self else { return HeardText::Kept };
        let begun = without_beginning(kept);
        let mut begins = FORMS.iter().flat_map(|form| form.begins).chain(&BEGINNINGS);
        if begins.clone().any(|begin| begun.starts_with(begin)) {
            let kept = std::mem::take(kept);
            *self = Echo::Prompt(kept);
            return HeardText::Kept;
        }
        if begins.any(|begin| begin.starts_with(begun)) {
            return HeardText::Kept;
        }
        let kept = std::mem::take(kept);
        *self = Echo::None;
        HeardText::Answer(kept.into())
    }

    /// The text has begun with something else: no prompt stands at its beginning.
    pub(super) fn skip(&mut self) {
        if matches!(self, Echo::Unknown(kept) if kept.is_empty()) {
            *self = Echo::None;
        }
    }

    /// Ends the text.
    pub(super) fn finish(&mut self) -> Option<KeptText> {
        match std::mem::replace(self, Echo::None) {
            Echo::Unknown(kept) if !kept.is_empty() => Some(KeptText::Unknown(kept)),
            Echo::Prompt(kept) => Some(split(kept)),
            Echo::Unknown(_) | Echo::None | Echo::TooLong => None,
        }
    }
}

/// Tells a prompt from the answer after it.
fn split(mut kept: String) -> KeptText {
    let begun = without_beginning(&kept);
    let forms =
        || FORMS.iter().filter(|form| form.begins.iter().any(|text| begun.starts_with(text)));
    let ends = forms().filter_map(|form| answer(&kept, form));
    match ends.max() {
        Some(end) => {
            let answer = kept.split_off(end);
            KeptText::Answer { prompt: kept, answer }
        }
        None if forms().all(|form| form.is_line) => KeptText::Text(kept),
        None => KeptText::Prompt(kept),
    }
}

/// Returns the place after the last opener of an assistant's turn.
fn answer(text: &str, form: &TurnForm) -> Option<usize> {
    let after = |at: usize| {
        let rest = text.after(at + form.answer.len());
        let rest = rest.strip_prefix('\r').unwrap_or(rest);
        let begins_line = text.get(..at).is_some_and(|before| before.ends_with('\n'));
        let is_opener = !form.is_line || (begins_line && rest.starts_with('\n'));
        let rest = rest.trim_start_matches('\n');
        is_opener.then(|| text.len() - rest.len())
    };
    text.rmatch_indices(form.answer).find_map(|(at, _)| after(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let chars: Vec<char> = text.chars().collect();
        for size in 1..=chars.len() {
            let (mut echo, mut said) = (Echo::default(), String::new());
            for piece in chars.chunks(size) {
                let piece: String = piece.iter().collect();
                match echo.feed(&piece) {
                    HeardText::Kept => {}
                    HeardText::Answer(text) | HeardText::Text(text) => said.push_str(&text),
                }
            }
            match echo.finish() {
                Some(KeptText::Answer { answer, .. }) => said.push_str(&answer),
                Some(KeptText::Unknown(text) | KeptText::Text(text)) => said.push_str(&text),
                Some(KeptText::Prompt(_)) | None => {}
            }
            assert_eq!(said, expected, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn the_answer_follows_the_last_opener() {
        check("<|im_start|>system\nx<|im_end|>\n<|im_start|>assistant\nHi", "Hi");
        check("<|im_start|>user\nx<|im_end|>", "");
        check("system\nx\nuser\ny\nassistant\nz\nuser\ny\nassistant\nHi", "Hi");
        check("user\nx\nmodel\nHi", "Hi");
        check("system\nassistants are here", "system\nassistants are here");
        check("systems fail", "systems fail");
        check("<|im", "<|im");
    }

    #[test]
    fn every_form_is_taken_off() {
        for form in FORMS.iter().filter(|form| !form.is_line) {
            for (begin, bos) in form.begins.iter().zip(BEGINNINGS.iter().cycle()) {
                check(&format!("{bos} {begin} x {}Hi", form.answer), "Hi");
                check(&format!("{begin} x {}\nHi", form.answer), "Hi");
            }
        }
    }
}
