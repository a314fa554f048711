//! Inputs that hold recorded exchanges: each answer of a model is a stream of its own.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, anyhow, bail};

use crate::cassette::{self, Broken, Cassette, CassetteSearch, Exchange, Why};
use crate::commands::{Inputs, shown};
use crate::cut::{Cut as _, until};
use crate::detect::{self, KnownFormats};
use crate::dressing::From;
use crate::event::{Code, Failure};
use crate::io::{Input, Progress, Read, Signals, report_on};
use crate::pipeline::Config;
use crate::sink::{self, Clock, Sink};
use crate::status::{Outcome, Status};

/// The most exchanges that are named where they are passed over.
const MAX_NAMED: usize = 5;

/// One stream: an input, or the answer of an exchange in it.
pub(super) struct StreamSource<'i> {
    /// Its name in messages.
    pub(super) name: String,
    /// Its name in the output, if it is one of several.
    pub(super) file: Option<String>,
    pub(super) stream: Stream<'i>,
    /// The clock of the input, which is waited for before it is known what it is.
    pub(super) clock: Clock,
}

/// What is to be read of a part.
pub(super) enum Stream<'i> {
    Input(Input<'i>),
    /// Nothing: the input breaks off, or is not what it begins as.
    Broken {
        code: Code,
        message: String,
        offset: u64,
    },
}

impl StreamSource<'_> {
    /// Returns the progress of reading it.
    pub(super) fn progress(&self) -> Progress {
        match &self.stream {
            Stream::Input(input) => Progress::new(&self.name, input.size()),
            Stream::Broken { .. } => Progress::none(),
        }
    }
}

impl Stream<'_> {
    /// Returns how many bytes are to be read, if that is known.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Stream::Input(input) => input.size(),
            Stream::Broken { .. } => None,
        }
    }
}

/// Reads a part: it is given where to report, and the status of all. Returns the signal that came.
pub(super) type ReadSource<'r> =
    dyn FnMut(StreamSource<'_>, &mut dyn Write, &mut Status) -> io::Result<Option<i32>> + 'r;

/// An input that was looked into.
enum Opened<'i, 's> {
    Stream(Input<'s>),
    Cassette(Cassette<'i>),
}

/// Splits the name of an input from the number of the exchange that it asks for. A file whose own
/// name looks so is that file.
fn split_number(name: &str) -> (&str, Option<u64>) {
    let split = name.rsplit_once('#').filter(|_| !Path::new(name).exists());
    let number = split.and_then(|(path, number)| Some((path, number.parse().ok()?)));
    match number {
        Some((path, number)) if path == "-" || Path::new(path).exists() => (path, Some(number)),
        _ => (name, None),
    }
}

/// Bytes of an input for a reader that knows no signals: one that comes is an error.
struct Bytes<'s> {
    input: Input<'s>,
    buffer: Vec<u8>,
    at: usize,
}

impl io::Read for Bytes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() {
            self.at = 0;
            match self.input.read(&mut self.buffer)? {
                Read::Bytes => {}
                Read::End => return Ok(0),
                Read::Signal(_) => return Err(io::Error::other("a signal stopped the program")),
            }
        }
        let mut rest = self.buffer.after(self.at);
        let count = io::Read::read(&mut rest, out)?;
        self.at += count;
        Ok(count)
    }
}

/// Finds out if an input is a cassette, by as few of its bytes as say it.
fn look<'s>(mut input: Input<'s>) -> Opened<'s, 's> {
    let (mut head, mut buffer, mut search) = (Vec::new(), Vec::new(), CassetteSearch::default());
    loop {
        let read = input.read(&mut buffer);
        match (&read, head.is_empty()) {
            (Ok(Read::Bytes), true) => std::mem::swap(&mut head, &mut buffer),
            (Ok(Read::Bytes), false) => head.extend_from_slice(&buffer),
            _ => {}
        }
        let ended = !matches!(read, Ok(Read::Bytes));
        let Some(found) = search.look(&head, ended) else { continue };
        input.unread(head, read.ok().filter(|read| *read != Read::Bytes));
        let bytes = |input| Box::new(Bytes { input, buffer: Vec::new(), at: 0 });
        return match found {
            None => Opened::Stream(input),
            Some(found) => Opened::Cassette(found.open(bytes(input))),
        };
    }
}

/// True if an answer is a model's, or an error of an API: in one of these formats or a known one, that
/// is to say, or the failure of what was posted, as models are asked, whatever it says.
pub(super) fn is_answer(exchange: &Exchange, formats: &KnownFormats) -> bool {
    if exchange.status >= 400 && exchange.method == "POST" {
        return true;
    }
    let mut head = exchange.head();
    let body = exchange.body.as_slice();
    if body.is_empty() {
        return false;
    }
    let size = head.len();
    // Most show it soon. The first record may be all of the body.
    for window in [1 << 10, 4 << 10, detect::WINDOW, usize::MAX] {
        head.truncate(size);
        head.extend_from_slice(body.before(window));
        let ended = window >= body.len();
        let verdict = detect::explain_of(formats, &head, ended);
        if ended || verdict.is_final() {
            return !matches!(verdict.format.as_str(), "unknown" | "text");
        }
    }
    false
}

