//! The fields of stream events, of responses, of their items and of the parts
//! of these.

use crate::format::support::prelude::*;

payload! {
    /// One event of a stream, or a complete response. What has a table of its own
    /// is read when its type asks for it.
    pub(super) struct ResponseEvent<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) output_index: Option<u64>,
        item_id: Option<Str<'a>>,
        pub(super) content_index: Option<u64>,
        pub(super) summary_index: Option<u64>,
        /// A piece of text, of arguments, of audio.
        pub(super) delta: Option<Sourced<'a, Str<'a>>>,
        /// Of the tokens of a piece of text.
        pub(super) logprobs: Option<RawJson<'a>>,
        /// The whole of the pieces, which comes at their end, as do the next four. In a
        /// complete response, `text` and `input` are what was asked for.
        text: Option<RawJson<'a>>,
        transcript: Option<Str<'a>>,
        refusal: Option<Str<'a>>,
        arguments: Option<Str<'a>>,
        input: Option<RawJson<'a>>,
        pub(super) partial_image_b64: Option<Str<'a>>,
        pub(super) annotation: Option<RawJson<'a>>,
        /// A [`ResponsePart`].
        pub(super) part: Option<RawJson<'a>>,
        /// An [`ResponseItem`].
        pub(super) item: Option<RawJson<'a>>,
        /// A [`Response`].
        pub(super) response: Option<RawJson<'a>>,
        /// Only a complete response has it.
        pub(super) object: Option<Str<'a>>,
    }
}

/// What an event says of the item that it is of: its place in the output, and its id.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ItemRef<'e> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'e str>,
}

impl<'a> ResponseEvent<'a> {
    /// What it says of the item that it is of.
    pub(super) fn named(&self) -> ItemRef<'_> {
        ItemRef { index: self.output_index, id: self.item_id.non_blank() }
    }

    /// The whole text, if its event says it.
    pub(super) fn whole_text(&self) -> Option<Str<'a>> {
        string(self.text).or_else(|| self.transcript.clone()).or_else(|| self.refusal.clone())
    }

    /// The whole arguments, or the whole input of a custom tool.
    pub(super) fn whole_arguments(&self) -> Option<Str<'a>> {
        self.arguments.clone().or_else(|| string(self.input))
    }
}

/// A string that was kept as its JSON text.
fn string(json: Option<RawJson<'_>>) -> Option<Str<'_>> {
    json::read_again(json?.get()).ok()
}

payload! {
    /// A response: as far as it has come, or complete.
    pub(super) struct Response<'a> {
        pub(super) id: Option<Str<'a>>,
        pub(super) model: Option<Str<'a>>,
        pub(super) created_at: Option<RawJson<'a>>,
        pub(super) status: Option<Str<'a>>,
        /// Each of them an [`ResponseItem`].
        pub(super) output: Option<Vec<RawJson<'a>>>,
        pub(super) usage: Option<RawJson<'a>>,
        error: Option<RawJson<'a>>,
        incomplete_details: Option<Details<'a>>,
        /// The request's options; mistral.rs puts the thoughts here, as a string.
        reasoning: Option<RawJson<'a>>,
        /// Realtime's word for the two above; xAI has a string here.
        status_details: Option<RawJson<'a>>,
    }
}

impl<'a> Response<'a> {
    /// The reason of an incomplete response.
    pub(super) fn reason(&self) -> Option<Str<'a>> {
        self.detail(|details| details.reason.clone())
    }

    /// The error of a failed response.
    pub(super) fn error(&self) -> Option<&'a str> {
        self.error.or_else(|| self.detail(|details| details.error)).map(RawJson::get)
    }

    /// The thoughts, if they are in no item.
    pub(super) fn thoughts(&self) -> Option<Str<'a>> {
        string(self.reasoning)
    }

    fn detail<T>(&self, get: impl Fn(&Details<'a>) -> Option<T>) -> Option<T> {
        match &self.incomplete_details {
            Some(details) => get(details),
            None => get(&json::read_again(self.status_details?.get()).ok()?),
        }
    }
}

