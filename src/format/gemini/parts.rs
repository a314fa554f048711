//! The parts of one candidate, and the calls among them.

use crate::format::gemini::arguments::ArgumentTree;
use crate::format::gemini::call::FunctionCall;
use crate::format::gemini::payload::GeminiPart;
use crate::format::support::prelude::*;

/// The name of the provider's own tool for code, which no part holds.
const CODE_EXECUTION: &str = "code_execution";

/// One candidate's parts so far.
#[derive(Debug, Default)]
pub(super) struct GeminiParts {
    choice: u64,
    /// The number of calls so far, which is the key of the next one.
    count: u64,
    /// The number of other parts so far.
    others: u64,
    /// The call whose arguments come in pieces.
    open: Option<StreamedCall>,
    /// The id of the code that came last: results often have none.
    code: String,
    /// True while a call's end is held until there is a finish reason, or another chunk.
    holds: bool,
    /// The calls whose ends are held.
    held: Vec<Key>,
}

/// A call whose arguments come in pieces.
#[derive(Debug)]
struct StreamedCall {
    key: Key,
    id: Option<String>,
    /// Arguments that came whole, though more were announced.
    whole: Option<String>,
    tree: ArgumentTree,
}

/// The end of a call whose arguments came in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    /// The provider closed it.
    Closed,
    /// By what came next.
    Inferred,
    /// The model was stopped in its middle.
    Cut,
}

impl GeminiParts {
    pub(super) fn new(choice: u64) -> Self {
        GeminiParts { choice, ..GeminiParts::default() }
    }

    /// Holds the ends of the caller's calls from here on, or no longer: a whole body without a
    /// finish reason ends none.
    pub(super) fn hold(&mut self, holds: bool, out: &mut EventOut) -> Done {
        self.holds = holds;
        if holds {
            return Ok(());
        }
        self.held.drain(..).try_for_each(|key| out.call_end(self.choice, key))
    }

    /// Emits a part. Its signature belongs to its call, if it is one, and else
    /// to what the model thought.
    pub(super) fn emit(
        &mut self,
        part: &Sourced<GeminiPart>,
        frame: &Frame,
        out: &mut EventOut,
    ) -> Done {
        let native = Some(Piece::whole(part.json));
        if !part.is_call() {
            self.others += 1;
            out.native(self.choice, Of::Block(self.others), Piece::whole(part.json))?;
        }
        if part.is_unknown() {
            return out.unknown(frame, "part");
        }
        if part.passes_text {
            out.unread(self.choice, part.json, GeminiPart::reads)?;
        }
        match &part.text {
            Some(text) if part.thought == Some(true) => out.reasoning(self.choice, text)?,
            Some(text) => out.text(self.choice, text)?,
            None => {}
        }
        let mut signature = part.signature();
        if let Some(call) = &part.function_call {
            self.function_call(call, signature.take(), native, out)?;
        }
        if let Some(json) = part.executable_code {
            self.code = Object::new(json.get()).kind("id");
            let id = Some(self.code.clone()).filter(|id| !id.is_empty());
            let (id, name) = (id.as_deref(), Some(CODE_EXECUTION));
            let (arguments, signature) = (Arguments::of_value(json.get()), signature.take());
            let call = CallPart { id, name, arguments, signature, native, ..CallPart::default() };
            self.provider_call(call, out)?;
        }
        if let Some(call) = &part.tool_call {
            let (id, name) = (call.id.non_blank(), call.tool_type.non_empty());
            let (arguments, signature) = (arguments(call.args), signature.take());
            let call = CallPart { id, name, arguments, signature, native, ..CallPart::default() };
            self.provider_call(call, out)?;
        }
        self.results(part, out)?;
        for (name, json) in part.media() {
            if let Some(json) = json {
                out.block(self.choice, name, json.get())?;
            }
        }
        signature.map_or(Ok(()), |signature| out.signature(self.choice, signature))
    }

