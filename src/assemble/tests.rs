//! Each rule of assembly as incoming events and the events that come out, one a
//! line in one notation:
//!
//! ```text
//! --max-args=4 --deltas         options, before the first event
//! start m1                      a message, with its id; `log m1` is one that had been assembled
//! part #0 @a f | {"x":1}        index 0 (`~0` in text), id `a`, name `f`, and arguments: `|` a
//!                               fragment, `=` a value, `:=` the whole repeated, `?` a placeholder,
//!                               `!` repaired, `"` free text
//! withdraw                      what came before was another model's
//! gap                           something was lost that may have been a part of a call
//! close #0                      the end of a call, of all calls without an index
//! close ~0 malformed <f>        the end of a call that can't be read
//! call a f                      a whole call, in a log
//! result @a                     a result of the id `a`; `result f` is one of the tool `f`
//! 1: text Hi                    choice 1
//! error provider status=500 Oh
//! ```

use crate::assemble::*;
use crate::event::words::ClosedWords;
use crate::event::{
    Arguments, CallEnd, CallInput, Executor, Finish, FinishReason, Key, Loose, Output,
    ProviderEvent, Reason, Text, ToolCall, ToolResult, Usage, Withdrawn,
};

const CUT: &str = "error truncated the input ended before the message did";
const LOG_CUT: &str = "error truncated the log of the message ended before the message did";

/// Feeds the events of `input`, ends it, and compares what came out.
#[track_caller]
fn check(input: &str, expected: &str) {
    let lines: Vec<&str> = input.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (options, events): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| line.starts_with("--"));
    let mut run = Run::new(&options.join(" "));
    for line in events {
        match line {
            "lost" => run.assembler.lose_the_rest(),
            line => run.feed(event(line)),
        }
    }
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(run.finish(), expected, "of {input}");
}

/// Checks the lines of calls in a message that closes them, stops and ends: the reason is
/// `tool_calls` if the caller has one of them to run.
#[track_caller]
fn check_calls(parts: &str, expected: &str) {
    let is_to_run = |line: &str| line.trim_start().starts_with("call ") && !line.contains(" by=");
    let finish = if expected.lines().any(is_to_run) { "tool_calls wants" } else { "stop" };
    check(
        &format!("{parts}\nclose\nfinish stop\nend"),
        &format!("start\n{expected}\nfinish {finish}"),
    );
}

/// An assembler, and what came out of it.
struct Run {
    assembler: Assembler,
    out: Vec<String>,
}

impl Run {
    fn new(options: &str) -> Self {
        Run { assembler: assembler(options), out: Vec::new() }
    }

    fn feed(&mut self, event: Event<'_>) {
        self.feed_pieces(event.into());
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) {
        let Run { assembler, out } = self;
        let mut emit = |pieces: Pieces<'_>| {
            out.extend(pieces.events().map(line_of));
            Ok(())
        };
        match pieces.only() {
            Some(event) => assembler.feed(&event, &mut |event| emit((*event).into())).unwrap(),
            None => assembler.feed_pieces(pieces, &mut emit).unwrap(),
        }
    }

    fn finish(self) -> Vec<String> {
        let Run { mut assembler, mut out } = self;
        let mut emit = |event: &Event<'_>| {
            out.push(line_of(*event));
            Ok(())
        };
        assembler.finish(9, &mut emit).unwrap();
        out
    }
}

