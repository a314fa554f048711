//! The rounds, one after another, and the end.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::iter;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::agent::answer::{AnswerReader, HeldEnd};
use crate::agent::runner::Runner;
use crate::agent::stop::Stop;
use crate::event::{Code, EndReason, FinishReason, Kind, RunEnd, Usage};
use crate::format::turn::{Declaration, Request};
use crate::io::{Children, Happened, Original, Stalled, private_file, report, write_whole};
use crate::pipeline::Config;
use crate::request;
use crate::request::{
    CallResult, Fate, GrowthOptions, LastMessage, MessageEnding, Refused, RequestBody,
};
use crate::sink::Sink;
use crate::status::Outcome;

/// The most pauses of a provider, one after another.
const MAX_PAUSES: u64 = 10;

/// The longest time that a provider may ask to be left alone for, in seconds.
const MAX_WAIT: u64 = 300;

/// The way out if there is no program of COMMAND's name.
pub(crate) const FUNCTION_HINT: &str =
    "; a function of the shell is no program: `export -f NAME`, and `-- bash -c NAME`";

/// The number of COMMAND among the children.
const COMMAND: u64 = 0;

/// The options of the loop.
pub(crate) struct Loop<'a> {
    /// The command that asks the model, and its arguments.
    pub(crate) command: &'a [OsString],
    /// The configuration that answers are read with.
    pub(crate) config: Config,
    /// The most rounds in which tools run.
    pub(crate) max_rounds: u64,
    /// The number of times that COMMAND is run again.
    pub(crate) retries: u32,
    /// Begin calls before their message has ended.
    pub(crate) eager: bool,
    /// The time at which the run is over.
    pub(crate) deadline: Option<Instant>,
    /// The file that the request is written into after each round.
    pub(crate) save: Option<&'a Path>,
    /// The folder in which each round's request and answer are kept.
    pub(crate) log: Option<PathBuf>,
    /// The tools that are declared to the model, if the request declares none.
    pub(crate) declarations: Vec<Declaration>,
}

/// A run of the loop.
pub(crate) struct Rounds<'a> {
    options: &'a Loop<'a>,
    body: RequestBody,
    /// The file that the request was read of and is written into, if it is.
    original: Option<Original>,
    /// The provider's row: of its request at first, then of its answers.
    row: Option<&'static Request>,
    runner: Runner<'a>,
    children: Children<'a>,
    out: &'a mut dyn Sink,
    /// The number of answers that the model was asked for.
    round: u64,
    usage: Option<Usage<'static>>,
    warnings: usize,
}

/// The end of a run, and the outcome that it counts as.
#[derive(Debug)]
pub(crate) struct LoopEnd {
    /// The reason.
    pub(crate) reason: EndReason,
    /// The outcome that it counts as; none if it ended well.
    pub(crate) outcome: Option<Outcome>,
    /// The warnings in all answers.
    pub(crate) warnings: usize,
    /// The name of a tool that failed, if one has.
    pub(crate) failed: Option<String>,
    /// The signal to die by.
    pub(crate) signal: Option<i32>,
}

impl LoopEnd {
    fn new(reason: EndReason, outcome: impl Into<Option<Outcome>>) -> Self {
        let (outcome, warnings, failed, signal) = (outcome.into(), 0, None, None);
        LoopEnd { reason, outcome, warnings, failed, signal }
    }
}

/// The failure of COMMAND, as a sentence for people.
struct Failed(String);

/// What came of one run of COMMAND.
struct CommandAnswer {
    message: LastMessage,
    /// The end of the message, which has not been emitted.
    end: HeldEnd,
    failed: Option<Failed>,
    /// The seconds that the provider wants to be left alone.
    wait: Option<u64>,
}

impl<'a> Rounds<'a> {
    /// Returns a run that begins with this request.
    pub(crate) fn new(
        options: &'a Loop<'a>,
        body: RequestBody,
        original: Option<Original>,
        row: Option<&'static Request>,
        runner: Runner<'a>,
        children: Children<'a>,
        out: &'a mut dyn Sink,
    ) -> Self {
        let (round, usage, warnings) = (0, None, 0);
        Rounds { options, body, original, row, runner, children, out, round, usage, warnings }
    }

