//! The changes that are made to an input: to the list of its parts, to the JSON in one
//! of them, to text by its markers, to the whole.

use crate::mutated::parts::{Payload, parts, tokens};
use crate::mutated::pool::Pool;
use crate::mutated::value::Value;
use toolstream::internals::Dice;

/// The parts of an input, and the row whose fixture it was.
pub(super) struct Draft {
    pub(super) row: (String, String),
    pub(super) parts: Vec<Vec<u8>>,
}

type Edit = fn(&mut Draft, &mut Dice, &Pool);

/// The changes. One that stands here twice is made twice as often.
const EDITS: &[Edit] = &[
    drop_parts, double_part, swap_parts, move_part, cut_end, splice, splice, insert_foreign,
    append, interleave, quote, json, json, json, json, json, json, speak, speak, markup, markup,
    markup, markup, tear, noise, between, surround, line_ends, head, chunked,
];

/// Changes a draft once.
pub(super) fn edit(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    dice.pick(EDITS)(draft, dice, pool);
}

/// Returns a place between two parts, or at an end.
fn place(draft: &Draft, dice: &mut Dice) -> usize {
    dice.below(draft.parts.len() + 1)
}

fn drop_parts(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let at = place(draft, dice);
    let end = draft.parts.len().min(at + 1 + dice.below(3));
    draft.parts.drain(at..end);
}

fn double_part(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    if !draft.parts.is_empty() {
        let part = dice.pick(&draft.parts).clone();
        let at = place(draft, dice);
        let times = 1 + dice.below(3);
        draft.parts.splice(at..at, std::iter::repeat_n(part, times));
    }
}

fn swap_parts(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let count = draft.parts.len();
    if count > 0 {
        draft.parts.swap(dice.below(count), dice.below(count));
    }
}

fn move_part(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    if !draft.parts.is_empty() {
        let part = draft.parts.remove(dice.below(draft.parts.len()));
        let at = place(draft, dice);
        draft.parts.insert(at, part);
    }
}

fn cut_end(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let at = place(draft, dice);
    draft.parts.truncate(at);
}

/// The beginning of one input, and the end of another.
fn splice(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    cut_end(draft, dice, pool);
    let other = &kin(draft, dice, pool);
    draft.parts.extend_from_slice(&other[dice.below(other.len() + 1)..]);
}

/// Some parts of another input, in the midst.
fn insert_foreign(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let other = kin(draft, dice, pool);
    let from = dice.below(other.len() + 1);
    let end = other.len().min(from + 1 + dice.below(3));
    let at = place(draft, dice);
    draft.parts.splice(at..at, other[from..end].to_vec());
}

fn append(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let other = kin(draft, dice, pool);
    draft.parts.extend(other);
}

/// The parts of two inputs, in turns.
fn interleave(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    for part in kin(draft, dice, pool) {
        let at = place(draft, dice);
        draft.parts.insert(at, part);
    }
}

/// Another input as text: in JSON, or in Markdown.
fn quote(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let other = kin(draft, dice, pool).concat();
    let marked = |mark: &str| -> Vec<u8> {
        let lines = other.split_inclusive(|&byte| byte == b'\n');
        lines.flat_map(|line| [mark.as_bytes(), line].concat()).collect()
    };
    let quoted = match dice.below(4) {
        0 => [b"```\n", other.as_slice(), b"\n```\n"].concat(),
        1 => marked("    "),
        2 => marked("> "),
        _ => Value::text(&String::from_utf8_lossy(&other)).to_string().into_bytes(),
    };
    let at = place(draft, dice);
    draft.parts.insert(at, quoted);
}

fn kin(draft: &Draft, dice: &mut Dice, pool: &Pool) -> Vec<Vec<u8>> {
    pool.kin((&draft.row.0, &draft.row.1), dice).parts.clone()
}

/// Cuts a part in its midst.
fn tear(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let count = draft.parts.len();
    if let Some(part) = draft.parts.get_mut(dice.below(count)) {
        part.truncate(dice.below(part.len() + 1));
    }
}

