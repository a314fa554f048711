//! Quotations in prose: which quotation marks open one, and which close it.

/// The marks that open a quotation, and those that close what each opens.
const MARKS: &[(char, &str)] = &[
    ('"', "\""),
    ('\'', "'"),
    ('“', "”"),
    ('”', "”"),
    ('„', "“”"),
    ('‘', "’"),
    ('‚', "‘’"),
    ('«', "»"),
    ('»', "«»"),
    ('‹', "›"),
    ('›', "‹›"),
    ('「', "」"),
    ('『', "』"),
    ('＂', "＂"),
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

impl Quotations {
    pub(crate) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// True if what closes one may be an apostrophe.
    pub(crate) fn has_single(&self) -> bool {
        self.all().iter().any(|mark| matches!(mark, '\'' | '‘' | '‚'))
    }

    /// Takes a quotation mark, or an apostrophe, by the two bytes before it and the one after it.
    pub(crate) fn take(&mut self, mark: char, before: [u8; 2], next: u8) {
        let [_, last] = before;
        let is_straight = matches!(mark, '"' | '\'');
        if is_straight && (last, next) == (b'|', b'|') {
            // A special token, as `<|"|>`.
            return;
        }
        let is_after_blank = last.is_ascii_whitespace() || b"([{".contains(&last);
        let is_after_sign = is_after_blank || b"=:,".contains(&last);
        let is_before_word = !next.is_ascii_whitespace() && !b".,;:!?)".contains(&next);
        // As that of a string in JSON or of what stands in a tag: it opens another quotation.
        let is_nested = is_straight
            && (is_after_sign && is_before_word
                || last == b'>' && next.is_ascii_alphanumeric()
                || matches!(&before, b"\":" | b": "));
        // Letters beyond ASCII: Latin, Greek, Cyrillic and their neighbours.
        let is_letter = next.is_ascii_alphanumeric() || matches!(next, 0xC3..=0xDF);
        let is_apostrophe = matches!(mark, '\'' | '’') && is_letter;
        let closes = |open: &char| closers(*open).contains(mark);
        if !(is_nested || is_apostrophe)
            && let Some(depth) = self.all().iter().rposition(closes)
        {
            self.depth = depth;
            return;
        }
        let opens = match mark {
            '\'' => is_nested,
            '"' => is_after_sign || last == b'>',
            '”' | '»' | '›' => is_after_blank,
            _ => !closers(mark).is_empty(),
        };
        if opens {
            self.open(mark);
        }
    }

    /// Opens a quotation with a mark.
    pub(crate) fn open(&mut self, mark: char) {
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = mark;
            self.depth += 1;
        }
    }

    fn all(&self) -> &[char] {
        self.open.get(..self.depth).unwrap_or_default()
    }
}

/// Returns the marks that close what a mark opens; none if it opens nothing.
fn closers(mark: char) -> &'static str {
    MARKS.iter().find(|(open, _)| *open == mark).map_or("", |(_, close)| close)
}