    /// Runs to the end, and emits it. Returns an error only if something can't be read or written.
    pub(crate) fn run(mut self) -> Result<LoopEnd, Stop> {
        let ended = match self.rounds() {
            Ok(ended) => ended,
            Err(Stop::Signal(signal)) => {
                LoopEnd { signal: Some(signal), ..LoopEnd::new(EndReason::Interrupted, None) }
            }
            Err(Stop::Deadline) => {
                self.note("--deadline is over");
                LoopEnd::new(EndReason::Deadline, Outcome::Limit)
            }
            Err(Stop::Failed(error)) if Stalled::of(&error).is_none() => {
                report(&mut io::stderr(), &error.to_string());
                LoopEnd::new(EndReason::Error, Outcome::Io)
            }
            Err(stop) => {
                // Those that no one waits for get their two seconds as well.
                self.children.stop().map_err(Stop::Failed)?;
                return Err(stop);
            }
        };
        self.children.stop().map_err(Stop::Failed)?;
        if self.runner.denied() > 0 && self.runner.calls() == 0 {
            report(&mut io::stderr(), "no tool was run: every call was denied");
        }
        let end = RunEnd {
            reason: ended.reason,
            rounds: self.round,
            calls: self.runner.calls(),
            usage: self.usage,
        };
        self.out.feed(&Kind::RunEnd(end).into()).map_err(Stop::Lost)?;
        self.out.finish().map_err(Stop::Lost)?;
        let failed = self.runner.failed().map(str::to_owned);
        Ok(LoopEnd { warnings: self.warnings, failed, ..ended })
    }

    fn rounds(&mut self) -> Result<LoopEnd, Stop> {
        let (mut tool_rounds, mut pauses) = (0, 0);
        loop {
            self.round += 1;
            let is_last = tool_rounds >= self.options.max_rounds;
            let mut message = match self.ask(is_last)? {
                Ok(message) => message,
                Err(ended) => return Ok(ended),
            };
            self.warnings += message.warnings;
            let guess = || request::guess(&self.body, iter::empty());
            message.write_turn(|| self.row.or_else(guess));
            let row = |verdict| Ok((verdict, request::row(&self.body, &message)?));
            let (verdict, row) = match request::verdict(&message).and_then(row) {
                Ok(found) => found,
                Err(refused) => return Ok(self.refused(&message, refused)),
            };
            self.row = Some(row);
            let results = match verdict {
                Fate::Calls if is_last => {
                    let why =
                        "The call was not run: there are no more rounds. Answer without tools.";
                    message.calls.iter().map(|_| CallResult::error(why)).collect()
                }
                Fate::Calls => self.results(&message)?,
                Fate::Pause | Fate::Final => Vec::new(),
            };
            let mut body = self.body.clone();
            match request::grow(&mut body, row, &message, &results, GrowthOptions::default()) {
                Ok(note) => note.iter().for_each(|note| self.note(note)),
                Err(refused) => return Ok(self.refused(&message, refused)),
            }
            self.body = body;
            self.save()?;
            match verdict {
                Fate::Final if is_length(&message) => {
                    self.note("the model ran out of tokens");
                    return Ok(LoopEnd::new(EndReason::Length, Outcome::Malformed));
                }
                Fate::Final => return Ok(LoopEnd::new(EndReason::FinalAnswer, None)),
                Fate::Pause if pauses == MAX_PAUSES => {
                    self.note("the provider pauses again and again");
                    return Ok(LoopEnd::new(EndReason::MaxRounds, Outcome::Limit));
                }
                Fate::Pause => pauses += 1,
                Fate::Calls if is_last => {
                    let max = self.options.max_rounds;
                    self.note(&format!("after --max-rounds {max}, the model still calls tools"));
                    return Ok(LoopEnd::new(EndReason::MaxRounds, Outcome::Limit));
                }
                Fate::Calls => (tool_rounds, pauses) = (tool_rounds + 1, 0),
            }
            if let Some(reason) = self.runner.over() {
                self.note(match reason {
                    EndReason::Repeats => {
                        "the model makes one call with one result again and again"
                    }
                    _ => "the model wants more tools to be run than --max-calls",
                });
                return Ok(LoopEnd::new(reason, Outcome::Limit));
            }
        }
    }

    /// Runs the calls of a message, and returns their results in the order of the calls.
    fn results(&mut self, message: &LastMessage) -> Result<Vec<CallResult>, Stop> {
        let Rounds { runner, children, out, options, .. } = self;
        for call in &message.calls {
            if !runner.knows(call) {
                runner.admit(call, options.deadline, *out)?;
            }
        }
        runner.run(children, options.deadline, *out)?;
        out.flush().map_err(Stop::Lost)?;
        Ok(message.calls.iter().map(|call| runner.take(call)).collect())
    }

