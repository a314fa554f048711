//! `-j N`: several inputs at once, and their results in the order given.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::io::{Output, Progress, die};
use crate::status::{Outcome, Status};

use crate::commands::Lost;
use crate::commands::messages::{Job, Report};

/// The result of one input, with its output.
#[derive(Default)]
struct Finished {
    report: Report,
    out: Vec<u8>,
    stderr: Vec<u8>,
}

/// Reads all inputs of a job, `threads` at once. After a signal, those that are being read are
/// finished, and no other is begun.
pub(super) fn parallel(job: &Job<'_>, threads: usize) -> anyhow::Result<Status> {
    let mut out = Output::standard();
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    thread::scope(|scope| {
        for _ in 0..threads.min(job.inputs.names.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || work(job, next, &sender));
        }
        drop(sender);
        collect(results, &mut out)
    })
    .inspect(|_| {
        if let Some(signal) = job.inputs.signals.caught() {
            die(signal);
        }
    })
}

/// Reads the next input that no thread has begun, while there is one.
fn work(job: &Job<'_>, next: &AtomicUsize, results: &Sender<(usize, Finished)>) {
    while job.inputs.signals.caught().is_none() {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(name) = job.inputs.names.get(at) else { return };
        if results.send((at, read(job, name))).is_err() {
            return;
        }
    }
}

fn read(job: &Job<'_>, name: &str) -> Finished {
    let mut result = Finished::default();
    let Finished { report, out, stderr } = &mut result;
    if let Some(mut input) = job.inputs.open(name, stderr, &mut report.status) {
        match job.read(name, &mut input, out, stderr, &Progress::none()) {
            Ok(read) => *report = read,
            // Writing to memory does not fail.
            Err(_) => report.status.note(Outcome::Io),
        }
    }
    result
}

/// Writes the results in order, each as soon as those before it are written.
fn collect(results: Receiver<(usize, Finished)>, out: &mut Output) -> anyhow::Result<Status> {
    let mut status = Status::default();
    let mut waiting = BTreeMap::new();
    let mut due = 0;
    for (at, result) in results {
        waiting.insert(at, result);
        while let Some(result) = waiting.remove(&due) {
            due += 1;
            out.write_all(&result.out).and_then(|()| out.flush()).map_err(Lost)?;
            let _ = io::stderr().write_all(&result.stderr);
            status.add(result.report.status);
        }
    }
    Ok(status)
}
