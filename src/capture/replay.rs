//! Plans how a capture is played: which of its bytes are written when, and what is done to them. A
//! plan is made of the bytes and the options alone, with no clock, so that it is the same each time.

use std::iter;
use std::str::FromStr;
use std::time::Duration;

use memchr::memchr;

use crate::capture::dice::Dice;
use crate::capture::file::Capture;
use crate::capture::held::HeldAnswer;
use crate::capture::rhythm::{Rhythm, times_of};
use crate::cut::Cut as _;
use crate::format::ReplyFailure;

/// The longest piece that `random` writes, in bytes.
const MAX_RANDOM: usize = 64;

/// The speed at which a capture is played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Tempo {
    /// At once.
    #[default]
    AtOnce,
    /// As it was recorded, so many times as fast.
    Recorded(f64),
    /// So many frames a second.
    Frames(f64),
}

/// The pieces that are written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayChunk {
    /// So many bytes.
    Bytes(usize),
    Frame,
    Line,
    /// 1 to 64 bytes, as numbers from this seed say.
    Random(u64),
}

impl FromStr for PlayChunk {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let chunk = match (text, text.split_once(':')) {
            ("frame", _) => Some(PlayChunk::Frame),
            ("line", _) => Some(PlayChunk::Line),
            (_, Some(("random", seed))) => seed.parse().ok().map(PlayChunk::Random),
            _ => number(text).map(PlayChunk::Bytes),
        };
        chunk.ok_or_else(|| "expected a number of bytes, frame, line or random:SEED".into())
    }
}

/// A place in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePlace {
    /// After so many bytes.
    Bytes(usize),
    /// After so many frames.
    Frames(usize),
}

impl FromStr for CapturePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let place = match text.strip_prefix("frame:") {
            Some(count) => count.parse().map(CapturePlace::Frames),
            None => text.parse().map(CapturePlace::Bytes),
        };
        place.map_err(|_| "expected a number of bytes, or frame:K".into())
    }
}

/// An error of the provider, after so many frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayFailure {
    /// A status, our word or the provider's.
    pub(crate) code: String,
    pub(crate) frames: usize,
}

impl FromStr for PlayFailure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (code, count) = text.split_once("@frame:").ok_or("expected CODE@frame:K")?;
        let frames = count.parse().map_err(|_| "expected a number after @frame:")?;
        Ok(PlayFailure { code: code.into(), frames })
    }
}

/// The options of a plan.
#[derive(Clone, Debug, Default)]
pub struct Play {
    pub(crate) tempo: Tempo,
    /// The time at which the first byte is due; by default at once, or as it was recorded.
    pub(crate) first: Option<Duration>,
    /// The pieces that are written at once; by default all bytes that are due at once.
    pub(crate) chunk: Option<PlayChunk>,
    /// The place at which the stream ends early.
    pub(crate) cut: Option<CapturePlace>,
    pub(crate) failure: Option<PlayFailure>,
    /// The time without a write after which a keep-alive is written.
    pub(crate) keep_alive: Option<Duration>,
    /// True if the stream never ends: keep-alives go on.
    pub(crate) hangs: bool,
    /// True if the connection is closed after the last byte, as if it broke.
    pub(crate) drops: bool,
    /// True if a line that may be a body or a stream is a body.
    pub(crate) is_body: bool,
}

impl Play {
    /// Returns how an answer is played to which nothing happens.
    pub(crate) fn whole(&self) -> Self {
        Play { cut: None, failure: None, hangs: false, drops: false, ..self.clone() }
    }

    /// Returns how a capture is played that was made of another one, whose frames were counted: a
    /// place after its end is before its last frame, or in the middle of its only one.
    pub(crate) fn within(&self, capture: &Capture) -> Self {
        let (frames, length) = (capture.starts.len(), capture.bytes.len());
        let last = frames.saturating_sub(1);
        let cut = match self.cut {
            Some(CapturePlace::Frames(count)) if count > last && last > 0 => {
                Some(CapturePlace::Frames(last))
            }
            Some(CapturePlace::Bytes(count)) if count >= length && last > 0 => {
                Some(CapturePlace::Frames(last))
            }
            Some(CapturePlace::Frames(1..)) if last == 0 => Some(CapturePlace::Bytes(length / 2)),
            Some(CapturePlace::Bytes(count)) if count >= length => {
                Some(CapturePlace::Bytes(length / 2))
            }
            cut => cut,
        };
        let at_last = |failure: &PlayFailure| PlayFailure {
            frames: failure.frames.min(last),
            ..failure.clone()
        };
        Play { cut, failure: self.failure.as_ref().map(at_last), ..self.clone() }
    }
}