fn assembler(options: &str) -> Assembler {
    let mut config = AssemblerConfig::default();
    let mut tools = None;
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap_or((option, "0"));
        let number = || value.parse().unwrap();
        match name {
            "--deltas" => config.deltas = true,
            "--raw" => config.raw = true,
            "--strict" => config.strict = true,
            "--malformed-as-text" => config.malformed_as_text = true,
            "--choice" => config.choice = Some(value.parse().unwrap()),
            "--max-args" => config.max_args = number(),
            "--max-calls" => config.max_calls = number(),
            "--max-depth" => config.max_depth = number(),
            "--tool" => {
                tools = Some(Arc::new(Tools::parse(&format!(r#"{{"{value}":{{}}}}"#)).unwrap()))
            }
            _ => panic!("{option}"),
        }
    }
    Assembler::new(config, tools, None)
}

/// Returns the value of a closed list that a word names.
#[track_caller]
fn named<W: ClosedWords>(all: &[W], word: &str) -> W {
    *all.iter().find(|it| it.word() == word).unwrap_or_else(|| panic!("{word}"))
}

#[track_caller]
fn event(line: &str) -> Event<'_> {
    let (choice, line) = match line.split_once(": ") {
        Some((number, line)) if number.len() == 1 => (number.parse().unwrap(), line),
        _ => (0, line),
    };
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let kind = match kind {
        "start" => Kind::Start(Start { id: Some(rest), ..Start::default() }),
        "log" => Kind::Start(Start { id: Some(rest), framing: "sse", ..Start::default() }),
        "gap" => Kind::Loose(Loose::Lost),
        "withdraw" => Kind::Loose(Loose::Withdrawn(Withdrawn::All)),
        "text" => Kind::Text(Text::new(rest)),
        "part" => Kind::Loose(Loose::CallPart(part(rest))),
        "close" => {
            let fault = after.split_once(' ').map(|(why, raw)| (named(Reason::ALL, why), raw));
            Kind::Loose(Loose::CallEnd(CallEnd { key: key(word), fault }))
        }
        "call" => Kind::ToolCall(ToolCall::new(0, word, after, CallInput::Arguments("{}"))),
        "result" => {
            let id = word.strip_prefix('@').unwrap_or_default();
            let name = Some(word).filter(|word| !word.is_empty() && !word.starts_with('@'));
            Kind::ToolResult(ToolResult { id, name, ..ToolResult::default() })
        }
        "finish" => Kind::Finish(Finish {
            inferred: after == "inferred",
            ..Finish::new(named(FinishReason::ALL, word))
        }),
        "usage" => {
            Kind::Usage(Usage { output_tokens: Some(rest.parse().unwrap()), ..Usage::default() })
        }
        "warning" => {
            let code = named(WarningCode::ALL, word);
            Kind::Warning(Warning::new(code, after))
        }
        "event" => Kind::ProviderEvent(ProviderEvent { event: None, data: Output::Text(rest) }),
        "error" => Kind::Error(failure(named(Code::ALL, word), after)),
        "end" => Kind::Loose(Loose::End),
        _ => panic!("{line}"),
    };
    Event::new(choice, kind)
}

fn key(word: &str) -> Key {
    match word.split_at_checked(1) {
        Some(("#", number)) => Key::Index(number.parse().unwrap()),
        Some(("~", number)) => Key::Text(number.parse().unwrap()),
        _ => Key::None,
    }
}

fn part<'t>(mut rest: &'t str) -> CallPart<'t> {
    let mut part = CallPart::default();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let arguments: fn(&'t str) -> Arguments<'t> = match word {
            "|" => Arguments::Fragment,
            "=" => Arguments::Value,
            ":=" => Arguments::Done,
            "?" => Arguments::Placeholder,
            "!" => Arguments::Repaired,
            "\"" => Arguments::Free,
            _ => {
                rest = after;
                match word.split_once('=') {
                    Some(("by", executor)) => part.executor = Some(named(Executor::ALL, executor)),
                    Some(("in", dialect)) => part.source = Some(dialect),
                    Some(("kind", kind)) => part.kind = Some(kind),
                    Some(("item", id)) => part.item_id = Some(id),
                    Some(("signature", signature)) => part.signature = Some(signature),
                    _ if word.starts_with(['#', '~']) => part.key = key(word),
                    _ if word.starts_with('@') => part.id = word.get(1..),
                    _ if word.starts_with('+') => {
                        (part.name, part.has_name_pieces) = (word.get(1..), true);
                    }
                    _ => part.name = Some(word),
                }
                continue;
            }
        };
        part.arguments = arguments(after);
        break;
    }
    part
}

fn failure(code: Code, mut rest: &str) -> Failure<'_> {
    let mut failure = Failure::new(code, "", None);
    while let Some((word, after)) = rest.split_once(' ') {
        match word.split_once('=') {
            Some(("status", status)) => failure.status = Some(status.parse().unwrap()),
            Some(("raw", raw)) => failure.raw = Some(Output::Text(raw)),
            Some(("retryable", is)) => failure.retryable = Some(is.parse().unwrap()),
            _ => break,
        }
        rest = after;
    }
    Failure { message: rest, ..failure }
}

