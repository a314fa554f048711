//! `--ids clean`: ids that every provider takes.

use std::borrow::Cow;

/// The longest id that every provider takes.
const MAX_LENGTH: usize = 64;
/// The length of the mark of an id that was changed.
const MARK: usize = 17;

/// Returns the id if it has 1 to 64 letters, digits, `_` and `-`; otherwise one that has, and that
/// no other id becomes: with a checksum of the id at its end.
pub(super) fn clean(id: &str) -> Cow<'_, str> {
    let is_clean = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= MAX_LENGTH && id.chars().all(is_clean) {
        return id.into();
    }
    let kept = id.chars().map(|c| if is_clean(c) { c } else { '_' }).take(MAX_LENGTH - MARK);
    format!("{}_{:016x}", kept.collect::<String>(), checksum(id.as_bytes())).into()
}

/// FNV-1a. Source: RFC 9923.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_id_stays() {
        assert_eq!(clean("toolu_01-A"), "toolu_01-A");
        assert_eq!(clean(&"a".repeat(64)), "a".repeat(64));
    }

    #[test]
    fn others_are_told_apart() {
        let ids = ["functions.weather:0", "functions_weather:0", "functions.weather_0", "", "é"];
        let long = "a".repeat(65);
        let mut cleaned: Vec<_> = ids.iter().copied().chain([long.as_str()]).map(clean).collect();
        assert_eq!(cleaned[0], "functions_weather_0_f403ae4b6d15ba46");
        assert!(cleaned.iter().all(|id| *id == clean(id) && !id.is_empty()), "{cleaned:?}");
        cleaned.sort();
        cleaned.dedup();
        assert_eq!(cleaned.len(), 6);
    }
}
