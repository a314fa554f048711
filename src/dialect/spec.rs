//! The row of a dialect: its regions and sections, and the forms of its calls. A
//! user's TOML file has the same fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::leak::{self, table};

/// A word of a row. Built-in rows are part of the program; a user's is loaded
/// once and never freed.
pub type Word = &'static str;

/// Several words.
pub type Words = &'static [Word];

table! {
    /// The markup of one family of models.
    pub struct Dialect = EMPTY {
        /// Its name on the command line and in the output.
        name: Word = "", "leak::text";
        /// Names that engines have for it.
        aliases: Words = &[], "leak::texts", default;
        /// The models that write so.
        models: Words = &[], "leak::texts", default;
        /// The place that its text begins in, unless `--start-in` names another.
        start_in: StartIn = StartIn::Text, default;
        /// True if `auto` may find it.
        auto: bool = false, default;
        /// Tags by name, the short way to write regions and calls: see [`Tag`].
        tags: &'static [Tag] = &[], "tags", default;
        /// Regions of text that isn't the answer, or is only a part of it.
        #[serde(rename = "region")]
        regions: &'static [Region] = &[], "leak::list", default;
        /// The markup around groups of calls. If there is any, calls are parsed only
        /// inside.
        #[serde(rename = "section")]
        sections: &'static [Section] = &[], "leak::list", default;
        /// The forms of a call.
        #[serde(rename = "call")]
        calls: &'static [Call] = &[], "leak::list", default;
        /// Patterns of markers without a meaning, which are dropped from the text.
        drops: Words = &[], "leak::texts", default;
        /// The form that the results of its calls take in the next message.
        results: Results = Results::NEW, default;
    }
}

impl Dialect {
    /// Returns the markers that open its tags, regions, sections and calls.
    pub fn markers(&self) -> impl Iterator<Item = String> {
        let tags = self.tags.iter().map(|tag| format!("<{}>", tag.name));
        let regions = self.regions.iter().map(|region| region.open);
        let sections = self.sections.iter().map(|section| section.open);
        let patterns = regions.chain(sections).chain(self.calls.iter().map(|call| call.open));
        tags.chain(patterns.map(str::to_owned))
    }
}

table! {
    /// The form of results: words as they stand in the text, with `{id}` and `{name}` of the call, and
    /// its `{output}`, or as a JSON string `{json}`.
    #[serde(default)]
    pub struct Results = NEW {
        /// The beginning, before the first one.
        open: Word = "", "leak::text";
        /// One result.
        each: Word = "<tool_response>\n{output}\n</tool_response>", "leak::text";
        /// The result of a tool that failed; as any other if it is empty.
        error: Word = "", "leak::text";
        /// The text between two of them.
        between: Word = "\n", "leak::text";
        /// The end, after the last one.
        close: Word = "", "leak::text";
    }
}

impl Results {
    /// Results with nothing around them all, a line each.
    pub const fn of(each: Word) -> Results {
        Results { open: "", each, error: "", between: "\n", close: "" }
    }
}

/// A tag, `<name>` to `</name>`, with or without attributes.
///
/// If the role is `tool`, the name ends in `*`, which stands for the tool's name;
/// the inside is a JSON object, or one element for each argument.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The tag's name.
    pub name: Word,
    /// The meaning of its inside.
    pub role: TagRole,
}

/// Reads a table of tags: their roles by their names.
fn tags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static [Tag], D::Error> {
    let tags = BTreeMap::<String, TagRole>::deserialize(deserializer)?;
    Ok(tags
        .into_iter()
        .map(|(name, role)| Tag { name: name.leak(), role })
        .collect::<Vec<_>>()
        .leak())
}

/// The meaning of a tag's inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagRole {
    /// A part of the answer: its channel is the tag's name.
    Text,
    /// Thinking.
    Reasoning,
    /// Metadata: a block named as the tag.
    Block,
    /// Text that is dropped.
    Drop,
    /// A call.
    Tool,
}

/// A part of the text that is not the answer, or is a named part of it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The pattern of its opener.
    #[serde(deserialize_with = "leak::text")]
    pub open: Word,
    /// The pattern of its closer; empty if only the markers of `ends` end it.
    #[serde(default, deserialize_with = "leak::text")]
    pub close: Word,
    /// The meaning of its text.
    pub role: Role,
    /// The channel of its text, or the block's name.
    #[serde(default, deserialize_with = "leak::text")]
    pub name: Word,
    /// The markers that end it beside its closer.
    #[serde(default)]
    pub ends: Ends,
}

impl Region {
    /// A region of thinking that the opener of a call ends as well.
    pub const fn reasoning(open: Word, close: Word) -> Region {
        Region { open, close, role: Role::Reasoning, name: "", ends: Ends::Calls }
    }

    /// A region of the answer that any other opener ends as well.
    pub const fn answer(open: Word, close: Word) -> Region {
        Region { open, close, role: Role::Text, name: "", ends: Ends::Anything }
    }
}

/// The markers that end a region beside its closer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// None.
    #[default]
    Closer,
    /// The openers of calls and of sections; in a thought, only where no closer follows.
    Calls,
    /// Any opener of the dialect.
    Anything,
}

/// The meaning of a region's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A part of the answer.
    Text,
    /// Thinking.
    Reasoning,
    /// Metadata: a block by itself.
    Block,
    /// Text that is dropped.
    Drop,
}

/// The markup around a group of calls. Its closer may be missing at the end of
/// the text; if the user chose the dialect, its opener may be missing as well.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The pattern of its opener; a call's opener must follow it.
    #[serde(deserialize_with = "leak::text")]
    pub open: Word,
    /// The pattern of its closer.
    #[serde(deserialize_with = "leak::text")]
    pub close: Word,
    /// True if it is never missing: calls outside of it are text.
    #[serde(default)]
    pub required: bool,
}

