//! `next`: the request that comes after an answer.

use std::path::PathBuf;
use std::{fs, io, iter};

use anyhow::{Context, bail};

use crate::cli::{Next, Running};
use crate::commands::exchanges::open_one;
use crate::commands::reader::InputReader;
use crate::commands::request::{named, read_json, read_request};
use crate::commands::tools::LocalTools;
use crate::commands::{conclude, lost, needs_pipe, print, shown};
use crate::event::{Event, Kind, Pieces};
use crate::io::{
    BufferedOutput, Original, Progress, Signals, can_write, die, pump, read_whole, report,
    report_on, write_whole,
};
use crate::pipeline::Pipeline;
use crate::request::{self, CallResult, Fate, GrowthOptions, LastMessage, Refused};
use crate::sink::{Label, Ndjson, Sink};
use crate::status::{Outcome, Status, TOOL_CALLS, Witness};

pub(super) fn next(args: &Next) -> anyhow::Result<u8> {
    let file = args.file.as_deref().unwrap_or("-");
    let results = args.results.as_deref();
    check_inputs(args, file, results)?;
    let target = target(&args.running, &args.request)?;
    let tools = LocalTools::new(&args.running)?;
    let signals = tools.listen()?;
    let (mut body, bytes) = read_request(&args.request)?;
    let user = args.user.as_deref().map(words).transpose()?;
    let given = results.map(read_results).transpose()?;
    let mut out = BufferedOutput::standard();
    let mut sink: Box<dyn Sink> = match target {
        Some(_) => Box::new(Ndjson::new(&mut out, Label::default())),
        None => Box::new(Ndjson::new(io::sink(), Label::default())),
    };
    let mut status = Status::new(args.wire.strict);
    let mut message = read_answer(args, file, &signals, &mut *sink, &mut status)?;
    message.write_turn(|| request::guess(&body, iter::empty()));
    let refused = |refused| named(refused, shown(file));
    let verdict = request::verdict(&message).map_err(refused)?;
    if verdict == Fate::Pause && user.is_some() {
        let why = "--user: the provider has paused: send the request first, without it";
        return Err(refused(Refused::malformed(why)));
    }
    let row = request::row(&body, &message).map_err(refused)?;
    request::check_end(&body, row).map_err(refused)?;
    let results = match given {
        Some(given) => assigned(&message, &given).map_err(refused)?,
        None => match tools.run(&message, &signals, &mut *sink)? {
            Some(results) => results,
            None => assigned(&message, &message.results).map_err(refused)?,
        },
    };
    let growth = GrowthOptions { by_id: args.by_id, keep_choice: args.keep_choice };
    let notes = request::grow(&mut body, row, &message, &results, growth).map_err(refused)?;
    notes.iter().for_each(|note| report(&mut io::stderr(), note));
    if let Some(user) = &user {
        request::add_user(&mut body, row, user).map_err(refused)?;
    }
    let is_over = verdict == Fate::Final && user.is_none();
    let code = if is_over { 0 } else { TOOL_CALLS };
    if !is_over {
        request::declare(&mut body, row, &tools.declarations());
    }
    sink.finish().map_err(lost)?;
    drop(sink);
    if args.wire.strict && message.warnings > 0 {
        return Ok(Outcome::Malformed as u8);
    }
    if status.code(false) == Outcome::Io as u8 {
        return Ok(Outcome::Io as u8);
    }
    match &target {
        Some(path) => match match args.running.in_place {
            true => Original::new(path.clone(), bytes).write(body.as_str()),
            false => write_whole(path, body.as_str()),
        } {
            Ok(()) => Ok(code),
            Err(error) => {
                report_on(&mut io::stderr(), &path.display().to_string(), &error.to_string(), None);
                Ok(Outcome::Io as u8)
            }
        },
        None => print(body.as_str()).map(|_| code),
    }
}

