//! The places that the machine may be in, each with what exists only there.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dialect::body::BodyReader;
use crate::dialect::machine::DialectMachine;
use crate::dialect::machine::grammar::{
    CallForm, CallId, DoubtId, RegionForm, RegionId, SectionForm, SectionId,
};
use crate::scan::{CapturedWord, Captures};

/// A place in the text.
pub(crate) enum TextPlace {
    Text(OpenText),
    Region(OpenRegion),
    /// In a thought, after the opener of a call.
    Draft(Box<OpenDraft>),
    /// After the opener of a call, where none can be read.
    Doubt(Box<OpenDoubt>),
    /// In a section, between its calls.
    Section(Box<OpenSection>),
    Call(OpenCall),
}

impl Default for TextPlace {
    fn default() -> Self {
        TextPlace::Text(OpenText::default())
    }
}

/// The places that have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RulesKey {
    /// True if it is not decided whether the text is a thought.
    Text(bool),
    Region(RegionId),
    /// The thought; `None` in text that may be one.
    Draft(Option<RegionId>),
    /// True if it is not decided whether the text is a thought.
    Doubt(DoubtId, bool),
    Section(SectionId),
    Between(CallId, Option<SectionId>),
    Value(CallId, Option<SectionId>),
    Closing(CallId, Option<SectionId>),
}

