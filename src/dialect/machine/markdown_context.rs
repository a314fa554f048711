//! Markdown's block structure, as far as it separates code from other text: a model
//! that explains markup writes it in code, and means no call.
//!
//! A line that begins with `>`, and a row of a table, counts as code as well.
//!
//! Code is what CommonMark calls code (fences, indented blocks and spans, also in
//! lists and block quotes), and what HTML, LaTeX and Org do: a table says how that begins
//! and ends. What stands between quotation marks counts as code. A span that is not closed yet
//! counts as one up to the end of its paragraph; a quotation does up to the end of
//! its line, or of the next one if its opening mark ends the line, or of its
//! paragraph if a call stands in it.

use crate::cut::Cut as _;
use crate::dialect::machine::find::find_any;
use crate::dialect::machine::inlines::Inlines;
use crate::dialect::machine::quotation_context::{Before, last_after};
use crate::json::char_length;

/// Follows Markdown byte by byte.
#[derive(Clone, Debug)]
pub(crate) struct MarkdownContext {
    /// The block quotes and list items that are open, the outermost first.
    containers: Vec<MarkdownContainer>,
    /// True if the last of them is an item of which only an empty line has come.
    is_empty_item: bool,
    block: MarkdownBlock,
    /// The containers that go on in the line.
    matched: usize,
    at: At,
    inlines: Inlines,
    /// True on a line that is quoted, as in e-mail, or is a row of a table.
    is_quote: bool,
    /// The line, if it may be a rule, or the line under a heading.
    rule: Option<RuledLine>,
    verbatim: Option<Verbatim>,
    /// True if the last tag began its line.
    tag_begins_line: bool,
    /// True if it stands in no paragraph that began before it.
    tag_begins_block: bool,
    /// The number of bytes after the first one of the last tag, while it may be an opener: up to the
    /// length of the longest one.
    since_tag: u8,
    /// The number of bytes so far.
    count: u64,
    /// The last sixteen bytes, the newest in the lowest byte.
    last: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkdownContainer {
    Quote,
    /// A list item, with the columns that its lines are indented by.
    Item(usize),
}

/// The innermost block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkdownBlock {
    None,
    Paragraph,
    /// A heading, or a block of HTML: it ends with its line.
    Line,
    Fence {
        byte: u8,
        length: usize,
    },
    Indented,
}

/// A line that has one mark, and blanks, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RuledLine {
    mark: u8,
    count: usize,
    /// True if the last byte is a blank.
    is_blank: bool,
    /// True if blanks stand between marks.
    has_blanks: bool,
    /// The containers that go on.
    matched: usize,
    /// True if a paragraph stands before it.
    is_under: bool,
}

impl RuledLine {
    /// Takes text of the line. Returns none if it has something else.
    fn with(mut self, text: &[u8]) -> Option<Self> {
        for &byte in text {
            match byte {
                b' ' | b'\t' | b'\r' => self.is_blank = true,
                byte if byte == self.mark => {
                    self.has_blanks |= self.is_blank;
                    self.count += 1;
                }
                _ => return None,
            }
        }
        Some(self)
    }
}

/// A place on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first byte that is not white space: the containers that go on,
    /// and the columns of white space after their markers.
    Begin {
        matched: usize,
        indent: usize,
        /// True after a `>`, which a space may follow that counts for nothing.
        after_mark: bool,
    },
    /// In what may be the marker of a list item.
    Mark {
        matched: usize,
        width: usize,
        digits: usize,
    },
    /// After a list item's marker.
    AfterMark {
        matched: usize,
        width: usize,
        spaces: usize,
    },
    /// In what may be the marks of a heading.
    Heading {
        matched: usize,
        length: usize,
    },
    /// In what may open a fence.
    Opener {
        matched: usize,
        byte: u8,
        length: usize,
    },
    /// After what may open a fence, on its line.
    Info {
        matched: usize,
        byte: u8,
        length: usize,
    },
    /// In what may close a fence.
    Closer {
        length: usize,
        /// True after a blank: no more may follow.
        is_over: bool,
    },
    Rest,
}

/// What a call stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextRegion {
    Prose,
    /// Code, a line that is quoted, or a row of a table.
    Code,
    /// Between quotation marks, and not in code.
    Quoted,
}

/// Markup other than Markdown whose inside is code, and the text that closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verbatim {
    close: &'static str,
    extent: VerbatimExtent,
    /// True up to the end of the tag that opens it.
    is_tag: bool,
}

/// What ends such markup that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VerbatimExtent {
    /// The end of its paragraph.
    Paragraph,
    /// That of its paragraph, unless its tag turns out to be alone on its line.
    Line,
    /// A blank line, or the end of the block quote or the list item around it: its tag was alone on
    /// its line (the seventh kind of HTML blocks in CommonMark).
    Lines,
    /// Nothing.
    Block,
}

