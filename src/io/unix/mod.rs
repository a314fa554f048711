//! What Unix has: descriptors that are waited for, signals, processes and their groups, the terminal
//! that a program was started from, owners of files.

mod children;
mod file;
mod leash;
mod open_file;
mod signals;
mod standard;
mod terminal;

pub(crate) use children::{Children, Exit, Happened, Pipe};
pub(crate) use file::{hold, private_file, replace, share, write_through};
pub(crate) use open_file::{OpenFile, input_until, is_standard_input, wait_for_input};
pub use signals::Signals;
pub(crate) use signals::{SIGPIPE, Woken, begin, die, wait_for};
pub(crate) use standard::{Standard, columns, wait_beside_output};
pub(crate) use terminal::{Terminal, TerminalAnswer};
