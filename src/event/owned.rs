//! Events that outlive the call that they came in.

use crate::event::{
    Arguments, Block, CallEnd, CallInput, CallPart, Failure, Finish, InvalidToolCall, Kind, Output,
    ProviderEvent, Reasoning, Start, Text, ToolCall, ToolCallDelta, ToolCallStart, ToolCallValue,
    ToolResult, Turn, Usage, Warning,
};

/// Returns another text in place of each.
type Map<'m, 'b> = dyn FnMut(&str) -> &'b str + 'm;

/// A value that borrows text, and can borrow it from elsewhere.
pub(crate) trait Texts: Copy {
    /// The same type for another lifetime.
    type At<'b>: Texts;
    /// Returns the value with each of its texts replaced by what `map` returns
    /// for it. The texts always come in the same order.
    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Self::At<'b>;
}

/// A copy of a value with the texts that it borrows.
#[derive(Clone, Debug)]
pub(crate) struct Owned<T> {
    /// The value without its texts.
    value: T,
    /// Its texts, one after another.
    texts: String,
    /// The end of each of them.
    ends: Vec<usize>,
}

impl<T: Texts> Owned<T> {
    /// Copies a value.
    pub(crate) fn new<B: Texts<At<'static> = T>>(borrowed: B) -> Self {
        let (mut texts, mut ends) = (String::new(), Vec::new());
        let value = borrowed.map_texts(&mut |text| {
            texts.push_str(text);
            ends.push(texts.len());
            ""
        });
        Owned { value, texts, ends }
    }

    /// Returns the value again.
    pub(crate) fn get(&self) -> T::At<'_> {
        let (mut begin, mut ends) = (0, self.ends.iter());
        self.value.map_texts(&mut |_| {
            let end = ends.next().copied().unwrap_or(begin);
            self.texts.get(std::mem::replace(&mut begin, end)..end).unwrap_or_default()
        })
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.texts.len() + size_of_val(self.ends.as_slice())
    }
}

impl Texts for Option<&str> {
    type At<'b> = Option<&'b str>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Option<&'b str> {
        self.map(map)
    }
}

impl Texts for Output<'_> {
    type At<'b> = Output<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Output<'b> {
        match self {
            Output::Text(text) => Output::Text(map(text)),
            Output::Json(json) => Output::Json(map(json)),
        }
    }
}

impl Texts for Start<'_> {
    type At<'b> = Start<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Start<'b> {
        Start {
            format: map(self.format),
            framing: map(self.framing),
            dialect: self.dialect.map_texts(map),
            id: self.id.map_texts(map),
            model: self.model.map_texts(map),
            created: self.created,
            input_tokens: self.input_tokens,
            round: self.round,
        }
    }
}

impl Texts for Text<'_> {
    type At<'b> = Text<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Text<'b> {
        Text { text: map(self.text), channel: self.channel.map_texts(map) }
    }
}

impl Texts for Reasoning<'_> {
    type At<'b> = Reasoning<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Reasoning<'b> {
        Reasoning {
            text: map(self.text),
            signature: self.signature.map_texts(map),
            redacted: self.redacted.map_texts(map),
            item_id: self.item_id.map_texts(map),
            part: self.part,
        }
    }
}

impl Texts for Arguments<'_> {
    type At<'b> = Arguments<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Arguments<'b> {
        match self {
            Arguments::None => Arguments::None,
            Arguments::Fragment(text) => Arguments::Fragment(map(text)),
            Arguments::Repaired(text) => Arguments::Repaired(map(text)),
            Arguments::Value(text) => Arguments::Value(map(text)),
            Arguments::Placeholder(text) => Arguments::Placeholder(map(text)),
            Arguments::Done(text) => Arguments::Done(map(text)),
            Arguments::Free(text) => Arguments::Free(map(text)),
        }
    }
}

impl Texts for CallPart<'_> {
    type At<'b> = CallPart<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> CallPart<'b> {
        CallPart {
            id: self.id.map_texts(map),
            name: self.name.map_texts(map),
            signature: self.signature.map_texts(map),
            source: self.source.map_texts(map),
            kind: self.kind.map_texts(map),
            item_id: self.item_id.map_texts(map),
            arguments: self.arguments.map_texts(map),
            key: self.key,
            executor: self.executor,
        }
    }
}

impl Texts for CallEnd<'_> {
    type At<'b> = CallEnd<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> CallEnd<'b> {
        let fault = self.fault.map(|(reason, text)| (reason, map(text)));
        CallEnd { key: self.key, fault }
    }
}

impl Texts for ToolCallStart<'_> {
    type At<'b> = ToolCallStart<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ToolCallStart<'b> {
        ToolCallStart { id: map(self.id), name: map(self.name), index: self.index }
    }
}

impl Texts for ToolCallDelta<'_> {
    type At<'b> = ToolCallDelta<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ToolCallDelta<'b> {
        ToolCallDelta { arguments: map(self.arguments), index: self.index, is_free: self.is_free }
    }
}

impl Texts for ToolCallValue<'_> {
    type At<'b> = ToolCallValue<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ToolCallValue<'b> {
        ToolCallValue { path: map(self.path), value: self.value.map_texts(map), index: self.index }
    }
}

impl Texts for CallInput<'_> {
    type At<'b> = CallInput<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> CallInput<'b> {
        match self {
            CallInput::Arguments(json) => CallInput::Arguments(map(json)),
            CallInput::Text(text) => CallInput::Text(map(text)),
        }
    }
}

