//! One call: what has come of it, its id, and whether it is safe to run.

use std::borrow::Cow;
use std::{io, mem};

use crate::assemble::call_ids::CallIds;
use crate::assemble::context::{AssemblerConfig, ChoiceOut, Inference, MAX_KEPT};
use crate::assemble::waiting::Waiting;
use crate::cut::Cut as _;
use crate::event::{
    Arguments, CallInput, CallPart, Done, Executor, InvalidToolCall, Key, Kind, Reason, ToolCall,
    ToolCallDelta, ToolCallStart, WarningCode, Withdrawn, is_blank,
};
use crate::json::{self, JsonStatus, Minifier, Scanner};

const JOINED_NAME: Inference = (WarningCode::JoinedName, "the name of a call came in pieces");
const UNKNOWN_TOOL: Inference =
    (WarningCode::UnknownTool, "the tool is none of those that --tools defines");
const NULL_ARGUMENTS: Inference =
    (WarningCode::NullArguments, "arguments of `null` were read as {}");
const DOUBLE_ENCODED: Inference =
    (WarningCode::DoubleEncoded, "the arguments were a JSON string that holds the object");
const LONE_SURROGATE: Inference =
    (WarningCode::LoneSurrogate, "a string holds one half of a surrogate pair");
const INEXACT_NUMBER: Inference =
    (WarningCode::InexactNumber, "a double doesn't hold one of the numbers");
const DUPLICATE_KEY: Inference =
    (WarningCode::DuplicateKey, "a key comes twice: the last one counts");
const TOO_DEEP: Inference =
    (WarningCode::TooDeep, "the arguments are nested deeper than --max-depth");
const OTHER_ARGUMENTS: Inference = (
    WarningCode::ArgumentsMismatch,
    "the arguments at the start of a call were not those of its fragments",
);
const CUMULATIVE_ARGUMENTS: Inference = (
    WarningCode::CumulativeArguments,
    "each fragment repeated the arguments from their beginning: they were taken once",
);
const REUSED_ID: Inference = (
    WarningCode::ReusedId,
    "the id of a call had been made up for another one: it was given its own",
);

/// The bytes that most arguments fit into.
const USUAL: usize = 256;

#[derive(Default)]
pub(super) struct AssembledCall {
    pub(super) index: u64,
    /// The key of its first fragment that has one.
    pub(super) key: Key,
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The arguments as they came.
    arguments: String,
    /// Their first byte that is no white space.
    first: Option<u8>,
    /// The place where the last fragment begins.
    last: usize,
    /// The number of fragments, as long as each of them is the one before it with more.
    repeats: usize,
    /// True if a fragment was not that.
    is_in_pieces: bool,
    /// The arguments if none came.
    placeholder: Option<String>,
    /// What may be the arguments if none came, so that the call must not run.
    misnamed: Option<String>,
    scanner: Scanner,
    minifier: Minifier,
    /// The reason not to run it, if its arguments don't show it.
    fault: Option<Reason>,
    is_free: bool,
    executor: Option<Executor>,
    /// True if its end says who runs it.
    is_undecided: bool,
    /// True if it is whole, and ends with its result or when it is released.
    pub(super) is_held: bool,
    /// True if its result came before its end.
    pub(super) is_answered: bool,
    /// True if it was the model that ended it: nothing is missing that was cut.
    is_ended_by_model: bool,
    /// True if the message took it back.
    is_withdrawn: bool,
    signature: Option<String>,
    namespace: Option<String>,
    /// The dialect, if it was found in text.
    source: String,
    has_source: bool,
    kind: Option<String>,
    item_id: Option<String>,
    /// True once its start has been emitted; then so much of its arguments has.
    started: bool,
    emitted: usize,
}

impl AssembledCall {
    /// Begins anew, as the call of this index; keeps buffers.
    pub(super) fn begin(&mut self, index: u64, max_depth: usize) {
        let (mut name, source) = (mem::take(&mut self.name), mem::take(&mut self.source));
        let mut arguments = mem::take(&mut self.arguments);
        name.clear();
        arguments.clear();
        arguments.shrink_to(MAX_KEPT);
        let scanner = Scanner::new(max_depth);
        *self =
            AssembledCall { index, name, arguments, source, scanner, ..AssembledCall::default() };
    }

