//! Errors as providers report them: in a body instead of an answer, or in the
//! middle of a stream that began well.
//!
//! One reader serves all formats. The shapes, with who sends them: an `error`
//! object (OpenAI, Anthropic, Google, OpenRouter, llama.cpp …), a string
//! (Ollama, Hugging Face, xAI), `message` or `detail` at the top (AWS, Cohere,
//! Mistral, FastAPI servers), `errors` (Cloudflare), `title` (Replicate, RFC 9457).

use crate::event::{Block, Code, Failure, Kind};
use crate::format::format::Record;
use crate::format::support::emit::{Done, EventOut, output};
use crate::format::support::object::Object;
use crate::frame::Frame;
use crate::json;

/// Members that only an answer has.
const MARKS_OF_SUCCESS: [&str; 7] =
    ["choices", "content", "candidates", "output", "role", "delta", "usage"];

/// Members that stand beside a bare `message` or `detail` in an error's body, with spaces between
/// them.
const WORDS_OF_ERRORS: &str = "\
    Message RequestId Type __type code correlation_id data detail details errcode errmsg error_code \
    error_msg error_type id instance message messages msg object param path raw_status_code reason \
    requestId request_id result status statusCode status_code success timestamp title traceId \
    trace_id type";

/// Members that an error's words stand in.
const MESSAGES: [&str; 6] = ["message", "Message", "msg", "error_msg", "errmsg", "status_msg"];

/// MiniMax's verdict, which stands in what is well, too. Source: MiniMax, "Error Code".
pub(crate) const VERDICT: &str = "base_resp";

/// True for a verdict that the request failed.
pub(crate) fn is_bad(verdict: &str) -> bool {
    let code = json::member(verdict, "status_code").and_then(number);
    code.is_some_and(|code| code != 0)
}

/// Words in the names of events that may be errors.
const NAMES_OF_EVENTS: [&str; 5] = ["message", "rror", "fail", "xception", "abort"];

/// True if a record is an error of any provider, and no answer.
pub(crate) fn is_error(record: &Record) -> bool {
    // Cloudflare's good bodies have `errors`, too, and nothing in it.
    let tells = |key: &&str| record.get(key).is_some_and(|json| !is_nothing(json));
    let is_answer = MARKS_OF_SUCCESS.iter().any(|key| record.has(key));
    let is_text =
        |key: &&str| tells(key) && record.get(key).is_some_and(|json| json.starts_with('"'));
    // A title, a detail or a message among other things is any record's.
    let is_word = |name: &str| WORDS_OF_ERRORS.split(' ').any(|word| word == name);
    let is_alone = || record.names().all(|name| is_word(name) && (name != "data" || !tells(&name)));
    // A problem of RFC 9457 needs no more than a title and its status.
    let is_bad_status =
        |json: &str| number(json).is_some_and(|status| (400..600).contains(&status));
    let is_problem = || is_text(&"title") && record.get("status").is_some_and(is_bad_status);
    let has_words =
        || MESSAGES.iter().any(is_text) || tells(&"detail") || tells(&"details") || is_problem();
    let says_so = |key| record.text(key).is_some_and(|word| is_success(&word));
    let is_well = record.get("success") == Some("true")
        || record.get("code") == Some("0")
        || says_so("status")
        || says_so("result");
    // An event that is named for something else is that, unless a code tells.
    let name = record.event_type;
    let is_named = name.is_empty() || NAMES_OF_EVENTS.iter().any(|word| name.contains(word));
    let may_be = is_named || tells(&"code");
    let bare = tells(&"errors") || (is_alone() && has_words() && !is_well && may_be);
    record.is_failure
        || record.event_type == "error"
        || record.get(VERDICT).is_some_and(is_bad)
        || (record.is_object() && (tells(&"error") || (bare && !is_answer)))
}

/// Returns a whole number, also in a string.
pub(crate) fn number(json: &str) -> Option<i64> {
    json.trim_matches('"').parse().ok()
}

/// True for the value of an error where there is none: an object says nothing if none of its members
/// does.
pub(crate) fn is_nothing(json: &str) -> bool {
    json::is_empty(json)
        || json.starts_with('{')
            && json::members(json).iter().all(|(_, value)| is_nothing(value.get()))
}

/// True if a status says that all is well.
fn is_success(word: &str) -> bool {
    ["success", "succeeded", "successful", "ok", "accepted", "acknowledged"]
        .iter()
        .any(|good| word.eq_ignore_ascii_case(good))
}

