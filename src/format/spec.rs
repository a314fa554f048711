//! The language in which a row of [`rows`](crate::format::rows) describes a format:
//! where things stand in its records, and which kind of thing each is.
//!
//! A row never says when, depending on what came before: that is the
//! [machine](crate::format::machine)'s, which has the meaning of every word.

use crate::format::format::Repeatable;
use crate::format::support::object::Places;
use crate::format::support::usage::Row;

/// A format as a row.
///
/// Each place is relative to the object that its part is read from, and may be one of several
/// with `|` between them, of which the first that holds anything but null counts. `/x` is a member
/// of the record wherever it is asked for, `x{}` counts only if an object stands there. Empty is
/// no place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// The word that says what a record is; where none stands, the name of its frame counts.
    pub(crate) kind: Places,
    pub(crate) id: Places,
    pub(crate) model: Places,
    /// The time at which the message was begun: a number of seconds, or a date.
    pub(crate) created: Places,
    /// The first that applies says what a record is. A record to which none applies is an error of
    /// any provider's, or unknown.
    pub(crate) on: &'static [Rule],
    pub(crate) usage: &'static [Row],
    /// The warning if `[DONE]` comes before the end of a message, which it ends then. Without one,
    /// `[DONE]` means nothing.
    pub(crate) done: Option<&'static str>,
    /// What may differ in a record that repeats the last one. A row has it only if the records that
    /// hold text hold no counts.
    pub(crate) repeatable: Option<&'static Repeatable>,
}

/// What the records of some kinds mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The kinds; empty for all.
    pub(crate) kind: &'static [&'static str],
    /// The rule applies only if anything stands here.
    pub(crate) has: Places,
    pub(crate) begin: Begin,
    /// True if what the record holds is whole: its calls are numbered as they come, and end.
    pub(crate) whole: bool,
    pub(crate) part: Part,
    /// The object of the counts; `.` if they are members of the record that ends the message.
    pub(crate) usage: Places,
    pub(crate) finish: Places,
    /// The provider's error, which ends the message.
    pub(crate) error: Places,
    /// The member of the record that is quoted with the error; empty for the whole record.
    pub(crate) error_in: &'static str,
    pub(crate) end: End,
}

/// The effect of a record on the beginning of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// None.
    No,
    /// It begins a message unless one is open.
    Late,
    /// It begins a message. One that is open is cut.
    Anew,
}

/// The effect of a record on the end of its message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    No,
    Always,
    /// It is the end if `true` stands here.
    If(Places),
}

/// What the model wrote, as far as one object holds it. Emitted in the order of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) thought: Places,
    pub(crate) text: Places,
    pub(crate) call: Option<Call>,
    /// Places of objects, or of lists of objects, and what each of these holds.
    pub(crate) each: &'static [(Places, &'static Part)],
    /// A name and a place: what stands there is a block; if that is a list, each element is one.
    pub(crate) block: (&'static str, Places),
    /// The key of a call that ends. Where the record has none, all calls end.
    pub(crate) call_end: Places,
}

/// A call, or a piece of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// The number that its pieces have in common.
    pub(crate) key: Places,
    pub(crate) id: Places,
    pub(crate) name: Places,
    /// A string holds a piece of the arguments' JSON, any other value is all of them.
    pub(crate) arguments: Places,
}

impl Spec {
    /// A row that says nothing.
    pub(crate) const NEW: Spec = Spec {
        kind: "",
        id: "",
        model: "",
        created: "",
        on: &[],
        usage: &[],
        done: None,
        repeatable: None,
    };
}

impl Rule {
    /// A rule that applies to all records and passes them over.
    pub(crate) const NEW: Rule = Rule {
        kind: &[],
        has: "",
        begin: Begin::Late,
        whole: false,
        part: Part::NEW,
        usage: "",
        finish: "",
        error: "",
        error_in: "",
        end: End::No,
    };
}

impl Part {
    /// Nothing.
    pub(crate) const NEW: Part =
        Part { thought: "", text: "", call: None, each: &[], block: ("", ""), call_end: "" };
}
