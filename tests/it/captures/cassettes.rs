//! Files of recorded exchanges.
//!
//! `fixtures/cassette/RECORDER/CASE.cassette` is the file, `CASE.summary` beside it what `classify`
//! prints of it, on both outputs, and its status. `UPDATE_FIXTURES=cassette cargo test --test it
//! cassettes` writes it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use similar::TextDiff;
use toolstream::internals::exchanges;

use crate::captures::listening::Server;
use crate::case::{files, is_updated, root, updated};
use crate::limits::random::settings;
use crate::pages::cli::{folder, run_in};

fn cassettes() -> Vec<PathBuf> {
    let mut paths = files(&root().join("fixtures/cassette"));
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "cassette"));
    paths
}

fn is_bad(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("bad"))
}

/// The name, the bytes and the folder of a file.
fn parts(path: &Path) -> (String, Vec<u8>, &Path) {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    (name, fs::read(path).unwrap(), path.parent().unwrap())
}

/// The four exchanges of most files.
fn har() -> PathBuf {
    root().join("fixtures/cassette/har/four_exchanges.cassette")
}

fn classify(folder: &Path, args: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolstream"));
    command.arg("classify").args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap_or_default();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The objects, without what hangs on where they are.
fn objects(out: &str) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| key != "file" && key != "offset");
                members.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut all: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    all.iter_mut().for_each(strip);
    all
}

#[test]
fn each_file_gives_its_summary() {
    for path in cassettes() {
        let (name, _, folder) = parts(&path);
        let (code, out, err) = classify(folder, &[&name], b"");
        let err = err.lines().map(|line| format!("# {line}\n")).collect::<String>();
        let got = format!("{out}{err}# status {code}\n");
        let answer = path.with_extension("summary");
        if updated().is_some_and(|part| is_updated(&part, &answer.display().to_string())) {
            fs::write(&answer, &got).unwrap();
        }
        let expected = fs::read_to_string(&answer).unwrap_or_default();
        let diff = TextDiff::from_lines(&expected, &got);
        let shown = diff.unified_diff().context_radius(1).header("expected", "came").to_string();
        assert!(got == expected, "{} is not what came\n{shown}", answer.display());
    }
}

/// The same four exchanges stand in a file of each recorder.
#[test]
fn all_recorders_say_the_same() {
    let path = har();
    let (name, _, folder) = parts(&path);
    let expected = objects(&classify(folder, &[&name], b"").1);
    assert_eq!(expected.len(), 3);
    let others = ["aliases", "bodies_kept_as_trees", "one_mapping"];
    for path in cassettes().iter().filter(|path| !is_bad(path)) {
        if others.contains(&path.file_stem().unwrap().to_str().unwrap()) {
            continue;
        }
        let (name, _, folder) = parts(path);
        let (_, out, err) = classify(folder, &[&name], b"");
        assert_eq!(objects(&out), expected, "{}: {err}", path.display());
        assert!(err.contains("1 of 4 exchanges"), "{err}");
    }
}

/// Standard input and a file that is packed say what the file says.
#[test]
fn an_input_may_be_a_pipe_or_packed() {
    for path in cassettes() {
        let (name, bytes, folder) = parts(&path);
        let (code, out, err) = classify(folder, &[&name], b"");
        if bytes.starts_with(b"\x1f\x8b") {
            continue;
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&bytes).unwrap();
        for input in [bytes, gzip.finish().unwrap()] {
            let (piped, from_pipe, said) = classify(folder, &["-"], &input);
            assert_eq!((piped, objects(&from_pipe)), (code, objects(&out)), "{}", path.display());
            assert_eq!(
                said.replace("standard input", &name).replace("-#", &format!("{name}#")),
                err
            );
        }
    }
}

/// However a file is cut into reads, its exchanges are the same; and those of its beginning are the
/// first of them, but for the last one of YAML, whose text may end anywhere.
#[test]
fn the_bytes_alone_decide() {
    for path in cassettes() {
        let (_, bytes, _) = parts(&path);
        let whole = exchanges(&bytes, usize::MAX);
        assert!(whole.is_some(), "{}", path.display());
        for piece in [1, 7, 64] {
            assert!(exchanges(&bytes, piece) == whole, "{}: {piece}", path.display());
        }
        let whole = whole.unwrap();
        if whole.broken.is_some_and(|why| why.contains("aliases")) {
            continue;
        }
        let is_json = matches!(bytes[0], b'{' | b'[');
        let is_yaml = !is_json && !bytes.starts_with(b"httprr");
        let step = if bytes.len() > 1500 { 11 } else { 3 };
        for cut in (0..bytes.len()).step_by(step) {
            let Some(part) = exchanges(&bytes[..cut], usize::MAX) else { continue };
            let kept = part.exchanges.len() - usize::from(is_yaml && !part.exchanges.is_empty());
            assert!(
                whole.exchanges.starts_with(&part.exchanges[..kept]),
                "{} {cut}",
                path.display()
            );
            let is_all = bytes[cut..].trim_ascii().is_empty();
            assert!(!is_json || is_all || part.broken.is_some(), "{} {cut}", path.display());
        }
    }
}

