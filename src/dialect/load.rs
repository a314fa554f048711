//! A user's own dialect: a TOML file with the fields of [`Dialect`].
//!
//! ```toml
//! name = "research-agent"
//!
//! [tags]
//! thinking = "reasoning"
//! present_answer = "text"
//! sources = "block"
//! "tool_*" = "tool"
//!
//! [[call]]                              # beside or instead of tags
//! open = "<run{@name}>"
//! close = "</run>"
//! body = { parameters = { open = "<arg{@key=name}>", close = "</arg>" } }
//! ```

use crate::dialect::machine::grammar::Grammar;
use crate::dialect::spec::Dialect;
use crate::leak::Loaded;
use crate::row_error::RowError;

/// Parses a dialect from TOML.
///
/// The row lives as long as the program, as the built-in ones do. The same text has the same row, so
/// that a program which loads a dialect for each of its inputs does not grow with them.
///
/// ```
/// let row = toolstream::dialect::load("name = 'mine'\n[tags]\nthought = 'reasoning'\n")?;
/// assert_eq!(row.name, "mine");
///
/// let error = toolstream::dialect::load("name = 'mine'\n[tags]\nthought = 'thinking'\n").unwrap_err();
/// assert!(error.to_string().starts_with("line 3, column 11: unknown variant `thinking`"));
/// # Ok::<(), toolstream::dialect::RowError>(())
/// ```
pub fn load(text: &str) -> Result<&'static Dialect, RowError> {
    LOADED.row(text, read)
}

pub(crate) static LOADED: Loaded<Dialect> = Loaded::new();

fn read(text: &str) -> Result<Dialect, RowError> {
    let dialect: Dialect = toml::from_str(text).map_err(|error| RowError::of_toml(text, &error))?;
    if dialect.markers().next().is_none() {
        return Err(RowError::invalid("a dialect needs [tags], or a [[region]] or [[call]]"));
    }
    match Grammar::new(&dialect) {
        Ok(_) => Ok(dialect),
        Err(message) => Err(RowError::at(text, place(text, &message), message)),
    }
}

/// Returns where a text has the word that a message names: in quotation marks, or in braces.
fn place(text: &str, message: &str) -> Option<usize> {
    let word = message.split_once('"').and_then(|(_, tail)| tail.split_once('"'));
    let word = word.or_else(|| message.split_once(" is not"))?.0;
    text.find(&format!("\"{word}\"")).or_else(|| text.find(word))
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
        assert_eq!(load(&toml).unwrap().name, "research-agent");
        assert!(std::ptr::eq(load(&toml).unwrap(), load(&toml).unwrap()));
    }

    #[test]
    fn mistakes_are_pointed_at() {
        check_error("name = 'x'\n[tags]\na = 'reason'\n", "line 3");
        check_error("name = 'x'\ncolour = 'red'\n", "colour");
        check_error("name = 'x'\n", "needs [tags]");
        check_error(
            "name='x'\n[[call]]\nopen='{name}'\nclose='y'\nbody='arguments'\n",
            "must begin with",
        );
        check_error("name='x'\n[[call]]\nopen='<{nam}>'\nclose='y'\nbody='arguments'\n", "{nam}");
        check_error("name = 'x'\n[tags]\n'a?' = 'tool'\n", "line 3, column 2: the tool tag");
    }
}
