//! What is public is meant: the items of the library are a list that a change of it changes too, and
//! each group of them has its reason.
//!
//! `UPDATE_FIXTURES=public cargo test --test it public` takes out what is gone, and writes what is new
//! to the end, under a `?` in place of a reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::case::{files, is_updated, root, updated};

/// What a file makes public, each with the attributes before it: items in one line, and `pub use` to its
/// end. Those in a macro, the lists of words, stand further right.
fn statements(text: &str) -> Vec<String> {
    let (mut all, mut open) = (Vec::new(), String::new());
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let starts = ["pub ", "    pub enum ", "    pub struct "];
        let is_item = starts.iter().any(|start| line.starts_with(start));
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
    let path = root().join("tests/it/house/public.txt");
    let list = fs::read_to_string(&path).unwrap();
    let wanted = with_items(&list, items);
    if updated().is_some_and(|part| is_updated(&part, &path.display().to_string())) {
        fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(list, wanted);
    assert!(!list.contains(NO_REASON), "say why they are public");
}

/// The head of a group without a reason.
const NO_REASON: &str = "# ?\n";

/// Returns the list with these items, each once: groups, each after the line with its reason.
fn with_items(list: &str, mut items: BTreeSet<String>) -> String {
    let mut wanted = String::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        match line.starts_with('#') {
            true if !wanted.is_empty() => wanted += "\n",
            false if !items.remove(line) => continue,
            _ => {}
        }
        wanted += &format!("{line}\n");
    }
    if !items.is_empty() {
        wanted += &format!("\n{NO_REASON}");
        wanted.extend(items.iter().map(|item| format!("{item}\n")));
    }
    wanted
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

/// Another version of serde_json changes nothing for a caller.
#[test]
fn no_public_item_names_a_type_of_serde_json() {
    let types = ["serde_json", "RawValue", ": Value", "-> Value", "<Value", "&Value", "(Value"];
    for path in files(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        for (at, _) in text.match_indices("pub ") {
            let item = &text[at..];
            let end = match item.split(' ').nth(1) {
                Some("fn") => item.find(['{', ';']),
                Some("enum" | "trait") => item.find("\n}"),
                _ => item.find(['(', '\n']),
            };
            let item = &item[..end.unwrap_or(item.len())];
            let is_named = types.iter().any(|name| item.contains(name));
            assert!(!is_named, "{}: {item}", path.display());
        }
    }
}
