//! `parse`, `classify` and `show`: the events of a stream, one summary a message, or the answer as
//! a person reads it.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::bail;
use clap::ColorChoice;

use crate::capture::Rhythm;
use crate::cli::{ChoiceFilter, Classify, Parse, Printing, ReadOptions, Show, ShownPart};
use crate::io::{BufferedOutput, Ended, Progress, columns, die, pump, report, report_on};
use crate::pipeline::{Config, Pipeline};
use crate::sink;
use crate::sink::{
    Capped, Counted, Join, Label, Look, Ndjson, Parts, People, Sink, Sum, Summed, Values,
};
use crate::status::{Outcome, Status, Witness};

use crate::commands::exchanges::{ReadSource, Stream, StreamSource, fail, may_be_cassette};
use crate::commands::parallel::in_order;
use crate::commands::reader::InputReader;
use crate::commands::rows::rows;
use crate::commands::{HasRead, Inputs, Lost, conclude, has_color, lost, write_now};

/// The report on an input that was found to be plain text.
const GUESS: &str = "no wire format fits, so it was read as plain text; `-f text` says that it is";

pub(super) fn parse(args: &Parse) -> anyhow::Result<u8> {
    let mut config = args.reading.config()?;
    args.printing.add_to(&mut config);
    let job = Job::new(&args.reading, config, Print::Events(&args.printing))?;
    Ok(job.run()?.code(false))
}

pub(super) fn classify(args: &Classify) -> anyhow::Result<u8> {
    let mut config = of_one_choice(&args.reading, "classify")?;
    args.printing.add_to(&mut config);
    if let Some(field) = &args.rows {
        return rows(args, field, &config);
    }
    let job = Job::new(&args.reading, config, Print::Summaries(&args.printing))?;
    let job = Job { wants_answer: args.exit_code, ..job };
    let status = match args.jobs {
        1 => job.run()?,
        threads => job.run_parallel(threads.into())?,
    };
    if let Some(signal) = job.inputs.signals.caught() {
        die(signal);
    }
    if args.sum || (job.inputs.names.len() > 1 && io::stderr().is_terminal()) {
        let sum = job.sum.lock().unwrap_or_else(PoisonError::into_inner);
        report(&mut io::stderr(), &sum.to_string());
    }
    Ok(status.code(args.exit_code))
}

pub(super) fn show(args: &Show) -> anyhow::Result<u8> {
    let mut config = of_one_choice(&args.reading, "show")?;
    config.assembly.deltas = true;
    config.assembly.prompts = true;
    let job =
        Job::new(&args.reading, config, Print::People(look(&args.parts, args.color, args.plain)))?;
    let job = Job { wants_answer: true, ..job };
    Ok(job.run()?.code(false))
}

/// Returns the configuration of a command that follows one choice: the first, by default.
fn of_one_choice(reading: &ReadOptions, command: &str) -> anyhow::Result<Config> {
    if reading.choice == Some(ChoiceFilter::All) {
        bail!("{command} follows one choice: --choice takes a number");
    }
    let mut config = reading.config()?;
    config.assembly.choice.get_or_insert(0);
    Ok(config)
}

/// Returns how the answer looks on this standard output: these parts of it, or those that suit.
pub(super) fn look(parts: &[ShownPart], color: ColorChoice, is_plain: bool) -> Look {
    let is_terminal = io::stdout().is_terminal();
    let wants = |part| parts.contains(&part) || parts.contains(&ShownPart::All);
    let parts = match (parts.is_empty(), is_terminal) {
        (true, true) => Parts::ALL,
        (true, false) => Parts::TEXT,
        (false, _) => Parts {
            text: wants(ShownPart::Text),
            reasoning: wants(ShownPart::Reasoning),
            calls: wants(ShownPart::Calls),
            results: wants(ShownPart::Results),
            usage: wants(ShownPart::Usage),
        },
    };
    let has_color = has_color(color);
    let width = columns().unwrap_or(80);
    // What goes through `less -R` ends on a terminal.
    let is_laid_out = is_terminal && !is_plain;
    Look { parts, is_terminal: is_terminal || has_color, has_color, width, is_laid_out }
}

/// Returns what shows to people: all that comes, or in a pipe what counted of an agent's run.
pub(super) fn of_people<'o, W: Write + 'o>(people: People<W>, look: &Look) -> Box<dyn Sink + 'o> {
    let values = Values::new(people, true);
    match look.is_terminal {
        true => Box::new(values),
        false => Box::new(Counted::new(values, look.parts == Parts::TEXT)),
    }
}

/// The output of a command for a message.
enum Print<'a> {
    Events(&'a Printing),
    Summaries(&'a Printing),
    People(Look),
}

/// The result of one input, with its output.
#[derive(Default)]
struct Finished {
    status: Status,
    out: Vec<u8>,
    stderr: Vec<u8>,
}

/// A command with its options resolved and their files read; shared by all inputs.
struct Job<'a> {
    inputs: Inputs<'a>,
    reading: &'a ReadOptions,
    print: Print<'a>,
    config: Config,
    /// True if half an answer is a failure.
    wants_answer: bool,
    /// The counts of the summaries of all inputs.
    sum: Mutex<Sum>,
}

impl<'a> Job<'a> {
    fn new(reading: &'a ReadOptions, config: Config, print: Print<'a>) -> anyhow::Result<Self> {
        let inputs = Inputs::with_folders(&reading.files, &config.formats())?;
        let wants_answer = false;
        Ok(Job { inputs, reading, print, config, wants_answer, sum: Mutex::default() })
    }

