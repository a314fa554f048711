//! Who uses whom in `src`: rooms use only what their row says, no import runs
//! up, and no files of a room stand in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::case::{files, root};

/// A room, and which others it uses: only rooms of rows before its own, so no
/// import runs up.
const ROOMS: &[(&str, &[&str])] = &[
    ("approval", &[]),
    ("cut", &[]),
    ("event", &["cut"]),
    ("json", &["cut", "event"]),
    ("leak", &["event"]),
    ("nearest", &[]),
    ("row_error", &["cut", "nearest"]),
    ("scan", &["cut"]),
    ("tools", &["event", "json"]),
    ("frame", &["cut", "event", "json"]),
    ("io", &["cut", "event", "frame", "json"]),
    ("dialect", &["cut", "event", "json", "leak", "row_error", "scan", "tools"]),
    ("format", &["cut", "dialect", "event", "frame", "json", "leak", "nearest", "row_error"]),
    ("dressing", &["cut", "dialect", "event", "format", "json", "leak", "row_error"]),
    ("assemble", &["cut", "event", "json", "tools"]),
    ("sink", &["cut", "event", "frame", "json"]),
    ("status", &["event", "io", "sink"]),
    ("detect", &["cut", "event", "format", "frame", "json"]),
    ("repeat", &["cut", "event", "format", "frame", "json"]),
    ("turns", &["dialect", "dressing", "event", "format", "json", "sink"]),
    (
        "pipeline",
        &[
            "assemble", "cut", "detect", "dialect", "dressing", "event", "format", "frame",
            "repeat", "sink", "tools", "turns",
        ],
    ),
    ("convert", &["event", "format", "json", "pipeline", "sink"]),
    (
        "request",
        &["convert", "cut", "dialect", "event", "format", "json", "pipeline", "sink", "status"],
    ),
    ("cassette", &["cut", "frame", "json"]),
    ("rows", &["cut", "event", "json", "nearest", "pipeline", "sink", "status"]),
    (
        "agent",
        &[
            "approval", "cut", "dressing", "event", "format", "io", "json", "pipeline", "request",
            "sink", "status", "tools",
        ],
    ),
    (
        "capture",
        &[
            "assemble", "cassette", "convert", "cut", "detect", "event", "format", "frame", "io",
            "json", "pipeline", "sink",
        ],
    ),
    (
        "cli",
        &[
            "approval", "assemble", "capture", "cut", "detect", "dialect", "dressing", "format",
            "frame", "json", "nearest", "pipeline", "row_error", "rows", "sink", "tools",
        ],
    ),
    (
        "commands",
        &[
            "agent", "approval", "capture", "cassette", "cli", "convert", "cut", "detect",
            "dialect", "dressing", "event", "format", "frame", "io", "json", "nearest", "pipeline",
            "request", "rows", "sink", "status",
        ],
    ),
    ("main", &[]),
];

/// A file of `src`, as a module.
struct Module {
    /// Its path from `src`, for messages.
    file: String,
    /// What it uses of the crate, as whole paths.
    uses: Vec<Vec<String>>,
    /// What it hands on of other modules: a name, and where that is.
    exports: BTreeMap<String, Vec<String>>,
}

/// Every module, by its path in the crate.
struct Crate(BTreeMap<Vec<String>, Module>);

