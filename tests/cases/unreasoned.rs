//! Bodies that have lost the reason why they ended.

use crate::case::{Case, kind};
use crate::json::read;
use crate::shape::{Message, joined};

/// The names of finish reasons.
const REASONS: [&str; 7] =
    ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "done", "status"];

/// The formats whose whole bodies have no finish reason.
const WITHOUT: [&str; 3] = ["mistral-conversations", "openai-messages", "workers-ai"];

/// With its finish reasons under other names, a whole body gives no call to run.
pub(crate) fn bodies_give_no_call(case: &Case) -> bool {
    let config = case.full_config();
    let start = joined(&config, [case.input.as_slice()]).0;
    let start = start.lines().find(|line| kind(line) == "start").map(read);
    let is_body = start.is_some_and(|start| {
        start["framing"] == "json" && !WITHOUT.iter().any(|format| start["format"] == *format)
    });
    let Some(mut text) = String::from_utf8(case.input.clone()).ok().filter(|_| is_body) else {
        return false;
    };
    for reason in REASONS {
        text = text.replace(&format!("\"{reason}\""), &format!("\"x_{reason}\""));
    }
    let out = joined(&config, [text.as_bytes()]).0;
    for message in Message::all(&out) {
        let is_to_run = |line: &&str| read(line).get("executor").is_none();
        let call = message.of("tool_call").find(is_to_run);
        assert_eq!(call, None, "a call of a body without a finish reason");
    }
    text.as_bytes() != case.input
}
