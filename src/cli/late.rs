//! Arguments that are declared late.

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments of one command, declared once it is the one that runs, or once all are asked
/// for with [`Command::build`]: to declare those of every command takes a third of a start.
#[derive(Debug)]
pub struct Late<T>(pub T);

/// Declares the arguments, and keeps what is said about the command.
fn declare<T: Args>(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = T::augment_args(command);
    command.about(Resettable::from(about)).long_about(Resettable::from(long_about))
}

impl<T: Args> Args for Late<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(declare::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(declare::<T>)
    }
}

impl<T: FromArgMatches> FromArgMatches for Late<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Late)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Late)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