    /// Reads one input after the other.
    fn run(&self) -> anyhow::Result<Status> {
        let mut out = BufferedOutput::standard();
        let mut status = Status::default();
        for name in &self.inputs.names {
            let mut read = |source: StreamSource<'_>, _: &mut dyn Write, status: &mut Status| {
                let progress = source.progress();
                let read = self.read(source, &mut out, &mut progress.stderr(), &progress)?;
                status.add(read.status);
                Ok(read.signal)
            };
            let to = (&mut io::stderr() as &mut dyn Write, &mut status);
            if let Some(signal) = self.each(name, to, &mut read).map_err(lost)? {
                die(signal);
            }
        }
        Ok(status)
    }

    /// Reads `threads` inputs at once. After a signal, those that are being read are finished, and no
    /// other is begun: the caller dies by it.
    fn run_parallel(&self, threads: usize) -> Result<Status, Lost> {
        let mut out = BufferedOutput::standard();
        let mut status = Status::default();
        let Inputs { names, signals } = &self.inputs;
        let next = names.iter().take_while(|_| signals.caught().is_none());
        let take = |read: Finished| {
            write_now(&mut out, &read.out)?;
            let _ = io::stderr().write_all(&read.stderr);
            status.add(read.status);
            Ok(())
        };
        in_order(threads.min(names.len()), next, |name| self.read_whole(name), take)?;
        Ok(status)
    }

    /// Reads the parts of an input, which is looked into unless an option says what it is.
    fn each(
        &self,
        name: &str,
        to: (&mut dyn Write, &mut Status),
        read: &mut ReadSource<'_>,
    ) -> io::Result<Option<i32>> {
        self.inputs.each(name, &self.config.formats(), may_be_cassette(&self.config), to, read)
    }

    /// Reads one part to its end. Fails only if writing does.
    fn read(
        &self,
        source: StreamSource<'_>,
        out: &mut dyn Write,
        stderr: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<HasRead> {
        let (mut status, mut sum) = (Status::new(self.reading.wire.strict), Sum::default());
        status = status.wanting_answer(self.wants_answer);
        let (wants_time, max_memory) = match &self.print {
            Print::Events(printing) => (printing.timing, 0),
            Print::Summaries(printing) => (printing.timing, self.reading.wire.max_memory.0),
            Print::People(look) => (look.parts.usage, 0),
        };
        let StreamSource { name, file, stream, clock } = source;
        let size = stream.size();
        let beside = size.filter(|_| wants_time).map(|size| Rhythm::beside(&name, size));
        let rhythm = match beside.transpose() {
            Ok(rhythm) => rhythm.flatten(),
            Err(error) => {
                let is_misfit = error.kind() == ErrorKind::InvalidData;
                status.note(if is_misfit { Outcome::Malformed } else { Outcome::Usage });
                report(stderr, &error.to_string());
                return Ok(HasRead { status, signal: None });
            }
        };
        // A file has been written before: how long it takes to read it tells people nothing.
        let is_known = rhythm.is_some() || size.is_none();
        let is_timed = wants_time && (is_known || !matches!(self.print, Print::People(_)));
        let label = Label::new(file).timed(is_timed.then_some(clock));
        let clock = label.clock.clone();
        let pipeline = Pipeline::new(&self.config);
        let lines = self.sink(out, label, &mut sum);
        let witness = Witness::new(lines, &mut status, &name, &mut *stderr);
        let mut sink: Box<dyn Sink> = match max_memory {
            0 => Box::new(witness),
            max => Box::new(Capped::new(witness, max)),
        };
        let (ended, is_guess) = match stream {
            Stream::Input(mut input) => {
                let mut reader = InputReader::new(pipeline, &mut *sink).timed(clock, rhythm);
                let ended = pump(&mut input, &mut reader, progress)?;
                (ended, reader.pipeline().is_plain() && self.reading.wire.finds_all_out())
            }
            Stream::Broken { code, message, offset } => {
                fail(&mut *sink, code, &message, offset)?;
                (Ended::Well, false)
            }
        };
        drop(sink);
        if is_guess {
            report_on(stderr, &name, GUESS, None);
        }
        let signal = conclude(&ended, &name, stderr, &mut status);
        self.sum.lock().unwrap_or_else(PoisonError::into_inner).add(sum);
        Ok(HasRead { status, signal })
    }

    /// Reads one input to its end, with its output kept in memory.
    fn read_whole(&self, name: &str) -> Finished {
        let mut result = Finished::default();
        let Finished { status, out, stderr } = &mut result;
        let mut read = |source: StreamSource<'_>, stderr: &mut dyn Write, status: &mut Status| {
            let read = self.read(source, out, stderr, &Progress::none())?;
            status.add(read.status);
            Ok(read.signal)
        };
        // Writing to memory does not fail.
        if self.each(name, (stderr, status), &mut read).is_err() {
            status.note(Outcome::Io);
        }
        result
    }

    fn sink<'o>(
        &self,
        out: &'o mut dyn Write,
        label: Label,
        sum: &'o mut Sum,
    ) -> Box<dyn Sink + 'o> {
        let printing = match &self.print {
            Print::Events(printing) => printing,
            Print::Summaries(_) => {
                let choice = self.config.assembly.choice.unwrap_or(0);
                return Box::new(Summed::new(sink::Classify::new(out, label, choice), sum));
            }
            Print::People(look) => {
                let people = People::new(out, look.clone(), label.file, label.clock);
                return of_people(people, look);
            }
        };
        let lines = Ndjson::new(out, label);
        let lines: Box<dyn Sink + 'o> = match printing.values {
            true => Box::new(Values::new(lines, printing.deltas)),
            false => Box::new(lines),
        };
        if printing.join { Box::new(Join::new(lines)) } else { lines }
    }
}
