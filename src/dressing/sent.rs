//! What a program was sent, where it prints that again before the answer.

use crate::cut::Cut as _;
use std::sync::Arc;

/// The shortest text that is looked for, in bytes: a word or two may be the answer's own.
const SHORTEST: usize = 16;

/// Finds texts that were sent at the beginning of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Sent {
    texts: Arc<[String]>,
    held: String,
    has_dropped: bool,
    is_over: bool,
}

impl Sent {
    pub(super) fn new(texts: Arc<[String]>) -> Sent {
        let is_over = texts.iter().all(|text| text.trim().len() < SHORTEST);
        Sent { texts, held: String::new(), has_dropped: false, is_over }
    }

    /// True if nothing is held, and no text is looked for any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the next piece; returns what was sent and is printed again, and once that is over what
    /// follows it.
    pub(super) fn feed(&mut self, text: &str, ended: bool) -> (Vec<String>, Option<String>) {
        self.held.push_str(text);
        let mut prompts = Vec::new();
        loop {
            let begun = self.held.trim_start();
            let texts = self.texts.iter().map(|text| text.trim());
            let texts = || texts.clone().filter(|text| text.len() >= SHORTEST);
            let is_open =
                !ended && texts().any(|text| text.len() > begun.len() && text.starts_with(begun));
            if is_open {
                return (prompts, None);
            }
            let whole =
                texts().filter(|text| begun.starts_with(text)).max_by_key(|text| text.len());
            let Some(whole) = whole else {
                self.is_over = true;
                let rest = if self.has_dropped { begun.to_owned() } else { self.held.clone() };
                self.held.clear();
                return (prompts, Some(rest));
            };
            let rest = begun.after(whole.len()).trim_start().to_owned();
            prompts.push(whole.to_owned());
            self.has_dropped = true;
            self.held = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, prompts: &[&str], answer: &str) {
        let texts =
            ["When does the train leave?", "When does the train leave? Say it in words.", "Hi"];
        let texts: Arc<[String]> = texts.map(str::to_owned).into();
        for size in 1..=text.len() {
            let mut sent = Sent::new(Arc::clone(&texts));
            let (mut found, mut said) = (Vec::new(), String::new());
            for piece in text.as_bytes().chunks(size) {
                let piece = std::str::from_utf8(piece).unwrap();
                if sent.is_over() {
                    said.push_str(piece);
                    continue;
                }
                let (more, rest) = sent.feed(piece, false);
                found.extend(more);
                said.extend(rest);
            }
            if !sent.is_over() {
                let (more, rest) = sent.feed("", true);
                found.extend(more);
                said.extend(rest);
            }
            assert_eq!(
                (found.as_slice(), said.as_str()),
                (&prompts.iter().map(|it| it.to_string()).collect::<Vec<_>>()[..], answer),
                "{text:?} by {size}"
            );
        }
    }

    #[test]
    fn the_longest_text_is_dropped() {
        check(
            "\nWhen does the train leave?\nAt nine.",
            &["When does the train leave?"],
            "At nine.",
        );
        check(
            "When does the train leave? Say it in words. Nine.",
            &["When does the train leave? Say it in words."],
            "Nine.",
        );
        check("Hi there.", &[], "Hi there.");
        check("When does", &[], "When does");
    }
}
