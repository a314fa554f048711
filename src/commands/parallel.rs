//! `-j N`: several inputs at once, and their results in the order given.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::io::{Output, die};
use crate::status::Status;

use crate::commands::{Inputs, write_now};

/// The result of one input, with its output.
#[derive(Default)]
pub(super) struct Finished {
    pub(super) status: Status,
    pub(super) out: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Results that come in any order, and are taken in that of their places.
pub(super) struct InOrder<T> {
    waiting: BTreeMap<usize, T>,
    /// The place of the next one.
    due: usize,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        InOrder { waiting: BTreeMap::new(), due: 0 }
    }
}

impl<T> InOrder<T> {
    /// Takes the result of a place, of which the first is 0.
    pub(super) fn add(&mut self, at: usize, result: T) {
        self.waiting.insert(at, result);
    }

    /// Returns the next result, if it has come.
    pub(super) fn take(&mut self) -> Option<T> {
        let next = self.waiting.remove(&self.due);
        self.due += usize::from(next.is_some());
        next
    }
}

/// Reads all inputs, `threads` at once, each by its name with `read`. After a signal, those that
/// are being read are finished, and no other is begun.
pub(super) fn parallel(
    inputs: &Inputs<'_>,
    threads: usize,
    read: &(dyn Fn(&str) -> Finished + Sync),
) -> anyhow::Result<Status> {
    let mut out = Output::standard();
    let next = AtomicUsize::new(0);
    let (sender, results) = channel();
    thread::scope(|scope| {
        for _ in 0..threads.min(inputs.names.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while inputs.signals.caught().is_none() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(name) = inputs.names.get(at) else { return };
                    if sender.send((at, read(name))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        collect(results, &mut out)
    })
    .inspect(|_| {
        if let Some(signal) = inputs.signals.caught() {
            die(signal);
        }
    })
}

/// Writes the results in order, each as soon as those before it are written.
fn collect(results: Receiver<(usize, Finished)>, out: &mut Output) -> anyhow::Result<Status> {
    let mut status = Status::default();
    let mut waiting = InOrder::default();
    for (at, result) in results {
        waiting.add(at, result);
        while let Some(result) = waiting.take() {
            write_now(out, &result.out)?;
            let _ = io::stderr().write_all(&result.stderr);
            status.add(result.status);
        }
    }
    Ok(status)
}
