//! Calls and their results, as rules have them.

use std::borrow::Cow;
use std::io;

use smallvec::SmallVec;

use crate::event::{Arguments, CallPart, Executor, Key, Output, Reason, ToolResult, WarningCode};
use crate::format::machine::RowMachine;
use crate::format::machine::fields::{Fields, Index};
use crate::format::machine::said_call::SaidCall;
use crate::format::machine::state::{Collected, Scope};
use crate::format::spec::{CallSpec, ReadCall, ReadResult};
use crate::format::support::blocks::OpenIndexedBlock;
use crate::format::support::emit::Slot;
use crate::format::support::function::emit_arguments;
use crate::format::support::prelude::*;
use crate::format::support::said::{NewText, hash};

/// All that an object says of a call.
struct CallRead<'c> {
    spec: &'static CallSpec,
    scope: Scope<'c>,
    /// The call, or a piece of it, without its key and its arguments.
    part: CallPart<'c>,
    /// The JSON of the arguments or of a piece of them, and its text if it is a string.
    json: Option<&'c str>,
    text: Option<&'c Str<'c>>,
    /// What may be the arguments of a call that has none.
    misnamed: Option<&'c str>,
    /// What the model wrote in place of arguments that can be read.
    invalid: Option<&'c str>,
    /// What pieces of the call have in common beside its id, if all of that is there.
    key: Option<u64>,
    /// True if its arguments are text.
    is_free: bool,
    /// True if a whole call waits for its result.
    is_held: bool,
}

/// What an object is to the calls that came before.
enum CallCase {
    /// A whole call that has come.
    Again,
    /// A whole call, under the key of one that has another name.
    Renamed(Key),
    /// A block, or a piece of one: it is of the call at the block's index. True if that begins.
    Block(u64, bool),
    /// A call whose arguments are not what its tool takes.
    Invalid,
    /// A piece without an id and a key, where calls have one: it is of the latest call.
    OfLatest,
    /// A call that is told by its id or key, and is a new one without, or a piece of one.
    Told,
}

/// What an object adds to the arguments of its call.
enum NewArguments<'c> {
    Nothing,
    Piece(Cow<'c, Str<'c>>),
    /// A string of all of them, in place of what has come.
    All(&'c Str<'c>),
    /// All of them, as a value that is no string.
    Value(&'c str),
}

impl<'c> CallRead<'c> {
    /// Returns the text of the arguments; of a value that is no string, its JSON.
    fn arguments_text(&self) -> Option<&'c str> {
        self.text.map(Str::as_str).or(self.json)
    }
}

impl RowMachine {
    /// Emits a call, or a piece of one.
    pub(super) fn call(
        &mut self,
        call: &ReadCall,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let is_provided = fields.flag(&call.provider);
        let executor = self.executor(is_provided);
        // All of a call so far may grow: that of the caller's is not whole.
        let is_whole = scope.is_whole && (!scope.is_cumulative() || executor.is_some());
        let scope = Scope { is_whole, ..scope };
        let id = self.open.id_of_call(call.spec, fields.word(&call.id), out)?;
        let name = fields.text(&call.name);
        let name = name.as_deref().and_then(Str::non_empty);
        let words = [&call.signature, &call.item, &call.namespace, &call.of_type];
        let words = words.map(|place| fields.word(place));
        let [signature, item_id, namespace, kind] = words.each_ref().map(Option::as_deref);
        let (json, invalid) = (fields.json(&call.arguments), fields.json(&call.invalid));
        let text = json.as_deref().and_then(json::as_str);
        let is_held = self.spec.hold && !is_provided;
        let part = CallPart {
            id: id.as_deref(),
            name,
            executor,
            is_undecided: is_held && name.is_some() && scope.block.is_none(),
            signature,
            item_id,
            namespace,
            kind,
            native: scope.native,
            ..CallPart::default()
        };
        let is_bare = (json.as_ref(), part.executor) == (None, None);
        let read = CallRead {
            spec: call.spec,
            scope,
            part,
            json: json.as_deref(),
            text: text.as_ref(),
            misnamed: if is_bare { fields.misnamed(call.spec) } else { None },
            invalid: invalid.as_deref(),
            key: key(call, fields),
            is_free: fields.flag(&call.free),
            is_held,
        };
        self.read_call(&read, out)
    }

    /// Returns who runs a call, if not the caller.
    fn executor(&self, is_provided: bool) -> Option<Executor> {
        match self.spec.log {
            _ if is_provided => Some(Executor::Provider),
            Some(_) => Some(Executor::Agent),
            None => self.spec.executor,
        }
    }