/// Bytes that are not what a format expects.
const NOISE: &[&[u8]] = &[
    b"\0", b"\x1b[2J", b"\x7f", b"\xff", b"\xc2\x9b", b"\xe2\x80\xae", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\r", b"\n", b"\n\n", b"\r\n", b"\t", b" ", b"\"", b"\\",
    b"\\\"", b"\\u0000", b"\\ud83d", b"\\udc00", b"{", b"}", b"[", b"]", b",", b":", b"<", b"</",
    b">", b"```", b"`", b"null", b"data:", b"data: ", b"event: error\n", b"\xf0\x9f\x98\x80",
];

/// Puts noise somewhere, in the place of some bytes or of none.
fn noise(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let count = draft.parts.len();
    if let Some(part) = draft.parts.get_mut(dice.below(count)) {
        let at = dice.below(part.len() + 1);
        let end = part.len().min(at + if dice.one_in(2) { dice.below(8) } else { 0 });
        part.splice(at..end, dice.pick(NOISE).iter().copied());
    }
}

/// What may stand between the records of a stream.
const BETWEEN: &[&[u8]] = &[
    b": keep-alive\n\n",
    b":\n\n",
    b"\n",
    b"\n\n",
    b"\r\n\r\n",
    b"event: ping\ndata: {\"type\":\"ping\"}\n\n",
    b"data: [DONE]\n\n",
    b"data:\n\n",
    b"id: 1\n",
    b"retry: 3\n\n",
    b"event: error\n",
    b"data: {}\n\n",
    b"{}\n",
    b"null\n",
    b"data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n",
    b"{\"error\":\"no\"}\n",
    b"[",
    b"]",
    b",",
    b"\xef\xbb\xbf",
    b"\x1e",
];

fn between(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let at = place(draft, dice);
    draft.parts.insert(at, dice.pick(BETWEEN).to_vec());
}

/// What a stretch of text may stand in.
const AROUND: &[(&str, &str)] = &[
    ("```\n", "\n```\n"),
    ("```json\n", "```"),
    ("~~~\n", "\n~~~\n"),
    ("`", "`"),
    ("\"", "\""),
    ("'", "'"),
    ("    ", "\n"),
    ("> ", "\n"),
    ("- ", "\n"),
    ("<!--", "-->"),
    ("<pre>", "</pre>"),
    ("<code>", "</code>"),
    ("<![CDATA[", "]]>"),
    ("<think>", "</think>"),
    ("<think>\n", "\n</think>\n\n"),
    ("<tool_call>", "</tool_call>"),
    ("<tool_response>", "</tool_response>"),
    ("{\"a\":\"", "\"}"),
    ("[", "]"),
    ("\n", "\n"),
    (" ", " "),
];

fn surround(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let (first, second) = (place(draft, dice), place(draft, dice));
    let (before, after) = dice.pick(AROUND);
    draft.parts.insert(first.max(second), after.as_bytes().to_vec());
    draft.parts.insert(first.min(second), before.as_bytes().to_vec());
}

/// Other ends of lines: in all of the input, or from a part on.
fn line_ends(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let end: &[u8] = if dice.one_in(4) { b"\r" } else { b"\r\n" };
    let from = if dice.one_in(2) { 0 } else { place(draft, dice) };
    for part in &mut draft.parts[from..] {
        let pieces =
            part.iter().map(|byte| if *byte == b'\n' { end } else { std::slice::from_ref(byte) });
        *part = pieces.collect::<Vec<_>>().concat();
    }
}

/// Heads of HTTP, and what else stands before a stream.
const HEADS: &[&[u8]] = &[
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
    b"HTTP/2 200 \n\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r\n\r\n",
    b" ",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
];

fn head(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let at = if dice.one_in(4) { place(draft, dice) } else { 0 };
    draft.parts.insert(at, dice.pick(HEADS).to_vec());
}

/// Sends the input in the chunks of HTTP, each of which is some parts.
fn chunked(draft: &mut Draft, dice: &mut Dice, _: &Pool) {
    let mut parts = vec![b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec()];
    while !draft.parts.is_empty() {
        let count = draft.parts.len().min(1 + dice.below(4));
        let chunk = draft.parts.drain(..count).collect::<Vec<_>>().concat();
        let size = format!("{:x}\r\n", chunk.len()).into_bytes();
        parts.push([&size, chunk.as_slice(), b"\r\n"].concat());
    }
    parts.push(b"0\r\n\r\n".to_vec());
    draft.parts = parts;
}

