//! The instructions that streams take.

use std::fs;

use crate::callgrind::instructions;
use crate::case::Case;

/// The instructions for each byte of the fixtures of a format, one after another: what this build
/// took when they were last counted.
const COUNTS: &[(&str, f64)] = &[
    ("anthropic", 139.3),
    ("gemini", 102.3),
    ("ollama-chat", 254.4),
    ("openai-chat", 174.1),
    ("openai-responses", 107.2),
];

/// What another compiler, and new fixtures, may change.
const LEEWAY: f64 = 1.25;

/// The bytes of a stream.
const SIZE: usize = 400_000;

/// Returns the fixtures of a format that come without options, over and over.
fn stream(format: &str) -> Vec<u8> {
    let cases = Case::all().into_iter().filter(|case| {
        case.args.is_empty() && case.name.starts_with(&format!("fixtures/format/{format}/"))
    });
    let inputs: Vec<u8> = cases.flat_map(|case| case.input).collect();
    inputs.iter().copied().cycle().take(SIZE).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn no_format_takes_more_instructions_than_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut over = Vec::new();
    for (format, expected) in COUNTS {
        let input = folder.path().join(format);
        fs::write(&input, stream(format)).unwrap();
        let (program, args) = (env!("CARGO_BIN_EXE_toolstream"), ["parse", "-f", format]);
        let Some(count) = instructions(program, &args, &input) else { return };
        let per_byte = count as f64 / SIZE as f64;
        if per_byte > expected * LEEWAY {
            over.push(format!("{format}: {per_byte:.1}, not {expected}"));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}