/// Returns the line of an event that comes out; none of the calls' fragments does.
fn line_of(event: Event<'_>) -> String {
    let at = |sign: &str, value: Option<&str>| {
        value.map_or_else(String::new, |value| format!(" {sign}{value}"))
    };
    let line = match event.kind {
        Kind::Start(start) => format!("start{}", at("", start.id)),
        Kind::Text(text) => format!("text {}", text.text),
        Kind::ToolCallStart(start) => format!("begin {} @{} {}", start.index, start.id, start.name),
        Kind::ToolCallDelta(delta) => format!("delta {} | {}", delta.index, delta.arguments),
        Kind::ToolCall(call) => {
            let extras = [
                at("by=", call.executor.map(Executor::name)),
                at("in=", call.source),
                at("kind=", call.kind),
                at("item=", call.item_id),
                at("signature=", call.signature),
            ];
            let input = match call.input {
                CallInput::Arguments(json) => format!("= {json}"),
                CallInput::Text(text) => format!("\" {text}"),
            };
            format!("call {} @{} {}{} {input}", call.index, call.id, call.name, extras.concat())
        }
        Kind::InvalidToolCall(call) => {
            let (id, name, reason) = (at("@", call.id), at("", call.name), call.reason.name());
            format!("invalid {}{id}{name} {reason} | {}", call.index, call.arguments_raw)
        }
        Kind::ToolResult(result) => format!("result @{}", result.id),
        Kind::Warning(warning) => {
            let index = warning.index.map(|index| index.to_string());
            format!("warning {}{}", warning.code.name(), at("", index.as_deref()))
        }
        Kind::ProviderEvent(event) => format!("event {:?}", event.data),
        Kind::Usage(usage) => format!("usage {}", usage.output_tokens.unwrap_or_default()),
        Kind::Finish(finish) => format!(
            "finish {}{}{}",
            finish.finish_reason.name(),
            if finish.inferred { " inferred" } else { "" },
            if finish.wants_tools { " wants" } else { "" },
        ),
        Kind::Error(failure) => {
            let status = failure.status.map(|status| status.to_string());
            // A stream that was cut always is.
            let retryable = failure.retryable.filter(|_| failure.code != Code::Truncated);
            let retryable = retryable.map(|is| is.to_string());
            let extras = [at("status=", status.as_deref()), at("retryable=", retryable.as_deref())];
            format!("error {}{} {}", failure.code.name(), extras.concat(), failure.message)
        }
        kind => panic!("{kind:?}"),
    };
    let line = match event.choice {
        0 => line,
        choice => format!("{choice}: {line}"),
    };
    line.trim_end().to_owned()
}

// Which call a fragment belongs to.

#[test]
fn fragments_of_an_index_are_one_call() {
    check_calls(
        r#"part #7 @a f | {"x":
        part #9 @b g | {
        part #7 | 1 }
        part #9 | }"#,
        r#"call 0 @a f = {"x":1}
        call 1 @b g = {}"#,
    );
}

#[test]
fn a_known_id_names_the_call_whatever_the_index() {
    check_calls(
        r#"part #0 @a f | {
        part #1 @b g | {
        part #1 @a | }
        part #1 @b | }"#,
        "warning index_mismatch 0
        warning index_mismatch 1
        call 0 @a f = {}
        call 1 @b g = {}",
    );
}

#[test]
fn another_id_under_an_index_is_another_call() {
    check_calls(
        "part #0 @a f | {}
        part #0 @b f
        part #0 @b | {}",
        "warning reused_index 1
        call 0 @a f = {}
        call 1 @b f = {}",
    );
}

#[test]
fn a_new_name_after_whole_arguments_is_another_call() {
    check_calls(
        r#"part #0 f | {"x":1}
        part #0 g | {"x":2}"#,
        r#"warning reused_index 1
        call 0 @call_0 f = {"x":1}
        call 1 @call_1 g = {"x":2}"#,
    );
}

#[test]
fn the_same_name_after_whole_arguments_is_another_call_if_it_has_arguments() {
    check_calls(
        "part #0 f | {}
        part #0 f
        part #0 f | {}
        part #0 f",
        "warning reused_index 1
        call 0 @call_0 f = {}
        call 1 @call_1 f = {}",
    );
}

#[test]
fn a_name_without_id_and_index_begins_a_call() {
    check_calls(
        r#"part f | {"x":
        part | 1}
        part g | {}"#,
        r#"warning missing_index 0
        warning missing_index 1
        call 0 @call_0 f = {"x":1}
        call 1 @call_1 g = {}"#,
    );
}

#[test]
fn an_inference_is_warned_of_once_a_call() {
    check_calls(
        "part #0 @a f | {
        part |
        part | }",
        "warning missing_index 0
        call 0 @a f = {}",
    );
}

#[test]
fn a_repeated_id_with_a_name_is_a_second_call() {
    check_calls(
        "part #0 @a f | {}
        part #1 @a f | {}
        part @a g | {}",
        "warning repeated_id 1
        warning repeated_id 2
        call 0 @a f = {}
        call 1 @a f = {}
        call 2 @a g = {}",
    );
}

#[test]
fn a_repeated_id_with_its_name_is_a_second_call_if_it_has_arguments() {
    check_calls(
        r#"part @a f | {"x":1}
        part @a f
        part @a f | {"x":2}"#,
        r#"warning repeated_id 1
        call 0 @a f = {"x":1}
        call 1 @a f = {"x":2}"#,
    );
}

#[test]
fn the_id_of_a_closed_call_with_a_name_is_a_second_call() {
    check_calls(
        "part #0 @a f | {}
        close #0
        part @a f | {}",
        "call 0 @a f = {}
        warning repeated_id 1
        call 1 @a f = {}",
    );
}

#[test]
fn the_index_of_a_closed_call_with_a_name_or_an_id_is_another_call() {
    check(
        "part #0 f | {}
        close #0
        part #0 g | {}
        close #0
        part #0 @a
        part #0 h
        close #0
        finish stop
        end",
        "start
        call 0 @call_0 f = {}
        call 1 @call_1 g = {}
        call 2 @a h = {}
        finish tool_calls wants",
    );
}