/// Checks that standard input is one thing at most.
fn check_inputs(args: &Next, file: &str, results: Option<&str>) -> anyhow::Result<()> {
    let inputs = [
        ("request", Some(args.request.as_str())),
        ("answer", Some(file)),
        ("results", results),
        ("user's words", args.user.as_deref()),
    ];
    let piped: Vec<_> =
        inputs.into_iter().filter(|(_, name)| *name == Some("-")).map(|(what, _)| what).collect();
    match piped.as_slice() {
        [] => {}
        [what] => needs_pipe(&format!("name a FILE, or pipe the {what} in"))?,
        both => bail!("standard input can't be the {}: name a FILE", both.join(" and the ")),
    }
    Ok(())
}

/// Returns the file that the request is written into, if it is. Fails if it can't be written,
/// before a model is asked or a tool has run for nothing.
pub(super) fn target(running: &Running, request: &str) -> anyhow::Result<Option<PathBuf>> {
    let target = match &running.output {
        _ if running.in_place && request == "-" => {
            bail!("-i: the request comes from standard input; `-o FILE` writes it into a file")
        }
        Some(path) if path.as_os_str() == "-" => {
            bail!("-o -: standard output has the events; name a FILE")
        }
        _ if running.in_place && fs::metadata(request).is_ok_and(|file| !file.is_file()) => {
            bail!("-i: {request} is no file that can be read again; `-o FILE` writes into another")
        }
        _ if running.in_place => Some(request.into()),
        output => output.clone(),
    };
    if let Some(path) = &target {
        let refused = |error: io::Error| Refused { outcome: Outcome::Io, why: error.to_string() };
        can_write(path).map_err(|error| named(refused(error), &path.display().to_string()))?;
    }
    Ok(target)
}

/// Returns the user's words that `--user` gives: a text, or for `-` all of standard input.
pub(super) fn words(text: &str) -> anyhow::Result<String> {
    let words = match text {
        "-" => {
            let bytes = read_whole("-").context("--user -")?;
            String::from_utf8(bytes).context("--user -")?
        }
        text => text.to_owned(),
    };
    if words.trim().is_empty() {
        bail!("--user: there are no words");
    }
    Ok(words)
}

fn read_results(path: &str) -> anyhow::Result<Vec<CallResult>> {
    let name = || format!("--results {path}");
    let text = String::from_utf8(read_json(path).with_context(name)?).with_context(name)?;
    request::read_results(&text).map_err(anyhow::Error::msg).with_context(name)
}

/// Returns the result of each call: one of those that are given, or what is wrong with the call.
fn assigned(message: &LastMessage, given: &[CallResult]) -> Result<Vec<CallResult>, Refused> {
    let assigned = request::assign(&message.calls, given)?;
    let (mut results, mut missing) = (Vec::new(), Vec::new());
    for (call, given) in message.calls.iter().zip(assigned) {
        match given.or_else(|| call.correction()) {
            Some(result) => results.push(result),
            None => missing.push(call),
        }
    }
    if missing.is_empty() { Ok(results) } else { Err(request::unanswered(missing.into_iter())) }
}

/// Reads the answer, and hands its events on.
fn read_answer(
    args: &Next,
    file: &str,
    signals: &Signals,
    out: &mut dyn Sink,
    status: &mut Status,
) -> anyhow::Result<LastMessage> {
    let mut config = request::config(args.wire.config()?);
    config.assembly.choice = Some(args.choice);
    let mut input = open_one(file, signals)?;
    let progress = Progress::new(shown(file), input.size());
    let mut message = LastMessage::default();
    let both = Both { message: &mut message, out };
    let mut sink = Witness::new(both, status, shown(file), progress.stderr());
    let mut task = InputReader::new(Pipeline::new(&config), &mut sink);
    let ended = pump(&mut input, &mut task, &progress).map_err(lost)?;
    drop(sink);
    if let Some(signal) = conclude(&ended, file, &mut io::stderr(), status) {
        die(signal);
    }
    Ok(message)
}

/// Gathers the message, and passes its events on.
struct Both<'b> {
    message: &'b mut LastMessage,
    out: &'b mut dyn Sink,
}

impl Sink for Both<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.message.feed(event)?;
        match event.kind {
            // It is in the request.
            Kind::Turn(_) => Ok(()),
            _ => self.out.feed(event),
        }
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.message.feed_pieces(pieces)?;
        self.out.feed_pieces(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
