//! Scalars without quotes.

use crate::dialect::body::yaml::lines::Lines;

impl Lines<'_> {
    /// Reads a plain scalar, to what ends it; further lines begin at the
    /// `least` column.
    pub(super) fn plain(&mut self, least: usize, is_flow: bool) -> Option<String> {
        if !self.begins_plain(is_flow) {
            return None;
        }
        let mut text = self.plain_line(is_flow).to_owned();
        while self.rest.starts_with('\n')
            && let Some(ends) = self.fold(least)?
        {
            if is_flow && self.rest.starts_with([',', '[', ']', '{', '}']) {
                break;
            }
            push_fold(ends, &mut text);
            text.push_str(self.plain_line(is_flow));
        }
        Some(text)
    }

    fn begins_plain(&self, is_flow: bool) -> bool {
        let mut chars = self.rest.chars();
        match chars.next() {
            None | Some('\n') => false,
            Some('-' | '?' | ':') => {
                let next = chars.next().unwrap_or('\n');
                !(next.is_ascii_whitespace() || (is_flow && ",[]{}".contains(next)))
            }
            Some(c) => !",[]{}#&*!|>'\"%@`".contains(c),
        }
    }

    /// Reads what a plain scalar has of this line.
    fn plain_line(&mut self, is_flow: bool) -> &str {
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        let mut is_apart = false;
        while let Some(&byte) = bytes.get(end) {
            let next = bytes.get(end + 1).copied().unwrap_or(b'\n');
            let ends = match byte {
                b'\n' => true,
                b'#' => is_apart,
                b':' if is_flow && b",[]{}".contains(&next) => true,
                b':' => matches!(next, b' ' | b'\t' | b'\n'),
                _ => is_flow && b",[]{}".contains(&byte),
            };
            if ends {
                break;
            }
            is_apart = matches!(byte, b' ' | b'\t');
            end += 1;
        }
        let line = self.rest.get(..end).unwrap_or_default();
        let line = line.trim_end_matches([' ', '\t']);
        // White space stays before what ends the scalar: comments begin behind it.
        self.skip(line.len());
        if self.rest.trim_start_matches([' ', '\t']).starts_with('\n') {
            self.blanks();
        }
        line
    }
}

/// What line ends inside a scalar mean: one is a space, and of several the
/// first means nothing.
pub(super) fn push_fold(ends: usize, text: &mut String) {
    match ends {
        1 => text.push(' '),
        ends => text.extend(std::iter::repeat_n('\n', ends - 1)),
    }
}