#[test]
fn in_text_the_place_names_the_call_and_not_the_id() {
    check(
        "part ~0 @a f | {}
        close ~0
        part ~1 @b g | {
        part ~2 @b
        part ~2 h | {}
        part ~1 | }
        close
        finish stop
        end",
        "start
        call 0 @a f = {}
        warning repeated_id 2
        call 1 @b g = {}
        call 2 @b h = {}
        finish tool_calls wants",
    );
}

#[test]
fn calls_of_two_choices_are_counted_apart() {
    check(
        "part #0 @a f | {}
        1: part #0 @a g | {}
        1: close
        close
        1: finish stop
        finish stop
        end",
        "start
        1: call 0 @a g = {}
        call 0 @a f = {}
        1: finish tool_calls wants
        finish tool_calls wants",
    );
}

// When a call is final.

#[test]
fn a_call_that_is_never_closed_is_truncated() {
    check(
        "part #0 @a f | {}
        finish tool_calls
        end",
        "start
        invalid 0 @a f truncated | {}
        finish tool_calls",
    );
    check("part #0 @a f | {}", &format!("start\ninvalid 0 @a f truncated | {{}}\n{CUT}"));
}

#[test]
fn a_closed_call_stays_one_if_the_stream_breaks() {
    check("part #0 @a f | {}\nclose #0", &format!("start\ncall 0 @a f = {{}}\n{CUT}"));
}

/// A call that is closed before its arguments are whole, what comes then, and what is wrong with it.
#[track_caller]
fn check_open_arguments(then: &str, reason: &str, finish: &str) {
    check(
        &format!("part #0 @a f | {{\"x\":\nclose #0\n{then}\nend"),
        &format!("start\ninvalid 0 @a f {reason} | {{\"x\":\n{finish}"),
    );
}

#[test]
fn the_finish_reason_says_if_arguments_were_cut_at_their_close() {
    check_open_arguments("finish stop", "malformed", "finish stop");
    check_open_arguments("finish tool_calls", "malformed", "finish tool_calls");
    check_open_arguments("finish length", "truncated", "finish length");
}

