//! opencode: `opencode run --format json`.
//!
//! Source: sst/opencode, its `run` command and the types of message parts. A
//! step is a message: it has its own reason to stop and its own usage. The
//! agent ran all calls; each comes with its result.

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Executor, Output, ToolResult};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["opencode-run"],
    about: "opencode, opencode run --format json",
    link: "https://opencode.ai/docs/cli/",
    evidence: &["sessionID", "part"],
    sniff: is_ours,
    ..Format::new("opencode", |_| {
        Box::new(OpenCode { message: Lifecycle::new(&FORMAT, USAGE), calls: Calls::default() })
    })
};

fn is_ours(record: &Record) -> bool {
    let kind = record.text("type").unwrap_or_default();
    let is_part =
        matches!(kind.as_str(), "step_start" | "step_finish" | "text" | "reasoning" | "tool_use");
    record.has("sessionID") && ((is_part && record.has("part")) || kind == "error")
}

/// Tokens read from a cache or written to one are not in `input`.
pub(super) const USAGE: &[Row] = &[
    ("input", Op::Adds, &[Field::Input]),
    ("cache.read", Op::Adds, &[Field::Input, Field::Cached]),
    ("cache.write", Op::Adds, &[Field::Input, Field::CacheWrite]),
    ("output", Op::Is, &[Field::Output]),
    ("reasoning", Op::Is, &[Field::Reasoning]),
    ("total", Op::Is, &[Field::Total]),
];

payload! {
    struct Event<'a> {
        kind: Option<Str<'a>> = "type",
        part: Option<Part<'a>>,
        error: Option<Problem<'a>>,
    }

    struct Part<'a> {
        message_id: Option<Str<'a>> = "messageID",
        text: Option<Str<'a>>,
        call_id: Option<Str<'a>> = "callID",
        tool: Option<Str<'a>>,
        state: Option<State<'a>>,
        reason: Option<Str<'a>>,
        tokens: Option<&'a RawValue>,
    }

    /// The progress of a call.
    struct State<'a> {
        status: Option<Str<'a>>,
        input: Option<&'a RawValue>,
        output: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
    }

    struct Problem<'a> {
        name: Option<Str<'a>>,
        message: Option<Str<'a>>,
        data: Option<Data<'a>>,
    }

    struct Data<'a> {
        message: Option<Str<'a>>,
        status_code: Option<u16> = "statusCode",
    }
}

struct OpenCode {
    message: Lifecycle,
    calls: Calls,
}

impl Decoder for OpenCode {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl OpenCode {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let kind = event.kind.or_empty();
        let none = Part::default();
        let part = event.part.as_ref().unwrap_or(&none);
        if is_ours(&Record::new(frame)) {
            self.message.begin(part.message_id.non_empty(), None, out)?;
        }
        match (kind, &part.text) {
            ("step_start", _) => Ok(()),
            ("text", Some(text)) => {
                out.text(0, text)?;
                out.flush()
            }
            ("reasoning", Some(text)) => {
                out.reasoning(0, text)?;
                out.flush()
            }
            ("tool_use", _) => self.call(part, out),
            ("step_finish", _) => {
                self.message.begin(None, None, out)?;
                self.message.meter.feed(part.tokens.map_or("", RawValue::get));
                out.finish_if(0, part.reason.as_ref())?;
                self.calls = Calls::default();
                self.message.end(out)
            }
            ("error", _) => problem(event.error.as_ref(), &frame.text(), out),
            (kind, _) => out.unknown(frame, kind),
        }
    }

    fn call(&mut self, part: &Part, out: &mut EventOut) -> Done {
        let id = part.call_id.non_empty();
        let state = part.state.as_ref();
        if id.is_none_or(|id| !self.calls.has(id)) {
            let call = CallPart {
                id,
                name: part.tool.non_empty(),
                arguments: Arguments::Value(
                    state.and_then(|state| state.input).map_or("{}", RawValue::get),
                ),
                executor: Some(Executor::Agent),
                ..CallPart::default()
            };
            self.calls.whole(call, out)?;
        }
        let (output, is_error) =
            match state.and_then(|state| Some((state.status.as_ref()?.as_str(), state))) {
                Some(("completed", state)) => (state.output, None),
                Some(("error", state)) => (state.error, Some(true)),
                _ => return Ok(()),
            };
        let output = Output::Json(output.map_or("null", RawValue::get));
        let id = id.unwrap_or_default();
        self.calls.result(ToolResult { id, output, is_error, ..ToolResult::default() }, out)
    }
}

/// The session failed. Its name for that is less than the provider's status.
fn problem(problem: Option<&Problem>, json: &str, out: &mut EventOut) -> Done {
    let Some(problem) = problem else { return error::report(json, out) };
    let data = problem.data.as_ref();
    let message = data.and_then(|data| data.message.as_ref()).or(problem.message.as_ref());
    let status = data.and_then(|data| data.status_code).map(|status| status.to_string());
    let code = status.as_deref().or(problem.name.non_empty());
    error::report_as(message.map(Str::as_str), code, json, out)
}
