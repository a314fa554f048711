//! The examples print what they say.

use std::pin::Pin;
use std::task::{Context, Poll};

use insta::assert_snapshot;

#[allow(dead_code)]
#[path = "../../examples/events.rs"]
pub(crate) mod events;
#[allow(dead_code)]
#[path = "../../examples/futures_stream.rs"]
mod futures_stream;
#[allow(dead_code)]
#[path = "../../examples/own_dialect.rs"]
mod own_dialect;
#[allow(dead_code)]
#[path = "../../examples/own_format.rs"]
mod own_format;
#[allow(dead_code)]
#[path = "../../examples/own_sink.rs"]
mod own_sink;
#[allow(dead_code)]
#[path = "../../examples/tokio_channel.rs"]
mod tokio_channel;

const CALL: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\
    \"delta\":{\"content\":\"Hi.\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\
    \"arguments\":\"{\\\"x\\\": 1}\"}}]},\"finish_reason\":null}]}\n\n";
const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: [DONE]\n\n";

/// What an example prints of this input.
macro_rules! output {
    ($example:ident, $input:expr) => {{
        let mut out = Vec::new();
        $example::run($input.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }};
}

#[test]
fn events() {
    assert_snapshot!(output!(events, format!("{CALL}{END}")), @r#"
    {"type":"start","v":1,"format":"openai-chat","framing":"sse","id":"c"}
    {"type":"text","text":"Hi."}
    {"type":"tool_call","index":0,"id":"a","name":"f","arguments":{"x":1}}
    {"type":"finish_reason","finish_reason":"tool_calls","raw_finish_reason":"tool_calls"}
    "#);
}

#[test]
fn own_sink() {
    assert_snapshot!(output!(own_sink, format!("{CALL}{END}")), @r#"
    Hi.
    run f({"x":1})
    "#);
    let cut = output!(own_sink, CALL);
    assert!(cut.starts_with("Hi.\nfailed: ") && !cut.contains("run "), "{cut}");
}

#[test]
fn own_dialect() {
    let input = "<scratch>Hm.</scratch>Look: @call get {\"id\": 7}@end";
    assert_snapshot!(output!(own_dialect, input), @r#"
    {"type":"start","v":1,"format":"text","framing":"text","dialect":"house"}
    {"type":"reasoning","text":"Hm."}
    {"type":"text","text":"Look: "}
    {"type":"tool_call","index":0,"id":"call_0","name":"get","arguments":{"id":7},"source":"house"}
    {"type":"finish_reason","finish_reason":"tool_calls","inferred":true}
    "#);
}

#[test]
fn own_format() {
    let input = "{\"t\":\"Hi \"}\n{\"t\":\"there\"}\n{\"stop\":\"length\"}\n";
    assert_snapshot!(output!(own_format, input), @r#"
    {"type":"start","v":1,"format":"ticker","framing":"ndjson"}
    {"type":"text","text":"Hi "}
    {"type":"text","text":"there"}
    {"type":"finish_reason","finish_reason":"length","raw_finish_reason":"length"}
    "#);
    let cut = output!(own_format, "{\"t\":\"Hi\"}\n");
    assert!(cut.contains("\"code\":\"truncated\""), "{cut}");
}

/// The whole answer, as `parse` has it, however the bytes come.
fn whole() -> String {
    output!(events, format!("{CALL}{END}"))
}

/// The answer, and the error of a connection that broke before its end. No call of it may run.
#[track_caller]
fn check_broken(printed: &str) {
    let last = printed.lines().last().unwrap_or_default();
    assert!(last.contains("\"code\":\"truncated\",\"message\":\"it broke\""), "{printed}");
    assert!(!printed.contains("\"tool_call\""), "{printed}");
    assert_eq!(printed.matches("\"type\":\"error\"").count(), 1, "{printed}");
}

#[test]
fn tokio_channel() {
    let mut out = Vec::new();
    let input = format!("{CALL}{END}");
    tokio_channel::run(std::io::Cursor::new(input), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), whole());

    let mut out = Vec::new();
    tokio_channel::run(Breaks(CALL.as_bytes()), &mut out).unwrap();
    check_broken(&String::from_utf8(out).unwrap());
}

#[test]
fn futures_stream() {
    let input = format!("{CALL}{END}");
    let pieces = || input.as_bytes().chunks(7).map(|piece| Ok(piece.to_vec()));
    let mut out = Vec::new();
    futures_stream::run(pieces(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), whole());

    for bytes in [CALL.to_owned(), format!("{CALL}data: {{\"cho")] {
        let mut out = Vec::new();
        let broken = [Ok(bytes.into()), Err(std::io::Error::other("it broke"))];
        futures_stream::run(broken.into_iter(), &mut out).unwrap();
        check_broken(&String::from_utf8(out).unwrap());
    }
}

/// A body that breaks off after these bytes.
struct Breaks(&'static [u8]);

impl tokio::io::AsyncRead for Breaks {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match std::mem::take(&mut self.0) {
            b"" => Poll::Ready(Err(std::io::Error::other("it broke"))),
            bytes => {
                buffer.put_slice(bytes);
                Poll::Ready(Ok(()))
            }
        }
    }
}
