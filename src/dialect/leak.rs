//! Values of a user's row, which is never freed: see [`load`](crate::dialect::load()).

use serde::{Deserialize, Deserializer};

/// Reads a word.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    Ok(String::deserialize(deserializer)?.leak())
}

/// Reads several words.
pub(crate) fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [&'static str], D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| &*text.leak()).collect::<Vec<_>>().leak())
}

/// Reads the items of a table.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::<T>::deserialize(deserializer)?.leak())
}
