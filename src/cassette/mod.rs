//! Files of recorded exchanges, as tests and browsers keep them: HAR, the cassettes of the VCR family
//! and their kin.
//!
//! A [`Cassette`] stands between the input and the framing: it gives one [`Exchange`] after another,
//! each as head and body, decoded. What is in a file of which recorder is a row of `table.rs`; JSON
//! and YAML are one stream of nodes in `tree.rs`, read as they are needed, so that memory holds one
//! exchange. Whether an answer is a model's is for others to say: this room knows no format.

mod coding;
mod find;
mod json;
mod read;
mod scalar;
mod source;
mod table;
mod tree;
mod yaml;

use std::io::{self, Read, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::cassette::find::{CassetteVerdict, FileShape, WINDOW, find};
pub(crate) use crate::cassette::read::Exchange;
use crate::cassette::read::Exchanges;
pub(crate) use crate::cassette::source::{Broken, Why};
pub(crate) use crate::cassette::table::Recorder;
use crate::cut::Cut as _;

/// The first bytes of gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// A file of exchanges that is being read.
pub(crate) struct Cassette<'r> {
    pub(crate) recorder: &'static Recorder,
    exchanges: Exchanges<'r>,
}

impl Iterator for Cassette<'_> {
    type Item = Result<Exchange, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        self.exchanges.next()
    }
}

/// A cassette that the first bytes of an input are found to be the beginning of.
pub(crate) struct FoundCassette {
    recorder: &'static Recorder,
    shape: FileShape,
    is_gzip: bool,
}

/// The search for a cassette in the first bytes of an input. It looks again each time that they have
/// doubled, so that the time is linear, and the bytes alone decide.
#[derive(Default)]
pub(crate) struct CassetteSearch {
    enough: usize,
}

impl CassetteSearch {
    /// Returns what an input is that begins with `head`, and is no longer if `ended`: `Some(None)` if
    /// it is no cassette, nothing while it may be one.
    pub(crate) fn look(&mut self, head: &[u8], ended: bool) -> Option<Option<FoundCassette>> {
        if head.len() < self.enough && head.len() < WINDOW && !ended {
            return None;
        }
        self.enough = head.len() * 2;
        let is_gzip = head.starts_with(GZIP);
        let verdict = match is_gzip {
            true => {
                let (bytes, cut) = coding::unzip(head.get(..WINDOW).unwrap_or(head));
                find(&bytes, ended || cut.is_none())
            }
            false if GZIP.starts_with(head) && !ended => CassetteVerdict::Maybe,
            false => find(head, ended),
        };
        match verdict {
            CassetteVerdict::Maybe => None,
            CassetteVerdict::No => Some(None),
            CassetteVerdict::Yes(recorder, shape) => {
                Some(Some(FoundCassette { recorder, shape, is_gzip }))
            }
        }
    }
}

impl FoundCassette {
    /// Reads the exchanges of the whole input: its first bytes, too.
    pub(crate) fn open<'r>(self, reader: Box<dyn Read + 'r>) -> Cassette<'r> {
        let FoundCassette { recorder, shape, is_gzip } = self;
        let reader = if is_gzip { Box::new(MultiGzDecoder::new(reader)) } else { reader };
        Cassette { recorder, exchanges: Exchanges::new(recorder, shape, reader) }
    }
}

/// True if these bytes are compressed as a cassette may be.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP)
}

/// Returns what gzip has compressed, if all of it is there.
pub(crate) fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
    match coding::unzip(bytes) {
        (bytes, None) => Ok(bytes),
        (_, Some(error)) => Err(error),
    }
}

/// Compresses bytes with gzip, always in the same way.
pub(crate) fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the exchanges of a file in memory, if it is a cassette.
pub(crate) fn open(bytes: &[u8]) -> Option<Cassette<'_>> {
    CassetteSearch::default().look(bytes, true)?.map(|found| found.open(Box::new(bytes)))
}

/// What is seen of a file: its exchanges, each as its number with its head and body, and why there are
/// no more, if not all was read.
#[doc(hidden)]
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub exchanges: Vec<(u64, Vec<u8>)>,
    pub broken: Option<String>,
}

/// Reads a file in pieces of so many bytes. Returns nothing if it is no cassette.
#[doc(hidden)]
pub fn exchanges(bytes: &[u8], piece: usize) -> Option<Seen> {
    struct ReadPieces<'b>(&'b [u8], usize);
    impl Read for ReadPieces<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.by_ref().take(self.1 as u64).read(out)
        }
    }
    let (mut search, mut end) = (CassetteSearch::default(), 0);
    let found = loop {
        end = bytes.len().min(end + piece.max(1));
        if let Some(found) = search.look(bytes.before(end), end == bytes.len()) {
            break found?;
        }
    };
    let mut seen = Seen::default();
    for exchange in found.open(Box::new(ReadPieces(bytes, piece.max(1)))) {
        match exchange {
            Ok(exchange) => {
                let bytes = [exchange.head(), exchange.body].concat();
                seen.exchanges.push((exchange.number, bytes));
            }
            Err(broken) => seen.broken = Some(broken.to_string()),
        }
    }
    Some(seen)
}

/// The rows, for the list of all.
pub(crate) fn recorders() -> impl Iterator<Item = &'static Recorder> {
    table::RECORDERS.iter().chain([&table::WIRE])
}

/// The names of the rows.
#[doc(hidden)]
pub fn recorder_names() -> Vec<&'static str> {
    recorders().map(|row| row.name).collect()
}
