//! Markup other than Markdown whose inside is code, in HTML, LaTeX and Org.

use crate::dialect::machine::quotation_context::Before;

/// Such markup that is open, and the text that closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verbatim {
    close: &'static str,
    pub(super) extent: VerbatimExtent,
    /// True up to the end of the tag that opens it.
    is_tag: bool,
}

/// What ends such markup that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerbatimExtent {
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

/// What may be an opener of such markup.
#[derive(Clone, Copy, Debug)]
pub(super) struct VerbatimTag {
    pub(super) place: TagPlace,
    /// The number of bytes after its first one, while it may be an opener: up to the length of the
    /// longest one.
    length: u8,
}

/// Where such a tag begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagPlace {
    /// In the middle of a line.
    Inline,
    /// At the beginning of a line of a paragraph that began before it.
    Line,
    /// Where a block may begin.
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

impl Verbatim {
    /// Takes a byte of its inside, and what comes before it; returns none if it closes here.
    pub(super) fn take(self, byte: u8, before: Before) -> Option<Self> {
        let extent = match (self.extent, byte) {
            (VerbatimExtent::Line, b'\n') => VerbatimExtent::Lines,
            (VerbatimExtent::Line, byte) if !self.is_tag && byte > b' ' => {
                VerbatimExtent::Paragraph
            }
            (extent, _) => extent,
        };
        let is_over =
            self.close.as_bytes().split_last().is_some_and(|(last, head)| {
                byte.eq_ignore_ascii_case(last) && before.has_suffix(head)
            });
        let is_tag = self.is_tag && byte != b'>';
        (!is_over).then_some(Verbatim { extent, is_tag, ..self })
    }
}

impl VerbatimTag {
    /// None so far.
    pub(super) const NONE: VerbatimTag = VerbatimTag { place: TagPlace::Inline, length: LONGEST };

    /// A tag of which the first byte has come.
    pub(super) fn new(place: TagPlace) -> Self {
        VerbatimTag { place, length: 0 }
    }

    /// True if what came last may be an opener.
    #[inline]
    pub(super) fn is_open(self) -> bool {
        self.length < LONGEST
    }

    /// Takes so many bytes more.
    #[inline]
    pub(super) fn grow(&mut self, count: usize) {
        let count = u8::try_from(count).unwrap_or(LONGEST);
        self.length = LONGEST.min(self.length.saturating_add(count));
    }

    /// Returns what this byte opens, if it completes an opener.
    pub(super) fn opened(self, byte: u8, before: Before) -> Option<Verbatim> {
        let length = usize::from(self.length) + 1;
        let is_opener = |(open, ends, ..): &&(&str, &[u8], &str, bool)| {
            open.len() == length && ends.contains(&byte) && before.has_suffix(open.as_bytes())
        };
        let &(_, _, close, may_be_block) = VERBATIM.iter().find(is_opener)?;
        let extent = match self.place {
            TagPlace::Line | TagPlace::Block if may_be_block => VerbatimExtent::Block,
            TagPlace::Block => VerbatimExtent::Line,
            TagPlace::Line | TagPlace::Inline => VerbatimExtent::Paragraph,
        };
        Some(Verbatim { close, extent, is_tag: byte != b'>' })
    }
}