/// Reports that the provider reported an error. `json` is its object: the whole
/// body or event, or what stood under `error`.
pub(crate) fn report(json: &str, out: &mut EventOut) -> Done {
    let (message, provider_code) = words(json, 0);
    report_as(message.as_deref(), provider_code.as_deref(), json, out)
}

/// Reports that a frame is an exception or an error of its service. Its headers
/// name it; what is wrong stands in the payload, or in a header too.
pub(crate) fn report_failure(frame: &Frame, out: &mut EventOut) -> Done {
    let header = |name| frame.header(name).filter(|text| !text.is_empty());
    let code = header(":exception-type").or(header(":error-code"));
    let text = frame.text();
    let (message, _) = words(&text, 0);
    let message = message.as_deref().or(header(":error-message"));
    if !frame.data.is_empty() {
        return report_as(message, code, &text, out);
    }
    let names = [":exception-type", ":error-code", ":error-message"];
    let members = names.into_iter().filter_map(|name| Some((name, json::quote(header(name)?))));
    report_as(message, code, &json::object(members), out)
}

/// Reports the provider's error with a message and a code that the format gives.
pub(crate) fn report_as(
    message: Option<&str>,
    provider_code: Option<&str>,
    json: &str,
    out: &mut EventOut,
) -> Done {
    report_with(message, provider_code, None, json, out)
}

/// Reports the provider's error, with its HTTP status if the format gives that too.
pub(crate) fn report_with(
    message: Option<&str>,
    provider_code: Option<&str>,
    status: Option<u16>,
    json: &str,
    out: &mut EventOut,
) -> Done {
    // Groq: a call that the model did not make well, and that was not made.
    let failed = json::member(json, "failed_generation")
        .or_else(|| json::member(json::member(json, "error")?, "failed_generation"));
    if let Some(text) = failed.and_then(json::string).filter(|text| !text.is_empty()) {
        let (name, attributes) = ("failed_generation", None);
        out.emit(0, Kind::Block(Block { name, text: &text, attributes }))?;
    }
    let failure = Failure {
        code: Code::Provider,
        message: message.unwrap_or("the provider reported an error"),
        offset: Some(out.offset),
        provider_code,
        status,
        retryable: provider_code.and_then(is_retryable),
        retried: false,
        raw: Some(output(json)),
    };
    out.emit(0, Kind::Error(failure))
}

/// Returns the message of an error of any provider's, if it has one.
pub(crate) fn message(json: &str) -> Option<String> {
    words(json, 0).0
}

/// The depth to which an error is searched inside another.
const MAX_NESTING: usize = 4;

/// The message and the code of an error, wherever its shape has them.
fn words(json: &str, depth: usize) -> (Option<String>, Option<String>) {
    if let Some(text) = json::string(json) {
        return (Some(text), None);
    }
    if depth == 0 && !json::is_json(json) {
        return (Some(json.trim().to_owned()).filter(|text| !text.is_empty()), None);
    }
    if let Some(first) = json::elements(json).and_then(|elements| elements.first().copied()) {
        return if depth < MAX_NESTING { words(first, depth + 1) } else { (None, None) };
    }
    let object = Object::new(json);
    let inner = object.get("error|errors|detail|base_resp").filter(|_| depth < MAX_NESTING);
    let (mut message, mut code) = inner.map_or((None, None), |inner| words(inner, depth + 1));
    for key in MESSAGES.iter().chain(&["title", "errorText", "details"]) {
        message = message.or_else(|| object.get(key).and_then(json::string));
    }
    // A `type` that is only "error" is the event's, and one that is an address is no code.
    let is_code = |word: &String| word != "error" && word != "about:blank" && !word.contains("://");
    for key in ["code", "error_type", "__type", "type", "status", "status_code", "statusCode"] {
        code = code.or_else(|| object.get(key).and_then(word).filter(is_code));
    }
    (message, code)
}

/// A string, or a number as its text.
fn word(json: &str) -> Option<String> {
    json::string(json).or_else(|| json.bytes().all(|b| b.is_ascii_digit()).then(|| json.to_owned()))
}

