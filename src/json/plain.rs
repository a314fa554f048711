//! Bytes of JSON text by their kind: runs of those that mean themselves in a string are found
//! thirty-two at a time.

use crate::cut::Cut as _;
use wide::{i8x32, u8x32};

/// White space is what JSON says it is, and nothing else.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    byte <= b' ' && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the first place from this one on that is no white space.
#[inline]
pub(crate) fn after_space(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(..=b' ') => after_some_space(text, at),
        _ => at,
    }
}

/// Returns the first place that is no white space, where there may be some.
#[inline(never)]
fn after_some_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|byte| is_space(*byte)) {
        at += 1;
    }
    at
}

/// Returns how many of the first bytes are printable ASCII other than a quote or
/// a backslash.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    run_length(bytes, |block| {
        is(block, b'"') | is(block, b'\\') | is(block, 0x7F) | below_space_or_wide(block)
    })
}

/// Returns how many of the first bytes are printable ASCII.
pub(super) fn printable_length(bytes: &[u8]) -> usize {
    run_length(bytes, |block| is(block, 0x7F) | below_space_or_wide(block))
}

/// Returns how many of the first bytes are of no ASCII character, and begin none of those that may
/// be harmful.
pub(super) fn calm_letters_length(bytes: &[u8]) -> usize {
    run_length(bytes, |block| {
        let is_ascii = block.cast_signed().simd_gt(i8x32::splat(-1)).cast_unsigned();
        SUSPECT_LETTERS.iter().fold(is_ascii, |mark, byte| mark | is(block, *byte))
    })
}

/// The first bytes of the characters above ASCII of which some are harmful.
pub(super) const SUSPECT_LETTERS: [u8; 6] = [0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF3];

/// Returns how many of the first bytes neither end a JSON string, nor begin an
/// escape, nor are control characters.
#[inline]
pub(super) fn string_length(bytes: &[u8]) -> usize {
    run_length(bytes, ends_run)
}

/// Marks quotes, backslashes and control characters.
#[inline]
fn ends_run(block: u8x32) -> u8x32 {
    let below_space = block.min(u8x32::splat(0x1F)).simd_eq(block);
    is(block, b'"') | is(block, b'\\') | below_space
}

/// Returns how many of the first bytes neither end a JSON string nor begin an escape.
#[inline]
pub(super) fn unescaped_length(bytes: &[u8]) -> usize {
    run_length(bytes, |block| is(block, b'"') | is(block, b'\\'))
}

/// Marks control characters and the bytes that are not ASCII: as signed numbers, these are negative.
#[inline]
fn below_space_or_wide(block: u8x32) -> u8x32 {
    block.cast_signed().simd_lt(i8x32::splat(0x20)).cast_unsigned()
}

/// Marks the bytes that are this one.
#[inline]
fn is(block: u8x32, byte: u8) -> u8x32 {
    block.simd_eq(u8x32::splat(byte))
}

/// Returns how many bytes come before the first that `mark` marks.
#[inline]
fn run_length(bytes: &[u8], mark: impl Fn(u8x32) -> u8x32) -> usize {
    match bytes.first_chunk().map(|block| find(*block, &mark)) {
        // Most runs are this short.
        Some(at) if at < BLOCK => at,
        _ => long_run_length(bytes, &mark),
    }
}

/// Returns the length of a run that may be longer than a block, or of bytes that are fewer than one.
#[inline(never)]
fn long_run_length(bytes: &[u8], mark: impl Fn(u8x32) -> u8x32) -> usize {
    let (blocks, rest) = bytes.as_chunks();
    for (number, block) in blocks.iter().enumerate() {
        match find(*block, &mark) {
            BLOCK => {}
            at => return number * BLOCK + at,
        }
    }
    if let Some(last) = bytes.last_chunk() {
        // What comes before the rest holds no mark.
        return bytes.len().min(bytes.len() - BLOCK + find(*last, &mark));
    }
    find_by_ends::<16>(rest, &mark)
        .or_else(|| find_by_ends::<8>(rest, &mark))
        .or_else(|| find_by_ends::<4>(rest, &mark))
        .or_else(|| find_by_ends::<2>(rest, &mark))
        .or_else(|| find_by_ends::<1>(rest, &mark))
        .unwrap_or(0)
}

