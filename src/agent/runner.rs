//! Runs the calls of a round, several at once, and gathers their results.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::agent::approval::Approval;
use crate::agent::clip::{Clip, Clipped};
use crate::agent::stop::Stop;
use crate::agent::tools::{Tool, Toolbox};
use crate::event::{EndReason, Kind, Ran, ToolCallStart, ToolResult};
use crate::io::{Children, Exit, Happened, Pipe};
use crate::json;
use crate::request::{CallResult, PendingCall};
use crate::sink::Sink;

/// The variables of the environment that tools get, beside those of `--env`. `*` is any ending.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "LANG", "LC_*", "TZ", "TMPDIR", "TERM", "USER"];

/// The most bytes of standard error that are reported of a tool that failed.
const MAX_ERROR: usize = 4 << 10;

/// The result of a tool that printed nothing: an empty one is refused by some providers.
const NOTHING: &str = "(no output)";

/// The most repeats after the model has been told of them.
const LAST_REPEATS: u32 = 2;

/// The options for running tools.
#[derive(Clone, Debug)]
pub(crate) struct RunnerOptions {
    /// The longest time that a tool may run.
    pub(crate) timeout: Option<Duration>,
    /// The most tools that run at once.
    pub(crate) jobs: usize,
    /// The most bytes of a result; 0 is no limit.
    pub(crate) max_output: usize,
    /// The most tools that are run in all; 0 is no limit.
    pub(crate) max_calls: u64,
    /// The number of equal results of a call after which the model is told; 0 is no limit.
    pub(crate) max_repeats: u32,
    /// Variables that tools see beside the usual ones.
    pub(crate) env: Vec<String>,
    /// Give a tool its input as the one argument of its command line.
    pub(crate) passes_argument: bool,
}

/// Runs calls, round by round.
pub(crate) struct Runner<'a> {
    tools: &'a Toolbox,
    running: &'a RunnerOptions,
    approval: Approval<'a>,
    round: u64,
    waiting: VecDeque<PendingCall>,
    open: Vec<RunningTool>,
    results: BTreeMap<u64, CallResult>,
    /// The number of the last child.
    last: u64,
    /// The number of tools that have been run.
    calls: u64,
    /// The number of calls that no one approved.
    denied: u64,
    /// The number of rounds in which each call had the same result.
    repeats: HashMap<u64, u32>,
    /// Those of this round.
    fresh: HashSet<u64>,
    /// The reason why no further round may follow.
    over: Option<EndReason>,
    /// The name of a tool that failed.
    failed: Option<String>,
}

/// A tool that runs.
struct RunningTool {
    number: u64,
    call: PendingCall,
    output: Clip,
    error: Clip,
    /// True if its message took the call back.
    is_withdrawn: bool,
}

impl<'a> Runner<'a> {
    /// Returns a runner of these tools.
    pub(crate) fn new(
        tools: &'a Toolbox,
        running: &'a RunnerOptions,
        approval: Approval<'a>,
    ) -> Self {
        Runner {
            tools,
            running,
            approval,
            round: 1,
            waiting: VecDeque::new(),
            open: Vec::new(),
            results: BTreeMap::new(),
            last: 0,
            calls: 0,
            denied: 0,
            repeats: HashMap::new(),
            fresh: HashSet::new(),
            over: None,
            failed: None,
        }
    }

    /// Begins a round: what is left of the last one is forgotten.
    pub(crate) fn begin(&mut self, round: u64) {
        self.round = round;
        self.waiting.clear();
        self.open.clear();
        self.results.clear();
        self.fresh.clear();
    }

    /// Returns how many tools have been run.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns how many calls no one approved.
    pub(crate) fn denied(&self) -> u64 {
        self.denied
    }

    /// Returns why no further round may follow.
    pub(crate) fn over(&self) -> Option<EndReason> {
        self.over
    }

    /// Returns the name of a tool that failed, if one has.
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// True if a call may begin before its message has ended: no one has to be asked.
    pub(crate) fn is_eager(&self, call: &PendingCall) -> bool {
        self.approval.is_auto(&call.tool())
    }

    /// True if a tool of this round has begun to run.
    pub(crate) fn has_begun(&self) -> bool {
        !self.open.is_empty() || !self.results.is_empty()
    }

    /// True if this call is waiting, runs or has its result.
    pub(crate) fn knows(&self, call: &PendingCall) -> bool {
        let is_it = |other: &PendingCall| other.index == call.index;
        self.waiting.iter().chain(self.open.iter().map(|open| &open.call)).any(is_it)
            || self.results.contains_key(&call.index)
    }

