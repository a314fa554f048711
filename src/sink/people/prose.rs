//! Text for a terminal, as it streams: lines are broken between words, and Markdown's bold,
//! headings, lists and code have the terminal's own styles. A word is held back until it ends, and
//! what may be in a style until its closer, at most to the end of the line.

use std::iter::repeat_n;

use unicode_width::UnicodeWidthChar;

use crate::cut::Cut as _;
use crate::json::make_visible;

/// The most bytes of a line that wait for the closer of a style.
const MAX_HELD: usize = 4 << 10;

/// The most columns that the lines of a list item are indented by.
const MAX_HANG: usize = 16;

/// Wide characters that no line begins with.
const CLOSERS: &str = "、。，．：；！？）］｝」』】〉》〕…ー々";

/// A style, as the parameter of an escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold = 1,
    Dim = 2,
    Red = 31,
    Code = 36,
}

/// How text is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProseForm {
    /// The columns of a line; 0 if lines are not broken.
    pub(super) width: usize,
    /// True if Markdown gets styles.
    pub(super) has_markdown: bool,
    /// The style of all of it.
    pub(super) style: Option<Style>,
}

/// Writes text that comes in pieces.
#[derive(Default)]
pub(super) struct Prose {
    form: ProseForm,
    /// What of the line is not decided yet.
    held: String,
    line: ProseLine,
    /// The fence of the code that is open.
    fence: Option<(char, usize)>,
    /// The word that is open, as it is written, and its columns.
    word: String,
    word_width: usize,
    /// The style that the word is in.
    open: Option<Style>,
    spaces: usize,
    /// Line ends that are written once something follows.
    breaks: usize,
    /// The columns that are written of the line.
    column: usize,
    /// The columns that its next lines are indented by.
    hang: usize,
    /// True if nothing has been written.
    is_fresh: bool,
}

/// What a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProseLine {
    /// Not known yet.
    #[default]
    Open,
    Text,
    Heading,
    /// Code, or a row of a table: it is not broken.
    Fixed,
}

/// What a line begins as.
enum Begins {
    Unknown,
    Line(ProseLine),
    Heading(usize),
    /// The bytes of its indentation, and of its mark with the blank after it.
    Item(usize, usize),
    Fence(char, usize),
}

impl Prose {
    pub(super) fn new(form: ProseForm) -> Self {
        Prose { form, is_fresh: true, ..Prose::default() }
    }

    /// Takes the next piece.
    pub(super) fn feed(&mut self, text: &str, page: &mut String) {
        for part in text.split_inclusive('\n') {
            let line = part.strip_suffix('\n');
            self.held.push_str(line.unwrap_or(part));
            if line.is_some() {
                self.end_line(page);
            } else {
                self.advance(false, page);
            }
        }
    }

    /// Writes what is held back. The line stays open; line ends are left out.
    pub(super) fn finish(&mut self, page: &mut String) {
        self.end_line(page);
        (self.breaks, self.fence) = (0, None);
    }

    fn end_line(&mut self, page: &mut String) {
        if self.held.ends_with('\r') {
            self.held.pop();
        }
        self.advance(true, page);
        self.end_word(page);
        (self.line, self.hang, self.spaces) = (ProseLine::Open, 0, 0);
        // A text begins with its first word.
        self.breaks += usize::from(!self.is_fresh);
    }

    /// Writes as much of the line as is decided; all of it once the line has ended.
    fn advance(&mut self, ended: bool, page: &mut String) {
        let held = std::mem::take(&mut self.held);
        let is_over = ended || held.len() > MAX_HELD;
        let mut rest = held.as_str();
        if self.line == ProseLine::Open {
            match self.begins(rest, is_over) {
                Begins::Unknown => {
                    self.held = held;
                    return;
                }
                Begins::Line(line) => self.line = line,
                Begins::Heading(size) => {
                    self.line = ProseLine::Heading;
                    rest = rest.after(size);
                }
                Begins::Item(indent, mark) => {
                    let (before, mark) = rest.split_at(mark).0.split_at(indent);
                    let bullet = if mark.starts_with(['-', '*', '+']) { "• " } else { mark };
                    self.add(before, Style::Plain, page);
                    self.add(bullet, Style::Plain, page);
                    self.hang = (before.len() + bullet.chars().count()).min(MAX_HANG);
                    rest = rest.after(before.len() + mark.len());
                    self.line = ProseLine::Text;
                }
                Begins::Fence(mark, length) => {
                    self.fence = match self.fence {
                        None => Some((mark, length)),
                        Some(_) => None,
                    };
                    self.line = ProseLine::Fixed;
                    self.add(rest, Style::Dim, page);
                    return;
                }
            }
        }
        let style = match (self.line, self.fence) {
            (ProseLine::Heading, _) => Style::Bold,
            (ProseLine::Fixed, Some(_)) => Style::Code,
            _ => Style::Plain,
        };
        if self.line == ProseLine::Fixed || !self.form.has_markdown {
            return self.keep_return(rest, ended, |prose, text| prose.add(text, style, page));
        }
        while !rest.is_empty() {
            let Some(at) = rest.find(['`', '*']) else { break };
            let (before, marked) = rest.split_at(at);
            self.add(before, style, page);
            rest = match span(marked, is_over) {
                Span::Unknown => {
                    self.held = marked.to_owned();
                    return;
                }
                Span::Plain(size) => {
                    let (plain, rest) = marked.split_at(size);
                    self.add(plain, style, page);
                    rest
                }
                Span::Styled(inner, own, rest) => {
                    self.add(inner, own, page);
                    rest
                }
            };
        }
        self.keep_return(rest, ended, |prose, text| prose.add(text, style, page));
    }

