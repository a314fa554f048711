//! `show`: the answer as a person reads it.

mod prose;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

use crate::cut::Cut as _;
use crate::event::{
    CallInput, EndReason, Event, Executor, Finish, FinishReason, InvalidToolCall, Kind, Output,
    Pieces, Reasoning, RunEnd, Start, ToolCall, ToolCallStart, ToolCallValue, ToolResult, Usage,
};
use crate::json::{self, FoundValue, ValueReader, make_visible};
use crate::sink::people::prose::{Prose, ProseForm, Style};
use crate::sink::sum::grouped;
use crate::sink::timing::Timing;
use crate::sink::values::output;
use crate::sink::{Clock, Sink};

/// The most characters that are shown of one value of a call.
const MAX_VALUE: usize = 120;
/// The most lines of what a message answers.
const PROMPT_LINES: usize = 12;

/// The most values that are shown of one call.
const MAX_VALUES: usize = 40;

/// The most lines that are shown of one result.
const MAX_LINES: usize = 8;

/// The parts of a message that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The answer, and a refusal.
    pub(crate) text: bool,
    /// The model's thinking.
    pub(crate) reasoning: bool,
    /// Calls, valid or not.
    pub(crate) calls: bool,
    /// Results of tools.
    pub(crate) results: bool,
    /// The model, the tokens and the times, as a last line.
    pub(crate) usage: bool,
}

impl Parts {
    /// Every part.
    pub(crate) const ALL: Parts =
        Parts { text: true, reasoning: true, calls: true, results: true, usage: true };
    /// The answer alone.
    pub(crate) const TEXT: Parts =
        Parts { text: true, reasoning: false, calls: false, results: false, usage: false };
}

/// The look of a message.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The parts that are shown.
    pub(crate) parts: Parts,
    /// True if characters that could harm a terminal are escaped, and a message ends with a line
    /// break.
    pub(crate) is_terminal: bool,
    /// True if escape sequences dim and colour parts.
    pub(crate) has_color: bool,
    /// The columns of the terminal.
    pub(crate) width: usize,
    /// True if lines are broken between words, and Markdown gets styles where there are colours.
    pub(crate) is_laid_out: bool,
}

/// Shows messages as people read them, as they come: the text, and as far as they are asked for,
/// the thinking, each call as a line that grows, results, and a last line of numbers.
///
/// It wants the values of calls, from a [`Values`](crate::sink::Values) that hands on their starts
/// as well, and one choice.
pub(crate) struct People<W> {
    out: W,
    look: Look,
    /// The input's name, if there are several.
    file: Option<String>,
    /// The time, if it is known when the input came.
    clock: Option<Clock>,
    /// True if the clock is this sink's own, and begins anew for each answer.
    is_run: bool,
    timing: Timing,
    page: String,
    section: ShownSection,
    /// The text or the thought that is open.
    prose: Prose,
    /// True if the last character written is a line break, or there is none.
    at_line_start: bool,
    /// True after a carriage return, which is shown unless a line break follows.
    has_return: bool,
    messages: u64,
    message: ShownMessage,
}

/// The state of the open message.
#[derive(Default)]
struct ShownMessage {
    model: Option<String>,
    numbers: Vec<String>,
    /// The call whose line grows.
    line: Option<CallLine>,
    /// The calls whose lines have ended before them, by index: true if more came of them since.
    ended: BTreeMap<u64, bool>,
    /// The name of each call, by its id.
    names: BTreeMap<String, String>,
}

/// The line of a call that grows.
struct CallLine {
    index: u64,
    /// The number of its values.
    values: usize,
    /// The path of the string that grows.
    string: Option<String>,
    /// The number of characters of that string that have come.
    length: usize,
}

/// The part of the message that is being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownSection {
    Nothing,
    Text,
    Reasoning,
    Line,
}

impl<W: Write> People<W> {
    /// Shows to `out`. `file` is the input's name if there are several; `clock` is there if it is
    /// known when the input came.
    pub(crate) fn new(out: W, look: Look, file: Option<String>, clock: Option<Clock>) -> Self {
        People {
            out,
            look,
            file,
            clock,
            is_run: false,
            timing: Timing::default(),
            page: String::new(),
            section: ShownSection::Nothing,
            prose: Prose::default(),
            at_line_start: true,
            has_return: false,
            messages: 0,
            message: ShownMessage::default(),
        }
    }

