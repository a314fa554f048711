//! What is given away, installed where there is no Rust: `cargo test --test it dist -- --ignored`,
//! after `.ci/dist`, whose folder DIST names (target/dist by default).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

use crate::case::{files, root};

const STREAM: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":\
    {\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// The file that was given away with this end of its name.
fn given(end: &str) -> PathBuf {
    let folder = env::var_os("DIST").map_or_else(|| root().join("target/dist"), PathBuf::from);
    let file = files(&folder).into_iter().find(|path| path.to_string_lossy().ends_with(end));
    file.unwrap_or_else(|| panic!("no *{end} in {}: run .ci/dist", folder.display()))
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The program of this package reads a stream, ends as it should, and has Cargo.toml's version.
fn check(program: &dyn Fn() -> Command, folder: &Path) {
    let stream = folder.join("stream.sse");
    fs::write(&stream, STREAM).unwrap();
    let open = || fs::File::open(&stream).unwrap();
    let out = run(program().arg("show").stdin(open()));
    assert_eq!(out, "Hi.");
    assert_eq!(
        run(program().arg("--version")),
        concat!("toolstream ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let cut =
        program().arg("classify").stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
    assert_eq!(cut.status.code(), Some(4));
}

#[test]
#[ignore = "needs what .ci/dist builds, and root"]
fn the_static_program_runs_in_an_empty_root() {
    let folder = TempDir::new().unwrap();
    let archive = given("x86_64-unknown-linux-gnu.tar.gz");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .args(["--strip-components=1", "-C"])
        .arg(folder.path()));
    for name in ["toolstream.1", "LICENSE", "README.md", "completions/toolstream.bash"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    let program = || {
        let mut command = Command::new("chroot");
        command
            .arg(folder.path())
            .arg("/toolstream")
            .env_clear()
            .env("PATH", env::var("PATH").unwrap());
        command
    };
    check(&program, folder.path());
}

#[test]
#[ignore = "needs what .ci/dist builds"]
fn the_wheel_installs_the_program_and_a_module() {
    let folder = TempDir::new().unwrap();
    run(Command::new("python3").args(["-m", "venv"]).arg(folder.path()));
    let bin = folder.path().join("bin");
    run(Command::new(bin.join("pip"))
        .args(["install", "-q", "--no-index"])
        .arg(given("x86_64.whl")));
    check(&|| Command::new(bin.join("toolstream")), folder.path());
    let module = || {
        let mut command = Command::new(bin.join("python"));
        command.args(["-m", "toolstream"]);
        command
    };
    check(&module, folder.path());
}

#[test]
#[ignore = "needs what .ci/dist builds, and npm"]
fn the_npm_package_installs_the_program() {
    let folder = TempDir::new().unwrap();
    run(Command::new("npm")
        .args(["install", "--silent", "--offline", "--prefix"])
        .arg(folder.path())
        .arg(given(".tgz")));
    check(&|| Command::new(folder.path().join("node_modules/.bin/toolstream")), folder.path());
}
