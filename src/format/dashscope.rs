//! Alibaba's DashScope in its own format: the records of a stream, and
//! complete bodies.
//!
//! Source: Alibaba Cloud Model Studio, "DashScope API reference". A record of a
//! stream is shaped like a body. Unless `incremental_output` was asked for,
//! each holds all of the answer so far; nothing but the text shows which. While it
//! runs, the reason to stop is the string `null`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::event::{Arguments, ByChoice, CallPart, Key, WarningCode};
use crate::format::support::emit::Slot;
use crate::format::support::function::Function;
use crate::format::support::growth::Growth;
use crate::format::support::many::{Many, each};
use crate::format::support::prelude::*;

pub(super) static FORMAT: Format = Format {
    aliases: &["qwen", "model-studio"],
    about: "Alibaba DashScope's own format, stream and body",
    link: "https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope",
    evidence: &["output.choices", "output.text", "request_id"],
    sniff: |record| {
        let is_answer = record.at("output.choices|output.text").is_some();
        is_answer && record.has("request_id")
    },
    ..Format::new("dashscope", |_| {
        Box::new(DashScope {
            message: Lifecycle::new(&FORMAT, USAGE),
            progress: Progress::default(),
        })
    })
};

const USAGE: &[Row] = &[
    ("input_tokens", Op::Is, &[Field::Input]),
    ("output_tokens", Op::Is, &[Field::Output]),
    ("total_tokens", Op::Is, &[Field::Total]),
    ("prompt_tokens_details.cached_tokens", Op::Is, &[Field::Cached]),
    ("output_tokens_details.reasoning_tokens", Op::Is, &[Field::Reasoning]),
];

payload! {
    /// A record of a stream, or a body.
    struct Reply<'a> {
        request_id: Option<Str<'a>>,
        output: Option<Output<'a>>,
        usage: Option<&'a RawValue>,
    }

    struct Output<'a> {
        choices: Option<Vec<Choice<'a>>>,
        /// `result_format` `text`, as is the next one.
        text: Option<Str<'a>>,
        finish_reason: Option<Str<'a>>,
        search_info: Option<&'a RawValue>,
    }

    struct Choice<'a> {
        index: Option<u64>,
        message: Option<Message<'a>>,
        finish_reason: Option<Str<'a>>,
    }

    struct Message<'a> {
        /// A string; models of images and sound write an array of [`Part`]s.
        content: Option<&'a RawValue>,
        reasoning_content: Option<Str<'a>>,
        tool_calls: Option<Many<ToolCall<'a>>>,
    }
}

impl Message<'_> {
    /// True if it holds more than thoughts.
    fn has_answer(&self) -> bool {
        let has_content =
            self.content.is_some_and(|content| !matches!(content.get(), "\"\"" | "[]"));
        has_content || self.tool_calls.iter().flatten().next().is_some()
    }
}

payload! {
    struct Part<'a> {
        text: Option<Str<'a>>,
    }

    struct ToolCall<'a> {
        index: Option<u64>,
        id: Option<Str<'a>>,
        function: Option<Function<'a>>,
    }
}

struct DashScope {
    message: Lifecycle,
    progress: Progress,
}

/// The most texts of one message: those of its choices, and the arguments of their calls.
const MAX_TEXTS: usize = 1 << 14;

/// The state of one message.
#[derive(Default)]
struct Progress {
    /// For each choice, whether it has finished.
    finished: ByChoice<bool>,
    /// The texts of each choice, each of which may be repeated.
    texts: BTreeMap<(u64, Slot), Growth>,
    /// True if one of them comes whole with each record.
    has_whole: bool,
    /// True if the warning that texts are repeated has been emitted.
    has_warned: bool,
    /// The results of the web search, as they came last.
    search_info: String,
}

impl Progress {
    /// True if this is all of a text so far, once more.
    fn is_all(&self, slot: (u64, Slot), text: &Str) -> bool {
        self.texts.get(&slot).is_some_and(|growth| growth.is_all(text.as_str()))
    }

    /// Returns what a record adds to a text.
    fn new_part<'t>(&mut self, slot: (u64, Slot), text: &'t Str) -> Cow<'t, Str<'t>> {
        let growth = self.texts.entry(slot).or_default();
        let new = growth.new_part(text);
        self.has_whole |= growth.is_whole();
        new
    }
}

impl Decoder for DashScope {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        if frame.event_type == "error" {
            self.message.fail(&frame.text(), out)?;
            return self.end(out);
        }
        read!(&frame, out, |reply: Reply| {
            match &reply.output {
                Some(output) => self.output(reply, output, out),
                None if self.message.stray(&frame, frame.event_type, out)? => self.end(out),
                None => Ok(()),
            }
        })
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        self.message.finish(out)
    }
}

