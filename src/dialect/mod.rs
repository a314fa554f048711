//! Dialects: how models write tool calls, reasoning and metadata inside plain
//! text. Text in; text, reasoning, calls and blocks out. Knows nothing of
//! providers or output.
//!
//! A dialect is data: a [`Dialect`] row, whose markers are patterns (see
//! [`crate::scan`]). One machine reads them all. A user's own dialect is a TOML
//! file with the same fields (see [`load()`]), or the JSON that tokenizers of
//! Hugging Face have (`template`).
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
mod elements;
mod form;
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
mod row;
mod tags;
mod template;
mod value;
mod watch;
mod yaml;

pub use form::{AtEnd, Body, Call, Envelope, Parameters, Raw, Untyped};
pub use load::load;
pub use markup::Markup;
pub use row::{Dialect, Ends, Region, Role, Section, StartIn, Tag, TagRole, Word, Words};

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
    &qwen::HERMES,
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
    &qwen::EXAONE4,
    &qwen::ERNIE45,
    &qwen::LONGCAT,
    &others::GRANITE3,
    &others::GRANITE20B,
    &others::TOOL_CALLS,
    &others::HUNYUAN,
    &minimax::M1,
    &others::NEMOTRON,
    &mistral::V11,
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
    &others::MINICPM3,
    &others::NEXUSRAVEN,
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
    let text = std::fs::read_to_string(word).map_err(|error| format!("{word}: {error}"))?;
    let row = if word.ends_with(".json") { template::load(&text) } else { load(&text) };
    row.map(Choice::Row).map_err(|error| format!("{word}: {error}"))
}

#[cfg(test)]
mod tests;
