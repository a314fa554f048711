//! `tools`: what tools there are, as a request declares them.

use std::path::Path;
use std::{io, iter};

use anyhow::{Context, bail};

use crate::agent::Toolbox;
use crate::approval::Rules;
use crate::cli::{Auto, Running, Tools};
use crate::commands::request::{named, read_request};
use crate::commands::{needs_pipe, print, shown};
use crate::event::Output;
use crate::format::Format;
use crate::format::turn::{Declaration, Request};
use crate::io::report;
use crate::json;
use crate::json::{members, object_of};
use crate::request;
use crate::request::{Refused, RequestBody};

pub(super) fn tools(args: &Tools) -> anyhow::Result<u8> {
    let tools = read(&args.folder).with_context(|| args.folder.display().to_string())?;
    if let Some(request) = &args.into {
        return into(request, args.form, &tools.declarations());
    }
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

/// Prints a request with tools declared in it.
fn into(request: &str, form: Auto<Format>, tools: &[Declaration]) -> anyhow::Result<u8> {
    if request == "-" {
        needs_pipe("--into -: name a FILE, or pipe the request in")?;
    }
    let (mut body, _) = read_request(request)?;
    let row = row(&body, form, iter::empty()).ok_or_else(|| {
        let why = "the request's form is not known: `--for FORMAT` names it";
        named(Refused::malformed(why), shown(request))
    })?;
    if !request::declare(&mut body, row, tools) {
        report(&mut io::stderr(), &format!("{}: it declares tools already", shown(request)));
    }
    print(body.as_str())
}

/// Returns the row of a request: of the format that is named, or else of the one that it looks like,
/// and that the words of what sends it name.
pub(super) fn row<'w>(
    body: &RequestBody,
    form: Auto<Format>,
    words: impl Iterator<Item = &'w str>,
) -> Option<&'static Request> {
    form.map_or_else(|| request::guess(body, words), |format| format.request)
}

/// Returns the tools that calls are run with; none without `--tools`.
pub(super) fn toolbox(args: &Running) -> anyhow::Result<Toolbox> {
    let Some(folder) = &args.tools else { return Ok(Toolbox::default()) };
    let name = || format!("--tools {}", folder.display());
    if folder.is_file() {
        bail!(
            "{}: this is a file: here --tools is the DIR of executables, and --declare FILE says \
             what they take",
            name()
        );
    }
    let mut tools = read(folder).with_context(name)?;
    if let Some(path) = &args.declare {
        tools.declare(path).with_context(|| format!("--declare {}", path.display()))?;
    }
    Ok(tools)
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
    object_of!(line; "tools": [..for tool in tools {
        members!(line; {
            "name": &*tool.name,
            "description": tool.description.as_deref(),
            "inputSchema": Output::Json(&tool.schema),
        });
    }])
}
