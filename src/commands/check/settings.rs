//! How captures are read and compared: what folders, golden files and the command line say, each
//! adding to the one before it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use clap::{Args as _, Parser as _};
use glob::Pattern;
use serde::Deserialize;
use toml::Spanned;

use crate::capture::{Filter, GoldenError, GoldenHead};
use crate::cli::{Check, Cli, Command, Late, NONE, Parse, event_key, event_type};
use crate::cut::{Cut as _, until};
use crate::pipeline::Config;

/// The file that says how the captures of its folder and below are read and compared.
const FILE: &str = ".toolstream.toml";

/// The option that a head keeps among those that say how to read.
const ONLY: &str = "--only=";

/// The options whose values are files; of the last two, if they hold a dot or a slash.
const FILES: &[&str] = &["--tools=", "--dialect=", "--format="];

/// How a capture is read and compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Settings {
    /// Options that `parse` has, as `--NAME=VALUE`.
    pub(super) args: Vec<String>,
    pub(super) only: Vec<String>,
    pub(super) ignore: Vec<String>,
}

impl Settings {
    /// Returns what the command line says.
    pub(super) fn given(check: &Check) -> Self {
        Settings {
            args: check.given.0.clone(),
            only: check.only.clone(),
            ignore: check.ignore.clone(),
        }
    }

    /// Returns what a golden file says.
    pub(super) fn of(head: &GoldenHead) -> Self {
        let (only, args): (Vec<_>, Vec<_>) =
            head.args.iter().cloned().partition(|option| option.starts_with(ONLY));
        let only = only.iter().filter_map(|option| option.strip_prefix(ONLY));
        let only = only.flat_map(|types| types.split(',')).map(str::to_owned).collect();
        Settings { args, only, ignore: head.ignore.clone() }
    }

    /// Adds what comes later: an option takes the place of one of its name, types and keys are more
    /// of them, and `none` forgets those before it.
    pub(super) fn then(&self, next: &Settings) -> Settings {
        let is_kept = |option: &&String| {
            next.args.iter().all(|other| until(other, "=") != until(option, "="))
        };
        Settings {
            args: self.args.iter().filter(is_kept).chain(&next.args).cloned().collect(),
            only: added(&self.only, &next.only),
            ignore: added(&self.ignore, &next.ignore),
        }
    }

    /// Returns the head of a golden file: what these settings say beyond those of the folder.
    pub(super) fn beyond(&self, folder: &Settings) -> GoldenHead {
        let new = |own: &[String], folder: &[String]| -> Vec<String> {
            let has_all = folder.iter().all(|word| own.contains(word));
            match has_all {
                true => own.iter().filter(|word| !folder.contains(word)).cloned().collect(),
                false => [&[NONE.to_owned()], own].concat(),
            }
        };
        let mut args: Vec<String> =
            self.args.iter().filter(|option| !folder.args.contains(option)).cloned().collect();
        let only = new(&self.only, &folder.only);
        if !only.is_empty() {
            args.push(format!("{ONLY}{}", only.join(",")));
        }
        GoldenHead { args, ignore: new(&self.ignore, &folder.ignore), unread: Vec::new() }
    }

    /// Returns how these settings read and compare, or why they can't be used here.
    pub(super) fn read(&self) -> Result<(Config, Filter), GoldenError> {
        if let Some(option) = self.args.iter().find(|option| is_missing(option)) {
            return Err(GoldenError::Missing(option.clone()));
        }
        if let Some(kind) = self.only.iter().find(|kind| self.ignore.contains(kind)) {
            let why = format!("--only {kind} and --ignore {kind} contradict each other");
            return Err(GoldenError::Options(why));
        }
        let check = parsed(&self.args).map_err(GoldenError::Options)?;
        let config = check.reading.config();
        let config = config.map_err(|error| GoldenError::Options(format!("{error:#}")))?;
        Ok((config, Filter::new(&self.only, &self.ignore)))
    }

    /// Returns these settings without the options that can't be used here.
    pub(super) fn usable(&self) -> Settings {
        let is_usable = |option: &&String| {
            let option = std::slice::from_ref(*option);
            !is_missing(&option[0])
                && parsed(option).is_ok_and(|check| check.reading.config().is_ok())
        };
        Settings { args: self.args.iter().filter(is_usable).cloned().collect(), ..self.clone() }
    }

    /// True if an option says that the captures are plain text, if they are nothing else.
    pub(super) fn names_plain_text(&self) -> bool {
        self.args.iter().any(|option| {
            option == "--format=text"
                || ["--dialect=", "--framing="].iter().any(|it| option.starts_with(it))
        })
    }
}

/// Adds words to others. `none` forgets those before it.
fn added(words: &[String], more: &[String]) -> Vec<String> {
    let mut all = words.to_vec();
    for word in more {
        if word == NONE {
            all.clear();
        } else if !all.contains(word) {
            all.push(word.clone());
        }
    }
    all
}

