//! The blocks of a message that starts, goes on with and stops each of them
//! under an index: Anthropic's, and those of rows.

use std::collections::BTreeMap;
use std::io;

use crate::event::{CallPart, Code, Failure, Key, Kind, Of, Piece, WarningCode};
use crate::format::support::emit::{Done, EventOut};
use crate::json::Str;

/// The most blocks of one message that are open at once.
const MAX_OPEN: usize = 1024;

/// The most bytes of one message's blocks that are gathered.
const MAX_GATHERED: usize = 16 << 20;

/// A block that has started and not stopped.
#[derive(Debug)]
pub(crate) enum OpenIndexedBlock<W> {
    /// Text, thinking, or a block that was whole at its start.
    Plain,
    /// A call that fragments of its arguments may follow.
    Call(Key),
    /// A block that is emitted when it is whole.
    Gathered(W),
}

/// A block of a format that is emitted when it is whole: a summary, a result.
pub(crate) trait GatheredBlock {
    /// Emits it.
    fn emit(&self, out: &mut EventOut) -> Done;

    /// Emits it as far as it came, with a warning.
    fn cut(&self, out: &mut EventOut) -> Done;
}

impl<W: GatheredBlock> OpenIndexedBlock<W> {
    /// Emits the end of a block that has stopped.
    pub(crate) fn close(self, out: &mut EventOut) -> Done {
        match self {
            OpenIndexedBlock::Plain => out.flush(),
            OpenIndexedBlock::Call(key) => out.call_end(0, key),
            OpenIndexedBlock::Gathered(block) => block.emit(out),
        }
    }

    /// Emits what is left of a block that will not come to its stop. A call that was
    /// never closed is the assembler's to judge.
    fn cut(self, out: &mut EventOut) -> Done {
        match self {
            OpenIndexedBlock::Plain | OpenIndexedBlock::Call(_) => Ok(()),
            OpenIndexedBlock::Gathered(block) => block.cut(out),
        }
    }
}

/// The blocks of one message.
#[derive(Debug, Default)]
pub(crate) struct IndexedBlocks<W> {
    /// Those that have started and not stopped, by the provider's index.
    open: BTreeMap<u64, OpenIndexedBlock<W>>,
    count: u64,
    latest: u64,
    /// The index after all that have come.
    next: u64,
    /// True if a block began without its index.
    has_guessed: bool,
    /// The numbers of blocks as objects of a turn, by their indexes, which may come again.
    numbers: BTreeMap<u64, u64>,
    /// The bytes that have been gathered.
    gathered: usize,
}

impl<W: GatheredBlock> IndexedBlocks<W> {
    /// Counts a block, and returns its number as the key of a call: an index may
    /// come again once its block has stopped.
    pub(crate) fn next_key(&mut self) -> Key {
        self.count += 1;
        Key::Index(self.count)
    }

    /// True if no block has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the object of a turn that the block of an index is; without one, that of a block
    /// which is whole.
    pub(crate) fn object_at(&mut self, index: Option<u64>) -> Of {
        let next = self.count + 1;
        let number = index.map_or(next, |index| *self.numbers.entry(index).or_insert(next));
        self.count = self.count.max(number);
        Of::Block(number)
    }

    /// The block of an index has stopped: another one may come under it.
    pub(crate) fn stop(&mut self, index: u64) -> Option<OpenIndexedBlock<W>> {
        self.numbers.remove(&index);
        self.remove(index)
    }

    /// Returns the index of the block that an event is of: the latest one's, with a warning, if the
    /// event has none. Where several blocks are open, it may be of another one: their calls must
    /// not be run.
    pub(crate) fn place(&mut self, index: Option<u64>, out: &mut EventOut) -> io::Result<u64> {
        if index.is_none() {
            let message = "an event without index was taken to be of the latest block";
            out.warn(WarningCode::MissingIndex, message)?;
            if self.open.len() > 1 {
                out.lost()?;
            }
        }
        self.latest = index.unwrap_or(self.latest);
        self.next = self.next.max(self.latest.saturating_add(1));
        Ok(self.latest)
    }

    /// Returns the index of a block that begins: the next one, with a warning, if the event has
    /// none. One that is open under it is cut.
    pub(crate) fn place_new(&mut self, index: Option<u64>, out: &mut EventOut) -> io::Result<u64> {
        if index.is_none() {
            self.latest = self.next;
            self.has_guessed = true;
        }
        let index = self.place(index, out)?;
        if let Some(earlier) = self.stop(index) {
            let message = "a block began under the index of one that hadn't stopped";
            out.warn(WarningCode::ReusedIndex, message)?;
            earlier.cut(out)?;
        }
        Ok(index)
    }