/// Returns the code of the error that ends a file's exchanges; none if reading failed.
pub(super) fn code_of(broken: &Broken) -> Option<Code> {
    match broken.why {
        Why::Cut => Some(Code::Truncated),
        Why::Malformed => Some(Code::Malformed),
        Why::Limit => Some(Code::Limit),
        Why::Io(_) => None,
    }
}

/// Emits a message that is an error alone, which no layer reports.
pub(super) fn fail(sink: &mut dyn Sink, code: Code, message: &str, offset: u64) -> io::Result<()> {
    sink::fail(sink, Failure::new(code, message, Some(offset)))?;
    sink.flush()
}

/// True if nothing says that an input is one stream: a framing, or that it is plain text.
pub(super) fn may_be_cassette(config: &Config) -> bool {
    let is_text = config.format.is_some_and(|format| format.name == "text");
    !is_text && config.framing.is_none() && matches!(config.from, From::Auto)
}

/// Exchanges that were passed over.
#[derive(Default)]
struct Passed {
    count: u64,
    names: Vec<String>,
}

impl Passed {
    fn add(&mut self, exchange: &Exchange) {
        self.count += 1;
        if self.names.len() < MAX_NAMED {
            let Exchange { number, method, url, status, .. } = exchange;
            let path = url.split_once("://").map_or(url.as_str(), |(_, rest)| {
                rest.split_once('/').map_or("", |(_, path)| path)
            });
            let path = until(path, "?").trim_start_matches('/');
            self.names.push(format!("#{number} {method} /{path} {status}"));
        }
    }

    /// Returns the line that says what was passed over, if anything was.
    fn line(&self, all: u64, kind: &str) -> Option<String> {
        if self.count == 0 && all > 0 {
            return None;
        }
        let Passed { count, names } = self;
        let are = if *count == 1 {
            "is no model's answer and was"
        } else {
            "are no model's answers and were"
        };
        let more = match count - names.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        Some(match all {
            0 => format!("the file ({kind}) holds no exchange"),
            _ => format!("{count} of {all} exchanges ({kind}) {are} passed over: {names}{more}"),
        })
    }
}

impl Inputs<'_> {
    /// Reads an input: as one part, or each answer of a model in it as one, in order. What is no
    /// model's is passed over, and said. It may be in `formats`; with `finds` an input
    /// is looked into, and else it is read as it is, unless it names an exchange.
    pub(super) fn each(
        &self,
        name: &str,
        formats: &KnownFormats,
        finds: bool,
        (stderr, status): (&mut dyn Write, &mut Status),
        read: &mut ReadSource<'_>,
    ) -> io::Result<Option<i32>> {
        let (path, number) = split_number(name);
        let Some(input) = self.open(path, stderr, status) else { return Ok(None) };
        let file = Some(name.to_owned()).filter(|_| self.names.len() > 1);
        let clock = Clock::default();
        let opened = if finds || number.is_some() { look(input) } else { Opened::Stream(input) };
        let cassette = match (opened, number) {
            (Opened::Cassette(cassette), _) => cassette,
            (Opened::Stream(input), None) => {
                let (name, stream) = (shown(name).to_owned(), Stream::Input(input));
                let source = StreamSource { name, file, stream, clock };
                return read(source, stderr, status);
            }
            (Opened::Stream(_), Some(_)) => {
                report_on(stderr, shown(path), NO_CASSETTE, None);
                status.note(Outcome::Usage);
                return Ok(None);
            }
        };
        let kind = cassette.recorder.name;
        let (mut all, mut passed) = (0, Passed::default());
        for exchange in cassette {
            let exchange = match exchange {
                Ok(exchange) => exchange,
                Err(broken) => {
                    if let Some(signal) = self.signals.caught() {
                        return Ok(Some(signal));
                    }
                    return self.broken(broken, path, (stderr, status), read);
                }
            };
            all = exchange.number;
            if number.is_some_and(|number| number != exchange.number) {
                continue;
            }
            let whole = format!("{path}#{}", exchange.number);
            let is_answer = is_answer(&exchange, formats);
            if let Some(undecoded) = exchange.undecoded().filter(|_| !is_answer) {
                let signal = self.broken(undecoded, &whole, (&mut *stderr, &mut *status), read)?;
                if signal.is_some() || number.is_some() {
                    return Ok(signal);
                }
                continue;
            }
            let is_passed = number.is_none() && !is_answer;
            // What has a body is passed over whatever that is.
            if let Some(note) =
                exchange.note.as_ref().filter(|_| !is_passed || exchange.body.is_empty())
            {
                report_on(stderr, &whole, note, None);
            }
            if is_passed {
                passed.add(&exchange);
                continue;
            }
            let file = if number.is_some() { file.clone() } else { Some(whole.clone()) };
            let stream = Stream::Input(input_of(exchange, &self.signals));
            let source = StreamSource { name: whole, file, stream, clock: Clock::default() };
            if let Some(signal) = read(source, stderr, status)? {
                return Ok(Some(signal));
            }
            if number.is_some() {
                return Ok(None);
            }
        }
        let lack = number.map(|number| lack(number, all));
        if let Some(line) = lack.or_else(|| passed.line(all, kind)) {
            report_on(stderr, shown(path), &line, None);
        }
        if number.is_some() || passed.count == all {
            status.note(Outcome::Usage);
        }
        Ok(None)
    }

    /// Hands on why a file can't be read any further.
    fn broken(
        &self,
        broken: Broken,
        path: &str,
        (stderr, status): (&mut dyn Write, &mut Status),
        read: &mut ReadSource<'_>,
    ) -> io::Result<Option<i32>> {
        let Some(code) = code_of(&broken) else {
            report_on(stderr, shown(path), &broken.to_string(), None);
            status.note(Outcome::Io);
            return Ok(None);
        };
        let Broken { message, offset, .. } = broken;
        let stream = Stream::Broken { code, message, offset };
        let (name, file) = (shown(path).to_owned(), Some(path.to_owned()));
        let source = StreamSource { name, file, stream, clock: Clock::default() };
        read(source, stderr, status)
    }
}