/// The bytes that are written, and when.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Everything that is written but for keep-alives.
    played: Altered,
    /// The offsets at which frames begin, in ascending order.
    starts: Vec<usize>,
    timeline: Timeline,
    chunk: Option<PlayChunk>,
    keep_alive: Option<(Duration, Vec<u8>)>,
    /// True if nothing ends the stream.
    pub(crate) hangs: bool,
    /// True if the connection breaks after the last byte.
    pub(crate) drops: bool,
}

/// The time at which each byte is due.
#[derive(Debug)]
enum Timeline {
    AtOnce(Duration),
    Recorded { rhythm: Rhythm, speed: f64, first: Option<Duration> },
    Frames { per_second: f64, first: Duration },
}

/// Bytes that are written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayStep<'p> {
    /// The time at which they are due, from the beginning.
    pub(crate) at: Duration,
    pub(crate) bytes: &'p [u8],
}

impl Plan {
    /// Plans how a capture is played. An error says what is asked for and cannot be done.
    pub(crate) fn new(capture: &Capture, play: &Play) -> Result<Self, String> {
        let Capture { name, .. } = capture;
        let first = play.first.unwrap_or_default();
        let timeline = match play.tempo {
            Tempo::AtOnce => Timeline::AtOnce(first),
            Tempo::Frames(per_second) => Timeline::Frames { per_second, first },
            Tempo::Recorded(speed) => {
                let rhythm = capture.rhythm.clone().ok_or_else(|| {
                    let times = times_of(name);
                    format!("{times} is missing: `toolstream record` writes it; --tps needs none")
                })?;
                Timeline::Recorded { rhythm, speed, first: play.first }
            }
        };
        let idle = capture.idle();
        if play.keep_alive.is_some() && idle.is_empty() {
            return Err(format!("{name}: there is no keep-alive in this framing"));
        }
        if play.chunk == Some(PlayChunk::Frame) || matches!(play.tempo, Tempo::Frames(_)) {
            capture.after_frames(0)?;
        }
        let played = altered(capture, play)?;
        let length = played.bytes.len();
        let starts = capture.starts.iter().copied().filter(|start| *start <= length).collect();
        let keep_alive = play.keep_alive.map(|wait| (wait, idle));
        let Play { chunk, hangs, drops, .. } = *play;
        Ok(Plan { played, starts, timeline, chunk, keep_alive, hangs, drops })
    }

    /// Returns the HTTP status, if an error is played in the place of a body.
    pub(crate) fn status(&self) -> Option<u16> {
        self.played.status
    }

    /// Returns what is written, in order. It never ends if keep-alives go on.
    pub(crate) fn steps(&self) -> impl Iterator<Item = PlayStep<'_>> {
        let mut dice = Dice::new(match self.chunk {
            Some(PlayChunk::Random(seed)) => seed,
            _ => 0,
        });
        let (mut offset, mut last) = (0, Duration::ZERO);
        let mut next = self.piece(offset, &mut dice);
        iter::from_fn(move || {
            let due = next.map(|end| self.timeline.due(end - 1, &self.starts).max(last));
            if let Some((wait, idle)) = &self.keep_alive {
                let at = last.saturating_add(*wait);
                if self.is_between(offset) && due.map_or(self.hangs, |due| at < due) {
                    last = at;
                    return Some(PlayStep { at, bytes: idle });
                }
            }
            let (end, at) = (next?, due?);
            let bytes = self.played.bytes.get(offset..end)?;
            (offset, last) = (end, at);
            next = self.piece(offset, &mut dice);
            Some(PlayStep { at, bytes })
        })
    }

    /// True if nothing is cut by what is written at this offset.
    fn is_between(&self, offset: usize) -> bool {
        match offset == self.played.bytes.len() {
            true => self.played.is_whole,
            false => self.starts.binary_search(&offset).is_ok(),
        }
    }

    /// Returns where the piece ends that begins at this offset, if one does.
    fn piece(&self, offset: usize, dice: &mut Dice) -> Option<usize> {
        let rest = self.played.bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let next = self.starts.partition_point(|start| *start <= offset);
        let frame = self.starts.get(next).map_or(rest.len(), |start| start - offset);
        let length = match (self.chunk, &self.timeline) {
            (Some(PlayChunk::Bytes(length)), _) => length,
            (Some(PlayChunk::Line), _) => memchr(b'\n', rest).map_or(rest.len(), |end| end + 1),
            (Some(PlayChunk::Random(_)), _) => 1 + dice.below(MAX_RANDOM),
            (Some(PlayChunk::Frame), _) | (None, Timeline::Frames { .. }) => frame,
            (None, Timeline::AtOnce(_)) => rest.len(),
            (None, Timeline::Recorded { rhythm, .. }) => {
                let end = rhythm.read_of(offset as u64).and_then(|read| read.end.try_into().ok());
                end.map_or(rest.len(), |end: usize| end - offset)
            }
        };
        let before =
            self.played.error.and_then(|error| error.checked_sub(offset)).filter(|left| *left > 0);
        Some(offset + length.min(before.unwrap_or(rest.len())))
    }
}

