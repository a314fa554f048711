//! Events that outlive the call that they came in.

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::event::{
    Arguments, Block, CallEnd, CallInput, CallPart, Code, EndReason, Executor, Failure, Finish,
    FinishReason, InvalidToolCall, Key, Kind, Loose, Native, Of, Output, Piece, Prompt,
    ProviderEvent, Ran, Reason, Reasoning, RunEnd, Start, Text, ToolCall, ToolCallDelta,
    ToolCallStart, ToolCallValue, ToolResult, Turn, Usage, Warning, WarningCode, Withdrawn,
};

/// Returns another text in place of each.
type Map<'m, 'b> = dyn FnMut(&str) -> &'b str + 'm;

/// A value that borrows text, and can borrow it from elsewhere.
pub(crate) trait BorrowsText: Copy {
    /// The same type for another lifetime.
    type At<'b>: BorrowsText;
    /// Returns the value with each of its texts replaced by what `map` returns
    /// for it. The texts always come in the same order.
    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Self::At<'b>;
}

/// The most bytes of a buffer that is kept for another value.
const MAX_KEPT: usize = 4 << 10;

/// A copy of a value with the texts that it borrows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owned<T> {
    /// The value without its texts.
    value: T,
    /// Its texts, one after another.
    texts: String,
    /// The end of each of them.
    ends: SmallVec<[usize; 4]>,
}

impl<T: BorrowsText> Owned<T> {
    /// Copies a value.
    pub(crate) fn new<B: BorrowsText<At<'static> = T>>(borrowed: B) -> Self {
        let (mut texts, mut ends) = (String::new(), SmallVec::new());
        let value = copy(borrowed, &mut texts, &mut ends);
        Owned { value, texts, ends }
    }

    /// Copies a value in place of this one, into the same buffers.
    pub(crate) fn set<B: BorrowsText<At<'static> = T>>(&mut self, borrowed: B) {
        self.texts.clear();
        self.texts.shrink_to(MAX_KEPT);
        self.ends.clear();
        self.value = copy(borrowed, &mut self.texts, &mut self.ends);
    }

    /// Returns the value again.
    pub(crate) fn get(&self) -> T::At<'_> {
        let (mut begin, mut ends) = (0, self.ends.iter());
        self.value.map_texts(&mut |_| {
            let end = ends.next().copied().unwrap_or(begin);
            self.texts.within(std::mem::replace(&mut begin, end)..end)
        })
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.texts.len() + size_of_val(self.ends.as_slice())
    }
}

/// Returns a value without its texts, and appends these.
fn copy<B: BorrowsText>(
    borrowed: B,
    texts: &mut String,
    ends: &mut SmallVec<[usize; 4]>,
) -> B::At<'static> {
    borrowed.map_texts(&mut |text| {
        texts.push_str(text);
        ends.push(texts.len());
        ""
    })
}

impl BorrowsText for &str {
    type At<'b> = &'b str;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> &'b str {
        map(self)
    }
}

impl<T: BorrowsText> BorrowsText for Option<T> {
    type At<'b> = Option<T::At<'b>>;

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Option<T::At<'b>> {
        self.map(|value| value.map_texts(map))
    }
}

impl<A: BorrowsText, B: BorrowsText> BorrowsText for (A, B) {
    type At<'b> = (A::At<'b>, B::At<'b>);

    fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> Self::At<'b> {
        (self.0.map_texts(map), self.1.map_texts(map))
    }
}

/// Implements [`BorrowsText`] for types without texts, for structs by their fields, and
/// for enums by their variants, those without a value last.
macro_rules! texts {
    ($($plain:ident)+) => {$(
        impl BorrowsText for $plain {
            type At<'b> = $plain;

            fn map_texts<'b>(self, _: &mut Map<'_, 'b>) -> $plain {
                self
            }
        }
    )+};
    ($(struct $type:ident { $($field:ident),+ })+) => {$(
        impl BorrowsText for $type<'_> {
            type At<'b> = $type<'b>;

            fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> $type<'b> {
                $type { $($field: self.$field.map_texts(map)),+ }
            }
        }
    )+};
    ($(enum $type:ident { $($variant:ident),+ $(; $($unit:ident),+)? })+) => {$(
        impl BorrowsText for $type<'_> {
            type At<'b> = $type<'b>;

            fn map_texts<'b>(self, map: &mut Map<'_, 'b>) -> $type<'b> {
                match self {
                    $($type::$variant(value) => $type::$variant(value.map_texts(map)),)+
                    $($($type::$unit => $type::$unit,)+)?
                }
            }
        }
    )+};
}

texts! { bool u16 u64 Code EndReason Executor FinishReason Key Of Ran Reason WarningCode }

texts! {
    struct Start { format, framing, dialect, id, model, created, input_tokens, round, attempt, file }
    struct Prompt { text, role, media }
    struct Text { text, channel }
    struct Reasoning { text, signature, redacted, part, item_id }
    struct CallPart {
        key, id, name, has_name_pieces, arguments, executor, is_undecided, signature, source, kind, namespace,
        item_id, native
    }
    struct Piece { json, is_whole, place }
    struct Native { of, piece }
    struct CallEnd { key, fault }
    struct ToolCallStart { index, id, name }
    struct ToolCallDelta { index, arguments, is_free, is_ours }
    struct ToolCallValue { index, path, value }
    struct ToolCall { index, id, is_made_up, namespace, name, input, source, executor, signature, kind, item_id }
    struct InvalidToolCall { index, id, name, arguments_raw, reason, source }
    struct ToolResult { id, name, output, is_error, kind, executor, ran }
    struct Block { name, text, attributes }
    struct Warning { code, message, offset, index }
    struct ProviderEvent { event, data }
    struct Turn { append, set }
    struct Usage {
        input_tokens, output_tokens, total_tokens, cached_input_tokens, cache_write_tokens,
        reasoning_tokens, raw
    }
    struct RunEnd { reason, rounds, calls, usage }
    struct Finish { finish_reason, raw, stop_sequence, inferred, wants_tools }
    struct Failure { code, message, offset, provider_code, status, retryable, retried, raw }
}

texts! {
    enum Output { Text, Json }
    enum Arguments { Fragment, Repaired, Value, Placeholder, Done, Free, Misnamed; None }
    enum CallInput { Arguments, Text }
    enum Withdrawn { Call; All, OfText }
    enum Loose { CallPart, CallEnd, CallHeld, Native, Withdrawn; Released, Lost, End }
    enum Kind {
        Start, Prompt, Text, Reasoning, Refusal, Loose, ToolCallStart, ToolCallDelta, ToolCallValue,
        ToolCall, InvalidToolCall, ToolResult, Block, Warning, ProviderEvent, Turn, Usage, Finish, Error,
        ToolStart, RunEnd, Time; Record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_their_places() {
        let part = Kind::Loose(Loose::CallPart(CallPart {
            id: Some("i"),
            name: None,
            arguments: Arguments::Done("{}"),
            source: Some(""),
            item_id: Some("fc_1"),
            ..CallPart::default()
        }));
        let owned = Owned::new(part);
        assert_eq!(owned.get(), part);
        assert_eq!(Owned::new(owned.get()).get(), part);
    }
}
