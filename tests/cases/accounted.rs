//! Law 4, for the framings: every byte of every prefix is in a frame, in a
//! fault, or belongs to the framing itself.

use toolstream::frame::{FaultKind, FrameConfig, Framed, find};

use crate::case::Case;

/// What a framer makes of a prefix.
#[derive(Default)]
struct Account {
    /// The contents of frames and the bytes of faults, in their order.
    pieces: Vec<Vec<u8>>,
    /// What follows can't be read, and that is said.
    is_cut: bool,
    /// Whether something was passed over, and that is said.
    is_noted: bool,
    messages: Vec<(u64, String)>,
}

fn account(framing: &str, bytes: &[u8]) -> Account {
    let mut account = Account::default();
    let mut framer = (find(framing).unwrap().framer)(FrameConfig::default());
    let mut out = |framed: Framed<'_>| {
        match framed {
            Framed::Frame(frame) => account.pieces.push(frame.data.to_vec()),
            Framed::Comment | Framed::Next(_) => {}
            Framed::Fault(fault) => {
                account.is_cut |= matches!(fault.kind, FaultKind::Broken | FaultKind::Limit);
                account.is_noted |= matches!(fault.kind, FaultKind::Note(_));
                account.pieces.push(fault.raw.to_vec());
                account.messages.push((fault.offset, fault.message));
            }
        }
        Ok(())
    };
    framer.feed(bytes, &mut out).unwrap();
    framer.finish(&mut out).unwrap();
    account
}

/// What is left of a prefix after these pieces, if nothing stands between them
/// but what is the framing's own. Data over several lines is a piece a line.
fn rest_after<'a>(framing: &str, bytes: &'a [u8], pieces: &[Vec<u8>]) -> Option<&'a [u8]> {
    let mut lines = pieces.iter().flat_map(|piece| piece.split(|&byte| byte == b'\n'));
    // A short piece stands in the name of its field as well: it's after that.
    let fields: &[&[u8]] =
        if framing == "sse" { &[b"data: ", b"data:", b"data", b""] } else { &[b""] };
    lines.try_fold(bytes, |rest, piece| {
        let is_here =
            |at: &usize| rest[*at..].starts_with(piece) && is_overhead(framing, &rest[..*at]);
        let places: Vec<usize> = (0..=rest.len()).filter(is_here).collect();
        let at = fields
            .iter()
            .find_map(|field| places.iter().find(|&&at| rest[..at].ends_with(field)))?;
        Some(&rest[at + piece.len()..])
    })
}

/// Whether these bytes are the framing's own.
fn is_overhead(framing: &str, gap: &[u8]) -> bool {
    match framing {
        "sse" => gap.split(|byte| b"\r\n".contains(byte)).all(|line| {
            let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            let value = line.get(name.len() + 1..).unwrap_or_default();
            match name {
                b"" | b"event" | b"id" | b"retry" => true,
                b"data" => value.trim_ascii().is_empty(),
                _ => false,
            }
        }),
        "ndjson" => gap.trim_ascii().is_empty() || gap == b"\xEF\xBB\xBF",
        _ => gap.iter().all(|byte| b" \t\r\n,[]\xEF\xBB\xBF".contains(byte)),
    }
}

#[track_caller]
fn check(name: &str, framing: &str, bytes: &[u8]) {
    let account = account(framing, bytes);
    if account.is_cut || account.is_noted {
        return; // It's said where, and what.
    }
    let rest = rest_after(framing, bytes, &account.pieces);
    assert!(rest.is_some_and(|rest| is_overhead(framing, rest)), "{name}: something is lost");
}

/// Returns the framing that a case is for.
fn framing(case: &Case) -> Option<&str> {
    case.name.strip_prefix("fixtures/frame/")?.split('/').next()
}

pub(crate) fn every_byte_of_every_prefix(case: &Case) -> bool {
    let Some(framing @ ("sse" | "ndjson" | "json" | "json-array")) = framing(case) else {
        return false;
    };
    if !case.args.is_empty() || case.input.starts_with(b"HTTP/") {
        return false;
    }
    for at in 0..=case.input.len() {
        check(&format!("cut at {at}"), framing, &case.input[..at]);
    }
    true
}

/// In an AWS event stream the account is in numbers: what was framed, what was
/// not read, and what is missing.
pub(crate) fn every_byte_of_every_message(case: &Case) -> bool {
    if framing(case) != Some("eventstream") || !case.args.is_empty() {
        return false;
    }
    for at in 0..=case.input.len() {
        let Account { messages, .. } = account("eventstream", &case.input[..at]);
        let Some((offset, message)) = messages.last() else { continue };
        let numbers: Vec<u64> = message.split(' ').filter_map(|word| word.parse().ok()).collect();
        let unaccounted = match numbers[..] {
            [missing, wanted] => wanted - missing,
            [unread] => unread,
            _ => panic!("no account: {message}"),
        };
        assert_eq!(offset + unaccounted, at as u64, "cut at {at}: {message}");
    }
    true
}

/// A checksum notices a wrong bit wherever it is: the messages in front of it
/// are read, and none after it.
pub(crate) fn every_wrong_bit_of_every_message(case: &Case) -> bool {
    let whole = account("eventstream", &case.input);
    if whole.pieces.is_empty() || !whole.messages.is_empty() {
        return false;
    }
    for bit in 0..case.input.len() * 8 {
        let mut bytes = case.input.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Account { pieces, is_cut, messages, .. } = account("eventstream", &bytes);
        let frames = &pieces[..pieces.len() - messages.len()];
        let is_rejected = is_cut && whole.pieces.starts_with(frames);
        assert!(is_rejected && frames.len() < whole.pieces.len(), "bit {bit}");
    }
    true
}
