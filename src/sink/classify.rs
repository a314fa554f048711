//! `classify`: one summary a message.

use std::io::{self, Write};

use crate::event::{Code, Event, Failure, Finish, FinishReason, Kind, Pieces, Start};
use crate::sink::line::Line;
use crate::sink::{Label, Sink, members};

/// Gathers a message and prints it as one object when its last event comes. It is fed one choice,
/// by [`AssemblerConfig::choice`](crate::AssemblerConfig::choice), and names it.
///
/// ```
/// use toolstream::sink::{Classify, Label};
/// use toolstream::{Config, AssemblerConfig, Pipeline};
///
/// let body = br#"{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}"#;
/// let assembly = AssemblerConfig { choice: Some(0), ..AssemblerConfig::default() };
/// let mut out = Vec::new();
/// let mut sink = Classify::new(&mut out, Label::default(), 0);
/// let mut pipeline = Pipeline::new(&Config { assembly, ..Config::default() });
/// pipeline.feed(body, &mut sink)?;
/// pipeline.finish(&mut sink)?;
/// drop(sink);
/// assert!(String::from_utf8_lossy(&out).starts_with(r#"{"type":"final_answer","text":"Hi""#));
/// # std::io::Result::Ok(())
/// ```
pub struct Classify<W> {
    out: W,
    label: Label,
    choice: u64,
    message: Gathered,
    line: Line,
}

/// What is known of the message so far.
#[derive(Default)]
struct Gathered {
    format: String,
    id: Option<String>,
    model: Option<String>,
    text: String,
    reasoning: String,
    refusal: String,
    calls: Line,
    invalid: Line,
    /// The usage, as the one member that it will be.
    usage: Line,
    warnings: Line,
}

/// How the message ended.
enum Ending<'a> {
    Good(Finish<'a>),
    Bad(Failure<'a>),
}

impl<W: Write> Classify<W> {
    /// Prints to `out`, and adds `label` to every summary. `choice` is the one
    /// that will be fed.
    pub fn new(out: W, label: Label, choice: u64) -> Self {
        Classify { out, label, choice, message: Gathered::default(), line: Line::default() }
    }

    fn print(&mut self, ending: &Ending<'_>) -> io::Result<()> {
        let message = std::mem::take(&mut self.message);
        message.write(ending, &mut self.line);
        self.line.end(self.choice, &self.label);
        self.line.write_to(&mut self.out)
    }
}

impl<W: Write> Sink for Classify<W> {
    fn feed(&mut self, event: Event<'_>) -> io::Result<()> {
        match event.kind {
            Kind::Finish(finish) => self.print(&Ending::Good(finish)),
            Kind::Error(failure) => self.print(&Ending::Bad(failure)),
            kind => {
                self.message.gather(&kind);
                Ok(())
            }
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.feed(pieces.event)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Gathered {
    fn gather(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Start(start) => self.start(start),
            Kind::Text(text) => self.text.push_str(text.text),
            Kind::Reasoning(thought) => self.reasoning.push_str(thought.text),
            Kind::Refusal(text) => self.refusal.push_str(text),
            Kind::ToolCall(call) => {
                add(&mut self.calls, |line| members::tool_call(line, call));
            }
            Kind::InvalidToolCall(call) => {
                add(&mut self.invalid, |line| members::invalid_tool_call(line, call));
            }
            Kind::Warning(warning) => {
                add(&mut self.warnings, |line| members::warning(line, warning))
            }
            Kind::Usage(usage) => {
                self.usage.clear();
                add(&mut self.usage, |line| members::usage(line, usage));
            }
            _ => {}
        }
    }

    fn start(&mut self, start: &Start<'_>) {
        start.format.clone_into(&mut self.format);
        self.id = start.id.map(str::to_owned);
        self.model = start.model.map(str::to_owned);
    }

    fn write(&self, ending: &Ending<'_>, line: &mut Line) {
        let (kind, is_complete) = match ending {
            Ending::Bad(_) => ("error", false),
            Ending::Good(finish) if finish.finish_reason == FinishReason::Error => ("error", false),
            Ending::Good(finish) if finish.wants_tools => ("tool_calls", true),
            Ending::Good(_) => ("final_answer", true),
        };
        line.begin(kind);
        line.text("text", &self.text);
        line.maybe_text("reasoning", some(&self.reasoning));
        line.maybe_text("refusal", some(&self.refusal));
        line.list("tool_calls", &self.calls);
        if !self.invalid.is_empty() {
            line.list("invalid_tool_calls", &self.invalid);
        }
        if let Ending::Good(finish) = ending {
            line.word("finish_reason", finish.finish_reason.name());
            line.maybe_text("raw_finish_reason", finish.raw);
        }
        if !self.usage.is_empty() {
            line.object("usage", &self.usage);
        }
        line.maybe_text("id", self.id.as_deref());
        line.maybe_text("model", self.model.as_deref());
        line.text("format", &self.format);
        line.flag("complete", is_complete);
        if !self.warnings.is_empty() {
            line.list("warnings", &self.warnings);
        }
        let reason;
        let failure = match ending {
            Ending::Bad(failure) => Some(*failure),
            Ending::Good(finish) if !is_complete => {
                reason = format!(
                    "the provider gave the finish reason {}",
                    finish.raw.unwrap_or("error")
                );
                Some(Failure::new(Code::Provider, &reason, None))
            }
            Ending::Good(_) => None,
        };
        if let Some(failure) = failure {
            line.open_member("error");
            members::failure(line, &failure);
            line.close();
        }
    }
}

/// Adds an object to a list.
fn add(items: &mut Line, members: impl FnOnce(&mut Line)) {
    items.open();
    members(items);
    items.close();
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