/// The openers of such markup in lower case, the bytes of which one completes each, its closer, and
/// true if it is a block where a line begins. Only HTML's tags may stand elsewhere.
const VERBATIM: &[(&str, &[u8], &str, bool)] = &[
    ("<pre", b" \t\n>", "</pre>", true),
    ("<code", b" \t\n>", "</code>", false),
    ("<samp", b" \t\n>", "</samp>", false),
    ("<kbd", b" \t\n>", "</kbd>", false),
    ("<tt", b" \t\n>", "</tt>", false),
    ("<xmp", b" \t\n>", "</xmp>", true),
    ("<textarea", b" \t\n>", "</textarea>", true),
    ("<!-", b"-", "-->", true),
    ("<![cdata", b"[", "]]>", true),
    ("\\begin{verbatim", b"}", "\\end{verbatim}", true),
    ("\\begin{lstlisting", b"}", "\\end{lstlisting}", true),
    ("\\begin{minted", b"}", "\\end{minted}", true),
    ("#+begin_src", b" \t\r\n", "#+end_src", true),
    ("#+begin_example", b" \t\r\n", "#+end_example", true),
];

/// The length of the longest of these openers, in bytes.
const LONGEST: u8 = 18;

/// The bytes that calm text has none of, but the first one of a dash or a curly mark. In the middle
/// of a line, each marker that is looked for begins with one of them.
const STOPS: [u8; 6] = [b'\n', b'`', b'<', b'[', b']', 0xE2];

const BEGIN: At = At::Begin { matched: 0, indent: 0, after_mark: false };

/// Returns the length of the text up to what ends a line, or may begin a marker or code, in bytes.
pub(crate) fn calm_length(text: &[u8]) -> usize {
    calm_length_before(text, |_| true)
}

/// Returns the same, where this tells if a marker may begin with a bracket and what follows it.
fn calm_length_before(text: &[u8], may_begin: impl Fn(&[u8]) -> bool) -> usize {
    let counts = |at| match text.after(at) {
        [0xE2, 0x80, ..] => false,
        rest @ [b'[' | b']', ..] => may_begin(rest),
        _ => true,
    };
    find_any(text, STOPS, counts).unwrap_or(text.len())
}

/// True for the bytes that stop calm text, or end the name of a tag.
static ENDS_WORD: [bool; 256] = {
    let (mut ends, mut at) = ([false; 256], 0);
    while at < STOPS.len() {
        ends[STOPS[at] as usize] = true;
        at += 1;
    }
    (ends[b'\t' as usize], ends[b' ' as usize]) = (true, true);
    (ends[b'\r' as usize], ends[b'}' as usize]) = (true, true);
    (ends[b'>' as usize], ends[b'-' as usize]) = (true, true);
    ends
};

impl Default for MarkdownContext {
    fn default() -> Self {
        MarkdownContext {
            containers: Vec::new(),
            is_empty_item: false,
            block: MarkdownBlock::None,
            matched: 0,
            at: BEGIN,
            inlines: Inlines::default(),
            is_quote: false,
            rule: None,
            verbatim: None,
            tag_begins_line: false,
            tag_begins_block: false,
            since_tag: LONGEST,
            count: 0,
            last: u128::from(b'\n'),
        }
    }
}

