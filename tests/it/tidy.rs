//! What reviewers would repeat.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use toolstream::dialect::DIALECTS;
use toolstream::format::FORMATS;
use toolstream::frame::FRAMINGS;
use toolstream::internals::Cli;

use crate::case::files;

/// What each layer may use of the crate; those that aren't named see all.
const MAY_USE: &[(&str, &[&str])] = &[
    ("event", &[]),
    ("json", &[]),
    ("scan", &[]),
    ("io", &["event", "json"]),
    ("tools", &["json"]),
    ("frame", &["json"]),
    ("format", &["event", "frame", "json", "repeat"]),
    ("dialect", &["event", "json", "scan", "tools"]),
    ("assemble", &["event", "json", "tools"]),
    ("sink", &["event", "frame", "json"]),
    ("status", &["event", "io", "sink"]),
];

/// The longest line.
const MAX_WIDTH: usize = 120;

/// Lines that can't be broken: tables, and text that is compared as it is.
const UNBROKEN: &[&str] = &["//! |", "//! bytes", "#[arg(", "r#\""];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of ours, and its name from the root.
struct Source {
    name: String,
    text: String,
}

fn sources(folder: &str) -> Vec<Source> {
    let mut paths = files(&root().join(folder));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    paths
        .iter()
        .map(|path| Source { name: name(path), text: fs::read_to_string(path).unwrap() })
        .collect()
}

impl Source {
    /// What isn't a test: everything before the tests, which come last.
    fn code(&self) -> &str {
        let is_tests = self.name.ends_with("tests.rs");
        let (code, _) = self.text.split_once("\n#[cfg(test)]").unwrap_or((&self.text, ""));
        if is_tests { "" } else { code }
    }

    /// The layer: the folder or file right in `src`.
    fn layer(&self) -> &str {
        let name = self.name.trim_start_matches("src/");
        name.split(['/', '.']).next().unwrap_or_default()
    }

    /// What it uses of the crate, in whatever way it's written.
    fn uses(&self) -> BTreeSet<&str> {
        let code = self.code().split("crate::").skip(1);
        code.map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
        })
        .collect()
    }
}

