//! What fuzzing has found and kept goes through its target again: each find, and
//! one input for each way through the code.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use crate::case::files;
use crate::checks::TARGETS;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz")
}

#[test]
fn what_was_kept_holds() {
    let mut failed = Vec::new();
    for (name, check) in TARGETS {
        let inputs = files(&folder().join("corpus").join(name));
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for path in inputs {
            let bytes = fs::read(&path).unwrap();
            if catch_unwind(|| check(&bytes)).is_err() {
                failed.push(path.display().to_string());
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_target_is_a_file_and_a_folder() {
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let stems = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    };
    assert_eq!(stems(&folder().join("targets")), names);
    assert_eq!(stems(&folder().join("corpus")), names);
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    for name in &names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "Cargo.toml doesn't know {name}");
    }
}
