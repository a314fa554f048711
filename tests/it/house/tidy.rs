//! What reviewers would repeat.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use toolstream::dialect::DIALECTS;
use toolstream::dressing::PROGRAMS;
use toolstream::format::FORMATS;
use toolstream::frame::FRAMINGS;
use toolstream::internals::{Cli, recorder_names};
use toolstream::sink::schema;

use crate::case::{Case, files, kind, root};
use crate::json::read;

/// The longest line.
const MAX_WIDTH: usize = 120;

/// Lines that can't be broken: tables, and text that is compared as it is.
const UNBROKEN: &[&str] = &["//! |", "#[arg(", "r#\""];

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
        let is_inside =
            |(at, mark): &(usize, &str)| !self.text[at + mark.len()..].starts_with("mod tests;");
        let tests = self.text.match_indices("\n#[cfg(test)]\n").find(is_inside);
        match tests {
            _ if self.name.ends_with("tests.rs") => "",
            Some((at, _)) => &self.text[..at],
            None => &self.text,
        }
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
    check_fixtures("format", FORMATS.iter().map(|row| row.name));
    check_fixtures("dialect", DIALECTS.iter().map(|row| row.name));
    check_fixtures("dressing", PROGRAMS.iter().map(|row| row.name));
    let recorders = recorder_names().into_iter().chain(["bad"]).map(str::to_owned);
    assert_eq!(folders("fixtures/cassette"), recorders.collect());
    assert_eq!(
        folders("fixtures"),
        ["cassette", "convert", "dialect", "dressing", "format", "frame", "own", "turn"]
            .map(str::to_owned)
            .into()
    );
}

#[test]
fn no_answer_is_without_its_question() {
    for path in files(&root().join("fixtures")) {
        let belongs = path.extension().is_some_and(|kind| kind == "out" || kind == "args");
        assert!(!belongs || path.with_extension("in").is_file(), "{} has no .in", path.display());
    }
}

/// A folder that can be browsed holds at most a hundred cases.
#[test]
fn no_folder_has_too_many_cases() {
    let mut counts = BTreeMap::new();
    Case::all().iter().for_each(|case| *counts.entry(case.folder().to_owned()).or_insert(0) += 1);
    counts.retain(|_, count| *count > 100);
    assert!(counts.is_empty(), "more than 100 cases: {counts:?}");
}

/// Every type of event is in the answer of a case.
#[test]
fn every_event_is_shown() {
    let schema = read(&schema());
    let types = schema["$defs"]["event"]["oneOf"].as_array().unwrap().iter();
    let mut unseen: BTreeSet<_> =
        types.map(|row| row["$ref"].as_str().unwrap().replace("#/$defs/", "")).collect();
    assert!(unseen.contains("tool_call"), "{unseen:?}");
    // What only an agent says is shown by its own tests.
    unseen.retain(|kind| !["tool_start", "end"].contains(&kind.as_str()));
    for case in Case::all() {
        let answer = fs::read_to_string(case.path.with_extension("out")).unwrap();
        for line in answer.lines() {
            unseen.remove(kind(line));
        }
    }
    assert!(unseen.is_empty(), "no case shows {unseen:?}");
}

