//! Calls of tools: what they are to be run with, and what they gave.

use crate::event::{
    Arguments, CallEnd, CallPart, Executor, Kind, Output, Reason, ToolResult, WarningCode,
};
use crate::format::ai_sdk_ui::AiSdkUi;
use crate::format::ai_sdk_ui::payload::Part;
use crate::format::support::prelude::*;

impl AiSdkUi {
    /// The input of a call.
    pub(super) fn input(
        &mut self,
        frame: &Frame,
        kind: &str,
        part: &Part,
        out: &mut EventOut,
    ) -> Done {
        let id = part.tool_call_id.or_empty();
        let signature = part.signature();
        let is_run = part.provider_executed == Some(true);
        let call = CallPart {
            id: Some(id),
            name: part.tool_name.non_empty(),
            executor: Some(Executor::Provider).filter(|_| is_run),
            is_undecided: kind != "tool-input-delta" && !is_run,
            signature: signature.as_deref(),
            ..CallPart::default()
        };
        match kind {
            "tool-input-start" => {
                if part.is_text() {
                    self.free.insert(id.to_owned());
                }
                self.calls.part(call, out).map(drop)
            }
            "tool-input-delta" => {
                let none = Str::default();
                let piece = part.input_text_delta.as_ref().unwrap_or(&none);
                if self.free.contains(id) { Ok(()) } else { self.calls.fragment(call, piece, out) }
            }
            "tool-input-available" => {
                let input = part.input();
                let free: Option<Str<'_>> =
                    input.and_then(|json| json::read(json).ok()).filter(|_| self.free.contains(id));
                let arguments = match &free {
                    Some(text) => Arguments::Free(text.as_str()),
                    None => input.map_or(Arguments::None, Arguments::Done),
                };
                let key = self.calls.part(CallPart { arguments, ..call }, out)?;
                match is_run {
                    true => self.calls.end_key(key, out),
                    false => self.calls.hold(key, out),
                }
            }
            "tool-input-error" => self.input_error(call, part, out),
            kind => out.unknown(frame, kind),
        }
    }

    /// The SDK could not parse the input, or it doesn't fit the tool.
    fn input_error(&mut self, call: CallPart, part: &Part, out: &mut EventOut) -> Done {
        let message = part.error_text.text().unwrap_or("the input of a tool is wrong");
        out.warn(WarningCode::ToolInputError, message)?;
        let id = call.id.unwrap_or_default();
        self.calls.part(call, out)?;
        let input = part.input().unwrap_or("{}");
        let text: Option<Str<'_>> = json::read(input).ok();
        let fault = match &text {
            Some(text) => (Reason::Malformed, text.as_str()),
            None => (Reason::Schema, input),
        };
        let Some(key) = self.calls.close(id) else { return Ok(()) };
        out.emit(0, Kind::CallEnd(CallEnd { key, fault: Some(fault) }))
    }

    /// The output of a call. A preliminary output is repeated by the final one.
    pub(super) fn output(
        &mut self,
        frame: &Frame,
        kind: &str,
        part: &Part,
        out: &mut EventOut,
    ) -> Done {
        let id = part.tool_call_id.or_empty();
        let (output, is_error) = match kind {
            "tool-output-available" if part.preliminary == Some(true) => return Ok(()),
            "tool-output-available" => {
                (Output::Json(part.output.map_or("null", |json| json.get())), None)
            }
            "tool-output-error" => (Output::Text(part.error_text.or_empty()), Some(true)),
            "tool-output-denied" => (Output::Text("denied"), Some(true)),
            kind => return out.unknown(frame, kind),
        };
        self.calls.result(ToolResult { id, output, is_error, ..ToolResult::default() }, out)
    }
}
