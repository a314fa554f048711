//! The fields of stream events, of messages and of their blocks.

use std::io;

use crate::format::support::prelude::*;

payload! {
    /// One event of a stream. What has a table of its own is read when its type
    /// asks for it.
    pub(in crate::format) struct AnthropicEvent<'a> {
        pub(in crate::format) kind: Option<Str<'a>> = "type",
        pub(in crate::format) index: Option<u64>,
        /// `message_start`: a [`AnthropicMessage`].
        pub(in crate::format) message: Option<RawJson<'a>>,
        /// `content_block_start`: a [`AnthropicBlock`].
        pub(in crate::format) content_block: Option<RawJson<'a>>,
        pub(in crate::format) delta: Option<Sourced<'a, AnthropicDelta<'a>>>,
        /// `message_delta`, as are the next two.
        pub(in crate::format) usage: Option<RawJson<'a>>,
        context_management: Option<RawJson<'a>>,
        input_transformations: Option<RawJson<'a>>,
    }
}

impl AnthropicEvent<'_> {
    /// Returns what a `message_delta` holds of the end.
    pub(in crate::format) fn ending(&self) -> AnthropicEnding<'_> {
        let delta = self.delta.as_ref();
        AnthropicEnding {
            reason: delta.and_then(|delta| delta.stop_reason.as_ref()),
            sequence: delta.and_then(|delta| delta.stop_sequence.as_ref()),
            blocks: [
                ("stop_details", delta.and_then(|delta| delta.stop_details)),
                ("container", delta.and_then(|delta| delta.container)),
                ("context_management", self.context_management),
                ("input_transformations", self.input_transformations),
            ],
        }
    }
}

payload! {
    /// The piece that a `content_block_delta` adds to a block, or a `message_delta` to the
    /// message.
    pub(in crate::format) struct AnthropicDelta<'a> {
        pub(in crate::format) kind: Option<Str<'a>> = "type",
        pub(in crate::format) text: Option<Str<'a>>,
        pub(in crate::format) thinking: Option<Str<'a>>,
        pub(in crate::format) signature: Option<Str<'a>>,
        pub(in crate::format) partial_json: Option<Str<'a>>,
        pub(in crate::format) citation: Option<RawJson<'a>>,
        /// `compaction_delta`, as is the next one.
        pub(in crate::format) content: Option<Str<'a>>,
        pub(in crate::format) encrypted_content: Option<Str<'a>>,
        stop_reason: Option<Str<'a>>,
        stop_sequence: Option<Str<'a>>,
        stop_details: Option<RawJson<'a>>,
        container: Option<RawJson<'a>>,
        /// As in a message.
        pub(in crate::format) error: Option<RawJson<'a>>,
        ; pub(in crate::format) passes_text
    }

    /// A message: as it is when its stream begins, or complete.
    pub(in crate::format) struct AnthropicMessage<'a> {
        pub(in crate::format) id: Option<Str<'a>>,
        pub(in crate::format) model: Option<Str<'a>>,
        /// Each of them a [`AnthropicBlock`].
        pub(in crate::format) content: Option<Vec<RawJson<'a>>>,
        pub(in crate::format) usage: Option<RawJson<'a>>,
        stop_reason: Option<Str<'a>>,
        stop_sequence: Option<Str<'a>>,
        stop_details: Option<RawJson<'a>>,
        container: Option<RawJson<'a>>,
        context_management: Option<RawJson<'a>>,
        input_transformations: Option<RawJson<'a>>,
        /// Of gateways, beside what came before it.
        pub(in crate::format) error: Option<RawJson<'a>>,
    }
}

impl Sourced<'_, AnthropicDelta<'_>> {
    /// Warns of the members that nothing here reads, and that hold text or an object.
    pub(in crate::format) fn warn_of_unread(&self, out: &mut EventOut) -> Done {
        if !self.passes_text {
            return Ok(());
        }
        out.unread(0, self.json, AnthropicDelta::reads)
    }
}

