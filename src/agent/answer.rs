//! One answer of the model: what COMMAND prints, passed on and gathered.

use std::io::{self, Write};
use std::time::Duration;

use crate::agent::echo::RequestTexts;
use crate::cut::Cut as _;
use crate::event::{
    Code, Event, Failure, FinishReason, Kind, OwnedEvent, Pieces, Reason, Start, Usage,
};
use crate::format::support::writing::seconds;
use crate::pipeline::{Config, Pipeline};
use crate::request::{LastMessage, PendingCall};
use crate::sink::Sink;
use crate::status::{Status, Witness};

/// The most bytes of an answer that are kept to find its heads in.
const MAX_HEAD: usize = 16 << 10;

/// Reads one answer.
pub(super) struct AnswerReader<'a> {
    pipeline: Pipeline,
    name: String,
    head: Vec<u8>,
    /// True if nothing is reported.
    is_silent: bool,
    status: Status,
    pub(super) gathered: Gathered<'a>,
}

/// What has come of an answer.
pub(super) struct Gathered<'a> {
    /// The number of the round, and that of the attempt in it, from 1.
    round: (u64, u64),
    /// The end of the message, and what comes after it, until it is known whether it counts.
    held: HeldEnd,
    pub(super) message: LastMessage,
    /// What COMMAND was sent.
    sent: RequestTexts,
    /// The words of the answer so far, if it is plain text.
    said: String,
    /// True if a prompt that was printed again is reported.
    prompts: bool,
    /// The sum of what all answers cost.
    usage: &'a mut Option<Usage<'static>>,
    /// The calls that have come since they were last taken.
    pub(super) fresh: Vec<PendingCall>,
    /// The indexes of the calls that were taken back since these were last taken.
    pub(super) withdrawn: Vec<u64>,
}

impl<'a> AnswerReader<'a> {
    pub(super) fn new(
        config: &Config,
        request: &str,
        round: (u64, u64),
        usage: &'a mut Option<Usage<'static>>,
    ) -> Self {
        let sent = RequestTexts::new(request, config);
        let mut own = Config { sent: sent.texts(), ..config.clone() };
        own.assembly.prompts = true;
        let (pipeline, prompts) = (Pipeline::new(&own), config.assembly.prompts);
        let (held, message, said, fresh, withdrawn) = Default::default();
        let gathered =
            Gathered { round, held, message, sent, said, prompts, usage, fresh, withdrawn };
        let (name, (head, status)) = (format!("round {}", round.0), Default::default());
        AnswerReader { pipeline, name, head, is_silent: false, status, gathered }
    }

    /// Takes the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut dyn Sink) -> io::Result<()> {
        let room = MAX_HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.before(room));
        self.through(out, |pipeline, sink| pipeline.feed(bytes, sink))?;
        out.flush()
    }

    /// The answer has ended. Where COMMAND failed, that it printed nothing needs no line of its own.
    pub(super) fn finish(&mut self, has_failed: bool, out: &mut dyn Sink) -> io::Result<()> {
        self.is_silent = has_failed && self.head.is_empty();
        self.through(out, |pipeline, sink| pipeline.finish(sink))
    }

    /// A signal stops the program.
    pub(super) fn interrupt(&mut self, out: &mut dyn Sink) -> io::Result<()> {
        self.through(out, |pipeline, sink| pipeline.interrupt(sink))?;
        self.take_held().release(None, out)
    }

    /// The time of the run is over.
    pub(super) fn expire(&mut self, out: &mut dyn Sink) -> io::Result<()> {
        let failure = Failure::new(Code::Limit, "the answer was cut at --deadline", None);
        self.through(out, |pipeline, sink| pipeline.end_with(failure, sink))?;
        self.take_held().release(None, out)
    }

    /// Returns the end of the message: it is released once it is known whether the answer counts.
    pub(super) fn take_held(&mut self) -> HeldEnd {
        std::mem::take(&mut self.gathered.held)
    }

    /// True if nothing more needs to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.pipeline.is_stopped()
    }

    /// Returns how many seconds the provider asks to be left alone, if its answer has a head that
    /// says so. `now` is the time since 1970.
    pub(super) fn retry_after(&self, now: Duration) -> Option<u64> {
        let head = String::from_utf8_lossy(&self.head);
        let lines = head.strip_prefix("HTTP/")?.lines().take_while(|line| !line.starts_with('{'));
        let heads: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let first = |wanted: &str, read: &dyn Fn(&str) -> Option<f64>| {
            let values = heads.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            values.into_iter().find_map(|(_, value)| read(value.trim()))
        };
        let number = |text: &str| text.parse().ok().filter(|time: &f64| *time >= 0.0);
        let until = |text: &str| {
            date(text).map(|time| time as f64 - now.as_secs_f64()).map(|time| time.max(0.0))
        };
        // OpenAI and Azure say it in milliseconds too, which is more exact.
        let time = first("retry-after-ms", &|text| number(text).map(|time| time / 1000.0))
            .or_else(|| first("retry-after", &|text| number(text).or_else(|| until(text))))?;
        Some(time.ceil() as u64)
    }

    fn through(
        &mut self,
        out: &mut dyn Sink,
        run: impl FnOnce(&mut Pipeline, &mut dyn Sink) -> io::Result<()>,
    ) -> io::Result<()> {
        let AnswerReader { pipeline, name, is_silent, status, gathered, .. } = self;
        let tap = RoundTap { out, gathered };
        let stderr: &mut dyn Write = if *is_silent { &mut io::sink() } else { &mut io::stderr() };
        run(pipeline, &mut Witness::new(tap, status, name, stderr))
    }
}

