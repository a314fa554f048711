//! What is public is meant: the items of the library are a list that a change of it changes too.
//!
//! `UPDATE_FIXTURES=public cargo test --test it public` writes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::case::{is_updated, root, updated};

/// What a file makes public, each with the attributes before it: items in one line, and `pub use` to its
/// end. Those in a macro, the lists of words, stand further right.
fn statements(text: &str) -> Vec<String> {
    let (mut all, mut open) = (Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let is_item = line.starts_with("pub ") || line.starts_with("    pub enum ");
        match open.contains("pub use ") {
            false if line.starts_with("#[") => open.push_str(line),
            false if is_item => open.push_str(line.trim()),
            true => open.push_str(line.trim()),
            false => open.clear(),
        }
        if (is_item && !line.starts_with("pub use ")) || line.ends_with(';') {
            all.push(std::mem::take(&mut open));
        }
    }
    all
}

/// The names that a statement makes public.
fn names(statement: &str) -> Vec<String> {
    let item = statement.split_once("pub ").filter(|_| !statement.contains("doc(hidden)"));
    let Some((_, item)) = item else { return Vec::new() };
    let gate = if statement.contains("feature = \"cli\"") { " (cli)" } else { "" };
    if let Some(path) = item.strip_prefix("use ") {
        let path = path.trim_end_matches(';');
        let list = match path.split_once('{') {
            Some((_, list)) => list.trim_end_matches(['}', ',']),
            None => path.rsplit("::").next().unwrap_or(path),
        };
        return list.split(',').map(|name| format!("{}{gate}", name.trim())).collect();
    }
    let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
    let kinds = ["fn", "struct", "enum", "trait", "type", "mod", "static"];
    words.find(|word| kinds.contains(word));
    words.find(|word| !word.is_empty()).map(|name| format!("{name}{gate}")).into_iter().collect()
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(format!("{name}.rs"));
    if file.exists() { file } else { folder.join(name).join("mod.rs") }
}

#[test]
fn the_list_of_public_items_is_the_library() {
    let source = root().join("src");
    let mut items = BTreeSet::new();
    for statement in statements(&fs::read_to_string(source.join("lib.rs")).unwrap()) {
        for name in names(&statement) {
            if !statement.contains("pub mod ") {
                items.insert(name);
                continue;
            }
            let text = fs::read_to_string(file_of(&source, &name)).unwrap();
            let inner = statements(&text).into_iter().flat_map(|one| names(&one));
            items.extend(inner.map(|item| format!("{name}::{item}")));
        }
    }
    let list: String = items.iter().map(|item| format!("{item}\n")).collect();
    let path = root().join("tests/it/house/public.txt");
    if updated().is_some_and(|part| is_updated(&part, &path.display().to_string())) {
        fs::write(&path, &list).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), list);
}

/// What a caller keeps can go to another thread.
#[test]
fn what_is_kept_can_be_sent() {
    fn is_send<T: Send + 'static>() {}
    is_send::<toolstream::Pipeline>();
    is_send::<toolstream::event::OwnedEvent>();
    is_send::<toolstream::sink::Ndjson<Vec<u8>>>();
    is_send::<toolstream::sink::Classify<Vec<u8>>>();
    fn can_be_sent<T: Send>() {}
    can_be_sent::<toolstream::convert::Converter<'static, Vec<u8>>>();
}
