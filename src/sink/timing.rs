//! When the parts of a message came.

use std::collections::BTreeMap;

use crate::event::Kind;
use crate::json::{Line, Member, members};
use crate::sink::Clock;
use crate::sink::members::MemberValue;

/// The times of a message, in milliseconds since its input was first waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    first_byte: u64,
    /// The time of the first text or refusal.
    pub(super) first_text: Option<u64>,
    /// The time at which a call was first whole.
    first_call: Option<u64>,
    /// The time of the last event.
    last: u64,
    output_tokens: Option<u64>,
    /// The number of times that each gap between two reads came.
    gaps: BTreeMap<u64, usize>,
    /// True once a message has begun.
    has_begun: bool,
}

impl Timing {
    /// Takes the time of an event. A start begins anew.
    pub(super) fn see(&mut self, kind: &Kind<'_>, clock: &Clock) {
        let now = clock.waited();
        if let Kind::Start(_) = kind {
            let first_byte = if self.has_begun { now } else { clock.first_byte() };
            *self = Timing { first_byte, has_begun: true, ..Timing::default() };
        }
        match kind {
            Kind::Text(_) | Kind::Refusal(_) => _ = self.first_text.get_or_insert(now),
            Kind::ToolCall(_) => _ = self.first_call.get_or_insert(now),
            Kind::Usage(usage) => self.output_tokens = usage.output_tokens,
            _ => {}
        }
        if let Kind::Finish(_) | Kind::Error(_) = kind {
            self.gaps = clock.take_gaps();
        }
        self.last = now;
    }

    /// Returns the tokens a second from the first byte to the end, if both are known.
    pub(super) fn tokens_per_second(&self) -> Option<u64> {
        let spent = self.last - self.first_byte;
        let tokens = self.output_tokens?.saturating_mul(1000);
        (spent > 0).then(|| tokens.saturating_add(spent / 2) / spent)
    }
}

impl MemberValue for &Timing {
    fn schema() -> String {
        let count = "{\"type\": \"integer\", \"minimum\": 0}";
        let object = |required: &str, properties: &[&str]| {
            let properties: Vec<String> =
                properties.iter().map(|property| property.replace('#', count)).collect();
            format!(
                "\"type\": \"object\", \"properties\": {{{}}}, \"required\": [{required}], \
                 \"additionalProperties\": false",
                properties.join(", ")
            )
        };
        let all = "\"p50\", \"p99\", \"max\"";
        let gap = object(all, &["\"p50\": #", "\"p99\": #", "\"max\": #"]);
        object(
            "\"first_byte_ms\", \"total_ms\"",
            &[
                "\"first_byte_ms\": #",
                "\"first_text_ms\": #",
                "\"first_call_ms\": #",
                "\"total_ms\": #",
                "\"output_tokens_per_s\": #",
                &format!("\"gap_ms\": {{{gap}}}"),
            ],
        )
    }
}

impl Member for &Timing {
    fn add(self, key: &str, line: &mut Line) {
        let count: usize = self.gaps.values().sum();
        // The smallest gap that so many of all are not longer than.
        let gap = |percent: usize| {
            let mut left = (count * percent).div_ceil(100);
            let mut gaps = self.gaps.iter();
            gaps.find_map(|(gap, times)| {
                left = left.saturating_sub(*times);
                (left == 0).then_some(*gap)
            })
        };
        members!(line; key: {
            "first_byte_ms": self.first_byte,
            "first_text_ms": self.first_text,
            "first_call_ms": self.first_call,
            "total_ms": self.last,
            "output_tokens_per_s": self.tokens_per_second(),
            ..if count > 0 {
                members!(line; "gap_ms": { "p50": gap(50), "p99": gap(99), "max": gap(100) });
            },
        });
    }
}
