//! What local programs print around a model's words: banners, prompts, marks of thoughts, statistics,
//! end marks, colours, broken lines. A layer around any dialect; only plain text has such things.
//!
//! A program is a [`Program`] row; one machine reads them all, a user's own from a TOML file (see
//! [`load()`]) as well. Its texts are matched whole, and only where they stand: at the beginning, around
//! a thought before the answer, at the end.
//!
//! # Patterns
//!
//! | in a pattern | stands for |
//! | --- | --- |
//! | a space | one space or several |
//! | a line end | LF or CR LF |
//! | `{*}` | anything on the line, up to the text after it |
//! | `{lines}` | anything, up to the text after it |
//! | `{prompt}` | the same: what the user said |
//! | `{input}`, `{output}`, `{total}` | a number of tokens |
//! | `{reason}` | a word: why the model stopped |
//! | `{[}`…`{]}` | what may be missing |

mod colours;
mod echo;
mod leftovers;
mod load;
mod machine;
mod pattern;
mod sent;
mod spec;
mod table;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

#[cfg(feature = "cli")]
pub(crate) use load::open;
pub use load::{choose, find, load};
pub use spec::{From, Program, Thought};
pub use table::PROGRAMS;

use crate::dialect::{AtEnd, Markup, Selection};
use crate::dressing::echo::{Echo, HeardText, KeptText};
use crate::dressing::leftovers::Leftovers;
use crate::dressing::machine::{DressedPart, DressingMachine, TextEnd};
use crate::dressing::sent::Sent;
use crate::event::{
    Code, Emit, EmitPieces, Event, Failure, Finish, FinishReason, Kind, Loose, Output, Pieces,
    Prompt, ProviderEvent, Reasoning, Text, Usage, Warning, WarningCode,
};
use crate::format::normalise;
use crate::json::object_of;

/// Returns which program's dressing is looked for: none where text is said to be text.
pub(crate) fn of_text(from: From, dialect: &Selection) -> From {
    match (from, dialect) {
        (From::Auto, Selection::None) => From::None,
        (from, _) => from,
    }
}

/// Returns what the model said in a text, markup and all, without what is not of the answer.
pub(crate) fn undress(from: From, sent: Arc<[String]>, text: &str) -> String {
    if matches!(from, From::None) {
        return text.to_owned();
    }
    let mut said = String::new();
    let mut emit = |event: &Event<'_>| {
        if let Kind::Text(piece) = event.kind {
            said.push_str(piece.text);
        }
        Ok(())
    };
    let mut markup = Markup::new(&Selection::None, None, AtEnd::Cut, None, 0);
    let mut open = OpenDressing::new(from, sent, Echo::default());
    // The closure never fails, and a layer only fails if it does.
    let _ = open
        .feed(text, &mut markup, &mut emit)
        .and_then(|()| open.finish(&mut markup, &mut emit))
        .and_then(|_| open.leave(&mut markup, &mut emit));
    said
}

/// Reads plain text out of its dressing, and hands it to the layer of dialects; everything else passes
/// by.
pub(crate) struct Dressing {
    from: From,
    /// The texts that the program was sent.
    sent: Arc<[String]>,
    /// True if the end of the text may have been cut.
    may_be_cut: bool,
    markup: Markup,
    /// The open plain text; `None` in other formats.
    open: Option<OpenDressing>,
}

/// A plain text.
struct OpenDressing {
    machine: DressingMachine,
    sent: Sent,
    echo: Echo,
    leftovers: Leftovers,
    /// True if its end is missing.
    is_cut: bool,
}

impl Dressing {
    /// Puts the layer around one that reads dialects.
    pub(crate) fn new(from: From, sent: Arc<[String]>, at_end: AtEnd, markup: Markup) -> Self {
        Dressing { from, sent, may_be_cut: at_end == AtEnd::Cut, markup, open: None }
    }

