//! Calls and their results, as rules have them.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::event::{Arguments, CallPart, Executor, Key, Output, Reason, ToolResult, WarningCode};
use crate::format::machine::Emitter;
use crate::format::machine::fields::{Fields, Index};
use crate::format::machine::state::{Collected, Scope};
use crate::format::spec::{CallSpec, ResultSpec};
use crate::format::support::blocks::OpenIndexedBlock;
use crate::format::support::emit::Slot;
use crate::format::support::emitted::hash;
use crate::format::support::function::emit_arguments;
use crate::format::support::prelude::*;

impl Emitter {
    /// Emits a call, or a piece of one.
    pub(super) fn call(
        &mut self,
        call: &CallSpec,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let id = match fields.word(call.id) {
            given if call.until => self.turn.go_on(given, out)?,
            given => given,
        };
        if self.spec.log.is_some() {
            self.turn.round.act();
            if let Some(id) = id.as_deref().filter(|_| scope.is_whole)
                && self.turn.has_call(id, scope)
            {
                return Ok(());
            }
        }
        let executor = self.spec.log.map_or(self.spec.executor, |_| Some(Executor::Agent));
        let (name, signature) = (fields.text(call.name), fields.word(call.signature));
        let [item, namespace, kind] =
            [call.item, call.namespace, call.of_type].map(|places| fields.word(places));
        let is_provided = fields.flag(call.provider);
        let name = name.as_deref().and_then(Str::non_empty);
        if self.spec.log.is_some() {
            self.turn.round.tool = name.map(str::to_owned);
        }
        let part = CallPart {
            id: id.as_deref(),
            name,
            executor: is_provided.then_some(Executor::Provider).or(executor),
            is_undecided: self.spec.hold && name.is_some() && !is_provided,
            signature: signature.as_deref(),
            item_id: item.as_deref(),
            namespace: namespace.as_deref(),
            kind: kind.as_deref(),
            native: scope.native,
            ..CallPart::default()
        };
        self.turn.native_calls += u64::from(scope.native.is_some());
        let json = fields.json(call.arguments);
        if let (true, Some(open), Some(json)) = (call.until, &mut self.turn.chunked, &json) {
            open.arguments.push_all(json::text(json).as_str().as_bytes());
        }
        if let Some((index, opens)) = scope.block {
            return self.block_of_call(index, opens, part, json.as_deref(), out);
        }
        if !call.invalid.is_empty() {
            let json = fields.json(call.invalid).unwrap_or(Cow::Borrowed("{}"));
            return self.invalid(scope.choice, part, &json, out);
        }
        if fields.flag(call.free) {
            self.turn.free.extend(id.as_deref().map(str::to_owned));
        }
        let is_free = id.as_deref().is_some_and(|id| self.turn.free.contains(id));
        let keys: SmallVec<[_; 2]> = call.key.iter().map(|places| fields.index(places)).collect();
        let is_placed = keys.iter().all(Option::is_some) && !keys.is_empty();
        let place = is_placed.then(|| hash(&keys));
        if !call.key.is_empty() && place.is_none() && id.is_none() && !scope.is_whole {
            return emit_arguments(scope.choice, part, json.as_deref(), out);
        }
        let (mut part, is_known) = self.turn.calls(scope.choice).place_at(place, part, out)?;
        // Without an id, its place alone says that it is known.
        if let Some(place) = place.filter(|_| scope.is_whole && part.id.is_none()) {
            let is_first = self.turn.whole.insert((scope.choice, place));
            if is_known && !is_first {
                return Ok(());
            }
            part.name = part.name.filter(|_| !is_known);
        }
        self.arguments(part, (is_known, is_free), json.as_deref(), scope, out)?;
        match scope.is_whole {
            true if self.spec.hold && !is_provided => {
                self.turn.calls(scope.choice).hold(part.key, out)
            }
            true => self.turn.calls(scope.choice).end_key(part.key, out),
            false => Ok(()),
        }
    }

