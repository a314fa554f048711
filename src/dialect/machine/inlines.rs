//! Markdown's inline structure, as far as it separates code from other text: spans and quotations.

use crate::dialect::machine::quotation_context::{Before, QuotationContext};

/// Follows one paragraph byte by byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Inlines {
    /// The backticks that opened the span that is open; 0 if none is.
    span: usize,
    /// The backticks at the end of the text so far.
    run: usize,
    quotations: QuotationContext,
}

impl Inlines {
    /// Takes a byte, and what comes before it.
    pub(super) fn byte(&mut self, byte: u8, before: Before) {
        match byte {
            b'`' if self.run > 0 || self.span > 0 || !before.is_escape() => {
                self.quotations.feed(&[byte], before);
                self.run += 1;
            }
            _ => {
                self.end_run();
                self.calm(&[byte], before);
            }
        }
    }

    /// Takes text without backticks, after none. In a span, quotation marks are code.
    #[inline]
    pub(super) fn calm(&mut self, text: &[u8], before: Before) {
        if self.span == 0 {
            self.quotations.feed(text, before);
        }
    }

    /// Takes so many backticks that begin a paragraph.
    pub(super) fn begin_run(&mut self, length: usize) {
        self.run = length;
    }

    /// Ends a run of backticks: it opens or closes a span.
    pub(super) fn end_run(&mut self) {
        match std::mem::take(&mut self.run) {
            0 => {}
            run if self.span == 0 => self.span = run,
            run if self.span == run => self.span = 0,
            _ => {}
        }
    }

    /// Takes the end of a line, and what comes before it. Returns true if a quotation begins there.
    pub(super) fn newline(&mut self, before: Before) -> bool {
        self.end_run();
        self.span == 0 && self.quotations.newline(before)
    }

    /// Ends the quotations of a line.
    pub(super) fn end_line(&mut self) {
        self.quotations.end_line();
    }

    /// Ends the paragraph.
    pub(super) fn end(&mut self) {
        (self.span, self.run) = (0, 0);
        self.quotations.end();
    }

    /// True after backticks, which may open or close a span.
    pub(super) fn is_in_run(&self) -> bool {
        self.run > 0
    }

    /// True in a span, also if the backticks at the end open or close it.
    pub(super) fn is_in_span(&self) -> bool {
        if self.run == 0 { self.span > 0 } else { self.span != self.run }
    }

    /// Prepares for [`Self::is_quoted`] to be asked again and again here.
    pub(super) fn settle(&mut self) {
        self.quotations.settle();
    }

    /// True if a tag that begins here stands between quotation marks.
    pub(super) fn is_quoted(&self) -> bool {
        let (quotations, is_verb) = self.quotations.before(b'<');
        is_verb || !quotations.is_empty()
    }

    /// True between quotation marks, which say that a tag of HTML opens nothing.
    pub(super) fn has_mark(&self) -> bool {
        !self.quotations.before(b'<').0.is_empty()
    }

    /// Takes note of a call that begins here: the quotation that it stands in goes on up to its
    /// closing mark, over line ends as well.
    pub(super) fn enter_call(&mut self) {
        self.quotations.enter_call(b'<');
    }
}
