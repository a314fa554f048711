//! `agent`: the loop.

use std::io;
use std::time::Instant;

use anyhow::Context;
use clap::ColorChoice;

use crate::agent::{self, Approval, Loop, Rounds, Runner, Stop};
use crate::cli::Agent;
use crate::commands::messages::{look, of_people};
use crate::commands::next::{named, read_request, running, target};
use crate::commands::tools::{rules, toolbox};
use crate::commands::{lost, needs_pipe, shown};
use crate::io::{Children, Original, Output, Signals, Stalled, die, report};
use crate::pipeline::Config;
use crate::request;
use crate::sink::{Label, Ndjson, People, Sink};
use crate::status::Outcome;

pub(super) fn agent(args: &Agent) -> anyhow::Result<u8> {
    if args.request == "-" {
        needs_pipe("name a FILE, or pipe the request in")?;
    }
    let target = target(&args.running, &args.request)?;
    let tools = toolbox(&args.running)?;
    let rules = rules(&args.running, &tools)?;
    let (body, bytes) = read_request(&args.request)?;
    let words = args.command.iter().filter_map(|word| word.to_str());
    let row =
        args.wire.format.map_or_else(|| request::guess(&body, words), |format| format.request);
    if let Some(row) = row {
        request::check_end(&body, row).map_err(|refused| named(refused, shown(&args.request)))?;
    }
    let signals = Signals::listen_for_children()?;
    let running = agent::Running {
        max_calls: args.max_calls,
        max_repeats: args.max_repeats,
        ..running(&args.running)
    };
    let mut config = Config { turn: true, finds_ours: false, ..args.wire.config() };
    config.assembly.choice = Some(0);
    config.assembly.deltas = args.show;
    let options = Loop {
        command: &args.command,
        config,
        max_rounds: args.max_rounds,
        retries: args.retries,
        eager: args.eager,
        deadline: args
            .deadline
            .filter(|time| !time.is_zero())
            .and_then(|time| Instant::now().checked_add(time)),
        save: target.as_deref(),
        log: args.log.clone(),
        declarations: tools.declarations(),
    };
    let runner = Runner::new(&tools, &running, Approval::new(&rules, &signals));
    let children = Children::new(&signals)?;
    let out = Output::standard().until(options.deadline);
    let mut out: Box<dyn Sink> = match args.show {
        true => {
            let look = look(&args.parts, ColorChoice::Auto);
            of_people(People::new(out, look.clone(), None, None).of_run(), &look)
        }
        false => Box::new(Ndjson::new(out, Label::default())),
    };
    let original = args.running.in_place.then(|| target.clone()).flatten();
    let original = original.map(|path| Original::new(path, bytes));
    let rounds = Rounds::new(&options, body, original, row, runner, children, &mut *out);
    let ended = match rounds.run() {
        Ok(ended) => ended,
        Err(Stop::Lost(error)) if Stalled::of(&error) == Some(Stalled::Time) => {
            report(&mut io::stderr(), "--deadline is over, and no one reads the output");
            return Ok(Outcome::Limit as u8);
        }
        Err(Stop::Lost(error)) => return Err(lost(error).into()),
        Err(Stop::Failed(error)) if let Some(Stalled::Signal(signal)) = Stalled::of(&error) => {
            die(signal)
        }
        Err(Stop::Failed(error)) => {
            report(&mut io::stderr(), &error.to_string());
            return Ok(Outcome::Io as u8);
        }
        Err(Stop::Signal(_) | Stop::Deadline) => None.context("the run ended by itself")?,
    };
    if let Some(signal) = ended.signal {
        die(signal);
    }
    let mut code = ended.outcome.map_or(0, |outcome| outcome as u8);
    if args.wire.strict && code == 0 {
        if ended.warnings > 0 {
            report(&mut io::stderr(), "there are warnings, and --strict");
            code = Outcome::Malformed as u8;
        } else if let Some(name) = &ended.failed {
            report(&mut io::stderr(), &format!("the tool {name} failed, and --strict"));
            code = Outcome::Tool as u8;
        }
    }
    Ok(code)
}
