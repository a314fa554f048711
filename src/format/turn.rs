//! The way back: what the next request has to hold of an answer, in the provider's own JSON.
//!
//! A format whose provider has a conversation gives a [`Request`]: which member of a request the
//! conversation is, a [`TurnDraft`] that gathers what came of an answer, and how results, tools and a
//! choice of tools are written. Formats that are one provider's kin share one.

use std::borrow::Cow;

use crate::event::{FinishReason, Of, Output, Piece, Reason};
use crate::format::support::draft::{Draft, Drafts};
use crate::json;

/// The row of a provider for the requests that go on with a conversation.
#[derive(Debug)]
pub struct Request {
    /// The member that holds the conversation: `messages`, `input`, `contents`.
    pub list: &'static str,
    /// The form of its requests, which its kin shares.
    pub shape: &'static Shape,
    /// The ends of the paths that its requests are sent to.
    pub endpoints: &'static [&'static str],
    /// True if the answer is a stream unless the request says otherwise.
    pub streams: bool,
    /// Members that tell its requests from those of its kin; none for the one that most speak.
    pub marks: &'static [&'static str],
    /// The member that takes the place of the conversation before, where a provider keeps it: the
    /// id of the last answer. The list then holds only what is new.
    pub by_id: Option<&'static str>,
    /// Adds the next piece of an object of the message.
    pub add: fn(turn: &mut TurnDraft, of: Of, piece: Piece<'_>),
    /// The message ended well: returns what is to be appended.
    pub finish: fn(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete>,
    /// Fits the elements of a turn to the request that they are appended to: its ids, what a server
    /// that stores nothing can read.
    pub fit: fn(request: &str, append: Vec<String>) -> Vec<String>,
    /// True if an element of the conversation is the model's own.
    pub is_answer: fn(element: &str) -> bool,
    /// The paths of members that show an element to be a turn that the provider paused, written as in
    /// `marks`: an answer may follow it.
    pub paused: &'static [&'static str],
    /// The calls in the elements of a turn that the caller has to answer, in their order.
    pub calls: fn(append: &[String]) -> Vec<NativeCall>,
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

/// What the next request has to hold of one choice of a message, put together from the pieces of the
/// provider's own JSON.
#[derive(Debug, Default)]
pub struct TurnDraft {
    /// The members of the message itself.
    pub(crate) message: Draft,
    /// Its calls, and whatever else it is a list of.
    pub(crate) objects: Drafts,
}

impl TurnDraft {
    /// Takes out all objects of which something goes back.
    pub(crate) fn take(&mut self, ending: &Ending) -> Vec<Draft> {
        let objects = self.take_all(ending);
        objects.filter_map(|(draft, is_dropped)| (!is_dropped).then_some(draft)).collect()
    }

    /// Takes out all objects, each with true if it is a call of which nothing goes back.
    pub(crate) fn take_all(
        &mut self,
        ending: &Ending,
    ) -> impl DoubleEndedIterator<Item = (Draft, bool)> {
        self.objects.take().map(|(of, draft)| (draft, ending.drops(of)))
    }

    /// True if a piece of what goes back is lost: it is of another type than those before it.
    pub(crate) fn is_damaged(&self, ending: &Ending) -> bool {
        let mut objects = self.objects.iter();
        self.message.is_damaged()
            || objects.any(|(of, draft)| draft.is_damaged() && !ending.is_invalid(of))
    }

    /// About how many bytes are kept.
    pub(crate) fn size(&self) -> usize {
        self.message.size() + self.objects.size()
    }
}

/// The end of a message.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The reason why the model stopped.
    pub finish_reason: FinishReason,
    /// True if the caller has calls to run.
    pub wants_tools: bool,
    /// The calls that must not be run: their indexes, and the reasons.
    pub invalid: Vec<(u64, Reason)>,
}

impl Ending {
    /// True for a call that must not be run.
    pub(crate) fn is_invalid(&self, of: Of) -> bool {
        self.invalid.iter().any(|(index, _)| of == Of::Call(*index))
    }

    /// True for a call of which nothing goes back: it is not whole, has no name to be answered by,
    /// or was taken back.
    pub(crate) fn drops(&self, of: Of) -> bool {
        self.invalid.iter().any(|(index, reason)| of == Of::Call(*index) && is_dropped(*reason))
    }
}

/// True if nothing goes back of a call that must not be run for this reason.
fn is_dropped(reason: Reason) -> bool {
    matches!(reason, Reason::Truncated | Reason::NoName | Reason::Withdrawn)
}

/// Returns why a message without text and calls is not appended.
pub(crate) fn no_content(ending: &Ending) -> Incomplete {
    let dropped = ending.invalid.iter().find(|(_, reason)| is_dropped(*reason));
    Incomplete(Cow::Borrowed(match dropped.map(|(_, reason)| *reason) {
        Some(Reason::NoName) => {
            "the call of the message names no tool, and nothing else is left of it"
        }
        Some(_) => "the call of the message was cut, and nothing else is left of it",
        None => "the message has neither text nor calls",
    }))
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
pub struct NativeCall {
    /// The provider's id that the answer repeats; none if it sent none.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The provider's type of the call, if it is no plain function.
    pub kind: Option<String>,
    /// The provider's JSON of the call.
    pub json: String,
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The call.
    pub call: &'a NativeCall,
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