impl Section {
    /// A section that a model may forget.
    pub const fn new(open: Word, close: Word) -> Section {
        Section { open, close, required: false }
    }
}

/// Where the text of a model begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum StartIn {
    /// In the answer.
    #[default]
    Text,
    /// In the model's thinking: the prompt has already opened it.
    Reasoning,
    /// In the thinking if that is closed without having been opened.
    Auto,
}

table! {
    /// The form of a call.
    pub struct Call = NEW {
        /// The pattern of its opener, which may hold the tool's name.
        open: Word = "", "leak::text";
        /// The pattern of its closer; empty if the call ends with its body.
        close: Word = "", "leak::text", default;
        /// The form of its inside.
        body: Body = Body::Arguments;
        /// Patterns of which one must follow the opener. If there is none, the body's
        /// own beginning must.
        next: Words = &[], "leak::texts", default;
        /// The pattern that begins another call in the same markup, after the body of one; empty if
        /// none may follow.
        again: Word = "", "leak::text", default;
        /// True if it is a call only where `--tools` has the tool.
        known: bool = false, default;
        /// True if the opener is ordinary text, so that the model may merely be quoting it: in a
        /// thought it is none, if the dialect has another form; where the dialect is found out and
        /// `--tools` has any tools, the name in it must be one of theirs.
        narrated: bool = false, default;
    }
}

impl Call {
    /// A call whose body is JSON with the name.
    pub const fn json(open: Word, close: Word) -> Call {
        Call { open, close, body: Body::Json(Envelope::NEW), ..Call::NEW }
    }

    /// A call whose opener has the name, and whose body is the JSON of the
    /// arguments.
    pub const fn arguments(open: Word, close: Word) -> Call {
        Call { open, close, ..Call::NEW }
    }

    /// A call with tags around each argument's value.
    pub const fn parameters(open: Word, close: Word, key: Word, end: Word) -> Call {
        let body = Body::Parameters(Parameters { open: key, close: end, ..Parameters::TEXT });
        Call { open, close, body, ..Call::NEW }
    }

    /// A call whose body is one text.
    pub const fn raw(open: Word, close: Word, name: Word, key: Word) -> Call {
        Call { open, close, body: Body::Raw(Raw { name, key }), ..Call::NEW }
    }

    /// The markup of a call that can't be read, where no other form fits.
    pub const fn unreadable(open: Word, close: Word) -> Call {
        Call { open, close, body: Body::Unreadable, ..Call::NEW }
    }

    /// A call without arguments.
    pub const fn empty(open: Word, close: Word) -> Call {
        Call { open, close, body: Body::Empty, ..Call::NEW }
    }

    /// Calls in Python's syntax.
    pub const fn python(open: Word, close: Word) -> Call {
        Call { open, close, body: Body::Python, ..Call::NEW }
    }
}

/// The form of a call's inside.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// JSON with the name and the arguments: an object, or an array of them.
    Json(Envelope),
    /// One JSON object: the arguments. The opener has the name.
    Arguments,
    /// Values between tags, as they are: nothing in them is escaped.
    Parameters(Parameters),
    /// Calls in Python's syntax, in a list or one after another.
    Python,
    /// Python literals in the shape of [`Body::Json`].
    Literal(Envelope),
    /// Braces with bare keys, and strings between these delimiters. The opener
    /// has the name.
    Braces(#[serde(deserialize_with = "leak::text")] Word),
    /// Text as it is, which is the only argument.
    Raw(Raw),
    /// YAML: a mapping of the arguments. The opener has the name.
    Yaml,
    /// Nothing; the opener has the name.
    Empty,
    /// Anything: the opener is none of a call that can be read.
    Unreadable,
}

table! {
    /// The keys under which an object has a call's parts. The first one that is there
    /// counts.
    #[serde(default)]
    pub struct Envelope = NEW {
        /// Keys of the name.
        name: Words = &["name"], "leak::texts";
        /// Keys of the arguments.
        arguments: Words = &["arguments", "parameters"], "leak::texts";
        /// Keys of the id.
        id: Words = &[], "leak::texts";
        /// Keys of an array of calls, or of an object that holds the call's parts.
        inner: Words = &["function"], "leak::texts";
        /// True if an object's only key is the name, and its value the arguments.
        keyed: bool = false;
        /// True if more objects may follow, after white space, `;` or `,`.
        many: bool = false;
    }
}

table! {
    /// The tags around one argument's value.
    pub struct Parameters = TEXT {
        /// The pattern of the opener, with the key, and the type if the model
        /// writes one.
        open: Word = "", "leak::text";
        /// The pattern of the closer. It closes the value only where another
        /// opener or the call's closer follows: elsewhere it's part of the value.
        /// Empty, if only these end the value.
        close: Word = "", "leak::text", default;
        /// The key of an array's elements, if values hold elements of their own.
        item: Word = "", "leak::text", default;
        /// The type of a value that no schema declares.
        untyped: Untyped = Untyped::Text, default;
    }
}

/// The type of a value that no schema declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Untyped {
    /// A string.
    #[default]
    Text,
    /// JSON if it parses as that, or else a string.
    Json,
}

/// One tool that takes text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The tool's name, unless the opener has it.
    #[serde(default, deserialize_with = "leak::text")]
    pub name: Word,
    /// The argument's key.
    #[serde(deserialize_with = "leak::text")]
    pub key: Word,
}