    /// Takes a call, or a fragment of one. Only the first fragment has a name.
    fn function_call(
        &mut self,
        call: &FunctionCall,
        signature: Option<&str>,
        native: Option<Piece>,
        out: &mut EventOut,
    ) -> Done {
        let id = call.id.non_blank();
        let is_of_open = |open: &StreamedCall| id.is_some() && id == open.id.as_deref();
        let is_next =
            call.name.non_empty().is_some() && !self.open.as_ref().is_some_and(is_of_open);
        let has_arguments = call.args.is_some() || !call.partial_args().is_empty();
        let is_stray = self.open.is_none() && (has_arguments || call.loses_arguments());
        if is_next || is_stray {
            self.close(Close::Inferred, out)?;
            self.begin(call, signature, native, out)?;
        } else if let Some(open) =
            self.open.as_ref().filter(|_| signature.is_some() || out.is_native)
        {
            let native = native.map(|piece| Piece::part(piece.json));
            let part = CallPart { key: open.key, signature, native, ..CallPart::default() };
            out.call(self.choice, part)?;
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        // A piece of another call, which is not open.
        if open.id.is_some() && id.is_some() && id != open.id.as_deref() {
            open.tree.refuse(Reason::Conflict);
        }
        if let Some(args) = call.args.map(RawJson::get).filter(|args| *args != "{}") {
            let earlier = open.whole.replace(args.to_owned());
            if earlier.is_some_and(|earlier| earlier != args) {
                open.tree.refuse(Reason::Conflict);
            }
        }
        if call.loses_arguments() {
            open.tree.refuse(Reason::Malformed);
        }
        call.partial_args().iter().for_each(|arg| open.tree.add(arg));
        if call.will_continue() { Ok(()) } else { self.close(Close::Closed, out) }
    }

    /// The candidate has a reason to finish, or `is_good` is false because it
    /// has none: its open call ends.
    pub(super) fn finish(&mut self, is_good: bool, out: &mut EventOut) -> Done {
        self.close(if is_good { Close::Inferred } else { Close::Cut }, out)
    }

    /// A call begins. What is whole ends at once.
    fn begin(
        &mut self,
        call: &FunctionCall,
        signature: Option<&str>,
        native: Option<Piece>,
        out: &mut EventOut,
    ) -> Done {
        let (key, id, name) = (self.key(), call.id.non_blank(), call.name.non_empty());
        let part = CallPart { key, id, name, signature, native, ..CallPart::default() };
        if !call.is_streamed() {
            return self.whole(CallPart { arguments: arguments(call.args), ..part }, out);
        }
        let id = id.map(str::to_owned);
        self.open = Some(StreamedCall { key, id, whole: None, tree: ArgumentTree::default() });
        out.call(self.choice, part)
    }

    fn key(&mut self) -> Key {
        self.count += 1;
        Key::Index(self.count - 1)
    }

    fn whole(&mut self, part: CallPart, out: &mut EventOut) -> Done {
        out.call(self.choice, part)?;
        if self.holds && part.executor.is_none() {
            self.held.push(part.key);
            return Ok(());
        }
        out.call_end(self.choice, part.key)
    }

    fn close(&mut self, how: Close, out: &mut EventOut) -> Done {
        let Some(open) = self.open.take() else { return Ok(()) };
        if how == Close::Inferred {
            let message = "a call was not closed, but ended by what came next";
            out.warn(WarningCode::MissingCallEnd, message)?;
        }
        let key = open.key;
        let (text, fault) = open.result(how);
        // The pieces are of a stream: the next request has what they make.
        let args = if fault.is_some() { "{}" } else { text.as_str() };
        let has_args = out.is_native && (fault.is_some() || args != "{}");
        let json = has_args.then(|| format!("{{\"functionCall\":{{\"args\":{args}}}}}"));
        let native = json.as_deref().map(Piece::whole);
        let part = CallPart { key, native, ..CallPart::default() };
        match fault {
            None => self.whole(CallPart { arguments: Arguments::Value(&text), ..part }, out),
            Some(reason) => {
                if out.is_native {
                    out.call(self.choice, part)?;
                }
                out.call_fault(self.choice, key, reason, &text)
            }
        }
    }

    fn provider_call(&mut self, part: CallPart, out: &mut EventOut) -> Done {
        let (key, executor) = (self.key(), Some(Executor::Provider));
        self.whole(CallPart { key, executor, ..part }, out)
    }

    fn results(&self, part: &GeminiPart, out: &mut EventOut) -> Done {
        let ran = ToolResult { executor: Some(Executor::Provider), ..ToolResult::default() };
        if let Some(json) = part.code_execution_result.map(RawJson::get) {
            let result = Object::new(json);
            let (id, name) = (result.word("id"), Some(CODE_EXECUTION));
            let id = id.as_deref().unwrap_or(&self.code);
            let (output, is_error) = (Output::Json(json), result.get("outcome").map(is_failed));
            self.result(ToolResult { id, name, output, is_error, ..ran }, out)?;
        }
        if let Some(response) = &part.tool_response {
            let id = response.id.non_blank().unwrap_or("");
            let (name, output) = (response.tool_type.non_empty(), output_of(response.response));
            self.result(ToolResult { id, name, output, ..ran }, out)?;
        }
        // What the caller answered to a call.
        if let Some(response) = &part.function_response {
            let (id, name) = (response.id.or_empty(), response.name.non_empty());
            let output = output_of(response.response);
            self.result(ToolResult { id, name, output, ..ToolResult::default() }, out)?;
        }
        Ok(())
    }

    fn result(&self, result: ToolResult, out: &mut EventOut) -> Done {
        out.emit(self.choice, Kind::ToolResult(result))
    }
}

/// True if code failed, by its outcome.
fn is_failed(outcome: &str) -> bool {
    let outcome = json::text(outcome);
    !(outcome.as_str().ends_with("OUTCOME_OK") || outcome.as_str() == "1")
}

impl StreamedCall {
    /// Returns the arguments, and the reason that the call must not be run, if there is one.
    fn result(&self, how: Close) -> (String, Option<Reason>) {
        let is_empty = self.tree.is_empty() && self.whole.is_none();
        let fault = match how {
            Close::Cut => Some(Reason::Truncated),
            Close::Inferred if is_empty => Some(Reason::Truncated),
            Close::Closed | Close::Inferred => self.tree.fault(),
        };
        match &self.whole {
            Some(whole) if self.tree.is_empty() => (whole.clone(), fault),
            Some(_) => (self.tree.text(true), Some(Reason::Conflict)),
            None => (self.tree.text(fault.is_some()), fault),
        }
    }
}

fn arguments(json: Option<RawJson<'_>>) -> Arguments<'_> {
    json.map_or(Arguments::None, |json| Arguments::Value(json.get()))
}
