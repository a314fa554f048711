//! The options of assembly.

/// The options of an [`Assembler`](crate::assemble::Assembler).
#[derive(Clone, Debug)]
pub struct AssemblerConfig {
    /// Also emit the beginning of each call and the pieces of its arguments.
    pub deltas: bool,
    /// The one choice to follow, if not all.
    pub choice: Option<u64>,
    /// Also pass on events that have no meaning here.
    pub raw: bool,
    /// End a message that has a warning with an error.
    pub strict: bool,
    /// Give a call inside text that can't be read back as text.
    pub malformed_as_text: bool,
    /// The largest arguments of one call, in bytes; 0 is no limit.
    pub max_args: usize,
    /// The most calls in one message; 0 is no limit.
    pub max_calls: usize,
    /// The deepest nesting of arguments; 0 is no limit.
    pub max_depth: usize,
}

impl Default for AssemblerConfig {
    fn default() -> Self {
        AssemblerConfig {
            deltas: false,
            choice: None,
            raw: false,
            strict: false,
            malformed_as_text: false,
            max_args: 64 << 20,
            max_calls: 1024,
            max_depth: crate::json::MAX_DEPTH,
        }
    }
}