/// What is said of a FILE#N that is none.
const NO_CASSETTE: &str = "is no file of recorded exchanges, so none of them can be named with `#`";

fn lack(number: u64, all: u64) -> String {
    match number {
        0 => "exchanges are counted from 1: there is no exchange 0".into(),
        _ => format!("there is no exchange {number}: it holds {all}"),
    }
}

/// Returns an answer as it stands in a file: its head, then its body.
fn input_of(exchange: Exchange, signals: &Signals) -> Input<'_> {
    Input::of(exchange.head(), exchange.body, signals)
}

/// Opens an input that has to be one stream: an exchange of a cassette is one.
pub(super) fn open_one<'s>(name: &str, signals: &'s Signals) -> anyhow::Result<Input<'s>> {
    let (path, number) = split_number(name);
    let named = || shown(path).to_owned();
    let input = Input::open(path, signals).with_context(named)?;
    match (look(input), number) {
        (Opened::Stream(input), None) => Ok(input),
        (Opened::Stream(_), Some(_)) => bail!("{}: {NO_CASSETTE}", named()),
        (Opened::Cassette(cassette), number) => {
            let number = number.with_context(|| {
                format!("{}: it holds recorded exchanges: {path}#N names one", named())
            })?;
            Ok(input_of(nth(cassette, number, path)?, signals))
        }
    }
}

/// Returns the exchanges of a file, those without a response left out; nothing if it is another file,
/// or the name asks for one of them.
pub(super) fn exchanges(name: &str, signals: &Signals) -> anyhow::Result<Option<Vec<Exchange>>> {
    let (path, None) = split_number(name) else { return Ok(None) };
    let input = Input::open(path, signals).with_context(|| shown(path).to_owned())?;
    let Opened::Cassette(cassette) = look(input) else { return Ok(None) };
    answered(cassette, path).map(Some)
}

/// Returns the exchanges of a file that was read, as [`exchanges`] does.
pub(super) fn exchanges_of(bytes: &[u8], name: &str) -> anyhow::Result<Option<Vec<Exchange>>> {
    cassette::open(bytes).map(|cassette| answered(cassette, name)).transpose()
}

/// Returns the exchanges that have a response.
fn answered(cassette: Cassette<'_>, path: &str) -> anyhow::Result<Vec<Exchange>> {
    let named = |broken: Broken| anyhow!("{}: {broken}", shown(path));
    let all =
        cassette.map(|exchange| exchange.map_err(named)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|exchange| !exchange.head().is_empty()).collect())
}

/// Returns the exchange that a name asks for with `#N`; nothing if it asks for none.
pub(super) fn exchange(name: &str, signals: &Signals) -> anyhow::Result<Option<Exchange>> {
    let (path, Some(number)) = split_number(name) else { return Ok(None) };
    let input = Input::open(path, signals).with_context(|| shown(path).to_owned())?;
    match look(input) {
        Opened::Stream(_) => bail!("{}: {NO_CASSETTE}", shown(path)),
        Opened::Cassette(cassette) => nth(cassette, number, path).map(Some),
    }
}

fn nth(cassette: Cassette<'_>, number: u64, path: &str) -> anyhow::Result<Exchange> {
    let mut all = 0;
    for exchange in cassette {
        let exchange = exchange.map_err(|broken| anyhow!("{}: {broken}", shown(path)))?;
        all = exchange.number;
        if all == number {
            return Ok(exchange);
        }
    }
    bail!("{}: {}", shown(path), lack(number, all))
}
