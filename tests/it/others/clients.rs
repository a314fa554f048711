//! The providers' own clients against `replay --listen`. They are installed from the network, so
//! this runs only if it is asked for: `cargo test --test it clients -- --ignored`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::agents::scene::{Scene, calls, says};
use crate::captures::listening::Server;
use crate::case::root;

const PYTHON: &[&str] = &["openai==2.54.0", "anthropic==2.12.0"];
const JAVASCRIPT: &[&str] = &["ai@6.0.326", "@ai-sdk/openai@3.0.141", "@ai-sdk/anthropic@3.0.138"];

/// The clients in a folder of the build's own.
struct Clients(PathBuf);

/// Runs a command to its end.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {err}");
    String::from_utf8(output.stdout).unwrap()
}

impl Clients {
    fn install() -> Self {
        let folder = cargo_bin("toolstream").parent().unwrap().join("clients");
        if !folder.join("venv").exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")));
        }
        run(Command::new(folder.join("venv/bin/pip")).args(["install", "-q"]).args(PYTHON));
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        run(npm.arg(&folder).args(JAVASCRIPT));
        let scripts = root().join("tests/it/others/clients");
        for name in ["clients.py", "clients.mjs"] {
            fs::copy(scripts.join(name), folder.join(name)).unwrap();
        }
        Clients(folder)
    }

    /// What a client makes of a server.
    #[track_caller]
    fn ask(&self, name: &str, server: &Server) -> Value {
        let Clients(folder) = self;
        let (program, script) = match name.starts_with("ai-sdk") {
            true => (Path::new("node").to_owned(), "clients.mjs"),
            false => (folder.join("venv/bin/python"), "clients.py"),
        };
        let mut command = Command::new(program);
        command.arg(folder.join(script)).arg(name).arg(format!("http://{}", server.address));
        serde_json::from_str(&run(&mut command)).unwrap()
    }
}

/// One capture of chat completions is every provider: its clients try again after 529, run the tool
/// and ask again, and take no stream that broke for an answer.
#[test]
#[ignore = "installs clients from the network"]
fn the_clients_of_providers_are_answered() {
    let clients = Clients::install();
    let call = calls(&[("call_1", "f", "{\"city\":\"Oslo\"}")]);
    let scene = Scene::new(&[call, says("There.", "stop")]);
    for name in [
        "openai", "responses", "anthropic", "ai-sdk-openai", "ai-sdk-responses", "ai-sdk-anthropic",
    ] {
        let answered = json!({"city": "Oslo", "text": "There."});
        for args in [&["--fail", "2:529"][..], &["--chunk", "1"], &["--chunk", "random:5"]] {
            let server = Server::start(&scene, &[args, &["1.sse", "2.sse"]].concat());
            assert_eq!(clients.ask(name, &server), answered, "{name} {args:?}");
        }
        // What each SDK says of a connection that closes, and of the provider's error.
        let closed = ["peer closed connection", "Failed to process successful response"];
        // The SDK for Python passes over the error of a response, and misses the end.
        let overloaded = ["verloaded", "Didn't receive a `response.completed` event"];
        for (args, words) in [
            (&["--drop", "--cut", "frame:1"][..], &closed[..]),
            (&["--error", "overloaded@frame:1"], &overloaded),
        ] {
            let server = Server::start(&scene, &[args, &["1.sse", "2.sse"]].concat());
            let said = clients.ask(name, &server);
            let error = said["error"].as_str().unwrap_or_default();
            assert!(words.iter().any(|word| error.contains(word)), "{name} {args:?} {said}");
        }
    }
}