    /// Takes the next event of a decoder.
    pub(crate) fn feed(&mut self, event: &Event<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        // The provider's own JSON has all that a text has.
        if matches!(event.kind, Kind::Loose(Loose::Native(_))) {
            return emit(event);
        }
        if matches!(event.kind, Kind::Start(_)) && self.markup.is_plain() {
            let is_dressed = !matches!(self.from, From::None);
            // Where the dialect's own markers frame turns, they show no prompt.
            let echo = if self.markup.frames_turns() { Echo::None } else { Echo::default() };
            self.open =
                is_dressed.then(|| OpenDressing::new(self.from, Arc::clone(&self.sent), echo));
        }
        let Dressing { markup, open, .. } = self;
        let Some(open) = open else { return markup.feed(event, emit) };
        match event.kind {
            Kind::Text(Text { text, channel: None }) => open.feed(text, markup, emit),
            Kind::Finish(finish) => {
                let end = open.finish(markup, emit)?;
                let Some(cut) = end.cut.filter(|_| self.may_be_cut) else {
                    return open.pass(Kind::Finish(end.finish(finish)), markup, emit);
                };
                open.is_cut = true;
                open.leave(markup, emit)?;
                let failure = Failure::new(Code::Truncated, cut, None);
                let failure = Failure { retryable: Some(true), ..failure };
                open.pass(Kind::Error(failure), markup, emit)
            }
            Kind::Loose(Loose::End) if open.is_cut => Ok(()),
            // Nothing comes after it.
            Kind::Error(_) => {
                open.finish(markup, emit)?;
                open.leave(markup, emit)?;
                open.pass(event.kind, markup, emit)
            }
            kind => open.pass(kind, markup, emit),
        }
    }

    /// Takes pieces of a text, as [`Self::feed`] takes each of them.
    pub(crate) fn feed_pieces(&mut self, pieces: Pieces, emit: &mut EmitPieces) -> io::Result<()> {
        match self.open {
            None => self.markup.feed_pieces(pieces, emit),
            Some(_) => pieces.events().try_for_each(|event| {
                self.feed(&event, &mut |event: &Event<'_>| emit((*event).into()))
            }),
        }
    }

    /// Ends the message, or the input: what was held back is text.
    pub(crate) fn finish(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let Dressing { markup, open, .. } = self;
        match open {
            None => markup.finish(emit),
            Some(open) => {
                open.finish(markup, emit)?;
                open.leave(markup, emit)
            }
        }
    }

    /// Bytes are missing before the end of the input: that the model stopped is not known.
    pub(crate) fn cut(&mut self) {
        self.may_be_cut = true;
        self.markup.cut();
    }

    /// True if the messages that come are plain text, and not a provider's.
    #[cfg(feature = "cli")]
    pub(crate) fn is_plain(&self) -> bool {
        self.markup.is_plain()
    }

    /// Sets whether the messages that come are plain text.
    pub(crate) fn set_plain(&mut self, is_plain: bool) {
        self.markup.set_plain(is_plain);
    }
}

impl OpenDressing {
    fn new(from: From, sent: Arc<[String]>, echo: Echo) -> OpenDressing {
        let (machine, sent) = (DressingMachine::new(from), Sent::new(sent));
        OpenDressing { machine, sent, echo, leftovers: Leftovers::default(), is_cut: false }
    }

    fn feed(&mut self, text: &str, markup: &mut Markup, emit: &mut Emit<'_>) -> io::Result<()> {
        let OpenDressing { machine, sent, echo, leftovers, .. } = self;
        let mut inner = InnerLayers { markup, sent, echo, leftovers, emit };
        machine.feed(text, &mut |part| inner.take(part))
    }

    /// Ends the text; returns what its end says.
    fn finish(&mut self, markup: &mut Markup, emit: &mut Emit<'_>) -> io::Result<TextEnd> {
        let OpenDressing { machine, sent, echo, leftovers, .. } = self;
        let mut inner = InnerLayers { markup, sent, echo, leftovers, emit };
        let mut machine = std::mem::replace(machine, DressingMachine::new(From::None));
        let mut end = machine.finish(&mut |part| inner.take(part))?;
        inner.answer("", true)?;
        if inner.end_echo()? {
            end.cut = Some("a prompt was printed again, and no answer came after it");
        }
        if let Some((counts, raw)) = end.usage() {
            inner.pass(Kind::Usage(Usage { raw: &raw, ..counts }))?;
        }
        Ok(end)
    }

    fn pass(&mut self, kind: Kind<'_>, markup: &mut Markup, emit: &mut Emit<'_>) -> io::Result<()> {
        let OpenDressing { sent, echo, leftovers, .. } = self;
        InnerLayers { markup, sent, echo, leftovers, emit }.pass(kind)
    }

