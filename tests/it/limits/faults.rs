//! Every read and every write fails once, in every way that the system knows:
//! what can be tried again makes no difference, and what can't loses nothing
//! of what came before.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::LazyLock;

use rustix::io::Errno;
use toolstream::internals::{BufferedOutput, Ended, Input, InputReader, Progress, Signals, pump};
use toolstream::sink::{Join, Label, Ndjson, Sink};
use toolstream::{Config, Pipeline};

use crate::case::{Case, Print, run};

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| Signals::listen().unwrap());

/// What happens at one call of the system.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// It fails.
    Error(Errno),
    /// It takes one byte.
    Short,
}

/// What can be tried again.
const PASSING: &[Fault] = &[Fault::Error(Errno::INTR), Fault::Error(Errno::AGAIN), Fault::Short];

/// What ends a run that writes.
const LOST: &[Errno] = &[Errno::IO, Errno::NOSPC, Errno::PIPE, Errno::DQUOT];

/// The largest piece that is read at once.
const PIECE: usize = 97;

/// The `nth` call of the system meets a fault; every one, if `nth` is none.
#[derive(Clone, Copy)]
struct Plan {
    fault: Fault,
    nth: Option<usize>,
}

/// Something that is read or written with faults.
struct Shim<T> {
    inner: T,
    plan: Option<Plan>,
    calls: usize,
}

impl<T> Shim<T> {
    fn new(inner: T, plan: Option<Plan>) -> Self {
        Shim { inner, plan, calls: 0 }
    }

    /// How much of so many bytes this call may take. A fault that comes every
    /// time lets every second call pass.
    fn next(&mut self, size: usize) -> io::Result<usize> {
        self.calls += 1;
        let calls = self.calls;
        let meets = |plan: &Plan| plan.nth.map_or(calls % 2 == 1, |nth| nth == calls);
        match self.plan.filter(meets).map(|plan| plan.fault) {
            Some(Fault::Error(errno)) => Err(errno.into()),
            Some(Fault::Short) => Ok(size.min(1)),
            None => Ok(size),
        }
    }
}

impl<T: Read> Read for Shim<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.next(buffer.len().min(PIECE))?;
        self.inner.read(&mut buffer[..size])
    }
}

impl<T: Write> Write for Shim<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = self.next(bytes.len())?;
        self.inner.write(&bytes[..size])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A disk with so much room.
