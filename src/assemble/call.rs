//! One call: what has come of it, and whether it is safe to run.

use std::borrow::Cow;
use std::io;

use crate::assemble::{AssemblerConfig, Out};
use crate::event::{
    Arguments, CallPart, Executor, InvalidToolCall, Kind, Reason, ToolCall, ToolCallDelta,
    ToolCallStart,
};
use crate::json;
use crate::json::{Minifier, Scanner, Status};

pub(super) struct Call {
    pub(super) index: u64,
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The arguments as they came.
    arguments: String,
    /// Their first byte that is no white space.
    first: Option<u8>,
    /// What they are if none came.
    placeholder: Option<String>,
    scanner: Scanner,
    minifier: Minifier,
    /// A reason not to run it that its arguments don't show.
    pub(super) fault: Option<Reason>,
    is_free: bool,
    executor: Option<Executor>,
    signature: Option<String>,
    source: Option<String>,
    /// Whether its start has been printed, and how much of its arguments.
    started: bool,
    printed: usize,
}

impl Call {
    pub(super) fn new(index: u64, max_depth: usize) -> Self {
        Call {
            index,
            id: None,
            name: String::new(),
            arguments: String::new(),
            first: None,
            placeholder: None,
            scanner: Scanner::new(max_depth),
            minifier: Minifier::default(),
            fault: None,
            is_free: false,
            executor: None,
            signature: None,
            source: None,
            started: false,
            printed: 0,
        }
    }

    /// Whether the arguments so far are one whole JSON value.
    pub(super) fn is_whole(&self) -> bool {
        self.scanner.status() == Status::Whole
    }

    pub(super) fn has_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Whether it may still be given back as the text that it was read from.
    pub(super) fn may_be_text(&self, options: &AssemblerConfig) -> bool {
        options.malformed_as_text && self.source.is_some() && !self.started
    }

    /// Whether a fragment takes back what came before it.
    pub(super) fn is_corrected_by(&self, part: &CallPart<'_>) -> bool {
        let is_same = |whole: &str| {
            self.arguments == whole || json::minify(&self.arguments) == json::minify(whole)
        };
        matches!(part.arguments, Arguments::Done(whole) if self.has_arguments() && !is_same(whole))
    }

    /// Adds a fragment, and prints what it adds if `deltas` are wanted.
    pub(super) fn feed(&mut self, part: &CallPart<'_>, out: &mut Out<'_, '_>) -> io::Result<()> {
        if let (None, Some(id)) = (&self.id, part.id) {
            self.id = Some(id.to_owned());
        }
        if let Some(name) = part.name {
            self.add_name(name, out)?;
        }
        self.executor = self.executor.or(part.executor);
        if let Some(signature) = part.signature {
            self.signature = Some(signature.to_owned());
        }
        if let Some(source) = part.source {
            self.source = Some(source.to_owned());
        }
        self.add_arguments(part.arguments, out.options);
        if out.options.deltas && self.may_stream() { self.print_delta(out) } else { Ok(()) }
    }

    /// A name may be repeated on each fragment, grow, or come in pieces; once
    /// there are arguments it's complete, and another one contradicts it.
    fn add_name(&mut self, name: &str, out: &mut Out<'_, '_>) -> io::Result<()> {
        if name.is_empty() || self.name == name {
            return Ok(());
        }
        if self.name.is_empty() {
            self.name.push_str(name);
            return Ok(());
        }
        if self.has_arguments() {
            self.fault.get_or_insert(Reason::Conflict);
            return Ok(());
        }
        if name.starts_with(&self.name) {
            self.name.clear();
        }
        self.name.push_str(name);
        out.warn("joined_name", "the name of a call came in pieces", Some(self.index))
    }

    fn add_arguments(&mut self, arguments: Arguments<'_>, options: &AssemblerConfig) {
        match arguments {
            Arguments::None => {}
            Arguments::Fragment(text) => self.append(text, options),
            Arguments::Repaired(text) => {
                self.append(text, options);
                self.fault.get_or_insert(Reason::Malformed);
            }
            Arguments::Value(json) if self.has_arguments() && self.arguments != json => {
                self.fault = Some(Reason::Conflict);
                self.append(json, options);
            }
            Arguments::Value(json) | Arguments::Done(json) => {
                if self.arguments != json {
                    self.arguments.clear();
                    self.first = None;
                    self.scanner = Scanner::new(options.max_depth);
                    self.append(json, options);
                }
            }
            Arguments::Placeholder(json) => self.placeholder = Some(json.to_owned()),
            Arguments::Free(text) => {
                self.is_free = true;
                self.append(text, options);
            }
        }
    }

    fn append(&mut self, text: &str, options: &AssemblerConfig) {
        if self.fault == Some(Reason::TooLarge) {
            return;
        }
        let room = options.max_args.saturating_sub(self.arguments.len());
        let is_over = options.max_args != 0 && text.len() > room;
        let end = if is_over { text.floor_char_boundary(room) } else { text.len() };
        let text = text.get(..end).unwrap_or_default();
        self.fault = is_over.then_some(Reason::TooLarge).or(self.fault);
        self.first = self.first.or_else(|| text.trim_ascii_start().bytes().next());
        self.scanner.push_all(text.as_bytes());
        self.arguments.push_str(text);
    }

    /// Arguments that are a string, which may hold an object, wait for the end.
    fn may_stream(&self) -> bool {
        !self.name.is_empty() && !self.is_free && self.first == Some(b'{')
    }

    fn print_delta(&mut self, out: &mut Out<'_, '_>) -> io::Result<()> {
        self.print_start(out)?;
        let mut text = String::new();
        self.minifier.feed(self.arguments.get(self.printed..).unwrap_or_default(), &mut text);
        self.printed = self.arguments.len();
        self.delta(&text, out)
    }