payload! {
    struct Details<'a> {
        reason: Option<Str<'a>>,
        error: Option<RawJson<'a>>,
    }

    /// One item of the output: a message, a thought, a call, a result.
    pub(super) struct ResponseItem<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        id: Option<Str<'a>>,
        /// The id that a result has to name; `id` is only the item's.
        call_id: Option<Str<'a>>,
        /// The set of tools that the name is of.
        pub(super) namespace: Option<Str<'a>>,
        pub(super) name: Option<Str<'a>>,
        pub(super) status: Option<Str<'a>>,
        /// Of a message: commentary, or the final answer.
        pub(super) phase: Option<Str<'a>>,
        /// Of a message or a thought; each of them a [`ResponsePart`].
        pub(super) content: Option<Vec<RawJson<'a>>>,
        pub(super) summary: Option<Vec<RawJson<'a>>>,
        pub(super) encrypted_content: Option<Str<'a>>,
        /// A string of JSON; of a tool search, an object.
        pub(super) arguments: Option<RawJson<'a>>,
        input: Option<Str<'a>>,
        action: Option<RawJson<'a>>,
        operation: Option<RawJson<'a>>,
        pub(super) pending_safety_checks: Option<RawJson<'a>>,
        /// The side that searches for tools: `client` or `server`.
        pub(super) execution: Option<Str<'a>>,
        /// The environment that a shell runs in.
        pub(super) environment: Option<Environment<'a>>,
        /// To be returned with a program in the next request.
        pub(super) fingerprint: Option<Str<'a>>,
        output: Option<RawJson<'a>>,
        outputs: Option<RawJson<'a>>,
        result: Option<RawJson<'a>>,
        results: Option<RawJson<'a>>,
        tools: Option<RawJson<'a>>,
        pub(super) error: Option<RawJson<'a>>,
    }
}

impl<'a> ResponseItem<'a> {
    pub(super) fn kind(&self) -> &str {
        self.kind.or_empty()
    }

    /// True if the provider itself gave the item up.
    pub(super) fn is_given_up(&self) -> bool {
        matches!(self.status.text(), Some("incomplete" | "failed" | "cancelled"))
    }

    /// The id that the call's output has to repeat: `call_id`, or `id` where xAI leaves that blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.call_id().or_else(|| self.id.non_blank())
    }

    /// Returns the id that its answer goes by.
    pub(super) fn call_id(&self) -> Option<&str> {
        self.call_id.non_blank()
    }

    /// The id of the item itself, if it has another one for its answer.
    pub(super) fn item_id(&self) -> Option<&str> {
        self.own_id().filter(|_| self.call_id.is_some())
    }

    /// Returns the id of the item itself.
    pub(super) fn own_id(&self) -> Option<&str> {
        self.id.non_empty()
    }

    /// Its type, if it is no plain call of a function.
    pub(super) fn own_kind(&self) -> Option<&str> {
        Some(self.kind()).filter(|kind| !matches!(*kind, "" | "function_call"))
    }

    /// Returns hashes of what distinguishes it from other items: its type and each of its ids, its own
    /// first. Two calls may have one id for their answers.
    pub(super) fn tags(&self) -> impl Iterator<Item = u64> {
        let ids = [(false, self.own_id()), (true, self.call_id())].into_iter();
        ids.filter_map(|(is_call, id)| Some(hash(&(self.kind(), is_call, id?))))
    }

    /// The free text of a custom tool: a function takes none.
    pub(super) fn input(&self) -> Option<&Str<'a>> {
        self.input.as_ref().filter(|_| self.kind() != "function_call")
    }

    /// The object that stands for the arguments of a built-in tool. A word for what is done is one of
    /// them.
    pub(super) fn action(&self) -> Option<&'a str> {
        let action = self.action.or(self.operation).map(RawJson::get);
        action.filter(|json| json.starts_with('{'))
    }

    /// The result of a tool.
    pub(super) fn result(&self) -> Option<&'a str> {
        [self.output, self.outputs, self.result, self.results, self.tools, self.error]
            .into_iter()
            .flatten()
            .map(RawJson::get)
            .next()
    }
}

/// An item and its JSON text.
#[derive(Clone, Copy)]
pub(super) struct Whole<'i> {
    pub(super) item: &'i ResponseItem<'i>,
    pub(super) json: &'i str,
    /// Its place in the output.
    pub(super) place: u64,
}

impl<'i> Whole<'i> {
    /// Returns it as a turn has it.
    pub(super) fn piece(&self) -> Piece<'i> {
        Piece { place: Some(self.place), ..Piece::whole(self.json) }
    }
}

payload! {
    pub(super) struct Environment<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
    }

    /// A part of a message or of a thought.
    pub(super) struct ResponsePart<'a> {
        pub(super) kind: Option<Str<'a>> = "type",
        pub(super) text: Option<Str<'a>>,
        pub(super) refusal: Option<Str<'a>>,
        /// Of spoken text.
        pub(super) transcript: Option<Str<'a>>,
        pub(super) annotations: Option<Vec<RawJson<'a>>>,
        pub(super) logprobs: Option<RawJson<'a>>,
    }
}
