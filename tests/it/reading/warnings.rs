//! Every warning code comes in some fixture's answer.

use std::fs;
use std::path::Path;

use toolstream::event::WarningCode;

use crate::case::files;

#[test]
fn every_code_is_in_some_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let answers = files(&root).into_iter().filter(|path| path.extension() == Some("out".as_ref()));
    let answers: String = answers.map(|path| fs::read_to_string(path).unwrap()).collect();
    let is_missing = |code: &&WarningCode| {
        !answers.contains(&format!("{{\"type\":\"warning\",\"code\":\"{}\"", code.name()))
    };
    let missing: Vec<_> = WarningCode::ALL.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "no fixture has {missing:?}");
}
