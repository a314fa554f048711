//! `agent`: the loop.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context, anyhow, bail};
use clap::ColorChoice;

use crate::agent::{self, Approval, Loop, Rounds, Runner, Stop};
use crate::cli::Agent;
use crate::commands::messages::{look, of_people};
use crate::commands::next::{target, words};
use crate::commands::request::{named, read_request};
use crate::commands::tools::{LocalTools, row};
use crate::commands::{lost, needs_pipe, shown};
use crate::format::turn::Request;
use crate::io::{BufferedOutput, Children, Original, Signals, Stalled, die, report};
use crate::request::{self, Refused, RequestBody};
use crate::sink::{Label, Ndjson, People, Sink};
use crate::status::Outcome;

pub(super) fn agent(args: &Agent) -> anyhow::Result<u8> {
    let target = checked(args)?;
    let LocalTools { tools, rules, options: running, .. } = LocalTools::new(&args.running)?;
    let First { body, bytes, row } = first_request(args)?;
    let signals = Signals::listen_for_children()?;
    let running = agent::RunnerOptions {
        max_calls: args.max_calls,
        max_repeats: args.max_repeats,
        ..running
    };
    let mut config = request::config(args.wire.config()?);
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
    let out = BufferedOutput::standard_until(options.deadline);
    let mut out: Box<dyn Sink> = match args.show {
        true => {
            let look = look(&args.parts, ColorChoice::Auto, args.plain);
            of_people(People::new(out, look.clone(), None, None).of_run(), &look)
        }
        false => Box::new(Ndjson::new(out, Label::default())),
    };
    let original = args.running.in_place.then(|| target.clone()).flatten();
    let original = original.zip(bytes).map(|(path, bytes)| Original::new(path, bytes));
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

/// Checks what standard input and the files are for, and returns the file that the request is written
/// into.
fn checked(args: &Agent) -> anyhow::Result<Option<PathBuf>> {
    let file = args.request.as_deref();
    let piped = [file, args.user.as_deref()].iter().filter(|it| **it == Some("-")).count();
    match piped {
        0 => {}
        1 => needs_pipe(match file {
            Some("-") => "name a FILE, or pipe the request in",
            _ => "--user -: pipe the words in",
        })?,
        _ => bail!("standard input can't be the request and the user's words: name a FILE"),
    }
    if let (Some(_), Some(file), false) = (args.form, file, args.running.in_place) {
        bail!("--for makes a new request in place of {file}: leave one of them out, or add -i");
    }
    let target = match file {
        None if args.running.in_place => bail!("-i: name the FILE that the request is kept in"),
        file => target(&args.running, file.unwrap_or_default())?,
    };
    if let Some(folder) = args.log.as_deref().filter(|folder| holds_run(folder)) {
        bail!("--log {}: it holds an earlier run's: name another DIR", folder.display());
    }
    Ok(target)
}

/// The request that the loop begins with.
struct First {
    body: RequestBody,
    /// The bytes of the file that it was read of.
    bytes: Option<Vec<u8>>,
    /// Its row, as far as it is known.
    row: Option<&'static Request>,
}

/// Returns the request that the loop begins with.
fn first_request(args: &Agent) -> anyhow::Result<First> {
    let file = args.request.as_deref();
    let is_there = file.is_some_and(|file| args.form.is_none() || Path::new(file).exists());
    let (mut body, bytes, row) = match (file.filter(|_| is_there), args.form) {
        (Some(file), form) => {
            let (body, bytes) = read_request(file)?;
            let words = args.command.iter().filter_map(|word| word.to_str());
            let row = row(&body, form.flatten().or(args.wire.formats.asked()), words);
            (body, Some(bytes), row)
        }
        (None, form) => {
            let format = form.flatten().context("--for: name the format of the new request")?;
            let name = format!("--for {}", format.name);
            let Some(row) = format.request else { bail!("{name}: no request of it can be made") };
            let body = request::new(row, args.model.as_deref());
            let body = body.map_err(|why| anyhow!("{name}: {why}"))?;
            if args.model.is_some() && body.get("model").is_none() {
                let why = "its address names the model, not the request: --model is not used";
                report(&mut io::stderr(), &format!("{name}: {why}"));
            }
            (body, None, Some(row))
        }
    };
    let name = file.map_or("--for", shown);
    let refused = |refused| named(refused, name);
    if args.user.is_some() || args.system.is_some() {
        let Some(row) = row else {
            let why =
                "the request's form is not known, so no words can be added: `-f FORMAT` names it";
            return Err(refused(Refused::malformed(why)));
        };
        if let Some(text) = &args.user {
            request::add_user(&mut body, row, &words(text)?).map_err(refused)?;
        }
        if let Some(note) =
            args.system.as_ref().and_then(|text| request::add_system(&mut body, row, text))
        {
            report(&mut io::stderr(), &note);
        }
    }
    if let Some(row) = row {
        request::check_end(&body, row).map_err(refused)?;
    }
    Ok(First { body, bytes, row })
}

/// True if a directory holds the requests or answers of an earlier run.
fn holds_run(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_kept = name.ends_with(".answer") || name.ends_with(".request.json");
        is_kept && entry.file_type().is_ok_and(|kind| kind.is_file())
    })
}