/// A change of a file's bytes: at this place, so many of them become these.
fn change() -> impl Strategy<Value = (Index, usize, &'static str)> {
    let pieces = [
        "", "\"", "'", "\\", "\n", "\r\n", " ", "  ", "\t", "{", "}", "[", "]", ":", ": ", ",",
        "- ", "|", "|-\n", ">\n", "&a ", "*a", "!!binary ", "? ", "# ", "---\n", "\\u00",
        "\\ud83d", "\u{feff}", "\u{e9}", "\0", "null", "1e9", "\"encoding\":\"base64\",", "gzip",
        "br", "<<: *a\n", "HTTP/1.1 200 OK\r\n\r\n", "5\r\nhello\r\n",
    ];
    (any::<Index>(), prop_oneof![Just(0_usize), 1..4_usize, 1..200_usize], select(pieces.to_vec()))
}

proptest! {
    #![proptest_config(settings(150))]

    /// So are those of a file that was changed; their numbers go up by one. It is the fuzz target
    /// `cassette`.
    #[test]
    fn the_bytes_alone_decide_what_is_left_of_them(
        file in any::<Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let paths = cassettes();
        let (name, mut bytes, _) = parts(file.get::<PathBuf>(&paths));
        for (place, size, piece) in changes {
            let place = place.index(bytes.len() + 1);
            let end = bytes.len().min(place + size);
            bytes.splice(place..end, piece.bytes());
        }
        let whole = exchanges(&bytes, usize::MAX);
        for piece in [1, 5, 64] {
            let part = exchanges(&bytes, piece);
            prop_assert_eq!(&part, &whole, "{} in pieces of {}: {}", name, piece, String::from_utf8_lossy(&bytes));
        }
        let numbers = whole.iter().flat_map(|seen| &seen.exchanges).map(|(number, _)| *number);
        prop_assert!(numbers.eq(1..=whole.as_ref().map_or(0, |seen| seen.exchanges.len() as u64)));
    }
}

#[test]
fn an_exchange_is_named_by_its_number() {
    let (name, bytes, _) = parts(&har());
    let text = String::from_utf8(bytes).unwrap();
    let folder = folder(&[(&name, &text), ("a#2", &text), ("a", "Hi"), ("plain", "Hi")]);
    let run = |args: &[&str]| run_in(folder.path(), args, &text);
    let all = objects(&run(&["classify", &name]).out);
    for (number, at) in [(2, 0), (3, 1), (4, 2)] {
        let one = run(&["classify", &format!("{name}#{number}")]);
        assert_eq!(objects(&one.out), all[at..=at]);
        assert!(!one.out.contains("\"file\""), "{}", one.out);
        let piped = format!("-#{number}");
        for args in [&["classify", "--", &*piped][..], &["classify", &piped, "--strict"]] {
            assert_eq!(run(args).out, one.out);
        }
    }
    // What no model says is read as it is where it is asked for.
    let models = run(&["classify", &format!("{name}#1")]);
    assert!(models.code == 3 && models.err.contains("no known format"), "{}", models.err);
    // A file of that name is that file.
    assert_eq!(objects(&run(&["classify", "a#2"]).out), all);
    let wrong = |name: &str, why: &str| {
        for command in ["classify", "parse", "show", "frames", "detect"] {
            let run = run(&[command, name]);
            assert!(run.code == 2 && run.out.is_empty() && run.err.contains(why), "{}", run.err);
        }
        let run = run(&["replay", name]);
        assert!(run.code == 2 && run.out.is_empty() && run.err.contains(why), "{}", run.err);
    };
    wrong(&format!("{name}#0"), "exchanges are counted from 1");
    wrong(&format!("{name}#99"), "there is no exchange 99: it holds 4");
    wrong("plain#1", "is no file of recorded exchanges");
    wrong("missing#1", "No such file");
}