impl Crate {
    fn read() -> Crate {
        let folder = root().join("src");
        let paths = files(&folder)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "rs"));
        let paths = paths.filter(|path| !path.ends_with("tests.rs"));
        Crate(
            paths
                .map(|path| {
                    let file = path.strip_prefix(&folder).unwrap().display().to_string();
                    let text = fs::read_to_string(&path).unwrap();
                    module(file, &text)
                })
                .collect(),
        )
    }

    /// Returns the module that a path leads to: that which has the name, not
    /// those that hand it on.
    fn target(&self, path: &[String]) -> Option<&Module> {
        let mut path = path.to_vec();
        // A name is handed on a few times at most.
        for _ in 0..8 {
            let depth =
                (0..=path.len()).rev().find(|&depth| self.0.contains_key(&path[..depth]))?;
            let module = &self.0[&path[..depth]];
            let Some(real) = path.get(depth).and_then(|name| module.exports.get(name)) else {
                return Some(module);
            };
            path = [real.as_slice(), &path[depth + 1..]].concat();
        }
        None
    }

    /// Returns the modules that a path leads to: with `*`, one and all that it hands on.
    fn targets(&self, path: &[String]) -> Vec<&Module> {
        let Some(path) = path.strip_suffix(&["*".to_owned()]) else {
            return self.target(path).into_iter().collect();
        };
        let module = self.target(path);
        let exports = module.into_iter().flat_map(|module| module.exports.values());
        module.into_iter().chain(exports.filter_map(|path| self.target(path))).collect()
    }

    /// Returns the other files that a module uses.
    fn used(&self, module: &Module) -> BTreeSet<&str> {
        let used = module.uses.iter().flat_map(|path| self.targets(path));
        used.map(|used| used.file.as_str()).filter(|file| *file != module.file).collect()
    }

    /// Returns the files of each circle of imports.
    fn circles(&self) -> Vec<Vec<&str>> {
        let arrows: BTreeMap<&str, BTreeSet<&str>> =
            self.0.values().map(|module| (module.file.as_str(), self.used(module))).collect();
        let reached = |from: &str| {
            let mut reached = BTreeSet::new();
            let mut next: Vec<&str> = arrows[from].iter().copied().collect();
            while let Some(file) = next.pop() {
                if reached.insert(file) {
                    next.extend(&arrows[file]);
                }
            }
            reached
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            arrows.keys().map(|file| (*file, reached(file))).collect();
        let circle = |file: &&str| -> Vec<&str> {
            reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
        };
        let circles: BTreeSet<Vec<&str>> = arrows.keys().map(circle).collect();
        circles.into_iter().filter(|circle| !circle.is_empty()).collect()
    }
}

/// Reads a file: the path of its module, and the paths in it.
fn module(file: String, text: &str) -> (Vec<String>, Module) {
    let mut own: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if own.last().is_some_and(|name| name == "mod" || name == "lib") {
        own.pop();
    }
    let tokens = tokens(text);
    let is_child = |name: &str| tokens.windows(3).any(|words| words == ["mod", name, ";"]);
    let mut module = Module { file, uses: Vec::new(), exports: BTreeMap::new() };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map(|at| tokens[at]);
        let is_use = *token == "use";
        // A path that stands where it is used begins with one of three words.
        let is_path = ["crate", "self", "super"].contains(token)
            && tokens.get(at + 1) == Some(&"::")
            && before != Some("::");
        at += 1;
        if !is_use && !is_path {
            continue;
        }
        let mut paths = Vec::new();
        match is_use {
            true => tree(&tokens, &mut at, Vec::new(), &mut paths),
            false => {
                let names =
                    tokens[at - 1..].iter().take_while(|token| is_word(token) || **token == "::");
                paths.push(names.copied().filter(|token| is_word(token)).collect());
            }
        }
        for path in paths {
            let Some(path) = absolute(&own, &path, &is_child) else { continue };
            match path.last() {
                Some(name) if is_use && matches!(before, Some("pub" | ")")) => {
                    module.exports.insert(name.clone(), path);
                }
                _ => module.uses.push(path),
            }
        }
    }
    (own, module)
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits code into words and signs, without comments and tests.
fn tokens(text: &str) -> Vec<&str> {
    let (code, _) = text.split_once("\n#[cfg(test)]").unwrap_or((text, ""));
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut tokens = Vec::new();
    for mut rest in lines {
        while let Some(first) = rest.chars().next() {
            let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                _ if is_in_word(first) => rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            let (token, tail) = rest.split_at(length);
            tokens.extend(Some(token).filter(|token| !token.trim().is_empty()));
            rest = tail;
        }
    }
    tokens
}

/// Reads the paths of a `use`, from the token at `at` to the end of the tree.
fn tree<'a>(
    tokens: &[&'a str],
    at: &mut usize,
    mut path: Vec<&'a str>,
    out: &mut Vec<Vec<&'a str>>,
) {
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match *token {
            "{" => {
                while tokens.get(*at).is_some_and(|token| *token != "}") {
                    tree(tokens, at, path.clone(), out);
                    *at += usize::from(tokens.get(*at) == Some(&","));
                }
                *at += 1;
                return;
            }
            "," | "}" | ";" => {
                *at -= 1;
                break;
            }
            // What it is called here doesn't matter.
            "as" => *at += 1,
            "::" => {}
            word => path.push(word),
        }
    }
    out.push(path);
}

