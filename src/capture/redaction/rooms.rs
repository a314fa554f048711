//! The rooms of a capture: messages of an event stream, JSON, the strings in it, and the JSON that is
//! written in these. A value ends where its room does, whatever the signs in it say.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2};

use crate::capture::redaction::spread::SpreadText;
use crate::cut::Cut as _;
use crate::json::{ReadError, Reader, Source};

/// The depth to which JSON in strings of JSON is read.
const MAX_DEPTH: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoomKind {
    /// The payload of a message.
    Text,
    /// An object or a list of JSON: only the numbers in it, and what its strings have, may be replaced.
    Document,
    /// What is between the quotation marks of a string of JSON.
    String,
}

/// A part of the bytes that is in none of the others, or inside one.
#[derive(Clone, Debug)]
struct CaptureRoom {
    place: Range<usize>,
    kind: RoomKind,
    /// The number of the room around it.
    around: Option<usize>,
}

/// The rooms of some bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    /// In the order of their beginnings, the outer one first.
    rooms: Vec<CaptureRoom>,
    /// The texts that are spread over the strings at one place of all objects.
    texts: BTreeMap<String, SpreadText>,
}

impl Rooms {
    /// Returns the rooms of a capture with these messages.
    pub(super) fn of(capture: &[u8], messages: &[Range<usize>]) -> Self {
        let (mut rooms, mut end) = (Rooms::default(), 0);
        for message in messages {
            for place in parts_of(capture, message) {
                let around = rooms.add(place.clone(), RoomKind::Text, None);
                let at = |offset: usize| place.start + offset;
                rooms.text(capture, capture.within(place.clone()), &at, around, 0);
            }
            end = message.end;
        }
        rooms.text(capture, capture.after(end), &|offset| end + offset, None, 0);
        rooms
    }

    /// Returns the rooms in what strings of JSON have.
    pub(super) fn of_string(content: &[u8]) -> Self {
        let mut rooms = Rooms::default();
        let around = rooms.add(0..content.len(), RoomKind::String, None);
        rooms.string(content, content, &|at| at, around, 0);
        rooms
    }

    /// Returns the texts that are spread over several records.
    pub(super) fn spread_texts(&mut self) -> Vec<SpreadText> {
        let texts = std::mem::take(&mut self.texts);
        texts.into_values().filter(SpreadText::is_spread).collect()
    }

    fn add(&mut self, place: Range<usize>, kind: RoomKind, around: Option<usize>) -> Option<usize> {
        self.rooms.push(CaptureRoom { place, kind, around });
        Some(self.rooms.len() - 1)
    }

    /// Adds the JSON in a text of which `at` returns the places in the bytes.
    fn text(
        &mut self,
        bytes: &[u8],
        text: &[u8],
        at: &dyn Fn(usize) -> usize,
        around: Option<usize>,
        depth: usize,
    ) {
        let mut begin = 0;
        for chunk in text.utf8_chunks() {
            let (valid, mut next) = (chunk.valid(), 0);
            let end = valid.trim_end().len();
            while let Some(opener) = memchr2(b'{', b'[', valid.as_bytes().after(next)) {
                next += opener;
                let rest = valid.after(next);
                let mut reader = Reader::new(Source::Text, rest);
                let place = |offset: usize| at(begin + next + offset);
                let is_read = read(&mut reader).is_ok();
                if is_read || next + reader.position() >= end {
                    let document =
                        rest.before(if is_read { reader.position() } else { rest.len() });
                    self.document(bytes, document, &place, around, depth);
                    next += document.len();
                } else if rest.starts_with("{\\\"") {
                    // In a string of YAML.
                    let content = rest.as_bytes().before(string_length(rest.as_bytes()));
                    self.string(bytes, content, &place, around, depth);
                    next += content.len();
                } else {
                    // What was read of no object is not read again; what stands between brackets, and
                    // is no list, may have records.
                    let is_object = rest.starts_with('{');
                    next += if is_object { reader.position().max(1) } else { 1 };
                }
            }
            begin += valid.len() + chunk.invalid().len();
        }
    }

    /// Adds an object or a list, and the strings in it.
    fn document(
        &mut self,
        bytes: &[u8],
        document: &str,
        at: &dyn Fn(usize) -> usize,
        around: Option<usize>,
        depth: usize,
    ) {
        if memchr(b'"', document.as_bytes()).is_none() {
            return;
        }
        let around = self.add(at(0)..at(document.len()), RoomKind::Document, around);
        // Of what is open: the length of the path to it, and in a list the number of the element.
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        let (mut path, mut is_key, mut next) = ("{".repeat(depth), false, 0);
        while let Some(byte) = document.as_bytes().get(next) {
            next += 1;
            match byte {
                b'{' => {
                    open.push((path.len(), None));
                    is_key = true;
                }
                b'[' => {
                    // A list of records is none of theirs.
                    let is_inside = !open.is_empty();
                    open.push((path.len(), is_inside.then_some(0)));
                    path.push_str(if is_inside { "/0" } else { "" });
                }
                b',' => {
                    let Some((length, number)) = open.last_mut() else { return };
                    path.truncate(*length);
                    is_key = number.is_none();
                    if let Some(number) = number {
                        *number += 1;
                        path.push_str(&format!("/{number}"));
                    }
                }
                b'}' | b']' => path.truncate(open.pop().map_or(0, |(length, _)| length)),
                b'"' => {
                    let content = document.after(next);
                    let content = content.before(string_length(content.as_bytes()));
                    let place = at(next)..at(next + content.len());
                    let own = self.add(place.clone(), RoomKind::String, around);
                    if is_key {
                        path.push('/');
                        path.push_str(content);
                    } else {
                        if !place.is_empty() {
                            self.texts.entry(path.clone()).or_default().add(bytes, place);
                        }
                        let inner = |offset: usize| at(next + offset);
                        self.string(bytes, content.as_bytes(), &inner, own, depth);
                    }
                    is_key = false;
                    next += content.len() + 1;
                }
                _ => {}
            }
        }
    }