    /// Hands on a text without the carriage return that may belong to the end of its line.
    fn keep_return(&mut self, text: &str, ended: bool, hand: impl FnOnce(&mut Self, &str)) {
        let kept = text.strip_suffix('\r').filter(|_| !ended);
        hand(self, kept.unwrap_or(text));
        if kept.is_some() {
            self.held.push('\r');
        }
    }

    /// Returns what a line is that begins so.
    fn begins(&self, line: &str, ended: bool) -> Begins {
        let unknown = |otherwise| if ended { Begins::Line(otherwise) } else { Begins::Unknown };
        if !self.form.has_markdown {
            return Begins::Line(ProseLine::Text);
        }
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let otherwise = if self.fence.is_some() { ProseLine::Fixed } else { ProseLine::Text };
        let Some(first) = text.chars().next() else { return unknown(otherwise) };
        let run = text.chars().take_while(|c| *c == first).count();
        let is_all = run * first.len_utf8() == text.trim_end().len();
        if matches!(first, '`' | '~') && indent < 4 {
            let is_fence = match self.fence {
                None => run >= 3,
                Some((mark, length)) => mark == first && run >= length && is_all,
            };
            return match is_fence {
                true if ended => Begins::Fence(first, run),
                true => Begins::Unknown,
                false if is_all => unknown(otherwise),
                false => Begins::Line(otherwise),
            };
        }
        let after = text.after(run);
        match first {
            _ if self.fence.is_some() => Begins::Line(ProseLine::Fixed),
            '|' => Begins::Line(ProseLine::Fixed),
            '#' if run <= 6 && after.is_empty() => unknown(ProseLine::Text),
            '#' if run <= 6 && after.starts_with(' ') => Begins::Heading(indent + run + 1),
            '-' | '*' | '+' if run == 1 && after.starts_with(' ') => {
                Begins::Item(indent, indent + 2)
            }
            '-' | '*' | '+' if after.is_empty() => unknown(ProseLine::Text),
            '0'..='9' => {
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                match text.as_bytes().after(digits) {
                    _ if digits > 3 => Begins::Line(ProseLine::Text),
                    [] | [b'.' | b')'] => unknown(ProseLine::Text),
                    [b'.' | b')', b' ', ..] => Begins::Item(indent, indent + digits + 2),
                    _ => Begins::Line(ProseLine::Text),
                }
            }
            _ => Begins::Line(ProseLine::Text),
        }
    }

    /// Adds text of the line to the words.
    fn add(&mut self, text: &str, style: Style, page: &mut String) {
        let style = if matches!(style, Style::Plain) { self.form.style } else { Some(style) };
        for c in text.chars() {
            let width = c.width().unwrap_or(0);
            let is_blank = c == ' ' || c == '\t';
            let breaks = is_blank || (width > 1 && !CLOSERS.contains(c));
            if breaks && !self.word.is_empty() {
                self.end_word(page);
            }
            if is_blank {
                // The place of the next stop is not known before a word is.
                self.spaces += if c == ' ' { 1 } else { 4 };
                continue;
            }
            if self.open != style {
                self.close();
                self.word.push_str(
                    &style.map_or(String::new(), |style| format!("\x1b[{}m", style as u8)),
                );
                self.open = style;
            }
            match c {
                '\u{200C}' | '\u{200D}' => self.word.push(c),
                '\r' => {
                    self.word.push_str("\\r");
                    self.word_width += 2;
                }
                _ => {
                    let before = self.word.len();
                    make_visible(c.encode_utf8(&mut [0; 4]), &mut self.word);
                    let is_itself = self.word.len() - before == c.len_utf8();
                    self.word_width += if is_itself { width } else { self.word.len() - before };
                }
            }
        }
    }

    /// Ends the style of the word.
    fn close(&mut self) {
        if self.open.take().is_some() {
            self.word.push_str("\x1b[0m");
        }
    }

