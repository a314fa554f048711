//! `record`: passes a stream on, and keeps it with its rhythm.

use std::fs::{self, File};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::capture::{Redactor, times_of};
use crate::cli::RecordCommand;
use crate::commands::check::CaptureParts;
use crate::commands::redact::{left, redact};
use crate::commands::{Inputs, conclude, lost, needs_pipe, shown};
use crate::event::Code;
use crate::io::{
    BufferedOutput, Progress, Task, die, is_standard_input, pump, report_error, report_on,
};
use crate::pipeline::Config;
use crate::status::{Outcome, Status};

pub(super) fn record(args: &RecordCommand) -> anyhow::Result<u8> {
    let name = args.file.as_str();
    if name == "-" {
        bail!("name a FILE to keep the stream in: it is passed on to standard output in any case");
    }
    needs_pipe("pipe a stream in")?;
    let inputs = Inputs::new(&[])?;
    let (mut out, mut status) = (BufferedOutput::standard(), Status::default());
    let Some(mut input) = inputs.open("-", &mut io::stderr(), &mut status) else {
        return Ok(status.code(false));
    };
    let held = args.redact.then(Default::default);
    let is_there = fs::exists(name).unwrap_or(true);
    let capture = Growing::open(name)?;
    let times = Growing::open(&times_of(name)).inspect_err(|_| {
        if !is_there {
            // What failed is the error.
            let _ = fs::remove_file(name);
        }
    })?;
    let kept = Some(RecordingFiles { capture, times, held });
    let mut task = Recording {
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

/// A file that grows by whole pieces. What it held before is there until the first one comes.
struct Growing {
    file: File,
    is_regular: bool,
    is_begun: bool,
    /// The length of the pieces that were written.
    length: u64,
}

impl Growing {
    /// Opens or creates a file, unless it is the one that is read.
    fn open(name: &str) -> anyhow::Result<Self> {
        let file = File::options().write(true).create(true).truncate(false).open(name);
        let file = file.with_context(|| name.to_owned())?;
        let is_regular = file.metadata()?.is_file();
        if is_regular && is_standard_input(&file)? {
            bail!("{name}: is standard input as well");
        }
        Ok(Growing { file, is_regular, is_begun: false, length: 0 })
    }

    /// Empties the file, if that is still to be done.
    fn begin(&mut self) -> io::Result<()> {
        if !self.is_begun && self.is_regular {
            self.file.set_len(0)?;
        }
        self.is_begun = true;
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.begin()?;
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Cuts the file back to this length, if it was begun.
    fn cut(&mut self, length: u64) {
        if self.is_begun && self.is_regular {
            // A device has no length to be cut to; there is no one else to tell.
            let _ = self.file.set_len(length);
        }
    }
}

/// The files of a recording.
struct RecordingFiles {
    capture: Growing,
    times: Growing,
    /// The capture and its times until its end, if secrets in it are replaced.
    held: Option<(Vec<u8>, String)>,
}

impl RecordingFiles {
    /// Adds a read to both files, or to none of them.
    fn add(&mut self, bytes: &[u8], time: Duration) -> io::Result<()> {
        let line = format!("{} {}\n", time.as_millis(), bytes.len());
        match &mut self.held {
            Some((capture, times)) => {
                capture.extend_from_slice(bytes);
                times.push_str(&line);
                Ok(())
            }
            None => self.write(bytes, &line),
        }
    }

    fn write(&mut self, bytes: &[u8], lines: &str) -> io::Result<()> {
        let RecordingFiles { capture, times, .. } = self;
        let lengths = [capture.length, times.length];
        let written = capture.add(bytes).and_then(|()| times.add(lines.as_bytes()));
        if written.is_err() {
            capture.cut(lengths[0]);
            times.cut(lengths[1]);
        }
        written
    }

    /// Writes what was held, without its secrets, and notes if one is left.
    fn close(&mut self, name: &str, status: &mut Status) -> io::Result<()> {
        let Some((mut capture, times)) =
            self.held.take().filter(|(capture, _)| !capture.is_empty())
        else {
            return Ok(());
        };
        let (length, stderr) = (capture.len(), &mut io::stderr());
        let mut redactor = Redactor::default();
        redact(&mut redactor, name, &mut capture, stderr)?;
        // The rhythm is that of the bytes that came.
        if capture.len() != length {
            let why =
                "has secrets in what is compressed: `curl --compressed` passes it on unpacked";
            return Err(io::Error::other(why));
        }
        let config = Config::default();
        if let Some(left) = left(&redactor, &CaptureParts::of(&capture, &config).joined(&config)) {
            report_on(stderr, name, &left, None);
            status.note(Outcome::No);
        }
        self.write(&capture, &times)
    }
}

/// Keeps what it is fed, and passes it on.
struct Recording<'a> {
    name: &'a str,
    /// The time at which the stream was first waited for.
    began: Instant,
    /// None after a write that failed: the stream is still passed on.
    kept: Option<RecordingFiles>,
    /// The number of bytes that have been fed.
    length: u64,
    out: &'a mut BufferedOutput,
    status: &'a mut Status,
}

impl Recording<'_> {
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
        let closed = self.kept.as_mut().map(|kept| kept.close(name, self.status));
        self.note(closed, self.length);
    }
}

impl Task for Recording<'_> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.length;
        self.length += bytes.len() as u64;
        let time = self.began.elapsed();
        let added = self.kept.as_mut().map(|kept| kept.add(bytes, time));
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
