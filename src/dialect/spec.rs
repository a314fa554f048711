//! What a row says of a dialect: its regions and sections, and the form of its
//! calls. A user's TOML file has the same fields.

use serde::Deserialize;

use crate::dialect::load;

/// A word of a row. Built-in rows are part of the program; a user's is read
/// once and lives as long.
pub type Word = &'static str;

/// Several words.
pub type Words = &'static [Word];

/// How one family of models writes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Its name on the command line and in the output.
    #[serde(deserialize_with = "load::text")]
    pub name: Word,
    /// Names that engines have for it.
    #[serde(default, deserialize_with = "load::texts")]
    pub aliases: Words,
    /// The models that write so.
    #[serde(default, deserialize_with = "load::texts")]
    pub models: Words,
    /// Where its text begins, if the user doesn't say.
    #[serde(default)]
    pub start_in: StartIn,
    /// Whether `auto` may find it.
    #[serde(default)]
    pub auto: bool,
    /// Tags by name, the short way to write regions and calls: see [`Tag`].
    #[serde(default, deserialize_with = "load::tags")]
    pub tags: &'static [Tag],
    /// Regions of text that isn't the answer, or is only a part of it.
    #[serde(default, rename = "region", deserialize_with = "load::list")]
    pub regions: &'static [Region],
    /// What stands around a group of calls. If there is one, calls are only
    /// read inside.
    #[serde(default, rename = "section", deserialize_with = "load::list")]
    pub sections: &'static [Section],
    /// The forms of a call.
    #[serde(default, rename = "call", deserialize_with = "load::list")]
    pub calls: &'static [Call],
    /// Patterns of markers that mean nothing: they are dropped from the text.
    #[serde(default, deserialize_with = "load::texts")]
    pub drops: Words,
}

impl Dialect {
    /// A row without markers, for rows to fill in.
    pub const EMPTY: Dialect = Dialect {
        name: "",
        aliases: &[],
        models: &[],
        start_in: StartIn::Text,
        auto: false,
        tags: &[],
        regions: &[],
        sections: &[],
        calls: &[],
        drops: &[],
    };

    /// The markers that open its tags, regions, sections and calls.
    pub fn markers(&self) -> impl Iterator<Item = String> {
        let tags = self.tags.iter().map(|tag| format!("<{}>", tag.name));
        let regions = self.regions.iter().map(|region| region.open);
        let sections = self.sections.iter().map(|section| section.open);
        let patterns = regions.chain(sections).chain(self.calls.iter().map(|call| call.open));
        tags.chain(patterns.map(str::to_owned))
    }
}

/// A tag, `<name>` to `</name>`, with or without attributes.
///
/// A name may end in `*` where the role is `tool`: what stands for it is the
/// tool's name, and the inside is a JSON object or one element for each
/// argument.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The tag's name.
    pub name: Word,
    /// What it holds.
    pub role: TagRole,
}

/// What a tag holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagRole {
    /// A part of the answer: its channel is the tag's name.
    Text,
    /// Thinking.
    Reasoning,
    /// Metadata: a block named as the tag.
    Block,
    /// Nothing that anyone wants.
    Drop,
    /// A call.
    Tool,
}

/// A region of the text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The pattern of its opener.
    #[serde(deserialize_with = "load::text")]
    pub open: Word,
    /// The pattern of its closer; empty if only what `ends` names ends it.
    #[serde(default, deserialize_with = "load::text")]
    pub close: Word,
    /// What it holds.
    pub role: Role,
    /// The channel of its text, or the block's name.
    #[serde(default, deserialize_with = "load::text")]
    pub name: Word,
    /// What ends it beside its closer.
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

/// What ends a region beside its closer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// Nothing.
    #[default]
    Closer,
    /// The opener of a call, or of a section of calls. A thought it ends only
    /// where that is no narration.
    Calls,
    /// Any opener of the dialect.
    Anything,
}

/// What a region holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A part of the answer.
    Text,
    /// Thinking.
    Reasoning,
    /// Metadata: a block by itself.
    Block,
    /// Nothing that anyone wants.
    Drop,
}

/// What stands around a group of calls. Its closer may be missing at the end.
/// If the user chose the dialect, all of it may be missing.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The pattern of its opener; a call's opener must follow it.
    #[serde(deserialize_with = "load::text")]
    pub open: Word,
    /// The pattern of its closer.
    #[serde(deserialize_with = "load::text")]
    pub close: Word,
    /// Whether it's never missing: the same markup elsewhere is text.
    #[serde(default)]
    pub required: bool,
    /// Whether it's narration in a thought, as a call may be.
    #[serde(default)]
    pub narrated: bool,
}

