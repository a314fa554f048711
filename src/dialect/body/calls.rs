//! The calls of a text: the one that is open, its markup, and its arguments on
//! their way to JSON.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use crate::dialect::body::elements::Elements;
use crate::event::{Arguments, CallEnd, CallPart, Key, Kind, Reason, Warning};
use crate::json;
use crate::scan::Captures;
use crate::tools::Tools;

use crate::dialect::body::values::Value;

/// How much of a call's text may be markup around its arguments, in bytes.
const MAX_MARKUP: usize = 64 << 10;

/// Takes the events of a dialect.
pub(crate) type Emit<'s> = dyn FnMut(Kind<'_>) -> io::Result<()> + 's;

/// An alias until all of the machine says `Emit`.
pub(crate) type Say<'s> = Emit<'s>;

/// The calls of one text.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) tools: Option<Arc<Tools>>,
    pub(crate) source: &'static str,
    /// How many have been begun.
    pub(crate) count: u64,
    /// The name and id that the opener has.
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
    /// The open call's text as the model wrote it, markup and all, up to
    /// `max_raw` bytes, if that isn't 0; and whether there was more.
    pub(crate) raw: String,
    pub(crate) max_raw: usize,
    pub(crate) is_over: bool,
    pub(crate) open: Option<OpenCall>,
    /// Whether the markup that is open has given a call.
    pub(crate) has_closed: bool,
}

#[derive(Default)]
pub(crate) struct OpenCall {
    pub(crate) key: Key,
    pub(crate) name: Option<String>,
    /// Why it can't be run.
    pub(crate) fault: Option<Reason>,
    /// The keys of its arguments so far.
    pub(crate) keys: HashSet<String>,
    /// The values that are open, the outermost first.
    pub(crate) values: Vec<Value>,
    /// The arguments that are elements, whole.
    pub(crate) elements: Elements,
}

impl Calls {
    /// Calls whose arguments may be of so many bytes; 0 is no limit.
    pub(crate) fn new(tools: Option<Arc<Tools>>, max_args: usize) -> Self {
        let max_raw = if max_args == 0 { 0 } else { max_args.saturating_add(MAX_MARKUP) };
        Calls { tools, max_raw, ..Calls::default() }
    }