impl Timeline {
    /// Returns when the byte at this offset is due.
    fn due(&self, offset: usize, starts: &[usize]) -> Duration {
        match self {
            Timeline::AtOnce(first) => *first,
            Timeline::Frames { per_second, first } => {
                let frame = starts.partition_point(|start| *start <= offset).saturating_sub(1);
                first.saturating_add(seconds(frame as f64 / per_second))
            }
            Timeline::Recorded { rhythm, speed, first } => {
                let [begin, time] = [0, offset as u64].map(|at| {
                    rhythm.read_of(at).or(rhythm.last()).map_or(Duration::ZERO, |read| read.time)
                });
                let played = |time: Duration| seconds(time.as_secs_f64() / speed);
                first.map_or(played(time), |first| first.saturating_add(played(time - begin)))
            }
        }
    }
}

/// Returns a time in seconds; the longest one if it is longer.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// What is left of a capture, with the error that it ends in.
#[derive(Debug)]
struct Altered {
    bytes: Vec<u8>,
    /// True if it ends with a frame.
    is_whole: bool,
    /// The offset of an error that is written in a piece of its own.
    error: Option<usize>,
    /// The HTTP status, if the bytes are an error in the place of a body.
    status: Option<u16>,
}

fn altered(capture: &Capture, play: &Play) -> Result<Altered, String> {
    let Capture { name, bytes, .. } = capture;
    if let Some(failure) = &play.failure {
        let is_body = play.is_body && capture.is_whole() || capture.is_body();
        return failed(capture, failure, is_body);
    }
    let end = match play.cut {
        None => bytes.len(),
        Some(CapturePlace::Frames(count)) => capture.after_frames(count)?,
        Some(CapturePlace::Bytes(count)) if count <= bytes.len() => count,
        Some(CapturePlace::Bytes(_)) => {
            return Err(format!("{name}: there are {} bytes", bytes.len()));
        }
    };
    let is_whole = end == bytes.len() || capture.starts.contains(&end);
    let bytes = bytes.before(end).to_vec();
    Ok(Altered { bytes, is_whole, error: None, status: None })
}