/// Returns a path from the crate's root, if it leads into the crate.
fn absolute(own: &[String], path: &[&str], is_child: &dyn Fn(&str) -> bool) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let ups = path.iter().take_while(|name| **name == "super").count();
    let (base, rest) = match *first {
        // The program is a crate of its own, and uses the library by its name.
        "crate" | "toolstream" => (&own[..0], rest),
        "self" => (own, rest),
        "super" => (&own[..own.len().checked_sub(ups)?], &path[ups..]),
        name if is_child(name) => (own, path),
        _ => return None,
    };
    let names = rest.iter().filter(|name| **name != "self").map(|name| (*name).to_owned());
    Some(base.iter().cloned().chain(names).collect())
}

/// Returns the room of a file: the folder or file right in `src`.
fn room(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

/// Fails with all that is wrong.
#[track_caller]
fn check(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn rooms_use_what_they_may() {
    let all = Crate::read();
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<(&str, &str)> =
        ROOMS.iter().flat_map(|(name, may)| may.iter().map(|used| (*name, *used))).collect();
    for module in all.0.values().filter(|module| module.file != "lib.rs") {
        let Some((room, may)) = ROOMS.iter().find(|(name, _)| *name == room(&module.file)) else {
            wrong.push(format!("{} is in no room of the table", module.file));
            continue;
        };
        for used in all.used(module).into_iter().map(self::room).filter(|used| used != room) {
            unused.remove(&(*room, used));
            if !may.contains(&used) {
                wrong.push(format!("{}: {room} may not use {used}", module.file));
            }
        }
    }
    wrong.extend(unused.iter().map(|(name, used)| format!("stale: {name} does not use {used}")));
    check(&wrong);
}

#[test]
fn the_table_of_rooms_is_in_order() {
    let files: Vec<String> = Crate::read().0.into_values().map(|module| module.file).collect();
    let mut wrong = Vec::new();
    for (at, (name, may)) in ROOMS.iter().enumerate() {
        let is_before = |used: &&str| ROOMS[..at].iter().any(|(before, _)| before == used);
        let late = may.iter().filter(|used| !is_before(used));
        wrong.extend(late.map(|used| format!("{name} uses {used}, which isn't before it")));
        if !files.iter().any(|file| room(file) == *name) {
            wrong.push(format!("{name} is no room"));
        }
    }
    check(&wrong);
}

#[test]
fn files_of_a_room_stand_in_no_circle() {
    let all = Crate::read();
    let circles = all.circles();
    let wrong = circles.iter().map(|circle| format!("a circle: {}", circle.join(" ")));
    check(&wrong.collect::<Vec<_>>());
}

#[test]
fn imports_are_read_as_they_are_written() {
    #[track_caller]
    fn check(code: &str, uses: &[&str], exports: &[&str]) {
        let (_, module) = module("a/mod.rs".to_owned(), code);
        let joined = |path: &Vec<String>| path.join("::");
        assert_eq!(module.uses.iter().map(joined).collect::<Vec<_>>(), uses, "{code}");
        assert_eq!(module.exports.values().map(joined).collect::<Vec<_>>(), exports, "{code}");
    }
    check("use crate::b::{C, d::{self, E as F}};", &["b::C", "b::d", "b::d::E"], &[]);
    check("use super::b;\nuse self::c::D;\nuse std::io;", &["b", "a::c::D"], &[]);
    check("mod b;\npub(crate) use b::{C, D};\nuse b::E;", &["a::b::E"], &["a::b::C", "a::b::D"]);
    check("fn f() -> super::T { crate::b::c(self.x) }", &["T", "b::c"], &[]);
    check("// use crate::b;\nlet a = x::crate_;\n#[cfg(test)]\nuse crate::c;", &[], &[]);
    check("use toolstream::b::*;", &["b::*"], &[]);
}
