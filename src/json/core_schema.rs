//! What a plain scalar of YAML means, in the core schema of YAML 1.2, as JSON spells it.

/// The meaning of a plain scalar.
pub(crate) enum PlainScalar {
    /// Null, a boolean or a number, as JSON.
    Json(String),
    /// A number that JSON doesn't have, or that is longer than 128 bits.
    NoJson,
    Text,
}

/// Returns what a plain scalar means: `no` is text, `012` is twelve.
pub(crate) fn plain_scalar(text: &str) -> PlainScalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => PlainScalar::Json("null".into()),
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => {
            PlainScalar::Json(text.to_ascii_lowercase())
        }
        _ => match integer(text).or_else(|| float(text)) {
            Some(json) => PlainScalar::Json(json),
            None if is_no_json(text) => PlainScalar::NoJson,
            None => PlainScalar::Text,
        },
    }
}

/// True for a number that JSON doesn't have, or that is longer than 128 bits.
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

/// Splits hexadecimal or octal digits from their prefix; returns them and the base.
fn based(text: &str) -> Option<(&str, u32)> {
    let hex = text.strip_prefix("0x").map(|digits| (digits, 16));
    let (digits, base) = hex.or_else(|| text.strip_prefix("0o").map(|digits| (digits, 8)))?;
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    is_number.then_some((digits, base))
}

/// Returns a number with a fraction or an exponent, as JSON spells it.
fn float(text: &str) -> Option<String> {
    let (sign, text) = signed(text);
    let (mantissa, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
    let (digits, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_point = digits.len() < mantissa.len();
    let is_number = match (digits, fraction) {
        ("", fraction) => has_point && is_digits(fraction),
        (digits, "") => is_digits(digits),
        (digits, fraction) => is_digits(digits) && is_digits(fraction),
    };
    let exponent_digits = exponent
        .strip_prefix(['e', 'E'])
        .map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    if !is_number || !exponent_digits.is_none_or(is_digits) {
        return None;
    }
    let point = if has_point { "." } else { "" };
    let fraction = if has_point && fraction.is_empty() { "0" } else { fraction };
    let exponent = exponent.to_ascii_lowercase();
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

/// Strips leading zeros, which JSON forbids.
fn whole(digits: &str) -> &str {
    let bare = digits.trim_start_matches('0');
    if bare.is_empty() { "0" } else { bare }
}