/// Fails with all that is wrong.
#[track_caller]
fn check(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the folders in a folder.
fn folders(path: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let folders = entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Each row has a folder of fixtures with a case in it, and each folder a row.
#[track_caller]
fn check_fixtures(layer: &str, rows: impl Iterator<Item = &'static str>) {
    let rows: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert_eq!(
        folders(&format!("fixtures/{layer}")),
        rows,
        "fixtures/{layer} and the rows of {layer}"
    );
    for row in rows {
        let paths = files(&root().join("fixtures").join(layer).join(&row));
        let has_case =
            paths.iter().any(|path| path.extension().is_some_and(|extension| extension == "in"));
        assert!(has_case, "fixtures/{layer}/{row} has no case");
    }
}

#[test]
fn every_row_has_fixtures() {
    check_fixtures("frame", FRAMINGS.iter().map(|row| row.name));
    check_fixtures("wire", FORMATS.iter().map(|row| row.name));
    check_fixtures("dialect", DIALECTS.iter().map(|row| row.name));
    assert_eq!(folders("fixtures"), ["dialect", "frame", "wire"].map(str::to_owned).into());
}

/// Every wire format is a file of its name, or stands in one with its kin, and
/// every row in a file is in the table.
#[test]
fn every_format_is_a_file_of_its_name() {
    let files = sources("src/format");
    for row in FORMATS {
        let file = row.name.replace('-', "_");
        let own = [format!("/{file}.rs"), format!("/{file}/mod.rs")];
        let is_its_file = |source: &Source| {
            let names: Vec<&str> = source.code().lines().filter_map(row_name).collect();
            names.contains(&row.name)
                && (own.iter().any(|own| source.name.ends_with(own.as_str())) || names.len() > 1)
        };
        assert!(files.iter().any(is_its_file), "{} is in no file of its own or its kin", row.name);
    }
    for source in sources("src/format") {
        let names: Vec<&str> = source.code().lines().filter_map(row_name).collect();
        for name in names {
            assert!(
                FORMATS.iter().any(|row| row.name == name),
                "{}: {name} is in no table",
                source.name
            );
        }
    }
    for source in sources("src/dialect/rows") {
        let code = source.code();
        let is_here = |name: &str| code.contains(&format!("name: \"{name}\""));
        let rows = source.code().lines().filter(|line| is_row(line)).count();
        let known = DIALECTS.iter().filter(|row| is_here(row.name)).count();
        assert!(
            source.name.ends_with("/mod.rs") || rows == known,
            "{}: a row is in no table",
            source.name
        );
    }
}

/// Whether a line begins a row of the dialects' table.
fn is_row(line: &str) -> bool {
    line.starts_with("pub(crate) static ") && line.contains(": Dialect =")
}

/// The name in a line of a row.
fn row_name(line: &str) -> Option<&str> {
    line.strip_prefix("    name: \"")?.split('"').next()
}

#[test]
fn names_are_unique() {
    fn check(names: Vec<&str>) {
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
    }
    check(FRAMINGS.iter().map(|row| row.name).collect());
    check(
        FORMATS
            .iter()
            .flat_map(|row| [row.name].into_iter().chain(row.aliases.iter().copied()))
            .collect(),
    );
    check(
        DIALECTS
            .iter()
            .flat_map(|row| [row.name].into_iter().chain(row.aliases.iter().copied()))
            .collect(),
    );
}

#[test]
fn layers_use_what_they_may() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for source in sources("src") {
        let Some((layer, may)) = MAY_USE.iter().find(|(layer, _)| *layer == source.layer()) else {
            continue;
        };
        seen.insert(layer);
        for used in source.uses() {
            if used != *layer && !may.contains(&used) {
                wrong.push(format!("{}: {layer} may not use {used}", source.name));
            }
        }
    }
    check(&wrong);
    assert_eq!(seen.len(), MAY_USE.len(), "a layer of MAY_USE is gone: {seen:?}");
}

#[test]
fn files_are_tidy() {
    let mut wrong = Vec::new();
    for source in sources("src").iter().chain(&sources("tests")) {
        let name = &source.name;
        if !source.text.starts_with("//! ") {
            wrong.push(format!("{name}: the first line doesn't say what the file is"));
        }
        for (at, line) in source.text.lines().enumerate() {
            let is_unbroken = UNBROKEN.iter().any(|start| line.trim_start().starts_with(start));
            if line.chars().count() > MAX_WIDTH && !is_unbroken {
                wrong.push(format!("{name}:{}: longer than {MAX_WIDTH}", at + 1));
            }
            if line.ends_with(' ') || line.contains('\t') {
                wrong.push(format!("{name}:{}: white space", at + 1));
            }
        }
    }
    check(&wrong);
}

#[test]
fn code_never_panics_on_purpose() {
    let mut wrong = Vec::new();
    for source in sources("src") {
        for (at, line) in source.code().lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            for word in [
                ".unwrap()",
                ".expect(",
                "panic!(",
                "unreachable!(",
                "todo!(",
                "unimplemented!(",
                "dbg!(",
            ] {
                if !is_comment && line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", source.name, at + 1));
                }
            }
        }
    }
    check(&wrong);
}

/// Every option of every command.
fn flags() -> BTreeSet<String> {
    let mut command = Cli::command();
    command.build();
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    let flags =
        commands.flat_map(|command| command.get_arguments()).filter_map(|arg| arg.get_long());
    flags.map(|long| format!("--{long}")).filter(|flag| flag != "--help").collect()
}

#[test]
fn every_flag_is_in_the_readme_and_the_man_page() {
    let flags = flags();
    assert!(flags.contains("--dialect") && flags.contains("--jobs"), "{flags:?}");
    for page in ["README.md", "man/toolstream.1"] {
        let text = fs::read_to_string(root().join(page)).unwrap_or_default();
        let text = ["\\fB", "\\fI", "\\fR"].iter().fold(text, |text, font| text.replace(font, " "));
        let text = text.replace("\\-", "-");
        let is_word = |c: char| c.is_alphanumeric() || c == '-';
        let words: BTreeSet<&str> = text.split(|c| !is_word(c)).collect();
        let missing: Vec<_> = flags.iter().filter(|flag| !words.contains(flag.as_str())).collect();
        assert!(missing.is_empty(), "{page} says nothing of {missing:?}");
        let known = |word: &&&str| flags.contains(**word) || FOREIGN.contains(*word);
        let is_flag = |word: &&&str| word.starts_with("--") && word.contains(char::is_alphabetic);
        let unknown: Vec<_> = words.iter().filter(is_flag).filter(|word| !known(word)).collect();
        assert!(unknown.is_empty(), "{page} speaks of {unknown:?}");
    }
}

/// Options of other programs, and of all.
const FOREIGN: &[&str] = &[
    "--help",
    "--version",
    "--release",
    "--path",
    "--locked",
    "--unbuffered",
    "--arg",
    "--git",
    "--bench",
];

#[test]
fn the_top_level_holds_only_what_it_must() {
    let allowed = [
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "fixtures",
        "man",
        "src",
        "target",
        "tests",
    ];
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name.starts_with('.') || allowed.contains(&name.as_str()),
            "{name} has no place at the top"
        );
    }
}