    fn read_call(&mut self, read: &CallRead, out: &mut EventOut) -> Done {
        let CallRead { scope, part, json, .. } = *read;
        let case = self.call_case(read);
        self.open.native_calls += u64::from(scope.native.is_some());
        let is_again = matches!(case, CallCase::Again);
        if self.tables.flags.is_log || !is_again {
            self.open.saw_call();
        }
        if self.tables.flags.is_log && !is_again {
            self.open.of_log.call(part.name, part.id, scope.part);
        }
        match case {
            CallCase::Again => Ok(()),
            CallCase::Renamed(key) => {
                out.call_fault(scope.choice, key, Reason::Conflict, json.unwrap_or_default())
            }
            CallCase::Block(index, opens) => self.block_of_call(read, (index, opens), out),
            CallCase::Invalid => self.invalid(read, out),
            CallCase::OfLatest => emit_arguments(scope.choice, part, json, out),
            CallCase::Told => self.told_call(read, out),
        }
    }

    /// Decides what an object is to the calls that came before.
    fn call_case(&mut self, read: &CallRead) -> CallCase {
        let CallRead { spec, scope, part, key, .. } = *read;
        if scope.is_whole && self.says_again(read) {
            return CallCase::Again;
        }
        if let Some((index, opens)) = scope.block {
            return CallCase::Block(index, opens);
        }
        if !spec.invalid.is_empty() {
            return CallCase::Invalid;
        }
        let (None, choice) = (part.id, scope.choice) else { return CallCase::Told };
        match key {
            // Its key alone tells whether it came before.
            Some(key) if scope.is_whole => {
                let is_first = self.open.whole.insert((choice, key));
                let known = self.open.calls(choice).at(key);
                match known.map(|key| CallPart { key, ..part }) {
                    Some(_) if !is_first => CallCase::Again,
                    Some(part) if self.open.is_renamed(choice, &part) => {
                        CallCase::Renamed(part.key)
                    }
                    Some(_) | None => CallCase::Told,
                }
            }
            None if !scope.is_whole && !spec.key.is_empty() => CallCase::OfLatest,
            Some(_) | None => CallCase::Told,
        }
    }

    /// True if a whole call says once more what one of its id has said that was whole.
    fn says_again(&mut self, read: &CallRead) -> bool {
        let CallRead { scope, part, .. } = *read;
        let number = part.id.and_then(|id| self.open.calls(scope.choice).whole_number(id));
        let (Some(id), Some(number)) = (part.id, number) else { return false };
        if self.tables.flags.is_log {
            // An agent may say it in other words, or count its calls anew in each round: then it is
            // answered.
            return self.open.of_log.was_called_in(id, scope.part)
                || !self.open.calls(scope.choice).is_answered(id);
        }
        let mut said = SaidCall::default();
        said.add(part.name, read.arguments_text(), true);
        let known = self.open.said_calls.get(&(scope.choice, number));
        // Those of one list are two, whatever their ids.
        known.is_some_and(|known| known.list != self.list && known.is_repeated_by(&said))
    }

    /// Emits a call that is told by its id or key, and is a new one without, or a piece of one.
    fn told_call(&mut self, read: &CallRead, out: &mut EventOut) -> Done {
        let CallRead { spec, scope, part, .. } = *read;
        if spec.until {
            self.open.go_on(read.arguments_text());
        }
        if read.is_free {
            self.open.free.extend(part.id.map(str::to_owned));
        }
        let calls = self.open.calls(scope.choice);
        let (mut part, is_known) = calls.place_at(read.key, part, out)?;
        let is_again = is_known && (scope.is_whole || scope.is_cumulative());
        // All of a call that only its key tells has the name of its pieces, once more.
        let said =
            self.open.said_call(scope.choice, &part).filter(|_| is_again && part.id.is_none());
        if said.is_some_and(|said| said.has_name(part.name)) {
            part.name = None;
        }
        if let Some(misnamed) = read.misnamed {
            // Arguments may follow a name, but for a text that begins as they do.
            let is_all = scope.is_whole || part.name.is_none() || misnamed.starts_with('"');
            let said = self.open.said_call(scope.choice, &part);
            if is_all && !said.is_some_and(|said| said.has_arguments()) {
                part.arguments = Arguments::Misnamed(misnamed);
            }
        }
        self.arguments(read, part, is_again, out)?;
        let calls = self.open.calls(scope.choice);
        match scope.is_whole {
            true if read.is_held => calls.hold(part.key, out),
            true => calls.end_key(part.key, out),
            false => Ok(()),
        }
    }

