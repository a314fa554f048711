//! The fixture cases, and ways to run one.
//!
//! `fixtures/LAYER/FORMAT/CASE.in` is what is read, exactly; `CASE.out` beside
//! it what `toolstream parse < CASE.in` prints. Where there are many, they are in
//! folders by what they show. `CASE.args`, if it is there,
//! holds further arguments, one a line; files that they name are beside it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use clap::Parser;
use toolstream::Config;
use toolstream::internals::{Cli, Command};

pub(crate) use crate::run::{Print, run};

/// One `case.in` and what belongs to it.
pub(crate) struct Case {
    /// `fixtures/LAYER/FORMAT/CASE`: the name of its test.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) input: Vec<u8>,
    pub(crate) args: Vec<String>,
    /// True if its input is another one, made of that of the fixture.
    pub(crate) is_made: bool,
    /// What its arguments say.
    read: OnceLock<(Config, Print)>,
}

impl Case {
    /// Every case there is.
    pub(crate) fn all() -> Vec<Case> {
        let mut paths = files(&root().join("fixtures"));
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "in"));
        assert!(!paths.is_empty(), "there are no fixtures");
        paths.into_iter().map(Case::read).collect()
    }

    pub(crate) fn read(path: PathBuf) -> Case {
        let name = path.strip_prefix(root()).unwrap().with_extension("").display().to_string();
        let args = fs::read_to_string(path.with_extension("args")).unwrap_or_default();
        let args = args.lines().map(str::to_owned).collect();
        let input = fs::read(&path).unwrap();
        Case { name, path, input, args, is_made: false, read: OnceLock::new() }
    }

    /// Returns the case with another input and other arguments.
    pub(crate) fn again(&self, input: Vec<u8>, args: Vec<String>) -> Case {
        let (name, path) = (self.name.clone(), self.path.clone());
        Case { name, path, input, args, is_made: true, read: OnceLock::new() }
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap()
    }

    /// What the layers are told, and what is printed.
    pub(crate) fn config(&self) -> (Config, Print) {
        self.read.get_or_init(|| config(self.args.iter().map(|arg| self.beside(arg)))).clone()
    }

    /// Returns an argument; if it names a file of its folder, the path of that.
    pub(crate) fn beside(&self, arg: &str) -> String {
        let path = self.folder().join(arg);
        if path.is_file() { path.display().to_string() } else { arg.to_owned() }
    }

    /// As [`Case::config`], but everything that can be printed is.
    pub(crate) fn full_config(&self) -> Config {
        let (mut config, _) = self.config();
        config.assembly.deltas = true;
        config.assembly.raw = true;
        config.turn = true;
        config
    }
}

/// Returns the folder of the package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file in a folder and in those below it, in order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

/// What `toolstream parse` would tell the layers for these arguments, and what it
/// would print.
pub(crate) fn config(args: impl IntoIterator<Item = String>) -> (Config, Print) {
    let args: Vec<String> =
        ["toolstream", "parse"].map(str::to_owned).into_iter().chain(args).collect();
    let Cli { command: Command::Parse(parse) } = Cli::try_parse_from(&args).unwrap() else {
        panic!("{args:?} is no `parse`");
    };
    let (reading, printing) = (parse.0.reading, parse.0.printing);
    assert!(
        reading.files.is_empty() && !printing.timing,
        "{args:?}: a case is read from standard input, untimed"
    );
    let mut config = reading.config().unwrap();
    printing.add_to(&mut config);
    let print = match (printing.values, printing.join) {
        (false, false) => Print::Events,
        (false, true) => Print::Joined,
        (true, true) => Print::Values,
        (true, false) => panic!("{args:?}: a case of values is joined"),
    };
    (config, print)
}

/// The pages that `UPDATE_FIXTURES` writes as well.
pub(crate) const PAGES: [&str; 3] = ["README.md", "man/reference.md", "man/toolstream.1"];

/// Returns what `UPDATE_FIXTURES` names: the cases and pages that are to be
/// written. A value that would name all of them by accident is refused.
pub(crate) fn updated() -> Option<String> {
    let part = env::var("UPDATE_FIXTURES").ok()?;
    assert!(
        !matches!(part.as_str(), "" | "1" | "true" | "yes" | "all"),
        "UPDATE_FIXTURES is a part of the names of the cases to write, as openai-chat/body; `.` is all of them"
    );
    Some(part)
}

/// True if `UPDATE_FIXTURES` is this part of a name.
pub(crate) fn is_updated(part: &str, name: &str) -> bool {
    part == "." || name.contains(part)
}

/// The type of a line, without reading the rest of it.
pub(crate) fn kind(line: &str) -> &str {
    let rest = line
        .strip_prefix("{\"type\":\"")
        .unwrap_or_else(|| panic!("a line without a type: {line}"));
    rest.split('"').next().unwrap_or_default()
}