/// Parts of codes, and whether the same request may succeed later; the first row that fits counts.
const CODES: &[(bool, &[&str])] = &[
    (true, &["overloaded", "rate_limit", "ratelimit", "timeout", "unavailable", "throttl"]),
    (true, &["resource_exhausted", "deadline_exceeded", "api_error", "server_error", "notready"]),
    (false, &["invalid", "authentication", "permission", "not_found", "billing"]),
    (false, &["context_length", "bad_request", "validation", "accessdenied"]),
    (false, &["unauthenticated", "failed_precondition", "out_of_range", "unimplemented"]),
    // The last one is ours, in what `convert` has written.
    (true, &["internal", "truncated"]),
];

/// True if the same request may succeed later; `None` where the code does not decide it.
fn is_retryable(code: &str) -> Option<bool> {
    let code = code.to_ascii_lowercase();
    let fits = |(_, parts): &&(bool, &[&str])| parts.iter().any(|part| code.contains(part));
    let by_status = code.parse().ok().and_then(is_retryable_status);
    by_status.or_else(|| CODES.iter().find(fits).map(|(is_retryable, _)| *is_retryable))
}

/// Returns true if a request that failed with this HTTP status may succeed
/// later; `None` if the status does not decide it.
pub(crate) fn is_retryable_status(status: u16) -> Option<bool> {
    match status {
        408 | 409 | 429 | 500..=599 => Some(true),
        400..=499 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, message: &str, code: Option<&str>) {
        let (got_message, got_code) = words(json, 0);
        assert_eq!((got_message.as_deref(), got_code.as_deref()), (Some(message), code), "{json}");
    }

    #[test]
    fn every_shape_is_read() {
        check(r#"{"error":{"message":"m","type":"t","param":null,"code":"c"}}"#, "m", Some("c"));
        check(r#"{"error":{"message":"m","type":"t","code":null}}"#, "m", Some("t"));
        check(
            r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}"#,
            "m",
            Some("400"),
        );
        check(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            "m",
            Some("overloaded_error"),
        );
        check(r#"{"error":"m"}"#, "m", None);
        check(r#"{"error":["m"]}"#, "m", None);
        check(r#"{"error":"m","error_type":"validation"}"#, "m", Some("validation"));
        check(r#"{"code":"invalid-argument","error":"m"}"#, "m", Some("invalid-argument"));
        check(r#"{"message":"m"}"#, "m", None);
        check(r#"{"detail":[{"loc":[],"msg":"m","type":"missing"}]}"#, "m", Some("missing"));
        check(r#"{"errors":[{"code":7003,"message":"m"}],"success":false}"#, "m", Some("7003"));
        check(r#""m""#, "m", None);
    }

    #[test]
    fn retrying_makes_sense_for_some() {
        assert_eq!(is_retryable("overloaded_error"), Some(true));
        assert_eq!(is_retryable("429"), Some(true));
        assert_eq!(is_retryable("400"), Some(false));
        assert_eq!(is_retryable("tool_use_failed"), None);
        for code in
            ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "truncated"]
        {
            assert_eq!(is_retryable(code), Some(true), "{code}");
        }
        for code in ["UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION"] {
            assert_eq!(is_retryable(code), Some(false), "{code}");
        }
    }

    #[track_caller]
    fn check_is_error(json: &str, expected: bool) {
        let framing = crate::frame::FRAMINGS[0];
        let frame = Frame::new(framing, json.as_bytes(), 0);
        assert_eq!(is_error(&Record::new(&frame)), expected, "{json}");
    }

    #[test]
    fn a_title_or_a_message_among_other_things_is_no_error() {
        check_is_error(r#"{"id":"s1","title":"A day at sea"}"#, false);
        check_is_error(r#"{"level":"info","message":"listening"}"#, false);
        check_is_error(r#"{"detail":"high","size":3}"#, false);
    }

    #[test]
    fn what_says_that_it_went_well_is_no_error() {
        check_is_error(r#"{"message":"Run creation acknowledged: r1","status":"success"}"#, false);
        check_is_error(r#"{"message":"queued","status":"OK"}"#, false);
        check_is_error(r#"{"message":"no such model","status":"failed"}"#, true);
        check_is_error(r#"{"error":"no such model","status":"success"}"#, true);
    }

    #[test]
    fn a_message_or_a_detail_is_one_by_itself() {
        check_is_error(r#"{"message":"too many requests"}"#, true);
        check_is_error(r#"{"detail":"unauthorized"}"#, true);
        check_is_error(r#"{"title":"no such version","detail":"it is gone","status":422}"#, true);
    }
}
