//! `classify --rows`: rows of NDJSON in, the same rows with their summaries out, in order. One
//! thread reads and one writes; `-j N` threads between them take the rows of one read at a time.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::anyhow;
use memchr::{memchr, memchr_iter, memrchr};

use crate::cli::Classify;
use crate::cut::Cut as _;
use crate::frame::without_mark;
use crate::io::{BufferedOutput, Progress, Task, die, pump, report};
use crate::pipeline::Config;
use crate::rows::{AnswerPlace, RowReader};
use crate::sink;
use crate::status::{Outcome, Status};

use crate::commands::parallel::in_order;
use crate::commands::{HasRead, Inputs, Lost, conclude, shown, write_now};

/// The number of rows that are reported one by one; of the others, only how many they are.
const MAX_REPORTED: u64 = 10;

/// Reads all inputs. Returns the exit status.
pub(super) fn rows(args: &Classify, field: &AnswerPlace, config: &Config) -> anyhow::Result<u8> {
    let wire = &args.reading.wire;
    let reader = RowReader {
        field,
        is_base64: args.base64,
        config,
        max_row: wire.max_event.0,
        max_memory: wire.max_memory.0,
    };
    let inputs = Inputs::new(&args.reading.files)?;
    let threads = usize::from(args.jobs);
    let (filled, batches) = channel();
    let (emptied, empties) = channel();
    // What is under way is bounded by the batches that there are.
    (0..4 * threads).for_each(|_| drop(emptied.send(RowBatch::default())));
    let mut sum = RowCount::default();
    let (written, read) = thread::scope(|scope| {
        let cutter = Cutter::new(wire.max_event.0, filled, empties);
        let read = thread::Builder::new().spawn_scoped(scope, || cutter.read(&inputs))?;
        let (mut out, sum) = (BufferedOutput::standard(), &mut sum);
        let work = |batch: RowBatch| batch.read(&reader);
        let written = in_order(threads, batches.into_iter(), work, move |mut batch| {
            batch.write(&mut out, sum)?;
            // The reader may have ended.
            let _ = emptied.send(batch);
            Ok::<(), Lost>(())
        });
        Ok::<_, io::Error>((written, read.join()))
    })?;
    written?;
    let read = read.map_err(|_| anyhow!("the thread that reads has failed"))?;
    if let Some(signal) = read.signal {
        die(signal);
    }
    let mut status = read.status;
    if sum.failed > 0 {
        let mut message = format!("{} of {} rows hold no good answer", sum.failed, sum.rows);
        if sum.without_field == sum.rows {
            message.push_str(": none has the field that --rows names");
            status.note(Outcome::Malformed);
        }
        report(&mut io::stderr(), &message);
    }
    if args.sum {
        report(&mut io::stderr(), &sum.messages.to_string());
    }
    if args.exit_code {
        status.add(sum.status);
    }
    Ok(status.code(args.exit_code))
}

/// Some whole rows of an input, and their results.
#[derive(Default)]
struct RowBatch {
    /// The input's name.
    name: String,
    /// The number of the first row, from 1.
    first: u64,
    rows: Vec<u8>,
    out: Vec<u8>,
    /// The reports on the first rows that failed.
    stderr: Vec<Vec<u8>>,
    sum: RowCount,
}

/// The rows that have been read.
#[derive(Default)]
struct RowCount {
    rows: u64,
    failed: u64,
    without_field: u64,
    status: Status,
    /// The messages in them.
    messages: sink::Sum,
}

impl RowCount {
    fn add(&mut self, other: RowCount) {
        self.rows += other.rows;
        self.failed += other.failed;
        self.without_field += other.without_field;
        self.status.add(other.status);
        self.messages.add(other.messages);
    }
}

/// Cuts inputs into batches.
struct Cutter<'a> {
    name: &'a str,
    /// The most bytes of a row; 0 is no limit.
    max_row: usize,
    filled: Sender<RowBatch>,
    emptied: Receiver<RowBatch>,
    /// The number of the next row.
    row: u64,
    /// The beginning of a row; of one that is too large, one byte more than it may have.
    rest: Vec<u8>,
}