    /// Shows an agent's run while it goes on: the time of each answer counts from what came before
    /// it.
    pub(crate) fn of_run(self) -> Self {
        People { is_run: true, clock: Some(Clock::default()), ..self }
    }

    /// True if the text is shown byte for byte, and nothing else.
    fn is_bare(&self) -> bool {
        !self.look.is_terminal && self.look.parts == Parts::TEXT
    }

    /// Writes text as it is, or for a terminal without what could harm it.
    fn write(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_styled = self.look.has_color && !matches!(style, Style::Plain);
        if is_styled {
            self.page.push_str(&format!("\x1b[{}m", style as u8));
        }
        match self.look.is_terminal {
            true => self.write_safe(text),
            false => self.page.push_str(text),
        }
        if is_styled {
            self.page.push_str("\x1b[0m");
        }
        self.at_line_start = text.ends_with('\n');
    }

    /// Writes text with escapes for control characters and the like. Line breaks and tabs stay,
    /// and so do the joiners of emoji and scripts.
    fn write_safe(&mut self, text: &str) {
        for part in text.split_inclusive(['\n', '\t', '\r', '\u{200C}', '\u{200D}']) {
            if std::mem::take(&mut self.has_return) && part != "\n" {
                self.page.push_str("\\r");
            }
            let mut kept = part.chars();
            match kept.next_back() {
                Some('\r') => self.has_return = true,
                Some(last @ ('\n' | '\t' | '\u{200C}' | '\u{200D}')) => {
                    make_visible(kept.as_str(), &mut self.page);
                    self.page.push(last);
                    continue;
                }
                _ => kept = part.chars(),
            }
            make_visible(kept.as_str(), &mut self.page);
        }
    }

    /// Writes text or a thought: lines are broken between words, if that is wanted.
    fn lay_out(&mut self, section: ShownSection, style: Style, text: &str) {
        let is_new = self.section != section;
        // A text begins with its first word, and blank lines are none.
        let blank = text.len() - text.trim_start_matches(['\n', '\r', ' ']).len();
        let start = text.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
        let text = if is_new && !self.is_bare() { text.after(start) } else { text };
        if is_new && text.trim().is_empty() && !self.is_bare() {
            return;
        }
        self.enter(section);
        if !self.look.is_laid_out {
            return self.write(style, text);
        }
        if is_new {
            let Look { width, has_color, .. } = self.look;
            let is_text = section == ShownSection::Text;
            let style = Some(style).filter(|style| has_color && !matches!(style, Style::Plain));
            self.prose = Prose::new(ProseForm { width, has_markdown: has_color && is_text, style });
        }
        self.prose.feed(text, &mut self.page);
        self.at_line_start = false;
    }

    /// Ends the line that is open, if one is.
    fn end_line(&mut self) {
        self.end_call();
        self.prose.finish(&mut self.page);
        if !self.at_line_start {
            self.write(Style::Plain, "\n");
        }
    }

    /// Moves on to another part of the message, on a line of its own.
    fn enter(&mut self, section: ShownSection) {
        if self.section == section && section != ShownSection::Line {
            return;
        }
        self.end_line();
        let parts = [self.section, section];
        let is_text =
            |part: &ShownSection| matches!(part, ShownSection::Text | ShownSection::Reasoning);
        if parts.iter().all(is_text) || parts == [ShownSection::Line, ShownSection::Text] {
            self.write(Style::Plain, "\n");
        }
        self.section = section;
    }

    fn start(&mut self, start: &Start<'_>) {
        self.end_line();
        let model = start.model.map(str::to_owned);
        self.message = ShownMessage { model, ..ShownMessage::default() };
        self.messages += 1;
        let title = match (start.round, start.attempt, self.messages) {
            (None | Some(1), None, 1) => self.file.clone().unwrap_or_default(),
            (Some(round), Some(attempt), _) => format!("round {round}, attempt {attempt}"),
            (Some(round), None, _) => format!("round {round}"),
            (None, _, number) => format!("message {number}"),
        };
        self.section = ShownSection::Nothing;
        if !title.is_empty() && !self.is_bare() {
            let gap = if self.messages > 1 { "\n" } else { "" };
            self.write(Style::Dim, &format!("{gap}── {title} ──\n"));
        }
    }

