//! `parse`: prints every event as one line of JSON.

use std::io::{self, Write};

use crate::event::{Event, Kind, Pieces};
use crate::sink::line::Line;
use crate::sink::{Label, Sink, members};

/// How many bytes of lines are buffered before they are written.
const PIECE: usize = 32 << 10;

/// Prints events as they come. Those that only decoders emit are not printed.
pub struct Ndjson<W> {
    out: W,
    label: Label,
    line: Line,
}

impl<W: Write> Ndjson<W> {
    /// Returns a sink that prints to `out`, and adds `label` to every line.
    pub fn new(out: W, label: Label) -> Self {
        Ndjson { out, label, line: Line::default() }
    }
}

impl<W: Write> Ndjson<W> {
    fn line(&mut self, event: Event<'_>) {
        let Some(name) = name(&event.kind) else { return };
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
        line.end(event.choice, &self.label);
    }

    fn write_if_much(&mut self) -> io::Result<()> {
        if self.line.len() < PIECE { Ok(()) } else { self.line.write_to(&mut self.out) }
    }
}

impl<W: Write> Sink for Ndjson<W> {
    fn feed(&mut self, event: Event<'_>) -> io::Result<()> {
        self.line(event);
        self.write_if_much()
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        let Event { choice, kind } = pieces.event;
        let begin = self.line.len();
        self.line(Event::new(choice, kind.with_text("")));
        self.line.repeat(begin, pieces.texts(), kind.text().unwrap_or_default());
        self.write_if_much()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.write_to(&mut self.out)?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Returns the line's type; none for an event that only decoders emit.
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
