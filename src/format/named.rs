//! Places that a row names once, in `[places]`. The build reads built-in rows with this, too.

use std::collections::BTreeMap;

/// Writes places in place of their names: `$NAME`, or `$NAME.a.b` for members of what stands there.
pub(crate) fn expand(text: &str, named: &BTreeMap<String, String>) -> String {
    // A name may begin with another.
    named.iter().rev().fold(text.to_owned(), |text, (name, places)| {
        let places = places.replace('\\', "\\\\").replace('"', "\\\"");
        let name = format!("${name}");
        let Some((first, rest)) = text.split_once(&name) else { return text };
        rest.split(&name).fold(first.to_owned(), |text, part| {
            let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '*' | '_' | '-');
            let end = part.find(is_end).unwrap_or(part.len());
            let (keys, rest) = part.split_at(if part.starts_with('.') { end } else { 0 });
            let paths: Vec<String> =
                places.split('|').map(|path| format!("{path}{keys}")).collect();
            text + &paths.join("|") + rest
        })
    })
}
