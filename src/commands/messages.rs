//! `parse` and `classify`: the events of a stream, or one summary a message.

use std::io::{self, Write};

use anyhow::bail;

use crate::cli::{ChoiceFilter, Classify, Parse, Reading};
use crate::io::{Input, Output, Progress, Task, die, pump};
use crate::pipeline::{Config, Pipeline};
use crate::sink;
use crate::sink::{Capped, Clock, Join, Label, Ndjson, Sink, Values};
use crate::status::{Outcome, Status, Witness};

use crate::commands::parallel::{Finished, parallel};
use crate::commands::{Inputs, conclude, lost, shown};

pub(super) fn parse(args: &Parse) -> anyhow::Result<u8> {
    let job = Job::new(&args.reading, Print::Events { join: args.reading.join })?;
    Ok(job.run()?.code(false))
}

pub(super) fn classify(args: &Classify) -> anyhow::Result<u8> {
    let choice = match args.reading.choice {
        Some(ChoiceFilter::All) => bail!("classify follows one choice: --choice takes a number"),
        Some(ChoiceFilter::One(choice)) => choice,
        None => 0,
    };
    let job = Job::new(
        &args.reading,
        Print::Summary { choice, max_memory: args.reading.wire.max_memory.0 },
    )?;
    let status = match args.jobs {
        0 | 1 => job.run()?,
        threads => parallel(&job.inputs, threads.into(), &|name| job.read_whole(name))?,
    };
    Ok(status.code(args.exit_code))
}

/// The output of a command for a message.
enum Print {
    Events { join: bool },
    Summary { choice: u64, max_memory: usize },
}

/// A command with its options resolved and their files read; shared by all inputs.
struct Job<'a> {
    inputs: Inputs<'a>,
    reading: &'a Reading,
    print: Print,
    config: Config,
}

/// The result of one input.
struct Report {
    status: Status,
    /// The signal that ended it.
    signal: Option<i32>,
}

impl<'a> Job<'a> {
    fn new(reading: &'a Reading, print: Print) -> anyhow::Result<Self> {
        let mut config = reading.config()?;
        if let Print::Summary { choice, .. } = print {
            config.assembly.choice = Some(choice);
        }
        Ok(Job { inputs: Inputs::new(&reading.files)?, reading, print, config })
    }

    /// Reads one input after the other.
    fn run(&self) -> anyhow::Result<Status> {
        let mut out = Output::standard();
        let mut status = Status::default();
        for name in &self.inputs.names {
            let Some(mut input) = self.inputs.open(name, &mut io::stderr(), &mut status) else {
                continue;
            };
            let progress = Progress::new(shown(name), input.size());
            let report = self
                .read(name, &mut input, &mut out, &mut progress.stderr(), &progress)
                .map_err(lost)?;
            if let Some(signal) = report.signal {
                die(signal);
            }
            status.add(report.status);
        }
        Ok(status)
    }

    /// Reads one input to its end. Fails only if writing does.
    fn read(
        &self,
        name: &str,
        input: &mut Input<'_>,
        out: &mut dyn Write,
        stderr: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<Report> {
        let mut status = Status::new(self.reading.wire.strict);
        let label = self.inputs.label(name, self.reading.timing);
        let clock = label.clock.clone();
        let pipeline = Pipeline::new(&self.config);
        let witness = Witness::new(self.sink(out, label), &mut status, shown(name), &mut *stderr);
        let max_memory = match self.print {
            Print::Events { .. } => 0,
            Print::Summary { max_memory, .. } => max_memory,
        };
        let mut reader = Reader { pipeline, sink: Capped::new(witness, max_memory), clock };
        let ended = pump(input, &mut reader, progress)?;
        let signal = conclude(&ended, name, stderr, &mut status);
        Ok(Report { status, signal })
    }

    /// Reads one input to its end, with its output kept in memory.
    fn read_whole(&self, name: &str) -> Finished {
        let mut result = Finished::default();
        let Finished { status, out, stderr } = &mut result;
        if let Some(mut input) = self.inputs.open(name, stderr, status) {
            match self.read(name, &mut input, out, stderr, &Progress::none()) {
                Ok(report) => *status = report.status,
                // Writing to memory does not fail.
                Err(_) => status.note(Outcome::Io),
            }
        }
        result
    }

    fn sink<'o>(&self, out: &'o mut dyn Write, label: Label) -> Box<dyn Sink + 'o> {
        let join = match self.print {
            Print::Events { join } => join,
            Print::Summary { choice, .. } => {
                return Box::new(sink::Classify::new(out, label, choice));
            }
        };
        let lines = Ndjson::new(out, label);
        let lines: Box<dyn Sink + 'o> = match self.reading.values {
            true => Box::new(Values::new(lines, self.reading.deltas)),
            false => Box::new(lines),
        };
        if join { Box::new(Join::new(lines)) } else { lines }
    }
}

/// The layers of one input, from bytes to lines.
struct Reader<S> {
    pipeline: Pipeline,
    sink: S,
    clock: Option<Clock>,
}

impl<S: Sink> Task for Reader<S> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(clock) = &self.clock {
            clock.start();
        }
        self.pipeline.feed(bytes, &mut self.sink)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.pipeline.finish(&mut self.sink)
    }

    fn interrupt(&mut self) -> io::Result<()> {
        self.pipeline.interrupt(&mut self.sink)
    }

    fn is_stopped(&self) -> bool {
        self.pipeline.is_stopped() || self.sink.is_full()
    }
}
