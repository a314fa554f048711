//! Options of the command line → the configuration of the pipeline.

use std::path::Path;
use std::sync::Arc;
use std::{fs, ptr};

use anyhow::{Context, bail};

use crate::assemble::AssemblerConfig;
use crate::cli::{ChoiceFilter, GivenFormats, OnMalformed, Printing, ReadOptions, Wire};
use crate::detect::KnownFormats;
use crate::dressing::From;
use crate::format::Format;
use crate::frame::FrameConfig;
use crate::pipeline::Config;
use crate::tools::Tools;

impl GivenFormats {
    /// Returns the one that is asked for: no other was given.
    pub(crate) fn asked(&self) -> Option<&'static Format> {
        match self.format.as_slice() {
            [asked] => *asked,
            _ => None,
        }
    }

    /// Returns the formats that an input may be in. An error says that two of them have one name.
    pub(crate) fn formats(&self) -> anyhow::Result<KnownFormats> {
        if let asked @ Some(_) = self.asked() {
            return Ok(KnownFormats { asked, ..KnownFormats::default() });
        }
        let mut own = Vec::<&Format>::new();
        for &row in self.format.iter().flatten() {
            let known = own.iter().find(|known| **known == row);
            if known.is_some_and(|known| !ptr::eq(*known, row)) {
                bail!("--format: two of the files have the name `{}`", row.name);
            }
            own.extend(known.is_none().then_some(row));
        }
        Ok(KnownFormats { asked: None, own: own.into() })
    }
}

impl Wire {
    /// True if no option names the format, the framing, the dialect or the program of the input.
    pub fn finds_all_out(&self) -> bool {
        let is_named =
            self.formats.asked().is_some() || self.framing.is_some() || self.dialect.is_some();
        !is_named && matches!(self.from, From::Auto)
    }

    /// Returns the configuration of a pipeline that reads so, and has the defaults in all else.
    pub fn config(&self) -> anyhow::Result<Config> {
        let KnownFormats { asked, own } = self.formats.formats()?;
        Ok(Config {
            max_memory: self.max_memory.0,
            framing: self.framing,
            format: asked,
            own,
            dialect: self.dialect.unwrap_or_default(),
            from: self.from,
            frame: FrameConfig {
                strict: self.strict,
                max_event: self.max_event.0,
                ..FrameConfig::default()
            },
            assembly: AssemblerConfig {
                strict: self.strict,
                max_args: self.max_args.0,
                max_depth: self.max_depth,
                ..AssemblerConfig::default()
            },
            ..Config::default()
        })
    }
}

impl ReadOptions {
    /// Returns the configuration of the pipeline, with the dialect and the tools read from their
    /// files. Follows all choices, unless one is asked for.
    pub fn config(&self) -> anyhow::Result<Config> {
        let tools = self.tools.as_deref().map(read_tools).transpose()?.map(Arc::new);
        let wire = self.wire.config()?;
        Ok(Config {
            start_in: self.start_in,
            at_end: self.at_end,
            tools,
            assembly: AssemblerConfig {
                choice: match self.choice {
                    Some(ChoiceFilter::One(choice)) => Some(choice),
                    Some(ChoiceFilter::All) | None => None,
                },
                malformed_as_text: self.on_malformed == OnMalformed::Text,
                max_calls: self.max_calls,
                ..wire.assembly
            },
            ..wire
        })
    }
}

impl Printing {
    /// Adds to a configuration what has to be emitted.
    pub fn add_to(&self, config: &mut Config) {
        config.turn = self.turn;
        config.assembly.deltas = self.deltas || self.values;
        config.assembly.raw = self.raw;
        config.assembly.prompts = self.prompts;
    }
}

fn read_tools(path: &str) -> anyhow::Result<Tools> {
    let name = || format!("--tools {path}");
    if Path::new(path).is_dir() {
        bail!(
            "{}: here --tools is a FILE of definitions: `toolstream tools {path} > tools.json` \
             writes those of a DIR",
            name()
        );
    }
    let text = fs::read_to_string(path).with_context(name)?;
    Tools::parse(&text).with_context(name)
}
