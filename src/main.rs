//! Arguments → command → exit status: all of it is [`toolstream::main`].

use std::process::ExitCode;

fn main() -> ExitCode {
    toolstream::main()
}
