//! The table of dialects, and what `--dialect` selects of it.

#[cfg(feature = "cli")]
use crate::dialect::hf_template::load_template;
use crate::dialect::load::LOADED;
#[cfg(feature = "cli")]
use crate::dialect::load::load;
use crate::dialect::rows::{
    agents, anthropic, channels, cohere, deepseek, glm, google, llama, minimax, mistral, moonshot,
    others, qwen, tags,
};
use crate::dialect::spec::Dialect;
#[cfg(feature = "cli")]
use crate::row_error;
use crate::row_error::RowError;

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
    &qwen::CALLING_TOOL,
    &qwen::QWEN3_CODER,
    &qwen::MIMO,
    &qwen::SEED_OSS,
    &qwen::OPENHANDS,
    &qwen::MINICPM5,
    &glm::GLM45,
    &glm::GLM47,
    &glm::GLM53,
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
    &moonshot::K2_BARE,
    &deepseek::V3,
    &deepseek::V31,
    &llama::FUNCTION_EQ,
    &llama::FUNCTIONARY_V32,
    &llama::FUNCTIONARY_V2,
    &channels::SOLAR,
    &channels::SOLAR2,
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
    &others::HYPERCLOVAX,
    &llama::BUILTIN,
    &llama::JSON,
    &google::TOOL_CODE,
    &agents::CODE,
    &google::FUNCTION_GEMMA,
    &google::GEMMA4,
    &agents::CLINE,
    &agents::YAML,
    &agents::REACT,
    &agents::LANGCHAIN_XML,
    &agents::CWM,
    &tags::THINK,
    &moonshot::THINK,
    &tags::GENERIC,
];

/// The dialects that `--dialect` selects.
#[derive(Clone, Copy, Debug, Default)]
pub enum Selection {
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

/// Finds a dialect by what a user calls it: `auto`, `none`, a name or alias; `-` and `_` are the
/// same. No file is opened: see [`load()`].
///
/// ```
/// use toolstream::dialect::{Selection, choose};
///
/// assert!(matches!(choose("hermes")?, Selection::Row(row) if row.name == "hermes"));
/// assert_eq!(choose("hermse").unwrap_err().to_string(), "no dialect is named hermse");
/// # Ok::<(), toolstream::dialect::RowError>(())
/// ```
pub fn choose(word: &str) -> Result<Selection, RowError> {
    match word {
        "auto" => return Ok(Selection::Auto),
        "none" => return Ok(Selection::None),
        _ => {}
    }
    find(word).map(Selection::Row).ok_or_else(|| RowError::unknown("dialect", word))
}

/// Finds a dialect as [`choose`] does, or reads the file at a path, which contains a `/` or a `.`:
/// one that ends in `.json` holds the `response_template` of a Hugging Face tokenizer, any other
/// one TOML.
#[cfg(feature = "cli")]
pub(crate) fn open(word: &str) -> Result<Selection, RowError> {
    let load = |text: &str| {
        let row = if word.ends_with(".json") { load_template(text) } else { load(text) };
        row.map(Selection::Row)
    };
    row_error::or_file(choose(word), word, word.contains(['/', '.']), load)
}

/// Returns the row that a call in text names as its source: a user's, or a built-in one.
pub(crate) fn of_source(name: &str) -> Option<&'static Dialect> {
    LOADED.find(|row| row.name == name).or_else(|| find(name))
}

/// Returns the built-in dialect of this name or alias; `-` and `_` are the same.
///
/// ```
/// let row = toolstream::dialect::find("hermes").unwrap();
/// assert!(row.markers().any(|marker| marker.starts_with("<tool_call>")));
/// ```
pub fn find(name: &str) -> Option<&'static Dialect> {
    let name = name.replace('-', "_");
    let is_it = |known: &&str| known.replace('-', "_") == name;
    DIALECTS.iter().copied().find(|row| [row.name].iter().chain(row.aliases).any(is_it))
}