    /// Puts a block under an index. One more than [`MAX_OPEN`] ends the message.
    pub(crate) fn insert(
        &mut self,
        index: u64,
        block: OpenIndexedBlock<W>,
        out: &mut EventOut,
    ) -> Done {
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&index) {
            let message = format!("more than {MAX_OPEN} open blocks in one message");
            return out.emit(0, Kind::Error(Failure::new(Code::Limit, &message, None)));
        }
        self.open.insert(index, block);
        Ok(())
    }

    /// Passes over a delta that can't be read: if it is of a call, that lacks a piece.
    pub(crate) fn pass_over(&mut self, index: u64, out: &mut EventOut) -> Done {
        if self.is_call(index) { out.lost() } else { Ok(()) }
    }

    /// True if a call is open at an index.
    pub(crate) fn is_call(&self, index: u64) -> bool {
        matches!(self.open.get(&index), Some(OpenIndexedBlock::Call(_)))
    }

    /// Counts bytes that are gathered until their block is whole. More than [`MAX_GATHERED`] end
    /// the message.
    pub(crate) fn gather(&mut self, bytes: usize, out: &mut EventOut) -> Done {
        self.gathered += bytes;
        let what = "bytes of blocks that are not whole in one message";
        out.check_limit(self.gathered, MAX_GATHERED, what)
    }

    /// Returns the open block of an index.
    pub(crate) fn get(&self, index: u64) -> Option<&OpenIndexedBlock<W>> {
        self.open.get(&index)
    }

    /// Returns the open block of an index, to be changed.
    pub(crate) fn get_mut(&mut self, index: u64) -> Option<&mut OpenIndexedBlock<W>> {
        self.open.get_mut(&index)
    }

    /// Takes the block of an index out.
    pub(crate) fn remove(&mut self, index: u64) -> Option<OpenIndexedBlock<W>> {
        self.open.remove(&index)
    }

    /// Returns the key of the call at an index. Where none has started, one begins that can't be
    /// run, for it has no name. Its start may be the one whose index was guessed: then none is
    /// trusted.
    pub(crate) fn call_at(&mut self, index: u64, out: &mut EventOut) -> io::Result<Key> {
        let key = match self.get(index) {
            Some(OpenIndexedBlock::Call(key)) => *key,
            _ => {
                if self.has_guessed {
                    out.lost()?;
                }
                self.next_key()
            }
        };
        self.insert(index, OpenIndexedBlock::Call(key), out).map(|()| key)
    }

    /// Emits a fragment of the arguments of the call at an index.
    pub(crate) fn fragment(
        &mut self,
        index: u64,
        piece: &Str,
        native: Option<Piece>,
        out: &mut EventOut,
    ) -> Done {
        let key = self.call_at(index, out)?;
        let part = CallPart { key, native, ..CallPart::default() };
        match piece.is_empty() {
            true => out.call(0, part),
            false => out.call_fragment(0, part, piece),
        }
    }

    /// Cuts all blocks: the message has ended, or the input has.
    pub(crate) fn cut(&mut self, out: &mut EventOut) -> Done {
        std::mem::take(&mut self.open).into_values().try_for_each(|block| block.cut(out))
    }
}

/// Blocks that a stream repeats: the last value of each.
#[derive(Debug, Default)]
pub(crate) struct LatestBlocks(BTreeMap<&'static str, String>);

impl LatestBlocks {
    /// Emits a block unless it is as it came last.
    pub(crate) fn feed(
        &mut self,
        choice: u64,
        name: &'static str,
        json: &str,
        out: &mut EventOut,
    ) -> Done {
        let last = self.0.entry(name).or_default();
        if json == last {
            return Ok(());
        }
        json.clone_into(last);
        out.block(choice, name, json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::format::support::emit::Halves;

    #[derive(Default)]
    struct Nothing;

    impl GatheredBlock for Nothing {
        fn emit(&self, _: &mut EventOut) -> Done {
            Ok(())
        }

        fn cut(&self, _: &mut EventOut) -> Done {
            Ok(())
        }
    }

    #[test]
    fn blocks_without_an_end_are_bounded() {
        let (mut limits, mut halves) = (0, Halves::default());
        let mut emit = |event: &Event<'_>| {
            limits +=
                u64::from(matches!(event.kind, Kind::Error(Failure { code: Code::Limit, .. })));
            Ok(())
        };
        let mut out = EventOut::new(&mut emit, &mut halves, 0);
        let mut blocks = IndexedBlocks::<Nothing>::default();
        for index in 0..=MAX_OPEN as u64 {
            blocks.insert(index, OpenIndexedBlock::Plain, &mut out).unwrap();
        }
        assert_eq!((blocks.open.len(), limits), (MAX_OPEN, 1));
    }
}
