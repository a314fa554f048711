//! Markdown's structure, as far as it separates code from other text: a model
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
use crate::dialect::machine::blocks::{MarkdownBlocks, TextRegion};
use crate::dialect::machine::find::find_any;
use crate::dialect::machine::quotation_context::{Before, last_after};
use crate::dialect::machine::verbatim::{TagPlace, VerbatimTag};
use crate::json::char_length;

/// Follows Markdown byte by byte.
#[derive(Clone, Debug)]
pub(crate) struct MarkdownContext {
    blocks: MarkdownBlocks,
    tag: VerbatimTag,
    /// The number of bytes so far.
    count: u64,
    /// The last sixteen bytes, the newest in the lowest byte.
    last: u128,
}

/// The bytes that calm text has none of, but the first one of a dash or a curly mark. In the middle
/// of a line, each marker that is looked for begins with one of them.
const STOPS: [u8; 6] = [b'\n', b'`', b'<', b'[', b']', 0xE2];

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
            blocks: MarkdownBlocks::default(),
            tag: VerbatimTag::NONE,
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
        if !self.blocks.is_rest() {
            return self.take_spaces(text);
        }
        let length = match self.tag.is_open() {
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
        if self.tag.is_open() {
            return 0;
        }
        let count = self.blocks.take_spaces(text);
        if count > 0 {
            self.pass(text.before(count));
        }
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
        self.blocks.calm(text, self.before());
        self.pass(text);
    }

    /// Takes note of text that begins no tag.
    fn pass(&mut self, text: &[u8]) {
        self.last = last_after(self.last, text);
        self.count += text.len() as u64;
        self.tag.grow(text.len());
    }

    fn before(&self) -> Before {
        Before { count: self.count, last: self.last }
    }

    /// Returns the length of the calm text that this one begins with, in bytes, if the last line
    /// goes on with it.
    pub(crate) fn calm_length(&self, text: &[u8]) -> usize {
        let is_in_line = self.blocks.is_rest() && !self.tag.is_open();
        if is_in_line { calm_length(text) } else { 0 }
    }

    /// Takes note that a marker was read: what follows begins a document.
    pub(crate) fn marker(&mut self) {
        *self = MarkdownContext::default();
    }

    /// True if a line begins here, white space aside.
    pub(crate) fn is_line(&self) -> bool {
        self.blocks.is_line()
    }

    /// Prepares for [`Self::region`] to be asked again and again here.
    pub(crate) fn settle(&mut self) {
        self.blocks.settle();
    }

    /// Returns what a call that begins here stands in.
    pub(crate) fn region(&self) -> TextRegion {
        self.blocks.region()
    }

    /// Takes note of a call that begins here and counts as code: the quotation that it stands in
    /// goes on up to its closing mark, over line ends as well.
    pub(crate) fn enter_call(&mut self) {
        self.blocks.enter_call();
    }

    fn byte(&mut self, byte: u8) {
        let before = self.before();
        let place = match byte {
            b'<' => Some(self.blocks.tag_place()),
            b'\\' | b'#' => Some(self.blocks.tag_place()).filter(|it| *it != TagPlace::Inline),
            _ => None,
        };
        let opened = if self.tag.is_open() { self.tag.opened(byte, before) } else { None };
        self.blocks.byte(byte, before, opened);
        self.last = self.last << 8 | u128::from(byte);
        self.count += 1;
        match (place, byte) {
            (Some(place), _) => self.tag = VerbatimTag::new(place),
            // These end the tag's name.
            (None, b' ' | b'\t' | b'\n' | b'>') => self.tag = VerbatimTag::NONE,
            (None, _) => self.tag.grow(1),
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
        for before in [
            "[a]: /b\n", "[a]: /b \"t\"\n", "[a]:\n/b\n", "[a]: /b\n\"t\"\n", "> <div>\n",
            "> </p\n", "> a\n> <div>\n", "1000. <br>\n",
        ] {
            check(&format!("{before}    "), true);
        }
        for before in ["[a]\n", "[a] b]: /c\n", "a [b]: c\n", "<div>\n", "> a <br>\n", "- <p>a\n  "]
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
        check("a `b\n~", true);
        check("~", true);
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
    fn escaped_quotation_marks() {
        for (text, is_code) in [
            ("so \\\"", true),
            ("so \\\"a ", true),
            ("so \\\"a\\\" ", false),
            ("so \\\"a \"b\" ", true),
            ("so \"a \\\\\\\"", true),
            ("so \\\"a \\\\\\\"", true),
            ("so \\\"a \\\\\\\"b\\\\\\\" ", true),
            ("{\\\"a\\\": \\\"b\\\", \\\"c\\\": \\\"", true),
            ("{\\\"a\\\": \\\"b\\\"} ", false),
            ("M\\\"uller ", false),
            ("5\\\" ", false),
            ("it\\'s ", false),
            ("\\'", true),
        ] {
            check(text, is_code);
        }
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
    fn code_in_a_line_of_latex_and_org() {
        for (text, is_code) in [
            ("so \\verb|", true),
            ("so \\verb+a \"b|", true),
            ("so \\verb|a| ", false),
            ("so \\verb\"a\" ", false),
            ("so \\lstinline!a ", true),
            ("so \\verb|a\n", false),
            ("so \\verb a ", false),
            ("so \\verbatim|", false),
            ("\\verb=a=", false),
            ("a = ", false),
            ("a=", false),
            ("a == ", false),
            ("so ~5 ", false),
            ("so ~~", false),
            ("so \\verb|<code>\n", true),
        ] {
            check(text, is_code);
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
        check("so \\verb|", "<a>\n</a> and ", true);
        check("so \\verb|", "<a></a>|\nso \"a\n", false);
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