impl AnthropicMessage<'_> {
    /// Returns everything that the model reads, cached or not, if that is known.
    pub(in crate::format) fn input_tokens(&self) -> Option<u64> {
        let usage = Object::new(self.usage?.get());
        let count = |place| usage.get(place)?.parse::<u64>().ok();
        let cached = [count("cache_read_input_tokens"), count("cache_creation_input_tokens")];
        let all = cached.into_iter().flatten().fold(count("input_tokens")?, u64::saturating_add);
        Some(all).filter(|all| *all > 0)
    }

    /// Returns what the message holds of its end.
    pub(in crate::format) fn ending(&self) -> AnthropicEnding<'_> {
        AnthropicEnding {
            reason: self.stop_reason.as_ref(),
            sequence: self.stop_sequence.as_ref(),
            blocks: [
                ("stop_details", self.stop_details),
                ("container", self.container),
                ("context_management", self.context_management),
                ("input_transformations", self.input_transformations),
            ],
        }
    }
}

/// The end of a message, as far as it is known.
pub(in crate::format) struct AnthropicEnding<'e> {
    pub(in crate::format) reason: Option<&'e Str<'e>>,
    pub(in crate::format) sequence: Option<&'e Str<'e>>,
    /// Objects that are passed on as blocks, by their names.
    pub(in crate::format) blocks: [(&'static str, Option<RawJson<'e>>); 4],
}

impl AnthropicEnding<'_> {
    /// The reason, if it is one.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.map(Str::as_str).filter(|raw| !finish::is_none(raw))
    }
}

payload! {
    /// A block of content, as it is at its start or whole.
    pub(in crate::format) struct AnthropicBlock<'a> {
        pub(in crate::format) kind: Option<Str<'a>> = "type",
        pub(in crate::format) text: Option<Str<'a>>,
        pub(in crate::format) citations: Option<Vec<RawJson<'a>>>,
        pub(in crate::format) thinking: Option<Str<'a>>,
        /// Of thinking, and of a compaction.
        pub(in crate::format) signature: Option<Str<'a>>,
        /// Of redacted thinking.
        pub(in crate::format) data: Option<Str<'a>>,
        pub(in crate::format) id: Option<Str<'a>>,
        pub(in crate::format) name: Option<Str<'a>>,
        input: Option<RawJson<'a>>,
        pub(in crate::format) tool_use_id: Option<Str<'a>>,
        is_error: Option<bool>,
        /// A result, or the text of a compaction.
        content: Option<RawJson<'a>>,
        pub(in crate::format) encrypted_content: Option<Str<'a>>,
    }
}

impl AnthropicBlock<'_> {
    /// The arguments that stand in the block. An empty string is none.
    pub(in crate::format) fn input(&self) -> Option<&str> {
        self.input.map(RawJson::get).filter(|json| *json != "\"\"")
    }

    /// Returns a tool's result: its output is a JSON value. The tool failed if that is stated, as MCP's
    /// results do, or if it is of type `…_error`, as that of the provider's own tools is.
    pub(in crate::format) fn result(&self) -> ToolResult<'_> {
        let output = self.content.map_or("null", RawJson::get);
        let is_failure = Object::new(output).kind("type").ends_with("_error");
        let is_error = self.is_error.or(is_failure.then_some(true));
        let (id, output) = (self.tool_use_id.or_empty(), Output::Json(output));
        ToolResult { id, output, is_error, ..ToolResult::default() }
    }

    /// The text of a compaction, which is null while it is not known, or its JSON if it is no text.
    pub(in crate::format) fn summary(&self) -> Str<'_> {
        self.content.map_or_else(Str::default, |json| match json.get() {
            "null" => Str::default(),
            json => json::text(json),
        })
    }
}

/// Returns a member that should be an object; of anything else nothing, with a warning.
pub(in crate::format) fn object<'j>(
    name: &str,
    json: Option<RawJson<'j>>,
    out: &mut EventOut,
) -> io::Result<Option<RawJson<'j>>> {
    let json = json.filter(|json| json.get().starts_with('{'));
    if json.is_none() {
        let message = format!("the field {name} was left out: it is no object");
        out.warn(WarningCode::WrongType, &message)?;
    }
    Ok(json)
}
