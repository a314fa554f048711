//! `-j N`: inputs, captures or rows read several at once, and their results in the order given.

use std::collections::BTreeMap;
use std::iter;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does the work of each item in one of `threads` threads, and hands the results to `take` in the
/// order of the items. As many results as there are threads wait for `take`, and those that come
/// before their turn. After an error of `take` no other item is begun. Where the system has no room
/// for as many threads, fewer do the work, or this one.
pub(super) fn in_order<T, R: Send, E>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (next, work) = (&next, &work);
    let (done, results) = sync_channel(threads);
    // `take` is dropped before the threads are waited for: they may wait for what it holds.
    thread::scope(move |scope| {
        let start = |_: &usize| {
            let done = done.clone();
            let run = move || {
                while let Some((at, item)) = next()
                    && done.send((at, work(item))).is_ok()
                {}
            };
            thread::Builder::new().spawn_scoped(scope, run).is_ok()
        };
        if (0..threads).take_while(start).count() == 0 {
            return iter::from_fn(next).try_for_each(|(_, item)| take(work(item)));
        }
        drop(done);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (at, result) in results {
            early.insert(at, result);
            while let Some(result) = early.remove(&due) {
                due += 1;
                take(result)?;
            }
        }
        Ok(())
    })
}