impl TextPlace {
    /// Returns what the rules of the place depend on; `None` if it has none.
    pub(crate) fn rules_key(&self) -> Option<(RulesKey, [&[CapturedWord<'static>]; 3])> {
        let call = match self {
            TextPlace::Text(open) => {
                return Some((RulesKey::Text(open.undecided.is_some()), [&[]; 3]));
            }
            TextPlace::Region(open) => {
                return Some((RulesKey::Region(open.id), [&open.words.words, &[], &[]]));
            }
            TextPlace::Draft(draft) => {
                return Some(match &draft.outer {
                    DraftPlace::Thought(open) => {
                        (RulesKey::Draft(Some(open.id)), [&open.words.words, &[], &[]])
                    }
                    DraftPlace::Text(_) => (RulesKey::Draft(None), [&[]; 3]),
                });
            }
            TextPlace::Doubt(doubt) => {
                return Some((
                    RulesKey::Doubt(doubt.id, doubt.outer.undecided.is_some()),
                    [&[]; 3],
                ));
            }
            TextPlace::Section(open) => {
                return Some((RulesKey::Section(open.id), [&open.words.words, &[], &[]]));
            }
            TextPlace::Call(call) => call,
        };
        let section = call.section.as_ref().map(|section| section.id);
        let (key, value) = match &call.part {
            CallPlace::Body(_) => return None,
            CallPlace::Between(_) => (RulesKey::Between(call.id, section), None),
            CallPlace::Value(value) => (RulesKey::Value(call.id, section), value.keys.last()),
            CallPlace::Head | CallPlace::Loose | CallPlace::Broken => {
                (RulesKey::Closing(call.id, section), None)
            }
        };
        let of_value = value.map_or(&[][..], |value| &value.words);
        let of_section = call.section.as_ref().map_or(&[][..], |open| &open.words.words);
        Some((key, [&call.words.words, of_value, of_section]))
    }
}

/// The answer's text.
#[derive(Default)]
pub(crate) struct OpenText {
    /// True where the message begins, or the answer after a thought.
    pub(crate) is_start: bool,
    pub(crate) space: Space,
    /// Text that may turn out to be reasoning; `None` once that is decided.
    pub(crate) undecided: Option<String>,
}

/// White space after a call: markup if another call or the end follows, or else
/// text. `None` once text has come.
pub(crate) type Space = Option<String>;

/// A region that is open.
pub(crate) struct OpenRegion {
    pub(crate) id: RegionId,
    pub(crate) form: Arc<RegionForm>,
    /// The words of its opener.
    pub(crate) words: Captures<'static>,
    /// The text so far, if it is a block.
    pub(crate) block: String,
    /// The region that a block stands in.
    pub(crate) outer: Option<Box<OpenRegion>>,
}

impl OpenRegion {
    pub(crate) fn new(id: RegionId, form: Arc<RegionForm>, words: Captures<'static>) -> Self {
        OpenRegion { id, form, words, block: String::new(), outer: None }
    }
}

/// A section that is open.
pub(crate) struct OpenSection {
    pub(crate) id: SectionId,
    pub(crate) form: Arc<SectionForm>,
    /// Its opener, and the words of that.
    pub(crate) marker: String,
    pub(crate) words: Captures<'static>,
    /// The number of calls of the message that came before it.
    pub(crate) before: u64,
    pub(crate) space: Space,
}

/// A call in a thought, and all after it: a draft if the thought closes, or else the thought was
/// over where the call began.
pub(crate) struct OpenDraft {
    pub(crate) outer: DraftPlace,
    pub(crate) text: String,
    /// Reads the text as what follows the thought, to tell whether a closer stands in a value.
    pub(crate) reader: DialectMachine,
    /// The place of the first closer that stands in a value.
    pub(crate) inner: Option<usize>,
}

/// The opener of a call in text, and what follows it and can't be read.
pub(crate) struct OpenDoubt {
    pub(crate) id: DoubtId,
    pub(crate) outer: OpenText,
    pub(crate) text: String,
    /// The length of the opener, in bytes.
    pub(crate) opener: usize,
}

/// The place that a draft stands in.
pub(crate) enum DraftPlace {
    Thought(OpenRegion),
    /// Text that may turn out to be a thought, whose opener was in the prompt.
    Text(String),
}

/// A call that is open.
pub(crate) struct OpenCall {
    pub(crate) id: CallId,
    pub(crate) form: Arc<CallForm>,
    /// The words of its opener, and of its section's.
    pub(crate) words: Captures<'static>,
    /// The section around it.
    pub(crate) section: Option<Box<OpenSection>>,
    pub(crate) part: CallPlace,
}

/// A part of a call.
pub(crate) enum CallPlace {
    /// Before the arguments, where the opener has the name: there may be none.
    Head,
    /// In a body that has an end of its own.
    Body(BodyReader),
    /// In arguments that are no object.
    Loose,
    /// Between its arguments, or before its closer; with what parts it from a
    /// further object, if it needs no closer.
    Between(Space),
    Value(OpenValue),
    /// In what can't be read, before its closer.
    Broken,
}

/// A value that is open, or several inside one another.
#[derive(Default)]
pub(crate) struct OpenValue {
    /// The words of their openers, the outermost first.
    pub(crate) keys: SmallVec<[Captures<'static>; 1]>,
    /// The number of parameters that were opened in it and not closed, outside of calls that
    /// it quotes: if there are any, its end is not known.
    pub(crate) inner: usize,
    /// True once a parameter was opened in it, outside of calls.
    pub(crate) quotes_parameter: bool,
    /// True once a parameter was closed in it that was not opened: beside one that was, or a call,
    /// its end is not known either.
    pub(crate) has_stray: bool,
    /// The calls that were opened in it and not closed, with their parameters.
    pub(crate) nested: SmallVec<[Nested; 4]>,
    /// True once a call was opened in it.
    pub(crate) quotes_call: bool,
    /// True if a closer of a call or of a parameter in it closes none that was opened in it.
    pub(crate) is_uneven: bool,
    /// True if the closers of a call that was opened in it don't add up.
    pub(crate) is_torn: bool,
    /// True once it may have ended.
    pub(crate) is_weak: bool,
    /// Where the call may have ended without this value's closer.
    pub(crate) end: Option<PossibleEnd>,
}

/// What is open in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    Call,
    Parameter,
}

/// Where a call may have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PossibleEnd {
    /// The length of its markup.
    pub(crate) length: usize,
    /// True if its section ended there as well.
    pub(crate) ends_section: bool,
}

impl OpenCall {
    pub(crate) fn has_closer(&self) -> bool {
        !self.form.close.is_empty()
    }

    /// True after an object of a call that has no closer: what comes may be another object of it.
    pub(crate) fn is_after_object(&self) -> bool {
        !self.has_closer() && matches!(self.part, CallPlace::Between(_))
    }
}