/// Returns how many bytes come before the first that is marked in up to twice as many bytes as
/// `N`: the first and the last `N` of them are one block.
#[inline]
fn find_by_ends<const N: usize>(bytes: &[u8], mark: impl Fn(u8x32) -> u8x32) -> Option<usize> {
    let (first, last) = (bytes.first_chunk::<N>()?, bytes.last_chunk::<N>()?);
    let mut block = [b' '; BLOCK];
    let (begin, rest) = block.split_first_chunk_mut::<N>()?;
    *begin = *first;
    *rest.first_chunk_mut()? = *last;
    Some(match find(block, mark) {
        at if at < N => at,
        at if at < 2 * N => at - N + bytes.len() - N,
        _ => bytes.len(),
    })
}

/// Returns the place of the first byte that is marked, or the number of all.
#[inline]
fn find(block: [u8; BLOCK], mark: impl Fn(u8x32) -> u8x32) -> usize {
    mark(u8x32::new(block)).to_bitmask().trailing_zeros() as usize
}

/// The bytes that are searched at once.
pub(super) const BLOCK: usize = 32;

/// Returns the length of a string's inside, up to its closing quote, in text that is known to be
/// JSON.
#[inline]
pub(super) fn inside_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let end = at + unescaped_length(text.after(at));
        match text.get(end) {
            Some(b'\\') => at = end + 2,
            _ => return end.min(text.len()),
        }
    }
}

/// What the letter of an escape stands for; 0 if not for one byte.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0Cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};

/// Returns the byte that the letter of an escape stands for.
#[cfg(feature = "cli")]
pub(crate) fn escaped(letter: u8) -> Option<u8> {
    Some(ESCAPES[usize::from(letter)]).filter(|byte| *byte != 0)
}

/// Appends what the inside of a string means, up to a quote, a control character, the end of the
/// bytes, or an escape that does not stand for one byte. Returns how many bytes it has read.
pub(crate) fn unescape(inside: &[u8], out: &mut Vec<u8>) -> usize {
    const TWO: usize = 2 * BLOCK;
    let mut at = 0;
    while at < inside.len() {
        let rest = inside.after(at);
        let from: [u8; TWO] = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut padded = [b' '; TWO];
            padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            padded
        });
        // Escapes stand close together: those of a block are found at once.
        let block = *from.first_chunk().unwrap_or(&[0; BLOCK]);
        let mut marks = ends_run(u8x32::new(block)).to_bitmask();
        let size = rest.len().min(BLOCK);
        let mut made = [0; TWO];
        let (mut length, mut done) = (0, 0);
        let is_over = loop {
            let end = size.min(marks.trailing_zeros() as usize);
            copy_block(&from, done, &mut made, length);
            length += end.saturating_sub(done);
            if end == size {
                break false;
            }
            let byte = match (from[end], from[end + 1]) {
                (b'\\', letter) if end + 1 < rest.len() => ESCAPES[usize::from(letter)],
                _ => 0,
            };
            if byte == 0 {
                done = end;
                break true;
            }
            made[length] = byte;
            length += 1;
            done = end + 2;
            marks &= u32::MAX.unbounded_shl(done as u32);
        };
        append_start(&made, length, out);
        if is_over {
            return at + done;
        }
        at += done.max(size);
    }
    at
}

/// Copies so many bytes as a block has, where both have them.
#[inline]
fn copy_block(from: &[u8], at: usize, to: &mut [u8], place: usize) {
    let from = from.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>);
    let to = to.get_mut(place..).and_then(<[u8]>::first_chunk_mut::<BLOCK>);
    if let (Some(from), Some(to)) = (from, to) {
        *to = *from;
    }
}

