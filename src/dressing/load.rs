//! A program by its name, or a user's own: a TOML file with the fields of [`Program`].
//!
//! ```toml
//! name = "acme"
//! begins = ["Acme {*}\n> "]
//! thought = { open = "<thinking>\n", close = "<done>\n" }
//! ends = ["Used {input} and {output} tokens.\n"]
//! always_ends = true
//! ```

use crate::dressing::machine::Forms;
use crate::dressing::spec::{From, Program};
use crate::dressing::table::PROGRAMS;
use crate::leak::Loaded;
#[cfg(feature = "cli")]
use crate::row_error;
use crate::row_error::RowError;

/// Finds a program by what a user calls it: `auto`, `none`, a name or alias; `-` and `_` are the
/// same. No file is opened: see [`load()`].
///
/// ```
/// use toolstream::dressing::{From, choose};
///
/// assert!(matches!(choose("mlx-lm")?, From::Program(row) if row.name == "mlx_lm"));
/// assert_eq!(choose("olama").unwrap_err().to_string(), "no program is named olama");
/// # Ok::<(), toolstream::dialect::RowError>(())
/// ```
pub fn choose(word: &str) -> Result<From, RowError> {
    match word {
        "auto" => return Ok(From::Auto),
        "none" => return Ok(From::None),
        _ => {}
    }
    find(word).map(From::Program).ok_or_else(|| RowError::unknown("program", word))
}

/// Finds a program as [`choose`] does, or reads the TOML file at a path, which has a `/` or ends in
/// `.toml`.
#[cfg(feature = "cli")]
pub(crate) fn open(word: &str) -> Result<From, RowError> {
    let is_path = word.contains('/') || word.ends_with(".toml");
    row_error::or_file(choose(word), word, is_path, |text| load(text).map(From::Program))
}

/// Returns the program of this name or alias; `-` and `_` are the same.
pub fn find(name: &str) -> Option<&'static Program> {
    let name = name.replace('-', "_");
    let is_it = |known: &&str| known.replace('-', "_") == name;
    PROGRAMS.iter().find(|row| [row.name].iter().chain(row.aliases).any(is_it))
}

/// Parses a program from TOML. The row lives as long as the program, as with
/// [`dialect::load`](crate::dialect::load()).
///
/// ```
/// let row = toolstream::dressing::load("name = 'mine'\nends = [\"Bye.\\n\"]\n")?;
/// assert_eq!(row.name, "mine");
///
/// let error = toolstream::dressing::load("name = 'mine'\nend = []\n").unwrap_err();
/// assert!(error.to_string().starts_with("line 2, column 1: unknown field `end`"));
/// # Ok::<(), toolstream::dialect::RowError>(())
/// ```
pub fn load(text: &str) -> Result<&'static Program, RowError> {
    static LOADED: Loaded<Program> = Loaded::new();
    LOADED.row(text, read)
}

fn read(text: &str) -> Result<Program, RowError> {
    let program: Program = toml::from_str(text).map_err(|error| RowError::of_toml(text, &error))?;
    let says_something = !program.begins.is_empty()
        || !program.ends.is_empty()
        || program.thought.is_some()
        || !program.prompt.is_empty();
    if !says_something {
        return Err(RowError::invalid("a program needs begins, thought, ends or prompt"));
    }
    Forms::new(&program).map_err(RowError::invalid)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leak;

    #[track_caller]
    fn check_error(toml: &str, part: &str) {
        let error = load(toml).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn the_example_of_this_page_is_read() {
        let toml = leak::example(include_str!("load.rs"));
        assert_eq!(load(&toml).unwrap().name, "acme");
    }

    #[test]
    fn mistakes_are_pointed_at() {
        check_error("name = 'x'\nends = 'a'\n", "line 2, column 8");
        check_error("name = 'x'\n", "needs begins");
        check_error("name = 'x'\nends = ['a {in}']\n", "{in}");
    }

    #[test]
    fn every_row_is_read() {
        for row in PROGRAMS {
            Forms::new(row).unwrap();
        }
    }

    #[test]
    fn no_name_stands_twice() {
        let names = PROGRAMS.iter().flat_map(|row| [&[row.name], row.aliases].concat());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
