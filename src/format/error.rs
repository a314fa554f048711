//! Bodies that are nothing but an error, of any provider.
//!
//! Source: OpenAI, "Error codes"; [`error`] lists the shapes and who sends them.

use crate::format::support::prelude::*;

/// A body that is nothing but an error.
pub(crate) static FORMAT: Format = Format {
    aliases: &["error-body"],
    about: "an error body of any provider",
    link: "https://platform.openai.com/docs/guides/error-codes",
    evidence: &["error", "errors", "detail", "message", "Message", "title"],
    sniff: error::is_error,
    ..Format::new("error", |_| Box::new(ErrorBody { started: false }))
};

impl Format {
    /// True if its bodies are nothing but errors, which come in any stream.
    pub(crate) fn is_of_errors(&self) -> bool {
        *self == FORMAT
    }
}

struct ErrorBody {
    started: bool,
}

impl Decoder for ErrorBody {
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
        if frame.is_done() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.started, true) {
            out.start(FORMAT.name, None, None)?;
        }
        let text = frame.text();
        if frame.is_failure() {
            error::report_failure(&frame, out)
        } else if error::is_error(&Record::new(&frame)) {
            error::report(&text, out)
        } else if matches!(frame.event_type, "ping" | "done") {
            Ok(())
        } else {
            out.unknown(&frame, "unknown")
        }
    }

    fn finish(&mut self, out: &mut EventOut) -> Done {
        if self.started { out.end() } else { Ok(()) }
    }
}
