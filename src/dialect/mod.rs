//! Dialects: how models write tool calls, reasoning and metadata inside plain
//! text. Text in; text, reasoning, calls and blocks out. Knows nothing of
//! providers or output.
//!
//! A dialect is data: a [`Dialect`] row, whose markers are patterns (see
//! [`crate::scan`]). One machine reads them all. A user's own dialect is a TOML
//! file with the same fields: see [`load()`].
//!
//! To add a dialect, write its row in the file of its family and name it in
//! [`DIALECTS`]; `fixtures/dialect/NAME/` holds its cases.

mod agents;
mod anthropic;
mod body;
mod brackets;
mod call;
mod channels;
mod cohere;
mod deepseek;
mod glm;
mod google;
mod grammar;
mod guard;
mod json;
mod literal;
mod llama;
mod load;
mod machine;
mod markup;
mod minimax;
mod mistral;
mod moonshot;
mod others;
mod qwen;
mod tags;
mod value;

pub use load::load;
pub use markup::Markup;

use serde::Deserialize;

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
    /// The pattern of its closer.
    #[serde(deserialize_with = "load::text")]
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
}

/// What ends a region beside its closer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// Nothing.
    #[default]
    Closer,
    /// The opener of a call, or of a section of calls.
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
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The pattern of its opener; a call's opener must follow it.
    #[serde(deserialize_with = "load::text")]
    pub open: Word,
    /// The pattern of its closer.
    #[serde(deserialize_with = "load::text")]
    pub close: Word,
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
    pub at_end: bool,
    /// Whether it's a call only if `--tools` names the tool.
    #[serde(default)]
    pub known: bool,
}

impl Call {
    /// A form for rows to fill in.
    pub const NEW: Call =
        Call { open: "", close: "", body: Body::Arguments, next: &[], at_end: false, known: false };

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
        let body = Body::Parameters(Parameters { open: key, close: end, item: "" });
        Call { open, close, body, ..Call::NEW }
    }

    /// A call whose body is one text.
    pub const fn raw(open: Word, close: Word, name: Word, key: Word) -> Call {
        Call { open, close, body: Body::Raw(Raw { name, key }), at_end: true, ..Call::NEW }
    }

    /// Calls in Python's syntax.
    pub const fn python(open: Word, close: Word) -> Call {
        Call { open, close, body: Body::Python, ..Call::NEW }
    }
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

/// Every built-in dialect. `auto` takes the first row whose marker and what
/// follows it fit.
pub static DIALECTS: &[&Dialect] = &[
    &anthropic::XML,
    &anthropic::LEGACY,
    &minimax::M2,
    &deepseek::V32,
    &deepseek::V4,
    &deepseek::V41,
    &deepseek::GIGACHAT35,
    &others::DOTS,
    &others::STEP3,
    &minimax::M3,
    &channels::MUSE,
    &channels::BEAM,
    &qwen::QWEN3_CODER,
    &qwen::MIMO,
    &qwen::SEED_OSS,
    &qwen::OPENHANDS,
    &qwen::MINICPM5,
    &glm::GLM45,
    &glm::GLM47,
    &glm::POOLSIDE,
    &glm::LING3,
    &glm::SPARK25,
    &glm::IQUEST,
    &glm::HY_V3,
    &glm::HY_V4,
    &glm::K2_HORIZON,
    &qwen::HERMES,
    &qwen::EXAONE4,
    &qwen::ERNIE45,
    &qwen::LONGCAT,
    &others::GRANITE3,
    &others::GRANITE20B,
    &others::TOOL_CALLS,
    &others::HUNYUAN,
    &minimax::M1,
    &others::NEMOTRON,
    &mistral::JSON,
    &llama::JSON,
    &others::PHI4,
    &others::FIREFUNCTION,
    &others::INTERNLM2,
    &cohere::COMMAND_A,
    &cohere::COMMAND4,
    &cohere::COMMAND_R,
    &others::APERTUS,
    &others::GIGACHAT3,
    &others::XLAM,
    &others::OPENAI_TEXT,
    &others::FENCED_JSON,
    &others::SARASHINA,
    &moonshot::K2,
    &deepseek::V3,
    &deepseek::V31,
    &mistral::V11,
    &llama::FUNCTION_EQ,
    &llama::FUNCTIONARY_V32,
    &llama::FUNCTIONARY_V2,
    &channels::SOLAR,
    &channels::PLAMO3,
    &others::MIROTHINKER,
    &qwen::QWEN_AGENT,
    &channels::INKLING,
    &channels::HARMONY,
    &moonshot::K3,
    &llama::PYTHONIC,
    &llama::LLAMA4,
    &others::LFM2,
    &others::OLMO3,
    &llama::BUILTIN,
    &google::TOOL_CODE,
    &agents::CODE,
    &google::FUNCTION_GEMMA,
    &google::GEMMA4,
    &agents::CLINE,
    &agents::YAML,
    &agents::REACT,
    &agents::LANGCHAIN_XML,
    &tags::THINK,
    &moonshot::THINK,
    &tags::GENERIC,
];

/// What `--dialect` asks for.
#[derive(Clone, Copy, Debug, Default)]
pub enum Choice {
    /// `auto` for plain text, `none` for provider formats.
    #[default]
    Default,
    /// Text is text.
    None,
    /// The dialect of the first marker that can be nothing else.
    Auto,
    /// This one.
    Row(&'static Dialect),
}

/// What a user's word for a dialect means: `auto`, `none`, a name (`-` and `_`
/// are the same), or a file. Fails with a sentence that says what there is.
pub fn choose(word: &str) -> Result<Choice, String> {
    let name = word.replace('-', "_");
    let same = |known: &str| known.replace('-', "_") == name;
    match name.as_str() {
        "auto" => return Ok(Choice::Auto),
        "none" => return Ok(Choice::None),
        _ => {}
    }
    if let Some(row) =
        DIALECTS.iter().find(|row| same(row.name) || row.aliases.iter().any(|alias| same(alias)))
    {
        return Ok(Choice::Row(row));
    }
    if !word.contains(['/', '.']) {
        return Err(format!(
            "no dialect named {word}; `toolstream formats` lists them, and a file's name has a dot"
        ));
    }
    let toml = std::fs::read_to_string(word).map_err(|error| format!("{word}: {error}"))?;
    load(&toml).map(Choice::Row).map_err(|error| format!("{word}: {error}"))
}