    /// Emits the arguments of a call, or a piece of them. With `is_again`, all of them come, after
    /// pieces of the call.
    fn arguments(
        &mut self,
        read: &CallRead,
        part: CallPart,
        is_again: bool,
        out: &mut EventOut,
    ) -> Done {
        let choice = read.scope.choice;
        if part.id.is_some_and(|id| self.open.free.contains(id)) {
            return self.free_arguments(read, part, out);
        }
        let new = self.new_arguments(read, part.key, is_again, out)?;
        if let Some(said) = self.open.said_call(choice, &part) {
            said.list = self.list;
            match &new {
                NewArguments::Nothing => said.add(part.name, None, false),
                NewArguments::Piece(text) => said.add(part.name, Some(text.as_str()), false),
                NewArguments::All(text) => said.add(part.name, Some(text.as_str()), true),
                NewArguments::Value(json) => said.add(part.name, Some(json), true),
            }
        }
        match new {
            NewArguments::Nothing => out.call(choice, part),
            NewArguments::Piece(text) => {
                out.call_fragment(choice, part, &text)?;
                self.open.warn_of_repeats(out)
            }
            NewArguments::All(text) => out.call_done(choice, part, text),
            NewArguments::Value(json) => {
                let arguments = match read.scope.is_body {
                    _ if is_again => Arguments::Done(json),
                    true => Arguments::of_value(json),
                    false => Arguments::Value(json),
                };
                out.call(choice, CallPart { arguments, ..part })
            }
        }
    }