impl MarkdownContext {
    /// Takes the next piece of text.
    pub(crate) fn feed(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let taken = match self.take_calm(rest, |_| false) {
                0 => self.take_char(rest),
                calm => calm,
            };
            rest = rest.after(taken);
        }
    }

    /// Takes the calm text that this one begins with, in the middle of a line, or the spaces at its
    /// beginning; returns its length, in bytes. `may_begin` tells if a marker may begin with a
    /// bracket and what follows it.
    #[inline]
    pub(crate) fn take_calm(&mut self, text: &[u8], may_begin: impl Fn(&[u8]) -> bool) -> usize {
        if !self.is_rest() {
            return self.take_spaces(text);
        }
        let length = match self.is_after_tag() {
            true => text.iter().take_while(|byte| !ENDS_WORD[usize::from(**byte)]).count(),
            false => calm_length_before(text, may_begin),
        };
        if length > 0 {
            self.skip(text.before(length));
        }
        length
    }

    /// Takes the spaces that this text begins with where a line begins; returns how many.
    fn take_spaces(&mut self, text: &[u8]) -> usize {
        if self.verbatim.is_some() || self.is_after_tag() {
            return 0;
        }
        let count = text.iter().take_while(|byte| **byte == b' ').count();
        match &mut self.at {
            At::Begin { indent, after_mark, .. } if count > 0 => {
                *indent += count - usize::from(std::mem::take(after_mark));
            }
            At::AfterMark { spaces, .. } => *spaces += count,
            _ => return 0,
        }
        self.pass(text.before(count));
        count
    }

    /// Takes the character that a text begins with; returns its length, in bytes.
    pub(crate) fn take_char(&mut self, text: &[u8]) -> usize {
        let length = char_length(text);
        text.iter().take(length).for_each(|&byte| self.byte(byte));
        length
    }

    /// Takes text that [`calm_length`] has measured, in the middle of a line.
    pub(crate) fn skip(&mut self, text: &[u8]) {
        if self.is_prose() {
            self.inlines.calm(text, self.before());
        }
        self.go_on(text);
        self.pass(text);
    }

    /// Takes note of text that begins no tag.
    fn pass(&mut self, text: &[u8]) {
        self.last = last_after(self.last, text);
        self.count += text.len() as u64;
        let length = u8::try_from(text.len()).unwrap_or(LONGEST);
        self.since_tag = LONGEST.min(self.since_tag.saturating_add(length));
    }

    /// True in the middle of a line, outside of such markup.
    fn is_rest(&self) -> bool {
        self.at == At::Rest && !self.inlines.is_in_run() && self.verbatim.is_none()
    }

    /// True outside of blocks of code.
    fn is_prose(&self) -> bool {
        !matches!(self.block, MarkdownBlock::Fence { .. } | MarkdownBlock::Indented)
    }

    fn before(&self) -> Before {
        Before { count: self.count, last: self.last }
    }

    /// Returns the length of the calm text that this one begins with, in bytes, if the last line
    /// goes on with it.
    pub(crate) fn calm_length(&self, text: &[u8]) -> usize {
        let is_in_line = self.is_rest() && !self.is_after_tag();
        if is_in_line { calm_length(text) } else { 0 }
    }

    /// True if what came last may be an opener.
    fn is_after_tag(&self) -> bool {
        self.since_tag < LONGEST
    }

    /// Takes note that a marker was read: what follows begins a document.
    pub(crate) fn marker(&mut self) {
        *self = MarkdownContext::default();
    }

    /// True if a line begins here, white space aside.
    pub(crate) fn is_line(&self) -> bool {
        matches!(self.at, At::Begin { .. } | At::AfterMark { .. })
    }

    /// Prepares for [`Self::region`] to be asked again and again here.
    pub(crate) fn settle(&mut self) {
        self.inlines.settle();
    }

    /// Returns what a call that begins here stands in.
    pub(crate) fn region(&self) -> TextRegion {
        if self.is_in_code() {
            TextRegion::Code
        } else if self.inlines.is_quoted() && !self.is_in_item() {
            TextRegion::Quoted
        } else if self.is_quote {
            TextRegion::Code
        } else {
            TextRegion::Prose
        }
    }

    /// True after the marker of a list item: what begins here ends the paragraph before it.
    fn is_in_item(&self) -> bool {
        matches!(self.at, At::AfterMark { .. })
    }

    fn is_in_code(&self) -> bool {
        let goes_on =
            |verbatim: Verbatim| verbatim.extent == VerbatimExtent::Block || !self.is_in_item();
        if self.verbatim.is_some_and(goes_on) {
            return true;
        }
        match self.at {
            At::Begin { matched, indent, .. } => {
                let (matched, indent) = self.enter_items(matched, indent);
                match self.block {
                    MarkdownBlock::Fence { .. } if matched == self.containers.len() => true,
                    MarkdownBlock::Paragraph => self.inlines.is_in_span(),
                    _ => indent >= 4,
                }
            }
            At::AfterMark { spaces, .. } => spaces > 4,
            At::Info { .. } => true,
            // A line before it that is code has ended.
            At::Mark { .. } | At::Heading { .. } => {
                self.block == MarkdownBlock::Paragraph && self.inlines.is_in_span()
            }
            At::Opener { byte, .. } => byte == b'`',
            At::Closer { .. } | At::Rest => !self.is_prose() || self.inlines.is_in_span(),
        }
    }

    /// Takes note of a call that begins here and counts as code: the quotation that it stands in
    /// goes on up to its closing mark, over line ends as well.
    pub(crate) fn enter_call(&mut self) {
        if self.region() == TextRegion::Quoted {
            self.inlines.enter_call();
        }
    }

    fn remember(&mut self, byte: u8) {
        self.last = self.last << 8 | u128::from(byte);
        self.count += 1;
        // These end the tag's name.
        let is_over = matches!(byte, b' ' | b'\t' | b'\n' | b'>');
        self.since_tag = if is_over { LONGEST } else { LONGEST.min(self.since_tag + 1) };
    }

    /// True if the text so far ends with this, which is in lower case, as far as it is kept.
    fn has_suffix(&self, suffix: &[u8]) -> bool {
        let last = self.last.to_be_bytes().map(|byte| byte.to_ascii_lowercase());
        last.ends_with(suffix.after(suffix.len().saturating_sub(last.len())))
    }

    /// True where a block may begin: after at most three columns of white space.
    fn may_begin_block(&self) -> bool {
        match self.at {
            At::Begin { matched, indent, .. } => self.enter_items(matched, indent).1 < 4,
            At::AfterMark { spaces, .. } => spaces <= 4,
            _ => false,
        }
    }

    fn byte(&mut self, byte: u8) {
        let is_line = self.may_begin_block();
        let begins_tag = byte == b'<' || (is_line && matches!(byte, b'\\' | b'#'));
        let is_in_paragraph = self.block == MarkdownBlock::Paragraph && !self.is_in_item();
        let begins_block = is_line && !is_in_paragraph;
        match self.verbatim {
            Some(verbatim) => self.inside_verbatim(verbatim, byte),
            None if self.is_after_tag() => self.open_verbatim(byte),
            None => {}
        }
        match (byte, self.verbatim) {
            (b'\n', _) => self.line_end(),
            (b'\r', _) => {}
            (b' ' | b'\t', Some(Verbatim { extent: VerbatimExtent::Block, .. })) => {}
            (_, Some(Verbatim { extent: VerbatimExtent::Block, .. })) => self.at = At::Rest,
            (_, _) => self.on_line(byte),
        }
        self.remember(byte);
        if begins_tag {
            (self.tag_begins_line, self.tag_begins_block) = (is_line, begins_block);
            self.since_tag = 0;
        }
    }

    fn open_verbatim(&mut self, byte: u8) {
        let length = usize::from(self.since_tag) + 1;
        let is_opener = |(open, ends, ..): &&(&str, &[u8], &str, bool)| {
            open.len() == length && ends.contains(&byte) && self.has_suffix(open.as_bytes())
        };
        let found = VERBATIM.iter().find(is_opener);
        let Some(&(_, _, close, may_be_block)) = found else { return };
        self.settle();
        if !self.is_in_code() && !self.inlines.is_quoted() {
            let extent = match may_be_block && self.tag_begins_line {
                true => VerbatimExtent::Block,
                false if self.tag_begins_block => VerbatimExtent::Line,
                false => VerbatimExtent::Paragraph,
            };
            if extent == VerbatimExtent::Block {
                self.close_to(self.matched);
                self.block = MarkdownBlock::Line;
            }
            self.verbatim = Some(Verbatim { close, extent, is_tag: byte != b'>' });
        }
    }

    fn inside_verbatim(&mut self, verbatim: Verbatim, byte: u8) {
        let extent = match (verbatim.extent, byte) {
            (VerbatimExtent::Line, b'\n') => VerbatimExtent::Lines,
            (VerbatimExtent::Line, byte) if !verbatim.is_tag && byte > b' ' => {
                VerbatimExtent::Paragraph
            }
            (extent, _) => extent,
        };
        let is_tag = verbatim.is_tag && byte != b'>';
        self.verbatim = Some(Verbatim { extent, is_tag, ..verbatim });
        if let Some((last, head)) = verbatim.close.as_bytes().split_last()
            && byte.eq_ignore_ascii_case(last)
            && self.has_suffix(head)
        {
            self.verbatim = None;
            if extent == VerbatimExtent::Block {
                self.at = At::Rest;
            }
        }
    }

    fn line_end(&mut self) {
        let mut opens_quotation = false;
        let rule = self.rule.take().filter(|rule| self.is_rule(*rule));
        match self.at {
            _ if let Some(rule) = rule => self.close_to(rule.matched),
            At::Begin { .. } => {
                // A blank line ends a paragraph and the block quotes.
                if matches!(self.block, MarkdownBlock::Paragraph | MarkdownBlock::Line) {
                    self.block = MarkdownBlock::None;
                }
                // An item begins with one empty line at most.
                if std::mem::take(&mut self.is_empty_item) {
                    self.containers.pop();
                }
                self.end_inlines();
            }
            At::Mark { matched, width, digits: 0 } | At::AfterMark { matched, width, .. }
                if !self.is_in_paragraph(matched) =>
            {
                self.close_to(matched);
                self.containers.push(MarkdownContainer::Item(width + 1));
                self.is_empty_item = true;
            }
            At::Mark { matched, .. } | At::AfterMark { matched, .. } => {
                self.continue_or_close(matched);
                self.block = MarkdownBlock::Paragraph;
            }
            At::Heading { matched, .. } => self.close_to(matched),
            At::Opener { matched, byte, length } if length >= 3 => {
                self.fence(matched, byte, length);
            }
            At::Info { matched, byte, length } => self.fence(matched, byte, length),
            At::Opener { matched, byte, length } => {
                self.continue_or_close(matched);
                self.block = MarkdownBlock::Paragraph;
                if byte == b'`' && self.verbatim.is_none() {
                    self.inlines.begin_run(length);
                    self.inlines.end_run();
                }
            }
            At::Closer { length, .. } => {
                if let MarkdownBlock::Fence { length: opened, .. } = self.block
                    && length >= opened
                {
                    self.block = MarkdownBlock::None;
                }
            }
            At::Rest => {
                if self.is_prose() {
                    opens_quotation = self.inlines.newline(self.before());
                }
                if self.block == MarkdownBlock::Line {
                    self.block = MarkdownBlock::None;
                    self.inlines.end();
                }
            }
        }
        (self.at, self.is_quote) = (BEGIN, false);
        if !opens_quotation {
            self.inlines.end_line();
        }
    }

    /// True if a line is a rule, or makes a heading of the paragraph before it.
    fn is_rule(&self, rule: RuledLine) -> bool {
        let is_rule = rule.mark != b'=' && rule.count >= 3;
        is_rule || (matches!(rule.mark, b'=' | b'-') && !rule.has_blanks && rule.is_under)
    }

    /// True if the innermost block is a paragraph that goes on after so many containers.
    fn is_in_paragraph(&self, matched: usize) -> bool {
        self.block == MarkdownBlock::Paragraph && matched == self.containers.len()
    }

    /// Returns the containers that go on and the columns left, where the line has
    /// so much white space after the first `matched` ones.
    fn enter_items(&self, mut matched: usize, mut indent: usize) -> (usize, usize) {
        while let Some(MarkdownContainer::Item(width)) = self.containers.get(matched)
            && indent >= *width
        {
            (matched, indent) = (matched + 1, indent - width);
        }
        (matched, indent)
    }

    /// The line goes on with this text: if it may be a rule so far, it may still be one, or not.
    fn go_on(&mut self, text: &[u8]) {
        if let Some(rule) = self.rule {
            self.rule = rule.with(text);
        }
    }

    fn on_line(&mut self, byte: u8) {
        self.go_on(&[byte]);
        match self.at {
            At::Begin { matched, indent, after_mark } => match byte {
                b' ' if after_mark => self.at = At::Begin { matched, indent, after_mark: false },
                b' ' => self.at = At::Begin { matched, indent: indent + 1, after_mark },
                b'\t' => {
                    let indent = indent / 4 * 4 + 4;
                    self.at = At::Begin { matched, indent, after_mark: false };
                }
                _ => self.first(byte, matched, indent),
            },
            At::Mark { matched, width, digits } => match byte {
                b'0'..=b'9' if (1..9).contains(&digits) => {
                    self.at = At::Mark { matched, width: width + 1, digits: digits + 1 };
                }
                // In a paragraph, only a list that begins at 1 begins.
                b'.' | b')' if digits == 1 || (digits > 0 && !self.is_in_paragraph(matched)) => {
                    self.at = At::Mark { matched, width: width + 1, digits: 0 };
                }
                b' ' | b'\t' if digits == 0 => {
                    self.at = At::AfterMark { matched, width, spaces: 1 };
                }
                _ => self.text(matched, byte),
            },
            At::AfterMark { matched, width, spaces } => match byte {
                b' ' | b'\t' => {
                    self.at = At::AfterMark { matched, width, spaces: spaces + 1 };
                }
                _ => {
                    self.close_to(matched);
                    let is_code = spaces > 4;
                    let columns = width + if is_code { 1 } else { spaces };
                    self.containers.push(MarkdownContainer::Item(columns));
                    self.first(byte, self.containers.len(), if is_code { spaces - 1 } else { 0 });
                }
            },
            At::Heading { matched, length } => match byte {
                b'#' if length < 6 => self.at = At::Heading { matched, length: length + 1 },
                b' ' | b'\t' => {
                    self.close_to(matched);
                    (self.block, self.at) = (MarkdownBlock::Line, At::Rest);
                }
                _ => self.text(matched, byte),
            },
            At::Opener { matched, byte: mark, length } if byte == mark => {
                self.at = At::Opener { matched, byte, length: length + 1 };
            }
            At::Opener { matched, byte: mark, length } if length >= 3 => {
                self.at = At::Info { matched, byte: mark, length };
            }
            At::Opener { matched, byte: mark, length } => {
                self.continue_or_close(matched);
                if mark == b'`' && self.verbatim.is_none() {
                    self.inlines.begin_run(length);
                }
                self.paragraph(byte);
            }
            At::Closer { length, is_over } => match (self.block, byte) {
                (MarkdownBlock::Fence { byte: mark, .. }, _) if byte == mark && !is_over => {
                    self.at = At::Closer { length: length + 1, is_over };
                }
                (MarkdownBlock::Fence { length: opened, .. }, b' ' | b'\t') if length >= opened => {
                    self.at = At::Closer { length, is_over: true };
                }
                _ => self.at = At::Rest,
            },
            // Backticks don't stand on the line of a fence of backticks.
            At::Info { matched, byte: b'`', length } if byte == b'`' => {
                self.continue_or_close(matched);
                (self.block, self.at) = (MarkdownBlock::Paragraph, At::Rest);
                if self.verbatim.is_none() {
                    self.inlines.begin_run(length);
                    self.inlines.end_run();
                    self.inlines.begin_run(1);
                }
            }
            At::Info { .. } => {}
            At::Rest => self.rest(byte),
        }
    }

    /// Takes the first byte of a line that is not white space.
    fn first(&mut self, byte: u8, matched: usize, indent: usize) {
        self.is_empty_item = false;
        let (matched, indent) = self.enter_items(matched, indent);
        self.matched = matched;
        self.is_quote |= matches!(byte, b'>' | b'|') && indent < 4;
        if byte == b'>'
            && indent < 4
            && self.containers.get(matched) == Some(&MarkdownContainer::Quote)
        {
            self.at = At::Begin { matched: matched + 1, indent: 0, after_mark: true };
            return;
        }
        let goes_on = matched == self.containers.len();
        if goes_on && self.verbatim.is_some_and(|it| it.extent == VerbatimExtent::Lines) {
            self.at = At::Rest;
            return;
        }
        if let MarkdownBlock::Fence { byte: mark, .. } = self.block
            && goes_on
        {
            let closes = byte == mark && indent < 4;
            self.at = if closes { At::Closer { length: 1, is_over: false } } else { At::Rest };
            return;
        }
        let is_paragraph = self.block == MarkdownBlock::Paragraph;
        if self.rule.is_none() && indent < 4 && matches!(byte, b'-' | b'_' | b'*' | b'=') {
            let is_under = self.is_in_paragraph(matched);
            self.rule = Some(RuledLine {
                mark: byte,
                count: 1,
                is_blank: false,
                has_blanks: false,
                matched,
                is_under,
            });
        }
        if indent >= 4 && !is_paragraph {
            self.close_to(matched);
            (self.block, self.at) = (MarkdownBlock::Indented, At::Rest);
            return;
        }
        match byte {
            b'>' if indent < 4 => {
                self.close_to(matched);
                self.containers.push(MarkdownContainer::Quote);
                let matched = self.containers.len();
                self.at = At::Begin { matched, indent: 0, after_mark: true };
            }
            b'-' | b'+' | b'*' if indent < 4 => {
                self.at = At::Mark { matched, width: indent + 1, digits: 0 };
            }
            b'0'..=b'9' if indent < 4 && (byte == b'1' || !self.is_in_paragraph(matched)) => {
                self.at = At::Mark { matched, width: indent + 1, digits: 1 };
            }
            b'`' | b'~' if indent < 4 => self.at = At::Opener { matched, byte, length: 1 },
            b'#' if indent < 4 => self.at = At::Heading { matched, length: 1 },
            _ => self.text(matched, byte),
        }
    }

    /// Takes a byte of text after so many containers: a paragraph goes on after fewer, too.
    fn text(&mut self, matched: usize, byte: u8) {
        self.continue_or_close(matched);
        self.paragraph(byte);
    }

    /// Closes all containers but the first `matched` ones, unless a paragraph goes on.
    fn continue_or_close(&mut self, matched: usize) {
        if self.block != MarkdownBlock::Paragraph {
            self.close_to(matched);
        }
    }

    /// Closes all containers but the first `matched` ones, and the block in them.
    fn close_to(&mut self, matched: usize) {
        self.containers.truncate(matched);
        (self.block, self.is_empty_item) = (MarkdownBlock::None, false);
        self.end_inlines();
    }

    /// Ends what goes on no further than its paragraph.
    fn end_inlines(&mut self) {
        self.inlines.end();
        self.verbatim = self.verbatim.filter(|it| it.extent == VerbatimExtent::Block);
    }

    /// A fence begins.
    fn fence(&mut self, matched: usize, byte: u8, length: usize) {
        self.close_to(matched);
        self.block = MarkdownBlock::Fence { byte, length };
    }

    /// Takes a byte of a paragraph, which begins here or goes on.
    fn paragraph(&mut self, byte: u8) {
        (self.block, self.at) = (MarkdownBlock::Paragraph, At::Rest);
        self.rest(byte);
    }

    /// Takes a byte after the beginning of the line.
    fn rest(&mut self, byte: u8) {
        if self.is_prose() && self.verbatim.is_none() {
            self.inlines.byte(byte, self.before());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last character of the text is where a marker would begin.
    #[track_caller]
    fn check(text: &str, is_code: bool) {
        let (mut whole, mut bytewise) = (MarkdownContext::default(), MarkdownContext::default());
        whole.feed(text);
        text.bytes().for_each(|byte| bytewise.byte(byte));
        assert_eq!(format!("{whole:?}"), format!("{bytewise:?}"), "{text:?}");
        let chars: Vec<char> = text.chars().collect();
        for size in 1..=chars.len().max(1) {
            let mut context = MarkdownContext::default();
            chars.chunks(size).for_each(|piece| context.feed(&String::from_iter(piece)));
            assert_eq!(
                context.region() != TextRegion::Prose,
                is_code,
                "{text:?} in pieces of {size}"
            );
        }
    }

    #[test]
    fn fences() {
        check("", false);
        check("```xml\n", true);
        check("```xml\n<a>\n```\n", false);
        check("````\n```\n", true);
        check("~~~\n```\n~~~\n", false);
        check("```\n```` ```\n", true);
        check("```\n```` \n", false);
        check("~~~ a`b\n", true);
        check("```ls -la``` lists.\n\n", false);
        check("```a\n```b\n", true);
        check("```a\n```\n```\n", true);
        check("- ```\n  x\n  ", true);
        check("- ```\n  x\n", false);
        check("- ```\n  x\n  ```\n", false);
        check("- ```\n  x\n\nend ", false);
        check("1. a\n   ~~~\n   ", true);
        check("> ```\n> ", true);
        check("> ```\n", false);
        check("   ```\n", true);
        check("    ```\n\n", false);
    }

    #[test]
    fn signs_that_begin_no_marker_are_calm() {
        let of = |text: &str| calm_length(text.as_bytes());
        assert_eq!(of("\"it’s\" — a… «5\u{a0}°C」<"), "\"it’s\" — a… «5\u{a0}°C」".len());
        for stop in ["◁", "<", "\n", "\u{200a}`"] {
            let (text, calm) = (format!("a — {stop}"), stop.find('`').unwrap_or(0));
            assert_eq!(of(&text), "a — ".len() + calm, "{stop:?}");
        }
    }

    /// A line may be longer than what is kept of it.
    #[test]
    fn long_lines() {
        let long = "word \"of\" ".repeat(1000);
        for (text, is_code) in [
            ("L“a ", true),
            ("“L a ", true),
            ("“L ` a ", true),
            ("“L” a ", false),
            ("“L\n", false),
            ("L “\n", true),
            ("`L“` ", false),
            ("L` ", true),
        ] {
            let text = text.replace('L', &long);
            let (mut whole, mut pieces) = (MarkdownContext::default(), MarkdownContext::default());
            whole.feed(&text);
            text.chars().for_each(|c| pieces.feed(c.encode_utf8(&mut [0; 4])));
            for context in [whole, pieces] {
                assert_eq!(
                    context.region() != TextRegion::Prose,
                    is_code,
                    "{:?}",
                    text.replace(&long, "L")
                );
            }
        }
    }

    #[test]
    fn indented_blocks() {
        check("So:\n\n    ", true);
        check("\t", true);
        check("So\n    ", false);
        check("- a\n\n    ", false);
        check("- a\n\n      ", true);
        check("-     ", true);
        check("> a\n>\n>     ", true);
        check("    a\n\nb\n", false);
        for before in [
            "---\n", "* * *\n", "- - -\n", "Example\n=====\n", "Example\n---\n", "Example\n-\n",
            "Example\n- \n", "Example\n==  \n", "# a\n", "<pre>a</pre>\n", "<!-- a -->\n",
            "> ```\n", "> ---\n",
        ] {
            check(&format!("{before}    "), true);
        }
        for before in
            ["Example\n= =\n", "Example\n- b\n", "--- a\n", "**\n", "#1 is done:\n", "> a\n==\n"]
        {
            check(&format!("{before}    "), false);
        }
        check("-\n      ", true);
        check("-\n\n    ", true);
        check("- a\n\n  * * *\n\n  ```\n  x\n```\n", true);
        check("- a\n\n  * * *\n\n    ", false);
        check("    code\n#", false);
        check("- ```\n  x\n-", false);
        for line in ["``", "~~", "1", "12)a"] {
            check(&format!("- a\n\n{line}\n\n    "), true);
        }
        check("* > \n--a\n   ~~~~\n", true);
        check("1.\n       ", true);
    }

    #[test]
    fn spans() {
        check("a `", true);
        check("a `b` ", false);
        check("a `b\n", true);
        check("a `b\n\n", false);
        check("a ``b` ", true);
        check("a \\`b ", false);
        check("a \\\\`b ", true);
        check("`", true);
        // What ends no paragraph ends no span.
        for line in ["#hashtag", "10. a", "+ ", "+", "####### a"] {
            check(&format!("a ``\n{line}\n"), true);
        }
        for line in ["# a", "#", "1. a", "+ a", "---", "==", "> a"] {
            check(&format!("a ``\n{line}\n"), false);
        }
        check("1. a ``\n2. b\n", false);
        check("a \"\n- ", false);
    }

    #[test]
    fn other_markup_and_quotations() {
        check("<pre>\n", true);
        check("<pre>\n\n</pre>\n", false);
        check("<PRE class=\"a\">\n", true);
        check("see <code>", true);
        check("see <code>\n\n", false);
        check("<!--\n\n", true);
        check("<!-- a --> ", false);
        check("<![CDATA[", true);
        check("<prefix>", false);
        for tag in ["<code>", "<pre>", "<!--"] {
            check(&format!("a {tag}\n```html\n</code> </pre> -->\n"), true);
            check(&format!("a {tag}\n```html\n```\n"), false);
        }
        check("> <code>\n```js\n\n", true);
        check("a <code>\n- ", false);
        check("<code>\n- ", true);
        check("<code class=\"a\">\n- ", true);
        check("The formats:\n- <code>\n  - ", true);
        check("Write <code>a\n```x``` and ", true);
        check("- see <code>\n`y` ", true);
        check("a <!--\n``` -->\n", true);
        check("So\n    <!-- x -->\n    ", false);
        check("- a\n<pre>x</pre>\n    ", true);
        check("<code>a\n- ", false);
        check("<code>a\n~~~\n</code>\n", true);
        check("a <code>\n`b` ", true);
        for (open, close) in [
            ("<samp>", "</samp>"),
            ("see <kbd class=\"a\">", "</KBD>"),
            ("see <tt>", "</tt>"),
            ("<xmp>\n\n", "</xmp>"),
            ("<textarea>\n\n", "</textarea>"),
            ("\\begin{verbatim}\n\n", "\\end{verbatim}"),
            ("  \\begin{lstlisting}[language=XML]\n\n", "  \\end{lstlisting}"),
            ("\\begin{minted}{xml}\n\n", "\\end{minted}"),
            ("\\begin{Verbatim}\n\n", "\\end{verbatim}"),
            ("#+begin_src xml\r\n\r\n", "#+end_src"),
            ("- a\n  #+BEGIN_EXAMPLE\n\n", "#+END_EXAMPLE"),
            ("#+begin_src\r\n", "#+end_src"),
        ] {
            check(open, true);
            check(&format!("{open}<a>\n{close}\n"), false);
        }
        check("see \\begin{verbatim}\n", false);
        check("see #+begin_src\n", false);
        check("\\begin{verbatims}\n", false);
        check("\\begin{document}\n", false);
        check("#+begin_center\n", false);
        check("a <ttl> ", false);
        check("so \"", true);
        check("so \"a ", true);
        check("so \"a\" ", false);
        check("so \"a \\\"b\\\" ", true);
        check("so \"a\\\\\" ", false);
        check("so \"a\n", false);
        check("5\" ", false);
        check("so — it’s “", true);
        check("so — “it’s” ", false);
        check("à « 5°C ", true);
        check("« 5 °C » à ", false);
        check("'", true);
        check("so 'a ", true);
        check("so 'it's a ", true);
        check("so 'a' ", false);
        check("it's the users' ", false);
        check("„ja ", true);
        check("„ja“ ", false);
        check("»ja« ", false);
        check("»ja ", true);
        check("「はい", true);
        check("「はい」", false);
        check("“the \"x\" of ", true);
        check("“the \"x\" of” ", false);
        check("\"{\"a\": \"b\"} ", true);
        check("a `\"` ", false);
    }

    #[test]
    fn what_closes_a_quotation_or_is_an_apostrophe_opens_none() {
        for text in [
            "for \"go\"", "\"go.\"", "the dogs'", "5\"", "\"\"", "“go”", "I like 'em. ", "'Tis ",
            "the '90s ", "'n huis ", "‘90s ", ":'( ", "Home › X › Y ", "„Wetter\". ",
            "“weather\". ", "\"weather”. ", "“so “weather”", "\"Foo\nbar.\" ", "\"Foo\nbar.\"\n",
            "\"\"\"Foo.\"\"\"\n", "rock 'n' roll ", "A line.\n“A”\n",
        ] {
            check(text, text == "“so “weather”");
        }
        for text in [
            "他写：\"请用 ", "**\"use ", "_\"use ", "said—\"use ", "and/\"use ", "f\"use ",
            "a+\"use ", ":”använd ", ":»use ", "Write \"\n", "x = \"\"\"\n", "“\n", "(\"", "x='",
            "say: \"",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn a_quotation_with_a_call_goes_on() {
        let check = |before: &str, after: &str, is_code| {
            let mut context = MarkdownContext::default();
            context.feed(before);
            context.enter_call();
            context.feed(after);
            assert_eq!(context.region() != TextRegion::Prose, is_code, "{before:?} and {after:?}");
        };
        check("so \"", "<a>\n{\"b\": \" c\"}\n</a> and ", true);
        check("so \"", "<a>\n</a>\" and ", false);
        check("so \"", "<a>\n</a>\n\n", false);
        check("so '", "<a b='c'>d's</a> and ", true);
        check("so '", "<a b='c'></a>' and ", false);
        check("so \"", "<|\"|> ", true);
        check("so ", "<a>\n", false);
        check("```\n\"", "<a>\n```\n", false);
    }

    #[test]
    fn any_byte_among_any() {
        for byte in 0..=u8::MAX {
            for (at, other) in [0, 1, 15, 31, 32, 40, 63, 64, 69]
                .into_iter()
                .flat_map(|at| [b'a', 0xBC, b'=', 0].map(|other| (at, other)))
            {
                let mut bytes = [other; 70];
                bytes[at] = byte;
                for needles in [[b'<', b'\n'], [0xE2, b'<'], [0xE2, 0xC2]] {
                    let expected = bytes.iter().position(|byte| needles.contains(byte));
                    assert_eq!(find_any(&bytes, needles, |_| true), expected, "{byte:#x} at {at}");
                }
            }
        }
    }
}
