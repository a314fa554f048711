//! Where others have written a reader of the same thing, it agrees: server-sent
//! events with sse-parse, AWS event streams with aws-smithy-eventstream, JSON
//! with serde_json.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder, read_message_from};
use aws_smithy_types::event_stream::{HeaderValue as Theirs, Message};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::value::RawValue;
use sse_parse::SseParser;
use toolstream::frame::{FaultKind, Frame, FrameConfig, Framed, HeaderValue, find};
use toolstream::internals::{JsonStatus, Scanner};

use crate::case::Case;
use crate::limits::random::settings;

/// What a framer gives, each frame as `show` says.
fn ours(
    framing: &str,
    config: FrameConfig,
    bytes: &[u8],
    show: impl Fn(&Frame<'_>) -> String,
) -> (Vec<String>, Vec<String>) {
    let (mut frames, mut faults) = (Vec::new(), Vec::new());
    let mut framer = (find(framing).unwrap().framer)(config);
    let mut out = |framed: Framed<'_>| {
        match framed {
            Framed::Frame(frame) => frames.push(show(&frame)),
            Framed::Comment | Framed::Next(_) => {}
            Framed::Fault(fault) if matches!(fault.kind, FaultKind::Note(_)) => {}
            Framed::Fault(fault) => faults.push(fault.message),
        }
        Ok(())
    };
    framer.feed(bytes, &mut out).unwrap();
    framer.finish(&mut out).unwrap();
    (frames, faults)
}

/// The cases of a framing, and how many of them there must be at least.
fn cases(framing: &str) -> Vec<Case> {
    let folder = format!("fixtures/frame/{framing}/");
    let cases: Vec<_> =
        Case::all().into_iter().filter(|case| case.name.starts_with(&folder)).collect();
    assert!(cases.len() >= 40, "{framing}: {} cases", cases.len());
    cases
}

#[track_caller]
fn check_sse(bytes: &[u8]) {
    let mut parser = SseParser::new();
    parser.feed(bytes);
    parser.finish();
    let events = std::iter::from_fn(|| parser.next_event());
    let theirs: Vec<_> =
        events.map(|event| format!("{}|{}|{}", event.event, event.id, event.data)).collect();
    let config = FrameConfig { strict: true, max_event: 0, ..FrameConfig::default() };
    let show = |frame: &Frame<'_>| {
        let event = if frame.event_type.is_empty() { "message" } else { frame.event_type };
        format!("{event}|{}|{}", frame.id, String::from_utf8_lossy(frame.data))
    };
    assert_eq!(ours("sse", config, bytes, show).0, theirs, "{}", bytes.escape_ascii());
}

#[test]
fn events_of_the_fixtures() {
    cases("sse").iter().for_each(|case| check_sse(&case.input));
}

/// What streams of events are made of, and what may stand beside it.
const SSE: &[&[u8]] = &[
    b"data", b"data:", b"data: ", b"event: ", b"event", b"id: ", b"id", b"retry: ", b":", b"x",
    b" ", b"\t", b"\n", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\0", b"{}", b"[DONE]",
    b"\xEF\xBB\xBF", b"\xC3\xA9", b"\xC3", b"\xE2\x80\xA8", b"\xFF", b"\x0B", b"\x0C", b"7",
];

/// How sure a value is to be JSON: made of what JSON is made of.
const JSON: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "{}", "[]", "1", "0", "-", ".", "e",
    "E+", "1e400", "-0", "01", "true", "false", "null", "nul", "\\", "\\\"", "\\u12", "\\ud83d",
    "\\u0000", " ", "\n", "\t", "\r", "\u{c}", "\u{b}", "\u{a0}", "\0", "\u{1f}", "\u{7f}",
    "\u{e9}", "\u{feff}", "'", "/", "//",
];

proptest! {
    #![proptest_config(settings(20_000))]

    #[test]
    fn events_of_any_bytes(parts in prop::collection::vec(select(SSE), 0..24)) {
        check_sse(&parts.concat());
    }

    #[test]
    fn values_of_any_text(parts in prop::collection::vec(select(JSON), 0..12)) {
        check_json(&parts.concat());
    }

    #[test]
    fn values_that_were_damaged(value in value(), at: prop::sample::Index, by in select(JSON)) {
        check_json(&value);
        let at = value.floor_char_boundary(at.index(value.len() + 1));
        check_json(&format!("{}{by}{}", &value[..at], &value[at..]));
        check_json(&value[..at]);
    }

    #[test]
    fn messages_with_any_headers(
        headers in prop::collection::vec(header(), 0..4),
        payload in prop::collection::vec(any::<u8>(), 0..12),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut headers = headers.concat();
        if let Some((at, byte)) = damage && !headers.is_empty() {
            let at = at.index(headers.len());
            headers[at] = byte;
        }
        check_message(&sealed(&headers, &payload));
    }
}

/// One value, as someone else writes it.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no others", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        ".{0,6}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        select(vec!["true", "false", "null", "-0.0E-0"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::vec((".{0,3}", inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,\n"))),
            members.prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("{}:{value}", serde_json::to_string(key).unwrap()))
                    .collect();
                format!("{{{}}}\t", members.join(","))
            }),
        ]
    })
}

/// What we take for one whole value is what serde_json takes for one.
#[track_caller]
fn check_json(text: &str) {
    let theirs = serde_json::from_str::<&RawValue>(text).is_ok();
    let mut scanner = Scanner::new(0);
    scanner.push_all(text.as_bytes());
    assert_eq!(scanner.status() == JsonStatus::Whole, theirs, "{text:?}");
    let mut scanner = Scanner::new(0);
    text.as_bytes().chunks(1).for_each(|byte| scanner.push_all(byte));
    assert_eq!(scanner.status() == JsonStatus::Whole, theirs, "{text:?}, byte by byte");
}

