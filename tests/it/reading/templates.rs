//! The output of random streams is the same with and without the layer of
//! repeats. The fixtures are read both ways in `tests/cases/repeat.rs`.

use proptest::prelude::*;
use proptest::sample::select;
use toolstream::Config;

use crate::repeat::check;

/// Records of the formats that have templates: `T` is a piece of text, `N` a
/// number.
const STREAMS: &[&[&str]] = &[
    &[
        r#"data: {"id":"c","created":N,"choices":[{"index":0,"delta":{"content":"T"}}],"obfuscation":"T"}"#,
        r#"data: {"id":"c","created":5,"choices":[{"index":1,"delta":{"content":"T"}}],"usage":{"prompt_tokens":N}}"#,
        r#"data: {"choices":[{"delta":{"reasoning":"T","reasoning_details":[{"text":"T"}]}}]}"#,
        r#"data: {"choices":[{"delta":{"reasoning_details":[{"text":"T"}]}}]}"#,
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"T"}}]}}]}"#,
        r#"data: {"choices":[{"delta":{"tool_calls":[{"index":N,"function":{"arguments":"T"}}]}}]}"#,
        r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        "data: [DONE]",
    ],
    &[
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}",
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"T"}}"#,
        r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}}"#,
        r#"data: {"type":"content_block_delta","index":N,"delta":{"type":"thinking_delta","thinking":"T"}}"#,
        r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"T"}}"#,
        r#"data: {"type":"content_block_stop","index":N}"#,
        r#"data: {"type":"message_stop"}"#,
    ],
    &[
        r#"data: {"type":"response.created","sequence_number":N,"response":{"id":"r"}}"#,
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"T"}}"#,
        r#"data: {"type":"response.output_text.delta","sequence_number":N,"item_id":"T","output_index":0,"content_index":0,"delta":"T"}"#,
        r#"data: {"type":"response.output_text.delta","sequence_number":N,"output_index":0,"content_index":N,"delta":"T","obfuscation":"T"}"#,
        r#"data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"TT"}"#,
        r#"data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"T"}"#,
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"T"}]}}"#,
        r#"data: {"type":"response.completed","response":{"id":"r","output":[],"usage":{"input_tokens":N}}}"#,
    ],
    &[
        r#"data: {"candidates":[{"content":{"parts":[{"text":"T"}]}}],"usageMetadata":{"promptTokenCount":N,"candidatesTokenCount":N}}"#,
        r#"data: {"candidates":[{"content":{"parts":[{"text":"T","thought":true}]},"index":0}],"responseId":"T"}"#,
        r#"data: {"candidates":[{"content":{"parts":[{"text":"T"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":N}}"#,
    ],
    &[
        r#"{"model":"m","created_at":"T","message":{"role":"assistant","content":"T"},"done":false}"#,
        r#"{"model":"m","created_at":"T","message":{"content":"","thinking":"T"},"done":false}"#,
        r#"{"model":"m","created_at":N,"message":{"content":"T"},"done":true,"eval_count":N}"#,
    ],
];

/// Pieces of JSON strings: plain, escaped, cut in half, empty, wrong.
const PIECES: &[&str] = &[
    "a", " sea", "caf\u{e9}", "\\n", "\\\"", "\\\\", "x\\u00e9y", "\\ud83d", "\\ude00",
    "\\ud83d\\ude00", "", "{\\\"a\\\":", "1}", "\\x", "\t", "<tool_call>", "stop", "text_delta",
];

const NUMBERS: &[&str] = &["0", "1", "2", "17", "1763700000", "007", "-1", "1.5", "1e3", "null"];

/// Records of one format, most of which repeat the last one.
fn stream() -> impl Strategy<Value = String> {
    let record = (any::<prop::sample::Index>(), 1..5_usize);
    (0..STREAMS.len(), prop::collection::vec(record, 1..12), any::<u64>()).prop_map(
        |(format, records, mut seed)| {
            let mut pick = move |list: &[&'static str]| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                list[usize::try_from(seed >> 40).unwrap() % list.len()]
            };
            let end = if STREAMS[format][0].starts_with('{') { "\n" } else { "\n\n" };
            let mut out = String::new();
            for (place, count) in records {
                let record = place.get(STREAMS[format]);
                for _ in 0..count {
                    for part in record.split_inclusive(['T', 'N']) {
                        match part.as_bytes().last() {
                            Some(b'T') if part.len() == 1 || part.ends_with("\"T") => {
                                out.push_str(&part[..part.len() - 1]);
                                out.push_str(pick(PIECES));
                            }
                            Some(b'N') if part.ends_with(":N") => {
                                out.push_str(&part[..part.len() - 1]);
                                out.push_str(pick(NUMBERS));
                            }
                            _ => out.push_str(part),
                        }
                    }
                    out.push_str(end);
                }
            }
            out
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_streams_are_the_same(stream in stream(), size in 1..300_usize) {
        let mut config = Config::default();
        config.assembly.deltas = true;
        config.assembly.raw = true;
        check("random", &config, stream.as_bytes(), &[size]);
    }

    #[test]
    fn broken_streams_are_the_same(
        stream in stream(),
        at in any::<prop::sample::Index>(),
        byte in select(b"\"\\{}[],:019aT\n\x00\x80\xff ".to_vec()),
    ) {
        let mut bytes = stream.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        check("broken", &Config::default(), &bytes, &[64]);
    }
}
