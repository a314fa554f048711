//! `convert`: any provider's stream in, another provider's stream out.

use std::io::{self, Write};

use anyhow::{Context, bail};

use crate::cli::{ChoiceFilter, Convert, Ids};
use crate::commands::exchanges::{Stream, StreamSource, fail, may_be_cassette};
use crate::commands::reader::InputReader;
use crate::commands::{Inputs, conclude, lost, print, shown};
use crate::convert::{self, Converter, OneMessage, Options};
use crate::format::{Carry, Info, Losses, RecordEnvelope, Writing};
use crate::io::{BufferedOutput, die, pump, report, report_on};
use crate::pipeline::Pipeline;
use crate::sink::Capped;
use crate::status::{Outcome, Status, Witness};

pub(super) fn convert(args: &Convert) -> anyhow::Result<u8> {
    let writing = args.to.write.with_context(|| format!("{} cannot be written", args.to.name))?;
    if args.explain {
        return print(&explain(writing));
    }
    if args.whole && !writing.has_body {
        bail!("{} has no body: --whole is for the other formats", args.to.name);
    }
    let options = options(args, writing)?;
    let config = convert::config(&args.reading.config()?, &options);
    if args.reading.files.len() > 1 {
        bail!("one stream comes of one FILE: convert each by itself");
    }
    let inputs = Inputs::new(&args.reading.files)?;
    let name = inputs.names.first().map_or("-", AsRef::as_ref);
    let strict = args.reading.wire.strict;
    let (mut status, mut rest) = (Status::new(strict), Status::new(strict));
    let (mut seen, mut losses) = (0_u64, Losses::default());
    let converter = Converter::new(BufferedOutput::standard(), writing, &options, &mut losses);
    let max = args.reading.wire.max_memory.0;
    let witness = Witness::new(converter, &mut status, shown(name), io::stderr());
    let mut sink = OneMessage::new(Capped::new(witness, max), args.message, &mut seen);
    let mut read = |source: StreamSource<'_>, stderr: &mut dyn Write, status: &mut Status| {
        let progress = source.progress();
        let mut input = match source.stream {
            Stream::Input(input) => input,
            Stream::Broken { code, message, offset } => {
                return fail(&mut sink, code, &message, offset).map(|()| None);
            }
        };
        let mut reader = InputReader::new(Pipeline::new(&config), &mut sink);
        let ended = pump(&mut input, &mut reader, &progress)?;
        Ok(conclude(&ended, &source.name, stderr, status))
    };
    let finds = may_be_cassette(&config);
    let to = (&mut io::stderr() as &mut dyn Write, &mut rest);
    let signal = inputs.each(name, &config.formats(), finds, to, &mut read).map_err(lost)?;
    drop(sink);
    status.add(rest);
    for line in lines(writing, &losses) {
        report(&mut io::stderr(), &line);
    }
    if let Some(signal) = signal {
        die(signal);
    }
    let is_failed = losses.keys().any(|info| writing.loss(*info) == Some(Carry::Error));
    if is_failed || strict && !losses.is_empty() {
        status.note(Outcome::Malformed);
    }
    if let Some(wrong) = wrong_count(args.message, seen) {
        report_on(&mut io::stderr(), shown(name), &wrong, None);
        status.note(Outcome::Malformed);
    }
    Ok(status.code(false))
}

/// Returns how the message is written.
fn options(args: &Convert, writing: &'static Writing) -> anyhow::Result<Options> {
    let to = args.to.name;
    let choice = match args.reading.choice {
        None => Some(0),
        Some(ChoiceFilter::One(choice)) => Some(choice),
        Some(ChoiceFilter::All) if writing.has_choices && !args.whole => None,
        Some(ChoiceFilter::All) => {
            bail!("--to {to} writes one choice here: --choice takes a number")
        }
    };
    let envelope = args.to_framing.as_deref().map(|name| find(to, writing, name)).transpose()?;
    Ok(Options {
        deltas: args.deltas,
        whole: args.whole,
        choice,
        input_tokens: args.input_tokens,
        clean_ids: args.ids == Ids::Clean,
        unique_ids: (args.ids == Ids::Clean).then_some(0),
        free_tools: Vec::new(),
        no_usage: args.no_usage,
        envelope,
    })
}

fn find(
    to: &str,
    writing: &'static Writing,
    name: &str,
) -> anyhow::Result<&'static RecordEnvelope> {
    let found = writing.envelopes.iter().find(|envelope| envelope.framing == name);
    found.with_context(|| {
        let names: Vec<_> = writing.envelopes.iter().map(|envelope| envelope.framing).collect();
        format!("--to-framing {name}: --to {to} has {}", names.join(", "))
    })
}

/// Returns what is wrong with the number of messages of the input, if anything is.
fn wrong_count(wanted: Option<u64>, seen: u64) -> Option<String> {
    match wanted {
        None if seen > 1 => Some(
            "several_messages: the input holds more than the one that was written; --message N \
             chooses"
                .to_owned(),
        ),
        Some(wanted) if seen < wanted => {
            Some(format!("there is no message {wanted}: the input holds {seen}"))
        }
        _ => None,
    }
}

/// Returns a line for each information that the format did not carry as it is.
fn lines(writing: &Writing, losses: &Losses) -> Vec<String> {
    let to = writing.name;
    let line = |(info, count): (&Info, &u64)| {
        let name = info.name();
        match writing.loss(*info).and_then(Carry::how) {
            Some(how) => format!("convert: {to} carries {name} as {how} ({count})"),
            None => format!("convert: {to} cannot carry {name} ({count})"),
        }
    };
    losses.iter().map(line).collect()
}

/// Returns the table of what a format does not carry as it is.
fn explain(writing: &Writing) -> String {
    let mut out = format!("{} does not carry as it is:\n", writing.name);
    for (info, carry) in Info::ALL.iter().filter_map(|info| Some((info, writing.loss(*info)?))) {
        out.push_str(&format!("  {:<36}{}\n", info.name(), carry.how().unwrap_or("lost")));
    }
    out
}
