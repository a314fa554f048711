//! The library under WebAssembly: the example `events`, built for wasm32-wasip1 and run by wasmtime,
//! prints of each fixture what it prints here. Needs the target (`rustup target add wasm32-wasip1`)
//! and the network, from which wasmtime comes: `cargo test --test it wasm -- --ignored`.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::case::{files, root};
use crate::pages::examples::events;

const WASMTIME: &str = "wasmtime==50.0.1";

#[track_caller]
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

#[test]
#[ignore = "builds for wasm32-wasip1, and installs wasmtime from the network"]
fn wasm_prints_of_each_fixture_what_this_machine_does() {
    let target = root().join("target/wasm");
    let venv = target.join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    run(Command::new(venv.join("bin/pip")).args(["install", "-q", WASMTIME]));
    let manifest = root().join("tests/examples/wasm/Cargo.toml");
    run(Command::new(env!("CARGO"))
        .args(["build", "-q", "--locked", "--target", "wasm32-wasip1", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(&target));

    let inputs = files(&root().join("fixtures")).into_iter();
    let inputs: Vec<_> =
        inputs.filter(|path| path.extension().is_some_and(|end| end == "in")).collect();
    assert!(inputs.len() > 1000, "{} fixtures", inputs.len());
    let out = TempDir::new().unwrap();
    let mut runner = Command::new(venv.join("bin/python"));
    runner.arg(root().join("tests/it/others/wasm.py"));
    runner.arg(target.join("wasm32-wasip1/debug/events.wasm")).arg(out.path());
    let mut runner = runner.stdin(Stdio::piped()).spawn().unwrap();
    let list: String = inputs.iter().map(|path| format!("{}\n", path.display())).collect();
    runner.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    assert!(runner.wait().unwrap().success());

    let differ = inputs.iter().enumerate().filter(|(number, path)| {
        let mut here = Vec::new();
        events::run(fs::File::open(path).unwrap(), &mut here).unwrap();
        fs::read(out.path().join(number.to_string())).unwrap() != here
    });
    let differ: Vec<_> = differ.map(|(_, path)| path.display().to_string()).collect();
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    eprintln!("{} fixtures", inputs.len());
}
