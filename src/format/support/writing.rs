//! Shared by several encoders: words for errors, the texts of a whole message; times,
//! which readers need as well.

use std::borrow::Cow;
use std::ops::Range;

use crate::cut::Cut as _;
use crate::event::{CallInput, Code, Failure, ToolCall};
use crate::format::write::{BlockKind, Part, TextBlock};
use crate::json;

/// Returns the type of an error in the words of OpenAI and Anthropic: the provider's own if it is
/// one.
pub(crate) fn error_type<'f>(failure: &Failure<'f>) -> Cow<'f, str> {
    match (failure.provider_code, failure.status) {
        (Some(code), _) if code.ends_with("_error") => code.into(),
        (_, Some(429)) | (Some("429"), _) => "rate_limit_error".into(),
        (_, Some(503 | 529)) | (Some("503" | "529"), _) => "overloaded_error".into(),
        _ => "api_error".into(),
    }
}

/// Returns the word for an error that is most exact: the provider's, or ours.
pub(crate) fn error_word<'f>(failure: &Failure<'f>) -> Cow<'f, str> {
    match failure.code {
        Code::Provider => failure.provider_code.unwrap_or("provider").into(),
        code => code.name().into(),
    }
}

/// Returns the message of an error where a format has no place for our word beside it.
pub(crate) fn error_message<'f>(failure: &Failure<'f>) -> Cow<'f, str> {
    match failure.code {
        Code::Provider => failure.message.into(),
        code => format!("{}: {}", code.name(), failure.message).into(),
    }
}

/// Returns the input of a call as a JSON object: free text as its member `input`.
pub(crate) fn input_object(input: CallInput<'_>) -> Cow<'_, str> {
    match input {
        CallInput::Arguments(json) => json.into(),
        CallInput::Text(text) => format!("{{\"input\":{}}}", json::quote(text)).into(),
    }
}

/// Returns the texts of the blocks of some kinds, joined; nothing if they are empty.
pub(crate) fn texts(parts: &[Part], is_wanted: impl Fn(&BlockKind) -> bool) -> Option<String> {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Block(block) if is_wanted(&block.kind) => Some(block.text.as_str()),
        _ => None,
    });
    Some(texts.collect::<String>()).filter(|text| !text.is_empty())
}

/// Returns the calls that the caller has to run.
pub(crate) fn calls(parts: &[Part]) -> impl Iterator<Item = ToolCall<'_>> {
    let calls = parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call.get()),
        _ => None,
    });
    calls.filter(|call| call.executor.is_none())
}

/// Returns the text of each part of a thought.
pub(crate) fn texts_of_parts(block: &TextBlock) -> impl DoubleEndedIterator<Item = &str> {
    let begins = std::iter::once(0).chain(block.parts.iter().copied());
    let mut ends: Vec<usize> = block.parts.clone();
    ends.push(block.text.len());
    let ranges: Vec<_> = begins.zip(ends).collect();
    ranges.into_iter().map(|(begin, end)| block.text.within(begin..end))
}

/// Returns a time in seconds since 1970 as RFC 3339 writes it.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
pub(crate) fn timestamp(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096;
    let year_of_era = (day_of_era + day_of_era / 36_524 - leap_days) / 365;
    let day_of_year = day_of_era + year_of_era / 100 - 365 * year_of_era - year_of_era / 4;
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + next;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the time that RFC 3339 writes so, in whole seconds since 1970, if it is after that.
///
/// Source: as [`timestamp`], `days_from_civil`.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let number = |range: Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let zone = text.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign, rest) => {
            let (hours, minutes) = rest.split_once(':')?;
            let offset = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
            if sign == "-" { -offset } else { offset }
        }
    };
    let year = if month > 2 { year } else { year.checked_sub(1)? };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + day_of_year;
    let days = (year / 400 * 146_097 + day_of_era).checked_sub(719_468)?;
    let local = days * 86_400 + hour * 3_600 + minute * 60 + second;
    local.checked_add_signed(-offset).filter(|seconds| is_date && *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_times() {
        for seconds_since in [1, 951_782_400, 951_868_799, 951_868_800, 1_735_689_599] {
            assert_eq!(seconds(&timestamp(seconds_since)), Some(seconds_since));
        }
        assert_eq!(seconds("2024-12-31T23:59:59.123456789Z"), Some(1_735_689_599));
        assert_eq!(seconds("2025-01-01T01:29:59.5+01:30"), Some(1_735_689_599));
        assert_eq!(seconds("2024-12-31T15:59:59-08:00"), Some(1_735_689_599));
        for none in
            ["", "T", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2024-13-01T00:00:00Z"]
        {
            assert_eq!(seconds(none), None, "{none}");
        }
        assert_eq!(seconds("2024-12-31T23:59:59"), None);
    }

    #[test]
    fn times_are_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(timestamp(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(timestamp(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
