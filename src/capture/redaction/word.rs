//! The words that stand in place of secrets.

use std::borrow::Cow;

use memchr::memchr2;

use crate::cut::Cut as _;

/// They are made of this, and end with a number.
const WORD: &[u8] = b"redacted";

/// The kind of secret whose word is another address.
pub(super) const ADDRESS: &str = "an e-mail address";

/// Returns the word for a secret: as long, of digits if that is, with its line ends.
pub(super) fn word(secret: &[u8], number: usize) -> Vec<u8> {
    let own = own(secret);
    let (length, digits) = (own.iter().filter(|is_own| **is_own).count(), number.to_string());
    let is_number = secret.iter().all(u8::is_ascii_digit);
    // More than half of a number are zeros.
    let room = if is_number { length - length / 2 } else { length };
    let digits = if digits.len() < room { digits } else { String::new() };
    let rest = length - digits.len();
    let filler: Vec<u8> = match is_number {
        // No number begins with a zero.
        true => [b'1'].into_iter().chain([b'0'].into_iter().cycle()).take(rest).collect(),
        false => WORD.iter().copied().cycle().take(rest).collect(),
    };
    let mut word = filler.into_iter().chain(digits.into_bytes());
    let places = secret.iter().zip(own);
    places.map(|(&byte, is_own)| is_own.then(|| word.next()).flatten().unwrap_or(byte)).collect()
}

/// Returns for each byte whether it is the secret's, and not that of a line end: the backslash that
/// takes it away, and the indentation after it, are not.
fn own(secret: &[u8]) -> Vec<bool> {
    let mut own = vec![true; secret.len()];
    let mut is_line_begin = false;
    for (at, byte) in secret.iter().enumerate() {
        let rest = secret.after(at + 1);
        let is_end = matches!(byte, b'\r' | b'\n');
        let is_joint = *byte == b'\\' && (rest.starts_with(b"\n") || rest.starts_with(b"\r\n"));
        is_line_begin = is_end || (is_line_begin && b" \t".contains(byte));
        if let Some(own) = own.get_mut(at) {
            *own = !is_line_begin && !is_joint;
        }
    }
    own
}

/// Returns an e-mail address in place of another.
pub(super) fn address(secret: &[u8], number: usize) -> Vec<u8> {
    let at = secret.iter().position(|&byte| byte == b'@').unwrap_or(secret.len());
    let (name, host) = secret.split_at(at);
    let digits = number.to_string();
    let digits = if digits.len() < name.len() { digits } else { String::new() };
    let cycle = || WORD.iter().copied().cycle();
    let mut out: Vec<u8> = cycle().take(name.len() - digits.len()).collect();
    out.extend_from_slice(digits.as_bytes());
    let last = host.iter().rposition(|&byte| byte == b'.').unwrap_or(host.len());
    let mut letters = cycle();
    for (place, &byte) in host.iter().enumerate() {
        if byte == b'.' || byte == b'@' {
            letters = cycle();
        }
        let is_kept = place >= last || b".@".contains(&byte);
        out.push(if is_kept { byte } else { letters.next().unwrap_or(byte) });
    }
    out
}

/// True if it stands in place of a secret, or is no more than line ends.
pub(super) fn is_word(text: &[u8]) -> bool {
    let text = &*match memchr2(b'\n', b'\r', text) {
        Some(_) => {
            text.iter().zip(own(text)).filter(|(_, own)| *own).map(|(byte, _)| *byte).collect()
        }
        None => Cow::Borrowed(text),
    };
    if text.is_empty() {
        return true;
    }
    let end = text.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    match text.split_at_checked(end) {
        Some(([], digits)) => {
            let zeros = digits.iter().skip(1).take_while(|&&byte| byte == b'0').count();
            digits.first() == Some(&b'1') && zeros >= digits.len() / 2
        }
        Some((letters, _)) => letters.iter().zip(WORD.iter().cycle()).all(|(a, b)| a == b),
        None => false,
    }
}