    /// Shows what the message answers, at most [`PROMPT_LINES`] lines of it.
    fn prompt(&mut self, text: &str) {
        if self.is_bare() {
            return;
        }
        self.enter(ShownSection::Line);
        let mut lines = text.trim().lines();
        for (number, line) in lines.by_ref().take(PROMPT_LINES).enumerate() {
            let mark = if number == 0 { "› " } else { "  " };
            self.write(Style::Dim, &format!("{mark}{line}\n"));
        }
        if lines.next().is_some() {
            self.write(Style::Dim, "  …\n");
        }
    }

    fn reasoning(&mut self, thought: &Reasoning<'_>) {
        if self.look.parts.reasoning && !thought.text.is_empty() {
            self.lay_out(ShownSection::Reasoning, Style::Dim, thought.text);
        }
    }

    fn text(&mut self, text: &str) {
        if self.look.parts.text && !text.is_empty() {
            self.lay_out(ShownSection::Text, Style::Plain, text);
        }
    }

    /// Begins the line of a call.
    fn begin_call(&mut self, call: &ToolCallStart<'_>) {
        self.message.names.insert(call.id.to_owned(), call.name.to_owned());
        if !self.look.parts.calls {
            return;
        }
        self.enter(ShownSection::Line);
        self.write(Style::Dim, "▸ ");
        self.write(Style::Bold, call.name);
        let index = call.index;
        self.message.line = Some(CallLine { index, values: 0, string: None, length: 0 });
    }

    /// Ends the line of the call that grows, but for its line break.
    fn end_call(&mut self) {
        self.end_string();
        if let Some(line) = self.message.line.take() {
            self.message.ended.insert(line.index, false);
        }
    }

    /// Ends the string that grows.
    fn end_string(&mut self) {
        let Some(line) = &mut self.message.line else { return };
        let (string, length) = (line.string.take(), line.length);
        match string {
            None => {}
            Some(_) if length > MAX_VALUE => {
                self.write(Style::Plain, "…\"");
                self.write(Style::Dim, &format!(" ({} characters)", grouped(length as u64)));
            }
            Some(_) => self.write(Style::Plain, "\""),
        }
    }

    /// Shows what came of a call's arguments.
    fn value(&mut self, value: &ToolCallValue<'_>) {
        let Some(line) = self.message.line.as_mut().filter(|line| line.index == value.index) else {
            if let Some(has_more) = self.message.ended.get_mut(&value.index) {
                *has_more = true;
            }
            return;
        };
        let is_next = line.string.as_deref() == Some(value.path);
        if !is_next {
            line.values += 1;
            let values = line.values;
            self.end_string();
            match values.cmp(&(MAX_VALUES + 1)) {
                Ordering::Less => self.name_of_value(value.path),
                Ordering::Equal => return self.write(Style::Dim, "  …"),
                Ordering::Greater => return,
            }
        }
        match value.value {
            Output::Json(json) => self.write(Style::Plain, &shortened(json, MAX_VALUE)),
            Output::Text(text) => {
                if !is_next {
                    self.write(Style::Plain, "\"");
                }
                self.string(text, value.path);
            }
        }
    }

    /// Shows where in the arguments the next value is.
    fn name_of_value(&mut self, path: &str) {
        self.write(Style::Plain, "  ");
        if let Some(pointer) = path.strip_prefix('/') {
            let name = pointer.replace('/', ".").replace("~1", "/").replace("~0", "~");
            self.write(Style::Dim, &format!("{}: ", on_one_line(&name)));
        }
    }

    /// Shows the next piece of a string, up to its limit.
    fn string(&mut self, text: &str, path: &str) {
        let Some(line) = &mut self.message.line else { return };
        line.string.get_or_insert_with(|| {
            line.length = 0;
            path.to_owned()
        });
        let room = MAX_VALUE.saturating_sub(line.length);
        line.length += text.chars().count();
        let shown: String = text.chars().take(room).collect();
        self.write(Style::Plain, &quoted(&shown));
    }

