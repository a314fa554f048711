//! The decoder of all formats that are rows: see [`Spec`].
//!
//! A record is read once, at the places of its row. The first rule that applies to its kind and to
//! what it has says what it means, and its words are done in one order:
//!
//! 1. `begin`: the message begins, if none is open, or anew.
//! 2. `part`: thoughts, text, calls, what is inside of it, blocks, and the end of a call.
//! 3. `usage`, `finish`, `error`: what the message costs, why the model stopped, what went wrong.
//! 4. `end`: the message ends.
//!
//! A record to which no rule applies is any provider's error, which ends the message, or is passed
//! over with a warning. A value of another type than its place asks for costs that value, a warning
//! and the calls that are open.

mod places;
#[cfg(test)]
mod tests;

use crate::event::{CallPart, Key, WarningCode};
use crate::format::format::Repeatable;
use crate::format::machine::places::{Fields, Layout, Values};
use crate::format::spec::{Begin, Call, End, Part, Rule, Spec};
use crate::format::support::function::emit_arguments;
use crate::format::support::many::each;
use crate::format::support::payload::{each_record, time};
use crate::format::support::prelude::*;

/// Decodes a format by its row.
pub(crate) struct Machine {
    layout: Layout,
    emitter: Emitter,
}

/// Emits what records hold.
struct Emitter {
    spec: &'static Spec,
    message: Lifecycle,
    /// The number of whole calls in the message so far.
    calls: u64,
    /// True if the last record could repeat: see [`Repeatable`].
    repeats: bool,
}

impl Decoder for Machine {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        let Machine { layout, emitter } = self;
        emitter.repeats = false;
        if frame.is_done() {
            return emitter.done(out);
        }
        each_record(&frame, out, &mut |source, text, is_lost, out| {
            let mut values = Values::default();
            layout.read(source, text, &mut values)?;
            let fields = Fields::new(layout, &values);
            let emit: &mut dyn FnMut(&mut EventOut<'_>) -> Done =
                &mut |out| emitter.record(&frame, text, fields, out);
            Ok(if is_lost { out.distrusted(emit) } else { emit(out) })
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.emitter.message.finish(out)
    }

    fn repeatable(&self) -> Option<&'static Repeatable> {
        self.emitter.spec.repeatable.filter(|_| self.emitter.repeats)
    }
}

impl Machine {
    /// Returns a decoder of the format that `spec` describes.
    pub(in crate::format) fn boxed(
        format: &'static Format,
        spec: &'static Spec,
    ) -> Box<dyn Decoder> {
        let message = Lifecycle::new(format, spec.usage);
        let emitter = Emitter { spec, message, calls: 0, repeats: false };
        Box::new(Machine { layout: Layout::new(spec), emitter })
    }
}

impl Emitter {
    /// Emits what a record holds.
    fn record(&mut self, frame: &Frame, json: &str, fields: Fields, out: &mut EventOut) -> Done {
        let kind = fields.text(self.spec.kind).and_then(Str::non_empty).unwrap_or(frame.event_type);
        let Some(rule) = self.spec.on.iter().find(|rule| applies(rule, kind, fields)) else {
            let is_error = self.message.stray(frame, kind, out)?;
            return if is_error { self.message.end(out) } else { Ok(()) };
        };
        self.begin(rule.begin, fields, out)?;
        self.part(&rule.part, rule.whole, fields, out)?;
        let is_end = match rule.end {
            End::No => fields.has(rule.error),
            End::Always => true,
            End::If(place) => fields.has(rule.error) || fields.is_true(place),
        };
        match fields.json(rule.usage) {
            Some(counts) => self.message.meter.feed(counts.get()),
            None if is_end && rule.usage == "." => self.message.meter.pick(json),
            None => {}
        }
        out.finish_if(0, fields.text(rule.finish))?;
        if fields.has(rule.error) {
            let quoted = Some(rule.error_in).filter(|key| !key.is_empty());
            error::report(quoted.and_then(|key| json::member(json, key)).unwrap_or(json), out)?;
        }
        self.repeats = true;
        if is_end { self.message.end(out) } else { Ok(()) }
    }

    fn begin(&mut self, begin: Begin, fields: Fields, out: &mut EventOut) -> Done {
        match begin {
            Begin::No => return Ok(()),
            Begin::Late => {}
            Begin::Anew => self.message.cut(out)?,
        }
        if self.message.is_open() {
            return Ok(());
        }
        self.calls = 0;
        self.message.head.created = time(fields.json(self.spec.created));
        let [id, model] = [self.spec.id, self.spec.model].map(|place| fields.text(place));
        self.message.begin(id.and_then(Str::non_empty), model.and_then(Str::non_empty), out)
    }

    /// Emits what an object holds of what the model wrote.
    fn part(&mut self, part: &Part, is_whole: bool, fields: Fields, out: &mut EventOut) -> Done {
        if let Some(thought) = fields.text(part.thought) {
            out.reasoning(0, thought)?;
        }
        if let Some(text) = fields.text(part.text) {
            out.text(0, text)?;
        }
        if let Some(call) = &part.call {
            self.call(call, is_whole, fields, out)?;
        }
        for (places, inner) in part.each {
            fields.each(places).try_for_each(|fields| self.part(inner, is_whole, fields, out))?;
        }
        let (name, places) = part.block;
        for block in fields.json(places).into_iter().flat_map(each) {
            out.block(0, name, block)?;
        }
        if part.call_end.is_empty() {
            return Ok(());
        }
        out.call_end(0, fields.count(part.call_end).map_or(Key::None, Key::Index))
    }

    /// Emits a piece of a call, or all of it.
    fn call(&mut self, call: &Call, is_whole: bool, fields: Fields, out: &mut EventOut) -> Done {
        let key = match is_whole {
            true => Key::Index(self.calls),
            false => fields.count(call.key).map_or(Key::None, Key::Index),
        };
        let [id, name] = [call.id, call.name].map(|place| fields.text(place));
        let (id, name) = (id.and_then(Str::non_empty), name.and_then(Str::non_empty));
        let arguments = fields.json(call.arguments).map(|json| json.get());
        emit_arguments(0, CallPart { key, id, name, ..CallPart::default() }, arguments, out)?;
        if !is_whole {
            return Ok(());
        }
        self.calls += 1;
        out.call_end(0, key)
    }

    /// Takes `[DONE]`.
    fn done(&mut self, out: &mut EventOut) -> Done {
        match self.spec.done {
            Some(warning) if self.message.is_open() => {
                out.warn(WarningCode::NoFinishReason, warning)?;
                self.message.end(out)
            }
            _ => Ok(()),
        }
    }
}

/// True if a rule is of records of this kind that have these fields.
fn applies(rule: &Rule, kind: &str, fields: Fields) -> bool {
    (rule.kind.is_empty() || rule.kind.contains(&kind))
        && (rule.has.is_empty() || fields.has(rule.has))
}
