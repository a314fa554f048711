//! What is dressing in a text, and what the model said: the beginning is kept until it is known
//! whether a program's lines stand there, and so is what may be the lines at the end.

use std::borrow::Cow;
use std::io;
use std::sync::{Arc, LazyLock};

use crate::cut::Cut as _;
use crate::dialect::machine::markup_probe::MarkupProbe;
use crate::dressing::colours::Colours;
use crate::dressing::pattern::{LinePattern, Matched, PatternMatch};
use crate::dressing::spec::{From, Program};
use crate::dressing::table::PROGRAMS;

/// The most bytes that are kept to find out what a text begins with, and what it ends with.
const LONGEST_BEGIN: usize = 64 << 10;
const LONGEST_END: usize = 1 << 10;

/// What is missing of a text that was cut.
const CUT_BEGINNING: &str = "the input ended among the first lines of a program";
const CUT_THOUGHT: &str = "the input ended in a thought: the mark that a program prints after it is missing \
    (`--from none` takes all for the answer)";
const CUT_END: &str = "the lines that a program always prints after the answer are missing";

/// The most times that a byte of a beginning is looked at.
const LOOKS: usize = 256;

/// A row whose patterns were parsed.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    begins: Vec<LinePattern>,
    thought: Option<[LinePattern; 2]>,
    /// The last lines.
    ends: Vec<LinePattern>,
    /// What stands at the end of the last line of the answer.
    marks: Vec<LinePattern>,
    prompt: Option<LinePattern>,
    always_ends: bool,
    ends_are_stops: bool,
}

impl Forms {
    pub(super) fn new(program: &Program) -> Result<Forms, String> {
        let all = |patterns: &[&'static str]| -> Result<Vec<LinePattern>, String> {
            patterns.iter().map(|pattern| LinePattern::parse(pattern)).collect()
        };
        let thought = program.thought.map(|thought| all(&[thought.open, thought.close]));
        let (marks, ends) = all(program.ends)?.into_iter().partition(LinePattern::is_inline);
        let prompt = Some(program.prompt).filter(|prompt| !prompt.is_empty());
        Ok(Forms {
            begins: all(program.begins)?,
            thought: thought.transpose()?.and_then(|marks| marks.try_into().ok()),
            ends,
            marks,
            prompt: prompt.map(LinePattern::parse).transpose()?,
            always_ends: program.always_ends,
            ends_are_stops: program.ends_are_stops,
        })
    }

    /// Matches all of a text with what the program prints last: its last lines, and its prompt if it
    /// `is_known`.
    fn end<'t>(&self, text: &'t str, is_inline: bool, is_known: bool) -> PatternMatch<'t> {
        let prompt = self.prompt.as_ref().filter(|_| is_known);
        let (patterns, last) = if is_inline { (&self.marks, None) } else { (&self.ends, prompt) };
        let mut is_open = false;
        for pattern in patterns.iter().chain(last) {
            match pattern.read(text) {
                PatternMatch::Whole(found) => {
                    let rest = text.after(found.length).trim_start();
                    match prompt.map(|prompt| prompt.read(rest)) {
                        _ if rest.is_empty() => return PatternMatch::Whole(found),
                        Some(PatternMatch::Whole(last)) if last.length == rest.len() => {
                            return PatternMatch::Whole(found);
                        }
                        Some(PatternMatch::Open(_)) => is_open = true,
                        _ => {}
                    }
                }
                PatternMatch::Open(_) => is_open = true,
                PatternMatch::No => {}
            }
        }
        if is_open { PatternMatch::Open(false) } else { PatternMatch::No }
    }
}

/// The built-in rows. A test parses each of them.
static ALL: LazyLock<Arc<[Forms]>> =
    LazyLock::new(|| PROGRAMS.iter().filter_map(|row| Forms::new(row).ok()).collect());

