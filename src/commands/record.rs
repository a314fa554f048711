//! `record`: passes a stream on, and keeps it with its rhythm.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::fs::{FileType, fstat};
use rustix::stdio::stdin;

use crate::capture::{Redactor, joined, times_of};
use crate::cli::Record;
use crate::commands::redact::{redact, report_spread};
use crate::commands::{Inputs, conclude, lost, needs_pipe, shown};
use crate::event::Code;
use crate::io::{Output, Progress, Task, die, pump, report_error, report_on};
use crate::pipeline::Config;
use crate::status::{Outcome, Status};

pub(super) fn record(args: &Record) -> anyhow::Result<u8> {
    let name = args.file.as_str();
    if name == "-" {
        bail!("name a FILE to keep the stream in: it is passed on to standard output in any case");
    }
    needs_pipe("pipe a stream in")?;
    let inputs = Inputs::new(&[])?;
    let (mut out, mut status) = (Output::standard(), Status::default());
    let Some(mut input) = inputs.open("-", &mut io::stderr(), &mut status) else {
        return Ok(status.code(false));
    };
    let held = args.redact.then(Vec::new);
    let kept = Some(Kept { capture: create(name)?, times: create(&times_of(name))?, held });
    let mut task = Recorder {
        name,
        began: Instant::now(),
        kept,
        length: 0,
        out: &mut out,
        status: &mut status,
    };
    let ended = pump(&mut input, &mut task, &Progress::none());
    // A reader that leaves takes nothing from what has come.
    task.close();
    let ended = ended.map_err(lost)?;
    if let Some(signal) = conclude(&ended, "-", &mut io::stderr(), &mut status) {
        die(signal);
    }
    Ok(status.code(false))
}

/// Creates a file, or empties it, unless it is the one that is read.
fn create(name: &str) -> anyhow::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(name);
    let file = file.with_context(|| name.to_owned())?;
    let (own, input) = (fstat(&file)?, fstat(stdin())?);
    if FileType::from_raw_mode(own.st_mode) == FileType::RegularFile {
        if (own.st_dev, own.st_ino) == (input.st_dev, input.st_ino) {
            bail!("{name}: is standard input as well");
        }
        file.set_len(0)?;
    }
    Ok(file)
}

/// The files of a recording.
struct Kept {
    capture: File,
    times: File,
    /// The capture until its end, if secrets in it are replaced.
    held: Option<Vec<u8>>,
}

impl Kept {
    /// Adds a read to both files. `length` is that of the capture before it.
    fn add(&mut self, bytes: &[u8], time: Duration, length: u64) -> io::Result<()> {
        let Kept { capture, times, held } = self;
        let line = format!("{} {}\n", time.as_millis(), bytes.len());
        let written = match held {
            Some(held) => held.write_all(bytes),
            None => capture.write_all(bytes),
        };
        let written = written.and_then(|()| times.write_all(line.as_bytes()));
        if written.is_err() {
            // The times still fit the capture; a device has no length to be cut to.
            let _ = capture.set_len(length);
        }
        written
    }

    /// Writes what was held, without its secrets.
    fn close(&mut self, name: &str) -> io::Result<()> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        redact(&mut Redactor::default(), name, &mut held, &mut io::stderr());
        report_spread(name, &joined(&Config::default(), &[&held]), &mut io::stderr());
        self.capture.write_all(&held)
    }
}

/// Keeps what it is fed, and passes it on.
struct Recorder<'a> {
    name: &'a str,
    /// The time at which the stream was first waited for.
    began: Instant,
    /// None after a write that failed: the stream is still passed on.
    kept: Option<Kept>,
    /// The number of bytes that have been fed.
    length: u64,
    out: &'a mut Output,
    status: &'a mut Status,
}

impl Recorder<'_> {
    /// Reports that the stream can no longer be kept, if so.
    fn note(&mut self, written: Option<io::Result<()>>, offset: u64) {
        if let Some(Err(error)) = written {
            let message = format!("{error}; the stream is passed on, and no longer kept");
            report_on(&mut io::stderr(), self.name, &message, Some(offset));
            self.status.note(Outcome::Io);
            self.kept = None;
        }
    }

    /// Writes what is not written yet.
    fn close(&mut self) {
        let name = self.name;
        let closed = self.kept.as_mut().map(|kept| kept.close(name));
        self.note(closed, self.length);
    }
}

impl Task for Recorder<'_> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.length;
        self.length += bytes.len() as u64;
        let time = self.began.elapsed();
        let added = self.kept.as_mut().map(|kept| kept.add(bytes, time, before));
        self.note(added, before);
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.length == 0 {
            let message = "the input is empty";
            report_error(&mut io::stderr(), shown("-"), Code::Truncated, message, Some(0));
            self.status.note_error(Code::Truncated);
        }
        Ok(())
    }
}
