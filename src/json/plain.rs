//! Bytes of JSON text by their kind: runs of those that mean themselves in a string are found
//! eight at a time, and the end of a value by its brackets and quotes.

use memchr::memchr2;

/// White space is what JSON says it is, and nothing else.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns how many of the first bytes are printable ASCII other than a quote or
/// a backslash.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let is_special = |byte| matches!(byte, b'"' | b'\\' | ..b' ' | 0x7F..);
    length(bytes, |word| specials(word) | word | equal(word, 0x7F), is_special)
}

/// Returns how many of the first bytes neither end a JSON string, nor begin an
/// escape, nor are control characters.
#[inline]
pub(super) fn string_length(bytes: &[u8]) -> usize {
    let is_special = |byte| matches!(byte, b'"' | b'\\' | ..b' ');
    length(bytes, |word| specials(word) & !word, is_special)
}

/// Returns how many bytes come before the first that is special, which `mark` marks as in
/// [`run_length`].
#[inline]
fn length(bytes: &[u8], mark: impl Fn(u64) -> u64, is_special: impl Fn(u8) -> bool) -> usize {
    match bytes.split_at_checked(SHORT) {
        None => run_length(bytes, mark),
        Some((short, long)) => match run_length(short, &mark) {
            SHORT => SHORT + long_length(long, mark, is_special),
            length => length,
        },
    }
}

/// Does the same for what is longer than most.
#[inline(never)]
fn long_length(bytes: &[u8], mark: impl Fn(u64) -> u64, is_special: impl Fn(u8) -> bool) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    // Without a branch in it, this becomes a few instructions for sixteen bytes.
    let has_special = |block: &&[u8; BLOCK]| block.iter().fold(false, |a, &b| a | is_special(b));
    let clean = BLOCK * blocks.iter().take_while(|block| !has_special(block)).count();
    let rest = bytes.get(clean..).unwrap_or_default();
    clean + run_length(rest, mark)
}

/// Returns the length of the value that a text begins with, which is known to be JSON.
pub(super) fn value_length(json: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => at += 1 + inside_length(json.get(at + 1..).unwrap_or_default()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            _ if depth == 0 && is_space(byte) => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    at
}

/// Returns the length of a string's inside, up to its closing quote.
fn inside_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let Some(end) = memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) else {
            return text.len();
        };
        match text.get(at + end) {
            Some(b'"') => return at + end,
            _ => at += end + 2,
        }
    }
}

/// The bytes of a string that are searched in words, as most strings end in them.
const SHORT: usize = 32;
/// The bytes that are searched at once after these.
const BLOCK: usize = 64;

/// Returns how many bytes come before the first that `mark` marks by its highest
/// bit in a word of eight. Only the lowest mark has to be right.
#[inline]
fn run_length(bytes: &[u8], mark: impl Fn(u64) -> u64) -> usize {
    let (chunks, rest) = bytes.as_chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let marks = mark(u64::from_le_bytes(*chunk)) & HIGHEST;
        if marks != 0 {
            return number * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    let marks = mark(u64::from_le_bytes(last)) & HIGHEST;
    chunks.len() * 8 + rest.len().min((marks.trailing_zeros() / 8) as usize)
}

/// Appends the first `length` bytes. Copies a fixed 16 bytes and truncates where
/// it can: that avoids an unpredictable branch on short lengths.
pub(crate) fn push_short(bytes: &[u8], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    match bytes.first_chunk::<16>().filter(|chunk| length <= chunk.len()) {
        Some(chunk) => out.extend_from_slice(chunk),
        None => out.extend(bytes.iter().take(length)),
    }
    out.truncate(end);
}

const ONES: u64 = u64::MAX / 255;
const HIGHEST: u64 = ONES << 7;

/// Marks quotes, backslashes and control characters, and some bytes that are not
/// ASCII. Of the marks, the lowest one is right: a borrow goes upwards only.
#[inline]
fn specials(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | word.wrapping_sub(ONES * u64::from(b' '))
}

/// Marks the bytes that are this one.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            let is_plain = matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
            for at in 0..20 {
                for after in [b'a', 0, b'"', 0x80] {
                    let mut bytes = [after; 20];
                    bytes[..at].fill(b'~');
                    bytes[at] = byte;
                    let length = plain_length(&bytes);
                    let expected =
                        at + if is_plain { plain_length(&bytes[at + 1..]) + 1 } else { 0 };
                    assert_eq!(length, expected, "{byte:#x} at {at}");
                    let is_inside = byte >= b' ' && byte != b'"' && byte != b'\\';
                    let rest = if is_inside { string_length(&bytes[at + 1..]) + 1 } else { 0 };
                    assert_eq!(string_length(&bytes), at + rest, "{byte:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn long_strings_end_at_every_place() {
        for end in 0..300 {
            for byte in [b'"', b'\\', 0, 0x1F] {
                let (mut bytes, mut plain) = ([0xC3; 300], [b'a'; 300]);
                (bytes[end], plain[end]) = (byte, byte);
                assert_eq!(string_length(&bytes), end, "{byte:#x}");
                assert_eq!(string_length(&bytes[..end]), end);
                assert_eq!(plain_length(&plain), end, "{byte:#x}");
                assert_eq!(plain_length(&plain[..end]), end);
            }
        }
    }
}
