//! Bytes that mean themselves in a JSON string and need no escape in one: all
//! but a few of most text, and looked at eight at a time.

/// How many of the first bytes are printable ASCII other than a quote or a
/// backslash.
pub fn plain_length(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let others = others(u64::from_le_bytes(*chunk));
        if others != 0 {
            return number * 8 + (others.trailing_zeros() / 8) as usize;
        }
    }
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    let others = others(u64::from_le_bytes(last));
    chunks.len() * 8 + rest.len().min((others.trailing_zeros() / 8) as usize)
}

/// Appends the first of these bytes. A few go as sixteen, of which some are taken
/// back: so many needn't be told from fewer by branches that no one can predict.
pub fn push_short(bytes: &[u8], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    match bytes.first_chunk::<16>().filter(|chunk| length <= chunk.len()) {
        Some(chunk) => out.extend_from_slice(chunk),
        None => out.extend(bytes.iter().take(length)),
    }
    out.truncate(end);
}

/// Marks the bytes of a word that are something else by their highest bits. Of
/// these, the lowest one is right: a borrow goes upwards only.
fn others(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let is = |byte: u8| (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES);
    let is_control = word.wrapping_sub(ONES * u64::from(b' '));
    (is(b'"') | is(b'\\') | is(0x7F) | is_control | word) & HIGHEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            let is_plain = matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
            for at in 0..20 {
                for behind in [b'a', 0, b'"', 0x80] {
                    let mut bytes = [behind; 20];
                    bytes[..at].fill(b'~');
                    bytes[at] = byte;
                    let length = plain_length(&bytes);
                    let expected =
                        at + if is_plain { plain_length(&bytes[at + 1..]) + 1 } else { 0 };
                    assert_eq!(length, expected, "{byte:#x} at {at}");
                }
            }
        }
    }
}
