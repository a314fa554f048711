//! The answers to calls, as far as providers write them alike.

use std::borrow::Cow;

use crate::event::Output;
use crate::format::support::draft::Draft;
use crate::format::support::object::Object;
use crate::format::turn::{Answer, Declaration, NativeCall};
use crate::json::{self, AsIs, elements, object_of};

/// The output of a tool.
pub(crate) enum GivenAnswer<'a> {
    Text(Cow<'a, str>),
    /// MCP's blocks of content.
    Blocks(Vec<AnswerBlock>),
    /// A list of objects that may be the provider's own blocks.
    List(&'a str),
    /// Any other JSON.
    Json(&'a str),
}

/// A block of MCP's content.
pub(crate) enum AnswerBlock {
    Text(String),
    /// Bytes as base64.
    Media {
        mime: String,
        data: String,
    },
}

/// True if a message is the model's own, by its role.
pub(crate) fn is_answer(message: &str) -> bool {
    matches!(Object::new(message).word("role").as_deref(), Some("assistant" | "model"))
}

/// Returns the call of a function, with its id and its name at these places.
pub(crate) fn function(call: &Object<'_>, id: &str, name: &str) -> NativeCall {
    let (id, name) = (call.word(id), call.word(name).unwrap_or_default());
    NativeCall { id, name, kind: None, json: call.json.to_owned() }
}

/// Returns the calls in the lists of a turn's messages: what `call` returns of their elements.
pub(crate) fn calls_in(
    append: &[String],
    list: &str,
    call: impl Fn(&Object<'_>) -> Option<NativeCall>,
) -> Vec<NativeCall> {
    let elements = append.iter().flat_map(|message| Object::new(message).each(list));
    elements.filter_map(|json| call(&Object::new(json))).collect()
}

/// Returns what a tool gave, told apart by its shape.
pub(crate) fn given<'a>(output: Output<'a>) -> GivenAnswer<'a> {
    let json = match output {
        Output::Text(text) => return GivenAnswer::Text(Cow::Borrowed(text)),
        Output::Json(json) => json.trim_ascii(),
    };
    if json == "null" {
        return GivenAnswer::Text(Cow::Borrowed(""));
    }
    if let Some(text) = json::string(json) {
        return GivenAnswer::Text(Cow::Owned(text));
    }
    let Some(list) = elements(json).filter(|list| !list.is_empty()) else {
        return GivenAnswer::Json(json);
    };
    match list.iter().map(|json| block(&Object::new(json))).collect() {
        Some(blocks) => GivenAnswer::Blocks(blocks),
        None if list.iter().all(|json| json.starts_with('{')) => GivenAnswer::List(json),
        None => GivenAnswer::Json(json),
    }
}

/// Reads a block of MCP's content, if it is one.
fn block(block: &Object<'_>) -> Option<AnswerBlock> {
    let text = |places| Some(block.text(places)?.as_str().to_owned());
    match block.word("type")?.as_str() {
        "text" => Some(AnswerBlock::Text(text("text")?)),
        "image" | "audio" => {
            Some(AnswerBlock::Media { mime: text("mimeType")?, data: text("data")? })
        }
        "resource" => match text("resource.text") {
            Some(text) => Some(AnswerBlock::Text(text)),
            None => Some(AnswerBlock::Media {
                mime: text("resource.mimeType")?,
                data: text("resource.blob")?,
            }),
        },
        "resource_link" => Some(AnswerBlock::Text(text("uri")?)),
        _ => None,
    }
}

impl GivenAnswer<'_> {
    /// Returns all of it as text. Media has none: its type stands in its place.
    pub(crate) fn text(&self) -> String {
        match self {
            GivenAnswer::Text(text) => text.clone().into_owned(),
            GivenAnswer::List(json) | GivenAnswer::Json(json) => json::minify(json),
            GivenAnswer::Blocks(blocks) => {
                blocks.iter().map(AnswerBlock::text).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The media among the blocks.
    pub(crate) fn media(&self) -> impl Iterator<Item = (&str, &str)> {
        let blocks = match self {
            GivenAnswer::Blocks(blocks) => blocks.as_slice(),
            _ => &[],
        };
        blocks.iter().filter_map(|block| match block {
            AnswerBlock::Text(_) => None,
            AnswerBlock::Media { mime, data } => Some((mime.as_str(), data.as_str())),
        })
    }
}

impl AnswerBlock {
    /// Returns the block as text. Of media, its type.
    pub(crate) fn text(&self) -> String {
        match self {
            AnswerBlock::Text(text) => text.clone(),
            AnswerBlock::Media { mime, .. } => format!("({mime})"),
        }
    }
}

/// True if each element of a list says its type: these may be the provider's own blocks.
pub(crate) fn is_typed(list: &str) -> bool {
    elements(list)
        .is_some_and(|list| list.iter().all(|json| Object::new(json).word("type").is_some()))
}

/// Returns the text of an answer in a format that has no field for failures.
pub(crate) fn plain(answer: &Answer<'_>) -> String {
    let text = given(answer.output).text();
    let begins = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if answer.is_error && !begins { format!("Error: {text}") } else { text }
}

/// Returns an element of a conversation with a role and a text.
pub(crate) fn user(text: &str) -> String {
    object_of!(line; "role": "user", "content": text)
}

/// Returns an element of a conversation with a role and a list.
pub(crate) fn message_of(role: &str, key: &str, list: impl IntoIterator<Item = String>) -> String {
    object_of!(line; "role": role, key: AsIs(&json::array(list)))
}

/// Returns the list of tools, each with its name, its description and, under `key`, its schema.
pub(crate) fn declarations(tools: &[Declaration], key: &str) -> Vec<Draft> {
    let declare = |tool: &Declaration| {
        let mut draft = Draft::of(&[("name", &json::quote(&tool.name))]);
        if let Some(description) = &tool.description {
            draft.set("description", json::quote(description));
        }
        draft.set(key, json::minify(&tool.schema));
        draft
    };
    tools.iter().map(declare).collect()
}

/// Returns the list of tools as objects whose member `key` is the declaration.
pub(crate) fn functions(tools: &[Declaration]) -> String {
    let declared = declarations(tools, "parameters");
    let function =
        |draft: &Draft| object_of!(line; "type": "function", "function": AsIs(&draft.json()));
    json::array(declared.iter().map(function))
}
