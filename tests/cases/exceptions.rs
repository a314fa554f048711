//! Which laws a case need not keep, and why: `exceptions.toml` in its folder, or
//! in the one above it, with the keys of [`Exceptions`].

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use serde::Deserialize;
use toolstream::internals::explain;

use crate::case::{Case, files, root};
use crate::shape::{check_lines, check_shape};

/// What is allowed to the cases of one folder.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Exceptions {
    /// Why a prefix may end well though the whole is cut: a format names no end
    /// of its own, or names it more than once.
    ends_early: Option<String>,
    /// Why a prefix may look like a whole message that holds less.
    looks_whole: Option<String>,
    /// Why calls come without the deltas of their arguments.
    no_deltas: Option<String>,
    #[serde(skip)]
    is_log: bool,
    /// Words in markers that are not printed: those that may be any, as a
    /// namespace, and those that mean nothing, as a wrapper.
    marker_words: Vec<String>,
    /// Texts that end a value of a call wherever they stand in it.
    pub(crate) values_end_at: Vec<String>,
    #[serde(skip)]
    path: PathBuf,
}

/// The file and key of each exception that was needed.
static NEEDED: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());

impl Exceptions {
    pub(crate) fn of(case: &Case) -> Exceptions {
        if case.is_made {
            return Exceptions::of_made(case);
        }
        let folders = case.folder().ancestors().take_while(|folder| *folder != root());
        let mut paths = folders.map(|folder| folder.join("exceptions.toml"));
        let path = paths.find(|path| path.is_file());
        path.map(Exceptions::read).unwrap_or_default()
    }

    fn read(path: PathBuf) -> Exceptions {
        let text = fs::read_to_string(&path).unwrap();
        let read: Result<Exceptions, _> = toml::from_str(&text);
        Exceptions { path, ..read.unwrap_or_else(|error| panic!("exceptions.toml: {error}")) }
    }

    /// Nobody sends what was made: what comes after the end of a message may be anything. A log
    /// has the deltas that were left in it.
    fn of_made(case: &Case) -> Exceptions {
        let why = || Some("what comes after the end may be anything".to_owned());
        let format = case.config().0.format.map(|format| format.name.to_owned());
        let is_log = format.unwrap_or_else(|| explain(&case.input, true).format) == "events";
        let no_deltas = is_log.then(|| "a log has the deltas that were left in it".to_owned());
        Exceptions { ends_early: why(), looks_whole: why(), no_deltas, is_log, ..<_>::default() }
    }

    /// The check of the shape of an output.
    pub(crate) fn check(&self) -> fn(&str, &str, u8) {
        if self.is_log { check_lines } else { check_shape }
    }

    /// True for a log of our own events that was damaged.
    pub(crate) fn is_log(&self) -> bool {
        self.is_log
    }

    fn need(&self, key: &str) {
        NEEDED.lock().unwrap().insert((self.path.clone(), key.to_owned()));
    }

    /// True if the end of the input may be the end of a message wherever it comes.
    pub(crate) fn ends_early(&self) -> bool {
        self.ends_early.iter().for_each(|_| self.need("ends_early"));
        self.ends_early.is_some()
    }

    /// True if a prefix may be a whole message that holds less.
    pub(crate) fn looks_whole(&self) -> bool {
        self.looks_whole.iter().for_each(|_| self.need("looks_whole"));
        self.looks_whole.is_some()
    }

    /// True if calls come without the deltas of their arguments.
    pub(crate) fn has_no_deltas(&self) -> bool {
        self.no_deltas.iter().for_each(|_| self.need("no_deltas"));
        self.no_deltas.is_some()
    }

    /// True if this word may stand in a marker without being printed.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        let is_known = self.marker_words.iter().any(|known| known == word);
        if is_known {
            self.need(word);
        }
        is_known
    }

    /// What a case may need; `values_end_at` is asked for by `tests/it/reading/dialects.rs`,
    /// which also knows when it is not needed.
    fn keys(&self) -> impl Iterator<Item = &str> {
        let words = self.marker_words.iter().map(String::as_str);
        let early = self.ends_early.iter().map(|_| "ends_early");
        let bare = self.no_deltas.iter().map(|_| "no_deltas");
        early.chain(bare).chain(self.looks_whole.iter().map(|_| "looks_whole")).chain(words)
    }
}

/// Returns the words in markers that some case need not print.
pub(crate) fn marker_words() -> &'static [String] {
    static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut paths = files(&root().join("fixtures"));
        paths.retain(|path| path.ends_with("exceptions.toml"));
        paths.into_iter().flat_map(|path| Exceptions::read(path).marker_words).collect()
    });
    &WORDS
}

/// Returns a line for each exception that no case has needed.
pub(crate) fn stale() -> Vec<String> {
    let mut paths = files(&root().join("fixtures"));
    paths.retain(|path| path.ends_with("exceptions.toml"));
    let needed = NEEDED.lock().unwrap();
    let mut stale = Vec::new();
    for exceptions in paths.into_iter().map(Exceptions::read) {
        let is_idle = |key: &&str| !needed.contains(&(exceptions.path.clone(), (*key).to_owned()));
        let idle = exceptions.keys().filter(is_idle);
        stale.extend(
            idle.map(|key| {
                format!("{}: {key} isn't needed by any case", exceptions.path.display())
            }),
        );
    }
    stale
}
