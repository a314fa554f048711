//! Pipes, signals, and output that can't be written.