    /// Takes a call: it waits for its turn, or is answered at once if it must not run.
    pub(crate) fn admit(
        &mut self,
        call: &PendingCall,
        deadline: Option<Instant>,
        out: &mut dyn Sink,
    ) -> Result<(), Stop> {
        match self.refusal(call, deadline)? {
            Some(given) => self.answer(call, given, None, out),
            None => {
                self.calls += 1;
                self.waiting.push_back(call.clone());
                Ok(())
            }
        }
    }

    /// Returns the result of a call that must not run.
    fn refusal(
        &mut self,
        call: &PendingCall,
        deadline: Option<Instant>,
    ) -> Result<Option<CallResult>, Stop> {
        if let Some(correction) = call.correction() {
            return Ok(Some(correction));
        }
        let Some(tool) = self.tools.of(call) else {
            let names = self.tools.list();
            let name = json::quote_start(&call.tool());
            return Ok(Some(CallResult::error(format!(
                "There is no tool of the name {name}. The tools are: {names}."
            ))));
        };
        if !call.is_text
            && let Some(places) = tool.misfit(&call.input)
        {
            return Ok(Some(CallResult::error(format!(
                "The call was not run: its arguments do not fit the schema of the tool.\n{places}"
            ))));
        }
        if self.running.max_calls != 0 && self.calls >= self.running.max_calls {
            self.over = Some(EndReason::MaxCalls);
            return Ok(Some(CallResult::error(
                "The call was not run: too many tools have been run.",
            )));
        }
        let why = self.approval.refusal(call, deadline)?;
        self.denied += u64::from(why.is_some());
        Ok(why.map(|why| CallResult::error(format!("The call was not run: {why}."))))
    }

    /// Forgets calls, by their indexes, that their message took back. One that runs is ended: its
    /// result is of no call.
    pub(crate) fn withdraw(&mut self, indexes: &[u64], children: &mut Children<'_>) {
        self.waiting.retain(|call| !indexes.contains(&call.index));
        let open = self.open.iter_mut().filter(|open| indexes.contains(&open.call.index));
        open.for_each(|open| {
            open.is_withdrawn = true;
            children.end(open.number);
        });
    }

    /// Runs what waits, until every call has its result.
    pub(crate) fn run(
        &mut self,
        children: &mut Children<'_>,
        deadline: Option<Instant>,
        out: &mut dyn Sink,
    ) -> Result<(), Stop> {
        self.approval.report();
        loop {
            self.fill(children, out)?;
            if self.open.is_empty() {
                return Ok(());
            }
            out.flush().map_err(Stop::Lost)?;
            match children.next(deadline).map_err(Stop::Failed)? {
                Happened::Wrote { child, pipe, bytes } => self.wrote(child, pipe, bytes),
                Happened::Ended { child, exit } => self.ended(child, exit, out)?,
                Happened::Signal(signal) => return Err(Stop::Signal(signal)),
                Happened::Time => return Err(Stop::Deadline),
            }
        }
    }

    /// Starts as many tools as may run at once.
    pub(crate) fn fill(&mut self, children: &mut Children, out: &mut dyn Sink) -> Result<(), Stop> {
        while self.open.len() < self.running.jobs.max(1) {
            let Some(call) = self.waiting.pop_front() else { return Ok(()) };
            let Some(tool) = self.tools.of(&call) else { continue };
            let mut command = self.command(tool, &call);
            let input = match self.running.passes_argument {
                true => Vec::new(),
                false => call.input.clone().into_bytes(),
            };
            let started = children.start(self.last + 1, &mut command, input, self.running.timeout);
            if started.as_ref().is_err_and(is_scarce) && !self.open.is_empty() {
                // What it needs comes back when another ends.
                self.waiting.push_front(call);
                return Ok(());
            }
            let start = ToolCallStart { index: call.index, id: &call.id, name: &call.name };
            out.feed(&Kind::ToolStart(start).into()).map_err(Stop::Lost)?;
            self.last += 1;
            match started {
                Ok(()) => self.open.push(RunningTool {
                    number: self.last,
                    call,
                    output: Clip::new(self.running.max_output),
                    error: Clip::tail(MAX_ERROR),
                    is_withdrawn: false,
                }),
                Err(error) => {
                    let is_too_long = error.kind() == io::ErrorKind::ArgumentListTooLong;
                    let why = CallResult::error(match is_too_long {
                        true => format!(
                            "The tool was not run: its arguments have {} bytes, more than the \
                             system lets a command line have.",
                            call.input.len()
                        ),
                        false => format!("The tool could not be started: {error}."),
                    });
                    self.failed = Some(call.tool().into_owned());
                    self.answer(&call, why, None, out)?;
                }
            }
        }
        Ok(())
    }

