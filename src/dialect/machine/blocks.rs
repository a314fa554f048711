//! Markdown's block structure, as far as it separates code from other text.

use crate::dialect::machine::inlines::Inlines;
use crate::dialect::machine::quotation_context::Before;
use crate::dialect::machine::verbatim::{TagPlace, Verbatim, VerbatimExtent};

/// Follows blocks byte by byte.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkdownBlocks {
    /// The block quotes and list items that are open, the outermost first.
    containers: Vec<MarkdownContainer>,
    /// True if the last of them is an item of which only an empty line has come.
    is_empty_item: bool,
    block: MarkdownBlock,
    /// What the paragraph is that is open, or came last.
    paragraph: ParagraphForm,
    /// The containers that go on in the line, up to where it is.
    matched: usize,
    at: At,
    inlines: Inlines,
    /// True on a line that is quoted, as in e-mail, or is a row of a table.
    is_quote: bool,
    /// The line, if it may be a rule, or the line under a heading.
    rule: Option<RuledLine>,
    verbatim: Option<Verbatim>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkdownContainer {
    Quote,
    /// A list item, with the columns that its lines are indented by.
    Item(usize),
}

/// The innermost block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MarkdownBlock {
    #[default]
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

impl MarkdownBlock {
    fn is_code(self) -> bool {
        matches!(self, MarkdownBlock::Fence { .. } | MarkdownBlock::Indented)
    }
}

/// What a paragraph may be by its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParagraphForm {
    #[default]
    Text,
    /// A block of HTML: it does not go on in fewer containers.
    Html,
    /// In the label of a link's definition.
    Label,
    /// After a bracket that may close it.
    LabelEnd,
    /// The definition of a link: what follows may be another block.
    Definition,
}

impl ParagraphForm {
    /// Takes text of a line.
    #[inline]
    fn with(self, text: &[u8]) -> Self {
        match self {
            ParagraphForm::Label | ParagraphForm::LabelEnd => {
                text.iter().fold(self, |form, byte| match (form, byte) {
                    (ParagraphForm::Label, b']') => ParagraphForm::LabelEnd,
                    (ParagraphForm::LabelEnd, b':') => ParagraphForm::Definition,
                    (ParagraphForm::LabelEnd, _) => ParagraphForm::Text,
                    _ => form,
                })
            }
            _ => self,
        }
    }
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
    /// The containers that go on where it begins.
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

    /// True if it is a rule, or makes a heading of the paragraph before it.
    fn is_rule(&self) -> bool {
        let is_rule = self.mark != b'=' && self.count >= 3;
        is_rule || (matches!(self.mark, b'=' | b'-') && !self.has_blanks && self.is_under)
    }
}