struct Disk {
    room: usize,
    written: Rc<RefCell<Vec<u8>>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.written.borrow_mut();
        let size = bytes.len().min(self.room - written.len());
        if size == 0 {
            return Err(Errno::NOSPC.into());
        }
        written.extend_from_slice(&bytes[..size]);
        Ok(size)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of a run: what was written, how it ended, and how often it was
/// read and written.
struct Came {
    out: String,
    ended: io::Result<Ended>,
    writes: usize,
}

fn came(
    (config, join): &(Config, bool),
    input: &[u8],
    reads: Option<Plan>,
    writes: Option<Plan>,
    room: usize,
) -> Came {
    let written = Rc::default();
    let disk = Disk { room, written: Rc::clone(&written) };
    let mut target = Shim::new(disk, writes);
    let mut out = BufferedOutput::new(&mut target);
    let events = Ndjson::new(&mut out, Label::default());
    let mut sink: Box<dyn Sink> =
        if *join { Box::new(Join::new(events)) } else { Box::new(events) };
    let mut task = InputReader::new(Pipeline::new(config), &mut *sink);
    let mut input = Input::new(Shim::new(input, reads), &SIGNALS);
    let ended = pump(&mut input, &mut task, &Progress::new("input", None));
    drop(sink);
    drop(out);
    let out = String::from_utf8(written.borrow().clone()).unwrap();
    Came { out, ended, writes: target.calls }
}

/// One of each kind of input.
fn cases() -> Vec<Case> {
    let names = [
        "fixtures/frame/sse/data_over_several_lines",
        "fixtures/frame/ndjson/line_that_is_malformed",
        "fixtures/frame/json-array/array_of_chunks",
        "fixtures/frame/eventstream/messages_of_a_stream",
        "fixtures/frame/eventstream/wrong_checksum_inside_a_call",
        "fixtures/frame/text/html_page",
        "fixtures/format/error/openai",
        "fixtures/format/text/characters_of_many_bytes",
    ];
    let mut cases = Case::all();
    cases.retain(|case| names.contains(&case.name.as_str()));
    assert_eq!(cases.len(), names.len());
    cases
}

/// Checks every fault of reading and writing, with the events as they come and
/// joined.
fn for_each_case(check: impl Fn(&str, &(Config, bool), &[u8], &Came)) {
    for case in cases() {
        for join in [false, true] {
            let config = (case.full_config(), join);
            let good = came(&config, &case.input, None, None, usize::MAX);
            assert!(matches!(good.ended, Ok(Ended::Well)), "{}", case.name);
            let print = if join { Print::Joined } else { Print::Events };
            assert_eq!(good.out, run(&config.0, print, case.input.chunks(PIECE)).out);
            check(&case.name, &config, &case.input, &good);
        }
    }
}

fn at(fault: Fault, nth: usize) -> Option<Plan> {
    Some(Plan { fault, nth: Some(nth) })
}

#[test]
fn what_can_be_tried_again_makes_no_difference() {
    for_each_case(|name, config, input, good| {
        let pieces = input.len().div_ceil(PIECE) + 1;
        for &fault in PASSING {
            let every = Some(Plan { fault, nth: None });
            let reads = (1..=pieces).map(|nth| (at(fault, nth), None));
            let writes = (1..=good.writes).map(|nth| (None, at(fault, nth)));
            for (reads, writes) in reads.chain(writes).chain([(every, None), (None, every)]) {
                let got = came(config, input, reads, writes, usize::MAX);
                assert!(matches!(got.ended, Ok(Ended::Well)), "{name}: {fault:?}");
                // A short read makes other pieces; joined, they are the same.
                if config.1 || reads.is_none() || !matches!(fault, Fault::Short) {
                    assert_eq!(got.out, good.out, "{name}: {fault:?}");
                }
            }
        }
    });
}

#[test]
fn an_input_that_fails_ends_there() {
    for_each_case(|name, config, input, _| {
        for (before, nth) in (0..input.len()).step_by(PIECE).zip(1..) {
            let plan = at(Fault::Error(Errno::IO), nth);
            let got = came(config, input, plan, None, usize::MAX);
            if before > 0 && matches!(got.ended, Ok(Ended::Well)) {
                continue; // It had enough before that.
            }
            assert!(matches!(got.ended, Ok(Ended::Unreadable(_))), "{name}: read {nth}");
            let cut = came(config, &input[..before], None, None, usize::MAX);
            assert_eq!(got.out, cut.out, "{name}: read {nth}");
        }
    });
}

#[test]
fn an_output_that_fails_has_all_that_came_before() {
    for_each_case(|name, config, input, good| {
        for &errno in LOST {
            for nth in 1..=good.writes {
                let got = came(config, input, None, at(Fault::Error(errno), nth), usize::MAX);
                let error = got.ended.expect_err("a write failed");
                assert_eq!(Errno::from_io_error(&error), Some(errno), "{name}: write {nth}");
                assert!(good.out.starts_with(&got.out), "{name}: write {nth}");
                assert!(got.out.is_empty() || got.out.ends_with('\n'), "{name}: write {nth}");
                assert_eq!(got.out.is_empty(), nth == 1, "{name}: write {nth}");
            }
        }
    });
}

#[test]
fn a_disk_that_fills_up() {
    for_each_case(|name, config, input, good| {
        let size = good.out.len();
        for room in (0..size).rev().take(24).chain([0, 1, size / 2]) {
            let got = came(config, input, None, None, room);
            let error = got.ended.expect_err("the disk is full");
            assert_eq!(Errno::from_io_error(&error), Some(Errno::NOSPC), "{name}: {room}");
            assert_eq!(got.out, good.out[..room], "{name}: {room}");
        }
        assert!(came(config, input, None, None, size).ended.is_ok(), "{name}");
    });
}