    /// Asks the model, again if it has to. Returns a message that is whole, or how the run ends.
    fn ask(&mut self, is_last: bool) -> Result<Result<LastMessage, LoopEnd>, Stop> {
        let mut body = self.body.clone();
        if let Some(row) = self.row {
            request::declare(&mut body, row, &self.options.declarations);
            if is_last {
                request::forbid_calls(&mut body, row);
            }
        }
        self.runner.begin(self.round);
        let mut tries = 0;
        loop {
            let answer = match self.answer(&body, is_last, u64::from(tries) + 1)? {
                Ok(answer) => answer,
                // It can't even be started.
                Err(Failed(why)) => {
                    self.note(&why);
                    return Ok(Err(LoopEnd::new(EndReason::CommandFailed, Outcome::Tool)));
                }
            };
            let CommandAnswer { message, end, failed, wait } = answer;
            // Where nothing in the answer says that it is whole, COMMAND does.
            let is_whole = matches!(message.ending, Some(MessageEnding::Finished(_)))
                && !(message.has_inferred_end && failed.is_some());
            let is_final = match message.ending {
                Some(MessageEnding::Finished(_)) if message.is_empty => false,
                Some(MessageEnding::Finished(reason)) => is_whole && reason != FinishReason::Error,
                Some(MessageEnding::Failed(_, retryable)) => retryable == Some(false),
                None => false,
            };
            let is_broken = match message.ending {
                Some(
                    MessageEnding::Failed(Code::Truncated, _)
                    | MessageEnding::Failed(_, Some(true)),
                ) => true,
                Some(MessageEnding::Finished(_)) if message.is_empty => true,
                _ => failed.is_some(),
            };
            if is_final || !is_broken || self.runner.has_begun() || tries == self.options.retries {
                end.release(None, self.out).map_err(Stop::Lost)?;
                self.out.flush().map_err(Stop::Lost)?;
                if let Some(Failed(why)) = &failed {
                    if is_whole {
                        self.note(&format!("{why}, after a whole answer, which counts"));
                    } else {
                        self.note(why);
                        if !matches!(message.ending, Some(MessageEnding::Failed(Code::Provider, _)))
                        {
                            return Ok(Err(LoopEnd::new(EndReason::CommandFailed, Outcome::Tool)));
                        }
                    }
                }
                return Ok(Ok(message));
            }
            let seconds = wait.unwrap_or(1 << tries.min(6));
            if seconds > MAX_WAIT {
                self.note(&format!(
                    "the provider wants to be left alone for {seconds} s, and no one waits for \
                     more than {MAX_WAIT} s: run it again then"
                ));
                end.release(None, self.out).map_err(Stop::Lost)?;
                return Ok(Ok(message));
            }
            tries += 1;
            let broke = if message.is_empty { "the answer is empty" } else { "the answer broke" };
            let why = failed.map_or(broke.into(), |Failed(why)| why);
            end.release(Some(&why), self.out).map_err(Stop::Lost)?;
            self.out.flush().map_err(Stop::Lost)?;
            self.note(&format!(
                "{why}; again in {seconds} s ({tries} of {})",
                self.options.retries
            ));
            self.pause(Duration::from_secs(seconds))?;
        }
    }

    /// Waits.
    fn pause(&mut self, time: Duration) -> Result<(), Stop> {
        let until = Instant::now().checked_add(time);
        let deadline = self.options.deadline;
        let is_over = deadline.is_some_and(|deadline| until.is_none_or(|until| deadline < until));
        let time = if is_over { deadline } else { until };
        match self.children.next(time).map_err(Stop::Failed)? {
            Happened::Signal(signal) => Err(Stop::Signal(signal)),
            _ if is_over => Err(Stop::Deadline),
            _ => Ok(()),
        }
    }

