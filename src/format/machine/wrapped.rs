//! Records of another format in those of a row: its decoder reads them, and its message is the row's.

use std::io;

use crate::event::{CallPart, Emit, Event, Kind, Loose, Native, Of, Piece};
use crate::format::machine::RowMachine;
use crate::format::machine::fields::Fields;
use crate::format::machine::state::Scope;
use crate::format::spec::ReadRule;
use crate::format::support::emit::Halves;
use crate::format::support::lifecycle::MessageHead;
use crate::format::support::prelude::*;
use crate::format::table::find;

/// The format of the records inside, and its decoder.
pub(super) struct Wrapped {
    format: &'static Format,
    decoder: Box<dyn Decoder>,
}

impl RowMachine {
    /// True if what a rule says to be wrapped stands in an object, or the rule says nothing of that:
    /// a record of the format that is open, or one that begins a message.
    pub(super) fn wraps(&mut self, rule: &ReadRule, scope: Scope, fields: Fields) -> bool {
        let Some(wrap) = &rule.wraps else { return true };
        let Some(json) = fields.json(&wrap.at) else { return false };
        if self.wrapped.is_some() && matches!(self.message.state, State::Open | State::Failed) {
            return true;
        }
        let text = json::text(&json);
        let record = Record::new(&scope.inner_frame(&text));
        let mut formats = wrap.spec.formats.iter().filter_map(|name| find(name));
        if let Some(format) = formats.find(|format| format.accepts(&record)) {
            let is_same = |wrapped: &Wrapped| wrapped.format == format;
            if !self.wrapped.as_ref().is_some_and(is_same) {
                self.wrapped = Some(Wrapped { format, decoder: format.decode() });
            }
        }
        self.wrapped.is_some()
    }

    /// Emits what the record inside an object holds.
    pub(super) fn wrapped_record(
        &mut self,
        rule: &ReadRule,
        scope: Scope,
        fields: Fields,
        out: &mut EventOut,
    ) -> Done {
        let json = rule.wraps.as_ref().and_then(|wrap| fields.json(&wrap.at));
        let Some(json) = json else { return Ok(()) };
        let text = json::text(&json);
        let (start, record) = (&fields.record_places().start, fields.record());
        let [id, model] = [&start.id, &start.model].map(|place| record.word(place));
        let head = [id.as_deref(), model.as_deref()];
        let frame = scope.inner_frame(&text);
        self.decode_wrapped(head, out, |decoder, out| decoder.feed(frame, out))
    }

    /// Tells the decoder of the records inside that there are no more. What it makes of that counts
    /// unless the message has failed.
    pub(super) fn end_wrapped(&mut self, out: &mut EventOut) -> Done {
        let has_failed = self.message.state == State::Failed;
        let finish = |decoder: &mut dyn Decoder, out: &mut EventOut<'_>| decoder.finish(out);
        let done = if has_failed { Ok(()) } else { self.decode_wrapped([None, None], out, finish) };
        self.wrapped = None;
        done
    }

    /// Runs the decoder of the records inside. Its messages begin and end as the row's, with the id and
    /// the model that the row knows. Where the caller does not run its calls, their results may come
    /// after its end: then the row's message waits for the next one.
    pub(super) fn decode_wrapped(
        &mut self,
        [id, model]: [Option<&str>; 2],
        out: &mut EventOut,
        decode: impl FnOnce(&mut dyn Decoder, &mut EventOut) -> io::Result<()>,
    ) -> Done {
        let executor = self.spec.executor;
        let RowMachine {
            wrapped: Some(Wrapped { format, decoder }), message, open, session, ..
        } = self
        else {
            return Ok(());
        };
        let (format, [session_id, session_model]) = (*format, session.each_ref());
        let is_native = out.is_native;
        let pass_on = |event: &Event<'_>, emit: &mut Emit<'_>| match event.kind {
            Kind::Start(start) => {
                if message.state == State::Stopped {
                    *open = open.next();
                    message.end(&mut EventOut::new(emit, &mut Halves::default(), 0))?;
                }
                let id = id.or(session_id.as_deref()).or(start.id);
                let model = model.or(session_model.as_deref()).or(start.model);
                message.head =
                    MessageHead { created: start.created, input_tokens: start.input_tokens };
                message.begin(id, model, &mut EventOut::new(emit, &mut Halves::default(), 0))?;
                let native = Native { of: Of::Format, piece: Piece::whole(format.name) };
                if is_native { emit(&Kind::Loose(Loose::Native(native)).into()) } else { Ok(()) }
            }
            // Its own count is better than the row's.
            Kind::Usage(_) => {
                message.meter.reset();
                emit(event)
            }
            Kind::Loose(Loose::CallPart(part)) if executor.is_some() => {
                part.id.into_iter().for_each(|id| open.calls(event.choice).note(id));
                let part = CallPart { executor: part.executor.or(executor), ..part };
                emit(&Event::new(event.choice, Kind::Loose(Loose::CallPart(part))))
            }
            Kind::Loose(Loose::End) if executor.is_some() => {
                message.stop();
                Ok(())
            }
            Kind::Loose(Loose::End) => {
                message.end(&mut EventOut::new(emit, &mut Halves::default(), 0))
            }
            _ => emit(event),
        };
        out.intercept(pass_on, |out| decode(&mut **decoder, out))
    }
}