    /// Returns what an object adds to the arguments of the call of a key.
    fn new_arguments<'c>(
        &mut self,
        read: &CallRead<'c>,
        key: Key,
        is_again: bool,
        out: &mut EventOut,
    ) -> io::Result<NewArguments<'c>> {
        let scope = read.scope;
        let Some(text) = read.text else {
            return Ok(read.json.map_or(NewArguments::Nothing, NewArguments::Value));
        };
        if !scope.is_cumulative() {
            return Ok(match is_again {
                true if text.is_empty() => NewArguments::Nothing,
                true => NewArguments::All(text),
                false => NewArguments::Piece(Cow::Borrowed(text)),
            });
        }
        let at = (scope.choice, None, Slot::Call(key));
        Ok(match self.open.new_part(at, text, (scope.cumulative, true), out)? {
            None => NewArguments::Nothing,
            Some(NewText::Piece(new)) => NewArguments::Piece(new),
            Some(NewText::Changed) => NewArguments::All(text),
        })
    }

    /// Emits the arguments of a call that takes text. They come once more when it is whole.
    fn free_arguments(&mut self, read: &CallRead, part: CallPart, out: &mut EventOut) -> Done {
        let choice = read.scope.choice;
        let is_all = read.scope.is_whole || read.text.is_none();
        if let Some(said) = self.open.said_call(choice, &part) {
            said.add(part.name, read.arguments_text(), is_all);
        }
        let text = read.json.filter(|_| read.scope.is_whole).map(json::text);
        let arguments = text.as_ref().map_or(part.arguments, |text| Arguments::Free(text.as_str()));
        out.call(choice, CallPart { arguments, ..part })
    }

    /// Emits a piece of the call that a block is. No arguments at its start stand for what is to come.
    fn block_of_call(
        &mut self,
        read: &CallRead,
        (index, opens): (u64, bool),
        out: &mut EventOut,
    ) -> Done {
        let blocks = &mut self.open.blocks;
        let key = if opens { blocks.next_key() } else { blocks.call_at(index, out)? };
        let mut part = CallPart { key, ..read.part };
        if !opens && (read.json, part.executor) == (None, None) {
            if part.id.or(part.name).or(part.signature).is_none() {
                out.lost()?;
            }
            part.arguments = read.misnamed.map_or(Arguments::None, Arguments::Misnamed);
        }
        match read.json {
            None | Some("\"\"") => out.call(0, part)?,
            Some("{}") => {
                out.call(0, CallPart { arguments: Arguments::Placeholder("{}"), ..part })?;
            }
            json => emit_arguments(0, part, json, out)?,
        }
        if opens { blocks.insert(index, OpenIndexedBlock::Call(key), out) } else { Ok(()) }
    }

    /// Ends a call whose arguments are not what its tool takes.
    fn invalid(&mut self, read: &CallRead, out: &mut EventOut) -> Done {
        let (choice, part) = (read.scope.choice, read.part);
        let json = read.invalid.unwrap_or("{}");
        let text = json::as_str(json);
        let (reason, text) = match &text {
            Some(text) => (Reason::Malformed, text.as_str()),
            None => (Reason::Schema, json),
        };
        self.open.calls(choice).fault(part, (reason, text), out)
    }

    /// Ends all calls, if none of them waits for its result.
    pub(super) fn all_calls_end(&mut self, choice: u64, out: &mut EventOut) -> Done {
        if self.spec.hold { Ok(()) } else { self.open.calls(choice).end_all(out) }
    }

    /// Ends the call of an index or an id. Without one it is the only one that is open, or none is
    /// known to have ended.
    pub(super) fn call_end(
        &mut self,
        choice: u64,
        index: Option<Index>,
        out: &mut EventOut,
    ) -> Done {
        let calls = self.open.calls(choice);
        match index {
            Some(Index::Name(id)) if self.spec.hold => calls.hold_id(&id, out),
            Some(Index::Name(id)) if calls.has(&id) => calls.end(&id, out),
            None => {
                let only = calls.only_open();
                let message = match only {
                    Some(_) => "the end of a call names none: it is that of the only one",
                    None => "the end of a call names none: no call ended",
                };
                out.warn(WarningCode::MissingIndex, message)?;
                match only {
                    Some(key) if self.spec.hold => calls.hold(key, out),
                    Some(key) => calls.end_key(key, out),
                    None => Ok(()),
                }
            }
            Some(index) => {
                let keys: SmallVec<[_; 2]> = SmallVec::from_iter([Some(index)]);
                calls.end_at(hash(&keys), out)
            }
        }
    }

    /// Emits a result, or notes a piece of one.
    pub(super) fn result(
        &mut self,
        result: &ReadResult,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        if !result.spec.condition.is_empty() && !fields.flag(&result.condition) {
            return Ok(());
        }
        let id = fields.word(&result.id).unwrap_or_default();
        let is_log = self.tables.flags.is_log;
        self.open.saw_call();
        self.open.of_log.results += usize::from(is_log);
        if (is_log || scope.is_whole) && self.open.calls(scope.choice).is_answered(&id) {
            return Ok(());
        }
        let is_ok = (!result.spec.is_ok.is_empty() && fields.flag(&result.is_ok)).then_some(false);
        let is_error = if fields.flag(&result.is_error) { Some(true) } else { is_ok };
        let name = match result.spec.name {
            "call:" => self.open.of_log.tool.clone().map(Cow::Owned),
            _ => fields.word(&result.name),
        };
        let json = fields.json(&result.output);
        if let Some((index, opens)) = scope.block {
            let content = (!scope.is_whole).then(String::new);
            let (id, name) = (id.into_owned(), name.map(Cow::into_owned));
            let result = Collected { id, name, is_error, content, is_emitted: false };
            return self.gather(index, opens, result, json.as_deref(), out);
        }
        let text = json.as_deref().and_then(json::as_str);
        let output = match &text {
            Some(text) => Output::Text(text.as_str()),
            None => Output::Json(json.as_deref().unwrap_or("null")),
        };
        let name = name.as_deref();
        let result = ToolResult { id: &id, name, output, is_error, ..ToolResult::default() };
        self.open.calls(scope.choice).result(result, out)
    }

    /// Takes the result that a block is, or a piece of it.
    fn gather(
        &mut self,
        index: u64,
        opens: bool,
        mut result: Collected,
        json: Option<&str>,
        out: &mut EventOut,
    ) -> Done {
        let blocks = &mut self.open.blocks;
        let json = json.unwrap_or("[]");
        if result.content.is_some() {
            blocks.gather(json.len(), out)?;
        }
        if let Some(OpenIndexedBlock::Gathered(known)) = blocks.get_mut(index).filter(|_| !opens) {
            known.merge(result);
            return known.add(json, out);
        }
        result.add(json, out)?;
        blocks.insert(index, OpenIndexedBlock::Gathered(result), out)?;
        if opens {
            return Ok(());
        }
        let message = "a part of a result came without the start of its block";
        out.warn(WarningCode::MissingBlockStart, message)
    }
}

/// Returns what the pieces of a call have in common, if the object has all of it.
fn key(call: &ReadCall, fields: Fields) -> Option<u64> {
    let keys: SmallVec<[_; 2]> = call.key.iter().map(|place| fields.index(place)).collect();
    (keys.iter().all(Option::is_some) && !keys.is_empty()).then(|| hash(&keys))
}
