//! The laws that captures are held to, and the smallest input that shows how one breaks.

use std::io::Write;
use std::path::Path;

use crate::capture::{LAWS, Law, ReadWith};
use crate::commands::check::select::BROKEN;
use crate::commands::mistakes::quoted;
use crate::io::{report_on, write_whole};
use crate::json::{self, object_of};
use crate::pipeline::Config;
use crate::sink::grouped;

/// A law that a capture breaks.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) law: &'static str,
    /// The law, and the event that breaks it, of the smallest input that shows it.
    message: String,
    /// The file of that input, its size in bytes, and the command that repeats it.
    file: String,
    size: usize,
    command: String,
    /// The capture.
    name: String,
}

impl Violation {
    /// Writes the smallest input that shows it beside the capture.
    fn new(
        law: &'static str,
        message: String,
        small: &[u8],
        (name, args): (&str, &[String]),
        stderr: &mut dyn Write,
    ) -> Violation {
        let file = format!("{name}.{law}{BROKEN}");
        if let Err(error) = write_whole(Path::new(&file), small) {
            report_on(stderr, &file, &error.to_string(), None);
        }
        let words = args.iter().chain([&file]).map(|word| quoted(word));
        let command = format!("toolstream check --laws {}", words.collect::<Vec<_>>().join(" "));
        Violation { law, message, file, size: small.len(), command, name: name.into() }
    }

    pub(super) fn page(&self) -> String {
        let Violation { law, message, size, command, name, .. } = self;
        let mut page = String::new();
        json::make_safe(&format!("{name}: it breaks the law `{law}`: {message}"), &mut page);
        page.push_str("\n    ");
        json::make_safe(&format!("in {} bytes: {command}", grouped(*size as u64)), &mut page);
        page.push('\n');
        page
    }

    pub(super) fn json(&self) -> String {
        object_of!(
            line;
            "law": self.law,
            "message": &*self.message,
            "file": &*self.file,
            "bytes": self.size as u64,
            "command": &*self.command,
        )
    }
}

/// Returns the laws that a capture breaks, each shown by a file beside it.
pub(super) fn violations(
    read: &ReadWith<'_>,
    config: &Config,
    (name, args): (&str, &[String]),
    capture: &[u8],
    stderr: &mut dyn Write,
) -> Vec<Violation> {
    let violation = |law: &'static Law| {
        let how = law.broken(config, capture, read)?;
        let small = law.smallest(config, capture, read);
        let how = law.broken(config, &small, read).unwrap_or(how);
        let message = format!("not so: {}: {how}", law.about);
        Some(Violation::new(law.name, message, &small, (name, args), stderr))
    };
    LAWS.iter().filter_map(violation).collect()
}