/// Changes text by its markers, whatever the parts are.
fn markup(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let count = draft.parts.len();
    if count == 0 {
        return draft.parts.extend(parts(pool.text(dice)));
    }
    // In records, the text is that of a value.
    if Payload::of(&draft.parts[0]).is_some_and(|payload| Value::read(payload.json).is_some()) {
        return json(draft, dice, pool);
    }
    let at = dice.below(count);
    let marker = pool.marker(dice).to_vec();
    match dice.below(5) {
        0 => draft.parts.insert(at, marker),
        1 => draft.parts[at] = marker,
        2 => draft.parts[at].truncate(marker.len() / 2),
        3 => {
            draft.parts[at] =
                changed_text(&String::from_utf8_lossy(&draft.parts[at]), dice, pool).into_bytes()
        }
        _ => {
            // The same marker again, as an opener in the place of a closer.
            let marks: Vec<usize> =
                (0..count).filter(|&at| draft.parts[at].starts_with(b"<")).collect();
            if !marks.is_empty() {
                let mark = draft.parts[*dice.pick(&marks)].clone();
                draft.parts[*dice.pick(&marks)] = mark;
            }
        }
    }
}

/// Changes the JSON of a part.
fn json(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let count = draft.parts.len();
    let Some(part) = draft.parts.get_mut(dice.below(count)) else { return };
    let Some(payload) = Payload::of(part) else { return };
    let Some(mut value) = Value::read(payload.json) else { return };
    change(&mut value, dice, pool);
    *part = payload.with(&value.to_string());
}

/// Keys of what a model says, piece by piece.
const SPOKEN: &[&str] = &[
    "\"content\"", "\"text\"", "\"delta\"", "\"response\"", "\"thinking\"",
    "\"reasoning_content\"", "\"generated_text\"", "\"arguments\"", "\"partial_json\"",
];

/// Says a text of a dialect, or another input, in a record, or in several alike.
fn speak(draft: &mut Draft, dice: &mut Dice, pool: &Pool) {
    let at = dice.below(draft.parts.len());
    let Some(part) = draft.parts.get(at) else { return };
    let Some(payload) = Payload::of(part) else { return };
    let Some(mut value) = Value::read(payload.json) else { return };
    let text = match dice.one_in(4) {
        true => pool.source(dice).case.input.as_slice(),
        false => pool.text(dice),
    };
    let text = String::from_utf8_lossy(text).into_owned();
    let mut pieces = vec![String::new()];
    for token in tokens(text.as_bytes()) {
        if dice.one_in(6) {
            pieces.push(String::new());
        }
        let last = pieces.len() - 1;
        pieces[last].push_str(&String::from_utf8_lossy(token));
    }
    let count = value.members(SPOKEN).len();
    if count == 0 {
        return;
    }
    let nth = dice.below(count);
    let mut say = |piece: &String| {
        *value.members(SPOKEN).swap_remove(nth) = Value::text(piece);
        payload.with(&value.to_string())
    };
    let records: Vec<Vec<u8>> = pieces.iter().map(&mut say).collect();
    draft.parts.splice(at..=at, records);
}

/// Values that stand where nobody expects them.
const STRANGE: &[&str] = &[
    "null", "true", "false", "0", "1", "-1", "2", "7", "0.5", "1e400", "4294967296",
    "18446744073709551616", "\"\"", "\" \"", "\"x\"", "\"{}\"", "\"{\\\"a\\\":1}\"",
    "\"{\\\"a\\\":\"", "\"[]\"", "\"null\"", "{}", "[]", "[{}]", "{\"a\":1}",
    "{\"a\":{\"b\":[1]}}", "[null]", "[\"x\"]", "\"stop\"", "\"tool_calls\"", "\"length\"",
    "\"call_0\"", "\"call_1\"", "\"\\ud83d\"", "\"\\u0000\\u202e\"",
];