    /// Adds to the open call's text what there is room for.
    pub(crate) fn push_raw(&mut self, text: &str) {
        let room = match self.max_raw {
            0 => text.len(),
            max => max.saturating_sub(self.raw.len()),
        };
        self.is_over |= text.len() > room;
        self.raw.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    /// Whether the open call is too large: no more of it is kept.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Lets something be said of the open call that leaves its text as it is.
    pub(crate) fn aside(
        &mut self,
        said: impl FnOnce(&mut Calls) -> io::Result<()>,
    ) -> io::Result<()> {
        let raw = std::mem::take(&mut self.raw);
        said(self)?;
        self.raw = raw;
        Ok(())
    }

    /// The opener of a call, or of several, has been read.
    pub(crate) fn open_markup(
        &mut self,
        source: &'static str,
        marker: &str,
        words: &Captures,
        name: &str,
    ) {
        self.source = source;
        self.name =
            words.get("name").or(Some(name)).filter(|name| !name.is_empty()).map(str::to_owned);
        self.id = words.get("id").map(str::to_owned);
        self.raw.clear();
        self.is_over = false;
        self.push_raw(marker);
        self.has_closed = false;
    }

    /// A call begins, if none is open.
    pub(crate) fn begin(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.open.is_some() {
            return Ok(());
        }
        let key = Key::Text(self.count);
        self.count += 1;
        self.single_out(emit)?;
        let (name, id, source) = (self.name.as_deref(), self.id.as_deref(), Some(self.source));
        emit(Kind::CallPart(CallPart { key, name, id, source, ..CallPart::default() }))?;
        let name = self.name.clone();
        self.open = Some(OpenCall { key, name, ..OpenCall::default() });
        Ok(())
    }

    /// A name that is written twice with a dot, as its own namespace, means the
    /// tool, where `--tools` defines only that.
    fn single_out(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        let (Some(name), Some(tools)) = (&self.name, &self.tools) else { return Ok(()) };
        let half = name.get(..name.len() / 2).unwrap_or_default();
        let is_doubled = name.strip_prefix(half).and_then(|rest| rest.strip_prefix('.'));
        if is_doubled != Some(half) || tools.has(name) || !tools.has(half) {
            return Ok(());
        }
        let message = format!("{} was read as {}", json::quote(name), json::quote(half));
        self.name = Some(half.to_owned());
        warn("doubled_name", &message, emit)
    }

    /// How many have been begun.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The tool's name, once it's known.
    pub(crate) fn name(&self) -> Option<&str> {
        self.open.as_ref().and_then(|call| call.name.as_deref())
    }

    /// The body has the name, or the id.
    pub(crate) fn report(
        &mut self,
        name: Option<&str>,
        id: Option<&str>,
        emit: &mut Emit<'_>,
    ) -> io::Result<()> {
        let Some(call) = &mut self.open else { return Ok(()) };
        if let Some(name) = name {
            call.name = Some(name.to_owned());
        }
        emit(Kind::CallPart(CallPart { key: call.key, name, id, ..CallPart::default() }))
    }

    pub(crate) fn arguments(&self, arguments: Arguments<'_>, emit: &mut Emit<'_>) -> io::Result<()> {
        match &self.open {
            Some(call) => {
                emit(Kind::CallPart(CallPart { key: call.key, arguments, ..CallPart::default() }))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn fragment(&self, text: &str, emit: &mut Emit<'_>) -> io::Result<()> {
        self.arguments(Arguments::Fragment(text), emit)
    }

    /// The open call can't be run.
    pub(crate) fn fault(&mut self, reason: Reason, emit: &mut Emit<'_>) -> io::Result<()> {
        self.begin(emit)?;
        if let Some(call) = &mut self.open {
            call.fault.get_or_insert(reason);
        }
        Ok(())
    }

    /// The open call is closed, if there is one.
    pub(crate) fn close(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        while self.has_value() {
            self.close_value(emit)?;
        }
        let Some(call) = &self.open else { return Ok(()) };
        if call.fault.is_none() && !call.keys.is_empty() {
            self.fragment("}", emit)?;
        }
        if !call.elements.is_empty() {
            self.arguments(Arguments::Value(&call.elements.object()), emit)?;
        }
        let Some(call) = self.open.take() else { return Ok(()) };
        self.has_closed = true;
        let raw = std::mem::take(&mut self.raw);
        let too_large = std::mem::take(&mut self.is_over).then_some(Reason::TooLarge);
        let fault = too_large.or(call.fault).map(|reason| (reason, raw.as_str()));
        emit(Kind::CallEnd(CallEnd { key: call.key, fault }))
    }

    /// The text ended inside the markup of a call; if no call had come of it,
    /// what is there is one that can't be run.
    pub(crate) fn cut(&mut self, emit: &mut Emit<'_>) -> io::Result<()> {
        if self.has_closed() {
            return Ok(());
        }
        self.begin(emit)?;
        let Some(call) = self.open.take() else { return Ok(()) };
        let reason = if self.is_over { Reason::TooLarge } else { Reason::Truncated };
        let fault = Some((reason, self.raw.as_str()));
        emit(Kind::CallEnd(CallEnd { key: call.key, fault }))
    }

    /// Whether a call has come of the markup, and is closed.
    pub(crate) fn has_closed(&self) -> bool {
        self.open.is_none() && self.has_closed
    }

    /// Whether the open call can't be run.
    pub(crate) fn is_faulty(&self) -> bool {
        self.open.as_ref().is_some_and(|call| call.fault.is_some())
    }
}

pub(crate) fn warn(code: &str, message: &str, emit: &mut Emit<'_>) -> io::Result<()> {
    emit(Kind::Warning(Warning { code, message, offset: None, index: None }))
}