impl<'a> Cutter<'a> {
    fn new(max_row: usize, filled: Sender<RowBatch>, emptied: Receiver<RowBatch>) -> Self {
        Cutter { name: "", max_row, filled, emptied, row: 1, rest: Vec::new() }
    }

    /// Reads the inputs, one after the other.
    fn read(mut self, inputs: &'a Inputs<'_>) -> HasRead {
        let mut read = HasRead::default();
        for name in &inputs.names {
            let opened = inputs.open(name, &mut io::stderr(), &mut read.status);
            let Some(mut input) = opened else { continue };
            (self.name, self.row) = (shown(name), 1);
            let progress = Progress::new(self.name, input.size());
            // It fails only if the writer has failed, which says why.
            let Ok(ended) = pump(&mut input, &mut self, &progress) else { break };
            read.signal = conclude(&ended, name, &mut progress.stderr(), &mut read.status);
            if read.signal.is_some() {
                break;
            }
        }
        read
    }

    /// Hands on the row that is open, and `rows`, which end it.
    fn send(&mut self, rows: &[u8]) -> io::Result<()> {
        let gone = || io::Error::from(ErrorKind::Other);
        let mut batch = self.emptied.recv().map_err(|_| gone())?;
        self.name.clone_into(&mut batch.name);
        batch.first = self.row;
        batch.rows.clear();
        batch.rows.append(&mut self.rest);
        batch.rows.extend_from_slice(rows);
        self.row += memchr_iter(b'\n', &batch.rows).count() as u64;
        self.filled.send(batch).map_err(|_| gone())
    }

    /// Keeps bytes of the row that is open.
    fn keep(&mut self, bytes: &[u8]) {
        let room = match self.max_row {
            0 => usize::MAX,
            max => max.saturating_add(1).saturating_sub(self.rest.len()),
        };
        self.rest.extend_from_slice(bytes.before(room));
    }
}

impl Task for Cutter<'_> {
    fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(first) = memchr(b'\n', bytes) else {
            self.keep(bytes);
            return Ok(());
        };
        // The end of the row that is open may have to be left out.
        let (head, bytes) = bytes.split_at(first);
        self.keep(head);
        let last = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (rows, rest) = bytes.split_at(last);
        self.send(rows)?;
        self.keep(rest);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.rest.is_empty() { Ok(()) } else { self.send(b"\n") }
    }
}

impl RowBatch {
    fn read(mut self, reader: &RowReader<'_>) -> RowBatch {
        let RowBatch { name, first, rows, out, stderr, sum } = &mut self;
        out.clear();
        stderr.clear();
        *sum = RowCount::default();
        let mut rest = rows.as_slice();
        if *first == 1 {
            rest = without_mark(rest);
        }
        while let Some(end) = memchr(b'\n', rest) {
            let (row, tail) = rest.split_at(end);
            rest = tail.after(1);
            let number = *first + sum.rows;
            let done = reader.read(row, &format!("{name}: row {number}"), out);
            sum.rows += 1;
            sum.without_field += u64::from(done.has_no_field);
            sum.status.add(done.status);
            sum.messages.add(done.sum);
            if !done.stderr.is_empty() {
                if sum.failed < MAX_REPORTED {
                    stderr.push(done.stderr);
                }
                sum.failed += 1;
            }
        }
        self
    }

    /// Writes what was read, and adds it to the sum of all.
    fn write(&mut self, out: &mut BufferedOutput, sum: &mut RowCount) -> Result<(), Lost> {
        write_now(out, &self.out)?;
        let unreported = MAX_REPORTED.saturating_sub(sum.failed);
        for line in self.stderr.iter().take(usize::try_from(unreported).unwrap_or(0)) {
            let _ = io::stderr().write_all(line);
        }
        sum.add(std::mem::take(&mut self.sum));
        Ok(())
    }
}