/// The reference's table of events has the keys of the schema, with `?` after those that may be absent.
#[test]
fn the_table_of_events_is_the_schema() {
    let schema = read(&schema());
    let reference = reference();
    let mut wrong = Vec::new();
    for row in schema["$defs"]["event"]["oneOf"].as_array().unwrap() {
        let name = row["$ref"].as_str().unwrap().replace("#/$defs/", "");
        let event = &schema["$defs"][&name];
        let required = event["required"].as_array().unwrap();
        let keys = event["properties"].as_object().unwrap().keys();
        let keys = keys.filter(|key| !["type", "choice", "file", "t_ms"].contains(&key.as_str()));
        let is_required = |key: &String| required.contains(&key.as_str().into());
        let expected: BTreeSet<String> = keys
            .map(|key| if is_required(key) { key.clone() } else { format!("{key}?") })
            .collect();
        let line = reference.lines().find_map(|line| line.strip_prefix(&format!("| `{name}` | ")));
        let keys = line.and_then(|line| line.split(" | ").next()).unwrap_or_default();
        let shown: BTreeSet<String> =
            keys.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        if shown != expected {
            wrong.push(format!("{name}: {shown:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "man/reference.md: {wrong:#?}");
}

/// Every wire format is a file of its name, and every row in a file is in the table.
#[test]
fn every_format_is_a_file_of_its_name() {
    let files = sources("src/format");
    for row in FORMATS {
        let file = row.name.replace('-', "_");
        let own = [format!("/{file}.rs"), format!("/{file}/mod.rs")];
        let is_its_file = |source: &Source| {
            own.iter().any(|own| source.name.ends_with(own.as_str()))
                && row_names(source.code()).any(|name| name == row.name)
        };
        let toml = Path::new("src/format/rows").join(row.name).with_extension("toml");
        assert!(
            toml.exists() || files.iter().any(is_its_file),
            "{} is in no file of its own",
            row.name
        );
    }
    let names_of_files: Vec<String> = fs::read_dir("src/format/rows")
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let in_code = files.iter().flat_map(|source| row_names(source.code()));
    for name in in_code.chain(names_of_files.iter().map(String::as_str)) {
        assert!(FORMATS.iter().any(|row| row.name == name), "{name} is in no table");
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

/// The names of a file's rows.
fn row_names(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| line.strip_prefix("    ..Format::new(\"")?.split('"').next())
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

/// Names that stand twice for one idea: a command and what it prints with, an option and what it sets.
const ONE_IDEA: &[&str] = &["Classify", "Frames", "Tools"];

/// The types of a file, each with its name.
fn types(source: &Source) -> impl Iterator<Item = &str> {
    let words = source.code().lines().filter_map(|line| {
        // Inside a macro that declares it.
        let line = line.strip_prefix("    ").unwrap_or(line);
        let line = match line.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ")?.1,
            None => line.strip_prefix("pub ").unwrap_or(line),
        };
        let (kind, rest) = line.split_once(' ')?;
        ["struct", "enum", "trait"].contains(&kind).then_some(rest)
    });
    words.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
}

#[test]
fn a_name_of_a_type_has_one_meaning() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // The owned form of each event has its name; so has on other machines what Unix has.
    let is_other = |name: &str| name == "src/event/owned.rs" || name.ends_with("/elsewhere.rs");
    for source in sources("src").iter().filter(|source| !is_other(&source.name)) {
        for name in types(source) {
            files.entry(name.to_owned()).or_default().push(source.name.clone());
        }
    }
    let mut wrong = Vec::new();
    for (name, files) in files.iter().filter(|(_, files)| files.len() > 1) {
        if !ONE_IDEA.contains(&name.as_str()) {
            wrong.push(format!("{name} stands {} times: {}", files.len(), files.join(", ")));
        }
    }
    let of = |name: &str| files.get(name).map_or(0, Vec::len);
    let unneeded = ONE_IDEA.iter().filter(|name| of(name) < 2);
    wrong.extend(unneeded.map(|name| format!("{name} stands once: take it out of ONE_IDEA")));
    check(&wrong);
}

#[test]
fn files_are_tidy() {
    let mut wrong = Vec::new();
    let mut unneeded: BTreeSet<&str> = UNBROKEN.iter().copied().collect();
    for source in sources("src").iter().chain(&sources("tests")) {
        let name = &source.name;
        if !source.text.starts_with("//! ") {
            wrong.push(format!("{name}: the first line doesn't say what the file is"));
        }
        for (at, line) in source.text.lines().enumerate() {
            let is_unbroken = |start: &&&str| line.trim_start().starts_with(**start);
            if line.chars().count() <= MAX_WIDTH {
            } else if let Some(start) = UNBROKEN.iter().find(is_unbroken) {
                unneeded.remove(start);
            } else {
                wrong.push(format!("{name}:{}: longer than {MAX_WIDTH}", at + 1));
            }
            if line.ends_with(' ') || line.contains('\t') {
                wrong.push(format!("{name}:{}: white space", at + 1));
            }
        }
    }
    wrong.extend(unneeded.into_iter().map(|start| format!("no line needs {start} in UNBROKEN")));
    check(&wrong);
}

#[test]
fn code_never_panics_on_purpose() {
    let mut wrong = Vec::new();
    for source in sources("src") {
        for (at, line) in source.code().lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            for word in [
                ".unwrap()", ".expect(\"", "panic!(", "unreachable!(", "todo!(", "unimplemented!(",
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

/// What stands in the place of a value that is not there, without a word.
const DEFAULTS: &[&str] = &[
    ".unwrap_or_default()", ".unwrap_or(&[])", ".unwrap_or(\"\")", ".unwrap_or(b\"\")",
    ".unwrap_or_else(String::new)", ".unwrap_or_else(Vec::new)", ".unwrap_or((",
];

/// Lookups that can miss, and readings that can fail. A wrong place, a value of another type or a
/// lock that is poisoned would be an empty text: a pattern that cannot miss (`Cut`, `let … else`,
/// `is_some_and`), or a word about what was lost, stands there instead. A value that was not given
/// (an option, a field) has a default.
const CAN_MISS: &[&str] = &[
    "decode", "elements", "first", "from_slice", "from_str", "from_utf8", "get", "get_mut",
    "into_inner", "last", "lock", "member", "next", "next_back", "nth", "nth_back", "parse", "pop",
    "read", "read_again", "read_to_string", "remove", "rsplit_once", "split_at_checked",
    "split_once", "string", "strip_prefix", "strip_suffix", "to_string", "try_from",
];

/// What hands on that something is missing.
const PASSES_ON: &[&str] = &[
    "and_then", "as_deref", "as_ref", "cloned", "copied", "filter", "flatten", "map", "ok", "trim",
];

/// Defaults of lookups that are to go, or where nothing is what they mean: how many in which file.
const SILENT: &[(&str, usize)] = &[
    // A message has a line.
    ("src/capture/laws.rs", 1),
    // The schema is our own.
    ("src/cli/value.rs", 1),
    // Nothing stands after the end.
    ("src/cut.rs", 2),
    ("src/format/anthropic/turn.rs", 1),
    ("src/format/openai_chat/mod.rs", 1),
    ("src/format/openai_chat/turn.rs", 2),
    ("src/format/openai_responses/write.rs", 2),
    ("src/format/support/usage/members.rs", 1),
    ("src/io/http.rs", 2),
    ("src/io/unix/signals.rs", 2),
    // Of a value that is no object there are no members.
    ("src/json/members.rs", 1),
];

/// Returns the lookups in a file that have a silent default, each as it is written.
fn silent_lookups(code: &str) -> Vec<String> {
    // What is called on a value may stand in the next line.
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let code: String =
        lines.flat_map(|line| [if line.starts_with('.') { "" } else { " " }, line]).collect();
    let ends = DEFAULTS.iter().flat_map(|default| code.match_indices(default));
    let lookups = ends.filter_map(|(end, default)| {
        let mut rest = &code[..end];
        loop {
            let open = opening(rest)?;
            let (before, argument) = (&rest[..open], &rest[open + 1..rest.len() - 1]);
            // `read::<T>(text)`.
            let before = before.split_once("::<").map_or(before, |_| {
                before
                    .strip_suffix('>')
                    .and_then(|it| it.rsplit_once("::<"))
                    .map_or(before, |it| it.0)
            });
            let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            if !PASSES_ON.contains(&name) {
                // What has a name may lack it.
                let is_named = argument.starts_with('"') && name.starts_with("get");
                // A text without the mark is whole; one that can't be cut at a place would lose a part.
                let is_whole = default.ends_with("((") && name.ends_with("split_once");
                let is_silent = CAN_MISS.contains(&name) && !is_named && !is_whole;
                return is_silent.then(|| format!("{name}({argument})"));
            }
            rest = before.strip_suffix(name)?.strip_suffix('.')?;
        }
    });
    lookups.collect()
}

/// Returns where the parenthesis is opened that a text ends with.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (byte == b'(').then_some(at);
        }
    }
    None
}

#[test]
fn what_a_lookup_misses_is_said() {
    let found = |code| silent_lookups(code);
    assert_eq!(found("a.get(1..)\n    .unwrap_or_default()"), ["get(1..)"]);
    assert_eq!(found("text.lines().next().map(str::trim).unwrap_or(\"\")"), ["next()"]);
    assert_eq!(found("json::read::<Str<'_>>(x).ok().unwrap_or_default()"), ["read(x)"]);
    assert_eq!(found("a.split_at_checked(n).unwrap_or((a, \"\"))"), ["split_at_checked(n)"]);
    assert_eq!(found("a.split_once('.').unwrap_or((a, \"\"))"), [""; 0]);
    assert_eq!(found("words.get(\"key\").unwrap_or_default()"), [""; 0]);
    assert_eq!(found("self.timeout.unwrap_or_default()"), [""; 0]);
    let mut wrong = Vec::new();
    for source in sources("src") {
        let lookups = silent_lookups(source.code());
        let allowed = SILENT.iter().find(|(name, _)| *name == source.name).map_or(0, |row| row.1);
        if lookups.len() != allowed {
            wrong.push(format!("{}: {allowed} allowed: {lookups:?}", source.name));
        }
    }
    check(&wrong);
}

fn reference() -> String {
    fs::read_to_string(root().join("man/reference.md")).unwrap()
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
fn every_flag_is_in_the_reference_and_the_man_page() {
    let flags = flags();
    let mut strange: BTreeSet<&str> = FOREIGN.iter().copied().collect();
    assert!(flags.contains("--dialect") && flags.contains("--jobs"), "{flags:?}");
    for page in ["README.md", "man/guide.md", "man/reference.md", "man/toolstream.1"] {
        let text = fs::read_to_string(root().join(page)).unwrap_or_default();
        let text = ["\\fB", "\\fI", "\\fR"].iter().fold(text, |text, font| text.replace(font, " "));
        let text = text.replace("\\-", "-");
        let is_word = |c: char| c.is_alphanumeric() || c == '-';
        let words: BTreeSet<&str> = text.split(|c| !is_word(c)).collect();
        let missing: Vec<_> = flags.iter().filter(|flag| !words.contains(flag.as_str())).collect();
        let is_some = ["README.md", "man/guide.md"].contains(&page);
        assert!(is_some || missing.is_empty(), "{page} says nothing of {missing:?}");
        strange.retain(|flag| !words.contains(flag));
        let known = |word: &&&str| flags.contains(**word) || FOREIGN.contains(*word);
        let is_flag = |word: &&&str| word.starts_with("--") && word.contains(char::is_alphabetic);
        let unknown: Vec<_> = words.iter().filter(is_flag).filter(|word| !known(word)).collect();
        assert!(unknown.is_empty(), "{page} speaks of {unknown:?}");
    }
    assert!(strange.is_empty(), "no page speaks of {strange:?}");
}

/// What an option may be is in its help, or its help says where it is listed; and
/// the reference has every value of options that have a few.
#[test]
fn every_value_of_every_option_is_documented() {
    let reference = reference();
    let mut command = Cli::command();
    command.build();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for command in command.get_subcommands() {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let name = format!("{} {}", command.get_name(), arg.get_id());
            let is_listed = help.contains("`toolstream formats` lists them");
            let is_word = |c: char| c.is_alphanumeric() || c == '-';
            for value in arg.get_possible_values().iter().map(|value| value.get_name()) {
                count += 1;
                // The default is printed after the help.
                let is_in_help = help.split(|c| !is_word(c)).any(|word| word == value)
                    || arg.get_default_values().iter().any(|default| default == value);
                if arg.is_hide_possible_values_set() && !is_in_help && !is_listed {
                    wrong.push(format!("the help of {name} doesn't say {value}"));
                }
                if !is_listed
                    && !reference.contains(&format!("`{value}`"))
                    && command.get_name() != "completions"
                {
                    wrong.push(format!("man/reference.md doesn't say {value}, of {name}"));
                }
            }
        }
    }
    check(&wrong);
    assert!(count > 20, "{count} values");
}

/// Options of other programs, and of all.
const FOREIGN: &[&str] = &[
    // Those of local programs.
    "--hidethinking", "--no-display-prompt", "--nowordwrap", "--prompt", "--quick", "--special",
    "--stats", "--verbose", "--help", "--release", "--path", "--unbuffered", "--profile", "--pipe",
    "--block", "--cached", "--quiet",
];

#[test]
fn the_top_level_holds_only_what_it_must() {
    let allowed = [
        "CHANGELOG.md", "Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "fixtures", "man",
        "src", "target", "tests",
    ];
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name.starts_with('.') || allowed.contains(&name.as_str()),
            "{name} has no place at the top"
        );
    }
}

/// What the pages say about files is so: each path that they name is there.
#[test]
fn the_pages_name_files_that_exist() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in [
        "README.md", "man/guide.md", "man/reference.md", ".github/CONTRIBUTING.md",
        "tests/HARDENING.md", "src/lib.rs",
    ] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let words = text.split(|c: char| c.is_whitespace() || "`()#".contains(c));
        // In capitals is what the reader puts in.
        let is_path = |word: &&str| {
            ["src/", "tests/", "fixtures/", "man/"].iter().any(|start| word.starts_with(start))
                && !word.contains(|c: char| c.is_uppercase() || "*…'".contains(c))
        };
        for path in words.filter(is_path).map(|word| word.trim_end_matches([',', '.', ':', ';'])) {
            count += 1;
            if !root().join(path).exists() {
                wrong.push(format!("{page}: there is no {path}"));
            }
        }
    }
    check(&wrong);
    assert!(count > 10, "{count} paths");
}

/// CI builds with the oldest compiler that Cargo.toml promises.
#[test]
fn the_oldest_compiler_is_tried() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let manifest = read("Cargo.toml");
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = line.expect("Cargo.toml has a rust-version");
    let workflow = read(".github/workflows/ci.yml");
    assert!(workflow.contains(&format!("toolchain: [stable, {oldest}]")), "{oldest}: {workflow}");
}
