//! What is left of a program in the model's words: lines that it broke, the tokens that end a message,
//! and signs that it hid the markup of calls.
//!
//! `ollama run` breaks lines at the width of the terminal, in a pipe at 80 columns: it prints a word as
//! it comes, and where that does not fit goes back, erases, ends the line, and prints it again. A call
//! with that in it is none that may run: the machine of dialects says so.

use std::io;

use memchr::{memchr, memmem};

use crate::cut::Cut as _;
use crate::dialect::END_TOKENS;
use crate::event::{
    Emit, Event, Finish, FinishReason, Kind, Reasoning, Text, Warning, WarningCode,
};

/// More tokens that end a message. Some are markup in dialects: one that is left at the end of the text
/// is not.
const MORE_END_TOKENS: &[&str] = &[
    "</s>", "<eos>", "<turn|>", "<end_of_turn>", "<|eot|>", "<|eom|>", "<|end|>", "<|call|>",
    "<|return|>", "<|user|>", "<|observation|>", "<|endofturn|>", "<|end_of_turn|>",
    "<|end_of_role|>", "<|END_OF_TURN_TOKEN|>",
];

/// The bytes at the end of a text that are remembered: as much as a broken line has.
const MEMORY: usize = 128;
/// The bytes at the end of a text that may be such tokens.
const LONGEST_END: usize = 96;
/// The bytes of a text in which a sign is looked for.
const LONGEST_LOOK: usize = 64 << 10;
/// The longest sign, in bytes.
const LONGEST_SIGN: usize = 48;

/// A sign that a program hid or changed the markup of calls, in text that begins so.
#[derive(Debug)]
struct Sign {
    begin: &'static str,
    text: &'static str,
    message: &'static str,
}

const HIDDEN: &str = "the special tokens of the model's markup are hidden, so that no call in it can \
    be read: `--special` of llama-completion and `skip_special_tokens=False` of Transformers and vLLM \
    keep them";
const ESCAPED: &str = "the model's markup is escaped, so that no call in it can be read: `transformers \
    chat` does so; a TextStreamer and a server's API don't";
const TAKEN: &str = "ollama took a call out of the text, which can't be read: its API (`/api/chat`, \
    with `tools`) hands calls on";

const SIGNS: &[Sign] = &[
    // Harmony without its tokens.
    Sign { begin: "analysis", text: "assistantfinal", message: HIDDEN },
    Sign { begin: "analysis", text: "assistantcommentary", message: HIDDEN },
    Sign { begin: "commentary to=", text: "json", message: HIDDEN },
    // Markdown of the terminal, in `transformers chat`.
    Sign { begin: "", text: "\\<think\\>", message: ESCAPED },
    Sign { begin: "", text: "\\<tool_call\\>", message: ESCAPED },
    // ollama: cmd/cmd.go, `renderToolCalls`.
    Sign { begin: "", text: "  Model called a non-existent function '", message: TAKEN },
];

const JOINED: &str = "lines that the program broke at the edge of a terminal were joined: \
    `--nowordwrap` keeps it from that";

/// Whose words a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Voice {
    #[default]
    Answer,
    Thought,
}

/// Takes out of text what is a program's.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    voice: Voice,
    /// The end of the text so far.
    memory: String,
    /// What may be a broken line or the last token.
    held: String,
    /// The beginning of the answer, and its length in bytes.
    begin: String,
    length: usize,
    /// The end of the answer so far, in which a sign may begin.
    seam: String,
    /// True once a broken line was joined.
    has_joined: bool,
    /// True if the text ends in a token that ends a message.
    is_stop: bool,
    sign: Option<&'static Sign>,
}

impl Leftovers {
    /// Takes the next event.
    pub(super) fn feed(&mut self, event: &Event<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        match event.kind {
            Kind::Text(Text { text, channel: None }) => self.text(Voice::Answer, text, emit),
            Kind::Reasoning(Reasoning { text, signature: None, redacted: None, .. }) => {
                self.text(Voice::Thought, text, emit)
            }
            Kind::Finish(finish) => {
                self.finish(emit)?;
                let is_inferred = finish.inferred && finish.finish_reason == FinishReason::Stop;
                let inferred = finish.inferred && !(self.is_stop && is_inferred);
                emit(&Event { kind: Kind::Finish(Finish { inferred, ..finish }), ..*event })
            }
            Kind::Warning(_)
            | Kind::Usage(_)
            | Kind::ProviderEvent(_)
            | Kind::Prompt(_)
            | Kind::Start(_) => emit(event),
            _ => {
                self.flush(emit)?;
                emit(event)
            }
        }
    }

    /// Ends the text: what is held is the last token, or text.
    pub(super) fn finish(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        if !self.held.is_empty() && end_tokens(&self.held) == Some(true) {
            self.held.clear();
            self.is_stop = true;
        }
        self.flush(emit)?;
        if std::mem::take(&mut self.has_joined) {
            warn(WarningCode::JoinedLines, JOINED, emit)?;
        }
        match self.sign.take() {
            Some(sign) => warn(WarningCode::LostMarkup, sign.message, emit),
            None => Ok(()),
        }
    }

    fn flush(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        remember(&mut self.memory, &held);
        self.say(&held, emit)
    }

