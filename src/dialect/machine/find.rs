//! The search for one of several bytes.

/// The bytes that are compared before any branch: with fewer of them, the compiler unrolls the loop
/// and compares byte by byte.
const CHUNK: usize = 32;

/// Finds the first of these bytes that counts by its place.
#[inline]
pub(crate) fn find_any<const N: usize>(
    bytes: &[u8],
    needles: [u8; N],
    counts: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_needle = |byte: u8| needles.iter().fold(false, |any, needle| any | (byte == *needle));
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut marks = [0; CHUNK];
        marks.iter_mut().zip(chunk).for_each(|(mark, byte)| *mark = u8::from(is_needle(*byte)));
        let (halves, _) = marks.as_chunks();
        for (half, marks) in halves.iter().enumerate() {
            let mut marks = u128::from_le_bytes(*marks);
            while marks != 0 {
                let place = (marks.trailing_zeros() / 8) as usize;
                let at = number * CHUNK + half * 16 + place;
                if counts(at) {
                    return Some(at);
                }
                marks &= marks - 1;
            }
        }
    }
    let from = chunks.len() * CHUNK;
    let mut found = (from..).zip(rest).filter(|(_, byte)| is_needle(**byte));
    found.find(|(at, _)| counts(*at)).map(|(at, _)| at)
}
