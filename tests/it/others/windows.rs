//! The program of Windows, run by wine: it prints what the program prints here, and says what needs
//! Unix. Needs the target (`rustup target add x86_64-pc-windows-gnu`), its linker and wine (Debian's
//! gcc-mingw-w64-x86-64 and wine64): `cargo test --test it windows -- --ignored`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::case::{files, root};

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolstream");

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Where wine may be: Debian has it beside the paths of programs.
const WINE: [&str; 3] = ["wine64", "wine", "/usr/lib/wine/wine64"];

/// The program of Windows, and what wine keeps of its machine, in a folder.
struct Machine {
    wine: &'static str,
    folder: TempDir,
    /// A program that waits for its input: the machine of wine stays on as long as one runs.
    waiting: Option<Child>,
}

impl Machine {
    fn new() -> Self {
        let target = root().join("target");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "-q", "--locked", "--bin", "toolstream", "--target", TARGET]);
        assert!(cargo.arg("--target-dir").arg(&target).status().unwrap().success());
        let folder = TempDir::new().unwrap();
        let program = target.join(TARGET).join("debug/toolstream.exe");
        fs::copy(program, folder.path().join("toolstream.exe")).unwrap();
        let mut linker = Command::new("x86_64-w64-mingw32-gcc");
        linker.arg("-shared").arg(root().join("tests/it/others/windows.c")).arg("-ladvapi32");
        linker.arg("-o").arg(folder.path().join("bcryptprimitives.dll"));
        assert!(linker.status().unwrap().success());
        let is_there = |wine: &&&str| Command::new(wine).arg("--version").output().is_ok();
        let wine = WINE.iter().find(is_there).expect("wine");
        let mut machine = Machine { wine, folder, waiting: None };
        let mut waiting = machine.program(&["parse"]);
        machine.waiting =
            Some(waiting.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
        machine
    }

    /// The program with these arguments, in the folder.
    fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.wine);
        command.arg(self.folder.path().join("toolstream.exe")).args(args);
        command.env("WINEPREFIX", self.folder.path().join("wine")).env("WINEDEBUG", "-all");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.program(args).output().unwrap()
    }

    /// Runs it, and the program of this machine: both write the same.
    #[track_caller]
    fn check_same(&self, args: &[&str]) {
        let here = Command::new(PROGRAM).args(args).output().unwrap();
        let there = self.run(args);
        assert_eq!(text(&there.stdout), text(&here.stdout), "{args:?}");
        assert_eq!(text(&there.stderr), text(&here.stderr), "{args:?}");
        assert_eq!(there.status.code(), here.status.code(), "{args:?}");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.waiting.take().map(Child::wait_with_output);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A case of each format that takes no arguments.
fn cases() -> impl Iterator<Item = PathBuf> {
    let folder = root().join("fixtures/format");
    let inputs = files(&folder).into_iter().filter(|path| path.extension() == Some("in".as_ref()));
    let plain = inputs.filter(|path| !path.with_extension("args").exists());
    let format =
        |path: &Path| path.strip_prefix(&folder).unwrap().iter().next().unwrap().to_owned();
    plain.map(|path| (format(&path), path)).collect::<BTreeMap<_, _>>().into_values()
}

#[test]
#[ignore = "builds for x86_64-pc-windows-gnu, and runs wine"]
fn windows_prints_what_this_machine_does() {
    let machine = Machine::new();
    let mut count = 0;
    for case in cases() {
        let read = machine.program(&["parse"]).stdin(File::open(&case).unwrap()).output().unwrap();
        let answer = fs::read_to_string(case.with_extension("out")).unwrap();
        assert_eq!(text(&read.stdout), answer, "{}", case.display());
        count += 1;
    }
    assert!(count > 10, "{count} formats");
    eprintln!("{count} formats");

    let case = root().join("fixtures/format/openai-chat/weather_in_two_cities.in");
    let (name, bytes) = (case.to_str().unwrap(), fs::read_to_string(&case).unwrap());
    machine.check_same(&["show", "--with", "all", name]);
    machine.check_same(&["convert", "--to", "anthropic", name]);
    machine.check_same(&["classify", "--exit-code", name]);
    machine.check_same(&["formats"]);

    // Lines end as they come, in files and in pipes, and files are written whole.
    let at = |name: &str| machine.folder.path().join(name);
    fs::create_dir_all(at("captures/inner")).unwrap();
    fs::write(at("captures/unix.sse"), &bytes).unwrap();
    let dos = bytes.replace('\n', "\r\n");
    fs::write(at("captures/inner/dos.sse"), &dos).unwrap();
    let mut kept = machine.program(&["record", "kept.sse"]);
    let passed = kept.stdin(File::open(at("captures/inner/dos.sse")).unwrap()).output().unwrap();
    assert_eq!(
        (text(&passed.stdout), fs::read_to_string(at("kept.sse")).unwrap()),
        (dos.clone(), dos)
    );
    let read = machine.run(&["parse", "captures\\inner\\dos.sse"]);
    assert_eq!(text(&read.stdout), fs::read_to_string(case.with_extension("out")).unwrap());
    machine.run(&["check", "--update", "captures"]);
    let checked = machine.run(&["check", "captures\\"]);
    assert_eq!(text(&[checked.stdout, checked.stderr].concat()), "2 checked: 2 the same\n");
    let request = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"?\"}]}";
    let results = "{\"index\":0,\"output\":\"mild\"}\n{\"index\":1,\"output\":\"hot\"}\n";
    for name in ["here.json", "there.json"] {
        fs::write(at(name), request).unwrap();
    }
    fs::write(at("results"), results).unwrap();
    let next = |file| ["next", "-i", "--results", "results", file, name];
    let mut here = Command::new(PROGRAM);
    here.args(next("here.json")).current_dir(machine.folder.path()).output().unwrap();
    assert_eq!(machine.run(&next("there.json")).status.code(), Some(10));
    let [here, there] =
        ["here.json", "there.json"].map(|name| fs::read_to_string(at(name)).unwrap());
    assert!(here == there && here != request, "{there}");

    // A reader that leaves is no error.
    fs::write(at("long.sse"), bytes.repeat(1000)).unwrap();
    let mut left = machine.program(&["parse", "long.sse"]);
    let mut left = left.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(left.stdout.take());
    assert_eq!(text(&left.wait_with_output().unwrap().stderr), "");

    for (args, what) in [
        (&["agent", "request.json", "--", "ask"][..], "agent"),
        (&["tools", "."], "tools"),
        (&["next", "--tools", ".", "here.json", name], "next --tools"),
        (&["replay", "--listen", "127.0.0.1:0", name], "replay --listen"),
        (&["check", "--review", "captures"], "check --review"),
    ] {
        let refused = machine.run(args);
        let why = format!("toolstream: `{what}` needs Unix: use Linux, macOS, FreeBSD or WSL\n");
        assert_eq!((text(&refused.stderr), refused.status.code()), (why, Some(2)));
    }
}
