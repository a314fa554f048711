//! An input made small: what is not needed is left out.

use std::time::Instant;

/// Splits an input into parts that may be left out.
pub type Split<'s> = &'s dyn Fn(&[u8]) -> Vec<Vec<u8>>;

/// Returns the smallest input that is found for which `holds` is true, as it is for this one.
/// Leaves out parts of the first split, then of the next ones, until nothing more can be spared, or
/// it is `end`.
pub fn shrink(
    input: &[u8],
    splits: &[Split<'_>],
    end: Instant,
    holds: &mut dyn FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let mut best = input.to_vec();
    loop {
        let before = best.len();
        for split in splits {
            let mut parts = split(&best);
            let mut size = parts.len().div_ceil(2);
            while size > 0 {
                let mut at = 0;
                while at < parts.len() {
                    if Instant::now() > end {
                        return best;
                    }
                    let mut fewer = parts.clone();
                    fewer.drain(at..parts.len().min(at + size));
                    let smaller = fewer.concat();
                    if holds(&smaller) {
                        (best, parts) = (smaller, fewer);
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        if best.len() == before {
            return best;
        }
    }
}

/// Splits an input into its bytes.
pub(crate) fn bytes(input: &[u8]) -> Vec<Vec<u8>> {
    input.iter().map(|byte| vec![*byte]).collect()
}

/// Splits a text into tags, signs, and what stands between them.
pub fn stretches(input: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut stretches) = (input, Vec::new());
    while let Some((stretch, tail)) = stretch(rest).and_then(|length| rest.split_at_checked(length))
    {
        stretches.push(stretch.to_vec());
        rest = tail;
    }
    stretches
}

/// Returns the length of a stretch of text: of a tag, of a run of one sign, or of what has no sign
/// in it. No text has none.
pub fn stretch(text: &[u8]) -> Option<usize> {
    let is_sign = |byte: &u8| b"<>[]{}|\"`\n:,=()".contains(byte);
    let (&first, rest) = text.split_first()?;
    let tag = || {
        let end = rest.iter().take(63).position(|&byte| byte == b'>')?;
        let is_tag = first == b'<' && !rest.iter().take(end).any(|byte| b"<\n".contains(byte));
        is_tag.then_some(end + 2)
    };
    let run = || text.iter().position(|&byte| byte != first).unwrap_or(text.len());
    let plain = || text.iter().position(is_sign).unwrap_or(text.len());
    tag().or_else(|| Some(if is_sign(&first) { run() } else { plain() }))
}