    fn command(&self, tool: &Tool, call: &PendingCall) -> Command {
        let mut command = Command::new(&tool.path);
        command.arg0(&*call.tool()).stderr(Stdio::piped()).env_clear();
        let is_usual = |name: &str| {
            ENVIRONMENT.iter().any(|usual| match usual.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *usual,
            })
        };
        if self.running.passes_argument {
            command.arg(&call.input);
        }
        for (name, value) in env::vars_os() {
            let Some(known) = name.to_str() else { continue };
            if is_usual(known) || self.running.env.iter().any(|other| other == known) {
                command.env(name, value);
            }
        }
        command
            .env("TOOLSTREAM_TOOL", &*call.tool())
            .env("TOOLSTREAM_CALL_ID", call.id.replace('\0', "\u{FFFD}"))
            .env("TOOLSTREAM_ROUND", self.round.to_string());
        command
    }

    /// Takes what a tool wrote.
    pub(crate) fn wrote(&mut self, child: u64, pipe: Pipe, bytes: &[u8]) {
        let open = self.open.iter_mut().find(|open| open.number == child);
        match (open, pipe) {
            (Some(open), Pipe::Output) => open.output.feed(bytes),
            (Some(open), Pipe::Error) => open.error.feed(bytes),
            (None, _) => {}
        }
    }

    /// A tool has ended.
    pub(crate) fn ended(&mut self, child: u64, exit: Exit, out: &mut dyn Sink) -> Result<(), Stop> {
        let Some(at) = self.open.iter().position(|open| open.number == child) else {
            return Ok(());
        };
        let RunningTool { call, output, error, is_withdrawn, .. } = self.open.remove(at);
        let why = match (exit.is_late, exit.status.code()) {
            _ if is_withdrawn => Some("The message took the call back.".to_owned()),
            (true, _) => {
                let timeout = self.running.timeout.unwrap_or_default().as_secs_f64();
                Some(format!("The tool was stopped after {timeout} s."))
            }
            (false, Some(0)) => None,
            (false, Some(code)) => Some(format!("The tool failed with exit status {code}.")),
            (false, None) => {
                let signal = exit.status.signal().unwrap_or_default();
                Some(format!("The tool was ended by signal {signal}."))
            }
        };
        let (given, left_out) = match why {
            Some(why) => {
                self.failed = Some(call.tool().into_owned());
                let output = output.finish();
                let parts = [why, error.finish().text, output.text];
                let parts = parts.iter().map(|part| part.trim_end_matches('\n'));
                let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
                (CallResult::error(parts.join("\n")), output.left_out)
            }
            None => result(output),
        };
        let ran = Ran {
            exit: exit.status.code(),
            ms: u64::try_from(exit.took.as_millis()).unwrap_or(u64::MAX),
            left_out: Some(left_out).filter(|left_out| *left_out > 0),
        };
        self.answer(&call, given, Some(ran), out)
    }

    /// Notes and emits the result of a call.
    fn answer(
        &mut self,
        call: &PendingCall,
        mut given: CallResult,
        ran: Option<Ran>,
        out: &mut dyn Sink,
    ) -> Result<(), Stop> {
        self.count(call, &mut given);
        let result = ToolResult {
            id: &call.id,
            name: Some(call.name.as_str()).filter(|name| !name.is_empty()),
            output: given.output(),
            is_error: given.is_error.then_some(true),
            ran,
            ..ToolResult::default()
        };
        out.feed(&Kind::ToolResult(result).into()).map_err(Stop::Lost)?;
        self.results.insert(call.index, given);
        Ok(())
    }

    /// Counts the rounds in which a call came to this result, and says so if there are many.
    fn count(&mut self, call: &PendingCall, given: &mut CallResult) {
        let max = self.running.max_repeats;
        if max == 0 {
            return;
        }
        let mut hasher = DefaultHasher::new();
        (&call.tool(), &call.input, &given.output).hash(&mut hasher);
        let key = hasher.finish();
        let count = self.repeats.entry(key).or_default();
        if self.fresh.insert(key) {
            *count += 1;
        }
        if *count >= max && !given.is_json {
            given.output.push_str(&format!(
                "\n[This call has had the same result {count} times. Do something else.]"
            ));
        }
        if *count >= max.saturating_add(LAST_REPEATS) {
            self.over = Some(EndReason::Repeats);
        }
    }

    /// Returns the result of a call of this round.
    pub(crate) fn take(&mut self, call: &PendingCall) -> CallResult {
        let result = self.results.remove(&call.index);
        result.unwrap_or_else(|| CallResult::error("The call was not run."))
    }
}

