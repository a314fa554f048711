//! The options of the commands that keep and play captures.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ColorChoice, ValueEnum, ValueHint};

use crate::capture::{By, CapturePlace, Play, PlayChunk, PlayFailure, Tempo};
use crate::cli::value::Size;
use crate::cli::{GivenFormats, GivenOptions, LIMITS, ReadOptions, value};

/// `toolstream record`
#[derive(Args, Debug)]
#[command(after_long_help = RECORD_EXAMPLES)]
pub struct RecordCommand {
    /// Replace secrets in FILE
    ///
    /// Keys, tokens, cookies, ids of organisations, projects and accounts, and e-mail addresses
    /// become words of the same length. Each is reported. FILE is written once the stream has
    /// ended: until then it is kept in memory. Standard output gets the stream as it is.
    #[arg(long)]
    pub redact: bool,

    /// Where the stream is kept; its rhythm goes into FILE.times
    ///
    /// FILE.times has a line `MILLISECONDS LENGTH` for each read: the time since record began to
    /// wait, so that the first one is the time to the first byte, and the number of bytes. Files
    /// that are there are overwritten. If they cannot be written to the end, that is reported, and
    /// the stream is still passed on.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: String,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  Keep a stream while it is used, with its head and its rhythm:
    curl -isSN URL -d @request.json | toolstream record answer.sse | toolstream show

  The same without the keys in it, for a repository:
    curl -isSN URL -d @request.json | toolstream record --redact answer.sse | toolstream show

  When did the text begin, and how long were the gaps?
    toolstream classify --timing answer.sse | jq .timing";

/// `toolstream replay`
#[derive(Args, Debug)]
#[command(after_long_help = REPLAY_EXAMPLES)]
#[command(group = ArgGroup::new("server").args(["http", "listen"]).multiple(false))]
pub struct Replay {
    /// The formats that the captures may be in.
    #[command(flatten)]
    pub formats: GivenFormats,

    /// Play in the rhythm of FILE.times, X times as fast: 1 is as recorded
    #[arg(long, value_name = "X", value_parser = value::positive, conflicts_with = "tps")]
    pub speed: Option<f64>,

    /// Play N frames a second; plain text has no frames, and is played by its words
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub tps: Option<f64>,

    /// Wait so many milliseconds for the first byte
    #[arg(long, value_name = "MS", value_parser = value::milliseconds)]
    pub first: Option<Duration>,

    /// Write in pieces of N bytes, of a frame, of a line, or of 1 to 64 bytes as random:SEED says
    ///
    /// A piece is due when its last byte is. By default, what is due at once is one piece.
    #[arg(long, value_name = "N|frame|line|random:SEED")]
    pub chunk: Option<PlayChunk>,

    /// End after so many BYTES, or after frame:K
    #[arg(long, value_name = "BYTES|frame:K", conflicts_with = "error")]
    pub cut: Option<CapturePlace>,

    /// Never end: after the last byte, nothing comes, or keep-alives
    #[arg(long)]
    pub hang: bool,

    /// End with the provider's error CODE after K frames, in the capture's own form
    ///
    /// CODE is an HTTP status from 400 to 599, the provider's word for it, or invalid_request (400),
    /// authentication (401), permission (403), not_found (404), too_large (413), rate_limit (429),
    /// server_error (500), unavailable (503), timeout (504) or overloaded (529).
    #[arg(long, value_name = "CODE@frame:K")]
    pub error: Option<PlayFailure>,

    /// Write the format's keep-alive whenever nothing came for so many milliseconds
    ///
    /// Only between frames.
    #[arg(long, value_name = "MS", value_parser = value::wait)]
    pub keep_alive: Option<Duration>,

    /// Answer one HTTP request on standard input to standard output
    #[arg(long)]
    pub http: bool,

    /// Answer HTTP requests at this address; port 0 is any free one
    ///
    /// The address is printed on standard error. A request to /chat/completions, /messages,
    /// /responses, :streamGenerateContent or /api/chat is answered in that format, and a capture of
    /// another one is converted; one without "stream": true gets one body, but for /api/chat. What
    /// clients ask beside it takes no capture: models, counts of tokens, a WebSocket.
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "http")]
    pub listen: Option<String>,

    /// Write the URL that is listened at into this file
    #[arg(long, value_name = "FILE", requires = "listen", value_hint = ValueHint::FilePath)]
    pub port_file: Option<PathBuf>,

    /// Listen at an address that others can reach
    #[arg(long, requires = "listen")]
    pub listen_anywhere: bool,

    /// Which FILE answers a request
    ///
    /// turn: the one after the last whose words or calls the request holds. request: the next one
    /// each time. path: by turn, of those in the format of the endpoint. After the last one, the
    /// answer is status 400, which no client repeats. By default by turn; of a file of recorded
    /// exchanges that which was recorded for the request, by method, path, query and body.
    #[arg(long, value_name = "WHAT", value_enum)]
    pub by: Option<By>,

    /// Answer each request with an error of this HTTP status
    #[arg(long, value_name = "N", requires = "server", value_parser = clap::value_parser!(u16).range(400..600))]
    pub status: Option<u16>,

    /// Answer the first N requests with an error of this HTTP status
    #[arg(long, value_name = "N:STATUS", requires = "server", conflicts_with = "status", value_parser = value::first_errors)]
    pub fail: Option<(usize, u16)>,

    /// Let --cut, --error, --drop and --hang have only the first N answers of a capture
    #[arg(long, value_name = "N", requires = "server")]
    pub first_requests: Option<usize>,

    /// Close the connection after the last byte, as if it broke
    #[arg(long, requires = "server")]
    pub drop: bool,

    /// Add a line of JSON to this file for each request
    #[arg(long, value_name = "FILE", requires = "server", value_hint = ValueHint::FilePath)]
    pub log: Option<PathBuf>,

    /// The largest body of a request, in bytes; 0 is no limit
    #[arg(long, value_name = "SIZE", default_value = "256M", help_heading = LIMITS)]
    pub max_event: Size,

    /// The captures; without HTTP they are played one after another; `-` is standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,

    /// With --listen: a program to run, which finds the URL in TOOLSTREAM_URL; its status is replay's
    #[arg(value_name = "COMMAND", last = true, requires = "listen", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