    /// True if the arguments so far are one whole JSON value.
    pub(super) fn is_whole(&self) -> bool {
        self.scanner.status() == JsonStatus::Whole
    }

    /// True if it could be run as it is, were it closed now.
    pub(super) fn is_complete(&self) -> bool {
        if self.is_free { self.has_arguments() } else { self.is_whole() }
    }

    /// True if the arguments can't show whether they are whole.
    pub(super) fn is_of_any_length(&self) -> bool {
        self.is_free || !self.has_arguments()
    }

    fn source(&self) -> Option<&str> {
        self.has_source.then_some(&*self.source)
    }

    fn has_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// True if it has arguments and no name: they may be those of another call. In text, they are
    /// not.
    pub(super) fn is_stray(&self) -> bool {
        self.name.is_empty() && self.has_arguments() && !self.has_source
    }

    /// True if it has arguments that are no whole JSON value.
    pub(super) fn is_broken(&self) -> bool {
        !self.is_free && !matches!(self.scanner.status(), JsonStatus::Whole | JsonStatus::Empty)
    }

    /// True if its arguments so far are a whole object.
    pub(super) fn is_object(&self) -> bool {
        self.is_whole() && self.first == Some(b'{')
    }

    /// True if nothing has come for its arguments, or no more than a placeholder.
    pub(super) fn is_bare(&self) -> bool {
        self.scanner.status() == JsonStatus::Empty
            && self.placeholder.as_deref().is_none_or(is_empty_object)
    }

    /// True if its arguments do not show whether they were cut: there are none, or they may go on.
    pub(super) fn is_unsure(&self) -> bool {
        !self.is_free && (self.is_bare() || self.scanner.status() == JsonStatus::Open)
    }

