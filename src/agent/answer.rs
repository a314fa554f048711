//! One answer of the model: what COMMAND prints, passed on and gathered.

use std::io;

use crate::event::{Code, Event, Failure, Kind, Pieces, Reason, Start, Usage};
use crate::pipeline::{Config, Pipeline};
use crate::request::{Call, Message};
use crate::sink::Sink;
use crate::status::{Status, Witness};

/// The most bytes of an answer that are kept to find its heads in.
const MAX_HEAD: usize = 16 << 10;

/// Reads one answer.
pub(super) struct Reader<'a> {
    pipeline: Pipeline,
    name: String,
    /// The number of the round, from 1.
    round: u64,
    pub(super) message: Message,
    /// The sum of what all answers cost.
    usage: &'a mut Option<Usage<'static>>,
    /// The calls that have come since they were last taken.
    pub(super) fresh: Vec<Call>,
    /// The indexes of the calls that were taken back since these were last taken.
    pub(super) withdrawn: Vec<u64>,
    head: Vec<u8>,
    status: Status,
}

impl<'a> Reader<'a> {
    pub(super) fn new(config: &Config, round: u64, usage: &'a mut Option<Usage<'static>>) -> Self {
        Reader {
            pipeline: Pipeline::new(config),
            name: format!("round {round}"),
            round,
            message: Message::default(),
            usage,
            fresh: Vec::new(),
            withdrawn: Vec::new(),
            head: Vec::new(),
            status: Status::default(),
        }
    }

    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut dyn Sink) -> io::Result<()> {
        let room = MAX_HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.through(out, |pipeline, sink| pipeline.feed(bytes, sink))?;
        out.flush()
    }

    /// The answer has ended.
    pub(super) fn finish(&mut self, out: &mut dyn Sink) -> io::Result<()> {
        self.through(out, |pipeline, sink| pipeline.finish(sink))
    }

    /// A signal stops the program.
    pub(super) fn interrupt(&mut self, out: &mut dyn Sink) -> io::Result<()> {
        self.through(out, |pipeline, sink| pipeline.interrupt(sink))
    }

    /// The time of the run is over.
    pub(super) fn expire(&mut self, out: &mut dyn Sink) -> io::Result<()> {
        let failure = Failure::new(Code::Limit, "the answer was cut at --deadline", None);
        self.through(out, |pipeline, sink| pipeline.fail(failure, sink))
    }

    /// True if nothing more needs to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.pipeline.is_stopped()
    }

    /// Returns how many seconds the provider asks to be left alone, if its answer has a head that
    /// says so.
    pub(super) fn retry_after(&self) -> Option<u64> {
        let head = String::from_utf8_lossy(&self.head);
        let lines = head.strip_prefix("HTTP/")?.lines().take_while(|line| !line.starts_with('{'));
        let mut seconds = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("retry-after").then(|| value.trim().parse().ok())?
        });
        seconds.next()
    }

    fn through(
        &mut self,
        out: &mut dyn Sink,
        run: impl FnOnce(&mut Pipeline, &mut dyn Sink) -> io::Result<()>,
    ) -> io::Result<()> {
        let Reader { pipeline, name, round, message, usage, fresh, withdrawn, status, .. } = self;
        let tap = Tap { out, round: *round, message, usage, fresh, withdrawn };
        run(pipeline, &mut Witness::new(tap, status, name, &mut io::stderr()))
    }
}

/// Gathers what passes, and adds the round.
struct Tap<'t> {
    out: &'t mut dyn Sink,
    round: u64,
    message: &'t mut Message,
    usage: &'t mut Option<Usage<'static>>,
    fresh: &'t mut Vec<Call>,
    withdrawn: &'t mut Vec<u64>,
}

impl Sink for Tap<'_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.message.feed(event)?;
        let kind = match event.kind {
            Kind::Start(start) => Kind::Start(Start { round: Some(self.round), ..start }),
            // It is for programs that build requests, as this one does.
            Kind::Turn(_) => return Ok(()),
            kind => kind,
        };
        match kind {
            Kind::Usage(usage) => *self.usage = Some(self.usage.unwrap_or_default().plus(&usage)),
            Kind::ToolCall(call) if call.executor.is_none() => {
                self.fresh.extend(self.message.calls.last().cloned());
            }
            Kind::InvalidToolCall(call) if call.reason == Reason::Withdrawn => {
                self.fresh.retain(|fresh| fresh.index != call.index);
                self.withdrawn.push(call.index);
            }
            _ => {}
        }
        self.out.feed(&Event { kind, ..*event })
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.out.feed_pieces(pieces)
    }
}
