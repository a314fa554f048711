//! What a plain scalar is: the core schema of YAML 1.2, as JSON.

use crate::dialect::body::value;
use crate::json;
use crate::tools::Types;

/// A plain scalar as JSON: what the core schema says, if it may be that here, or
/// else what its text spells, or a string. Nothing for numbers that JSON doesn't
/// have.
pub(super) fn encode(text: &str, types: Option<Types>) -> Option<String> {
    let allowed = types.unwrap_or(Types::ANY);
    let resolved = match text {
        "" | "~" | "null" | "Null" | "NULL" => {
            Some("null".to_owned()).filter(|_| allowed.null || !allowed.string)
        }
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => {
            Some(text.to_ascii_lowercase()).filter(|_| allowed.boolean)
        }
        _ => match (integer(text), float(text)) {
            (Some(json), _) => Some(json).filter(|_| allowed.integer || allowed.number),
            (None, Some(json)) => Some(json).filter(|_| allowed.number),
            (None, None) if is_no_json(text) => {
                let is_string = types.is_some_and(|types| types.string);
                return is_string.then(|| json::quote(text));
            }
            (None, None) => None,
        },
    };
    Some(match (resolved, types) {
        (Some(json), _) => json,
        (None, Some(types)) => value::encode(text, types),
        (None, None) => json::quote(text),
    })
}

/// Whether a plain scalar is the same as a key of JSON, where all keys are
/// strings.
pub(super) fn is_key(text: &str) -> bool {
    encode(text, None).is_some_and(|json| json == text || json.starts_with('"'))
}

/// Whether it's a number that JSON doesn't have, or that is too long to count.
fn is_no_json(text: &str) -> bool {
    let is_infinite = matches!(signed(text).1, ".inf" | ".Inf" | ".INF");
    is_infinite || matches!(text, ".nan" | ".NaN" | ".NAN") || based(text).is_some()
}

fn integer(text: &str) -> Option<String> {
    if let Some((digits, base)) = based(text) {
        return u128::from_str_radix(digits, base).ok().map(|number| number.to_string());
    }
    let (sign, digits) = signed(text);
    is_digits(digits).then(|| format!("{sign}{}", whole(digits)))
}

/// Hexadecimal or octal digits, and which.
fn based(text: &str) -> Option<(&str, u32)> {
    let hex = text.strip_prefix("0x").map(|digits| (digits, 16));
    let (digits, base) = hex.or_else(|| text.strip_prefix("0o").map(|digits| (digits, 8)))?;
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    is_number.then_some((digits, base))
}

/// A number with a fraction or an exponent.
fn float(text: &str) -> Option<String> {
    let (sign, text) = signed(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (digits, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_point = digits.len() < mantissa.len();
    let is_number = match (digits, fraction) {
        ("", fraction) => has_point && is_digits(fraction),
        (digits, "") => is_digits(digits),
        (digits, fraction) => is_digits(digits) && is_digits(fraction),
    };
    let exponent_digits =
        exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    if !is_number || !exponent_digits.is_none_or(is_digits) {
        return None;
    }
    let point = if has_point { "." } else { "" };
    let fraction = if has_point && fraction.is_empty() { "0" } else { fraction };
    let exponent = exponent.map(|exponent| format!("e{exponent}")).unwrap_or_default();
    Some(format!("{sign}{}{point}{fraction}{exponent}", whole(digits)))
}

fn signed(text: &str) -> (&str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// JSON has no zeros in front.
fn whole(digits: &str) -> &str {
    let bare = digits.trim_start_matches('0');
    if bare.is_empty() { "0" } else { bare }
}