/// Returns the file that an option names.
fn file(option: &str) -> Option<(&'static str, &str)> {
    let (name, value) = FILES.iter().find_map(|name| Some((*name, option.strip_prefix(name)?)))?;
    let is_file = name == "--tools=" || value.contains(['.', '/']);
    is_file.then_some((name, value))
}

fn is_missing(option: &str) -> bool {
    file(option).is_some_and(|(_, path)| {
        fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    })
}

/// Reads options that are kept.
fn parsed(args: &[String]) -> Result<Check, String> {
    let words = ["toolstream", "check"].into_iter().chain(args.iter().map(String::as_str));
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Check(Late(check)) }) => Ok(check),
        Ok(_) => Err("they name another command".into()),
        Err(error) => {
            let text = error.to_string();
            let first = until(&text, "\n");
            Err(first.strip_prefix("error: ").unwrap_or(first).to_owned())
        }
    }
}

/// Returns options as `--NAME=VALUE`: the name may be a letter, and the value a word of its own.
fn spelled(words: Vec<Spanned<String>>) -> Vec<Spanned<String>> {
    let parse = Parse::augment_args(clap::Command::new("parse"));
    let mut options: Vec<Spanned<String>> = Vec::new();
    for word in words {
        let (span, text) = (word.span(), word.into_inner());
        let is_open = |option: &&mut Spanned<String>| !option.as_ref().contains('=');
        if let Some(option) = options.last_mut().filter(is_open)
            && !text.starts_with('-')
        {
            option.as_mut().push_str(&format!("={text}"));
            continue;
        }
        let named = text.strip_prefix('-').and_then(|letters| {
            let letter = letters.chars().next()?;
            let mut options = parse.get_arguments();
            let name = options.find(|option| option.get_short() == Some(letter))?.get_long()?;
            let value = letters.strip_prefix(letter)?.trim_start_matches('=');
            let mark = if value.is_empty() { "" } else { "=" };
            Some(format!("--{name}{mark}{value}"))
        });
        options.push(Spanned::new(span, named.unwrap_or(text)));
    }
    options
}

/// What `.toolstream.toml` holds.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SettingsFile {
    ignore: Vec<Spanned<String>>,
    only: Vec<Spanned<String>>,
    args: Vec<Spanned<String>>,
    exclude: Vec<Spanned<String>>,
}

/// A folder: how its captures are read and compared, and which files are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    pub(super) settings: Settings,
    exclude: Vec<(PathBuf, Pattern)>,
}

