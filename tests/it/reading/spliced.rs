//! Law 1 where detection has to decide: the beginnings of inputs of all kinds,
//! one after another, cut at every byte.

use toolstream::Config;

use crate::case::{Print, run};

/// Beginnings of inputs. What follows one of them makes it another thing, or
/// does not.
const BEGINNINGS: &[&[u8]] = &[
    b"",
    b"\xEF\xBB\xBF",
    b"\n \n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
    b"HTTP/2 429 \nretry-after: 1\n\n",
    b"HTTP/1.1 is old",
    b"5\r\nabcde\r\n0\r\n\r\n",
    b"1a\r\n{\"a\":1}",
    b": comment\n",
    b"data:",
    b"data: see below\n",
    b"data:[DONE]",
    b"data: [DONE]\n\n",
    b"event: output\nid: 1\ndata: sea\n\n",
    b"id: 5\nname: x\n\n",
    b"data: {\"choices\":[{\"delta\":{\"content\":\"sea\"}}]}\n\n",
    b"{\n \"error\": {\n  \"message\": \"no\"\n }\n}\n",
    b"{\"error\":\"no\"}\n",
    b"{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n",
    b"{\"model\":\"m\",\"message\":{\"content\":\"sea\"},\"done\":false}\n",
    b"{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n",
    b"[{\"choices\":[]},",
    b"0:\"sea\"\n",
    b"0: a list\n",
    b"Reading prompt from stdin...\n",
    b"> a@1.0.0 b\n\n",
    b"Bad Gateway",
    b"502 ",
    b"upstream connect error",
    b"<html><title>502</title>",
    b"<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>",
    b"The sea\n",
    b"\0\0\0\x10\0\0\0\0\x05\xC2\x48\xEB\x7D\x98\xC8\xFF",
    b"\x1F\x8B",
];

#[test]
fn beginnings_one_after_another_cut_at_every_byte() {
    let config = Config::default();
    // With an odd step, each stands before a third of the others, and alone.
    for (at, first) in BEGINNINGS.iter().enumerate() {
        for second in BEGINNINGS.iter().skip(at % 3).step_by(3).chain([&BEGINNINGS[0]]) {
            let input = [*first, *second].concat();
            let whole = run(&config, Print::Joined, [input.as_slice()]);
            for cut in 1..input.len() {
                let (left, right) = input.split_at(cut);
                let got = run(&config, Print::Joined, [left, right]);
                assert_eq!(got, whole, "{} cut at {cut}", input.escape_ascii());
            }
            let bytes = run(&config, Print::Joined, input.chunks(1));
            assert_eq!(bytes, whole, "{} byte by byte", input.escape_ascii());
        }
    }
}