    fn text(&mut self, voice: Voice, text: &str, emit: &mut Emit<'_>) -> io::Result<()> {
        if voice != self.voice {
            self.flush(emit)?;
            self.memory.clear();
            self.voice = voice;
        }
        if self.held.is_empty() {
            return self.pass(text, emit);
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        self.pass(&held, emit)
    }

    /// Passes a text on, but for what may be a broken line or the last token.
    fn pass(&mut self, text: &str, emit: &mut Emit<'_>) -> io::Result<()> {
        let mut rest = text;
        // What is looked at begins here.
        let mut at = 0;
        while let Some(escape) = memchr(b'\x1b', rest.as_bytes().after(at)) {
            let (before, broken) = rest.parts(at + escape);
            remember(&mut self.memory, before.after(at));
            match join(&self.memory, broken) {
                LineBreak::Open => {
                    broken.clone_into(&mut self.held);
                    return self.say(before, emit);
                }
                LineBreak::No(length) => {
                    remember(&mut self.memory, broken.before(length));
                    at = before.len() + length;
                }
                LineBreak::At(length) => {
                    self.say(before, emit)?;
                    self.has_joined = true;
                    (rest, at) = (broken.after(length), 0);
                }
            }
        }
        let from = rest.floor_char_boundary(at.max(rest.len().saturating_sub(LONGEST_END)));
        let window = rest.after(from);
        let mut places = window.match_indices('<').map(|(at, _)| at);
        let is_token = |at: &usize| window.get(*at..).is_some_and(|end| end_tokens(end).is_some());
        let end = if self.voice == Voice::Answer { places.find(is_token) } else { None };
        let end = from + end.unwrap_or(window.len());
        remember(&mut self.memory, rest.within(at..end));
        let (text, held) = rest.parts(end);
        // `<s>old</s>` is HTML.
        if held.starts_with("</s") && self.memory.contains("<s>") {
            remember(&mut self.memory, held);
            return self.say(rest, emit);
        }
        held.clone_into(&mut self.held);
        self.say(text, emit)
    }

    fn say(&mut self, text: &str, emit: &mut Emit<'_>) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.voice {
            Voice::Answer => {
                self.look_for_signs(text);
                emit(&Kind::Text(Text::new(text)).into())
            }
            Voice::Thought => emit(&Kind::Reasoning(Reasoning::new(text)).into()),
        }
    }

    fn look_for_signs(&mut self, text: &str) {
        let left = LONGEST_LOOK.saturating_sub(self.length);
        if self.sign.is_some() || left == 0 {
            return;
        }
        let text = text.before(left);
        let first = text.before(LONGEST_SIGN);
        if self.length < LONGEST_SIGN {
            self.begin.push_str(first);
        }
        self.length += text.len().max(1);
        self.seam.push_str(first);
        let holds = |sign: &str| {
            let mut texts = [text, self.seam.as_str()].into_iter();
            texts.any(|text| memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
        };
        let mut signs = SIGNS.iter().filter(|sign| self.begin.starts_with(sign.begin));
        self.sign = signs.find(|sign| holds(sign.text));
        if text.len() > first.len() {
            self.seam.clear();
            self.seam.push_str(text.after(text.len().saturating_sub(LONGEST_SIGN)));
        } else if self.seam.len() > 2 * LONGEST_SIGN {
            self.seam.drain(..self.seam.floor_char_boundary(self.seam.len() - LONGEST_SIGN));
        }
    }
}

fn warn(code: WarningCode, message: &str, emit: &mut Emit<'_>) -> io::Result<()> {
    emit(&Kind::Warning(Warning::new(code, message)).into())
}

/// Keeps the end of a text.
fn remember(memory: &mut String, text: &str) {
    if text.len() >= MEMORY {
        memory.clear();
        memory.push_str(text.after(text.len() - MEMORY));
        return;
    }
    memory.push_str(text);
    if memory.len() > 2 * MEMORY {
        memory.drain(..memory.floor_char_boundary(memory.len() - MEMORY));
    }
}

/// True if a text is tokens that end a message, and white space, false while it may be.
fn end_tokens(text: &str) -> Option<bool> {
    let tokens = || END_TOKENS.iter().chain(MORE_END_TOKENS);
    let mut rest = text;
    while !rest.is_empty() {
        match tokens().find_map(|token| rest.strip_prefix(token)) {
            Some(after) => rest = after.trim_start(),
            None => return tokens().any(|token| token.starts_with(rest)).then_some(false),
        }
    }
    Some(true)
}

/// Whether a line was broken.
enum LineBreak {
    /// These bytes are text.
    No(usize),
    Open,
    /// It was, and the word that was broken goes on after so many bytes.
    At(usize),
}

/// Reads the sequence that breaks a line, and the word that comes again after it: as many characters
/// as it goes back.
fn join(before: &str, broken: &str) -> LineBreak {
    let open = |rest: &str| if rest.is_empty() { LineBreak::Open } else { LineBreak::No(1) };
    let mut rest = broken;
    let mut back = 0;
    if let Some(parameter) = rest.strip_prefix("\x1b[") {
        let digits = parameter.find(|c: char| !c.is_ascii_digit()).unwrap_or(parameter.len());
        let (number, after) = parameter.parts(digits);
        if after.is_empty() {
            return if digits < 4 { LineBreak::Open } else { LineBreak::No(1) };
        }
        if let Some(after) = after.strip_prefix('D') {
            back = number.parse().unwrap_or(0);
            rest = after;
        }
    }
    for part in ["\x1b", "[", "K", "\n"] {
        rest = if part == "\n" { rest.strip_prefix('\r').unwrap_or(rest) } else { rest };
        match rest.strip_prefix(part) {
            Some(after) => rest = after,
            None => return open(rest),
        }
    }
    let word = before.char_indices().rev().take(back).last().map_or("", |(at, _)| before.after(at));
    match rest.strip_prefix(word) {
        Some(after) => LineBreak::At(broken.len() - after.len()),
        None if word.starts_with(rest) => LineBreak::Open,
        None => LineBreak::No(broken.len() - rest.len()),
    }
}
