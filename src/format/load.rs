//! A user's own format: a TOML file with the fields of a row.
//!
//! ```toml
//! name = "acme"
//! about = "Acme's gateway"
//! kind = "type"                         # the member that says what a record is
//! start = { id = "acme_id", model = "m" }
//! on = [
//!   { kind = "begin", begin = true },
//!   { kind = "delta", text = "d.text", thought = "d.thinking" },
//!   { kind = "call", call = { key = "n", id = "call.id", name = "call.fn", arguments = "call.args" } },
//!   { kind = "call_done", call_end = "n" },
//!   { kind = "done", finish = "why", usage = "tokens", end = true },
//!   { kind = "problem", error = "." },
//!   { kind = "ping" },                  # a keep-alive
//! ]
//! usage = { input = "in", output = "out" }
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::format::check;
use crate::format::format::Format;
use crate::format::named;
use crate::format::spec::{Row, Spec};
use crate::format::table::find;
use crate::leak::Loaded;
#[cfg(feature = "cli")]
use crate::row_error;
use crate::row_error::RowError;

/// Parses a format from TOML.
///
/// The row lives as long as the program, as the built-in ones do. The same text has the same row, so
/// that a program which loads a format for each of its inputs does not grow with them.
///
/// # Errors
///
/// The text is no TOML, has a word that no row has, or describes no format.
///
/// ```
/// let row = toolstream::format::load(
///     "name = 'mine'
///      kind = 'type'
///      on = [{ kind = 'piece', text = 'text' }, { kind = 'last', finish = 'why', end = true }]",
/// )?;
/// assert_eq!(row.name, "mine");
///
/// let error = toolstream::format::load("name = 'mine'\non = [{ txt = 'text' }]").unwrap_err();
/// assert!(error.to_string().starts_with("line 2, column 9: unknown field `txt`"), "{error}");
/// # Ok::<(), toolstream::format::RowError>(())
/// ```
pub fn load(toml: &str) -> Result<&'static Format, RowError> {
    static LOADED: Loaded<Format> = Loaded::new();
    LOADED.row(toml, |toml| {
        let row = Row::loaded(read(toml)?, toml);
        match check::mistake(row.spec, toml) {
            Some(mistake) => Err(mistake),
            None => Ok(Format::of(row)),
        }
    })
}

/// Reads a row, which may have mistakes that its words do not show.
pub(super) fn read(text: &str) -> Result<Spec, RowError> {
    let text = expand(text)?;
    toml::from_str(&text).map_err(|error| advised(RowError::of_toml(&text, &error)))
}

/// Adds to a mistake what is to be written instead.
fn advised(mut error: RowError) -> RowError {
    if let RowError::Invalid { message, .. } = &mut error {
        if let Some((wrong, _)) = message.split_once(", expected struct") {
            *message = format!("{wrong}, expected a table");
        }
        let advice = match message.as_str() {
            "invalid type: sequence, expected a string" => ": of several words, that is `\"a|b\"`",
            "invalid type: boolean `true`, expected a string" => {
                ": a flag that is always set is `\"'true'\"`, and a word of `is` is `\"true\"`"
            }
            _ => "",
        };
        message.push_str(advice);
    }
    error
}

/// Finds a format by what a user calls it: `auto`, a name or alias; `-` and `_` are the same. `auto`
/// is `None`. No file is opened: see [`load()`].
///
/// # Errors
///
/// No format has the name.
///
/// ```
/// use toolstream::format::choose;
///
/// assert_eq!(choose("openai")?.map(|row| row.name), Some("openai-chat"));
/// assert_eq!(choose("opnai").unwrap_err().to_string(), "no format is named opnai");
/// # Ok::<(), toolstream::format::RowError>(())
/// ```
pub fn choose(word: &str) -> Result<Option<&'static Format>, RowError> {
    if word == "auto" {
        return Ok(None);
    }
    find(word).map(Some).ok_or_else(|| RowError::unknown("format", word))
}