    /// Ends the line of a call that is whole, or shows all of it if its line was interrupted.
    fn call(&mut self, call: &ToolCall<'_>) {
        if !self.look.parts.calls {
            return;
        }
        let is_open = self.message.line.as_ref().is_some_and(|line| line.index == call.index);
        if !is_open && self.message.ended.get(&call.index) == Some(&false) {
            return;
        }
        if !is_open {
            let ToolCall { index, id, name, .. } = *call;
            self.begin_call(&ToolCallStart { index, id, name });
            let mut value = |path: &str, value: Output<'_>| {
                self.value(&ToolCallValue { index, path, value });
                Ok(())
            };
            // A report onto the page does not fail.
            let _ = match call.input {
                CallInput::Text(text) => value("", Output::Text(text)),
                CallInput::Arguments(json) => {
                    let mut found = |path: &str, found: FoundValue<'_>| value(path, output(found));
                    ValueReader::default().feed(json, &mut found)
                }
            };
        }
        self.end_string();
        match call.executor {
            Some(Executor::Provider) => self.write(Style::Dim, "  (run by the provider)"),
            Some(Executor::Agent) | None => {}
        }
        self.end_line();
    }

    fn invalid_call(&mut self, call: &InvalidToolCall<'_>) {
        if !self.look.parts.calls {
            return;
        }
        if self.message.line.as_ref().is_none_or(|line| line.index != call.index) {
            self.enter(ShownSection::Line);
            self.write(Style::Dim, "▸ ");
            self.write(Style::Bold, call.name.unwrap_or("a call"));
            let room = self.look.width.saturating_sub(40).max(20);
            let raw = on_one_line(&shortened(call.arguments_raw, room));
            self.write(Style::Plain, &format!("  {raw}"));
        }
        self.end_string();
        self.write(Style::Red, &format!("  ✗ {}", call.reason.name().replace('_', " ")));
        self.end_line();
    }

    fn result(&mut self, result: &ToolResult<'_>) {
        if !self.look.parts.results {
            return;
        }
        let style = if result.is_error == Some(true) { Style::Red } else { Style::Plain };
        let name = result.name.map(str::to_owned);
        let name = name.or_else(|| self.message.names.get(result.id).cloned());
        self.enter(ShownSection::Line);
        let mark = if result.is_error == Some(true) { "  ✗" } else { "" };
        match name {
            Some(name) => {
                self.write(Style::Dim, &format!("◂ {name}"));
                self.write(style, mark);
                self.write(Style::Plain, "\n  ");
            }
            None => self.write(Style::Dim, "◂ "),
        }
        let text = match result.output {
            Output::Text(text) => text.to_owned(),
            Output::Json(json) => readable(json),
        };
        let text = text.trim_end();
        if text.is_empty() {
            self.write(Style::Dim, "(no output)");
        }
        let width = self.look.width.saturating_sub(2).max(20);
        for (number, line) in text.lines().take(MAX_LINES).enumerate() {
            let indent = if number == 0 { "" } else { "\n  " };
            self.write(Style::Plain, indent);
            self.write(style, &fitting(line, width));
        }
        match text.lines().count().saturating_sub(MAX_LINES) {
            0 => {}
            1 => self.write(Style::Dim, "\n  … 1 more line"),
            more => {
                self.write(Style::Dim, &format!("\n  … {} more lines", grouped(more as u64)));
            }
        }
        self.end_line();
    }

    fn usage(&mut self, usage: &Usage<'_>) {
        self.message.numbers = tokens(usage);
    }

    /// Ends the output of an agent: how much it was in all, if that is more than one answer.
    fn run_end(&mut self, end: &RunEnd<'_>) {
        let is_chat = self.messages == 1 && end.calls == 0 && end.reason == EndReason::FinalAnswer;
        if self.look.parts.usage && !is_chat {
            self.end_line();
            let counted = |count: u64, what: &str| {
                format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
            };
            let mut numbers = vec![counted(end.rounds, "round"), counted(end.calls, "call")];
            numbers.extend(end.usage.iter().flat_map(tokens));
            if end.reason != EndReason::FinalAnswer {
                numbers.push(format!("ended by {}", end.reason.name().replace('_', " ")));
            }
            let gap = if self.messages > 0 { "\n" } else { "" };
            let line = self.fitted(&numbers.join(" · "));
            self.write(Style::Dim, &format!("{gap}{line}\n"));
        }
    }

    /// Ends the message, with its numbers if they are asked for.
    fn end(&mut self, finish: Option<&Finish<'_>>) {
        self.end_line();
        let message = std::mem::take(&mut self.message);
        if !self.look.parts.usage {
            return;
        }
        let mut numbers: Vec<String> = message.model.into_iter().chain(message.numbers).collect();
        numbers.extend(self.timing.first_text.map(|ms| format!("first text {}", seconds(ms))));
        let rate = self.timing.tokens_per_second();
        numbers.extend(rate.map(|rate| format!("{} tokens/s", grouped(rate))));
        if let Some(finish) = finish
            && !matches!(finish.finish_reason, FinishReason::Stop | FinishReason::ToolCalls)
        {
            numbers.push(format!("ended by {}", finish.finish_reason.name().replace('_', " ")));
        }
        if !numbers.is_empty() {
            let line = self.fitted(&numbers.join(" · "));
            self.write(Style::Dim, &format!("{line}\n"));
        }
    }

    /// Returns a line that the terminal does not break.
    fn fitted(&self, line: &str) -> String {
        if self.look.is_laid_out { fitting(line, self.look.width) } else { line.to_owned() }
    }
}