impl DashScope {
    fn output(&mut self, reply: &Reply, output: &Output, out: &mut EventOut) -> Done {
        self.message.begin(reply.request_id.non_empty(), None, out)?;
        if let Some(text) = &output.text {
            let is_last = out.finish_if(0, output.finish_reason.as_ref())?;
            self.progress.finished.insert(0, is_last);
            self.text(0, text, is_last, out)?;
        }
        for choice in output.choices.iter().flatten() {
            self.choice(choice, out)?;
        }
        match output.search_info {
            Some(info) if info.get() != self.progress.search_info => {
                self.progress.search_info = info.get().to_owned();
                out.block(0, "search_info", info.get())?;
            }
            _ => {}
        }
        reply.usage.iter().for_each(|usage| self.message.meter.feed(usage.get()));
        let is_over = !self.progress.finished.is_empty()
            && self.progress.finished.values().all(|&finished| finished);
        if is_over { self.end(out) } else { Ok(()) }
    }

    fn choice(&mut self, choice: &Choice, out: &mut EventOut) -> Done {
        let number = choice.index.unwrap_or(0);
        let is_last = out.finish_if(number, choice.finish_reason.as_ref())?;
        self.progress.finished.insert(number, is_last);
        out.check_choices(self.progress.finished.len())?;
        let Some(message) = &choice.message else { return Ok(()) };
        if let Some(thought) = &message.reasoning_content {
            let slot = (number, Slot::THOUGHT);
            // A thought that was whole at once stands beside all that comes after it.
            if !(message.has_answer() && self.progress.is_all(slot, thought)) {
                let new = self.progress.new_part(slot, thought);
                out.reasoning(number, &new)?;
            }
        }
        match message.content.map(RawValue::get) {
            Some(json) if json.starts_with('"') => {
                let text: Str<'_> = json::read(json).unwrap_or_default();
                self.text(number, &text, is_last, out)?;
            }
            _ => {
                let parts = message.content.into_iter().flat_map(|json| each(json.get()));
                for part in parts.filter_map(|json| json::read::<Part<'_>>(json).ok()) {
                    part.text.iter().try_for_each(|text| self.text(number, text, is_last, out))?;
                }
            }
        }
        for (call, place) in message.tool_calls.iter().flatten().zip(0..) {
            self.tool_call(number, call, place, out)?;
        }
        self.warn_once(out)
    }

    /// A record's text. The last record of a short answer may only repeat it.
    fn text(&mut self, choice: u64, text: &Str, is_last: bool, out: &mut EventOut) -> Done {
        let slot = (choice, Slot::ANSWER);
        if is_last && self.progress.is_all(slot, text) {
            return Ok(());
        }
        out.text(choice, &self.progress.new_part(slot, text))?;
        self.warn_once(out)
    }

    fn tool_call(&mut self, choice: u64, call: &ToolCall, place: u64, out: &mut EventOut) -> Done {
        let number = call.index.unwrap_or(place);
        let id = call.id.non_empty();
        let name = call.function.as_ref().and_then(|function| function.name.as_ref());
        let name = name.and_then(Str::non_empty);
        let part = CallPart { key: Key::Index(number), id, name, ..CallPart::default() };
        let arguments = call.function.as_ref().and_then(|function| function.arguments);
        let text = match arguments.map(RawValue::get) {
            None => return out.call(choice, part),
            Some(json) => match json::read::<Str<'_>>(json) {
                Ok(text) => text,
                Err(_) => {
                    let arguments = Arguments::Value(json);
                    return out.call(choice, CallPart { arguments, ..part });
                }
            },
        };
        out.check_limit(self.progress.texts.len(), MAX_TEXTS, "texts in one message")?;
        let slot = (choice, Slot::Call(Key::Index(number)));
        // No arguments go on with all of themselves: they are repeated.
        if self.progress.is_all(slot, &text) {
            return Ok(());
        }
        out.call_fragment(choice, part, &self.progress.new_part(slot, &text))
    }

    /// Warns, once, that texts are taken to be repeated.
    fn warn_once(&mut self, out: &mut EventOut) -> Done {
        if self.progress.has_warned || !self.progress.has_whole {
            return Ok(());
        }
        self.progress.has_warned = true;
        out.warn(
            WarningCode::RepeatedText,
            "each record repeats the text so far: what is new was taken",
        )
    }

    fn end(&mut self, out: &mut EventOut) -> Done {
        for (choice, _) in self.progress.finished.iter().filter(|(_, finished)| **finished) {
            out.call_end(choice, Key::None)?;
        }
        self.progress = Progress::default();
        self.message.end(out)
    }
}
