//! `tools`: what tools there are, as a request declares them.

use std::io;
use std::path::Path;

use anyhow::{Context, bail};

use crate::agent::{Rules, Toolbox};
use crate::cli::{Running, Tools};
use crate::commands::print;
use crate::format::turn::Declaration;
use crate::io::report;
use crate::json;

pub(super) fn tools(args: &Tools) -> anyhow::Result<u8> {
    let tools = read(&args.folder).with_context(|| args.folder.display().to_string())?;
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

/// Returns the tools that calls are run with; none without `--tools`.
pub(super) fn toolbox(args: &Running) -> anyhow::Result<Toolbox> {
    let Some(folder) = &args.tools else { return Ok(Toolbox::default()) };
    read(folder).with_context(|| format!("--tools {}", folder.display()))
}

/// Reads a directory of tools, and reports what is passed over.
fn read(folder: &Path) -> anyhow::Result<Toolbox> {
    Toolbox::read(folder, &mut |note| report(&mut io::stderr(), note))
}

/// Returns the rules of `--approve`. Fails if one is for a tool that is not there: with its name
/// misspelled, a tool would run by the rule for all others.
pub(super) fn rules(args: &Running, tools: &Toolbox) -> anyhow::Result<Rules> {
    let rules = args.approve.clone().unwrap_or_default();
    if let Some(name) = rules.names().find(|name| tools.get(name).is_none()) {
        bail!("--approve: there is no tool {name}; the tools are: {}", tools.list());
    }
    Ok(rules)
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