impl Texts for ToolCall<'_> {
    type At<'b> = ToolCall<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ToolCall<'b> {
        ToolCall {
            id: map(self.id),
            name: map(self.name),
            source: self.source.map_texts(map),
            signature: self.signature.map_texts(map),
            kind: self.kind.map_texts(map),
            item_id: self.item_id.map_texts(map),
            input: self.input.map_texts(map),
            index: self.index,
            executor: self.executor,
        }
    }
}

impl Texts for InvalidToolCall<'_> {
    type At<'b> = InvalidToolCall<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> InvalidToolCall<'b> {
        InvalidToolCall {
            arguments_raw: map(self.arguments_raw),
            id: self.id.map_texts(map),
            name: self.name.map_texts(map),
            source: self.source.map_texts(map),
            index: self.index,
            reason: self.reason,
        }
    }
}

impl Texts for ToolResult<'_> {
    type At<'b> = ToolResult<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ToolResult<'b> {
        ToolResult {
            id: map(self.id),
            name: self.name.map_texts(map),
            kind: self.kind.map_texts(map),
            output: self.output.map_texts(map),
            is_error: self.is_error,
            executor: self.executor,
        }
    }
}

impl Texts for Block<'_> {
    type At<'b> = Block<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Block<'b> {
        Block {
            name: map(self.name),
            text: map(self.text),
            attributes: self.attributes.map_texts(map),
        }
    }
}

impl Texts for Warning<'_> {
    type At<'b> = Warning<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Warning<'b> {
        Warning {
            message: map(self.message),
            code: self.code,
            offset: self.offset,
            index: self.index,
        }
    }
}

impl Texts for ProviderEvent<'_> {
    type At<'b> = ProviderEvent<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> ProviderEvent<'b> {
        ProviderEvent { event: self.event.map_texts(map), data: self.data.map_texts(map) }
    }
}

impl Texts for Turn<'_> {
    type At<'b> = Turn<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Turn<'b> {
        Turn { append: map(self.append), set: self.set.map_texts(map) }
    }
}

impl Texts for Usage<'_> {
    type At<'b> = Usage<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Usage<'b> {
        Usage {
            raw: map(self.raw),
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            total_tokens: self.total_tokens,
            cached_input_tokens: self.cached_input_tokens,
            cache_write_tokens: self.cache_write_tokens,
            reasoning_tokens: self.reasoning_tokens,
        }
    }
}

impl Texts for Finish<'_> {
    type At<'b> = Finish<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Finish<'b> {
        Finish {
            raw: self.raw.map_texts(map),
            stop_sequence: self.stop_sequence.map_texts(map),
            finish_reason: self.finish_reason,
            inferred: self.inferred,
            wants_tools: self.wants_tools,
        }
    }
}

impl Texts for Failure<'_> {
    type At<'b> = Failure<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Failure<'b> {
        Failure {
            message: map(self.message),
            provider_code: self.provider_code.map_texts(map),
            raw: self.raw.map(|raw| raw.map_texts(map)),
            code: self.code,
            offset: self.offset,
            status: self.status,
            retryable: self.retryable,
        }
    }
}

impl Texts for Kind<'_> {
    type At<'b> = Kind<'b>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Kind<'b> {
        match self {
            Kind::Start(it) => Kind::Start(it.map_texts(map)),
            Kind::Text(it) => Kind::Text(it.map_texts(map)),
            Kind::Reasoning(it) => Kind::Reasoning(it.map_texts(map)),
            Kind::Refusal(text) => Kind::Refusal(map(text)),
            Kind::CallPart(it) => Kind::CallPart(it.map_texts(map)),
            Kind::CallEnd(it) => Kind::CallEnd(it.map_texts(map)),
            Kind::ToolCallStart(it) => Kind::ToolCallStart(it.map_texts(map)),
            Kind::ToolCallDelta(it) => Kind::ToolCallDelta(it.map_texts(map)),
            Kind::ToolCallValue(it) => Kind::ToolCallValue(it.map_texts(map)),
            Kind::ToolCall(it) => Kind::ToolCall(it.map_texts(map)),
            Kind::InvalidToolCall(it) => Kind::InvalidToolCall(it.map_texts(map)),
            Kind::ToolResult(it) => Kind::ToolResult(it.map_texts(map)),
            Kind::Block(it) => Kind::Block(it.map_texts(map)),
            Kind::Warning(it) => Kind::Warning(it.map_texts(map)),
            Kind::ProviderEvent(it) => Kind::ProviderEvent(it.map_texts(map)),
            Kind::Turn(it) => Kind::Turn(it.map_texts(map)),
            Kind::Usage(it) => Kind::Usage(it.map_texts(map)),
            Kind::Finish(it) => Kind::Finish(it.map_texts(map)),
            Kind::Error(it) => Kind::Error(it.map_texts(map)),
            Kind::End => Kind::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_their_places() {
        let part = Kind::CallPart(CallPart {
            id: Some("i"),
            name: None,
            arguments: Arguments::Done("{}"),
            source: Some(""),
            item_id: Some("fc_1"),
            ..CallPart::default()
        });
        let owned = Owned::new(part);
        assert_eq!(owned.get(), part);
        assert_eq!(Owned::new(owned.get()).get(), part);
    }
}