impl Folder {
    /// Reads the settings of a folder and of those above it, up to a repository's.
    pub(super) fn find(path: &Path) -> anyhow::Result<Arc<Folder>> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        let root = above.iter().position(|folder| folder.join(".git").exists());
        above.truncate(root.map_or(above.len(), |root| root + 1));
        let mut folders = above.into_iter().rev();
        folders.try_fold(Arc::default(), |folder: Arc<Folder>, path| folder.below(path))
    }

    /// Adds what the file of a folder below says.
    pub(super) fn below(self: &Arc<Self>, path: &Path) -> anyhow::Result<Arc<Folder>> {
        let name = path.join(FILE);
        let text = match fs::read_to_string(&name) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Arc::clone(self)),
            Err(error) => return Err(error).with_context(|| name.display().to_string()),
        };
        let at = |place: usize| {
            let before = text.before(place);
            let (line, column) = (before.matches('\n').count(), before.chars().rev());
            let column = column.take_while(|c| *c != '\n').count();
            format!("{}:{}:{}", name.display(), line + 1, column + 1)
        };
        let file: SettingsFile = toml::from_str(&text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            anyhow!("{}: {}", at(place), error.message())
        })?;
        let words = |words: &[Spanned<String>], check: &dyn Fn(&str) -> Result<String, String>| {
            let word = |word: &Spanned<String>| {
                check(word.as_ref())
                    .map_err(|why| anyhow!("{}: {:?}: {why}", at(word.span().start), word.as_ref()))
            };
            words.iter().map(word).collect::<anyhow::Result<Vec<_>>>()
        };
        let args = words(&spelled(file.args), &|option| {
            let option = match self::file(option) {
                Some((name, value)) => format!("{name}{}", path.join(value).display()),
                None => option.to_owned(),
            };
            if is_missing(&option) {
                return Err(format!("there is no such file: {option}"));
            }
            let check = parsed(std::slice::from_ref(&option))?;
            check.reading.config().map_err(|error| format!("{error:#}"))?;
            (!check.given.0.is_empty())
                .then_some(option)
                .ok_or_else(|| "write an option of `parse`, as --NAME=VALUE".into())
        })?;
        let settings = Settings {
            args,
            only: words(&file.only, &event_type)?,
            ignore: words(&file.ignore, &event_key)?,
        };
        let settings = self.settings.then(&settings);
        if let Err(why) = settings.read() {
            bail!("{}: {}", name.display(), why.of_settings());
        }
        let globs = words(&file.exclude, &|glob| {
            Pattern::new(glob).map(|_| glob.to_owned()).map_err(|error| error.to_string())
        })?;
        let globs = globs.iter().filter_map(|glob| Pattern::new(glob).ok());
        let globs = globs.map(|glob| (path.to_owned(), glob));
        let exclude = self.exclude.iter().cloned().chain(globs).collect();
        Ok(Arc::new(Folder { settings, exclude }))
    }

    /// Adds the patterns of the command line, from this folder on.
    pub(super) fn without(self: &Arc<Self>, path: &Path, exclude: &[Pattern]) -> Arc<Folder> {
        let mut folder = Folder::clone(self);
        folder.exclude.extend(exclude.iter().map(|glob| (path.to_owned(), glob.clone())));
        Arc::new(folder)
    }

    /// True if a file or a folder is left out: by its name, or where the pattern has a slash, by its
    /// path from the folder of the pattern on.
    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.exclude.iter().any(|(folder, glob)| match glob.as_str().contains('/') {
            true => path.strip_prefix(folder).is_ok_and(|path| glob.matches_path(path)),
            false => path.file_name().is_some_and(|name| glob.matches_path(Path::new(name))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(args: &[&str], only: &[&str], ignore: &[&str]) -> Settings {
        let [args, only, ignore] =
            [args, only, ignore].map(|words| words.iter().map(|word| (*word).into()).collect());
        Settings { args, only, ignore }
    }

    #[test]
    fn options_that_say_how_to_read_are_kept() {
        let given = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            parsed(&words).unwrap().given.0
        };
        let args = given("--update -f text -d hermes --strict --only text -j2 a");
        assert_eq!(args, ["--format=text", "--dialect=hermes", "--strict"]);
        assert!(given("a").is_empty());
    }

    #[test]
    fn settings_add_up_and_a_head_holds_what_differs() {
        let folder = settings(&["--format=text", "--strict"], &["text"], &["id"]);
        let own = settings(&["--format=gemini"], &["usage"], &["raw"]);
        let all = folder.then(&own);
        let expected =
            settings(&["--strict", "--format=gemini"], &["text", "usage"], &["id", "raw"]);
        assert_eq!(all, expected);
        let head = all.beyond(&folder);
        assert_eq!(head.args, ["--format=gemini", "--only=usage"]);
        assert_eq!(
            (head.ignore.clone(), folder.then(&Settings::of(&head))),
            (vec!["raw".into()], all)
        );
        let fewer = folder.then(&settings(&[], &[], &["none", "raw"]));
        let head = fewer.beyond(&folder);
        assert_eq!(
            (head.ignore.clone(), folder.then(&Settings::of(&head))),
            (vec!["none".into(), "raw".into()], fewer)
        );
    }

    #[test]
    fn settings_that_cannot_be_used_say_why() {
        let why = |settings: Settings| settings.read().map(drop).unwrap_err();
        let missing = settings(&["--tools=/nowhere/t.json", "--strict"], &[], &[]);
        assert_eq!(why(missing.clone()), GoldenError::Missing("--tools=/nowhere/t.json".into()));
        assert_eq!(missing.usable().args, ["--strict"]);
        let unknown = settings(&["--fast"], &[], &[]);
        assert_eq!(why(unknown), GoldenError::Options("unexpected argument '--fast' found".into()));
        let both = why(settings(&[], &["text"], &["text"])).to_string();
        assert!(both.ends_with("--only text and --ignore text contradict each other"), "{both}");
    }

    #[track_caller]
    fn check_wrong(text: &str, expected: &str) {
        let folder = tempfile::TempDir::new().unwrap();
        fs::write(folder.path().join(FILE), text).unwrap();
        let error = Arc::<Folder>::default().below(folder.path()).unwrap_err().to_string();
        let error = error.replace(&folder.path().display().to_string(), "");
        assert!(error.starts_with(&format!("/{FILE}:{expected}")), "{error}");
    }

    #[test]
    fn a_typo_is_found_at_its_line_and_column() {
        check_wrong("ignore = [\"id\"\n", "1:15: unclosed array");
        check_wrong("\nignored = [\"id\"]\n", "2:1: unknown field `ignored`");
        check_wrong(
            "ignore = [\n  \"id\",\n  \"idd\",\n]\n",
            "3:3: \"idd\": no event has this key",
        );
        check_wrong("args = [\"--fast\"]\n", "1:9: \"--fast\": unexpected argument '--fast'");
        check_wrong(
            "args = [\"--tools=none.json\"]\n",
            "1:9: \"--tools=none.json\": there is no such file",
        );
        check_wrong("args = [\"--update\"]\n", "1:9: \"--update\": write an option of `parse`");
        check_wrong("exclude = [\"a[\"]\n", "1:12: \"a[\": ");
        check_wrong("only = [\"text\"]\nignore = [\"text\"]\n", " --only text and --ignore text");
    }
}