#[test]
fn every_command_reads_them() {
    let (name, bytes, _) = parts(&har());
    let text = String::from_utf8(bytes).unwrap();
    let folder = folder(&[
        (&name, &text),
        (
            "ask.json",
            "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}",
        ),
    ]);
    let run = |args: &[&str]| run_in(folder.path(), args, "");
    let one = format!("{name}#4");
    assert!(run(&["parse", &name]).out.contains(&format!("\"file\":\"{name}#2\"")));
    assert_eq!(run(&["show", &one]).out, "High water at 6:12.\nLow at noon.\n");
    assert_eq!(run(&["frames", &name]).out.lines().count(), 8);
    assert_eq!(run(&["detect", "--json", &name]).out.lines().count(), 3);
    assert!(run(&["convert", "--to", "gemini", "--whole", &one]).out.contains("High water"));
    let whole = run(&["convert", "--to", "gemini", "--whole", &name]);
    assert!(whole.err.contains("several_messages"), "{}", whole.err);
    assert!(run(&["next", "ask.json", &one]).out.contains("Low at noon."));
    assert!(run(&["next", "ask.json", &name]).err.contains("#N names one"));
    let body = run(&["replay", &one]).out;
    assert!(body.starts_with("{\"id\":\"msg_1\""), "{body}");
}

#[test]
fn several_files_and_jobs_keep_their_order() {
    let (name, bytes, _) = parts(&har());
    let text = String::from_utf8(bytes).unwrap();
    let folder = folder(&[("a.har", &text), ("b.har", &text), ("c", "Hi")]);
    let run = |args: &[&str]| run_in(folder.path(), &[&["classify"], args].concat(), "").out;
    let all = run(&["a.har", "c", "b.har"]);
    let files =
        all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["file"].clone());
    let files: Vec<_> = files.map(|file| file.as_str().unwrap().to_owned()).collect();
    assert_eq!(files, ["a.har#2", "a.har#3", "a.har#4", "c", "b.har#2", "b.har#3", "b.har#4"]);
    assert_eq!(run(&["-j", "3", "a.har", "c", "b.har"]), all, "{name}");
}

/// What only begins as a file of exchanges does is what it was before.
#[test]
fn other_inputs_stay_what_they_are() {
    for text in [
        "version: 2 is out\n",
        "log: all is well\n",
        "- request: a list\n- of things\n",
        "# A heading\n\nwhen: tomorrow\n",
        "---\ntitle: a page\n---\nHello\n",
        "{\"log\":\"a line\"}\n",
        "{\"request\":{\"method\":\"GET\"}}\n",
        "[{\"request\":1}]\n",
        "{\"interactions\":[]}\n",
    ] {
        assert!(exchanges(text.as_bytes(), 1).is_none(), "{text}");
    }
    let folder = folder(&[("a.yaml", "interactions: []\nversion: 1\n")]);
    for args in [["-f", "text"], ["-F", "text"], ["--from", "none"]] {
        let run = run_in(folder.path(), &[&["classify", "a.yaml"][..], &args].concat(), "");
        assert_eq!(run.code, 0, "{}", run.err);
    }
}

/// A plain stream goes out as it comes: nothing waits for what can't make a file of exchanges of it.
#[test]
fn a_stream_is_not_held_back() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolstream"));
    let mut child =
        command.arg("parse").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut buffer = [0; 4096];
    input
        .write_all(b"{\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"done\":false}\n")
        .unwrap();
    let count = output.read(&mut buffer).unwrap();
    assert!(String::from_utf8_lossy(&buffer[..count]).contains("start"));
    drop(input);
    child.wait().unwrap();
}

/// An answer is one however large its first record is: in a cassette, in a folder, and in a golden
/// file.
#[test]
fn an_answer_may_be_one_large_record() {
    let text = String::from_utf8(parts(&har()).1).unwrap();
    let text = text.replace("High water", &"High water ".repeat(20_000));
    let answer = run_in(folder(&[("a.har", &text)]).path(), &["replay", "a.har#4"], "").out;
    let folder = folder(&[("a.har", &text), ("answer.json", &answer)]);
    let run = |args: &[&str]| run_in(folder.path(), args, "");
    assert_eq!(run(&["classify", "a.har"]).out.lines().count(), 3);
    assert_eq!(run(&["classify", "."]).out.lines().count(), 4);
    assert_eq!(run(&["detect", "answer.json"]).code, 0);
    assert_eq!(run(&["check", "--update"]).code, 0);
    let golden = fs::read_to_string(folder.path().join("a.har.golden")).unwrap();
    assert!(golden.contains("\"file\":\"#4\""), "{golden}");
    let exchange = "POST /v1/messages HTTP/1.1\r\nContent-Length: 17\r\n\r\n{\"stream\": false}";
    let served = run_in(folder.path(), &["replay", "--http", "answer.json"], exchange).out;
    assert!(served.contains("High water High water"), "{}", &served[..served.len().min(400)]);
}

