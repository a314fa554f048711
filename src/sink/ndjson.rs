//! `parse`: every event as one line of JSON.

use std::io::{self, Write};

use super::line::Line;
use super::{Label, Sink, members};
use crate::event::{Event, Kind};

/// Prints events as they come. What decoders alone speak is not printed.
pub struct Ndjson<W> {
    out: W,
    label: Label,
    line: Line,
}

impl<W: Write> Ndjson<W> {
    /// Prints to `out`, and adds `label` to every line.
    pub fn new(out: W, label: Label) -> Self {
        Ndjson { out, label, line: Line::default() }
    }
}

impl<W: Write> Sink for Ndjson<W> {
    fn feed(&mut self, event: Event<'_>) -> io::Result<()> {
        let Some(name) = name(&event.kind) else { return Ok(()) };
        let line = &mut self.line;
        line.begin(name);
        match &event.kind {
            Kind::Start(start) => members::start(line, start),
            Kind::Text(text) => members::text(line, text),
            Kind::Reasoning(reasoning) => members::reasoning(line, reasoning),
            Kind::Refusal(text) => line.text("text", text),
            Kind::ToolCallStart(start) => members::tool_call_start(line, start),
            Kind::ToolCallDelta(delta) => members::tool_call_delta(line, delta),
            Kind::ToolCall(call) => members::tool_call(line, call),
            Kind::InvalidToolCall(call) => members::invalid_tool_call(line, call),
            Kind::ToolResult(result) => members::tool_result(line, result),
            Kind::Block(block) => members::block(line, block),
            Kind::Warning(warning) => members::warning(line, warning),
            Kind::ProviderEvent(event) => members::provider_event(line, event),
            Kind::Usage(usage) => members::usage(line, usage),
            Kind::Finish(finish) => members::finish(line, finish),
            Kind::Error(failure) => members::failure(line, failure),
            Kind::CallPart(_) | Kind::CallEnd(_) | Kind::End => {}
        }
        self.out.write_all(self.line.end(event.choice, &self.label))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// The line's type; none for what only decoders speak.
fn name(kind: &Kind<'_>) -> Option<&'static str> {
    Some(match kind {
        Kind::Start(_) => "start",
        Kind::Text(_) => "text",
        Kind::Reasoning(_) => "reasoning",
        Kind::Refusal(_) => "refusal",
        Kind::ToolCallStart(_) => "tool_call_start",
        Kind::ToolCallDelta(_) => "tool_call_delta",
        Kind::ToolCall(_) => "tool_call",
        Kind::InvalidToolCall(_) => "invalid_tool_call",
        Kind::ToolResult(_) => "tool_result",
        Kind::Block(_) => "block",
        Kind::Warning(_) => "warning",
        Kind::ProviderEvent(_) => "provider_event",
        Kind::Usage(_) => "usage",
        Kind::Finish(_) => "finish_reason",
        Kind::Error(_) => "error",
        Kind::CallPart(_) | Kind::CallEnd(_) | Kind::End => return None,
    })
}
