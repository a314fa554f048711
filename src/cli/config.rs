//! Options → what the layers are told.

use std::fs;
use std::sync::Arc;

use crate::assemble::Options;
use crate::cli::{Choice, OnMalformed, Reading, StartIn};
use crate::dialect;
use crate::frame::Settings;
use crate::pipeline::Config;
use crate::tools::Tools;

impl Reading {
    /// What the layers are told, with the dialect and the tools read from
    /// their files. Follows all choices, unless one is asked for. Fails with a
    /// sentence that names the option.
    pub fn config(&self) -> Result<Config, String> {
        let dialect = match &self.dialect {
            Some(word) => dialect::choose(word).map_err(|error| format!("--dialect: {error}"))?,
            None => dialect::Selection::Default,
        };
        let tools = self.tools.as_deref().map(read_tools).transpose()?.map(Arc::new);
        Ok(Config {
            decode_all: false,
            framing: self.framing,
            format: self.format,
            dialect,
            start_in: self.start_in.map(|start| match start {
                StartIn::Text => dialect::StartIn::Text,
                StartIn::Reasoning => dialect::StartIn::Reasoning,
                StartIn::Auto => dialect::StartIn::Auto,
            }),
            tools: tools.clone(),
            settings: Settings { strict: self.strict, max_event: self.max_event.0 },
            assembly: Options {
                deltas: self.deltas,
                choice: match self.choice {
                    Some(Choice::One(choice)) => Some(choice),
                    Some(Choice::All) | None => None,
                },
                raw: self.raw,
                strict: self.strict,
                malformed_as_text: self.on_malformed == OnMalformed::Text,
                max_args: self.max_args.0,
                max_calls: self.max_calls,
                max_depth: self.max_depth,
                tools,
                format: self.format.map_or("unknown", |format| format.name).into(),
            },
        })
    }
}

fn read_tools(path: &str) -> Result<Tools, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("--tools {path}: {error}"))?;
    Tools::parse(&text).map_err(|error| format!("--tools {path}: {error}"))
}
