//! A user's rows, which are never freed, and their values: a dialect's, a format's or a program's.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::event::words::ClosedWords;

/// Declares the tables of rows: the fields of each, with what they are in a row that says nothing, which
/// is a constant, and the function that reads them, if they are words. A file may leave out those with
/// `default`; all, with `#[serde(default)]` before the table.
macro_rules! table {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident = $NEW:ident {$(
            $(#[$about:meta])*
            $field:ident: $Type:ty = $new:expr $(, $read:literal)? $(, $default:ident)?;
        )*}
    )+) => {$(
        #[derive(Clone, Copy, Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $(#[$meta])*
        $vis struct $Name {$(
            $(#[$about])*
            $(#[serde(deserialize_with = $read)])?
            $(#[serde($default)])?
            $vis $field: $Type,
        )*}

        impl $Name {
            /// The row that others are written from: what they do not say is as it is here.
            $vis const $NEW: $Name = $Name { $($field: $new,)* };
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name::$NEW
            }
        }
    )+};
}

pub(crate) use table;

/// The rows that were loaded, by their texts.
pub(crate) struct Loaded<R: 'static>(Mutex<BTreeMap<String, &'static R>>);

impl<R> Loaded<R> {
    pub(crate) const fn new() -> Self {
        Loaded(Mutex::new(BTreeMap::new()))
    }

    /// Returns the row of a text, which is kept as long as the program runs. A text that was loaded
    /// before has the row that it had then.
    pub(crate) fn row<E>(
        &self,
        text: &str,
        load: impl FnOnce(&str) -> Result<R, E>,
    ) -> Result<&'static R, E> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = rows.get(text) {
            return Ok(row);
        }
        let row: &'static R = Box::leak(Box::new(load(text)?));
        rows.insert(text.to_owned(), row);
        Ok(row)
    }

    /// Returns a row that was loaded.
    pub(crate) fn find(&self, is_it: impl Fn(&R) -> bool) -> Option<&'static R> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.values().copied().find(|row| is_it(row))
    }
}

/// Several words of a row.
type Words = &'static [&'static str];

/// Reads a word.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    Ok(String::deserialize(from)?.leak())
}

/// Reads several words.
pub(crate) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Words, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    Ok(texts.into_iter().map(|text| &*text.leak()).collect::<Vec<_>>().leak())
}

/// Reads the items of a table.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::<T>::deserialize(from)?.leak())
}

/// Reads several words, or one.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(from: D) -> Result<Words, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a word, or a list of words")]
    enum OneOrMore {
        One(String),
        Several(Vec<String>),
    }
    let words = match OneOrMore::deserialize(from)? {
        OneOrMore::One(word) => vec![word],
        OneOrMore::Several(words) => words,
    };
    Ok(words.into_iter().map(|word| &*word.leak()).collect::<Vec<_>>().leak())
}

/// Reads a table of words.
pub(crate) fn pairs<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [(&'static str, &'static str)], D::Error> {
    let pairs = BTreeMap::<String, String>::deserialize(from)?;
    let leak = |(key, value): (String, String)| (&*key.leak(), &*value.leak());
    Ok(pairs.into_iter().map(leak).collect::<Vec<_>>().leak())
}

/// Reads places, or a table of them, which makes an object.
pub(crate) fn places<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a place, or a table of places")]
    enum Said {
        Places(String),
        Object(BTreeMap<String, String>),
    }
    let places = match Said::deserialize(from)? {
        Said::Places(places) => places,
        Said::Object(members) => {
            let members = members.iter().map(|(key, places)| format!("{key}: {places}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    };
    Ok(places.leak())
}

/// Reads a word of a closed list.
pub(crate) fn word<'de, D: Deserializer<'de>, W: ClosedWords>(from: D) -> Result<W, D::Error> {
    let word = String::deserialize(from)?;
    W::from_word(&word).ok_or_else(|| {
        let words = W::all().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        D::Error::custom(format!("unknown word `{word}`, expected one of {words}"))
    })
}

/// Reads a word of a closed list that may be missing.
pub(crate) fn some_word<'de, D: Deserializer<'de>, W: ClosedWords>(
    from: D,
) -> Result<Option<W>, D::Error> {
    word(from).map(Some)
}

/// Returns the example of TOML in the documentation of a file.
#[cfg(test)]
pub(crate) fn example(page: &str) -> String {
    let lines = page.lines().skip_while(|line| *line != "//! ```toml").skip(1);
    let lines = lines.take_while(|line| *line != "//! ```");
    lines.map(|line| line.trim_start_matches("//!").to_owned() + "\n").collect()
}