    /// Emits the arguments of a call, or a piece of them.
    fn arguments(
        &mut self,
        part: CallPart,
        (is_known, is_free): (bool, bool),
        json: Option<&str>,
        scope: Scope,
        out: &mut EventOut,
    ) -> Done {
        match json {
            // Its text comes once more when it is whole.
            Some(_) if is_free && !scope.is_whole => out.call(scope.choice, part),
            Some(json) if is_free => {
                let text = json::text(json);
                let arguments = Arguments::Free(text.as_str());
                out.call(scope.choice, CallPart { arguments, ..part })
            }
            Some(json)
                if scope.is_cumulative
                    && let Some(text) = json::as_str(json) =>
            {
                let at = (scope.choice, Slot::Call(part.key));
                let Some(new) = self.turn.new_part(at, &text, true, out)? else { return Ok(()) };
                out.call_fragment(scope.choice, part, &new)?;
                self.turn.warn_of_repeats(out)
            }
            Some(json) if scope.is_whole && is_known => whole(scope.choice, part, json, out),
            Some(json) if scope.is_body && !json.starts_with('"') => {
                out.call(scope.choice, CallPart { arguments: Arguments::of_value(json), ..part })
            }
            json => emit_arguments(scope.choice, part, json, out),
        }
    }

    /// Emits a piece of the call that a block is.
    fn block_of_call(
        &mut self,
        index: u64,
        opens: bool,
        part: CallPart,
        json: Option<&str>,
        out: &mut EventOut,
    ) -> Done {
        let blocks = &mut self.turn.blocks;
        if opens {
            let key = blocks.next_key();
            let arguments = Arguments::None;
            out.call(0, CallPart { key, arguments, ..part })?;
            return blocks.insert(index, OpenIndexedBlock::Call(key), out);
        }
        let part = CallPart {
            key: blocks.call_at(index, out)?,
            native: part.native,
            ..CallPart::default()
        };
        match json {
            None | Some("\"\"") => Ok(()),
            json => emit_arguments(0, part, json, out),
        }
    }

    /// Ends a call whose arguments are not what its tool takes.
    fn invalid(&mut self, choice: u64, part: CallPart, json: &str, out: &mut EventOut) -> Done {
        let key = self.turn.calls(choice).part(part, out)?;
        let text = json::as_str(json);
        let (reason, text) = match &text {
            Some(text) => (Reason::Malformed, text.as_str()),
            None => (Reason::Schema, json),
        };
        match part.id {
            Some(id) if self.turn.calls(choice).close(id).is_none() => Ok(()),
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
        let calls = self.turn.calls(choice);
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
        result: &ResultSpec,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        if !result.condition.is_empty() && !fields.flag(result.condition) {
            return Ok(());
        }
        let id = fields.word(result.id).unwrap_or_default();
        if self.spec.log.is_some() {
            self.turn.round.act();
            self.turn.round.results += 1;
            if self.turn.calls(scope.choice).is_answered(&id) {
                return Ok(());
            }
        }
        let is_ok = (!result.is_ok.is_empty() && fields.flag(result.is_ok)).then_some(false);
        let is_error = if fields.flag(result.is_error) { Some(true) } else { is_ok };
        let json = fields.json(result.output);
        if let Some((index, opens)) = scope.block {
            return self.gather(index, opens, (&id, is_error), json.as_deref(), out);
        }
        let text = json.as_deref().and_then(json::as_str);
        let output = match &text {
            Some(text) => Output::Text(text.as_str()),
            None => Output::Json(json.as_deref().unwrap_or("null")),
        };
        let name = match result.name {
            "call:" => self.turn.round.tool.clone().map(Cow::Owned),
            places => fields.word(places),
        };
        let name = name.as_deref();
        let result = ToolResult { id: &id, name, output, is_error, ..ToolResult::default() };
        self.turn.calls(scope.choice).result(result, out)
    }

    /// Notes a piece of the result that a block is.
    fn gather(
        &mut self,
        index: u64,
        opens: bool,
        (id, is_error): (&str, Option<bool>),
        json: Option<&str>,
        out: &mut EventOut,
    ) -> Done {
        let blocks = &mut self.turn.blocks;
        let json = json.unwrap_or("[]");
        blocks.gather(json.len(), out)?;
        if let Some(OpenIndexedBlock::Gathered(result)) = blocks.get_mut(index).filter(|_| !opens) {
            result.add(json);
            return Ok(());
        }
        let mut result = Collected { id: id.to_owned(), is_error, content: String::new() };
        result.add(json);
        blocks.insert(index, OpenIndexedBlock::Gathered(result), out)?;
        if opens {
            return Ok(());
        }
        let message = "a part of a result came without the start of its block";
        out.warn(WarningCode::MissingBlockStart, message)
    }
}

/// Emits the whole arguments of a call that came in pieces.
fn whole(choice: u64, part: CallPart, json: &str, out: &mut EventOut) -> Done {
    match json {
        "\"\"" => out.call(choice, part),
        json => match json::as_str(json) {
            Some(text) => out.call_done(choice, part, &text),
            None => out.call(choice, CallPart { arguments: Arguments::Done(json), ..part }),
        },
    }
}