/// Returns the date of a head (RFC 9110, 5.6.7: IMF-fixdate) in seconds since 1970.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let [day, month, year, time, "GMT"] = *date.split(' ').collect::<Vec<_>>() else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    seconds(&format!("{year}-{month:02}-{day}T{time}Z"))
}

/// The end of a message that may not count, and what comes after it.
#[derive(Default)]
pub(super) struct HeldEnd(Vec<OwnedEvent>);

impl HeldEnd {
    /// True if an event waits until it is known whether the answer counts: it ends a message badly,
    /// or it is inferred from the end of the input alone.
    fn waits(&self, kind: &Kind<'_>) -> bool {
        match kind {
            _ if !self.0.is_empty() => true,
            Kind::Finish(finish) => finish.inferred || finish.finish_reason == FinishReason::Error,
            Kind::Error(_) => true,
            _ => false,
        }
    }

    /// Emits the end. `retried` is the reason why the answer does not count, and is asked for again.
    pub(super) fn release(self, retried: Option<&str>, out: &mut dyn Sink) -> io::Result<()> {
        self.0.iter().map(OwnedEvent::get).try_for_each(|Event { choice, kind }| {
            let kind = match (kind, retried) {
                (Kind::Error(failure), _) => {
                    Kind::Error(Failure { retried: retried.is_some(), ..failure })
                }
                (Kind::Finish(_), Some(why)) => {
                    let failure = Failure::new(Code::Truncated, why, None);
                    Kind::Error(Failure { retried: true, ..failure })
                }
                (kind, _) => kind,
            };
            out.feed(&Event { choice, kind })
        })
    }
}

/// Gathers what passes, and adds the round.
struct RoundTap<'t, 'a> {
    out: &'t mut dyn Sink,
    gathered: &'t mut Gathered<'a>,
}

impl Sink for RoundTap<'_, '_> {
    fn feed(&mut self, event: &Event<'_>) -> io::Result<()> {
        let so_far = &mut *self.gathered;
        so_far.message.feed(event)?;
        let kind = match event.kind {
            Kind::Start(start) => {
                let (round, attempt) = so_far.round;
                let attempt = (attempt > 1).then_some(attempt);
                Kind::Start(Start { round: Some(round), attempt, ..start })
            }
            // It is for programs that build requests, as this one does.
            Kind::Turn(_) => return Ok(()),
            kind => kind,
        };
        match kind {
            Kind::Usage(usage) => {
                *so_far.usage = Some(so_far.usage.unwrap_or_default().plus(&usage));
            }
            Kind::Text(_) | Kind::Reasoning(_) if so_far.message.is_plain() => {
                so_far.said.extend(kind.text());
            }
            Kind::Prompt(prompt) => {
                so_far.said.extend([prompt.text, "\n"]);
                if !so_far.prompts {
                    return Ok(());
                }
            }
            Kind::ToolCall(call) if call.executor.is_none() => {
                let is_plain = so_far.message.is_plain();
                if let Some(last) = so_far.message.calls.last_mut() {
                    last.is_echo = is_plain && so_far.sent.holds(&call, &so_far.said);
                    so_far.fresh.push(last.clone());
                }
            }
            Kind::InvalidToolCall(call) if call.reason == Reason::Withdrawn => {
                so_far.fresh.retain(|fresh| fresh.index != call.index);
                so_far.withdrawn.push(call.index);
            }
            _ => {}
        }
        let is_empty = matches!(kind, Kind::Finish(_)) && so_far.message.is_empty;
        if is_empty || so_far.held.waits(&kind) {
            so_far.held.0.push(Event { kind, ..*event }.into_owned());
            return Ok(());
        }
        self.out.feed(&Event { kind, ..*event })
    }

    fn feed_pieces(&mut self, pieces: Pieces<'_>) -> io::Result<()> {
        self.gathered.message.feed_pieces(pieces)?;
        self.out.feed_pieces(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_heads_are_times() {
        assert_eq!(date("Tue, 31 Dec 2024 23:59:59 GMT"), Some(1_735_689_599));
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        for none in ["", "5", "Tue, ", "Tue, 31 Dez 2024 23:59:59 GMT", "Tue, 31 Dec 2024 23:59:59"]
        {
            assert_eq!(date(none), None, "{none}");
        }
    }
}
