//! The way back: what the next request has to hold of an answer, in the provider's own JSON.
//!
//! A format whose provider has a conversation gives a [`Request`]: which member of a request the
//! conversation is, a [`Turn`] that gathers what came of an answer, and how results, tools and a
//! choice of tools are written. Formats that are one provider's kin share one.

use std::borrow::Cow;

use crate::event::{FinishReason, Output, Reason};
use crate::format::support::draft::object;
use crate::format::support::object::Object;
use crate::frame::Frame;
use crate::json;

/// The row of a provider for the requests that go on with a conversation.
#[derive(Debug)]
pub struct Request {
    /// The member that holds the conversation: `messages`, `input`, `contents`.
    pub list: &'static str,
    /// The form of its requests, which its kin shares.
    pub shape: &'static Shape,
    /// A part of the address that its requests are sent to, which no other address has.
    pub endpoint: &'static str,
    /// Members that tell its requests from those of its kin; none for the one that most speak.
    pub marks: &'static [&'static str],
    /// The member that takes the place of the conversation before, where a provider keeps it: the
    /// id of the last answer. The list then holds only what is new.
    pub by_id: Option<&'static str>,
    /// A new builder for one choice of a message.
    pub turn: fn(choice: u64) -> Box<dyn Turn>,
    /// Fits the elements of a turn to the request that they are appended to: its ids, what a server
    /// that stores nothing can read.
    pub fit: fn(request: &str, append: Vec<String>) -> Vec<String>,
    /// True if an element of the conversation is the model's own.
    pub is_answer: fn(element: &str) -> bool,
    /// The paths of members that show an element to be a turn that the provider paused, written as in
    /// `marks`: an answer may follow it.
    pub paused: &'static [&'static str],
    /// The calls in the elements of a turn that the caller has to answer, in their order.
    pub calls: fn(append: &[String]) -> Vec<Call>,
    /// The elements that answer calls: all calls of the turn, in their order.
    pub results: fn(answers: &[Answer<'_>]) -> Vec<String>,
    /// The element that is a user's text: where results stand in text.
    pub user: fn(text: &str) -> String,
    /// Where the system's text stands, and its form.
    pub system: System,
    /// A new request without words: what the format demands, and that the answer be a stream. One
    /// that names its model has a member `model`; the others have it in their address.
    pub new: &'static str,
    /// The member that declares tools, and its value.
    pub tools: fn(tools: &[Declaration]) -> (&'static str, String),
    /// The member of the request that restricts which tools may be called.
    pub choice: Option<&'static ToolChoice>,
}

/// The place of the system's text in a request.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// The members that it may be, the usual one first; none where it is the first element of the
    /// conversation.
    pub paths: &'static [&'static str],
    /// The member's value, or the element, as JSON.
    pub form: fn(text: &str) -> String,
}

impl System {
    /// A text in a member.
    pub(crate) const fn text(paths: &'static [&'static str]) -> Self {
        System { paths, form: json::quote }
    }
}

/// The form of a request: what tells it from others with the same list.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// The format that it is named after.
    pub name: &'static str,
    /// The paths of members that requests of this form may have, and others with the same list
    /// have not: keys joined by dots, `*` for each element of a list, and `KEY=WORD` for a member
    /// that is this string. A request is of the form that it has most marks of.
    pub marks: &'static [&'static str],
}

impl Shape {
    /// The form of requests that are told by their list alone.
    pub const ANY: &'static Shape = &Shape { name: "", marks: &[] };
}

/// Gathers what the next request has to hold of one choice of a message, from the frames of the
/// provider.
pub trait Turn: Send {
    /// Takes the next frame of the message.
    fn feed(&mut self, frame: &Frame<'_>);
    /// About how many bytes are kept.
    fn size(&self) -> usize;
    /// The message ended well: returns what is to be appended.
    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete>;
}

/// The end of a message.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The reason why the model stopped.
    pub finish_reason: FinishReason,
    /// True if the caller has calls to run.
    pub wants_tools: bool,
    /// The calls that must not be run, in the order of their indexes.
    pub invalid: Vec<Invalid>,
}

