//! `-j N`: several inputs at once, and their results in the order given.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use crate::io::Output;
use crate::status::Status;

use crate::commands::{Inputs, Lost, write_now};

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

/// What has been written, and what waits until its place is due.
struct Written {
    out: Output,
    waiting: InOrder<Finished>,
    status: Status,
}

impl Written {
    /// Takes the result of a place, and writes each that is due.
    fn add(&mut self, at: usize, result: Finished) -> Result<(), Lost> {
        self.waiting.add(at, result);
        while let Some(result) = self.waiting.take() {
            write_now(&mut self.out, &result.out)?;
            let _ = io::stderr().write_all(&result.stderr);
            self.status.add(result.status);
        }
        Ok(())
    }
}

/// Reads all inputs, `threads` at once, each by its name with `read`. The thread that has read an
/// input writes the results that are due. After a signal, those that are being read are finished,
/// and no other is begun: the caller dies by it.
pub(super) fn parallel(
    inputs: &Inputs<'_>,
    threads: usize,
    read: &(dyn Fn(&str) -> Finished + Sync),
) -> anyhow::Result<Status> {
    let (waiting, status) = Default::default();
    let written = Mutex::new(Written { out: Output::standard(), waiting, status });
    let next = AtomicUsize::new(0);
    let work = || {
        while inputs.signals.caught().is_none() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = inputs.names.get(at) else { break };
            let result = read(name);
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            written.add(at, result).inspect_err(|_| {
                // Nobody reads what the other threads would write.
                next.store(inputs.names.len(), Ordering::Relaxed);
            })?;
        }
        Ok::<(), Lost>(())
    };
    thread::scope(|scope| {
        let others = (1..threads.min(inputs.names.len())).map(|_| scope.spawn(work));
        let others: Vec<_> = others.collect();
        let all = iter::once(work()).chain(others.into_iter().map(join));
        all.fold(Ok(()), Result::and)
    })?;
    Ok(written.into_inner().unwrap_or_else(PoisonError::into_inner).status)
}

/// Returns what a thread returns, once it has ended.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
