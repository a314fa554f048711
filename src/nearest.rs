//! Names that are spelled alike, for messages.

/// The most names that a message suggests.
const MAX_NEAR: usize = 3;

/// The similarity from which on a name is suggested, from 0 to 1.
const MIN_LIKENESS: f64 = 0.75;

/// Returns the names that are spelled most like this one, the nearest first.
pub(crate) fn nearest<'n>(name: &str, names: &[&'n str]) -> Vec<&'n str> {
    let name = name.to_lowercase().replace('_', "-");
    let mut near: Vec<(f64, &str)> = names
        .iter()
        .map(|known| {
            let plain = known.replace('_', "-");
            let is_part =
                name.len().min(plain.len()) > 2 && (plain.contains(&name) || name.contains(&plain));
            let likeness = strsim::jaro_winkler(&name, &plain);
            (if is_part { likeness.max(MIN_LIKENESS) } else { likeness }, *known)
        })
        .filter(|(likeness, _)| *likeness >= MIN_LIKENESS)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, name)| name).take(MAX_NEAR).collect()
}
