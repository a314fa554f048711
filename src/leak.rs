//! Values of a user's row, which is never freed: a dialect's or a format's.

use std::collections::BTreeMap;

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

/// Reads several words, or one.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [&'static str], D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        One(String),
        Several(Vec<String>),
    }
    let words = match Words::deserialize(deserializer)? {
        Words::One(word) => vec![word],
        Words::Several(words) => words,
    };
    Ok(words.into_iter().map(|word| &*word.leak()).collect::<Vec<_>>().leak())
}

/// Reads a table of words.
pub(crate) fn pairs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [(&'static str, &'static str)], D::Error> {
    let pairs = BTreeMap::<String, String>::deserialize(deserializer)?;
    let leak = |(key, value): (String, String)| (&*key.leak(), &*value.leak());
    Ok(pairs.into_iter().map(leak).collect::<Vec<_>>().leak())
}
