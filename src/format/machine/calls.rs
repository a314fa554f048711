//! Calls and their results, as rules have them.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::event::{Arguments, CallPart, Executor, Key, Output, Reason, ToolResult, WarningCode};
use crate::format::machine::Machine;
use crate::format::machine::fields::{Fields, Index};
use crate::format::machine::rule::{ReadCall, ReadResult};
use crate::format::machine::said::SaidCall;
use crate::format::machine::state::{Collected, Scope};
use crate::format::support::blocks::OpenIndexedBlock;
use crate::format::support::emit::Slot;
use crate::format::support::emitted::{GrownText, hash};
use crate::format::support::function::emit_arguments;
use crate::format::support::prelude::*;

impl Machine {
    /// Emits a call, or a piece of one.
    pub(super) fn call(
        &mut self,
        call: &ReadCall,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let id = match fields.word(&call.id) {
            given if call.spec.until => self.open.id_of_continued(given, out)?,
            given => given,
        };
        let executor = self.spec.log.map_or(self.spec.executor, |_| Some(Executor::Agent));
        let (name, signature) = (fields.text(&call.name), fields.word(&call.signature));
        let [item, namespace, kind] =
            [&call.item, &call.namespace, &call.of_type].map(|place| fields.word(place));
        let is_provided = fields.flag(&call.provider);
        let name = name.as_deref().and_then(Str::non_empty);
        let json = fields.json(&call.arguments);
        let text = json.as_deref().and_then(json::as_str);
        if self.tables.flags.is_log {
            self.open.of_log.saw_call();
        }
        let said = text.as_ref().map(Str::as_str).or(json.as_deref());
        if scope.is_whole && self.says_again(id.as_deref(), (name, said), scope) {
            return Ok(());
        }
        if self.tables.flags.is_log {
            self.open.of_log.call(name, id.as_deref(), scope.part);
        }
        let part = CallPart {
            id: id.as_deref(),
            name,
            executor: is_provided.then_some(Executor::Provider).or(executor),
            is_undecided: self.spec.hold && name.is_some() && !is_provided && scope.block.is_none(),
            signature: signature.as_deref(),
            item_id: item.as_deref(),
            namespace: namespace.as_deref(),
            kind: kind.as_deref(),
            native: scope.native,
            ..CallPart::default()
        };
        self.open.native_calls += u64::from(scope.native.is_some());
        if let (true, Some(open), Some(json)) = (call.spec.until, &mut self.open.chunked, &json) {
            let text = text.as_ref().map_or(json.as_ref(), Str::as_str);
            open.arguments.push_all(text.as_bytes());
        }
        if let Some(block) = scope.block {
            return self.block_of_call(call, block, part, fields, out);
        }
        if !call.spec.invalid.is_empty() {
            let json = fields.json(&call.invalid).unwrap_or(Cow::Borrowed("{}"));
            return self.invalid(scope.choice, part, &json, out);
        }
        if fields.flag(&call.free) {
            self.open.free.extend(id.as_deref().map(str::to_owned));
        }
        let is_free = id.as_deref().is_some_and(|id| self.open.free.contains(id));
        let place = place(call, fields);
        if !call.spec.key.is_empty() && place.is_none() && id.is_none() && !scope.is_whole {
            return emit_arguments(scope.choice, part, json.as_deref(), out);
        }
        let (mut part, is_known) = self.open.calls(scope.choice).place_at(place, part, out)?;
        // A repeated whole call without an id is recognised by its index.
        if let Some(place) = place.filter(|_| scope.is_whole && part.id.is_none()) {
            let is_first = self.open.whole.insert((scope.choice, place));
            if is_known && !is_first {
                return Ok(());
            }
            if is_known && self.open.is_renamed(scope.choice, &part) {
                let json = json.as_deref().unwrap_or_default();
                return out.call_fault(scope.choice, part.key, Reason::Conflict, json);
            }
            part.name = part.name.filter(|_| !is_known);
        }
        if (json.as_ref(), part.executor) == (None, None)
            && let Some(misnamed) = self.misnamed(call, &part, fields, scope)
        {
            part.arguments = Arguments::Misnamed(misnamed);
        }
        let json = (json.as_deref(), text.as_ref());
        self.arguments(part, (is_known, is_free), json, scope, out)?;
        match scope.is_whole {
            true if self.spec.hold && !is_provided => {
                self.open.calls(scope.choice).hold(part.key, out)
            }
            true => self.open.calls(scope.choice).end_key(part.key, out),
            false => Ok(()),
        }
    }