impl<W: Write> Sink for People<W> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Some(clock) = &self.clock {
            if self.is_run {
                clock.read();
            }
            self.timing.see(&event.kind, clock);
        }
        match &event.kind {
            Kind::Start(start) => self.start(start),
            Kind::Prompt(prompt) => self.prompt(prompt.text),
            Kind::Text(text) => self.text(text.text),
            Kind::Refusal(text) => self.text(text),
            Kind::Reasoning(thought) => self.reasoning(thought),
            Kind::ToolCallStart(call) => self.begin_call(call),
            Kind::ToolCallValue(value) => self.value(value),
            Kind::ToolCall(call) => self.call(call),
            Kind::InvalidToolCall(call) => self.invalid_call(call),
            Kind::ToolResult(result) => self.result(result),
            Kind::Usage(usage) => self.usage(usage),
            Kind::Finish(finish) => self.end(Some(finish)),
            Kind::RunEnd(end) => self.run_end(end),
            Kind::Error(failure) => {
                self.end(None);
                if failure.retried && !self.is_bare() {
                    self.write(Style::Red, "✗ this attempt does not count: it is made again\n");
                }
                // Why comes on standard error, which must not overtake the text.
                return self.flush();
            }
            _ => {}
        }
        match event.kind {
            Kind::InvalidToolCall(_) => return self.flush(),
            Kind::ToolResult(_) | Kind::Finish(_) if self.is_run => {
                self.clock = Some(Clock::default());
            }
            _ => {}
        }
        Ok(())
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.feed(&pieces.event)
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.page.as_bytes());
        self.page.clear();
        written.and_then(|()| self.out.flush())
    }
}

/// Returns the tokens in and out, as far as they are known.
fn tokens(usage: &Usage<'_>) -> Vec<String> {
    let cached = usage.cached_input_tokens.filter(|&cached| cached > 0);
    let cached = cached.map_or(String::new(), |cached| format!(" ({} cached)", grouped(cached)));
    let input = usage.input_tokens.map(|count| format!("{} in{cached}", grouped(count)));
    let output = usage.output_tokens.map(|count| format!("{} out", grouped(count)));
    input.into_iter().chain(output).collect()
}

/// Returns the text that a result's JSON holds: of a string, and of a list of blocks that are text
/// alone. Of all else, returns the JSON on one line.
fn readable(json: &str) -> String {
    let block = |block: &str| {
        let is_text = json::member(block, "type") == Some("\"text\"");
        json::member(block, "text").filter(|_| is_text).and_then(json::string)
    };
    let blocks = json::elements(json::member(json, "content").unwrap_or(json));
    let blocks: Option<Vec<String>> =
        blocks.and_then(|blocks| blocks.into_iter().map(block).collect());
    let blocks = blocks.filter(|blocks| !blocks.is_empty()).map(|blocks| blocks.join("\n"));
    json::string(json).or(blocks).unwrap_or_else(|| json::minify(json))
}

