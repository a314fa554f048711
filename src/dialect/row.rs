//! What a row says of its text: regions, sections, and where it begins.

use serde::Deserialize;

use super::{Call, load};

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
