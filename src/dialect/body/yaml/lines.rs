//! YAML's lines: where the reader is, what is indentation, comment and blank,
//! and the scalars that are blocks of lines.

/// The rest of the text, and of the current line's beginning.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t> {
    pub(super) rest: &'t str,
    line: &'t str,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lines { rest: text, line: text }
    }

    pub(super) fn column(&self) -> usize {
        self.line.len() - self.rest.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn take(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    /// Passes spaces and tabs; tells whether a comment may follow them.
    pub(super) fn blanks(&mut self) -> bool {
        let rest = self.rest.trim_start_matches([' ', '\t']);
        let is_apart = rest.len() < self.rest.len() || self.column() == 0;
        self.rest = rest;
        is_apart
    }

    /// Whether nothing of the line is left but a comment, behind blanks.
    pub(super) fn is_over(&self) -> bool {
        let before = self.line.as_bytes().get(self.column().wrapping_sub(1));
        let is_apart = matches!(before, None | Some(b' ' | b'\t'));
        self.rest.starts_with('\n') || (is_apart && self.rest.starts_with('#'))
    }

    /// Goes behind the line's end, where nothing else is left.
    pub(super) fn end(&mut self) -> Option<()> {
        self.blanks();
        if !self.is_over() && !self.rest.is_empty() {
            return None;
        }
        self.next_line();
        Some(())
    }

    fn next_line(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        self.line = self.rest;
    }

    /// Goes to the next line that is neither blank nor comment, unless this is
    /// one: its column, if there is one. Tabs are no indentation.
    pub(super) fn indentation(&mut self) -> Option<Option<usize>> {
        loop {
            let spaces = self.rest.trim_start_matches(' ');
            let blanks = spaces.trim_start_matches('\t');
            if self.rest.is_empty() {
                return Some(None);
            }
            if blanks.trim_start_matches([' ', '\t']).starts_with('\n') || spaces.starts_with('#') {
                self.next_line();
                continue;
            }
            self.rest = spaces;
            let is_document = ["---", "...", "%"].iter().any(|mark| spaces.starts_with(mark));
            if blanks.len() < spaces.len() || (is_document && self.column() == 0) {
                return None;
            }
            return Some(Some(self.column()));
        }
    }

    /// Goes on to the next line of a scalar, over blank lines: how many line
    /// ends there were. Stays where the next line is none of it.
    pub(super) fn fold(&mut self, least: usize) -> Option<Option<usize>> {
        let mut next = *self;
        let mut ends = 0;
        while next.rest.trim_start_matches([' ', '\t']).starts_with('\n') {
            next.next_line();
            ends += 1;
        }
        if next.rest.trim_start_matches(' ').starts_with('#') {
            return Some(None);
        }
        let Some(column) = next.indentation()? else { return Some(None) };
        if column < least {
            return Some(None);
        }
        *self = next;
        Some(Some(ends))
    }

    /// Whether only spaces, and dashes of lists, stand before this.
    pub(super) fn is_indented(&self) -> bool {
        !self.line.get(..self.column()).unwrap_or_default().contains('\t')
    }

    /// Whether an element of a list begins here.
    pub(super) fn is_dash(&self) -> bool {
        self.rest.strip_prefix('-').is_some_and(|rest| rest.starts_with([' ', '\n']))
    }

    /// Whether a member of a map begins here.
    pub(super) fn is_key(&self) -> bool {
        let mut key = *self;
        let read = match self.peek() {
            Some('"' | '\'') => key.quoted(usize::MAX),
            _ => key.plain(usize::MAX, false),
        };
        key.blanks();
        read.is_some() && key.take(':').is_some() && key.rest.starts_with([' ', '\t', '\n'])
    }

    /// Reads a scalar that is a block of lines, `|` or `>`, to the last line's
    /// end.
    pub(super) fn block(&mut self, least: usize) -> Option<String> {
        let is_folded = self.rest.starts_with('>');
        self.skip(1);
        let (mut given, mut chomp) = (None, None);
        while let Some(c @ ('1'..='9' | '+' | '-')) = self.peek() {
            let slot = if c.is_ascii_digit() { &mut given } else { &mut chomp };
            if slot.replace(c).is_some() {
                return None;
            }
            self.skip(1);
        }
        self.end()?;
        let digit = given.and_then(|c| c.to_digit(10)).map(|digit| digit as usize);
        let indentation = match digit {
            // The lines of what is around it begin one before the least column.
            Some(digit) => least + digit - 1,
            None => self.block_indentation(least)?,
        };
        let (mut text, blank) = self.block_lines(indentation, is_folded);
        match chomp {
            Some('-') => {}
            Some(_) => {
                text.extend(std::iter::repeat_n('\n', blank + usize::from(!text.is_empty())))
            }
            None if text.is_empty() => {}
            None => text.push('\n'),
        }
        Some(text)
    }

    /// The column of a block's first line. Blank lines before it can't reach
    /// farther.
    fn block_indentation(&self, least: usize) -> Option<usize> {
        let mut widest = 0;
        for line in self.rest.lines() {
            let column = line.len() - line.trim_start_matches(' ').len();
            if column < line.len() {
                if column < least {
                    break;
                }
                let is_tab = line.trim_start_matches(' ').starts_with('\t');
                return (column >= widest && !is_tab).then_some(column);
            }
            widest = widest.max(column);
        }
        Some(widest.max(least))
    }

    /// Reads the lines of a block: its text without the last line's end, and how
    /// many blank lines are behind it.
    fn block_lines(&mut self, indentation: usize, is_folded: bool) -> (String, usize) {
        let mut text = String::new();
        let (mut blank, mut was_blank_before, mut was_wide) = (0, true, false);
        while let Some((line, _)) = self.rest.split_once('\n') {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            let content = line.get(indentation..).unwrap_or_default();
            if spaces < indentation && spaces < line.len() {
                break;
            }
            self.next_line();
            if content.is_empty() {
                blank += 1;
                continue;
            }
            let is_wide = content.starts_with([' ', '\t']);
            let ends = match (is_folded && !is_wide && !was_wide, blank) {
                _ if was_blank_before => blank,
                (true, 0) => {
                    text.push(' ');
                    0
                }
                (true, blank) => blank,
                (false, blank) => blank + 1,
            };
            text.extend(std::iter::repeat_n('\n', ends));
            text.push_str(content);
            (blank, was_blank_before, was_wide) = (0, false, is_wide);
        }
        (text, blank)
    }
}