/// Returns the length of the character that a text begins with, in bytes.
#[inline]
pub(crate) fn char_length(text: &[u8]) -> usize {
    if text.first().is_some_and(u8::is_ascii) {
        return 1;
    }
    1 + text.iter().skip(1).take_while(|byte| matches!(byte, 0x80..0xC0)).count()
}

/// Returns how many of the first bytes are the same in both.
pub(crate) fn same_length(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        let difference = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
        if difference != 0 {
            return same + difference.trailing_zeros() as usize / 8;
        }
        same += size_of::<u128>();
    }
    same + a.iter().zip(b).skip(same).take_while(|(a, b)| a == b).count()
}

/// True if a text begins with these bytes. For what is short, this takes less than a call of the C
/// library's `memcmp`: given a place where no memory is, as that of an empty string may be, its
/// masked loads take hundreds of cycles on some processors, even if they load nothing.
#[inline]
pub(crate) fn begins_with(text: &[u8], bytes: &[u8]) -> bool {
    let Some(text) = text.get(..bytes.len()) else { return false };
    let (of_text, of_bytes) = (text.as_chunks::<BLOCK>().0, bytes.as_chunks::<BLOCK>().0);
    if !of_bytes.is_empty() {
        return of_text == of_bytes && text.last_chunk::<BLOCK>() == bytes.last_chunk();
    }
    let is_same = same_ends::<16>(text, bytes).or_else(|| same_ends::<8>(text, bytes));
    let is_same = is_same.or_else(|| same_ends::<4>(text, bytes));
    is_same.unwrap_or_else(|| text.iter().eq(bytes))
}

/// True if the first and the last `N` bytes of two texts are the same.
#[inline]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> Option<bool> {
    let is_begin = a.first_chunk::<N>()? == b.first_chunk::<N>()?;
    Some(is_begin && a.last_chunk::<N>()? == b.last_chunk::<N>()?)
}

/// Appends the first `length` bytes. Copies a whole block and truncates where it can: that takes
/// less than a call of the C library's `memcpy`.
#[inline]
pub(crate) fn append_start(bytes: &[u8], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    match bytes.first_chunk::<BLOCK>().filter(|_| length <= BLOCK) {
        Some(block) => out.extend_from_slice(block),
        None => out.extend_from_slice(bytes.before(length)),
    }
    out.truncate(end);
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

    #[test]
    fn escapes_at_every_place() {
        for length in 0..70 {
            for (escape, byte) in [("\\n", '\n'), ("\\\"", '"'), ("\\\\", '\\'), ("\\f", '\x0C')] {
                for twice in ["", escape] {
                    let before = "a".repeat(length);
                    let inside = format!("{before}{escape}{twice}b{escape}{before}");
                    let meant = inside.replace(escape, &byte.to_string());
                    for end in ["", "\"c", "\\", "\\u0041", "\n", "\\q"] {
                        let mut out = Vec::new();
                        let read = unescape(format!("{inside}{end}").as_bytes(), &mut out);
                        assert_eq!(
                            (read, &*out),
                            (inside.len(), meant.as_bytes()),
                            "{inside}{end}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_length() {
        for length in 0..=100 {
            let bytes: Vec<u8> = (b'a'..=b'z').cycle().take(length).collect();
            assert_eq!(plain_length(&bytes), length);
            assert!(
                begins_with(&bytes, &bytes) && begins_with(&[&bytes[..], b"a"].concat(), &bytes)
            );
            for at in 0..length {
                let mut other = bytes.clone();
                other[at] = b'"';
                let lengths = [plain_length, string_length, inside_length].map(|of| of(&other));
                assert_eq!(lengths, [at; 3], "of {length}");
                assert!(!begins_with(&bytes, &other) && begins_with(&bytes, &bytes[..at]));
            }
        }
    }
}
