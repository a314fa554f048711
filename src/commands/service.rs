//! The captures of `replay`, played: to anyone who writes, and to who asks over HTTP.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::capture::{
    AnswerBody, By, Capture, Plan, PlayedAnswer, Redactor, Server, Tape, failure, log_line,
};
use crate::cli::Replay;
use crate::format::reply_of;
use crate::io::http::{self, HttpRequest, NoRequest, Room};
use crate::io::{private_file, report_on};
use crate::json::Line;

/// The time that a request may take to come, and that a client may take to read.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until a time, or for ever. Fails if the reader has left.
pub(super) type Wait<'w> = dyn FnMut(Option<Instant>) -> io::Result<()> + 'w;

/// Writes what is planned, each piece when it is due.
pub(super) fn play(
    plan: &Plan,
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    wait: &mut Wait<'_>,
) -> io::Result<()> {
    let begin = Instant::now();
    for step in plan.steps() {
        if !step.at.is_zero() {
            wait(begin.checked_add(step.at))?;
        }
        write(step.bytes)?;
    }
    Ok(())
}

/// Where requests are logged, without their secrets.
struct RequestLog {
    file: File,
    redactor: Redactor,
}

impl RequestLog {
    /// Opens a log, which no one else may read: what a client says is more than its keys.
    fn open(path: &Path) -> io::Result<Self> {
        let file = private_file().append(true).create(true).open(path)?;
        Ok(RequestLog { file, redactor: Redactor::default() })
    }

    fn add(&mut self, mut line: Line) -> io::Result<()> {
        let mut bytes = Vec::new();
        line.write_to(&mut bytes)?;
        self.redactor.redact(&mut bytes, "");
        self.file.write_all(&bytes)
    }
}

/// A server of captures, and what it does beside answering.
pub(super) struct Service {
    server: Server,
    log: Option<Mutex<RequestLog>>,
    pub(super) max_body: usize,
    /// What the bodies of all requests at once may have.
    pub(super) room: Room,
    pub(super) patience: Duration,
}

impl Service {
    /// Serves captures, or recorded exchanges.
    pub(super) fn new(
        args: &Replay,
        captures: Vec<Capture>,
        tape: Option<Tape>,
    ) -> anyhow::Result<Self> {
        let log = args.log.as_ref().map(|path| {
            RequestLog::open(path).map(Mutex::new).with_context(|| path.display().to_string())
        });
        let by = args.by.unwrap_or(By::Turn);
        let all = args.status.map(|status| (None, status));
        let fail = all.or(args.fail.map(|(count, status)| (Some(count), status)));
        let server = Server::new(captures, tape, args.play(), by, fail, args.first_requests);
        Ok(Service {
            server,
            log: log.transpose()?,
            max_body: args.max_event.0,
            room: Room::new(args.max_event.0),
            patience: PATIENCE,
        })
    }

    /// Says which captures are not sent whole to every client.
    pub(super) fn note_several(&self) {
        for name in self.server.of_several() {
            let message = "it holds several messages: an endpoint of its own format gets them all, \
                           another one the first alone";
            report_on(&mut io::stderr(), name, message, None);
        }
    }

    /// Answers a request, or says why it cannot be answered. Returns true if the connection is to
    /// end as connections do.
    pub(super) fn exchange(
        &self,
        request: Result<HttpRequest, NoRequest>,
        out: &mut dyn Write,
        wait: &mut Wait<'_>,
    ) -> io::Result<bool> {
        let (answer, reads_chunks, wants_body) = match request {
            Ok(request) => {
                let answer = self.server.answer(&request);
                self.log(&request, &answer);
                (answer, request.reads_chunks, request.method != "HEAD")
            }
            Err(NoRequest::Nothing) => return Ok(true),
            Err(NoRequest::Refused(status, why)) => {
                (failure(reply_of(None), status, Some(&why)), false, true)
            }
        };
        let PlayedAnswer { status, headers, body, .. } = &answer;
        match body {
            AnswerBody::Whole(text) => {
                let mut answer = http::AnswerWriter::begin(out, *status, headers, false, true)?;
                if wants_body {
                    answer.write(text.as_bytes())?;
                }
            }
            AnswerBody::Played(plan) => {
                let mut answer =
                    http::AnswerWriter::begin(out, *status, headers, reads_chunks, !plan.drops)?;
                play(plan, &mut |bytes| answer.write(bytes), wait)?;
                if plan.hangs {
                    wait(None)?;
                }
                if plan.drops {
                    return Ok(false);
                }
                answer.end()?;
            }
        }
        Ok(true)
    }

    /// Adds a line to the log.
    fn log(&self, request: &HttpRequest, answer: &PlayedAnswer) {
        let Some(log) = &self.log else { return };
        let written = match log.lock() {
            Ok(mut log) => log.add(log_line(request, answer)),
            Err(_) => return,
        };
        if let Err(error) = written {
            report_on(&mut io::stderr(), "--log", &error.to_string(), None);
        }
    }
}
