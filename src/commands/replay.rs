//! `replay`: plays captures, to standard output or over HTTP.

use std::io::{self, ErrorKind, Write};
use std::time::Instant;

use anyhow::{anyhow, bail};

use crate::capture::{Capture, Plan, Play, Tape, Tempo};
use crate::cassette::Exchange;
use crate::cli::Replay;
use crate::commands::exchanges::{exchange, exchanges, exchanges_of, is_answer};
use crate::commands::service::{Service, play};
use crate::commands::{listen, lost, needs_pipe};
use crate::event::Code;
use crate::io::http::{HttpRequest, NoRequest};
use crate::io::{
    BufferedOutput, STANDARD_INPUT, Signals, input_until, read_whole, report, report_error,
    report_on, wait_beside_output,
};
use crate::status::Outcome;

pub(super) fn replay(args: &Replay) -> anyhow::Result<u8> {
    let signals = Signals::listen()?;
    let formats = args.formats.formats()?;
    let is_server = args.http || args.listen.is_some();
    if args.files.iter().any(|name| name == "-") {
        if args.http {
            bail!("standard input can't be the request of --http and a capture: name a FILE");
        }
        needs_pipe("name a FILE, or pipe a capture in")?;
    }
    let mut piped = None;
    if is_server && let Some(exchanges) = recorded(args, &mut piped, &signals)? {
        let service = match args.by {
            None => {
                let tape =
                    Tape::new(exchanges, &args.play(), &formats).map_err(|why| anyhow!(why))?;
                Service::new(args, Vec::new(), Some(tape))?
            }
            Some(_) => {
                let mut answers = exchanges;
                answers.retain(|(_, exchange)| is_answer(exchange, &formats));
                let capture = |(name, exchange): (String, Exchange)| {
                    let bytes = [exchange.head(), exchange.body].concat();
                    Capture::new(&name, bytes, &formats).into_responses(&formats)
                };
                Service::new(args, answers.into_iter().flat_map(capture).collect(), None)?
            }
        };
        return serve(service, args, &signals);
    }
    let mut captures = Vec::new();
    let mut plans = Vec::new();
    for (name, left) in args.files.iter().zip((0..args.files.len()).rev()) {
        let hangs = args.hang && (is_server || left == 0);
        let play = Play { hangs, ..args.play() };
        let read = match exchange(name, &signals)? {
            Some(exchange) if is_server => {
                Ok(Capture::new(name, [exchange.head(), exchange.body].concat(), &formats))
            }
            Some(exchange) => Ok(Capture::new(name, exchange.body, &formats)),
            None if name == "-"
                && let Some(bytes) = piped.take() =>
            {
                Ok(Capture::new(name, bytes, &formats))
            }
            None => Capture::read(name, matches!(play.tempo, Tempo::Recorded(_)), &formats),
        };
        let capture = match read {
            Ok(capture) => capture,
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                report(&mut io::stderr(), &error.to_string());
                return Ok(Outcome::Malformed as u8);
            }
            Err(error) => return Err(error.into()),
        };
        if capture.bytes.is_empty() {
            let message = "the capture is empty";
            report_error(&mut io::stderr(), name, Code::Truncated, message, Some(0));
            return Ok(Outcome::Truncated as u8);
        }
        let played = if is_server { capture.into_responses(&formats) } else { vec![capture] };
        for capture in played {
            let is_fitted = is_server && capture.is_whole();
            let play = if is_fitted { play.within(&capture) } else { play.clone() };
            plans.push(Plan::new(&capture, &play).map_err(|why| anyhow!(why))?);
            captures.push(capture);
        }
    }
    if is_server {
        return serve(Service::new(args, captures, None)?, args, &signals);
    }
    let mut out = BufferedOutput::standard();
    for plan in &plans {
        let write = &mut |bytes: &[u8]| out.write_all(bytes).and_then(|()| out.flush());
        play(plan, write, &mut |time| wait_beside_output(time, &signals)).map_err(lost)?;
    }
    if args.hang {
        wait_beside_output(None, &signals).map_err(lost)?;
    }
    Ok(0)
}

/// Answers requests, at an address or the one on standard input.
fn serve(service: Service, args: &Replay, signals: &Signals) -> anyhow::Result<u8> {
    match &args.listen {
        Some(address) => listen::listen(service, address, args, signals),
        None => one_exchange(&service, signals),
    }
}

/// Returns the recorded exchanges of the FILEs, each with its name, if they hold such. `piped` is what
/// standard input holds, once it was read.
fn recorded(
    args: &Replay,
    piped: &mut Option<Vec<u8>>,
    signals: &Signals,
) -> anyhow::Result<Option<Vec<(String, Exchange)>>> {
    let mut all = Vec::new();
    for (name, at) in args.files.iter().zip(0..) {
        let found = match name.as_str() {
            "-" if piped.is_none() => exchanges_of(piped.insert(read_whole(name)?), name)?,
            "-" => None,
            _ => exchanges(name, signals)?,
        };
        match found {
            Some(found) if at == 0 || !all.is_empty() => {
                all.extend(found.into_iter().map(|one| (format!("{name}#{}", one.number), one)));
            }
            None if all.is_empty() => {}
            _ => bail!("{name}: captures and files of recorded exchanges can't answer together"),
        }
    }
    Ok(Some(all).filter(|all| !all.is_empty()))
}

/// Answers the request on standard input.
fn one_exchange(service: &Service, signals: &Signals) -> anyhow::Result<u8> {
    needs_pipe("--http reads a request from it")?;
    service.note_several();
    let mut out = BufferedOutput::standard();
    let mut input = input_until(signals, Instant::now() + service.patience);
    let mut held = service.room.held();
    let request = HttpRequest::read(&mut input, &mut out, service.max_body, &mut held);
    let outcome = match &request {
        Ok(_) => None,
        Err(NoRequest::Nothing) => {
            let message = "there is no request";
            report_on(&mut io::stderr(), STANDARD_INPUT, message, None);
            Some(Outcome::Truncated)
        }
        Err(NoRequest::Refused(status, why)) => {
            report_on(&mut io::stderr(), STANDARD_INPUT, why, None);
            Some(match status {
                413 | 431 | 503 => Outcome::Limit,
                408 => Outcome::Truncated,
                _ => Outcome::Malformed,
            })
        }
    };
    service
        .exchange(request, &mut out, &mut |time| wait_beside_output(time, signals))
        .map_err(lost)?;
    Ok(outcome.map_or(0, |outcome| outcome as u8))
}
