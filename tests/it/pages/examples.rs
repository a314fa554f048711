//! The examples print what they say.

use insta::assert_snapshot;

#[allow(dead_code)]
#[path = "../../examples/events.rs"]
mod events;
#[allow(dead_code)]
#[path = "../../examples/own_dialect.rs"]
mod own_dialect;
#[allow(dead_code)]
#[path = "../../examples/own_format.rs"]
mod own_format;
#[allow(dead_code)]
#[path = "../../examples/own_sink.rs"]
mod own_sink;

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