    /// Writes the word that is open: on the next line, if it has no room on this one.
    fn end_word(&mut self, page: &mut String) {
        if self.word.is_empty() {
            return;
        }
        self.close();
        if self.breaks > 0 {
            page.extend(repeat_n('\n', std::mem::take(&mut self.breaks)));
            self.column = 0;
        }
        let end = self.column + self.spaces + self.word_width;
        let is_full = self.form.width > 0 && self.line != ProseLine::Fixed && end > self.form.width;
        if is_full && self.column > self.hang {
            page.push('\n');
            (self.column, self.spaces) = (0, self.hang);
        }
        page.extend(repeat_n(' ', self.spaces));
        page.push_str(&self.word);
        self.column += self.spaces + self.word_width;
        if self.form.width > 0 && self.column > self.form.width {
            // The terminal has broken the word.
            self.column = (self.column - 1) % self.form.width + 1;
        }
        self.word.clear();
        (self.spaces, self.word_width, self.is_fresh) = (0, 0, false);
    }
}

/// What a mark of Markdown in a line begins.
enum Span<'t> {
    /// More of the line decides.
    Unknown,
    /// So many bytes of text.
    Plain(usize),
    /// Text in a style, and what follows it.
    Styled(&'t str, Style, &'t str),
}

/// Looks at a text that begins with a backtick or an asterisk.
fn span(text: &str, ended: bool) -> Span<'_> {
    let Some(first) = text.chars().next() else { return Span::Plain(0) };
    let run = text.chars().take_while(|c| *c == first).count();
    let (mark, rest) = text.split_at(run);
    let is_mark = first == '`' || run == 2;
    if rest.is_empty() && !ended {
        return Span::Unknown;
    }
    if !is_mark || (first == '*' && rest.starts_with(char::is_whitespace)) {
        return Span::Plain(run);
    }
    let mut ends = rest.match_indices(mark).filter(|(at, _)| {
        let (before, after) = (rest.split_at(*at).0, rest.after(at + run));
        let is_whole = !before.ends_with(first) && !after.starts_with(first);
        is_whole && !before.is_empty() && (first == '`' || !before.ends_with(char::is_whitespace))
    });
    match ends.next() {
        // The mark may be longer than what has come of it.
        Some((at, _)) if at + run == rest.len() && !ended => Span::Unknown,
        Some((at, _)) => {
            let style = if first == '`' { Style::Code } else { Style::Bold };
            Span::Styled(rest.split_at(at).0, style, rest.after(at + run))
        }
        None if ended => Span::Plain(run),
        None => Span::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as it is written, whole and in pieces; styles are written as `<1>…<0>`.
    #[track_caller]
    fn check(width: usize, has_markdown: bool, text: &str, expected: &str) {
        let chars: Vec<char> = text.chars().collect();
        for size in [1, 2, 3, 7, chars.len().max(1)] {
            let form = ProseForm { width, has_markdown, style: None };
            let (mut prose, mut page) = (Prose::new(form), String::new());
            for piece in chars.chunks(size) {
                prose.feed(&piece.iter().collect::<String>(), &mut page);
            }
            prose.finish(&mut page);
            let page = page.replace("\x1b[", "<").replace("m", ">");
            assert_eq!(page, expected.replace('m', ">"), "in pieces of {size}");
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        check(10, false, "one two three four", "one two\nthree four");
        check(
            10,
            false,
            "a-word-that-is-too-long for it too",
            "a-word-that-is-too-long for it\ntoo",
        );
        check(10, false, "one  two\n\n  three", "one  two\n\n  three");
        check(10, false, "\n\none\n\n\n", "one");
        check(10, false, "日本語。日本語、日本", "日本語。日\n本語、日本");
        check(10, false, "日本語日本。", "日本語日\n本。");
        check(6, false, "👩\u{200d}🔬 👍 ab", "👩\u{200d}🔬\n👍 ab");
        check(0, false, &"word ".repeat(40), "word ".repeat(40).trim_end());
        check(10, false, "a\u{1b}[2Jb\r\nc\rd", "a\\u001b[2Jb\nc\\rd");
    }

    #[test]
    fn markdown_has_styles() {
        check(0, true, "It is **so**, `x` 2 * 3 ** 4.", "It is <1>so<0>, <36>x<0> 2 * 3 ** 4.");
        check(0, true, "## Why\n\nSo.", "<1>Why<0>\n\nSo.");
        check(0, true, "#tag ** and `open\nnext", "#tag ** and `open\nnext");
        check(0, true, "**not closed\n*it* ***x***", "**not closed\n*it* ***x***");
        check(0, true, "- one\n  * two\n12. three\n-5\n--", "• one\n  • two\n12. three\n-5\n--");
        check(12, true, "- one two three four\n", "• one two\n  three four");
        check(12, true, "1. one two three four", "1. one two\n   three\n   four");
        check(0, true, "``a ` b`` c", "<36>a<0> <36>`<0> <36>b<0> c");
    }

    #[test]
    fn code_is_not_broken() {
        let code = "```sh\n# a long line **here**\n```\n# end";
        let shown = "<2>```sh<0>\n<36>#<0> <36>a<0> <36>long<0> <36>line<0> <36>**here**<0>\n\
                     <2>```<0>\n<1>end<0>";
        check(8, true, code, shown);
        check(8, true, "~~~\n```\n~~~\n", "<2>~~~<0>\n<36>```<0>\n<2>~~~<0>");
        check(8, true, "| a | b | c | d |", "| a | b | c | d |");
    }
}