impl Replay {
    /// Returns how a capture is to be played.
    pub fn play(&self) -> Play {
        let tempo = match (self.speed, self.tps) {
            (Some(speed), _) => Tempo::Recorded(speed),
            (None, Some(tps)) => Tempo::Frames(tps),
            (None, None) => Tempo::AtOnce,
        };
        Play {
            tempo,
            first: self.first,
            chunk: self.chunk,
            cut: self.cut,
            failure: self.error.clone(),
            keep_alive: self.keep_alive,
            hangs: self.hang,
            drops: self.drop,
            is_body: false,
        }
    }
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  As it was recorded, twice as fast:
    toolstream replay --speed 2 answer.sse | toolstream show

  A byte at a time, cut in the middle of the third event:
    toolstream replay --chunk 1 --cut 700 answer.sse | my-client

  An error after two events:
    toolstream replay --error overloaded@frame:2 answer.sse

  A provider for the tests of an agent: overloaded twice, then a call, then an answer:
    toolstream replay --listen 127.0.0.1:8080 --fail 2:529 --log requests.ndjson call.sse text.sse

  The test of a script, in one line:
    toolstream replay --listen 127.0.0.1:0 call.sse text.sse -- ./my-agent";

/// `toolstream check`
#[derive(Args, Debug)]
#[command(after_long_help = CHECK_EXAMPLES)]
#[command(mut_arg("files", |arg| arg.value_name("FILE|DIR")
    .help("What to check, by default the current folder; in a DIR, the captures")
    .long_help("What to check, by default the current folder\n\nIn a DIR and below it, the captures \
        are regular files that hold a stream, a log or a body. What is hidden, golden files, FILE.times, \
        the requests of `agent --log`, what editors and git leave behind, and what is no stream, as a \
        README or a script, is passed over.")))]
pub struct Check {
    /// The options of `parse` that are given.
    #[command(flatten)]
    pub given: GivenOptions,

    /// How captures are read.
    #[command(flatten)]
    pub reading: ReadOptions,

    /// Write the golden files that are missing or differ
    ///
    /// Each whole or not at all. It keeps the options that say how to read, --only and --ignore,
    /// as far as the folder's .toolstream.toml does not say them.
    #[arg(long)]
    pub update: bool,

    /// Ask at each difference whether to write what came: accept, skip or quit
    #[arg(long, conflicts_with_all = ["update", "report"])]
    pub review: bool,

    /// Remove golden files whose captures are gone
    #[arg(long)]
    pub prune: bool,

    /// Replace secrets in the captures themselves
    ///
    /// Keys, tokens, cookies, ids of organisations, projects and accounts, and e-mail addresses
    /// become words of the same length, the same everywhere. Each is reported.
    #[arg(long, requires = "update")]
    pub redact: bool,

    /// Which keys not to compare, with commas between them: id, usage.raw, tool_call.arguments.city
    ///
    /// The name of a type stands for all keys of such events; in a path, `*` is any key and `**` any
    /// number of them. `volatile` is all that changes when the same answer is recorded again: ids,
    /// times, signatures, fingerprints, counts. `none` forgets what is kept. Offsets are never compared.
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = value::event_key)]
    pub ignore: Vec<String>,

    /// Which types of events to compare, with commas between them; `none` forgets what is kept
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = value::event_type)]
    pub only: Vec<String>,

    /// Which files of a DIR not to check: a name, or with a slash a path from here, with `*` and `**`
    #[arg(long, value_name = "GLOB", value_parser = value::glob)]
    pub exclude: Vec<glob::Pattern>,

    /// Check only captures whose names hold this
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Stop at the first failure
    #[arg(long)]
    pub fail_fast: bool,

    /// Also compare which members of records no rule reads
    ///
    /// Without such a member the events are the same. With --update, they are kept in the golden file.
    #[arg(long)]
    pub unread: bool,

    /// Also hold each capture to the laws of reading
    ///
    /// It is read in pieces, in part, with other line ends and comments, and its events are read
    /// again. If a law breaks, the smallest input that shows it is written into FILE.LAW.broken.
    /// With this, captures need no golden files.
    #[arg(long)]
    pub laws: bool,

    /// The form of the report
    #[arg(long, value_name = "FORM", value_enum, default_value = "text")]
    pub report: ReportForm,

    /// Print all of the differences, where --report text stops after 200 lines
    #[arg(long)]
    pub full: bool,

    /// When to use colours
    ///
    /// `auto` is on a terminal, unless NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_enum)]
    pub color: ColorChoice,

    /// How many captures to read at once
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// Differences as people read them
    Text,
    /// An object for each capture, and one for the sum
    Json,
    /// Annotations of GitHub Actions
    Github,
    /// JUnit's XML
    Junit,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  Keep what captures give now, and commit it:
    toolstream check --update captures

  Is it still the same? Exit status 1 says no, and a diff of the events what:
    toolstream check -j 4 captures

  Captures that are recorded anew each time: is it the same answer?
    toolstream check --ignore volatile captures

  Accept differences one by one:
    toolstream check --review captures

  Does this program read your captures as it promises to read any?
    toolstream check --laws -j 4 captures";
