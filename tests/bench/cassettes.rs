//! Files of recorded exchanges, beside their bodies one after another.

use std::fs;

use crate::{TOOLSTREAM, corpus, time};

/// The bytes of a body.
const BODY: usize = 200_000;

/// Prints how fast a HAR and a cassette in YAML are read, and the time as that of their bodies alone.
pub(crate) fn table(size: usize) {
    let folder = tempfile::tempdir().unwrap();
    let stream = corpus::CORPORA.iter().find(|corpus| corpus.name == "openai-chat").unwrap();
    let body = String::from_utf8(stream.bytes(BODY)).unwrap();
    let count = (size / body.len()).max(1);
    println!("| file | MB/s | the bodies' own time |");
    println!("| --- | --: | --: |");
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, &text).unwrap();
        (path, text.len() as f64)
    };
    let (bodies, _) = write("bodies", body.repeat(count));
    let own = time(&TOOLSTREAM, &["parse"], &bodies).unwrap();
    let json = serde_json::to_string(&body).unwrap();
    let har = format!(
        "{{\"request\":{{\"method\":\"POST\",\"url\":\"/v1/chat/completions\"}},\"response\":{{\"status\":200,\
         \"headers\":[],\"content\":{{\"text\":{json}}}}}}}"
    );
    let har = format!("{{\"log\":{{\"entries\":[{}]}}}}", vec![har; count].join(","));
    let head = "- request: {method: POST, uri: /v1/chat/completions, body: ''}\n  response:\n    \
                status: {code: 200}\n    body:\n      string: ";
    let quoted = format!("{head}{json}\n").repeat(count);
    let lines: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let literal = format!("{head}|+\n{lines}").repeat(count);
    for (name, text) in [
        ("HAR", har),
        ("YAML, quoted", format!("interactions:\n{quoted}version: 1\n")),
        ("YAML, in blocks", format!("interactions:\n{literal}version: 1\n")),
    ] {
        let (path, length) = write("file", text);
        let time = time(&TOOLSTREAM, &["parse"], &path).unwrap();
        println!("| {name} | {:.0} | {:.2} |", length / time / 1e6, time / own);
    }
}
