//! `tools`: what tools there are, as a request declares them; and `--tools`, which runs them.

use std::path::Path;
use std::{io, iter};

use anyhow::{Context, bail};

use crate::agent::{Approval, Runner, RunnerOptions, Stop, Toolbox};
use crate::approval::Rules;
use crate::cli::{Auto, Passing, Running, Tools};
use crate::commands::request::{named, read_request};
use crate::commands::{lost, needs_pipe, print, shown};
use crate::event::Output;
use crate::format::turn::{Declaration, Request};
use crate::format::{Format, is_own};
use crate::io::{Children, Signals, die, report};
use crate::json::{self, members, object_of};
use crate::request;
use crate::request::{CallResult, LastMessage, Refused, RequestBody};
use crate::sink::Sink;

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
    match form {
        // A format of the user's own has no requests.
        Some(format) if !is_own(format.name) => format.request,
        _ => request::guess(body, words),
    }
}

/// The tools of `--tools`, and how they are run.
pub(super) struct LocalTools {
    pub(super) tools: Toolbox,
    pub(super) rules: Rules,
    /// Without limits of their number.
    pub(super) options: RunnerOptions,
    has_tools: bool,
}

impl LocalTools {
    /// Reads the tools; there are none without `--tools`. Fails if a rule of `--approve` is for a tool
    /// that is not there: with its name misspelled, a tool would run by the rule for all others.
    pub(super) fn new(args: &Running) -> anyhow::Result<Self> {
        let tools = toolbox(args)?;
        let rules = args.approve.clone().unwrap_or_default();
        if let Some(name) = rules.names().find(|name| tools.get(name).is_none()) {
            bail!("--approve: there is no tool {name}; the tools are: {}", tools.list());
        }
        let options = RunnerOptions {
            timeout: Some(args.timeout).filter(|timeout| !timeout.is_zero()),
            jobs: args.jobs.into(),
            max_output: args.max_output.0,
            max_calls: 0,
            max_repeats: 0,
            env: args.env.clone(),
            passes_argument: args.args == Passing::Argv,
        };
        Ok(LocalTools { tools, rules, options, has_tools: args.tools.is_some() })
    }

    /// Returns the tools as they are declared to a model.
    pub(super) fn declarations(&self) -> Vec<Declaration> {
        self.tools.declarations()
    }

    /// Listens for signals as it takes to run them.
    pub(super) fn listen(&self) -> io::Result<Signals> {
        if self.has_tools { Signals::listen_for_children() } else { Signals::listen() }
    }

    /// Runs the calls of a message, and returns their results; nothing without `--tools`.
    pub(super) fn run(
        &self,
        message: &LastMessage,
        signals: &Signals,
        out: &mut dyn Sink,
    ) -> anyhow::Result<Option<Vec<CallResult>>> {
        if !self.has_tools {
            return Ok(None);
        }
        let approval = Approval::new(&self.rules, signals);
        let mut runner = Runner::new(&self.tools, &self.options, approval);
        let mut children = Children::new(signals)?;
        let mut run = || {
            for call in &message.calls {
                runner.admit(call, None, out)?;
            }
            runner.run(&mut children, None, out)?;
            Ok(message.calls.iter().map(|call| runner.take(call)).collect())
        };
        let ran = run();
        children.stop()?;
        drop(children);
        match ran {
            Ok(results) => Ok(Some(results)),
            Err(Stop::Signal(signal)) => die(signal),
            Err(Stop::Lost(error)) => Err(lost(error).into()),
            Err(Stop::Failed(error)) => Err(error.into()),
            Err(Stop::Deadline) => bail!("there is no deadline"),
        }
    }
}

/// Returns the tools that calls are run with; none without `--tools`.
fn toolbox(args: &Running) -> anyhow::Result<Toolbox> {
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