    /// Runs COMMAND once, and reads what it prints; or returns why COMMAND can't be started.
    fn answer(
        &mut self,
        body: &RequestBody,
        is_last: bool,
        attempt: u64,
    ) -> Result<Result<CommandAnswer, Failed>, Stop> {
        let Rounds { options, runner, children, out, round, usage, .. } = self;
        let (deadline, is_eager) = (options.deadline, options.eager && !is_last);
        let unkept = |folder: &Path| Stop::failed(format!("--log {}", folder.display()));
        let mut log = match &options.log {
            Some(folder) => Some((keep(folder, *round, body).map_err(unkept(folder))?, folder)),
            None => None,
        };
        let Some((program, arguments)) = options.command.split_first() else {
            return Ok(Err(Failed("there is no COMMAND".into())));
        };
        let mut command = Command::new(program);
        command.args(arguments).env("TOOLSTREAM_ROUND", round.to_string());
        let input = body.as_str().as_bytes().to_vec();
        if let Err(error) = children.start_command(COMMAND, &mut command, input) {
            let mut why = format!("{}: {error}", program.display());
            if error.kind() == io::ErrorKind::NotFound {
                why.push_str(FUNCTION_HINT);
            }
            return Ok(Err(Failed(why)));
        }
        let mut reader =
            AnswerReader::new(&options.config, body.as_str(), (*round, attempt), usage);
        let status = loop {
            match children.next(deadline).map_err(Stop::Failed)? {
                Happened::Wrote { child: COMMAND, bytes, .. } if !reader.is_stopped() => {
                    if let Some((log, folder)) = &mut log {
                        log.write_all(bytes).map_err(unkept(folder))?;
                    }
                    reader.feed(bytes, *out).map_err(Stop::Lost)?;
                }
                Happened::Wrote { child: COMMAND, .. } => {}
                Happened::Wrote { child, pipe, bytes } => runner.wrote(child, pipe, bytes),
                Happened::Ended { child: COMMAND, exit } => break exit.status,
                Happened::Ended { child, exit } => {
                    runner.ended(child, exit, *out)?;
                    out.flush().map_err(Stop::Lost)?;
                }
                Happened::Signal(signal) => {
                    reader.interrupt(*out).map_err(Stop::Lost)?;
                    return Err(Stop::Signal(signal));
                }
                Happened::Time => {
                    reader.expire(*out).map_err(Stop::Lost)?;
                    return Err(Stop::Deadline);
                }
            }
            for call in reader.gathered.fresh.drain(..) {
                if is_eager && runner.is_eager(&call) {
                    runner.admit(&call, deadline, *out)?;
                }
            }
            runner.withdraw(&std::mem::take(&mut reader.gathered.withdrawn), children);
            runner.fill(children, *out)?;
        };
        let failed = failure(&program.display().to_string(), status);
        reader.finish(failed.is_some(), *out).map_err(Stop::Lost)?;
        out.flush().map_err(Stop::Lost)?;
        runner.withdraw(&reader.gathered.withdrawn, children);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wait = reader.retry_after(now);
        let (end, message) = (reader.take_held(), std::mem::take(&mut reader.gathered.message));
        Ok(Ok(CommandAnswer { message, end, failed, wait }))
    }

    /// Returns how a run ends whose message can't be appended.
    fn refused(&self, message: &LastMessage, refused: Refused) -> LoopEnd {
        if !refused.why.is_empty() {
            self.note(&refused.why);
        }
        let reason = match message.ending {
            Some(MessageEnding::Finished(FinishReason::Refusal)) => EndReason::Refusal,
            Some(MessageEnding::Finished(FinishReason::ContentFilter)) => EndReason::ContentFilter,
            _ if is_length(message) => EndReason::Length,
            _ => EndReason::Error,
        };
        let outcome =
            if reason == EndReason::Length { Outcome::Malformed } else { refused.outcome };
        LoopEnd::new(reason, outcome)
    }

    /// Writes the request so far.
    fn save(&mut self) -> Result<(), Stop> {
        let Some(path) = self.options.save else { return Ok(()) };
        let text = self.body.as_str();
        let written = match &mut self.original {
            Some(original) => original.write(text),
            None => write_whole(path, text),
        };
        written.map_err(|error| match Stalled::of(&error) {
            Some(Stalled::Signal(signal)) => Stop::Signal(signal),
            _ => Stop::failed(path.display())(error),
        })
    }

    /// Writes a note on this round to standard error.
    fn note(&self, what: &str) {
        report(&mut io::stderr(), &format!("round {}: {what}", self.round));
    }
}

fn is_length(message: &LastMessage) -> bool {
    message.ending == Some(MessageEnding::Finished(FinishReason::Length))
}

/// Returns how a program failed, if it did.
fn failure(program: &str, status: ExitStatus) -> Option<Failed> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(Failed(format!("{program} failed with exit status {code}"))),
        (None, signal) => {
            Some(Failed(format!("{program} was ended by signal {}", signal.unwrap_or_default())))
        }
    }
}

/// Keeps the request of a round, and returns the file that its answer is kept in.
fn keep(folder: &Path, round: u64, body: &RequestBody) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let create = |name: String| {
        private_file().write(true).create(true).truncate(true).open(folder.join(name))
    };
    create(format!("{round}.request.json"))?.write_all(body.as_str().as_bytes())?;
    create(format!("{round}.answer"))
}
