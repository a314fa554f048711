//! `--redact`: secrets in captures are replaced before anything is written.

use std::io::{self, Write};

use crate::capture::{Redactor, Replaced};
use crate::cassette::{is_packed, packed, unpacked};
use crate::commands::check::CaptureParts;
use crate::io::report_on;
use crate::pipeline::Config;
use crate::sink::grouped;

/// Puts words in place of the secrets of a capture, also of one that is compressed with gzip, and
/// reports what was replaced, at the offsets in what it holds. Returns true if anything was.
pub(super) fn redact(
    redactor: &mut Redactor,
    name: &str,
    capture: &mut Vec<u8>,
    stderr: &mut dyn Write,
) -> io::Result<bool> {
    let mut inner = match is_packed(capture) {
        true => Some(unpacked(capture).map_err(|error| {
            let message = format!("is compressed, and its secrets could not be replaced: {error}");
            io::Error::other(message)
        })?),
        false => None,
    };
    let (content, config) = (inner.as_mut().unwrap_or(capture), Config::default());
    let said = CaptureParts::of(content, &config).joined(&config);
    let replaced = redactor.redact(content, &said);
    for Replaced { what, count, offset } in &replaced {
        let times = if *count == 1 { "once".into() } else { format!("{} times", grouped(*count)) };
        report_on(stderr, name, &format!("replaced {what}, {times}"), Some(*offset));
    }
    if let Some(inner) = inner.filter(|_| !replaced.is_empty()) {
        *capture = packed(&inner)?;
    }
    Ok(!replaced.is_empty())
}

/// Returns what is to be said of a secret that is left in the events of a capture, if one is.
pub(super) fn left(redactor: &Redactor, events: &str) -> Option<String> {
    let message = "has a secret that was not replaced, since it is spread over several records or \
                   compressed: `toolstream parse --join` shows it; take it out by hand, or record an \
                   answer without it";
    redactor.leaves(events).then(|| message.into())
}