#[test]
fn arguments_after_the_close_take_back_a_call_without_any() {
    check(
        "part #0 @a f | {}
        close #0
        part #0
        part #0 | x
        part #0 | y
        finish stop
        end",
        "start
        call 0 @a f = {}
        warning late_fragment 0
        invalid 0 @a f withdrawn |
        warning late_fragment 0
        finish stop",
    );
    check(
        "part #0 @a f | {\"a\":1}
        close #0
        part #0 | x
        finish stop
        end",
        "start
        call 0 @a f = {\"a\":1}
        warning late_fragment 0
        finish tool_calls wants",
    );
}

#[test]
fn after_a_reason_that_closes_nothing_calls_without_arguments_are_truncated() {
    for reason in ["length", "other", "pause"] {
        check(
            &format!("part #0 @a f\npart #1 @b g\nfinish {reason}\nclose\nend"),
            &format!(
                "start
                invalid 0 @a f truncated |
                invalid 1 @b g truncated |
                finish {reason}"
            ),
        );
    }
    check(
        "part #0 @a f | {}
        finish length
        close
        end",
        "start
        call 0 @a f = {}
        finish length wants",
    );
}

#[test]
fn bytes_that_cannot_be_read_spoil_every_open_call() {
    check(
        "part #0 @a f | {}
        close #0
        part #1 @b g | {}
        1: part #0 @c h | {}
        error malformed Oh
        close #1
        1: close #0
        part #2 @d i | {}
        close #2
        finish stop
        end",
        "start
        call 0 @a f = {}
        warning malformed
        invalid 1 @b g malformed | {}
        1: invalid 0 @c h malformed | {}
        call 2 @d i = {}
        error malformed Oh",
    );
}

// Arguments.

#[test]
fn empty_arguments_are_an_empty_object() {
    for empty in ["part #0 @a f", "part #0 @a f |  ", "part #0 @a f ? {}"] {
        check_calls(empty, "call 0 @a f = {}");
    }
}

#[test]
fn null_is_an_empty_object() {
    check(
        "part #0 @a f | null
        close
        finish stop
        end",
        "start
        warning null_arguments 0
        call 0 @a f = {}
        finish tool_calls wants",
    );
}

#[test]
fn only_white_space_between_tokens_is_dropped() {
    check_calls(
        r#"part #0 @a f | { "b" : 1.0e+2 , "a" : " x \u0041" }"#,
        r#"call 0 @a f = {"b":1.0e+2,"a":" x \u0041"}"#,
    );
}

#[test]
fn a_string_that_holds_an_object_is_unwrapped_once() {
    check_calls(
        r#"part #0 @a f | "{\"x\": 1}"
        part #1 @b f | "\"{}\""
        part #2 @c f | "x"
        part #3 @d f | "{\"x\":\"\ud800\"}""#,
        r#"warning double_encoded 0
        call 0 @a f = {"x":1}
        invalid 1 @b f not_object | "\"{}\""
        invalid 2 @c f not_object | "x"
        invalid 3 @d f not_object | "{\"x\":\"\ud800\"}""#,
    );
}

#[test]
fn json_that_is_no_object_is_not_run() {
    for json in ["[]", "1", "true"] {
        check_calls(
            &format!("part #0 @a f | {json}"),
            &format!("invalid 0 @a f not_object | {json}"),
        );
    }
}

#[test]
fn text_that_is_no_json_is_malformed() {
    for text in ["{x}", "{}}", "{\"x\":01}"] {
        check_calls(
            &format!("part #0 @a f | {text}"),
            &format!("invalid 0 @a f malformed | {text}"),
        );
    }
}

#[test]
fn a_placeholder_counts_only_if_nothing_else_comes() {
    check_calls(
        r#"part #0 @a f ? {"x":1}
        part #1 @b f ? {}
        part #1 | {"x":2}"#,
        r#"call 0 @a f = {"x":1}
        call 1 @b f = {"x":2}"#,
    );
}

#[test]
fn arguments_that_stood_at_the_start_are_not_dropped_in_silence() {
    check_calls(
        r#"part #0 @a f ? {"x": 1}
        part #0 | {"x":1}
        part #1 @b f ? {"x":1}
        part #1 | {"y":2}"#,
        r#"call 0 @a f = {"x":1}
        warning arguments_mismatch 1
        call 1 @b f = {"y":2}"#,
    );
}

#[test]
fn a_name_may_come_after_the_arguments() {
    check_calls(
        r#"part #0 @a | {"x":1}
        part #0 f"#,
        r#"call 0 @a f = {"x":1}"#,
    );
    check_calls(
        r#"part #0 @a | {"x":1}
        part #0 f | {}"#,
        r#"warning reused_index 1
        invalid 0 @a no_name | {"x":1}
        call 1 @call_1 f = {}"#,
    );
}

#[test]
fn arguments_repeated_at_the_end_win() {
    check_calls(
        r#"part #0 @a f | {"x":1}
        part #0 := {"x":2}
        part #1 @b f | {"x": 1}
        part #1 := {"x":1}"#,
        r#"warning arguments_mismatch 0
        call 0 @a f = {"x":2}
        call 1 @b f = {"x":1}"#,
    );
}

#[test]
fn two_values_that_differ_are_a_conflict() {
    check_calls(
        r#"part #0 @a f = {"x":1}
        part #0 = {"x":1}
        part #1 @b f = {"x":1}
        part #1 = {"x":2}"#,
        r#"call 0 @a f = {"x":1}
        invalid 1 @b f conflict | {"x":1}{"x":2}"#,
    );
}

#[test]
fn repaired_arguments_are_malformed() {
    check_calls("part #0 @a f ! {}", "invalid 0 @a f malformed | {}");
}

#[test]
fn of_a_doubled_key_the_last_counts() {
    check_calls(
        r#"part #0 @a f | {"x":1,"y":2,"x":3}"#,
        r#"warning duplicate_key 0
        call 0 @a f = {"y":2,"x":3}"#,
    );
}

#[test]
fn values_that_readers_disagree_about_are_kept_and_warned_of() {
    check_calls(
        r#"part #0 @a f | {"x":"\ud800","y":12345678901234567890123}"#,
        r#"warning lone_surrogate 0
        warning inexact_number 0
        call 0 @a f = {"x":"\ud800","y":12345678901234567890123}"#,
    );
}

#[test]
fn free_text_is_an_input_as_it_is() {
    check_calls(r#"part #0 @a f " {"x"#, r#"call 0 @a f " {"x"#);
}

// Names and ids.

#[test]
fn a_name_may_be_repeated_grow_or_come_in_pieces() {
    check_calls(
        "part #0 @a get
        part #0 +get
        part #0 +get_weather
        part #1 @b get_
        part #1 +time",
        "warning joined_name 0
        warning joined_name 1
        call 0 @a get_weather = {}
        call 1 @b get_time = {}",
    );
}

#[test]
fn another_name_is_a_conflict_where_names_are_whole() {
    for name in ["rm", "frm"] {
        check_calls(
            &format!("part #0 @a f\npart #0 {name}\npart #0 = {{}}"),
            "invalid 0 @a f conflict | {}",
        );
    }
}

#[test]
fn another_name_after_arguments_is_a_conflict() {
    check_calls(
        "part #0 @a f | {
        part #0 +g | }",
        "invalid 0 @a f conflict | {}",
    );
}

#[test]
fn a_call_without_a_name_is_not_run() {
    check_calls("part #0 @a | {}", "invalid 0 @a no_name | {}");
}

#[test]
fn an_id_that_is_made_up_is_no_other_calls() {
    check_calls(
        "part #0 f | {}
        part #1 @call_0 f | {}
        part #2 f | {}",
        "call 0 @call_1 f = {}
        call 1 @call_0 f = {}
        call 2 @call_2 f = {}",
    );
}

#[test]
fn an_id_that_was_made_up_before_it_came_is_replaced() {
    check_calls(
        "part #0 f | {}
        close #0
        part #1 @call_0 f | {}",
        "call 0 @call_0 f = {}
        warning reused_id 1
        call 1 @call_1 f = {}",
    );
}

#[test]
fn a_tool_that_is_not_defined_is_run_only_if_it_was_found_in_text() {
    check_calls(
        "--tool=f
        part #0 @a f | {}
        part #1 @b g | {}
        part #2 @c g by=provider | {}
        part ~0 g in=hermes | {}",
        "call 0 @a f = {}
        invalid 1 @b g unknown_tool | {}
        call 2 @c g by=provider = {}
        warning unknown_tool 3
        call 3 @call_3 g in=hermes = {}",
    );
}

#[test]
fn members_beside_the_arguments_are_kept() {
    check_calls(
        "part #0 @a f kind=custom signature=s
        part #0 item=i signature=t | {}",
        "call 0 @a f kind=custom item=i signature=t = {}",
    );
    check_calls("part #0 @a f kind= item= signature= | {}", "call 0 @a f = {}");
}

// Limits.

#[test]
fn arguments_over_max_args_cost_their_call_alone() {
    check_calls(
        r#"--max-args=4
        part #0 @a f | {"
        part #0 | é":1}
        part #1 @b f | {  }"#,
        r#"invalid 0 @a f too_large | {"é
        call 1 @b f = {}"#,
    );
}

#[test]
fn without_a_limit_every_call_finds_its_end() {
    let mut run = Run::new("--max-calls=0");
    for number in 0..10_000 {
        run.feed(event(&format!("part #{number} @a{number} f | {{}}")));
        run.feed(event(&format!("close #{number}")));
    }
    let is_call = |line: &&String| line.starts_with("call ");
    assert_eq!(run.finish().iter().filter(is_call).count(), 10_000);
}

#[test]
fn a_call_is_not_run_that_may_lack_what_was_lost() {
    check_calls(
        "part #0 @a f | {}
        gap
        part #1 @b g | {}",
        "invalid 0 @a f malformed | {}
        call 1 @b g = {}",
    );
    check("gap\nfinish stop\nend", "start\nwarning empty_answer\nfinish stop");
    // Nothing of a call comes after the finish reason.
    check(
        "part #0 @a f | {}
        finish tool_calls
        gap
        part #1 @b g | {}
        gap
        close
        end",
        "start
        call 0 @a f = {}
        invalid 1 @b g malformed | {}
        finish tool_calls wants",
    );
}

#[test]
fn a_call_over_max_calls_ends_the_input() {
    check(
        "--max-calls=2
        part #0 @a f | {}
        1: part #0 @b f | {}
        close
        part #1 @c f | {}
        text never
        end",
        "start
        call 0 @a f = {}
        1: invalid 0 @b f truncated | {}
        error limit more tool calls than --max-calls 2",
    );
}

#[test]
fn arguments_deeper_than_max_depth_are_malformed() {
    check(
        r#"--max-depth=2
        part #0 @a f | {"x":[]}
        part #1 @b f | {"x":[[]]}
        close
        finish stop
        end"#,
        r#"start
        call 0 @a f = {"x":[]}
        warning too_deep 1
        invalid 1 @b f malformed | {"x":[[]]}
        finish tool_calls wants"#,
    );
}

// Deltas.

#[test]
fn deltas_come_once_the_call_has_a_name_and_an_object() {
    check_calls(
        r#"--deltas
        part #0 @a | {"x"
        part #0 f | :
        part #0 | 1}"#,
        r#"begin 0 @a f
        delta 0 | {"x":
        delta 0 | 1}
        call 0 @a f = {"x":1}"#,
    );
}

#[test]
fn deltas_of_arguments_that_are_known_at_the_end_come_at_once() {
    check_calls(
        r#"--deltas
        part #0 @a f | "{\"x\"
        part #0 | :1}""#,
        r#"warning double_encoded 0
        begin 0 @a f
        delta 0 | {"x":1}
        call 0 @a f = {"x":1}"#,
    );
}

#[test]
fn what_a_message_takes_back_is_not_to_be_run() {
    for reason in ["content_filter", "refusal"] {
        check(
            &format!("part #0 @a f | {{}}\nclose\nfinish {reason}\nend"),
            &format!(
                "start
                call 0 @a f = {{}}
                invalid 0 @a f withdrawn |
                finish {reason}"
            ),
        );
        check(
            &format!("part #0 @a f | {{}}\npart #1 @b g | {{\nfinish {reason}\nclose\nend"),
            &format!(
                "start
                invalid 0 @a f withdrawn | {{}}
                invalid 1 @b g truncated | {{
                finish {reason}"
            ),
        );
    }
    check(
        "part #0 @a f | {}
        close #0
        part #1 @b g
        close #1
        withdraw
        part #2 @c h | {}
        close #2
        finish stop
        end",
        "start
        call 0 @a f = {}
        invalid 0 @a f withdrawn |
        call 2 @c h = {}
        invalid 1 @b g withdrawn |
        finish tool_calls wants",
    );
}

#[test]
fn arguments_that_come_again_from_their_beginning_are_taken_once() {
    let parts = "part #0 @a f | {\npart #0 | {\"x\":\npart #0 | {\"x\":1}";
    check_calls(parts, "warning cumulative_arguments 0\ncall 0 @a f = {\"x\":1}");
    // Together, these make an object.
    check_calls(
        r#"part #0 @a f | {"x":
        part #0 | {"x":1}}"#,
        r#"call 0 @a f = {"x":{"x":1}}"#,
    );
}

#[test]
fn fragments_that_come_together_are_taken_as_each_of_them() {
    for options in ["", "--deltas"] {
        let [mut one_by_one, mut together] = [Run::new(options), Run::new(options)];
        for run in [&mut one_by_one, &mut together] {
            run.feed(event("part #0 @a f | {"));
            run.feed(event("part #1 @b f | {"));
        }
        for line in [r#"part #0 | "x" :"#, "part #0 | 1", "part #0 | }"] {
            one_by_one.feed(event(line));
        }
        let pieces = Pieces { event: event(r#"part #0 | "x" :1}"#), cuts: &[5, 6] };
        together.feed_pieces(pieces);
        assert_eq!(one_by_one.finish(), together.finish());
    }
}

// How a message ends.

#[test]
fn only_a_stop_is_upgraded_to_tool_calls() {
    for reason in ["length", "pause", "error", "other"] {
        check(
            &format!("part #0 @a f | {{}}\nclose\nfinish {reason}\nend"),
            &format!("start\ncall 0 @a f = {{}}\nfinish {reason} wants"),
        );
    }
}

#[test]
fn calls_that_the_caller_need_not_run_upgrade_nothing() {
    check(
        "part #0 @a f by=provider | {}
        part #1 @b g | {}
        close
        result @b
        finish stop
        end",
        "start
        call 0 @a f by=provider = {}
        call 1 @b g = {}
        result @b
        finish stop",
    );
}

#[test]
fn a_result_answers_the_first_call_of_its_id() {
    check(
        "part #0 @a f | {}
        close #0
        part #1 @a f | {}
        close #1
        result @a
        finish stop
        end",
        "start
        call 0 @a f = {}
        warning repeated_id 1
        call 1 @a f = {}
        result @a
        finish tool_calls wants",
    );
}

#[test]
fn a_result_without_an_id_is_of_the_oldest_call_of_its_tool_or_of_any() {
    check(
        "part #0 @a f | {}
        part #1 @b g | {}
        part #2 @c g | {}
        close
        result g
        result h
        result
        result g
        finish stop
        end",
        "start
        call 0 @a f = {}
        call 1 @b g = {}
        call 2 @c g = {}
        warning missing_index
        result @b
        warning missing_index
        result @a
        result @c
        warning orphan_tool_result
        result @
        finish stop",
    );
}

#[test]
fn a_reason_that_speaks_of_calls_needs_one() {
    check(
        "text Hi
        finish tool_calls
        end",
        "start
        text Hi
        warning finish_mismatch
        finish tool_calls",
    );
}

#[test]
fn the_last_usage_comes_right_before_the_end() {
    check(
        "text Hi
        usage 1
        finish stop
        usage 3
        end",
        "start
        text Hi
        usage 3
        finish stop",
    );
}

#[test]
fn a_message_without_a_reason_ends_with_an_inferred_stop() {
    check("text Hi\nend", "start\ntext Hi\nfinish stop inferred");
    check("text Hi\nfinish stop inferred", "start\ntext Hi\nfinish stop inferred");
    check("text Hi\nfinish stop", &format!("start\ntext Hi\n{CUT}"));
}

#[test]
fn an_end_inside_a_frame_is_an_error_unless_the_message_had_ended() {
    check(
        "text Hi\nfinish stop inferred\nerror truncated Oh",
        "start\ntext Hi\nerror truncated Oh",
    );
    check(
        "text Hi\nfinish stop\nend\nerror truncated Oh",
        "start\ntext Hi\nfinish stop\nwarning truncated",
    );
}

#[test]
fn input_that_cannot_be_framed_on_needs_no_second_error() {
    check(
        "text Hi\nlost\nerror malformed Oh",
        "start\ntext Hi\nwarning malformed\nerror malformed Oh",
    );
}

#[test]
fn the_worst_error_ends_the_message_and_others_are_warnings() {
    check(
        "text Hi
        error malformed One
        error provider raw=x Two
        error provider raw=y Three
        error interrupted Four",
        "start
        text Hi
        warning malformed
        warning provider
        warning provider
        error interrupted Four",
    );
}

#[test]
fn a_providers_words_replace_a_bare_status() {
    check(
        "error provider status=500 retryable=true Status
        error provider raw=x Words",
        "start
        error provider status=500 retryable=true Words",
    );
}

#[test]
fn an_error_hides_no_calls_and_no_usage() {
    check(
        "part #0 @a f | {}
        close
        usage 3
        error provider Oh
        finish stop
        end",
        "start
        call 0 @a f = {}
        usage 3
        error provider Oh",
    );
}

#[test]
fn a_limit_stops_the_input() {
    check("text Hi\nerror limit Oh\ntext never\nstart m2", "start\ntext Hi\nerror limit Oh");
}

#[test]
fn under_strict_the_first_warning_of_a_message_ends_it_with_an_error() {
    check(
        "--strict
        warning unknown_event one
        warning unknown_item two
        finish stop
        end
        text Hi
        finish stop
        end",
        "start
        warning unknown_event
        warning unknown_item
        warning empty_answer
        error malformed --strict: one
        start
        text Hi
        finish stop",
    );
}

#[test]
fn the_main_choice_ends_last() {
    check(
        "text Hi
        1: text Ho
        finish stop
        1: finish length
        end",
        "start
        text Hi
        1: text Ho
        1: finish length
        finish stop",
    );
    check(
        "--choice=1
        text Hi
        1: text Ho
        finish stop
        1: finish length
        end",
        "start
        1: text Ho
        1: finish length",
    );
}

#[test]
fn an_answer_without_the_choice_that_is_followed_is_no_empty_one() {
    check(
        "--choice=0
        start
        1: text Ho
        1: finish stop
        end",
        "start
        warning no_finish_reason
        finish other inferred",
    );
}

// What comes before a message, between messages, and not at all.

#[test]
fn what_comes_before_a_message_waits_for_it() {
    check(
        "--raw
        warning unknown_event one
        event x
        start m1
        start m2
        finish stop
        end",
        r#"start m1
        warning unknown_event
        event Text("x")
        warning empty_answer
        finish stop"#,
    );
}

#[test]
fn an_unknown_event_is_warned_of_once_a_message() {
    check(
        "start m1
        warning unknown_event one
        warning unknown_event one
        warning unknown_event two
        finish stop
        end",
        "start m1
        warning unknown_event
        warning unknown_event
        warning empty_answer
        finish stop",
    );
}

#[test]
fn an_error_after_the_last_message_is_a_message() {
    check(
        "text Hi
        finish stop
        end
        error provider Oh",
        "start
        text Hi
        finish stop
        start
        error provider Oh",
    );
}

#[test]
fn an_input_without_a_message_is_truncated() {
    check(
        "",
        "start\nerror truncated the input holds no data, only blank lines, comments or the like",
    );
}

#[test]
fn events_without_a_meaning_are_passed_on_with_raw_alone() {
    check("event x\nfinish stop\nend", "start\nwarning empty_answer\nfinish stop");
}

#[test]
fn markup_that_cannot_be_read_is_a_call_or_with_an_option_text() {
    let input =
        "part ~0 f in=hermes | {\nclose ~0 malformed <f>{\npart ~1 g in=hermes | {}\nclose ~1\nend";
    check(
        input,
        "start
        invalid 0 f malformed | <f>{
        call 1 @call_1 g in=hermes = {}
        finish tool_calls inferred wants",
    );
    check(
        &format!("--malformed-as-text\n{input}"),
        "start
        text <f>{
        call 0 @call_0 g in=hermes = {}
        finish tool_calls inferred wants",
    );
}

// Messages of our own log.

#[test]
fn a_log_passes_as_it_is_up_to_its_end() {
    check(
        "log m1
        text Hi
        call a f
        warning unknown_event one
        usage 3
        finish stop
        text never
        warning truncated two
        end
        log m2
        call a f
        result @a
        finish tool_calls",
        "start m1
        text Hi
        call 0 @a f = {}
        warning unknown_event
        usage 3
        finish stop wants
        warning after_done
        warning truncated
        start m2
        call 0 @a f = {}
        result @a
        finish tool_calls",
    );
}

#[test]
fn a_log_that_is_cut_ends_with_an_error() {
    check("log m1\ntext Hi", &format!("start m1\ntext Hi\n{LOG_CUT}"));
    check(
        "log m1
        text Hi
        1: text Ho
        usage 3
        finish stop",
        &format!("start m1\ntext Hi\n1: text Ho\nusage 3\n{LOG_CUT}"),
    );
    check(
        "log m1\ntext Hi\nusage 3\nerror provider Oh\ntext never",
        "start m1\ntext Hi\nusage 3\nerror provider Oh\nwarning after_done",
    );
}