    fn print_start(&mut self, out: &mut Out<'_, '_>) -> io::Result<()> {
        if std::mem::replace(&mut self.started, true) {
            return Ok(());
        }
        let start = ToolCallStart { index: self.index, id: &self.id(), name: &self.name };
        out.emit(Kind::ToolCallStart(start))
    }

    fn delta(&self, arguments: &str, out: &mut Out<'_, '_>) -> io::Result<()> {
        if arguments.is_empty() {
            return Ok(());
        }
        out.emit(Kind::ToolCallDelta(ToolCallDelta { index: self.index, arguments }))
    }

    fn id(&self) -> Cow<'_, str> {
        match &self.id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(format!("call_{}", self.index)),
        }
    }

    /// Ends the call: prints it, if it's safe to run, or why it isn't. Tells
    /// whether the caller has to run it.
    pub(super) fn close(mut self, out: &mut Out<'_, '_>) -> io::Result<bool> {
        if self.fault.is_none()
            && self.scanner.status() == Status::Empty
            && let Some(placeholder) = self.placeholder.take()
        {
            self.add_arguments(Arguments::Done(&placeholder), out.options);
        }
        let verdict = match self.fault {
            Some(reason) => Err(reason),
            None => self.judge(out)?,
        };
        match verdict {
            Ok(arguments) => {
                if out.options.deltas {
                    self.print_start(out)?;
                    if self.printed == 0 {
                        self.delta(&arguments, out)?;
                    }
                }
                let call = ToolCall {
                    index: self.index,
                    id: &self.id(),
                    name: &self.name,
                    arguments: &arguments,
                    source: self.source.as_deref(),
                    executor: self.executor,
                    signature: self.signature.as_deref(),
                };
                out.emit(Kind::ToolCall(call))?;
                Ok(self.executor.is_none())
            }
            Err(reason) => self.reject(reason, None, out).map(|()| false),
        }
    }

    /// Ends the call as one that must not be run.
    pub(super) fn reject(
        &self,
        reason: Reason,
        raw: Option<&str>,
        out: &mut Out<'_, '_>,
    ) -> io::Result<()> {
        let call = InvalidToolCall {
            index: self.index,
            id: self.id.as_deref(),
            name: Some(self.name.as_str()).filter(|name| !name.is_empty()),
            arguments_raw: raw.unwrap_or(&self.arguments),
            reason,
            source: self.source.as_deref(),
        };
        out.emit(Kind::InvalidToolCall(call))
    }

    /// The arguments as they are to be printed, or the reason not to.
    fn judge(&self, out: &mut Out<'_, '_>) -> io::Result<Result<String, Reason>> {
        if self.name.trim_ascii().is_empty() {
            return Ok(Err(Reason::NoName));
        }
        if out.options.tools.as_ref().is_some_and(|tools| !tools.has(&self.name))
            && self.executor.is_none()
        {
            if self.source.is_none() {
                return Ok(Err(Reason::UnknownTool));
            }
            // In text, definitions are there for their types; they may not be all.
            let message = "the tool is none of those that --tools defines";
            out.warn("unknown_tool", message, Some(self.index))?;
        }
        let (arguments, note) = match self.object(out.options.max_depth) {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Some((code, message)) = note {
            out.warn(code, message, Some(self.index))?;
        }
        self.disambiguate(arguments, out).map(Ok)
    }

    /// Warns of what readers of the arguments disagree about, and drops all but the
    /// last member of one name.
    fn disambiguate(&self, arguments: String, out: &mut Out<'_, '_>) -> io::Result<String> {
        let found = json::ambiguities(&arguments);
        for (code, message, is_there) in [
            ("lone_surrogate", "a string holds one half of a surrogate pair", found.lone_surrogate),
            ("inexact_number", "a double doesn't hold one of the numbers", found.inexact_number),
            ("duplicate_key", "a key comes twice: the last one counts", found.duplicate_key),
        ] {
            if is_there {
                out.warn(code, message, Some(self.index))?;
            }
        }
        Ok(if found.duplicate_key { json::without_doubles(&arguments) } else { arguments })
    }

    /// The object that the arguments are, with what had to be done to get it.
    #[allow(clippy::type_complexity)]
    fn object(
        &self,
        max_depth: usize,
    ) -> Result<(String, Option<(&'static str, &'static str)>), Reason> {
        if self.is_free {
            return Err(Reason::NotObject);
        }
        let text = self.arguments.trim_ascii();
        match self.scanner.status() {
            Status::Whole => {}
            Status::Empty => return Ok(("{}".into(), None)),
            Status::Open => return Err(Reason::Truncated),
            Status::Bad | Status::TooDeep => return Err(Reason::Malformed),
        }
        match text.as_bytes().first() {
            Some(b'{') => Ok((json::minify(text), None)),
            Some(b'n') => {
                Ok(("{}".into(), Some(("null_arguments", "arguments of `null` were read as {}"))))
            }
            Some(b'"') => {
                let inner: json::Str<'_> =
                    serde_json::from_str(text).map_err(|_| Reason::Malformed)?;
                if !inner.is_plain() || !is_object(inner.as_str(), max_depth) {
                    return Err(Reason::NotObject);
                }
                let note =
                    ("double_encoded", "the arguments were a JSON string that holds the object");
                Ok((json::minify(inner.as_str()), Some(note)))
            }
            _ => Err(Reason::NotObject),
        }
    }
}

fn is_object(text: &str, max_depth: usize) -> bool {
    let mut scanner = Scanner::new(max_depth);
    scanner.push_all(text.as_bytes());
    scanner.status() == Status::Whole && text.trim_ascii_start().starts_with('{')
}
