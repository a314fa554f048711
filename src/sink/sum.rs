//! `classify --sum`: how many messages of which type there were, what they cost, and the calls by
//! their names.

use std::collections::BTreeMap;
use std::{fmt, io};

use crate::event::{Event, Kind, Pieces};
use crate::sink::Sink;
use crate::sink::classify::SummaryEnding;

/// The most names of calls that are counted one by one.
const MAX_NAMES: usize = 10_000;

/// The most of them that are shown.
const MAX_SHOWN: usize = 10;

/// The sum of messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    /// The number of messages of each type.
    types: BTreeMap<&'static str, u64>,
    input_tokens: u64,
    output_tokens: u64,
    /// The number of messages that said no tokens.
    without_usage: u64,
    /// True if the open message has said its tokens.
    has_usage: bool,
    /// The number of calls of each name.
    calls: BTreeMap<String, u64>,
    /// The number of calls of other names.
    others: u64,
}

impl Sum {
    fn see(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Finish(finish) => self.end(SummaryEnding::Good(*finish)),
            Kind::Error(failure) => self.end(SummaryEnding::Bad(*failure)),
            Kind::Usage(usage) => {
                self.has_usage = true;
                add_to(&mut self.input_tokens, usage.input_tokens.unwrap_or_default());
                add_to(&mut self.output_tokens, usage.output_tokens.unwrap_or_default());
            }
            Kind::ToolCall(call) => self.count(call.name, 1),
            _ => {}
        }
    }

    fn end(&mut self, ending: SummaryEnding<'_>) {
        *self.types.entry(ending.of_type().name()).or_default() += 1;
        self.without_usage += u64::from(!std::mem::take(&mut self.has_usage));
    }

    fn count(&mut self, name: &str, calls: u64) {
        if let Some(count) = self.calls.get_mut(name) {
            *count += calls;
        } else if self.calls.len() < MAX_NAMES {
            self.calls.insert(name.to_owned(), calls);
        } else {
            self.others += calls;
        }
    }

    /// Adds the messages of another input.
    pub(crate) fn add(&mut self, other: Sum) {
        for (name, count) in other.types {
            *self.types.entry(name).or_default() += count;
        }
        add_to(&mut self.input_tokens, other.input_tokens);
        add_to(&mut self.output_tokens, other.output_tokens);
        self.without_usage += other.without_usage;
        other.calls.iter().for_each(|(name, count)| self.count(name, *count));
        self.others += other.others;
    }
}

/// Adds tokens, as many as can be counted.
fn add_to(sum: &mut u64, tokens: u64) {
    *sum = sum.saturating_add(tokens);
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |count| format!("{} message{}", grouped(count), if count == 1 { "" } else { "s" });
        f.write_str(&counted(self.types.values().sum()))?;
        for (at, (name, count)) in self.types.iter().enumerate() {
            write!(f, "{}{} {name}", if at == 0 { ": " } else { ", " }, grouped(*count))?;
        }
        let (input, output) = (grouped(self.input_tokens), grouped(self.output_tokens));
        write!(f, "; {input} tokens in, {output} out")?;
        if self.without_usage > 0 {
            write!(f, " ({} without usage)", counted(self.without_usage))?;
        }
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (at, (name, count)) in calls.iter().take(MAX_SHOWN).enumerate() {
            let name = if name.is_empty() { "(no name)" } else { name };
            write!(f, "{}{name} {}", if at == 0 { "; calls: " } else { ", " }, grouped(**count))?;
        }
        let hidden = calls.iter().skip(MAX_SHOWN).map(|(_, count)| **count).sum::<u64>();
        match hidden + self.others {
            0 => Ok(()),
            more => write!(f, ", others {}", grouped(more)),
        }
    }
}

/// A sink before another one, which counts what passes.
pub(crate) struct Summed<'s, S> {
    inner: S,
    sum: &'s mut Sum,
}

impl<'s, S: Sink> Summed<'s, S> {
    /// Adds to `sum`, and hands on to `inner`.
    pub(crate) fn new(inner: S, sum: &'s mut Sum) -> Self {
        Summed { inner, sum }
    }
}

impl<S: Sink> Sink for Summed<'_, S> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.sum.see(&event.kind);
        self.inner.feed(event)
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.inner.feed_pieces(pieces)
    }

    fn inner(&mut self) -> Option<&mut dyn Sink> {
        Some(&mut self.inner)
    }
}

/// Returns a number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &str) {
        let mut sum = Sum::default();
        names.iter().for_each(|name| sum.count(name, 1));
        assert_eq!(sum.to_string(), expected);
    }

    #[test]
    fn the_commonest_names_come_first() {
        check(&[], "0 messages; 0 tokens in, 0 out");
        check(&["b", "a", "b", ""], "0 messages; 0 tokens in, 0 out; calls: b 2, (no name) 1, a 1");
        let names: Vec<String> = (0..15_000).map(|number| format!("f{number:05}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shown: Vec<String> = (0..MAX_SHOWN).map(|number| format!("f{number:05} 1")).collect();
        let expected = format!("calls: {}, others 14,990", shown.join(", "));
        check(&names, &format!("0 messages; 0 tokens in, 0 out; {expected}"));
    }

    #[test]
    fn tokens_are_counted_as_far_as_it_goes() {
        let mut sum = Sum { input_tokens: u64::MAX, ..Sum::default() };
        sum.add(Sum { input_tokens: 1, output_tokens: 1, ..Sum::default() });
        let expected = "0 messages; 18,446,744,073,709,551,615 tokens in, 1 out";
        assert_eq!(sum.to_string(), expected);
    }
}