#[test]
fn a_cassette_has_one_golden_file() {
    let (_, bytes, _) = parts(&har());
    let text = String::from_utf8(bytes).unwrap();
    let folder = folder(&[
        ("a.har", &text),
        (
            "models.har",
            &fs::read_to_string(root().join("fixtures/cassette/bad/no_model_answers.cassette"))
                .unwrap(),
        ),
    ]);
    let run = |args: &[&str]| run_in(folder.path(), &[&["check"], args].concat(), "");
    assert_eq!(run(&["--update"]).code, 0);
    let golden = fs::read_to_string(folder.path().join("a.har.golden")).unwrap();
    let starts: Vec<_> =
        golden.lines().filter(|line| line.contains("\"type\":\"start\"")).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts[0].ends_with("\"file\":\"#2\"}"), "{golden}");
    let same = run(&["--laws"]);
    assert_eq!(
        (same.code, same.out.as_str()),
        (0, "1 checked: 1 the same, 1 keeps the laws; 1 file was passed over\n")
    );
    fs::write(folder.path().join("a.har"), text.replace("High water", "Low water")).unwrap();
    let differs = run(&[]);
    assert!(differs.code == 1 && differs.out.contains("Low water"), "{}", differs.out);
}

#[test]
fn a_cassette_answers_what_was_recorded() {
    let path = har();
    let (name, bytes, folder) = parts(&path);
    let serve = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolstream"));
        command.args(["replay", "--listen", "127.0.0.1:0"]).args(args).current_dir(folder);
        Server::of(&mut command)
    };
    let send = |server: &Server, method: &str, path: &str, body: &str| {
        let length = body.len();
        server.send(&format!("{method} {path} HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}"))
    };
    let server = serve(&[&name]);
    let record: Value = serde_json::from_slice(&bytes).unwrap();
    let ask = |at: usize| {
        let request = &record["log"]["entries"][at]["request"];
        let url = request["url"].as_str().unwrap();
        let path = &url[url.find("/v1").unwrap()..];
        let body = request["postData"]["text"].as_str().unwrap();
        send(&server, request["method"].as_str().unwrap(), path, body)
    };
    // The second one comes first, and then the last one again.
    for (at, status) in [(3, "529"), (1, "200"), (3, "200"), (0, "200"), (2, "200")] {
        let answer = ask(at);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.contains("retry-after: 3"), status == "529", "{answer}");
    }
    let asked = "{\"model\":\"claude-sonnet-4\",\"max_tokens\":65,\"messages\":[]}";
    let other = send(&server, "POST", "/v1/messages", asked);
    assert!(other.starts_with("HTTP/1.1 400 ") && other.contains("/max_tokens"), "{other}");
    let mut piped = Command::new(env!("CARGO_BIN_EXE_toolstream"));
    piped.args(["replay", "--listen", "127.0.0.1:0", "-"]).stdin(fs::File::open(&path).unwrap());
    let from_pipe = send(&Server::of(&mut piped), "POST", "/v1/messages", asked);
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(body(&from_pipe).replace("-#", &format!("{name}#")), body(&other));
    let by_turn = serve(&["--by", "turn", &name]);
    let asked = "{\"stream\":true,\"messages\":[]}";
    let answer = send(&by_turn, "POST", "/v1/chat/completions", asked);
    assert!(answer.contains("call_a"), "{answer}");
}

/// The guide's lines: a cassette is a provider for another client, and a capture under test in CI.
#[test]
fn what_the_guide_says_runs() {
    let (name, bytes, _) = parts(&root().join("fixtures/cassette/vcr/ruby.cassette"));
    let folder = folder(&[(&name, std::str::from_utf8(&bytes).unwrap())]);
    let ask = "curl -sS -d '{\"model\":\"claude-sonnet-4\",\"max_tokens\":64,\"messages\":[\
               {\"role\":\"user\",\"content\":\"When is high water?\"}]}' $TOOLSTREAM_URL/v1/messages";
    if Command::new("curl").arg("--version").output().is_ok() {
        let args = ["replay", "--listen", "127.0.0.1:0", &name, "--", "sh", "-c"];
        let twice = format!("{ask}; {ask}");
        let run = run_in(folder.path(), &[&args[..], &[&twice]].concat(), "");
        assert!(run.out.contains("Overloaded") && run.out.contains("High water"), "{}", run.out);
    }
    let run = |args: &[&str]| run_in(folder.path(), &[&["check"], args, &[&name]].concat(), "");
    assert_eq!(run(&["--update"]).code, 0);
    assert_eq!(run(&["--laws", "--report", "github"]).code, 0);
}