/// Returns a capture that ends in an error of its provider: a body is replaced by it.
fn failed(
    capture: &Capture,
    PlayFailure { code, frames }: &PlayFailure,
    is_body: bool,
) -> Result<Altered, String> {
    let Capture { name, bytes, .. } = capture;
    let reply = capture.reply();
    let status = reply.status(code)?;
    let given = HeldAnswer::new(capture, 0);
    let failure = ReplyFailure { start: given.start(), ..reply.failure(status, *frames) };
    if is_body {
        let bytes = (reply.body)(&failure).into_bytes();
        return Ok(Altered { bytes, is_whole: true, error: None, status: Some(status) });
    }
    let add = capture.framing.and_then(|framing| framing.add);
    let add = add.ok_or_else(|| format!("{name}: there is no error in this framing"))?;
    let mut bytes = bytes.before(capture.after_frames(*frames)?).to_vec();
    let (record, data) = (reply.record)(&failure);
    let is_bare = reply.is_bare && capture.framing.is_some_and(|framing| framing.name == "sse");
    // Clients that look for it look into each piece that comes.
    let error = is_bare.then_some(bytes.len());
    match is_bare {
        true => bytes.extend_from_slice(format!("{data}\n").as_bytes()),
        false => add(&mut bytes, record, &data),
    }
    Ok(Altered { bytes, is_whole: true, error, status: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::KnownFormats;

    const SSE: &str = "data: {\"choices\":[]}\n\ndata: {\"choices\":[{}]}\n\ndata: [DONE]\n\n";

    /// Plans an input whose reads are all of 10 bytes, 100 ms after one another.
    fn plan(input: &str, play: &Play) -> Result<Plan, String> {
        let mut capture = Capture::new("a", input.into(), &KnownFormats::default());
        let lines: String = (0..input.len().div_ceil(10))
            .map(|read| format!("{} {}\n", 50 + read * 100, (input.len() - read * 10).min(10)))
            .collect();
        capture.rhythm = Some(Rhythm::parse(&lines, input.len() as u64)?);
        Plan::new(&capture, play)
    }

    /// The first 12 steps, as milliseconds and text.
    #[track_caller]
    fn check(input: &str, play: Play, expected: &[(u64, &str)]) {
        let plan = plan(input, &play).unwrap();
        let steps: Vec<(u64, String)> = plan
            .steps()
            .take(12)
            .map(|step| (step.at.as_millis() as u64, String::from_utf8_lossy(step.bytes).into()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(at, text)| (*at, (*text).into())).collect();
        assert_eq!(steps, expected, "{play:?}");
    }

    #[track_caller]
    fn check_refused(input: &str, play: Play, why: &str) {
        assert_eq!(plan(input, &play).map(|_| ()), Err(why.to_owned()), "{play:?}");
    }

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn at_once_is_one_piece() {
        check(SSE, Play::default(), &[(0, SSE)]);
        check("ab", Play { first: ms(70), ..Play::default() }, &[(70, "ab")]);
    }

    #[test]
    fn a_piece_is_due_with_its_last_byte() {
        let tempo = Tempo::Recorded(2.0);
        let text = "one two three four";
        check(text, Play { tempo, ..Play::default() }, &[(25, "one two th"), (75, "ree four")]);
        let chunk = Some(PlayChunk::Bytes(7));
        let expected = [(25, "one two"), (75, " three "), (75, "four")];
        check(text, Play { tempo, chunk, ..Play::default() }, &expected);
        let expected = [(0, "one two"), (50, " three "), (50, "four")];
        check(text, Play { tempo, chunk, first: ms(0), ..Play::default() }, &expected);
    }

    #[test]
    fn frames_have_a_beat() {
        let tempo = Tempo::Frames(4.0);
        let [a, b, c] = frames();
        let play = Play { tempo, first: ms(10), ..Play::default() };
        check(SSE, play, &[(10, a), (260, b), (510, c)]);
        let play = Play { tempo: Tempo::Frames(10.0), ..Play::default() };
        check("Hi, you", play, &[(0, "Hi, "), (100, "you")]);
        check(
            "[{\"a\":1},\n{\"a\":2}]",
            Play { tempo, ..Play::default() },
            &[(0, "["), (0, "{\"a\":1},\n"), (250, "{\"a\":2}]")],
        );
    }

    /// The three frames.
    fn frames() -> [&'static str; 3] {
        let frames: Vec<&str> = SSE.split_inclusive("\n\n").collect();
        frames.try_into().unwrap()
    }

    #[test]
    fn pieces_are_bytes_lines_frames_or_random() {
        let play = |chunk| Play { chunk: Some(chunk), ..Play::default() };
        let [a, b, c] = frames();
        check(SSE, play(PlayChunk::Frame), &[(0, a), (0, b), (0, c)]);
        check("ab\nc", play(PlayChunk::Line), &[(0, "ab\n"), (0, "c")]);
        check("abcde", play(PlayChunk::Bytes(2)), &[(0, "ab"), (0, "cd"), (0, "e")]);
        let long = "x".repeat(1000);
        let sizes = |seed| -> Vec<usize> {
            let plan = plan(&long, &play(PlayChunk::Random(seed))).unwrap();
            plan.steps().map(|step| step.bytes.len()).collect()
        };
        assert_eq!(sizes(7)[..6], [24, 29, 3, 12, 27, 18]);
        assert_eq!((sizes(7), sizes(7).iter().sum()), (sizes(7), 1000));
        assert_ne!(sizes(7), sizes(8));
    }

    #[test]
    fn a_stream_is_cut_where_it_is_asked_to() {
        let play = |cut| Play { cut: Some(cut), ..Play::default() };
        check(SSE, play(CapturePlace::Bytes(9)), &[(0, "data: {\"c")]);
        check(SSE, play(CapturePlace::Bytes(0)), &[]);
        check(SSE, play(CapturePlace::Frames(0)), &[]);
        check(SSE, play(CapturePlace::Frames(1)), &[(0, frames()[0])]);
        check(SSE, play(CapturePlace::Frames(3)), &[(0, SSE)]);
        check_refused(SSE, play(CapturePlace::Frames(4)), "a: there are 3 frames");
        check_refused(SSE, play(CapturePlace::Bytes(999)), "a: there are 60 bytes");
    }

    #[test]
    fn an_error_has_the_form_of_the_capture() {
        let play = |code: &str, frames| Play {
            failure: Some(PlayFailure { code: code.into(), frames }),
            ..Play::default()
        };
        let error = "data: {\"error\":{\"message\":\"There were too many requests.\",\"type\":\
                     \"rate_limit_error\",\"param\":null,\"code\":\"rate_limit_exceeded\"}}\n\n";
        let expected = format!("{}{error}", frames()[0]);
        for code in ["429", "rate_limit", "rate_limit_exceeded"] {
            check(SSE, play(code, 1), &[(0, &expected)]);
        }
        let anthropic = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}";
        let expected = format!(
            "{anthropic}\n\nevent: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\
             \"overloaded_error\",\"message\":\"Overloaded.\"}}}}\n\n"
        );
        check(anthropic, play("529", 1), &[(0, &expected)]);
        let gemini = "[{\"candidates\":[{}]}\n,\r\n{\"candidates\":[{}]}\n]";
        let error = "{\"error\":{\"code\":500,\"message\":\"The server failed.\",\
                     \"status\":\"INTERNAL\"}}";
        check(gemini, play("500", 0), &[(0, &format!("[\n{error}]\n"))]);
        check(
            gemini,
            play("500", 1),
            &[(0, &format!("[{{\"candidates\":[{{}}]}}\n,\n{error}]\n"))],
        );
        let ollama = "{\"message\":{\"content\":\"\"},\"done\":false}\n";
        let expected = format!("{ollama}{{\"error\":\"The server failed.\"}}\n");
        check(ollama, play("server_error", 1), &[(0, &expected)]);
        check_refused("Hi", play("500", 1), "a: there is no error in this framing");
        let why = "teapot is no code of an error: one is a status from 400 to 599, or \
                   invalid_request, authentication, permission, not_found, too_large, rate_limit, \
                   server_error, unavailable, timeout, overloaded";
        check_refused(SSE, play("teapot", 1), why);
        check_refused(SSE, play("200", 1), &why.replace("teapot", "200"));
    }

    #[test]
    fn keep_alives_come_between_frames() {
        let (tempo, keep_alive) = (Tempo::Frames(2.0), ms(200));
        let [a, b, c] = frames();
        let idle = ": keep-alive\n\n";
        let play = Play { tempo, keep_alive, first: ms(300), ..Play::default() };
        let expected = [
            (200, idle),
            (300, a),
            (500, idle),
            (700, idle),
            (800, b),
            (1000, idle),
            (1200, idle),
            (1300, c),
        ];
        check(SSE, play.clone(), &expected);
        // Inside a frame, nothing may be written.
        let play = Play { chunk: Some(PlayChunk::Bytes(32)), first: None, ..play };
        let (one, two) = SSE.split_at(32);
        let expected = [(200, idle), (400, idle), (500, one), (1000, two)];
        check(SSE, play, &expected);
        check_refused(
            "Hi",
            Play { keep_alive, ..Play::default() },
            "a: there is no keep-alive in this framing",
        );
    }

    #[test]
    fn a_stream_that_hangs_is_kept_alive() {
        let play = Play { keep_alive: ms(1000), hangs: true, ..Play::default() };
        let idle = ": keep-alive\n\n";
        let expected: Vec<_> =
            [(0, frames()[0])].into_iter().chain((1..12).map(|at| (at * 1000, idle))).collect();
        check(SSE, Play { cut: Some(CapturePlace::Frames(1)), ..play.clone() }, &expected);
        check(SSE, Play { cut: Some(CapturePlace::Bytes(3)), ..play }, &[(0, "dat")]);
    }

    #[test]
    fn options_are_read() {
        assert_eq!("random:9".parse(), Ok(PlayChunk::Random(9)));
        assert_eq!("12".parse(), Ok(PlayChunk::Bytes(12)));
        assert_eq!("frame:3".parse(), Ok(CapturePlace::Frames(3)));
        assert_eq!("529@frame:3".parse(), Ok(PlayFailure { code: "529".into(), frames: 3 }));
        for wrong in ["0", "random", "random:x", "frames", ""] {
            assert!(wrong.parse::<PlayChunk>().is_err(), "{wrong}");
        }
        for wrong in ["frame", "frame:", "-1", "529@frame:", "529@3"] {
            assert!(
                wrong.parse::<CapturePlace>().is_err() && wrong.parse::<PlayFailure>().is_err(),
                "{wrong}"
            );
        }
    }
}
