//! `--redact`: secrets in captures are replaced before anything is written.

use std::io::Write;

use crate::capture::{Redactor, Replaced, count_secrets};
use crate::io::report_on;
use crate::sink::grouped;

/// Replaces the secrets of a capture, and reports what was replaced. Returns true if the capture
/// has changed.
pub(super) fn redact(
    redactor: &mut Redactor,
    name: &str,
    capture: &mut [u8],
    stderr: &mut dyn Write,
) -> bool {
    let replaced = redactor.redact(capture);
    for Replaced { what, count, offset } in &replaced {
        let times = if *count == 1 { "once".into() } else { format!("{} times", grouped(*count)) };
        report_on(stderr, name, &format!("replaced {what}, {times}"), Some(*offset));
    }
    !replaced.is_empty()
}

/// Reports that a secret is found only where the records of a capture are joined, as these events.
pub(super) fn report_spread(name: &str, events: &str, stderr: &mut dyn Write) {
    if count_secrets(events) > 0 {
        let message = "a secret is spread over several records, and was not replaced: \
                       `toolstream parse --join` shows it";
        report_on(stderr, name, message, None);
    }
}
