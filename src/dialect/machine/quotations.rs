//! Quotations in prose: which quotation marks open one, and which close it.

use crate::cut::Cut as _;
/// The marks that open a quotation, and those that close what each opens.
const MARKS: &[(char, &[char])] = &[
    ('"', &['"', '”']),
    // An escaped one, as in a string of JSON, and one that is escaped once more.
    ('\\', &['\\']),
    ('⑊', &['⑊']),
    ('\'', &['\'', '’']),
    ('“', &['”', '"']),
    ('”', &['”']),
    ('„', &['“', '”', '"']),
    ('‘', &['’', '\'']),
    ('‚', &['‘', '’', '\'']),
    ('«', &['»']),
    ('»', &['«', '»']),
    ('‹', &['›']),
    ('›', &['‹', '›']),
    ('「', &['」']),
    ('『', &['』']),
    ('＂', &['＂']),
];

/// The most quotations inside one another that are told apart.
const MAX_DEPTH: usize = 8;

/// The quotations that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quotations {
    /// The marks that opened them, the outermost first.
    open: [char; MAX_DEPTH],
    depth: usize,
}

/// A quotation mark, and what stands beside it.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) mark: char,
    /// The two characters before it, the nearest last.
    pub(crate) before: [char; 2],
    /// The first byte after it.
    pub(crate) next: u8,
}

/// What stands before a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BeforeMark {
    /// White space, a bracket that opens, or two marks as before a third one.
    Blank,
    /// A word, or what ends a sentence or a bracket.
    Word,
    Sign,
}

impl Mark {
    fn before(&self) -> BeforeMark {
        match self.before[1] {
            '"' if self.before[0] == '"' => BeforeMark::Blank,
            '(' | '[' | '{' | '（' | '【' => BeforeMark::Blank,
            '.' | ';' | '!' | '?' | ')' | ']' | '}' | '%' => BeforeMark::Word,
            '…' | '。' | '！' | '？' | '）' | '】' => BeforeMark::Word,
            c if c.is_whitespace() => BeforeMark::Blank,
            c if c.is_alphanumeric() => BeforeMark::Word,
            _ => BeforeMark::Sign,
        }
    }

    /// True before a letter or a digit, and before what is not ASCII.
    fn is_before_word(&self) -> bool {
        self.next.is_ascii_alphanumeric() || !self.next.is_ascii()
    }

    /// True if it opens a quotation, where none is open that it closes.
    fn can_open(&self) -> bool {
        let is_before_blank = self.next.is_ascii_whitespace();
        match (self.mark, self.before()) {
            ('\'', BeforeMark::Word) => false,
            // A year begins with an apostrophe.
            ('\'', BeforeMark::Blank) if self.next.is_ascii_digit() => false,
            ('\'', _) => self.is_before_word() || b"<[{|".contains(&self.next),
            ('‘', _) => !self.next.is_ascii_digit(),
            // An accent of LaTeX.
            ('\\' | '⑊', BeforeMark::Word) => false,
            ('"' | '\\' | '⑊', BeforeMark::Sign) => !is_before_blank || self.begins_json_value(),
            ('"', BeforeMark::Word) => self.before[1].is_alphanumeric() && self.is_before_word(),
            ('”' | '»' | '›', before) => before != BeforeMark::Word && !is_before_blank,
            _ => true,
        }
    }

    /// True if it closes a quotation, where one is open that it closes.
    fn can_close(&self) -> bool {
        match self.mark {
            '"' | '\\' | '⑊' => {
                let begins_word = self.is_before_word() && self.before() != BeforeMark::Word;
                !(begins_word || self.begins_json_value())
            }
            // Else it is an apostrophe. Letters beyond ASCII: Latin, Greek, Cyrillic and their
            // neighbours.
            '\'' | '’' => {
                !(self.next.is_ascii_alphanumeric() || matches!(self.next, 0xC3..=0xDF))
            }
            _ => true,
        }
    }

    /// True after the colon that follows a key of JSON.
    fn begins_json_value(&self) -> bool {
        matches!(self.before, ['"', ':'] | [':', ' '])
    }
}

impl Quotations {
    pub(crate) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// True if what closes one may be an apostrophe.
    pub(crate) fn has_single(&self) -> bool {
        self.all().iter().any(|mark| matches!(mark, '\'' | '‘' | '‚'))
    }

    /// Takes a quotation mark, or an apostrophe.
    pub(crate) fn take(&mut self, mark: Mark) {
        if matches!((mark.before[1], mark.next), ('|', b'|')) {
            // A special token, as `<|"|>`.
            return;
        }
        let closes = |open: &char| closers(*open).contains(&mark.mark);
        if mark.can_close()
            && let Some(depth) = self.all().iter().rposition(closes)
        {
            self.depth = depth;
        } else if !closers(mark.mark).is_empty()
            && mark.can_open()
            && let Some(open) = self.open.get_mut(self.depth)
        {
            *open = mark.mark;
            self.depth += 1;
        }
    }

    /// Forgets the innermost quotation: what opened it was an apostrophe.
    pub(crate) fn forget(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn all(&self) -> &[char] {
        self.open.before(self.depth)
    }
}

/// Returns the marks that close what a mark opens; none if it opens nothing.
fn closers(mark: char) -> &'static [char] {
    MARKS.iter().find(|(open, _)| *open == mark).map_or(&[], |(_, close)| close)
}