impl Section {
    /// A section that a model may forget.
    pub const fn new(open: Word, close: Word) -> Section {
        Section { open, close, required: false, narrated: false }
    }
}

/// Where a text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartIn {
    /// In the answer.
    #[default]
    Text,
    /// Inside the reasoning region, whose opener was in the prompt.
    Reasoning,
    /// Text is held back until a marker tells.
    Auto,
}

/// The form of a call.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The pattern of its opener, which may hold the tool's name.
    #[serde(deserialize_with = "load::text")]
    pub open: Word,
    /// The pattern of its closer; empty if the body shows where the call ends.
    #[serde(default, deserialize_with = "load::text")]
    pub close: Word,
    /// How its inside is written.
    pub body: Body,
    /// Patterns of which one must follow the opener, if the body's own
    /// beginning doesn't tell enough.
    #[serde(default, deserialize_with = "load::texts")]
    pub next: Words,
    /// Whether the end of the text closes it: models stop at its closer.
    #[serde(default)]
    pub at_end: AtEnd,
    /// Whether it's a call only if `--tools` names the tool.
    #[serde(default)]
    pub known: bool,
    /// Whether it's narration in a thought: its opener is plain text, which a
    /// model may think about, and no token that it only writes to call.
    #[serde(default)]
    pub narrated: bool,
}

impl Call {
    /// A form for rows to fill in.
    pub const NEW: Call = Call {
        open: "",
        close: "",
        body: Body::Arguments,
        next: &[],
        at_end: AtEnd::Never,
        known: false,
        narrated: false,
    };

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
        Call {
            open,
            close,
            body: Body::Raw(Raw { name, key }),
            at_end: AtEnd::Stopped,
            ..Call::NEW
        }
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

/// Whether a call whose closer is missing is whole at the end of the text. Of
/// several values, an open one never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// It was cut.
    #[default]
    Never,
    /// If the provider says that the model stopped by itself.
    Stopped,
    /// Wherever the text ends.
    Always,
}

/// How the inside of a call is written.
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
    /// The same as JSON, but in Python's literals.
    Literal(Envelope),
    /// Braces with bare keys, and strings between these delimiters. The opener
    /// has the name.
    Braces(#[serde(deserialize_with = "load::text")] Word),
    /// Text as it is: the one argument of one tool.
    Raw(Raw),
    /// YAML: a mapping of the arguments. The opener has the name.
    Yaml,
    /// Nothing: a call without arguments. The opener has the name.
    Empty,
}

/// Where an object has a call's parts: the first key that is there.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Envelope {
    /// Keys of the name.
    #[serde(deserialize_with = "load::texts")]
    pub name: Words,
    /// Keys of the arguments.
    #[serde(deserialize_with = "load::texts")]
    pub arguments: Words,
    /// Keys of the id.
    #[serde(deserialize_with = "load::texts")]
    pub id: Words,
    /// Keys of an array of calls, or of an object that holds the call's parts.
    #[serde(deserialize_with = "load::texts")]
    pub inner: Words,
    /// Whether an object's only key is the name, and its value the arguments.
    pub keyed: bool,
    /// Whether more objects may follow, behind white space, `;` or `,`.
    pub many: bool,
}

impl Envelope {
    /// The keys that most models use.
    pub const NEW: Envelope = Envelope {
        name: &["name"],
        arguments: &["arguments", "parameters"],
        id: &[],
        inner: &["function"],
        keyed: false,
        many: false,
    };
}

impl Default for Envelope {
    fn default() -> Self {
        Envelope::NEW
    }
}

/// The tags around one argument's value.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The pattern of the opener, with the key, and the type if the model
    /// writes one.
    #[serde(deserialize_with = "load::text")]
    pub open: Word,
    /// The pattern of the closer. It closes the value only where another
    /// opener or the call's closer follows: elsewhere it's part of the value.
    /// Empty, if only these end the value.
    #[serde(default, deserialize_with = "load::text")]
    pub close: Word,
    /// The key of an array's elements, if values hold elements of their own.
    #[serde(default, deserialize_with = "load::text")]
    pub item: Word,
    /// What a value is that no schema speaks of.
    #[serde(default)]
    pub untyped: Untyped,
}

impl Parameters {
    /// Values that are text as it is, between tags that rows fill in.
    pub const TEXT: Parameters =
        Parameters { open: "", close: "", item: "", untyped: Untyped::Text };
}

/// What a value is that no schema speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Untyped {
    /// A string.
    #[default]
    Text,
    /// JSON, if it can be read as that, or else a string.
    Json,
}

/// One tool that takes text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The tool's name, unless the opener has it.
    #[serde(default, deserialize_with = "load::text")]
    pub name: Word,
    /// The argument's key.
    #[serde(deserialize_with = "load::text")]
    pub key: Word,
}