    /// Adds the JSON that is written in a string.
    fn string(
        &mut self,
        bytes: &[u8],
        content: &[u8],
        at: &dyn Fn(usize) -> usize,
        around: Option<usize>,
        depth: usize,
    ) {
        let may_have_json =
            memchr2(b'{', b'[', content).is_some() && memchr(b'\\', content).is_some();
        if depth < MAX_DEPTH && may_have_json {
            let (text, places) = unescaped(content);
            let place = |offset: usize| {
                let after = places.partition_point(|(text, _)| *text <= offset);
                let last = after.checked_sub(1).and_then(|last| places.get(last));
                at(last.map_or(offset, |(text, raw)| raw + (offset - text)))
            };
            self.text(bytes, &text, &place, around, depth + 1);
        }
    }

    /// Returns the number of the innermost room that this place is in.
    fn innermost(&self, at: usize) -> Option<usize> {
        let after = self.rooms.partition_point(|room| room.place.start <= at);
        self.out_of(after.checked_sub(1), |room| room.place.end <= at)
    }

    /// Returns the first room, from this one outwards, of which this is not true.
    fn out_of(&self, mut room: Option<usize>, is: impl Fn(&CaptureRoom) -> bool) -> Option<usize> {
        while let Some(own) = room.and_then(|room| self.rooms.get(room)).filter(|room| is(room)) {
            room = own.around;
        }
        room
    }

    /// Returns which part of these bytes may be replaced where `part` is the value of what stands at
    /// `origin`.
    pub(super) fn part(&self, bytes: &[u8], origin: usize, part: Range<usize>) -> Range<usize> {
        let Range { start, mut end } = part;
        let nothing = start..start;
        let room = |room: Option<usize>| room.and_then(|room| self.rooms.get(room));
        if let Some(CaptureRoom { place, .. }) = room(self.innermost(origin)) {
            if !place.contains(&start) {
                return nothing;
            }
            end = end.min(place.end);
        }
        let own = self.out_of(self.innermost(start), |room| {
            let is_document = room.kind == RoomKind::Document;
            room.place.start == start
                && (room.place.end < end || (room.place.end == end && is_document))
        });
        end = room(own).map_or(end, |own| end.min(own.place.end));
        let mut last = self.innermost(end.saturating_sub(1));
        while last != own
            && let Some(inner) = room(last)
        {
            if inner.place.end > end {
                end = inner.place.start.max(start);
            }
            last = inner.around;
        }
        match room(own) {
            Some(CaptureRoom { kind: RoomKind::Document, .. })
                if !bytes.within(start..end).iter().all(u8::is_ascii_digit) =>
            {
                nothing
            }
            Some(CaptureRoom { kind: RoomKind::String, place, .. }) => {
                let split = |at: usize| slashes_before(bytes.within(place.start..at)) % 2;
                start + split(start)..(end + split(end)).min(place.end)
            }
            _ => start..end,
        }
    }
}

/// Returns where the headers and the payload of a message are.
fn parts_of(capture: &[u8], message: &Range<usize>) -> [Range<usize>; 2] {
    let headers = capture.within(message.start + 4..message.end).first_chunk();
    let headers = headers.map_or(0, |length| u32::from_be_bytes(*length) as usize);
    let end = message.end - 4;
    let begin = (message.start + 12).min(end);
    let middle = begin.saturating_add(headers).min(end);
    [begin..middle, middle..end]
}

/// Reads an object or a list, up to what is none.
fn read(reader: &mut Reader<'_>) -> Result<(), ReadError> {
    match reader.peek()? {
        b'{' => reader.members(&"an object", &mut |_, reader| read(reader)),
        b'[' => reader.elements(&"an array", &mut read),
        _ => reader.skip(),
    }
}

fn slashes_before(text: &[u8]) -> usize {
    text.iter().rev().take_while(|&&byte| byte == b'\\').count()
}

/// Returns the length of what is before the quotation mark that ends a string.
fn string_length(content: &[u8]) -> usize {
    let mut marks = memchr_iter(b'"', content);
    let end = marks.find(|&mark| slashes_before(content.before(mark)).is_multiple_of(2));
    end.unwrap_or(content.len())
}

/// Returns what a string of JSON, or of YAML, says, with places in it and in what is written, from
/// each of which on they go on side by side.
fn unescaped(content: &[u8]) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut text, mut places, mut at) = (Vec::with_capacity(content.len()), Vec::new(), 0);
    while let Some(slash) = memchr(b'\\', content.after(at)) {
        text.extend_from_slice(content.within(at..at + slash));
        at += slash;
        places.push((text.len(), at));
        let rest = content.after(at + 1);
        let coded = rest.get(1..5).and_then(|digits| str::from_utf8(digits).ok());
        let coded = coded.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (byte, length) = match rest.first() {
            Some(b'u') => (Some(coded.filter(u8::is_ascii).unwrap_or(b'?')), 6),
            Some(b'n') => (Some(b'\n'), 2),
            Some(b'r') => (Some(b'\r'), 2),
            Some(b't') => (Some(b'\t'), 2),
            // The end of a line of YAML, and its indentation.
            Some(b'\n' | b'\r') => {
                (None, 1 + rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count())
            }
            Some(&other) => (Some(other), 2),
            None => (None, 1),
        };
        text.extend(byte);
        at = (at + length).min(content.len());
        places.push((text.len(), at));
    }
    text.extend_from_slice(content.after(at));
    (text, places)
}
