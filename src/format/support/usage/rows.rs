//! The fields of usage, and what a provider's numbers mean for them.

use crate::event::Usage;

/// One of our fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Input,
    Output,
    Total,
    Cached,
    CacheWrite,
    Reasoning,
}

/// The effect of a provider's number on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// It's the field's value, unless a row above has given one.
    Is,
    /// It's a part of the field's value.
    Adds,
}

/// The place of a provider's number, keys joined by dots, and its meaning;
/// without a field, it's only passed on. `+` is the sum over the elements of an
/// array. Of several places with `|` between them, the first at which there is
/// a number counts.
pub(crate) type CountRule = (&'static str, Op, &'static [Field]);

/// Adds a row's number to its fields.
pub(super) fn add(row: &CountRule, number: u64, usage: &mut Usage<'static>) {
    let (_, op, fields) = row;
    for &field in *fields {
        let slot = slot(usage, field);
        match op {
            Op::Is => *slot = slot.or(Some(number)),
            Op::Adds => *slot = Some(slot.unwrap_or(0).saturating_add(number)),
        }
    }
}

fn slot<'u>(usage: &'u mut Usage<'static>, field: Field) -> &'u mut Option<u64> {
    match field {
        Field::Input => &mut usage.input_tokens,
        Field::Output => &mut usage.output_tokens,
        Field::Total => &mut usage.total_tokens,
        Field::Cached => &mut usage.cached_input_tokens,
        Field::CacheWrite => &mut usage.cache_write_tokens,
        Field::Reasoning => &mut usage.reasoning_tokens,
    }
}