#[test]
fn values_of_the_fixtures() {
    for case in Case::all() {
        String::from_utf8_lossy(&case.input).lines().for_each(check_json);
    }
}

/// A header as it is written: mostly as it should be.
fn header() -> impl Strategy<Value = Vec<u8>> {
    let name =
        "[a-c:é]{0,3}".prop_map(|name: String| [&[name.len() as u8], name.as_bytes()].concat());
    let sized = prop::collection::vec(any::<u8>(), 0..6)
        .prop_map(|bytes| [&(bytes.len() as u16).to_be_bytes(), bytes.as_slice()].concat());
    let text = ".{0,3}"
        .prop_map(|text: String| [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat());
    let exactly = |size| prop::collection::vec(any::<u8>(), size);
    let value = prop_oneof![
        select(vec![vec![0], vec![1]]),
        exactly(1).prop_map(|bytes| [&[2], bytes.as_slice()].concat()),
        exactly(2).prop_map(|bytes| [&[3], bytes.as_slice()].concat()),
        exactly(4).prop_map(|bytes| [&[4], bytes.as_slice()].concat()),
        exactly(8).prop_map(|bytes| [&[5], bytes.as_slice()].concat()),
        sized.prop_map(|bytes| [&[6], bytes.as_slice()].concat()),
        text.prop_map(|bytes| [&[7], bytes.as_slice()].concat()),
        any::<u32>().prop_map(|ms| [&[8], i64::from(ms).to_be_bytes().as_slice()].concat()),
        exactly(16).prop_map(|bytes| [&[9], bytes.as_slice()].concat()),
    ];
    (name, value).prop_map(|(name, value)| [name, value].concat())
}

/// A message with right checksums.
fn sealed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = (16 + headers.len() + payload.len()) as u32;
    let mut bytes = [total.to_be_bytes(), (headers.len() as u32).to_be_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend_from_slice(headers);
    bytes.extend_from_slice(payload);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// What they take and the specification doesn't: names that are empty or come
/// twice.
const STRICTER: &[&str] = &["is empty", "comes twice"];

#[track_caller]
fn check_message(bytes: &[u8]) {
    let theirs = read_message_from(bytes).map(|message| shown(&message));
    let config = FrameConfig { max_event: 0, ..FrameConfig::default() };
    let (frames, faults) = ours("eventstream", config, bytes, show);
    match theirs {
        Ok(theirs) if faults.is_empty() => assert_eq!(frames, [theirs]),
        Ok(_) => assert!(
            STRICTER.iter().any(|what| faults[0].contains(what)),
            "they take what we don't: {faults:?}"
        ),
        Err(error) => assert!(frames.is_empty(), "we take what they don't: {frames:?}, {error:?}"),
    }
}

#[test]
fn messages_of_the_fixtures() {
    for case in cases("eventstream").iter().filter(|case| case.args.is_empty()) {
        let mut decoder = MessageFrameDecoder::new();
        let mut buffer = case.input.as_slice();
        let mut theirs = Vec::new();
        while let Ok(DecodedFrame::Complete(message)) = decoder.decode_frame(&mut buffer) {
            theirs.push(shown(&message));
        }
        let config = FrameConfig::default();
        let (frames, faults) = ours("eventstream", config, &case.input, show);
        let is_stricter =
            |fault: &String| STRICTER.iter().chain(&["more than"]).any(|what| fault.contains(what));
        assert!(frames == theirs || faults.iter().any(is_stricter), "{}: {faults:?}", case.name);
        assert!(theirs.starts_with(&frames), "{}", case.name);
    }
}

fn show(frame: &Frame<'_>) -> String {
    let headers = frame.headers.iter().map(|header| match &header.value {
        HeaderValue::Flag(flag) => format!("{}={flag}", header.name),
        HeaderValue::Number(number) => format!("{}={number}", header.name),
        HeaderValue::Time(ms) => format!("{}=@{ms}", header.name),
        HeaderValue::Bytes(bytes) => format!("{}={bytes:?}", header.name),
        HeaderValue::Text(text) => format!("{}={text:?}", header.name),
        HeaderValue::Uuid(uuid) => format!("{}={:032x}", header.name, u128::from_be_bytes(*uuid)),
    });
    format!("{} {:?}", headers.collect::<Vec<_>>().join(","), frame.data)
}

fn shown(message: &Message) -> String {
    let headers = message.headers().iter().map(|header| {
        let name = header.name().as_str();
        match header.value() {
            Theirs::Bool(flag) => format!("{name}={flag}"),
            Theirs::Byte(number) => format!("{name}={number}"),
            Theirs::Int16(number) => format!("{name}={number}"),
            Theirs::Int32(number) => format!("{name}={number}"),
            Theirs::Int64(number) => format!("{name}={number}"),
            Theirs::ByteArray(bytes) => format!("{name}={:?}", bytes.to_vec()),
            Theirs::String(text) => format!("{name}={:?}", text.as_str()),
            Theirs::Timestamp(time) => format!("{name}=@{}", time.to_millis().unwrap()),
            Theirs::Uuid(uuid) => format!("{name}={uuid:032x}"),
            other => panic!("a value of no type: {other:?}"),
        }
    });
    format!("{} {:?}", headers.collect::<Vec<_>>().join(","), message.payload().to_vec())
}