/// Finds a format as [`choose`] does, or reads the TOML file at a path, which contains a `/` or a `.`.
#[cfg(feature = "cli")]
pub(crate) fn open(word: &str) -> Result<Option<&'static Format>, RowError> {
    let is_path = word.contains(['/', '.']);
    row_error::or_file(choose(word), word, is_path, |text| load(text).map(Some))
}

/// Writes the places that a file names once in place of their names: `$NAME`.
fn expand(text: &str) -> Result<String, RowError> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        places: BTreeMap<String, String>,
    }
    let named: Named = toml::from_str(text).map_err(|error| RowError::of_toml(text, &error))?;
    let names: Vec<&str> = named.places.keys().map(String::as_str).collect();
    if let Some(mistake) = check::wrong_word(text, &names) {
        return Err(mistake);
    }
    Ok(named::expand(text, &named.places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::spec::{
        BlockSpec, CallSpec, Counts, DetectSpec, DoneSpec, End, FailureSpec, Group, LogSpec,
        ResultSpec, Rule, StartSpec, WarnSpec, WrapSpec,
    };
    use crate::leak;

    #[track_caller]
    fn check_error(toml: &str, part: &str) {
        let error = load(toml).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }

    /// A file that is right but for its rules.
    #[track_caller]
    fn check_rules(on: &str, part: &str) {
        check_error(&format!("name = 'x'\nkind = 'type'\non = [{on}]\n"), part);
    }

    #[test]
    fn the_example_of_this_page_is_read() {
        let toml = leak::example(include_str!("load.rs"));
        assert_eq!(load(&toml).unwrap().name, "acme");
    }

    #[test]
    fn a_name_stands_for_places() {
        let toml = "name = 'x'\nkind = 'type'\n\
                    on = [{ kind = 'a', text = '$said|$sai', end = '$said.e' }]\n\
                    [places]\nsai = 'a.b'\nsaid = 'c.d|c'\n";
        let rule = load(toml).unwrap().row().unwrap().spec.on[0];
        assert_eq!((rule.text, rule.end), ("c.d|c|a.b", End::If("c.d.e|c.e")));
    }

    #[test]
    fn wrong_words_are_pointed_at() {
        check_error(
            "name = 'x'\nknid = 'type'\non = []\n",
            "line 2, column 1: unknown field `knid`",
        );
        check_error("name = 'x'\nknid = 'type'\non = []\n", "similar: kind");
        check_error("kind = 'type'\non = []\n", "missing field `name`");
        check_rules(
            "{ kind = 'a', txt = 'b' }",
            "line 3, column 21: unknown field `txt`; similar: text",
        );
        check_rules(
            "{ kind = 'a', begin = 'late' }",
            "`begin` is true, false or \"other\" or \"cut\"",
        );
        check_rules("{ kind = 'a', call = { arg = 'b' } }", "unknown field `arg`");
        check_rules("{ kind = 'a', warn = { code = 'oh', text = 'b' } }", "unknown word `oh`");
    }

    #[test]
    fn what_words_do_not_show_is_told() {
        check_error("name = 'X'\non = []", "the name `X`");
        check_error("name = 'gemini'\non = []", "the format gemini has the name");
        check_rules("{ kind = 'a', text = 't' }", "no rule ends a message");
        check_rules("{ kind = 'a', each = 'b > c', end = true }", "there is no [group.c]");
        check_rules("{ kind = 'a', each = 'b', end = true }", "`each` has places and a group");
        check_rules(
            "{ kind = 'a', text = 'b..c', end = true }",
            "line 3, column 29: rule 1 of `on`: `b..c` is no place",
        );
        check_rules(
            "{ kind = 'a*', text = 't' }, { kind = 'ab', end = true }",
            "line 3, column 38: rule 2 of `on`: it never applies: rule 1 before it",
        );
        check_error("name = 'x'\non = [{ text = 't', end = true }]", "takes every record");
        check_error(
            "name = 'x'\non = [{ has = 'choices', end = true }]",
            "records of openai-chat too",
        );
        check_error(
            "name = 'x'\nunread = 'a'\non = [{ has = 'a.b', end = true }]",
            "rule 1 of `on`: it reads `a`, which is `unread`",
        );
        check_rules("{ kind = 'a', release = true, end = true }", "the row has no `hold`");
        check_rules(
            "{ kind = 'a', call = { key = \"m + '/' + n\", name = 'f' }, end = true }",
            "a call's `key` of several is a list",
        );
        check_rules("{ kind = 'a', choice = \"n + ''\", end = true }", "is no index");
        check_rules("{ kind = 'a', text = 'kind:*', end = true }", "the `*` of the rule's `kind`");
        check_rules("{ kind = 'a', text = 'call:', end = true }", "only a result's `name` has it");
        check_rules(
            "{ kind = 'a', text = 'key:', end = true }",
            "line 3, column 29: rule 1 of `on`",
        );
        let of_row = |word: &str, part: &str| {
            let rest = "on = [{ has = 'a', text = 'a', end = true }]";
            check_error(&format!("name = 'x'\n{word}\n{rest}"), part);
        };
        of_row("hold = true", "line 2, column 1: no rule has a `call` that could wait");
        of_row("finish_words = { a = 'stop' }", "line 2, column 1: no rule has `finish`");
        of_row("dialect = 'hermse'", "no dialect is named `hermse`; similar: hermes");
        of_row("dialect = 'hermes'\nlog = {}", "has no `dialect`");
        let wraps = "on = [{ wraps = { at = 'a', formats = 'claude-code' }, end = true }]";
        check_error(
            &format!("name = 'x'\ndialect = 'auto'\n{wraps}"),
            "wraps an agent's log, has no `dialect`",
        );
        check_rules("{ kind = 'a', open = true, end = true }", "a block begins `at` the place");
        check_rules("{ kind = 'a', stop_sequence = 's', end = true }", "no rule has `finish`");
        let unused = "name = 'x'\non = [{ has = 'a', end = true }]\n[group.b]\non = []\n";
        check_error(unused, "line 3, column 8: no `each` leads to [group.b]");
        let list = "name = 'x'\non = [{ has = 'a', end = true }]\n[group]\nb = [{ txt = 't' }]\n";
        check_error(list, "line 4, column 8: unknown field `txt`; similar: text");
        check_error(&list.replace("txt", "text"), "line 4, column 1: no `each` leads to [group.b]");
        let each = list.replace("has", "each = 'a > b', has").replace("txt", "text");
        let row = load(&each).unwrap().row().unwrap();
        assert_eq!(row.spec.groups[0].on[0].text, "t");
        let wrong = each.replace("text = 't'", "text = 'a..b'");
        check_error(&wrong, "line 4, column 16: rule 1 of the group `b`: `a..b` is no place");
        check_error(&list.replace("[{ txt = 't' }]", "3"), "expected a list of rules");
    }

    #[test]
    fn what_is_no_place_is_told() {
        let check = |text: &str, part: &str| {
            check_rules(&format!("{{ kind = 'a', text = {text}, end = true }}"), part);
        };
        check("''", "line 3, column 28: `text` is empty");
        check("\"'t\"", "`'t` is no place: a word ends with `'`");
        check("'$foo.b'", "line 3, column 28: `$foo` stands for no place of [places]");
        check("'$.a.b'", "`$.a.b` is no place: that is `a.b`");
        check("'$.a[0]'", "`$.a[0]` is no place: that is `a.0`");
        check("'kinds:'", "`kinds:` is no place; similar: kind:");
        check("'{a: b'", "`{a: b` is no place: it has no `}`");
        check("'a[0].b'", "`a[0].b` is no place: that is `a.0.b`");
        check("'a==b'", "`a==b` is no place: a flag is `place=word`");
        check("'/a/b'", "`/a/b` is no place: that is `/a.b`");
        check("'!a'", "`!a` is no place");
        check("'a?.b'", "`a?.b` is no place: that is `a.b`");
        check("'a[*].b'", "`a[*].b` is no place: that is `a.*.b`");
        check("'.a[].b'", "`.a[].b` is no place: that is `a.*.b`");
        check("\"a['b']\"", "`a['b']` is no place: that is `a.b`");
        check("'.a.b'", "`.a.b` is no place: that is `a.b`");
        check("'a // b'", "`a // b` is no place: that is `a|b`");
        check("true", "expected a string: a flag that is always set is `\"'true'\"`");
        check("['a', 'b']", "expected a string: of several words, that is `\"a|b\"`");
        check("'a', is = { b = ['x'] }", "expected a string: of several words");
        let many = vec!["a"; 1000].join("|");
        check(&format!("'{many}'"), "a place has more than 256 paths");
        check("3", "invalid type: integer `3`, expected a string");
        let end = |rest: &str| format!("name = 'x'\n{rest}\non = [{{ has = 'a', end = true }}]\n");
        check_error(&end("kind = ''"), "line 2, column 8: `kind` is empty");
        check_error(&end("start = { id = 'a..b' }"), "line 2, column 17: `a..b` is no place");
        check_error(&format!("{}[usage]\ninput = 'a..b'\n", end("")), "`a..b` is no place");
        check_error(&end("log = { ends = 'a..b' }"), "`a..b` is no place");
        check_rules("{ kind = 'a', needs = 'a..b', end = true }", "rule 1 of `on`: `a..b` is no");
        let each =
            "{ kind = 'a', each = 'c[0] > g', end = true }]\n[group.g]\non = [{ text = 't' }";
        check_rules(each, "`c[0]` is no place");
    }

    #[test]
    fn what_is_void_is_told() {
        check_error(
            "name = 'x'\ndone = true\non = []",
            "invalid type: boolean `true`, expected a table",
        );
        let rules = |on: &str, part: &str| check_error(&format!("name = 'x'\n{on}"), part);
        rules(
            "on = [{ has = 'a', text = 'a' }, { has = ['a', 'b'], end = true }]",
            "line 2, column 34: rule 2 of `on`: it never applies: rule 1 before it",
        );
        rules(
            "on = [{ has = 'a|c', text = 'a' }, { has = ['b', 'c'], end = true }]",
            "rule 2 of `on`: it never applies",
        );
        rules(
            "on = [{ has = 'a', text = 'a', end = true }]\nusage = { input = 'i' }",
            "line 3, column 1: no rule has `usage`",
        );
        rules("on = [{ has = 'a', end = 'stopped' }]", "nothing stops a message");
        rules("on = [{ has = 'a', of = 'm', end = true }]", "a rule with `of` needs `role`");
        rules("on = [{ has = 'a', origin = 'all', end = true }]", "only a log has an `origin`");
        rules(
            "log = {}\non = [{ wraps = { at = 'a', formats = 'gemini' } }]",
            "line 3, column 9: rule 1 of `on`: a row with `log` or `hold` wraps nothing",
        );
        let keyed = |kind: &str| {
            let on = format!(
                "kind = 'key:'\non = [{{ kind = 'a', end = true }}, {{ kind = '{kind}', text = 't' }}]"
            );
            rules(
                &on,
                "line 3, column 37: rule 2 of `on`: with `key:`, a `*` alone names no member",
            );
        };
        keyed("*");
        keyed("b|*");
        let places = |places: &str, part: &str| {
            rules(&format!("on = [{{ has = '$b', end = true }}]\n[places]\n{places}"), part);
        };
        places("a = 'c'\nb = 'd'", "line 4, column 1: no place of the row is `$a`");
        places("a = 'c'\nb = '$a'", "line 5, column 5: `$a` has a name in it");
    }

    /// Returns the words of a table: an error names them.
    fn words<T: serde::de::DeserializeOwned>() -> Vec<String> {
        let error = toml::from_str::<T>("no_word = 1").err().unwrap();
        let words = error.message().split('`').skip(3).step_by(2);
        words.map(str::to_owned).collect()
    }

    #[test]
    fn every_word_has_a_line_in_the_manual() {
        let page = include_str!("../../man/reference.md");
        let page = page.split_once("## Format files").unwrap().1;
        let page = page.split_once("\n## ").unwrap().0;
        let check = |title: &str, mut words: Vec<String>| {
            let table = page.split_once(&format!("\n{title}:\n\n")).unwrap().1;
            let lines = table.lines().take_while(|line| !line.is_empty()).skip(2);
            let mut told: Vec<_> =
                lines.map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
            told.sort();
            words.sort();
            assert_eq!(told, words, "{title}");
        };
        check("At the top", words::<Spec>());
        check("`start`, `session`", words::<StartSpec>());
        check("`detect`", words::<DetectSpec>());
        check("`done`", words::<DoneSpec>());
        check("`log`", words::<LogSpec>());
        check("`[group.NAME]`", words::<Group>());
        check("A rule", words::<Rule>());
        check("`call`", words::<CallSpec>());
        check("`result`", words::<ResultSpec>());
        check("`block`, `rest`", words::<BlockSpec>());
        check("`wraps`", words::<WrapSpec>());
        check("`error`", words::<FailureSpec>());
        check("`warn`", words::<WarnSpec>());
        check("`[usage]`", words::<Counts>());
    }

    #[test]
    fn what_means_nothing_is_told() {
        check_error(
            "name = 'x'\non = [{ kind = 'a', end = true }]",
            "column 9: rule 1 of `on`: it is for a kind",
        );
        check_rules("{ kind = 'a', usage = 'u', end = true }", "there is no [usage]");
        check_rules("{ kind = 'a', prompt = true, end = true }", "only a log has a `prompt`");
        let log =
            "name = 'x'\nkind = 'type'\nlog = {}\non = [{ kind = 'a', prompt = true, text = 't' }]";
        check_error(log, "a `prompt` is the user's");
        let words = "name = 'x'\nfinish_words = { a = 'b' }\non = [{ has = 'a', end = true }]";
        check_error(words, "unknown word `b`, expected one of `stop`");
        let call =
            |call: &str| format!("{{ kind = 'a', whole = true, call = {{ {call} }}, end = true }}");
        check_rules(&call("id = 'i', arguments = 'a'"), "no `call` of the row has a `name`");
        check_rules(&call("id = 'i', name = 'n'"), "needs the place of its `arguments`");
        check_rules(&call("id = 'i', name = 'n', free = 'a'"), "`free` is a flag");
        check_rules("{ kind = 'a', error = { at = '.', mesage = 'm' } }", "unknown field `mesage`");
        check_rules("{ kind = 'a', end = 1 }", "expected true, false or a word");
        check_rules("{ kind = 'a', end = 'true' }", "`end` is true without quotes");
        check_rules(
            "{ kind = 'a', cumulative = 'all', end = true }",
            "`cumulative` is true, false or \"always\"",
        );
        check_rules(
            "{ kind = 'a', wraps = { at = 'b', formats = 'opena-chat' }, end = true }",
            "line 3, column 52: rule 1 of `on`: no format is named `opena-chat`; similar: openai-chat",
        );
        check_rules("{ has = 'a', not = ['b', 'a'], end = true }", "it never applies: `a` is to");
        check_rules("{ has = 'a + b', end = true }", "`a + b` is there in every record");
        check_rules("{ kind = 'a*b', end = true }", "a `*` stands at the beginning or the end");
        check_rules("{ kind = 'a', each = 3, end = true }", "expected a word, or a list of words");
    }
}