/// A part of a text.
pub(super) enum DressedPart<'t> {
    /// The answer.
    Text(&'t str),
    Thought(&'t str),
    /// The opener of a call stood in the thought, which is over.
    Draft,
    /// What the program printed besides.
    Dressing(&'t str),
    /// What the user said, which the program printed again.
    Prompt(&'t str),
}

/// Takes the parts of a text.
pub(super) type PartsOut<'o> = dyn FnMut(DressedPart<'_>) -> io::Result<()> + 'o;

/// What the end of a text says.
#[derive(Debug, Default)]
pub(super) struct TextEnd {
    /// What is missing, as a sentence, if the text was cut.
    pub(super) cut: Option<&'static str>,
    /// True if the program says that the model stopped by itself.
    pub(super) is_stop: bool,
    /// The program's word for why the model stopped.
    pub(super) reason: Option<String>,
    /// The tokens that were read and written, and their sum.
    pub(super) counts: [Option<u64>; 3],
}

/// Tells the model's words from a program's.
#[derive(Default)]
pub(super) struct DressingMachine {
    /// The rows that it may be: one, if `is_known`.
    rows: Arc<[Forms]>,
    is_known: bool,
    /// True if its first lines were there.
    has_begun: bool,
    place: DressingPlace,
    /// The beginning of the text or of a thought, or the end of a thought, while it may be a mark.
    held: String,
    /// The bytes of the beginning that were looked at, each as often as it was.
    looked: usize,
    colours: Colours,
    /// What may be a program's last lines.
    tail: String,
    /// True where `tail` begins a line.
    begins_line: bool,
    /// True where a thought begins.
    begins_thought: bool,
    /// Looks for calls in a thought, until there is one.
    probe: Option<MarkupProbe>,
    is_draft: bool,
}

#[derive(Default)]
enum DressingPlace {
    #[default]
    Beginning,
    /// Before the answer, where a thought may begin.
    Opening,
    /// In a thought, with its last mark.
    Thought(LinePattern),
    Answer,
}

impl DressingMachine {
    pub(super) fn new(from: From) -> DressingMachine {
        let rows = match from {
            From::Auto => Arc::clone(&ALL),
            From::None => Arc::default(),
            // The patterns were parsed when the row was loaded.
            From::Program(row) => Forms::new(row).into_iter().collect(),
        };
        DressingMachine {
            rows,
            is_known: !matches!(from, From::Auto),
            begins_line: true,
            probe: Some(MarkupProbe::default()),
            ..DressingMachine::default()
        }
    }

    /// Takes the next piece of text.
    pub(super) fn feed(&mut self, text: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        if !matches!(self.place, DressingPlace::Beginning) {
            return self.body(text, out);
        }
        self.held.push_str(text);
        let length = self.held.len();
        if self.looked > LOOKS * length && length <= LONGEST_BEGIN {
            return Ok(());
        }
        self.looked += length;
        let held = std::mem::take(&mut self.held);
        match self.beginning(&held) {
            PatternMatch::Open(_) if length <= LONGEST_BEGIN => self.held = held,
            PatternMatch::Whole(found) => self.begin(&held, found, out)?,
            PatternMatch::Open(_) | PatternMatch::No => {
                self.begin(&held, Matched::default(), out)?
            }
        }
        Ok(())
    }

    /// Ends the text.
    pub(super) fn finish(&mut self, out: &mut PartsOut<'_>) -> io::Result<TextEnd> {
        if matches!(self.place, DressingPlace::Beginning) {
            let held = std::mem::take(&mut self.held);
            match self.beginning(&held) {
                PatternMatch::Open(true) => {
                    out(DressedPart::Dressing(&held))?;
                    return Ok(TextEnd { cut: Some(CUT_BEGINNING), ..TextEnd::default() });
                }
                PatternMatch::Whole(found) => self.begin(&held, found, out)?,
                PatternMatch::Open(false) | PatternMatch::No => {
                    self.begin(&held, Matched::default(), out)?
                }
            }
        }
        let rest = self.colours.end();
        self.plain(&rest, out)?;
        let mut tail = std::mem::take(&mut self.tail);
        let length = tail.len();
        // Who keeps an output in a variable takes its last line end off.
        tail.push('\n');
        let (keep, found) = self.last_lines(&tail, true);
        let (text, lines) = tail.parts(keep.min(length));
        self.words(text, out)?;
        let held = std::mem::take(&mut self.held);
        match self.place {
            DressingPlace::Opening => self.opening(held, true, out)?,
            DressingPlace::Thought(_) => {
                self.think(&held, out)?;
                self.end_thought(out)?;
            }
            DressingPlace::Beginning | DressingPlace::Answer => {}
        }
        let open = matches!(self.place, DressingPlace::Thought(_)).then_some(CUT_THOUGHT);
        let Some((found, is_stop)) = found else {
            let cut = open.or(self.must_end().then_some(CUT_END));
            return Ok(TextEnd { cut, ..TextEnd::default() });
        };
        out(DressedPart::Dressing(lines.trim_end_matches('\n')))?;
        Ok(TextEnd {
            cut: open,
            is_stop,
            reason: found.reason.map(str::to_owned),
            counts: [found.input, found.output, found.total],
        })
    }

    /// Finds a program's first lines at the beginning of a text. Of several, those that end first.
    fn beginning<'t>(&mut self, held: &'t str) -> PatternMatch<'t> {
        let blank = blank(held);
        let text = held.after(blank);
        if text.is_empty() || text == "\r" {
            return PatternMatch::Open(false);
        }
        let mut best: Option<(usize, Matched<'t>)> = None;
        let mut open = None;
        for (row, forms) in self.rows.iter().enumerate() {
            for pattern in &forms.begins {
                match pattern.read(text) {
                    PatternMatch::Whole(found)
                        if best.is_none_or(|(_, best)| found.length < best.length) =>
                    {
                        best = Some((row, found));
                    }
                    PatternMatch::Open(has_line) => open = Some(open.unwrap_or(false) || has_line),
                    _ => {}
                }
            }
        }
        match best {
            Some((row, found)) => {
                self.know(row);
                self.has_begun = true;
                PatternMatch::Whole(Matched { length: found.length + blank, ..found })
            }
            None => open.map_or(PatternMatch::No, PatternMatch::Open),
        }
    }

    fn know(&mut self, row: usize) {
        if !self.is_known {
            self.rows = self.rows.get(row).cloned().into_iter().collect();
            self.is_known = true;
        }
    }

    /// True if the program's last lines may not be missing: one that was told to leave its first
    /// lines out may leave these out as well.
    fn must_end(&self) -> bool {
        let must_end = |row: &Forms| row.always_ends && (self.has_begun || row.begins.is_empty());
        self.is_known && self.rows.iter().any(must_end)
    }

    /// Goes on after the first lines.
    fn begin(&mut self, held: &str, found: Matched<'_>, out: &mut PartsOut<'_>) -> io::Result<()> {
        let (lines, rest) = held.parts(found.length);
        self.place = DressingPlace::Opening;
        if lines.contains("\x1b[") {
            self.colours = Colours::On(String::new());
        }
        if !lines.is_empty() {
            out(DressedPart::Dressing(lines))?;
        }
        if let Some(prompt) = found.prompt {
            out(DressedPart::Prompt(prompt.trim_end()))?;
        }
        self.body(rest, out)
    }

    /// Takes text after the first lines.
    fn body(&mut self, text: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        match self.colours.strip(text) {
            Cow::Borrowed(text) => self.plain(text, out),
            Cow::Owned(text) => self.plain(&text, out),
        }
    }

    /// Takes text without colours, and keeps what may be a program's last lines.
    fn plain(&mut self, text: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.tail.is_empty() {
            return self.before_tail(text, out);
        }
        let mut tail = std::mem::take(&mut self.tail);
        tail.push_str(text);
        self.before_tail(&tail, out)
    }

    fn before_tail(&mut self, text: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        let (keep, _) = self.last_lines(text, false);
        let (text, tail) = text.parts(keep);
        tail.clone_into(&mut self.tail);
        if !text.is_empty() {
            self.begins_line = text.ends_with('\n');
        }
        self.words(text, out)
    }

    /// Returns where the program's last lines begin, or may begin unless the text has `ended`, with
    /// what they say and whether that is a stop.
    fn last_lines<'t>(&self, text: &'t str, ended: bool) -> (usize, Option<(Matched<'t>, bool)>) {
        let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST_END));
        let window = text.after(from);
        let begins_line = match from {
            0 => self.begins_line,
            from => text.get(..from).is_some_and(|before| before.ends_with('\n')),
        };
        let first = begins_line.then_some((0, false));
        let others = window.bytes().enumerate().filter_map(|(at, byte)| match byte {
            b'\n' => Some((at + 1, false)),
            b' ' => Some((at, true)),
            _ => None,
        });
        let mut found = None;
        let mut keep = window.len();
        for (at, is_inline) in first.into_iter().chain(others) {
            let Some(rest) = window.get(at..).filter(|rest| !rest.is_empty()) else { continue };
            let ends = self.rows.iter().map(|row| (row, row.end(rest, is_inline, self.is_known)));
            let mut ends = ends.filter(|(_, end)| *end != PatternMatch::No).peekable();
            if ended {
                found = ends.find_map(|(row, end)| match end {
                    PatternMatch::Whole(found) => Some((found, row.ends_are_stops)),
                    _ => None,
                });
            }
            if found.is_some() || (!ended && ends.peek().is_some()) {
                keep = at;
                break;
            }
        }
        // The line ends before a known program's last lines are its own.
        if self.is_known && (!ended || found.is_some()) {
            let before = window.before(keep);
            keep = before.trim_end_matches(['\n', '\r']).len();
        }
        (from + keep, found)
    }

    /// Takes words of the model.
    fn words(&mut self, text: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match &self.place {
            DressingPlace::Answer => return out(DressedPart::Text(text)),
            DressingPlace::Beginning | DressingPlace::Opening | DressingPlace::Thought(_) => {
                self.held.push_str(text)
            }
        }
        let held = std::mem::take(&mut self.held);
        match self.place {
            DressingPlace::Thought(_) => self.thought(held, out),
            _ => self.opening(held, false, out),
        }
    }

    /// Looks for the first mark of a thought.
    fn opening(&mut self, held: String, ended: bool, out: &mut PartsOut<'_>) -> io::Result<()> {
        let blank = blank(&held);
        let text = held.after(blank);
        let mut is_open = text.is_empty();
        let mut opened = None;
        for row in self.rows.iter() {
            let Some([open, close]) = &row.thought else { continue };
            match open.read(text) {
                PatternMatch::Whole(found) => opened = Some((found.length, close.clone())),
                PatternMatch::Open(_) => is_open = true,
                PatternMatch::No => {}
            }
        }
        if let Some((length, close)) = opened {
            let (mark, rest) = held.parts(blank + length);
            self.place = DressingPlace::Thought(close);
            self.begins_thought = true;
            out(DressedPart::Dressing(mark))?;
            return self.thought(rest.to_owned(), out);
        }
        if is_open && !ended && !self.rows.is_empty() {
            self.held = held;
            return Ok(());
        }
        self.place = DressingPlace::Answer;
        if held.is_empty() { Ok(()) } else { out(DressedPart::Text(&held)) }
    }

    /// Emits a thought up to its last mark, and what follows that as the answer.
    fn thought(&mut self, mut held: String, out: &mut PartsOut<'_>) -> io::Result<()> {
        let DressingPlace::Thought(close) = &self.place else { return Ok(()) };
        let close = close.clone();
        let first = self.begins_thought.then_some(0);
        let lines =
            held.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mark =
            first.into_iter().chain(lines).find_map(|at| match close.read(held.get(at..)?) {
                PatternMatch::No => None,
                PatternMatch::Open(_) => Some((at, None)),
                PatternMatch::Whole(found) => Some((at, Some(found.length))),
            });
        let (at, length) = mark.unwrap_or((held.len(), None));
        let before = held.before(at);
        let keep = before.trim_end_matches(['\n', '\r']).len();
        let rest = held.split_off(keep);
        if !held.is_empty() {
            self.begins_thought = false;
        }
        self.think(&held, out)?;
        let Some(length) = length else {
            self.held = rest;
            return Ok(());
        };
        self.place = DressingPlace::Answer;
        self.end_thought(out)?;
        let (mark, rest) = rest.parts(at - keep + length);
        out(DressedPart::Dressing(mark))?;
        self.words(rest, out)
    }

    fn think(&mut self, thought: &str, out: &mut PartsOut<'_>) -> io::Result<()> {
        if thought.is_empty() {
            return Ok(());
        }
        out(DressedPart::Thought(thought))?;
        self.is_draft |= self.probe.as_mut().is_some_and(|it| it.feed(thought, &[]).is_some());
        if self.is_draft {
            self.probe = None;
        }
        Ok(())
    }

    fn end_thought(&mut self, out: &mut PartsOut<'_>) -> io::Result<()> {
        if std::mem::take(&mut self.is_draft) { out(DressedPart::Draft) } else { Ok(()) }
    }
}

/// Returns the length of the blank lines that a text begins with.
fn blank(text: &str) -> usize {
    let mut rest = text;
    while let Some(after) = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")) {
        rest = after;
    }
    text.len() - rest.len()
}