/// A place on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first byte that is not white space.
    Begin {
        /// The columns of white space after the markers of containers.
        indent: usize,
        /// True after a `>`, which a space may follow that counts for nothing.
        after_mark: bool,
    },
    /// In what may be the marker of a list item.
    Mark {
        width: usize,
        digits: usize,
    },
    /// After a list item's marker.
    AfterMark {
        width: usize,
        spaces: usize,
    },
    /// In what may be the marks of a heading.
    Heading {
        length: usize,
    },
    /// In what may open a fence.
    Opener {
        byte: u8,
        length: usize,
    },
    /// After what may open a fence, on its line.
    Info {
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

impl Default for At {
    fn default() -> Self {
        At::Begin { indent: 0, after_mark: false }
    }
}

/// The beginning of a line's text.
#[derive(Clone, Copy)]
struct LineStart {
    /// The containers that go on.
    matched: usize,
    /// The columns of white space after their markers.
    indent: usize,
    /// The block that the text is of, unless its first bytes begin another one.
    block: MarkdownBlock,
}

impl MarkdownBlocks {
    /// Takes the spaces that this text begins with where a line begins; returns how many.
    pub(super) fn take_spaces(&mut self, text: &[u8]) -> usize {
        if self.verbatim.is_some() {
            return 0;
        }
        let count = text.iter().take_while(|byte| **byte == b' ').count();
        match &mut self.at {
            At::Begin { indent, after_mark } if count > 0 => {
                *indent += count - usize::from(std::mem::take(after_mark));
            }
            At::AfterMark { spaces, .. } => *spaces += count,
            _ => return 0,
        }
        count
    }

    /// Takes calm text in the middle of a line, and what comes before it.
    #[inline]
    pub(super) fn calm(&mut self, text: &[u8], before: Before) {
        if self.is_prose() {
            self.inlines.calm(text, before);
        }
        self.paragraph = self.paragraph.with(text);
        self.go_on(text);
    }

    /// True in the middle of a line, outside of markup that is no Markdown.
    #[inline]
    pub(super) fn is_rest(&self) -> bool {
        self.at == At::Rest && !self.inlines.is_in_run() && self.verbatim.is_none()
    }

    /// True if a line begins here, white space aside.
    pub(super) fn is_line(&self) -> bool {
        matches!(self.at, At::Begin { .. } | At::AfterMark { .. })
    }

    /// Prepares for [`Self::region`] to be asked again and again here.
    pub(super) fn settle(&mut self) {
        self.inlines.settle();
    }

    /// Returns what a call that begins here stands in.
    pub(super) fn region(&self) -> TextRegion {
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

    /// Takes note of a call that begins here: see [`Inlines::enter_call`].
    pub(super) fn enter_call(&mut self) {
        if self.region() == TextRegion::Quoted {
            self.inlines.enter_call();
        }
    }

    fn is_in_code(&self) -> bool {
        let goes_on =
            |verbatim: Verbatim| verbatim.extent == VerbatimExtent::Block || !self.is_in_item();
        if self.verbatim.is_some_and(goes_on) {
            return true;
        }
        if let Some(start) = self.start() {
            let is_paragraph = start.block == MarkdownBlock::Paragraph;
            return start.block.is_code() || (is_paragraph && self.inlines.is_in_span());
        }
        match self.at {
            At::Opener { .. } | At::Info { .. } => true,
            // A line before it that is code has ended.
            At::Mark { .. } | At::Heading { .. } => {
                self.block == MarkdownBlock::Paragraph && self.inlines.is_in_span()
            }
            _ => self.block.is_code() || self.inlines.is_in_span(),
        }
    }

    /// Returns the place of a tag that begins here.
    pub(super) fn tag_place(&self) -> TagPlace {
        match self.start() {
            Some(LineStart { block: MarkdownBlock::Paragraph, indent: 0..4, .. }) => TagPlace::Line,
            Some(LineStart { indent: 0..4, .. }) => TagPlace::Block,
            _ => TagPlace::Inline,
        }
    }

    /// Returns where the text of the line begins, if none of it has come.
    fn start(&self) -> Option<LineStart> {
        let (mut matched, mut indent) = match self.at {
            At::Begin { indent, .. } => (self.matched, indent),
            // What begins here ends the paragraph before it.
            At::AfterMark { spaces, .. } => {
                let (indent, block) = match spaces {
                    0..=4 => (0, MarkdownBlock::None),
                    _ => (spaces - 1, MarkdownBlock::Indented),
                };
                return Some(LineStart { matched: self.matched + 1, indent, block });
            }
            _ => return None,
        };
        while let Some(MarkdownContainer::Item(width)) = self.containers.get(matched)
            && indent >= *width
        {
            (matched, indent) = (matched + 1, indent - width);
        }
        let block = match self.block {
            MarkdownBlock::Fence { .. } if matched == self.containers.len() => self.block,
            MarkdownBlock::Paragraph if indent < 4 || !self.may_be_over(matched) => self.block,
            _ if indent >= 4 => MarkdownBlock::Indented,
            _ => MarkdownBlock::None,
        };
        Some(LineStart { matched, indent, block })
    }

    /// True if the paragraph may be over before a line in so many containers.
    fn may_be_over(&self, matched: usize) -> bool {
        match self.paragraph {
            ParagraphForm::Html => matched < self.containers.len(),
            ParagraphForm::Definition => true,
            _ => false,
        }
    }

    /// True after the marker of a list item: what begins here ends the paragraph before it.
    fn is_in_item(&self) -> bool {
        matches!(self.at, At::AfterMark { .. })
    }

    /// True if the innermost block is a paragraph that goes on in the line's containers.
    fn is_in_paragraph(&self) -> bool {
        self.block == MarkdownBlock::Paragraph && self.matched == self.containers.len()
    }

    /// True outside of blocks of code.
    fn is_prose(&self) -> bool {
        !self.block.is_code()
    }

    /// Takes a byte, what comes before it, and what it opens if that is no Markdown.
    pub(super) fn byte(&mut self, byte: u8, before: Before, opened: Option<Verbatim>) {
        if let Some(verbatim) = self.verbatim {
            self.verbatim = verbatim.take(byte, before);
            if self.verbatim.is_none() && verbatim.extent == VerbatimExtent::Block {
                self.at = At::Rest;
            }
        } else if let Some(verbatim) = opened {
            self.open_verbatim(verbatim);
        }
        let is_block = self.verbatim.is_some_and(|it| it.extent == VerbatimExtent::Block);
        match byte {
            b'\n' => self.line_end(before),
            b'\r' => {}
            b' ' | b'\t' if is_block => {}
            _ if is_block => self.at = At::Rest,
            _ => self.on_line(byte, before),
        }
    }

    /// Opens markup that is no Markdown, unless it stands in code or between quotation marks.
    fn open_verbatim(&mut self, verbatim: Verbatim) {
        self.settle();
        if self.is_in_code() || self.inlines.has_mark() {
            return;
        }
        if verbatim.extent == VerbatimExtent::Block {
            self.close_to(self.matched);
            self.block = MarkdownBlock::Line;
        }
        self.verbatim = Some(verbatim);
    }

    fn line_end(&mut self, before: Before) {
        let mut opens_quotation = false;
        let rule = self.rule.take().filter(|rule| rule.is_rule());
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
            At::Mark { width, digits: 0 } | At::AfterMark { width, .. }
                if !self.is_in_paragraph() =>
            {
                self.close_to(self.matched);
                self.containers.push(MarkdownContainer::Item(width + 1));
                self.is_empty_item = true;
            }
            At::Mark { .. } | At::AfterMark { .. } => self.begin_text(),
            At::Heading { .. } => self.close_to(self.matched),
            At::Opener { byte, length } if length >= 3 => self.fence(byte, length),
            At::Info { byte, length } => self.fence(byte, length),
            At::Opener { byte, length } => {
                self.begin_text();
                self.begin_run(byte, length);
                self.inlines.end_run();
            }
            At::Closer { length, .. } => {
                if let MarkdownBlock::Fence { length: opened, .. } = self.block
                    && length >= opened
                {
                    self.block = MarkdownBlock::None;
                }
            }
            At::Rest => {
                self.paragraph = self.paragraph.with(b"\n");
                if self.is_prose() {
                    opens_quotation = self.inlines.newline(before);
                }
                if self.block == MarkdownBlock::Line {
                    self.block = MarkdownBlock::None;
                    self.inlines.end();
                }
            }
        }
        (self.at, self.matched, self.is_quote) = (At::default(), 0, false);
        if !opens_quotation {
            self.inlines.end_line();
        }
    }

    /// The line goes on with this text: if it may be a rule so far, it may still be one, or not.
    fn go_on(&mut self, text: &[u8]) {
        if let Some(rule) = self.rule {
            self.rule = rule.with(text);
        }
    }

    fn on_line(&mut self, byte: u8, before: Before) {
        self.go_on(&[byte]);
        match self.at {
            At::Begin { indent, after_mark } => match byte {
                b' ' if after_mark => self.at = At::Begin { indent, after_mark: false },
                b' ' => self.at = At::Begin { indent: indent + 1, after_mark },
                b'\t' => self.at = At::Begin { indent: indent / 4 * 4 + 4, after_mark: false },
                _ => self.first(byte, before),
            },
            At::Mark { width, digits } => match byte {
                b'0'..=b'9' if (1..9).contains(&digits) => {
                    self.at = At::Mark { width: width + 1, digits: digits + 1 };
                }
                // In a paragraph, only a list that begins at 1 begins.
                b'.' | b')' if digits == 1 || (digits > 0 && !self.is_in_paragraph()) => {
                    self.at = At::Mark { width: width + 1, digits: 0 };
                }
                b' ' | b'\t' if digits == 0 => self.at = At::AfterMark { width, spaces: 1 },
                _ => self.text(byte, before),
            },
            At::AfterMark { width, spaces } => match byte {
                b' ' | b'\t' => self.at = At::AfterMark { width, spaces: spaces + 1 },
                _ => {
                    self.close_to(self.matched);
                    let is_code = spaces > 4;
                    let columns = width + if is_code { 1 } else { spaces };
                    self.containers.push(MarkdownContainer::Item(columns));
                    self.begin(if is_code { spaces - 1 } else { 0 }, false);
                    self.first(byte, before);
                }
            },
            At::Heading { length } => match byte {
                b'#' if length < 6 => self.at = At::Heading { length: length + 1 },
                b' ' | b'\t' => {
                    self.close_to(self.matched);
                    (self.block, self.at) = (MarkdownBlock::Line, At::Rest);
                }
                _ => self.text(byte, before),
            },
            At::Opener { byte: mark, length } if byte == mark => {
                self.at = At::Opener { byte, length: length + 1 };
            }
            At::Opener { byte: mark, length } if length >= 3 => {
                self.at = At::Info { byte: mark, length };
            }
            At::Opener { byte: mark, length } => {
                self.begin_text();
                self.begin_run(mark, length);
                self.rest(byte, before);
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
            At::Info { byte: b'`', length } if byte == b'`' => {
                self.begin_text();
                self.begin_run(byte, length);
                self.inlines.end_run();
                self.begin_run(byte, 1);
            }
            At::Info { .. } => {}
            At::Rest => self.rest(byte, before),
        }
    }

    /// Takes the first byte of a line that is not white space.
    fn first(&mut self, byte: u8, before: Before) {
        self.is_empty_item = false;
        let Some(start) = self.start() else { return };
        self.matched = start.matched;
        let is_indented = start.indent >= 4;
        self.is_quote |= matches!(byte, b'>' | b'|') && !is_indented;
        if byte == b'>'
            && !is_indented
            && self.containers.get(self.matched) == Some(&MarkdownContainer::Quote)
        {
            self.matched += 1;
            self.at = At::Begin { indent: 0, after_mark: true };
            return;
        }
        let goes_on = self.matched == self.containers.len();
        if goes_on && self.verbatim.is_some_and(|it| it.extent == VerbatimExtent::Lines) {
            self.at = At::Rest;
            return;
        }
        match start.block {
            MarkdownBlock::Fence { byte: mark, .. } if byte == mark && !is_indented => {
                self.at = At::Closer { length: 1, is_over: false };
                return;
            }
            MarkdownBlock::Fence { .. } => {
                self.at = At::Rest;
                return;
            }
            MarkdownBlock::Indented => {
                self.close_to(self.matched);
                (self.block, self.at) = (MarkdownBlock::Indented, At::Rest);
                return;
            }
            _ if is_indented => return self.text(byte, before),
            _ => {}
        }
        if self.rule.is_none() && matches!(byte, b'-' | b'_' | b'*' | b'=') {
            self.rule = Some(RuledLine {
                mark: byte,
                count: 1,
                is_blank: false,
                has_blanks: false,
                matched: self.matched,
                is_under: self.is_in_paragraph(),
            });
        }
        match byte {
            b'>' => {
                self.close_to(self.matched);
                self.containers.push(MarkdownContainer::Quote);
                self.begin(0, true);
            }
            b'-' | b'+' | b'*' => self.at = At::Mark { width: start.indent + 1, digits: 0 },
            b'0'..=b'9' if byte == b'1' || !self.is_in_paragraph() => {
                self.at = At::Mark { width: start.indent + 1, digits: 1 };
            }
            b'`' | b'~' => self.at = At::Opener { byte, length: 1 },
            b'#' => self.at = At::Heading { length: 1 },
            _ => self.text(byte, before),
        }
    }

    /// The line goes on after the marker of a container that begins in it.
    fn begin(&mut self, indent: usize, after_mark: bool) {
        self.matched = self.containers.len();
        self.at = At::Begin { indent, after_mark };
    }

    /// Takes the first byte of text: a paragraph goes on.
    fn text(&mut self, byte: u8, before: Before) {
        let begins = self.block != MarkdownBlock::Paragraph;
        self.begin_text();
        match byte {
            b'<' => self.paragraph = ParagraphForm::Html,
            b'[' if begins => self.paragraph = ParagraphForm::Label,
            _ => {}
        }
        self.rest(byte, before);
    }

    /// Text begins here: a paragraph goes on, also in fewer containers, or begins.
    fn begin_text(&mut self) {
        if self.block != MarkdownBlock::Paragraph {
            self.close_to(self.matched);
            self.paragraph = ParagraphForm::Text;
        }
        (self.block, self.at) = (MarkdownBlock::Paragraph, At::Rest);
    }

    /// Takes so many of these marks that begin text.
    fn begin_run(&mut self, mark: u8, length: usize) {
        if mark == b'`' && self.verbatim.is_none() {
            self.inlines.begin_run(length);
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
    fn fence(&mut self, byte: u8, length: usize) {
        self.close_to(self.matched);
        self.block = MarkdownBlock::Fence { byte, length };
    }

    /// Takes a byte after the beginning of the line.
    fn rest(&mut self, byte: u8, before: Before) {
        self.paragraph = self.paragraph.with(&[byte]);
        if self.is_prose() && self.verbatim.is_none() {
            self.inlines.byte(byte, before);
        }
    }
}
