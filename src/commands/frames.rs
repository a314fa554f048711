//! `frames`: framing only, no meaning.

use std::io::{self, Write};

use crate::cli::Frames;
use crate::detect::{AutoFramer, KnownFormats};
use crate::event::Code;
use crate::frame::{FaultKind, FrameConfig, Framed};
use crate::io::{BufferedOutput, Task, die, pump, report_error, report_on};
use crate::sink::{self, Label, error_code};
use crate::status::Status;

use crate::commands::exchanges::{Stream, StreamSource};
use crate::commands::{Inputs, conclude, lost};

pub(super) fn frames(args: &Frames) -> anyhow::Result<u8> {
    let inputs = Inputs::with_folders(&args.files, &KnownFormats::default())?;
    let mut out = BufferedOutput::standard();
    let mut status = Status::new(args.strict);
    let (strict, max_event) = (args.strict, args.max_event.0);
    let config = FrameConfig { strict, max_event, ..FrameConfig::default() };
    for name in &inputs.names {
        let mut read = |source: StreamSource<'_>, _: &mut dyn Write, status: &mut Status| {
            let progress = source.progress();
            let StreamSource { name, file, stream, .. } = source;
            let mut task = Printer {
                framer: AutoFramer::new(args.framing, config),
                reporter: Reporter {
                    sink: sink::Frames::new(&mut out, Label::new(file)),
                    status: &mut *status,
                    name: &name,
                    stderr: &mut progress.stderr(),
                    is_stopped: false,
                },
                offset: 0,
            };
            let ended = match stream {
                Stream::Input(mut input) => pump(&mut input, &mut task, &progress)?,
                Stream::Broken { code, message, offset } => {
                    task.reporter.error(code, &message, offset)?;
                    return task.flush().map(|()| None);
                }
            };
            Ok(conclude(&ended, &name, &mut io::stderr(), status))
        };
        let to = (&mut io::stderr() as &mut dyn Write, &mut status);
        let finds = args.framing.is_none();
        if let Some(signal) =
            inputs.each(name, &KnownFormats::default(), finds, to, &mut read).map_err(lost)?
        {
            die(signal);
        }
    }
    Ok(status.code(false))
}

/// Prints the frames of one input.
struct Printer<'a> {
    framer: AutoFramer,
    reporter: Reporter<'a>,
    /// The number of bytes that have been fed.
    offset: u64,
}

/// Writes frames and faults to standard output, faults to standard error as well.
struct Reporter<'a> {
    sink: sink::Frames<&'a mut BufferedOutput>,
    status: &'a mut Status,
    name: &'a str,
    stderr: &'a mut dyn Write,
    is_stopped: bool,
}

impl Reporter<'_> {
    fn feed(&mut self, framed: &Framed<'_>) -> io::Result<()> {
        if let Framed::Fault(fault) = framed {
            self.is_stopped |= matches!(fault.kind, FaultKind::Limit | FaultKind::Unrecognised);
            report_on(self.stderr, self.name, &fault.message, Some(fault.offset));
            if let Some(code) = error_code(fault.kind) {
                self.status.note_error(code);
            }
        }
        self.sink.feed(framed)
    }

    /// Emits an error that no framer reports.
    fn error(&mut self, code: Code, message: &str, offset: u64) -> io::Result<()> {
        report_error(self.stderr, self.name, code, message, Some(offset));
        self.status.note_error(code);
        self.sink.error(code, message, offset)
    }
}

impl Task for Printer<'_> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Printer { framer, reporter, offset } = self;
        *offset += bytes.len() as u64;
        framer.feed(bytes, &mut |framed| reporter.feed(&framed))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.reporter.sink.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        let Printer { framer, reporter, offset } = self;
        framer.finish(&mut |framed| reporter.feed(&framed))?;
        if *offset == 0 { reporter.error(Code::Truncated, "the input is empty", 0) } else { Ok(()) }
    }

    fn interrupt(&mut self) -> io::Result<()> {
        self.reporter.error(Code::Interrupted, "a signal stopped the program", self.offset)
    }

    fn is_stopped(&mut self) -> bool {
        self.reporter.is_stopped
    }
}