impl Ending {
    /// Returns for each call of a turn, by the ids that the provider sent, true if nothing of it
    /// goes back: it is not whole, or has no name to be answered by.
    pub(crate) fn dropped(&self, ids: &[Option<String>]) -> Vec<bool> {
        let drops = |(at, id): (usize, &Option<String>)| {
            let is_only = id.is_some() && ids.iter().filter(|other| *other == id).count() == 1;
            self.invalid.iter().any(|invalid| {
                invalid.is_dropped()
                    && invalid.id == *id
                    && (is_only || usize::try_from(invalid.index) == Ok(at))
            })
        };
        ids.iter().enumerate().map(drops).collect()
    }

    /// Takes the calls of which nothing goes back out of the elements of a turn, whose ids `id`
    /// returns.
    pub(crate) fn retain<E>(
        &self,
        elements: &mut Vec<E>,
        id: impl Fn(&E) -> Option<String>,
        is_call: impl Fn(&E) -> bool,
    ) {
        let ids: Vec<_> = elements.iter().map(id).collect();
        let mut dropped = self.dropped(&ids).into_iter();
        elements.retain(|element| !(dropped.next().unwrap_or_default() && is_call(element)));
    }
}

/// Returns why a message without text and calls is not appended.
pub(crate) fn no_content(ending: &Ending) -> Incomplete {
    let dropped = ending.invalid.iter().find(|call| call.is_dropped());
    Incomplete(Cow::Borrowed(match dropped.map(|call| call.reason) {
        Some(Reason::NoName) => {
            "the call of the message names no tool, and nothing else is left of it"
        }
        Some(_) => "the call of the message was cut, and nothing else is left of it",
        None => "the message has neither text nor calls",
    }))
}

/// A call that must not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Its place among all calls of the choice, in order of first appearance.
    pub index: u64,
    /// The provider's id, if it sent one.
    pub id: Option<String>,
    /// The reason.
    pub reason: Reason,
}

impl Invalid {
    /// True if nothing of the call goes back.
    fn is_dropped(&self) -> bool {
        matches!(self.reason, Reason::Truncated | Reason::NoName | Reason::Withdrawn)
    }
}

/// The messages and members that a request grows by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// Elements of the conversation, each a JSON object as text.
    pub append: Vec<String>,
    /// Members of the request to set: a name, and JSON as text.
    pub set: Vec<(&'static str, String)>,
}

/// The reason why nothing of a message can be appended: a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete(pub Cow<'static, str>);

/// A call in a turn, as far as its answer needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The provider's id that the answer repeats; none if it sent none.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The provider's type of the call, if it is no plain function.
    pub kind: Option<String>,
    /// The provider's JSON of the call.
    pub json: String,
}

impl Call {
    /// True if it is a call of this tool with this input. That of a tool with a type of its own is
    /// not compared.
    pub(crate) fn is(&self, name: &str, input: &str) -> bool {
        let own = Object::new(&self.json);
        let own = own.get("function.arguments|arguments|input|args").and_then(object);
        let own = own.map(|own| json::minify(&own));
        let is_same = |own: String| own == input || json::without_doubles(&own) == input;
        self.name == name && (self.kind.is_some() || own.is_none_or(is_same))
    }
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The call.
    pub call: &'a Call,
    /// The tool's output: text, or JSON. A list of MCP's blocks of content is translated into the
    /// provider's; one of the provider's own passes as it is.
    pub output: Output<'a>,
    /// True if the tool failed.
    pub is_error: bool,
}

/// A tool that the model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The description of the tool.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: String,
}

/// The member of a request that restricts which tools may be called, and its form.
#[derive(Debug)]
pub struct ToolChoice {
    /// The paths that it may stand at, keys joined by dots.
    pub paths: &'static [&'static str],
    /// For a value that makes the model call a tool, the value that leaves it to the model, and
    /// restricts it in no other way; the empty text if the member has to go. Both are JSON.
    pub relax: fn(json: &str) -> Option<String>,
    /// The value that forbids calls, as JSON; none if there is no such thing.
    pub none: Option<&'static str>,
}
