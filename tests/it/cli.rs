//! The command line: every option, every exit status.
