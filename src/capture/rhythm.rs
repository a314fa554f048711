//! The rhythm of a capture: when its bytes came. It is kept beside the capture FILE, in FILE.times:
//! a line `MILLISECONDS LENGTH` for each read. The milliseconds count from when the stream was first
//! waited for, so that those of the first line are the time to the first byte.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::time::Duration;

/// Bytes that came at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimedRead {
    /// The time at which they came, from when the stream was first waited for.
    pub(crate) time: Duration,
    /// The offset of the first byte after them.
    pub(crate) end: u64,
}

/// The time at which each byte of a capture came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rhythm(Vec<TimedRead>);

/// Returns the name of the file with the rhythm of a capture.
pub(crate) fn times_of(file: &str) -> String {
    format!("{file}.times")
}

impl Rhythm {
    /// Returns the rhythm of these reads, which follow one another.
    pub(super) fn new(reads: Vec<TimedRead>) -> Self {
        Rhythm(reads)
    }

    /// Reads the rhythm beside a capture of `size` bytes; none if there is no such file. An error
    /// names the file; its kind is `InvalidData` if the rhythm does not fit the capture.
    pub(crate) fn beside(file: &str, size: u64) -> io::Result<Option<Self>> {
        let name = times_of(file);
        let text = match fs::read_to_string(&name) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io::Error::new(error.kind(), format!("{name}: {error}"))),
        };
        let invalid = |why| io::Error::new(ErrorKind::InvalidData, format!("{name}: {why}"));
        Rhythm::parse(&text, size).map(Some).map_err(invalid)
    }

    /// Parses the lines of a capture of `size` bytes. An error names the line.
    pub(super) fn parse(text: &str, size: u64) -> Result<Self, String> {
        let mut reads: Vec<TimedRead> = Vec::new();
        let mut last = TimedRead { time: Duration::ZERO, end: 0 };
        for (line, number) in text.lines().zip(1..) {
            let Some((time, length)) = numbers(line) else {
                return Err(format!("line {number}: expected `MILLISECONDS LENGTH`"));
            };
            let time = Duration::from_millis(time);
            if time < last.time {
                return Err(format!("line {number}: the time is before that of the line above"));
            }
            let Some(end) = last.end.checked_add(length).filter(|end| *end <= size) else {
                return Err(format!(
                    "line {number}: the length goes past the {size} bytes of the capture"
                ));
            };
            last = TimedRead { time, end };
            reads.push(last);
        }
        match last.end == size {
            true => Ok(Rhythm(reads)),
            false => Err(format!(
                "line {}: the times end after {} of the {size} bytes of the capture",
                reads.len().max(1),
                last.end
            )),
        }
    }

    /// Returns the rhythm of the bytes in these ranges, which are in order, one after another.
    pub(crate) fn of(&self, ranges: &[Range<u64>]) -> Self {
        let mut reads: Vec<TimedRead> = Vec::new();
        let mut size = 0;
        for range in ranges {
            let mut at = range.start;
            while let Some(read) = self.read_of(at).filter(|_| at < range.end) {
                let end = read.end.min(range.end);
                size += end - at;
                at = end;
                reads.push(TimedRead { end: size, ..read });
            }
        }
        Rhythm(reads)
    }

    /// Returns the last read.
    pub(crate) fn last(&self) -> Option<TimedRead> {
        self.0.last().copied()
    }

    /// Returns the read that brought the byte at this offset.
    pub(crate) fn read_of(&self, offset: u64) -> Option<TimedRead> {
        let Rhythm(reads) = self;
        reads.get(reads.partition_point(|read| read.end <= offset)).copied()
    }
}

/// Parses a line: two numbers.
fn numbers(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split_ascii_whitespace();
    let numbers = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, size: u64, expected: Result<&[(u64, u64)], &str>) {
        let read = |&(ms, end): &(u64, u64)| TimedRead { time: Duration::from_millis(ms), end };
        let expected = expected.map(|reads| Rhythm(reads.iter().map(read).collect()));
        assert_eq!(Rhythm::parse(text, size), expected.map_err(str::to_owned));
    }

    #[test]
    fn times_fit_their_capture() {
        check("", 0, Ok(&[]));
        check("120 3\n120 1\r\n500 6", 10, Ok(&[(120, 3), (120, 4), (500, 10)]));
    }

    #[test]
    fn a_misfit_says_where() {
        check("0 3\n5", 9, Err("line 2: expected `MILLISECONDS LENGTH`"));
        check("0 3 4\n", 9, Err("line 1: expected `MILLISECONDS LENGTH`"));
        check("0 -3\n", 9, Err("line 1: expected `MILLISECONDS LENGTH`"));
        check("7 3\n5 6\n", 9, Err("line 2: the time is before that of the line above"));
        let past = "line 2: the length goes past the 9 bytes of the capture";
        check("0 3\n5 7\n", 9, Err(past));
        check(&format!("0 3\n5 {}\n", u64::MAX), 9, Err(past));
        check("0 3\n5 5\n", 9, Err("line 2: the times end after 8 of the 9 bytes of the capture"));
        check("", 9, Err("line 1: the times end after 0 of the 9 bytes of the capture"));
    }

    #[test]
    fn bytes_are_of_reads() {
        let rhythm = Rhythm::parse("1 2\n5 3\n", 5).unwrap();
        let ends = |offset| rhythm.read_of(offset).map(|read| read.end);
        assert_eq!([0, 1, 2, 4, 5].map(ends), [Some(2), Some(2), Some(5), Some(5), None]);
        assert_eq!(rhythm.of(&[0..2, 2..5]), rhythm);
        assert_eq!(Ok(rhythm.of(&[1..3, 4..5])), Rhythm::parse("1 1\n5 1\n5 1\n", 3));
    }
}
