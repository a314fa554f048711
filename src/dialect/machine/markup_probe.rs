//! Detects markup in text that is not to be parsed. Only the openers of calls,
//! and what must follow them, count: other text is left alone.

use memchr::memchr3;

use crate::cut::Cut as _;
use crate::dialect::body::calls::{ChoiceEmit, TextCalls};
use crate::dialect::machine::DialectMachine;
use crate::dialect::spec::StartIn;
use crate::event::{Event, Kind, Loose};

/// The bytes that a text is kept for until it needs a machine, whose tables take longer to make
/// than a short answer takes to be read.
const MAX_KEPT: usize = 4 << 10;

/// The bytes that most short answers fit into.
const USUAL: usize = 512;

/// Probes one text, up to the first call in it.
#[derive(Default)]
pub(crate) struct MarkupProbe {
    /// The text before the machine was made.
    kept: String,
    machine: Option<DialectMachine>,
}

impl MarkupProbe {
    /// Takes the next part of a text, which is cut into pieces; returns the number of the piece
    /// that shows which dialect it is in, and the dialect's name.
    pub(crate) fn feed(&mut self, text: &str, cuts: &[usize]) -> Option<(usize, &'static str)> {
        if self.machine.is_none() && self.keep(text) {
            return None;
        }
        let machine = self.machine.get_or_insert_with(|| {
            let mut machine = DialectMachine::auto(StartIn::Text, TextCalls::new(None, 1));
            feed(&mut machine, &std::mem::take(&mut self.kept));
            machine
        });
        let piece = |from: usize, to: usize| text.within(from..to);
        let mut ends = cuts.iter().copied().chain([text.len()]).enumerate().peekable();
        let mut begin = 0;
        while let Some((number, end)) = ends.next() {
            // Nothing before `calm` can be a marker.
            let calm = begin + machine.calm_length(piece(begin, text.len()));
            if end > calm {
                if let Some(name) = feed(machine, piece(begin, end)) {
                    return Some((number, name));
                }
                begin = end;
                continue;
            }
            let mut last = end;
            while let Some((_, end)) = ends.next_if(|&(_, end)| end <= calm) {
                last = end;
            }
            machine.skip(piece(begin, last));
            begin = last;
        }
        None
    }

    /// Keeps a text that needs no machine yet; returns false if it does.
    fn keep(&mut self, text: &str) -> bool {
        let is_enough = self.kept.len() + text.len() <= MAX_KEPT && first_sign(text).is_none();
        if is_enough {
            self.kept.reserve(if self.kept.is_empty() { USUAL } else { 0 });
            self.kept.push_str(text);
        }
        is_enough
    }
}

/// Returns the offset of the first byte without which no call is whole: each has a tag, a marker
/// in brackets, or JSON.
fn first_sign(text: &str) -> Option<usize> {
    memchr3(b'<', b'[', b'{', text.as_bytes())
}

/// Returns the name of the dialect if a piece opens a call.
fn feed(machine: &mut DialectMachine, text: &str) -> Option<&'static str> {
    let mut has_call = false;
    let mut emit = |event: &Event<'_>| {
        has_call |= matches!(event.kind, Kind::Loose(Loose::CallPart(_)));
        Ok(())
    };
    let fed = machine.feed(text, &mut ChoiceEmit::new(0, &mut emit));
    fed.ok().filter(|()| has_call).and_then(|()| machine.dialect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn inputs(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => inputs(&path, into),
                false if path.extension().is_some_and(|end| end == "in") => into.push(path),
                false => {}
            }
        }
    }

    #[test]
    fn no_call_opens_before_a_sign() {
        let mut paths = Vec::new();
        inputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialect"), &mut paths);
        assert!(paths.len() > 100);
        for path in paths {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let end = first_sign(&text).unwrap_or(text.len());
            let mut machine = DialectMachine::auto(StartIn::Text, TextCalls::new(None, 1));
            assert_eq!(feed(&mut machine, text.get(..end).unwrap()), None, "{}", path.display());
        }
    }
}
