//! Gemini CLI: `--output-format stream-json`, and the one object of
//! `--output-format json`.
//!
//! Source: google-gemini/gemini-cli, documentation of its headless mode, and
//! the types of its stream formatter. A run is a message: `init` … `result`.
//! The user's prompt is echoed, and passed over. The agent ran all calls, and
//! their `tool_result` is after them.

use serde_json::value::RawValue;

use crate::event::{Arguments, CallPart, Executor, FinishReason, Output, ToolResult, WarningCode};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["gemini-cli-stream-json"],
    about: "Gemini CLI, --output-format stream-json or json",
    link: "https://geminicli.com/docs/cli/headless/",
    evidence: &[
        "session_id",
        "timestamp",
        "role",
        "tool_name",
        "tool_id",
        "severity",
        "status",
        "stats",
        "response",
    ],
    // Qwen Code, which is made of it, prints them as well.
    banners: &["Loaded cached credentials", "Data collection is disabled", "YOLO mode is enabled"],
    sniff: is_ours,
    ..Format::new("gemini-cli", |_| {
        let message = Lifecycle::new(&FORMAT, USAGE);
        Box::new(GeminiCli { message, calls: Calls::default(), error: None })
    })
};

fn is_ours(record: &Record) -> bool {
    match record.text("type").as_deref() {
        Some("init") => record.has("session_id"),
        Some("message") => {
            record.has("timestamp") && record.has("role") && record.text("content").is_some()
        }
        Some("tool_use") => record.has("tool_name") && record.has("tool_id"),
        Some("tool_result") => record.has("tool_id"),
        Some("error") => record.has("severity"),
        Some("result") => record.has("status") && record.has("timestamp"),
        Some(_) => false,
        None => {
            record.has("stats") && (record.text("response").is_some() || record.has("session_id"))
        }
    }
}

/// The counts of a stream's `result`, and those that a body has for each
/// model, where thoughts are not in the candidates.
const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    ("cached", Op::Is, &[Field::Cached]),
    ("prompt", Op::Is, &[Field::Input]),
    ("candidates", Op::Adds, &[Field::Output]),
    ("thoughts", Op::Adds, &[Field::Output, Field::Reasoning]),
    ("total", Op::Is, &[Field::Total]),
];

payload! {
    struct Event<'a> {
        kind: Option<Str<'a>> = "type",
        session_id: Option<Str<'a>>,
        model: Option<Str<'a>>,
        role: Option<Str<'a>>,
        content: Option<Str<'a>>,
        tool_name: Option<Str<'a>>,
        tool_id: Option<Str<'a>>,
        parameters: Option<&'a RawValue>,
        status: Option<Str<'a>>,
        output: Option<&'a RawValue>,
        error: Option<&'a RawValue>,
        message: Option<Str<'a>>,
        stats: Option<&'a RawValue>,
        /// A body's answer.
        response: Option<Str<'a>>,
    }
}

struct GeminiCli {
    message: Lifecycle,
    calls: Calls,
    /// The last error that the program went on after.
    error: Option<String>,
}

impl Decoder for GeminiCli {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        read!(&frame, out, |event: Event| self.event(&frame, event, out))
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl GeminiCli {
    fn event(&mut self, frame: &Frame, event: &Event, out: &mut EventOut) -> Done {
        let kind = event.kind.or_empty();
        if !self.message.is_open() && is_ours(&Record::new(frame)) {
            let [id, model] = [&event.session_id, &event.model].map(|word| word.non_empty());
            self.message.begin(id, model, out)?;
        }
        match kind {
            "init" => Ok(()),
            "message" => match (event.role.or_empty(), &event.content) {
                ("assistant" | "model", Some(text)) => out.text(0, text),
                _ => Ok(()),
            },
            "tool_use" => {
                let call = CallPart {
                    id: event.tool_id.non_empty(),
                    name: event.tool_name.non_empty(),
                    arguments: Arguments::Value(event.parameters.map_or("{}", RawValue::get)),
                    executor: Some(Executor::Agent),
                    ..CallPart::default()
                };
                self.calls.whole(call, out)
            }
            "tool_result" => {
                let id = event.tool_id.or_empty();
                let output =
                    Output::Json(event.output.or(event.error).map_or("null", RawValue::get));
                let is_error =
                    event.status.as_ref().filter(|status| status.as_str() == "error").map(|_| true);
                self.calls.result(ToolResult { id, output, is_error, ..ToolResult::default() }, out)
            }
            // `result` states whether the run failed of it.
            "error" if event.message.is_some() => {
                self.error = event.message.non_empty().map(str::to_owned);
                out.warn(WarningCode::AgentError, event.message.or_empty())
            }
            "result" => self.result(event, out),
            "" if event.stats.is_some() => self.body(event, out),
            "" if error::is_error(&Record::new(frame)) => error::report(&frame.text(), out),
            kind => out.unknown(frame, kind),
        }
    }

    fn result(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        self.message.meter.feed(event.stats.map_or("", RawValue::get));
        let status = event.status.text().unwrap_or("success");
        match event.error.filter(|json| json.get() != "null") {
            Some(json) => error::report(json.get(), out)?,
            None if status == "success" => out.finish(0, status, None)?,
            None => error::report_as(self.error.as_deref(), Some(status), "null", out)?,
        }
        self.end(out)
    }

    /// `--output-format json`: the answer, and what each model counted.
    fn body(&mut self, event: &Event, out: &mut EventOut) -> Done {
        self.message.begin(None, None, out)?;
        if let Some(text) = &event.response {
            out.text(0, text)?;
        }
        for (_, model) in json::member(event.stats.map_or("", RawValue::get), "models")
            .map_or_else(Vec::new, json::members)
        {
            self.message.meter.feed(json::member(model.get(), "tokens").unwrap_or_default());
            self.message.meter.part();
        }
        match event.error.filter(|json| json.get() != "null") {
            Some(json) => error::report(json.get(), out)?,
            None => out.infer_finish(0, FinishReason::Stop, None)?,
        }
        self.end(out)
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        (self.calls, self.error) = Default::default();
        self.message.end(out)
    }
}
