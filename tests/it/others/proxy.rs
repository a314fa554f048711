//! The example that embeds the library in a proxy, built and run. Its crates take minutes to build:
//! `cargo test --test it proxy -- --ignored`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use crate::case::root;

const ANSWER: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":\
    {\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1}\"}}]},\
    \"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

/// Answers one request with a stream.
fn serve(listener: &TcpListener) {
    let (mut socket, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(socket.try_clone().unwrap()).lines();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    let length = ANSWER.len();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    write!(socket, "{head}content-length: {length}\r\n\r\n{ANSWER}").unwrap();
}

#[test]
#[ignore = "builds a hundred crates"]
fn a_proxy_passes_streams_on_and_logs_calls() {
    let provider = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", provider.local_addr().unwrap());
    let manifest = root().join("tests/examples/proxy/Cargo.toml");
    let target = root().join("target/proxy");
    let mut proxy = Command::new(env!("CARGO"))
        .args(["run", "-q", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .args(["--", "127.0.0.1:0", &url])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(proxy.stderr.take().unwrap()).lines();
    let address =
        log.find_map(|line| line.unwrap().strip_prefix("listening on ").map(str::to_owned));
    let server = thread::spawn(move || serve(&provider));
    let mut socket = TcpStream::connect(address.unwrap()).unwrap();
    socket
        .write_all(b"POST /v1/chat HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}")
        .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    server.join().unwrap();
    assert!(answer.contains("text/event-stream") && answer.contains("\\\"x\\\": 1"), "{answer}");
    assert_eq!(log.next().unwrap().unwrap(), "f({\"x\":1})");
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}
