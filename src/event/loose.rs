//! What decoders emit and the assembler puts together: fragments of calls, ends, and the provider's
//! own JSON.

use crate::event::{Executor, Reason};

/// What the assembler has still to put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loose<'a> {
    /// A fragment of a tool call.
    CallPart(CallPart<'a>),
    /// The provider closed a call, or it can't be read on.
    CallEnd(CallEnd<'a>),
    /// A call is whole, but who sent it may run it as well: it ends with its result, or when the
    /// calls of its choice are released.
    CallHeld(Key),
    /// The calls that are held have no result: they are the caller's to run.
    Released,
    /// Only for a turn: a piece of the message in the provider's own JSON.
    Native(Native<'a>),
    /// What could not be read may have been a part of any call that is open.
    Lost,
    /// Calls of the caller's that came before are taken back.
    Withdrawn(Withdrawn<'a>),
    /// The format's own end of the message was seen.
    End,
}

/// The calls that are taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawn<'a> {
    /// All: they were another model's.
    All,
    /// Those that were found in text: it was a thought.
    OfText,
    /// That of an id: what came later says otherwise.
    Call(&'a str),
}

impl Withdrawn<'_> {
    /// True if a call is one of them, which has this id and was found in text or not.
    pub(crate) fn is_of(self, id: Option<&str>, is_of_text: bool) -> bool {
        match self {
            Withdrawn::All => true,
            Withdrawn::OfText => is_of_text,
            Withdrawn::Call(own) => id == Some(own),
        }
    }
}

/// The way in which a fragment names the call that it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Not at all.
    #[default]
    None,
    /// By the provider's index: a key, never a size.
    Index(u64),
    /// By its place in the text of a dialect.
    Text(u64),
}

/// The arguments that a fragment adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// Nothing.
    #[default]
    None,
    /// JSON text that continues what came before.
    Fragment(&'a str),
    /// The same, of which something had to be replaced: the call must not run.
    Repaired(&'a str),
    /// A JSON value that the provider sent as it is, not in a string.
    Value(&'a str),
    /// The arguments if no fragment comes: a block's start.
    Placeholder(&'a str),
    /// The arguments as the provider repeats them at the end; they win.
    Done(&'a str),
    /// Free text, for tools that take no JSON.
    Free(&'a str),
    /// None; but this, under a name that the format does not have. If no others come, the call must
    /// not run.
    Misnamed(&'a str),
}

impl<'a> Arguments<'a> {
    /// A JSON value that came with its call. An empty object may be the place of arguments that the
    /// model was stopped before.
    pub(crate) fn of_value(json: &'a str) -> Self {
        match json {
            "{}" => Arguments::Placeholder(json),
            json => Arguments::Value(json),
        }
    }
}

/// A fragment of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallPart<'a> {
    /// The way in which the fragment names its call.
    pub key: Key,
    /// The call's id, if the fragment carries one that is not blank.
    pub id: Option<&'a str>,
    /// The tool's name, or a piece of it.
    pub name: Option<&'a str>,
    /// True if the format sends names in pieces: elsewhere another name contradicts the first.
    pub has_name_pieces: bool,
    /// The arguments that the fragment adds.
    pub arguments: Arguments<'a>,
    /// The executor, if not the caller.
    pub executor: Option<Executor>,
    /// True if who sends the call may run it as well: its end says who does.
    pub is_undecided: bool,
    /// A text that the next request must return with the call.
    pub signature: Option<&'a str>,
    /// The dialect, for calls found in text.
    pub source: Option<&'a str>,
    /// The provider's type of the call, if it is no plain function.
    pub kind: Option<&'a str>,
    /// The provider's second id, of the item that the call is.
    pub item_id: Option<&'a str>,
    /// The set of tools that the name is of, where the provider keeps several apart.
    pub namespace: Option<&'a str>,
    /// The provider's JSON that the fragment was read from, where a turn is made of it.
    pub native: Option<Piece<'a>>,
}

/// A piece of the provider's own JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece<'a> {
    /// One JSON value; of plain text, the text.
    pub json: &'a str,
    /// True if it is all of its object, and not one of several pieces.
    pub is_whole: bool,
    /// Where its object stands among the others, if not after all that came before.
    pub place: Option<u64>,
}

impl<'a> Piece<'a> {
    pub(crate) fn new(json: &'a str, is_whole: bool) -> Self {
        Piece { json, is_whole, place: None }
    }

    /// One of several pieces.
    pub(crate) fn part(json: &'a str) -> Self {
        Piece::new(json, false)
    }

    /// All of an object.
    pub(crate) fn whole(json: &'a str) -> Self {
        Piece::new(json, true)
    }
}

/// A piece of a message in the provider's own JSON: what the next request has to hold of it is made
/// of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Native<'a> {
    /// The object that it is a piece of.
    pub of: Of,
    /// The piece.
    pub piece: Piece<'a>,
}

/// An object of a message that comes in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The message itself.
    Message,
    /// A block, an item or a part, by a number that only this one has.
    Block(u64),
    /// A call, by its index.
    Call(u64),
    /// The format that a message is wrapped in: the piece is the name of the one inside.
    Format,
}

/// The end of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallEnd<'a> {
    /// The call.
    pub key: Key,
    /// The reason why it must not be run, and its text as the model wrote it.
    pub fault: Option<(Reason, &'a str)>,
}