fn strange(dice: &mut Dice) -> Value {
    Value::read(dice.pick::<&str>(STRANGE)).unwrap()
}

/// Changes one of the values in a value.
fn change(value: &mut Value, dice: &mut Dice, pool: &Pool) {
    let size = value.size();
    let Some(value) = value.nth(dice.below(size)) else { return };
    match value {
        Value::Object(members) => change_members(members, dice, pool),
        Value::Array(elements) => change_elements(elements, dice, pool),
        Value::Leaf(leaf) => *leaf = changed_leaf(leaf, dice, pool),
    }
    if dice.one_in(20) {
        let inner = value.clone();
        *value = match dice.below(3) {
            0 => Value::Array(vec![inner]),
            1 => Value::Object(vec![("\"a\"".into(), inner)]),
            _ => Value::text(&inner.to_string()),
        };
    }
}

fn change_members(members: &mut Vec<(String, Value)>, dice: &mut Dice, pool: &Pool) {
    let count = members.len();
    if count == 0 || dice.one_in(8) {
        return members.insert(dice.below(count + 1), pool.member(dice));
    }
    let at = dice.below(count);
    match dice.below(9) {
        0 => drop(members.remove(at)),
        1 => members.insert(dice.below(count + 1), members[at].clone()),
        2 => {
            let key = members[at].0.clone();
            let value = pool.value_of(&key, dice).unwrap_or_else(|| strange(dice));
            members.insert(dice.below(count + 1), (key, value));
        }
        3 => members[at].0 = pool.member(dice).0,
        4 => members.swap(at, dice.below(count)),
        5 => {
            let value = members[dice.below(count)].1.clone();
            members[at].1 = value;
        }
        6 => members[at].1 = strange(dice),
        _ => {
            if let Some(value) = pool.value_of(&members[at].0, dice) {
                members[at].1 = value;
            }
        }
    }
}

fn change_elements(elements: &mut Vec<Value>, dice: &mut Dice, pool: &Pool) {
    let count = elements.len();
    if count == 0 {
        return elements.push(strange(dice));
    }
    let at = dice.below(count);
    match dice.below(6) {
        0 => drop(elements.remove(at)),
        1 => elements.insert(dice.below(count + 1), elements[at].clone()),
        2 => elements.swap(at, dice.below(count)),
        3 => elements[at] = strange(dice),
        4 => elements.push(pool.member(dice).1),
        _ => {
            let mut again = elements[at].clone();
            change(&mut again, dice, pool);
            elements.push(again);
        }
    }
}

fn changed_leaf(leaf: &str, dice: &mut Dice, pool: &Pool) -> String {
    let text = Value::Leaf(leaf.to_owned()).as_text();
    match text {
        Some(text) if !dice.one_in(5) => {
            // JSON in a text: arguments, mostly.
            if let Some(mut inner @ (Value::Object(_) | Value::Array(_))) = Value::read(&text)
                && dice.one_in(2)
            {
                change(&mut inner, dice, pool);
                return Value::text(&inner.to_string()).to_string();
            }
            Value::text(&changed_text(&text, dice, pool)).to_string()
        }
        _ => strange(dice).to_string(),
    }
}

/// A text with a marker more or less, another text, or a part of it.
fn changed_text(text: &str, dice: &mut Dice, pool: &Pool) -> String {
    let mut tokens = tokens(text.as_bytes());
    let at = dice.below(tokens.len() + 1);
    let end = tokens.len().min(at + dice.below(3));
    let marker = pool.marker(dice);
    let noise = dice.pick(NOISE);
    match dice.below(8) {
        0 => drop(tokens.splice(at..end, [])),
        1 => tokens.truncate(at),
        2 => drop(tokens.splice(at..at, [*noise])),
        3 => drop(tokens.splice(at..end, [pool.text(dice)])),
        4 if at < end => tokens.insert(dice.below(tokens.len()), tokens[at]),
        5 if at < end => tokens[at] = &tokens[at][..tokens[at].len() / 2],
        6 => drop(tokens.splice(at..end, [marker])),
        _ => tokens.insert(at, marker),
    }
    String::from_utf8_lossy(&tokens.concat()).into_owned()
}