/// True if there are too few descriptors, processes or bytes for now.
fn is_scarce(error: &io::Error) -> bool {
    let scarce = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    scarce.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Returns what a tool's output is, a result as MCP has it or text, and the number of bytes that
/// were left out of it. Of a result that is too long, the text is cut.
fn result(output: Clip) -> (CallResult, u64) {
    let max = output.max();
    let mcp = output.whole().map(str::trim_ascii).and_then(|json| Some((json, blocks(json)?)));
    let (clip, others, is_error) = match mcp {
        None => (output, 0, false),
        Some((json, blocks)) => {
            let is_error = json::member(json, "isError") == Some("true");
            if json.len() <= max {
                let output = json.to_owned();
                return (
                    CallResult { output, is_json: true, is_error, ..CallResult::default() },
                    0,
                );
            }
            let (clip, others) = text(&blocks, max);
            (clip, others, is_error)
        }
    };
    let Clipped { text, left_out } = clip.finish();
    let output = if text.trim().is_empty() { NOTHING.into() } else { text };
    (CallResult { output, is_error, ..CallResult::default() }, left_out + others)
}

/// Returns the blocks of a result as MCP has it.
fn blocks(json: &str) -> Option<Vec<&str>> {
    let content = json::member(json, "content").filter(|_| json.starts_with('{'))?;
    let blocks = json::elements(content)?;
    blocks.iter().all(|block| json::member(block, "type").is_some()).then_some(blocks)
}

/// Returns the text of these blocks, with a note in the place of each block that has none, and
/// the number of bytes of those.
fn text(blocks: &[&str], max: usize) -> (Clip, u64) {
    let (mut clip, mut others) = (Clip::new(max), 0);
    for block in blocks {
        let text = json::member(block, "text").and_then(|text| serde_json::from_str(text).ok());
        let text: String = text.unwrap_or_else(|| {
            others += block.len() as u64;
            let kind = json::member(block, "type").unwrap_or("null");
            format!("[a block of the type {kind} left out, {} bytes]", block.len())
        });
        clip.feed(text.as_bytes());
        clip.feed(b"\n");
    }
    (clip, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str, is_json: bool, is_error: bool) {
        check_max(0, output, expected, is_json, is_error);
    }

    #[track_caller]
    fn check_max(max: usize, output: &str, expected: &str, is_json: bool, is_error: bool) {
        let mut clip = Clip::new(max);
        clip.feed(output.as_bytes());
        let (given, _) = result(clip);
        assert_eq!(
            (given.output.as_str(), given.is_json, given.is_error),
            (expected, is_json, is_error)
        );
    }

    #[test]
    fn results_of_mcp_are_told_from_text() {
        check("18 degrees\n", "18 degrees\n", false, false);
        check(" \n", NOTHING, false, false);
        check("{\"content\": \"text\"}", "{\"content\": \"text\"}", false, false);
        let whole = "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}";
        check(&format!("{whole}\n"), whole, true, false);
        let failed = "{\"isError\":true,\"content\":[]}";
        check(failed, failed, true, true);
        check("{\"content\":[1]}", "{\"content\":[1]}", false, false);
    }

    #[test]
    fn a_long_result_of_mcp_is_cut_to_its_text() {
        let image = r#"{"type":"image","data":"AAAAAAAA"}"#;
        let json = format!(
            r#"{{"content":[{{"type":"text","text":"é: failed"}},{image}],"isError":true}}"#
        );
        let json = json.as_str();
        check_max(json.len(), json, json, true, true);
        let text = "é: failed\n[a block of the type \"image\" left out, 34 bytes]\n";
        check_max(json.len() - 1, json, text, false, true);
        check_max(8, json, "é: \n[… 52 bytes left out …]\nes]\n", false, true);
        // What is cut is no JSON any more.
        check_max(
            8,
            json.trim_start_matches('{'),
            "\"con\n[… 90 bytes left out …]\nrue}",
            false,
            false,
        );
    }
}
