//! The options that a command line gives, as who runs it wrote them.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, error};

use crate::cli::Parse;

/// The options of a command line that `parse` has as well, as `--NAME=VALUE`, in the order in which
/// `parse` declares them. It declares none, and stands before the arguments that it sees.
#[derive(Debug, Default)]
pub struct GivenOptions(pub Vec<String>);

impl Args for GivenOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for GivenOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, error::Error> {
        let parse = Parse::augment_args(Command::new("parse"));
        let mut given = Vec::new();
        for option in parse.get_arguments() {
            let (Some(name), id) = (option.get_long(), option.get_id().as_str()) else { continue };
            let is_known = matches!(matches.try_contains_id(id), Ok(true));
            if !is_known || matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            match option.get_action().takes_values() {
                true => given.extend(
                    matches
                        .get_raw(id)
                        .into_iter()
                        .flatten()
                        .map(|value| format!("--{name}={}", value.to_string_lossy())),
                ),
                false => given.push(format!("--{name}")),
            }
        }
        Ok(GivenOptions(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), error::Error> {
        *self = GivenOptions::from_arg_matches(matches)?;
        Ok(())
    }
}
