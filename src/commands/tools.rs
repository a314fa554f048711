//! `tools`: what tools there are, as a request declares them.

use std::io;
use std::path::Path;

use anyhow::{Context, bail};

use crate::agent::Toolbox;
use crate::cli::Tools;
use crate::commands::print;
use crate::format::turn::Declaration;
use crate::io::report;
use crate::json;

pub(super) fn tools(args: &Tools) -> anyhow::Result<u8> {
    let tools = read_tools(Some(&args.folder))?;
    let declared = match args.form {
        None => mcp(&tools.declarations()),
        Some(format) => {
            let Some(row) = format.request else {
                bail!("--for {}: its requests declare no tools", format.name);
            };
            (row.tools)(&tools.declarations()).1
        }
    };
    let mut line = String::new();
    json::make_safe(&declared, &mut line);
    line.push('\n');
    print(&line)
}

/// Reads a directory of tools, and reports what is passed over; none is without tools.
pub(super) fn read_tools(folder: Option<&Path>) -> anyhow::Result<Toolbox> {
    let Some(folder) = folder else { return Ok(Toolbox::default()) };
    let mut note = |note: &str| report(&mut io::stderr(), note);
    Toolbox::read(folder, &mut note).with_context(|| format!("--tools {}", folder.display()))
}

/// Returns tools as MCP's `tools/list` answers.
fn mcp(tools: &[Declaration]) -> String {
    let tools = tools.iter().map(|tool| {
        let about = tool.description.as_deref().map(json::quote);
        let about = about.map_or(String::new(), |about| format!("\"description\":{about},"));
        let (name, schema) = (json::quote(&tool.name), json::minify(&tool.schema));
        format!("{{\"name\":{name},{about}\"inputSchema\":{schema}}}")
    });
    format!("{{\"tools\":{}}}", json::array(tools))
}