/// Returns text as it stands between quotation marks, on one line.
fn quoted(text: &str) -> String {
    on_one_line(&text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns text with its line breaks and tabs as escapes.
fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

/// Returns the first characters of a text, and `…` if there are more.
fn shortened(text: &str, count: usize) -> String {
    match text.char_indices().nth(count) {
        Some((end, _)) => format!("{}…", text.before(end)),
        None => text.to_owned(),
    }
}

/// Returns what fits into so many columns of a line, with `…` in the last one if not all does.
fn fitting(line: &str, columns: usize) -> String {
    let widths = |c: char| c.width().unwrap_or(6);
    if line.chars().map(widths).sum::<usize>() <= columns {
        return line.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(widths(*c));
        room = left.unwrap_or(room);
        left.is_some()
    };
    line.chars().take_while(fits).chain(['…']).collect()
}

/// Returns milliseconds as seconds, to two decimals.
fn seconds(milliseconds: u64) -> String {
    format!("{}.{:02} s", milliseconds / 1000, milliseconds % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Code, Failure, Reason, Text};

    const TERMINAL: Look = Look {
        parts: Parts::ALL,
        is_terminal: true,
        has_color: false,
        width: 40,
        is_laid_out: false,
    };
    const LAID_OUT: Look = Look { is_laid_out: true, ..TERMINAL };
    const PIPE: Look = Look { parts: Parts::TEXT, is_terminal: false, ..TERMINAL };

    #[track_caller]
    fn check(look: &Look, kinds: &[Kind<'_>], expected: &str) {
        let mut out = Vec::new();
        let mut people = People::new(&mut out, look.clone(), None, None);
        for kind in kinds {
            people.feed(&Event::from(*kind)).unwrap();
        }
        people.finish().unwrap();
        drop(people);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn start() -> Kind<'static> {
        Kind::Start(Start { model: Some("m-1"), ..Start::default() })
    }

    fn text(text: &str) -> Kind<'_> {
        Kind::Text(Text::new(text))
    }

    fn thought(text: &str) -> Kind<'_> {
        Kind::Reasoning(Reasoning { text, ..Reasoning::default() })
    }

    fn begin(index: u64, name: &'static str) -> Kind<'static> {
        Kind::ToolCallStart(ToolCallStart { index, id: name, name })
    }

    fn piece<'a>(index: u64, path: &'a str, text: &'a str) -> Kind<'a> {
        Kind::ToolCallValue(ToolCallValue { index, path, value: Output::Text(text) })
    }

    fn json<'a>(index: u64, path: &'a str, json: &'a str) -> Kind<'a> {
        Kind::ToolCallValue(ToolCallValue { index, path, value: Output::Json(json) })
    }

    fn call(index: u64, name: &'static str, arguments: &'static str) -> Kind<'static> {
        Kind::ToolCall(ToolCall::new(index, name, name, CallInput::Arguments(arguments)))
    }

    fn result<'a>(id: &'a str, output: &'a str) -> Kind<'a> {
        Kind::ToolResult(ToolResult { id, output: Output::Text(output), ..ToolResult::default() })
    }

    fn finish(finish_reason: FinishReason) -> Kind<'static> {
        Kind::Finish(Finish::new(finish_reason))
    }

    const STOP: FinishReason = FinishReason::Stop;

    #[test]
    fn a_pipe_gets_the_text_and_nothing_else() {
        let kinds = [
            start(),
            thought("hm"),
            text("a\u{1b}[2J\r"),
            text("b"),
            call(0, "f", "{}"),
            finish(STOP),
        ];
        check(&PIPE, &kinds, "a\u{1b}[2J\rb\n");
    }

    #[test]
    fn parts_stand_apart() {
        let kinds = [
            start(),
            thought("Let me "),
            thought("see."),
            text("It is "),
            text("12 °C."),
            finish(STOP),
        ];
        check(&TERMINAL, &kinds, "Let me see.\n\nIt is 12 °C.\nm-1\n");
    }

    #[test]
    fn a_call_is_a_line_that_grows() {
        let kinds = [
            start(),
            text("Wait."),
            begin(0, "get_weather"),
            piece(0, "/city", "Os"),
            piece(0, "/city", "l\"o\\"),
            json(0, "/days/0", "3"),
            call(0, "get_weather", "{\"city\":\"Oslo\",\"days\":[3]}"),
            result("get_weather", "12 °C\nrain\n"),
            text("Rain."),
            finish(STOP),
        ];
        let expected = "Wait.\n▸ get_weather  city: \"Osl\\\"o\\\\\"  days.0: 3\n\
             ◂ get_weather\n  12 °C\n  rain\n\nRain.\nm-1\n";
        check(&TERMINAL, &kinds, expected);
    }

    #[test]
    fn a_line_that_was_interrupted_is_shown_whole_in_the_end() {
        let kinds = [
            start(),
            begin(0, "f"),
            piece(0, "/a", "x"),
            begin(1, "g"),
            piece(0, "/a", "y"),
            json(1, "/b", "1"),
            call(0, "f", "{\"a\":\"xy\"}"),
            call(1, "g", "{\"b\":1}"),
            finish(STOP),
        ];
        check(&TERMINAL, &kinds, "▸ f  a: \"x\"\n▸ g  b: 1\n▸ f  a: \"xy\"\nm-1\n");
    }

    #[test]
    fn free_text_is_shown_though_its_line_was_interrupted() {
        let free = ToolCall::new(0, "sh", "sh", CallInput::Text("ls\n"));
        let kinds = [
            start(),
            begin(0, "sh"),
            begin(1, "g"),
            piece(0, "", "ls\n"),
            Kind::ToolCall(free),
            call(1, "g", "{}"),
            finish(STOP),
        ];
        check(&TERMINAL, &kinds, "▸ sh\n▸ g\n▸ sh  \"ls\\n\"\nm-1\n");
    }

    #[test]
    fn results_in_json_are_shown_as_text() {
        #[track_caller]
        fn shows(output: &str, expected: &str) {
            let output = Output::Json(output);
            let result = ToolResult {
                name: Some("f"),
                output,
                is_error: Some(true),
                ..ToolResult::default()
            };
            let kinds = [start(), Kind::ToolResult(result), finish(STOP)];
            check(&TERMINAL, &kinds, &format!("◂ f  ✗\n{expected}\nm-1\n"));
        }
        shows("\"a\\nb\"", "  a\n  b");
        shows(
            "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]",
            "  a\n  b",
        );
        shows("{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "  a");
        shows("{ \"a\": [1,\n 2] }", "  {\"a\":[1,2]}");
        shows("[]", "  []");
    }

    #[test]
    fn a_run_ends_with_its_sum() {
        let usage = Usage { input_tokens: Some(3), ..Usage::default() };
        let end = |rounds, calls| {
            let reason = EndReason::FinalAnswer;
            Kind::RunEnd(RunEnd { reason, rounds, calls, usage: Some(usage) })
        };
        let kinds = [start(), text("a"), finish(STOP), end(2, 1)];
        check(&TERMINAL, &kinds, "a\nm-1\n\n2 rounds · 1 call · 3 in\n");
        check(&PIPE, &kinds, "a\n");
        check(&TERMINAL, &[start(), text("a"), finish(STOP), end(1, 0)], "a\nm-1\n");
    }

    #[test]
    fn rounds_have_a_heading_where_they_need_one() {
        let round = |number, attempt| {
            let Kind::Start(start) = start() else { unreachable!() };
            Kind::Start(Start { round: Some(number), attempt, ..start })
        };
        let kinds = |round| [round, text("a"), finish(STOP)];
        check(&TERMINAL, &kinds(round(1, None)), "a\nm-1\n");
        check(&TERMINAL, &kinds(round(1, Some(2))), "── round 1, attempt 2 ──\na\nm-1\n");
        let two = [kinds(round(1, None)), kinds(round(2, None))].concat();
        check(&TERMINAL, &two, "a\nm-1\n\n── round 2 ──\na\nm-1\n");
    }

    #[test]
    fn long_values_and_results_are_shortened() {
        let (long, lines) = ("x".repeat(1500), "line\n".repeat(20));
        let kinds = [
            start(),
            begin(0, "f"),
            piece(0, "/a", &long),
            call(0, "f", "{}"),
            result("f", &lines),
            finish(STOP),
        ];
        let expected = format!(
            "▸ f  a: \"{}…\" (1,500 characters)\n◂ f\n{}  … 12 more lines\nm-1\n",
            "x".repeat(MAX_VALUE),
            "  line\n".repeat(MAX_LINES),
        );
        check(&TERMINAL, &kinds, &expected);
        let wide = "日本語".repeat(20);
        check(
            &TERMINAL,
            &[start(), result("f", &wide), finish(STOP)],
            "◂ 日本語日本語日本語日本語日本語日本語…\nm-1\n",
        );
    }

    #[test]
    fn a_terminal_is_safe() {
        let kinds =
            [start(), text("a\u{1b}[2Jb\r"), text("\nc\rd\u{202e}e👩\u{200d}🔬"), finish(STOP)];
        check(&TERMINAL, &kinds, "a\\u001b[2Jb\nc\\rd\\u202ee👩\u{200d}🔬\nm-1\n");
    }

    #[test]
    fn the_end_has_the_numbers() {
        let usage = Kind::Usage(Usage {
            input_tokens: Some(1234),
            output_tokens: Some(56),
            cached_input_tokens: Some(1024),
            ..Usage::default()
        });
        let kinds = [start(), text("a"), usage, finish(FinishReason::Length)];
        check(&TERMINAL, &kinds, "a\nm-1 · 1,234 in (1,024 cached) · 56 out · ended by length\n");
    }

    #[test]
    fn what_is_invalid_is_marked() {
        let invalid = Kind::InvalidToolCall(InvalidToolCall {
            index: 0,
            id: None,
            name: Some("f"),
            arguments_raw: "{\"a\":\"x",
            reason: Reason::Truncated,
            source: None,
        });
        let cut = Kind::Error(Failure::new(Code::Truncated, "cut", None));
        check(
            &TERMINAL,
            &[start(), begin(0, "f"), piece(0, "/a", "x"), invalid, cut],
            "▸ f  a: \"x\"  ✗ truncated\nm-1\n",
        );
        check(&TERMINAL, &[start(), invalid, cut], "▸ f  {\"a\":\"x  ✗ truncated\nm-1\n");
    }

    #[test]
    fn messages_stand_apart() {
        let kinds = [start(), text("a"), finish(STOP), start(), text("b"), finish(STOP)];
        check(&TERMINAL, &kinds, "a\nm-1\n\n── message 2 ──\nb\nm-1\n");
        check(&PIPE, &kinds, "a\nb\n");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let kinds = [
            start(),
            thought("a thought that is longer than forty columns are"),
            text("\n\nIt is 12 °C in Os"),
            text("lo, and it rains in Lima.\n\n"),
            begin(0, "f"),
            call(0, "f", "{}"),
            text("\n\n"),
            begin(1, "g"),
            call(1, "g", "{}"),
            text("\n\nSo."),
            finish(STOP),
        ];
        let expected = "a thought that is longer than forty\ncolumns are\n\n\
             It is 12 °C in Oslo, and it rains in\nLima.\n▸ f\n▸ g\n\nSo.\nm-1\n";
        check(&LAID_OUT, &kinds, expected);
        let long = Usage {
            input_tokens: Some(1_000_000),
            output_tokens: Some(1_000_000),
            ..Usage::default()
        };
        let kinds = [start(), text("a"), Kind::Usage(long), finish(FinishReason::ContentFilter)];
        check(&LAID_OUT, &kinds, "a\nm-1 · 1,000,000 in · 1,000,000 out · en…\n");
    }

    #[test]
    fn markdown_is_styled_where_there_are_colours() {
        let kinds = [start(), text("**So**"), finish(STOP)];
        check(&LAID_OUT, &kinds, "**So**\nm-1\n");
        let colored = Look { has_color: true, ..LAID_OUT };
        check(&colored, &kinds, "\u{1b}[1mSo\u{1b}[0m\n\u{1b}[2mm-1\n\u{1b}[0m");
    }

    #[test]
    fn styles_are_closed_where_they_are_opened() {
        let colored = Look { has_color: true, ..TERMINAL };
        let expected = "\u{1b}[2mhm\u{1b}[0m\n\na\n\u{1b}[2mm-1\n\u{1b}[0m";
        check(&colored, &[start(), thought("hm"), text("a"), finish(STOP)], expected);
    }
}