    /// Ends the layer of dialects: nothing more comes.
    fn leave(&mut self, markup: &mut Markup, emit: &mut Emit<'_>) -> io::Result<()> {
        let leftovers = &mut self.leftovers;
        markup.finish(&mut |event| leftovers.feed(event, emit))?;
        leftovers.finish(emit)
    }
}

/// The layers inside: dialects, and what they leave of a program. Before them, prompts that were
/// printed again are taken off.
struct InnerLayers<'l, 'e> {
    markup: &'l mut Markup,
    sent: &'l mut Sent,
    echo: &'l mut Echo,
    leftovers: &'l mut Leftovers,
    emit: &'l mut Emit<'e>,
}

impl InnerLayers<'_, '_> {
    fn pass(&mut self, kind: Kind<'_>) -> io::Result<()> {
        let InnerLayers { markup, leftovers, emit, .. } = self;
        markup.feed(&kind.into(), &mut |event| leftovers.feed(event, emit))
    }

    fn take(&mut self, part: DressedPart<'_>) -> io::Result<()> {
        match part {
            DressedPart::Text(text) => self.answer(text, false),
            DressedPart::Thought(text) => {
                self.echo.skip();
                self.pass(Kind::Reasoning(Reasoning::new(text)))
            }
            DressedPart::Draft => {
                let message = "a call in a thought that goes on after it was not made";
                self.warn(WarningCode::MarkupInReasoning, message)
            }
            DressedPart::Dressing(text) => {
                self.echo.skip();
                let data = Output::Text(text);
                self.pass(Kind::ProviderEvent(ProviderEvent { event: Some("dressing"), data }))
            }
            DressedPart::Prompt(text) => self.prompt(text),
        }
    }

    /// Takes a piece of the answer, before which a prompt may stand.
    fn answer(&mut self, text: &str, ended: bool) -> io::Result<()> {
        let mut text = Cow::Borrowed(text);
        if !self.sent.is_over() {
            let (prompts, rest) = self.sent.feed(&text, ended);
            prompts.iter().try_for_each(|prompt| self.echoed(prompt))?;
            let Some(rest) = rest else { return Ok(()) };
            text = Cow::Owned(rest);
        }
        if text.is_empty() {
            return Ok(());
        }
        match self.echo.feed(&text) {
            HeardText::Kept => Ok(()),
            HeardText::Answer(text) => self.pass(Kind::Text(Text::new(&text))),
            HeardText::Text(text) => self.unread(&text),
        }
    }

    fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.pass(Kind::Prompt(Prompt { text, ..Prompt::default() }))
    }

    /// Passes text on in which no markup counts.
    fn unread(&mut self, text: &str) -> io::Result<()> {
        self.leftovers.feed(&Kind::Text(Text::new(text)).into(), self.emit)
    }

    /// Takes what was kept as a prompt; returns true if the text ended in that.
    fn end_echo(&mut self) -> io::Result<bool> {
        match self.echo.finish() {
            None => {}
            Some(KeptText::Unknown(text)) => self.pass(Kind::Text(Text::new(&text)))?,
            Some(KeptText::Text(text)) => self.unread(&text)?,
            Some(KeptText::Prompt(prompt)) => {
                self.echoed(&prompt)?;
                return Ok(true);
            }
            Some(KeptText::Answer { prompt, answer }) => {
                self.echoed(&prompt)?;
                self.pass(Kind::Text(Text::new(&answer)))?;
            }
        }
        Ok(false)
    }

    fn echoed(&mut self, prompt: &str) -> io::Result<()> {
        let length = prompt.len();
        let message =
            format!("the {length} bytes before the answer are the prompt, which was printed again");
        self.warn(WarningCode::EchoedPrompt, &message)?;
        self.prompt(prompt)
    }

    fn warn(&mut self, code: WarningCode, message: &str) -> io::Result<()> {
        self.pass(Kind::Warning(Warning::new(code, message)))
    }
}

impl TextEnd {
    /// Returns why the model stopped: what the program says, or else what was inferred.
    fn finish<'f>(&'f self, finish: Finish<'f>) -> Finish<'f> {
        match &self.reason {
            Some(raw) => {
                Finish { finish_reason: normalise(raw), raw: Some(raw), inferred: false, ..finish }
            }
            None if self.is_stop => {
                Finish { finish_reason: FinishReason::Stop, inferred: false, ..finish }
            }
            None => finish,
        }
    }

    /// Returns the tokens that the program counted, and their JSON.
    fn usage(&self) -> Option<(Usage<'static>, String)> {
        let [input_tokens, output_tokens, total_tokens] = self.counts;
        let raw = object_of!(
            line;
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "total_tokens": total_tokens,
        );
        let total_tokens = total_tokens.or(input_tokens.zip(output_tokens).map(|(a, b)| a + b));
        let usage = Usage { input_tokens, output_tokens, total_tokens, ..Usage::default() };
        self.counts.iter().any(Option::is_some).then_some((usage, raw))
    }
}
