//! The words that stand in place of secrets.

/// They are made of this, and end with a number.
const WORD: &[u8] = b"redacted";

/// The kind of secret whose word is another address.
pub(super) const ADDRESS: &str = "an e-mail address";

/// Returns the word for a secret: as long, of digits if that is, with its line ends.
pub(super) fn word(secret: &[u8], number: usize) -> Vec<u8> {
    let (length, digits) = (secret.len(), number.to_string());
    let digits = if digits.len() < length { digits } else { String::new() };
    let rest = length - digits.len();
    let filler: Vec<u8> = match secret.iter().all(u8::is_ascii_digit) {
        // No number begins with a zero.
        true => [b'1'].into_iter().chain([b'0'].into_iter().cycle()).take(rest).collect(),
        false => WORD.iter().copied().cycle().take(rest).collect(),
    };
    let mut word = [filler, digits.into_bytes()].concat();
    for (place, &byte) in word.iter_mut().zip(secret) {
        if matches!(byte, b'\r' | b'\n') {
            *place = byte;
        }
    }
    word
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

/// True if it stands in place of a secret.
pub(super) fn is_word(text: &[u8]) -> bool {
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