    /// True if its fragments do not repeat its arguments from their beginning.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.is_in_pieces
    }

    /// True if its input is free text.
    pub(super) fn is_free(&self) -> bool {
        self.is_free
    }

    /// True if it may still be given back as the text that it was read from.
    pub(super) fn may_be_text(&self, config: &AssemblerConfig) -> bool {
        config.malformed_as_text && self.has_source && !self.started
    }

    /// Its end never came.
    pub(super) fn cut(&mut self) {
        self.fault.get_or_insert(Reason::Truncated);
    }

    /// The model ended it: arguments that are not whole are a fault of the model's.
    pub(super) fn end_by_model(&mut self) {
        self.is_ended_by_model = true;
    }

    /// True if it is one of those that are taken back.
    pub(super) fn is_of(&self, which: Withdrawn<'_>) -> bool {
        which.is_of(self.id.as_deref(), self.source().is_some())
    }

    /// The message takes it back, if it is the caller's to run.
    pub(super) fn withdraw(&mut self) {
        self.is_withdrawn = true;
    }

    /// True if the message took it back, and it has no fault of its own.
    fn is_taken_back(&self) -> bool {
        let is_ours = self.is_withdrawn && self.executor.is_none();
        is_ours && !self.is_broken() && matches!(self.fault, None | Some(Reason::Truncated))
    }

    /// A fragment comes when it was taken for whole: if it says anything else, the call has two
    /// meanings.
    pub(super) fn contradict(&mut self, late: Arguments<'_>) {
        let is_repeated = match late {
            Arguments::Fragment(text) | Arguments::Free(text) => {
                text.trim_ascii().is_empty() || !self.differs_from(text)
            }
            Arguments::Value(json) | Arguments::Done(json) => !self.differs_from(json),
            _ => is_nothing(late),
        };
        if !is_repeated {
            self.fault.get_or_insert(Reason::Conflict);
        }
    }

    /// Bytes that could not be read may have been a part of it.
    pub(super) fn taint(&mut self) {
        self.fault = Some(Reason::Malformed);
    }

    /// True if a text is a piece of the arguments, and not all of them once more.
    fn lacks_piece(&self, json: &str) -> bool {
        let text = json::text(json);
        self.has_arguments()
            && !self.is_whole()
            && !text.as_str().starts_with(&self.arguments)
            && !is_object(text.as_str(), 0)
    }

    /// It may not run unless arguments come.
    pub(super) fn need_arguments(&mut self) {
        self.misnamed = Some(String::new());
    }

    /// True if a fragment contradicts what came before it.
    pub(super) fn is_corrected_by(&self, part: &CallPart<'_>) -> bool {
        matches!(part.arguments, Arguments::Done(whole) if self.differs_from(whole))
    }

    /// True if there are arguments, and others than these.
    fn differs_from(&self, json: &str) -> bool {
        self.has_arguments()
            && self.arguments != json
            && json::minify(&self.arguments) != json::minify(json)
            && json::spelled(&self.arguments) != json::spelled(json)
    }

    /// Adds a fragment, and emits what it adds if deltas are wanted.
    pub(super) fn feed(
        &mut self,
        part: &CallPart<'_>,
        ids: &CallIds,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        if let (None, Some(id)) = (&self.id, part.id) {
            self.id = Some(id.to_owned());
        }
        if let Some(name) = part.name {
            self.add_name(name, part.has_name_pieces, out)?;
        }
        self.add_executor(part.executor);
        self.is_undecided |= part.is_undecided;
        if let Some(source) = part.source {
            source.clone_into(&mut self.source);
            self.has_source = true;
        }
        for (known, text) in [
            (&mut self.signature, part.signature),
            (&mut self.kind, part.kind),
            (&mut self.item_id, part.item_id),
            (&mut self.namespace, part.namespace),
        ] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                text.clone_into(known.get_or_insert_default());
            }
        }
        self.add_arguments(part.arguments, out.config());
        // A fragment that may be all of it once more is no piece of it.
        let is_held = self.repeats > 1 && !self.is_in_pieces;
        let may_stream = out.config().deltas && self.may_stream() && !is_held;
        if may_stream { self.emit_delta(ids, out) } else { Ok(()) }
    }

    /// Returns who runs it, if not the caller.
    pub(super) fn executor(&self) -> Option<Executor> {
        self.executor
    }

    /// Takes the executor, if it is not the caller.
    pub(super) fn add_executor(&mut self, executor: Option<Executor>) {
        self.executor = self.executor.or(executor);
    }

    /// A name may be repeated on each fragment; where the format sends it in pieces, it may
    /// grow until there are arguments. Any other name contradicts it.
    fn add_name(&mut self, name: &str, is_piece: bool, out: &mut ChoiceOut<'_, '_>) -> Done {
        if name.is_empty() || self.name == name {
            return Ok(());
        }
        if self.name.is_empty() {
            self.name.push_str(name);
            return Ok(());
        }
        if !is_piece || self.has_arguments() {
            self.fault.get_or_insert(Reason::Conflict);
            return Ok(());
        }
        if name.starts_with(&self.name) {
            self.name.clear();
        }
        self.name.push_str(name);
        out.warn(JOINED_NAME, Some(self.index))
    }

    fn add_arguments(&mut self, arguments: Arguments<'_>, config: &AssemblerConfig) {
        match arguments {
            Arguments::None => {}
            Arguments::Fragment(text) => {
                self.note_repeat(text);
                self.append(text, config);
            }
            Arguments::Repaired(text) => {
                self.append(text, config);
                self.fault.get_or_insert(Reason::Malformed);
            }
            // No arguments in place of those that came whole are lost ones.
            Arguments::Done(json)
                if is_empty_object(json)
                    && self.is_whole()
                    && !is_empty_object(&self.arguments) =>
            {
                self.fault.get_or_insert(Reason::Conflict);
            }
            Arguments::Value(json) if self.has_arguments() && self.arguments != json => {
                self.fault = Some(Reason::Conflict);
                self.append(json, config);
            }
            // Another spelling of the same changes nothing.
            Arguments::Value(json) | Arguments::Done(json)
                if !self.has_arguments() || self.differs_from(json) =>
            {
                let emitted = self.arguments.before(self.emitted);
                let goes_on = json.starts_with(emitted);
                self.arguments.clear();
                self.first = None;
                self.scanner = Scanner::new(config.max_depth);
                self.append(json, config);
                if !goes_on {
                    self.emitted = self.arguments.len();
                }
            }
            Arguments::Value(_) | Arguments::Done(_) => {}
            Arguments::Placeholder(json) => self.placeholder = Some(json.to_owned()),
            // What comes then does not go on from the pieces before it.
            Arguments::Misnamed(json) if self.lacks_piece(json) => {
                self.fault.get_or_insert(Reason::Malformed);
            }
            Arguments::Misnamed(json) => self.misnamed = Some(json.to_owned()),
            Arguments::Free(text) => {
                self.is_free = true;
                self.append(text, config);
            }
        }
    }

    /// Notes if a fragment is the one before it with more. In text, fragments are what a read gave.
    fn note_repeat(&mut self, text: &str) {
        self.is_in_pieces |= self.has_source;
        if self.is_in_pieces || text.is_empty() {
            return;
        }
        let last = self.arguments.after(self.last);
        self.is_in_pieces = text.len() <= last.len() || !text.starts_with(last);
        self.repeats += 1;
        self.last = self.arguments.len();
    }

    /// If each fragment repeats the arguments from their beginning, which makes no JSON together,
    /// takes the last one alone.
    pub(super) fn take_once(&mut self, ids: &CallIds, out: &mut ChoiceOut<'_, '_>) -> Done {
        if self.repeats < 2 || self.is_in_pieces || self.is_free || !self.is_broken() {
            return Ok(());
        }
        let last = self.arguments.after(self.last).to_owned();
        if !is_object(&last, out.config().max_depth) {
            return Ok(());
        }
        self.add_arguments(Arguments::Done(&last), out.config());
        out.warn(CUMULATIVE_ARGUMENTS, Some(self.index))?;
        if out.config().deltas && self.may_stream() { self.emit_delta(ids, out) } else { Ok(()) }
    }

    fn append(&mut self, text: &str, config: &AssemblerConfig) {
        if self.fault == Some(Reason::TooLarge) {
            return;
        }
        let room = config.max_args.saturating_sub(self.arguments.len());
        let is_over = config.max_args != 0 && text.len() > room;
        let end = if is_over { text.floor_char_boundary(room) } else { text.len() };
        let text = text.before(end);
        self.fault = is_over.then_some(Reason::TooLarge).or(self.fault);
        self.first = self.first.or_else(|| text.trim_ascii_start().bytes().next());
        self.scanner.push_all(text.as_bytes());
        if self.arguments.capacity() == 0 {
            self.arguments = String::with_capacity(text.len().max(USUAL));
        }
        self.arguments.push_str(text);
    }

    /// True if its text can be emitted as it comes. Arguments that are a string,
    /// which may hold an object, wait for the end.
    fn may_stream(&self) -> bool {
        !self.name.is_empty() && (self.is_free || self.first == Some(b'{'))
    }

    fn emit_delta(&mut self, ids: &CallIds, out: &mut ChoiceOut<'_, '_>) -> Done {
        if !mem::replace(&mut self.started, true) {
            self.emit_start(&ids.get(self.id.as_deref(), self.index), out)?;
        }
        let rest = self.arguments.after(self.emitted);
        let mut text = String::new();
        match self.is_free {
            true => text.push_str(rest),
            false => self.minifier.feed(rest, &mut text),
        }
        self.emitted = self.arguments.len();
        self.delta(&text, out)
    }

    fn emit_start(&self, id: &str, out: &mut ChoiceOut<'_, '_>) -> Done {
        out.emit(Kind::ToolCallStart(ToolCallStart { index: self.index, id, name: &self.name }))
    }

    fn delta(&self, arguments: &str, out: &mut ChoiceOut<'_, '_>) -> Done {
        if arguments.is_empty() {
            return Ok(());
        }
        let (index, is_free) = (self.index, self.is_free);
        let is_bare = self.namespace.is_none();
        let is_ours = self.executor.is_none() && !self.is_undecided && is_bare;
        out.emit(Kind::ToolCallDelta(ToolCallDelta { index, arguments, is_free, is_ours }))
    }

    /// Ends the call: emits it if it's safe to run, or else the reason why it
    /// isn't. One that was emitted is `waiting` for its result.
    pub(super) fn close(
        &mut self,
        ids: &mut CallIds,
        waiting: &mut Waiting,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        if self.placeholder.is_some() || self.misnamed.is_some() {
            self.settle_arguments(out)?;
        }
        // What was held back, as it might have been all of the arguments once more.
        let has_rest = self.emitted > 0 && self.emitted < self.arguments.len();
        if has_rest && out.config().deltas && self.may_stream() {
            self.emit_delta(ids, out)?;
        }
        let input = match self.fault {
            _ if self.is_taken_back() => Err(Reason::Withdrawn),
            Some(reason) => Err(reason),
            None => self.judge(out)?,
        };
        let input = match &input {
            Ok(text) if self.is_free => CallInput::Text(text),
            Ok(json) => CallInput::Arguments(json),
            Err(reason) => return self.reject(*reason, None, out),
        };
        let id = ids.take(self.id.as_deref(), self.index);
        if self.id.as_deref().is_some_and(|sent| sent != id) {
            out.warn(REUSED_ID, Some(self.index))?;
        }
        if out.config().deltas {
            if !self.started {
                self.emit_start(id, out)?;
            }
            if self.emitted == 0 {
                self.delta(input.as_str(), out)?;
            }
        }
        let call = ToolCall {
            index: self.index,
            id,
            is_made_up: self.id.as_deref() != Some(id),
            namespace: self.namespace.as_deref(),
            name: &self.name,
            input,
            source: self.source(),
            executor: self.executor,
            signature: self.signature.as_deref(),
            kind: self.kind.as_deref(),
            item_id: self.item_id.as_deref(),
        };
        if !self.is_answered {
            let is_empty = self.is_bare() || is_empty_object(&self.arguments);
            waiting.add(&call, !self.is_free && is_empty);
        }
        out.emit(Kind::ToolCall(call))
    }

    /// Compares its arguments with the placeholder, or has that in their place if none came.
    #[cold]
    fn settle_arguments(&mut self, out: &mut ChoiceOut<'_, '_>) -> Done {
        let may_settle = self.fault.is_none() || self.is_taken_back();
        if let Some(given) = self.placeholder.take().filter(|_| may_settle) {
            if self.scanner.status() == JsonStatus::Empty {
                self.add_arguments(Arguments::Done(&given), out.config());
            } else if !is_empty_object(&given) && self.differs_from(&given) {
                out.warn(OTHER_ARGUMENTS, Some(self.index))?;
            }
        }
        if let Some(json) = self.misnamed.take().filter(|_| !self.has_arguments()) {
            self.append(&json, out.config());
            self.fault.get_or_insert(Reason::Malformed);
        }
        Ok(())
    }

    /// Ends the call as one that must not be run; `raw` is its text, if that is
    /// more than its arguments.
    #[cold]
    pub(super) fn reject(
        &self,
        reason: Reason,
        raw: Option<&str>,
        out: &mut ChoiceOut<'_, '_>,
    ) -> Done {
        let call = InvalidToolCall {
            index: self.index,
            id: self.id.as_deref(),
            name: Some(self.name.as_str()).filter(|name| !name.is_empty()),
            arguments_raw: raw.unwrap_or(&self.arguments),
            reason,
            source: self.source(),
        };
        out.emit(Kind::InvalidToolCall(call))
    }

    /// Returns the input as it is to be emitted, or the reason not to.
    fn judge(&self, out: &mut ChoiceOut<'_, '_>) -> io::Result<Result<Cow<'_, str>, Reason>> {
        if is_blank(&self.name) {
            return Ok(Err(Reason::NoName));
        }
        if out.is_unknown_tool(self.namespace.as_deref(), &self.name) && self.executor.is_none() {
            if !self.has_source {
                return Ok(Err(Reason::UnknownTool));
            }
            // In text, definitions are there for their types; they may not be all.
            out.warn(UNKNOWN_TOOL, Some(self.index))?;
        }
        if self.is_free {
            // A tool that takes free text always has some.
            let input = Some((&*self.arguments).into()).filter(|_| self.has_arguments());
            return Ok(input.ok_or(Reason::Malformed));
        }
        let (json, inference) = match self.object(out.config().max_depth) {
            Ok(found) => found,
            Err(reason) => {
                if self.scanner.status() == JsonStatus::TooDeep {
                    out.warn(TOO_DEEP, Some(self.index))?;
                }
                return Ok(Err(reason));
            }
        };
        if let Some(inference) = inference {
            out.warn(inference, Some(self.index))?;
        }
        let json = match json {
            Cow::Borrowed(json) => self.disambiguate(json, out)?,
            Cow::Owned(json) => self.disambiguate(&json, out)?.into_owned().into(),
        };
        Ok(Ok(json))
    }

    /// Warns of what readers of the arguments disagree about. Returns them without white space
    /// between tokens, and with only the last member of each name.
    fn disambiguate<'j>(
        &self,
        json: &'j str,
        out: &mut ChoiceOut<'_, '_>,
    ) -> io::Result<Cow<'j, str>> {
        let (arguments, found) = json::minify_and_check(json);
        for (inference, is_there) in [
            (LONE_SURROGATE, found.lone_surrogate),
            (INEXACT_NUMBER, found.inexact_number),
            (DUPLICATE_KEY, found.duplicate_key),
        ] {
            if is_there {
                out.warn(inference, Some(self.index))?;
            }
        }
        Ok(if found.duplicate_key { json::without_doubles(&arguments).into() } else { arguments })
    }

    /// Returns the object that the arguments are, with what had to be inferred.
    fn object(&self, max_depth: usize) -> Result<(Cow<'_, str>, Option<Inference>), Reason> {
        let text = self.arguments.trim_ascii();
        match self.scanner.status() {
            JsonStatus::Whole => {}
            JsonStatus::Empty => return Ok(("{}".into(), None)),
            JsonStatus::Open if !self.is_ended_by_model => return Err(Reason::Truncated),
            JsonStatus::Open | JsonStatus::Bad | JsonStatus::TooDeep => {
                return Err(Reason::Malformed);
            }
        }
        match text.as_bytes().first() {
            Some(b'{') => Ok((text.into(), None)),
            Some(b'n') => Ok(("{}".into(), Some(NULL_ARGUMENTS))),
            Some(b'"') => {
                let inner: json::Str<'_> = json::read(text).map_err(|_| Reason::Malformed)?;
                if !inner.is_plain() || !is_object(inner.as_str(), max_depth) {
                    return Err(Reason::NotObject);
                }
                Ok((inner.as_str().to_owned().into(), Some(DOUBLE_ENCODED)))
            }
            _ => Err(Reason::NotObject),
        }
    }
}

/// True if a fragment adds nothing to arguments that are `{}`.
pub(super) fn is_nothing_more(arguments: Arguments<'_>) -> bool {
    match arguments {
        Arguments::Fragment(json) | Arguments::Value(json) | Arguments::Done(json) => {
            json.trim_ascii().is_empty() || is_empty_object(json)
        }
        Arguments::Misnamed(_) => false,
        other => is_nothing(other),
    }
}

/// True if a fragment adds nothing to the arguments.
pub(super) fn is_nothing(arguments: Arguments<'_>) -> bool {
    match arguments {
        Arguments::None | Arguments::Placeholder(_) | Arguments::Misnamed(_) => true,
        Arguments::Fragment(text) | Arguments::Free(text) => text.is_empty(),
        Arguments::Repaired(_) | Arguments::Value(_) | Arguments::Done(_) => false,
    }
}

fn is_empty_object(json: &str) -> bool {
    let inside = json.trim_ascii().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

fn is_object(text: &str, max_depth: usize) -> bool {
    let mut scanner = Scanner::new(max_depth);
    scanner.push_all(text.as_bytes());
    scanner.status() == JsonStatus::Whole && text.trim_ascii_start().starts_with('{')
}