    /// Returns what may be the arguments of a call, or of a piece of one, that has none.
    fn misnamed<'f>(
        &mut self,
        call: &ReadCall,
        part: &CallPart,
        fields: Fields<'f, '_>,
        scope: Scope,
    ) -> Option<&'f str> {
        let misnamed = fields.misnamed(call.spec)?;
        // Arguments may follow a name, but for a text that begins as they do.
        let is_all = scope.is_whole || part.name.is_none() || misnamed.starts_with('"');
        let said = self.open.said(scope.choice, part);
        (is_all && !said.is_some_and(|said| said.has_arguments())).then_some(misnamed)
    }

    /// True if a whole call says once more what one of its id has said that was whole.
    fn says_again(
        &mut self,
        id: Option<&str>,
        (name, arguments): (Option<&str>, Option<&str>),
        scope: Scope,
    ) -> bool {
        let number = id.and_then(|id| self.open.calls(scope.choice).whole_number(id));
        let (Some(id), Some(number)) = (id, number) else { return false };
        if self.tables.flags.is_log {
            // An agent may say it in other words, or count its calls anew in each round: then it is
            // answered.
            return self.open.of_log.was_called_in(id, scope.part)
                || !self.open.calls(scope.choice).is_answered(id);
        }
        let mut said = SaidCall::default();
        said.add(name, arguments, true);
        let known = self.open.said.get(&(scope.choice, number));
        known.is_some_and(|known| known.is_repeated_by(&said))
    }

    /// Emits the arguments of a call, or a piece of them.
    fn arguments(
        &mut self,
        part: CallPart,
        (is_known, is_free): (bool, bool),
        (json, text): (Option<&str>, Option<&Str>),
        scope: Scope,
        out: &mut EventOut,
    ) -> Done {
        let choice = scope.choice;
        let growing = match text.filter(|_| scope.is_cumulative() && !is_free) {
            None => None,
            Some(text) => {
                let at = (choice, Slot::Call(part.key));
                let manner = (scope.cumulative, true);
                Some(self.open.new_part(at, text, manner, out)?)
            }
        };
        let (text, is_all) = match &growing {
            Some(None) => (None, false),
            Some(Some(GrownText::New(new))) => (Some(&**new), false),
            Some(Some(GrownText::Changed)) => (text, true),
            None => (text, scope.is_whole && is_known),
        };
        // What it adds may be no text: a name, a signature.
        let json = json.filter(|_| !matches!(growing, Some(None)));
        if let Some(said) = self.open.said(choice, &part) {
            said.add(part.name, text.map(Str::as_str).or(json), is_all || text.is_none());
        }
        match (json, text) {
            (None, _) => out.call(choice, part),
            // Its text comes once more when it is whole.
            _ if is_free && !scope.is_whole => out.call(choice, part),
            (Some(json), _) if is_free => {
                let text = json::text(json);
                let arguments = Arguments::Free(text.as_str());
                out.call(choice, CallPart { arguments, ..part })
            }
            (_, Some(text)) if is_all && text.is_empty() => out.call(choice, part),
            (_, Some(text)) if is_all => out.call_done(choice, part, text),
            (_, Some(text)) => {
                out.call_fragment(choice, part, text)?;
                if growing.is_some() { self.open.warn_of_repeats(out) } else { Ok(()) }
            }
            (Some(json), None) => {
                let arguments = match scope.is_body {
                    _ if is_all => Arguments::Done(json),
                    true => Arguments::of_value(json),
                    false => Arguments::Value(json),
                };
                out.call(choice, CallPart { arguments, ..part })
            }
        }
    }

    /// Emits a piece of the call that a block is. No arguments at its start stand for what is to come.
    fn block_of_call(
        &mut self,
        call: &ReadCall,
        (index, opens): (u64, bool),
        part: CallPart,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let json = fields.json(&call.arguments);
        let blocks = &mut self.open.blocks;
        let key = if opens { blocks.next_key() } else { blocks.call_at(index, out)? };
        let mut part = CallPart { key, ..part };
        if !opens && (json.as_ref(), part.executor) == (None, None) {
            if part.id.or(part.name).or(part.signature).is_none() {
                out.lost()?;
            }
            part.arguments =
                fields.misnamed(call.spec).map_or(Arguments::None, Arguments::Misnamed);
        }
        match json.as_deref() {
            None | Some("\"\"") => out.call(0, part)?,
            Some("{}") => {
                out.call(0, CallPart { arguments: Arguments::Placeholder("{}"), ..part })?;
            }
            json => emit_arguments(0, part, json, out)?,
        }
        if opens { blocks.insert(index, OpenIndexedBlock::Call(key), out) } else { Ok(()) }
    }

    /// Ends a call whose arguments are not what its tool takes.
    fn invalid(&mut self, choice: u64, part: CallPart, json: &str, out: &mut EventOut) -> Done {
        if let Some(id) = part.id.filter(|id| self.open.calls(choice).has_ended(id)) {
            return out.withdraw_call(id);
        }
        let held = part.id.and_then(|id| self.open.calls(choice).take_held(id));
        let text = json::as_str(json);
        let (reason, text) = match &text {
            Some(text) => (Reason::Malformed, text.as_str()),
            None => (Reason::Schema, json),
        };
        if let Some(key) = held {
            return out.call_fault(choice, key, reason, text);
        }
        let key = self.open.calls(choice).part(part, out)?;
        match part.id {
            Some(id) if self.open.calls(choice).close(id).is_none() => Ok(()),
            _ => out.call_fault(choice, key, reason, text),
        }
    }

    /// Ends the call of an index or an id. Without one, all calls end, if none of them waits for
    /// its result.
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
            None if self.spec.hold => Ok(()),
            None => out.call_end(choice, Key::None),
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
        if is_log {
            self.open.of_log.saw_call();
            self.open.of_log.results += 1;
        }
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

/// Returns the place that a call is known by, if the record has all of its keys.
fn place(call: &ReadCall, fields: Fields) -> Option<u64> {
    let keys: SmallVec<[_; 2]> = call.key.iter().map(|place| fields.index(place)).collect();
    (keys.iter().all(Option::is_some) && !keys.is_empty()).then(|| hash(&keys))
}
