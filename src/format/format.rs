//! The row of a format, and the traits that read it.

use std::borrow::Cow;
use std::io;

use crate::format::repeatable::Repeatable;
use crate::format::spec::{Row, fits, paths};
use crate::format::support::emit::EventOut;
use crate::format::turn::Request;
use crate::format::write::Writing;
use crate::frame::{Frame, Framing};
use crate::json::{self, RawJson};

/// Turns the frames of one format into events.
///
/// A decoder emits deltas: pieces of text, fragments of calls, what it knows of the usage. Whole
/// calls, one usage and one ending are made of them by the assembler. What a record holds is read
/// by [`read`](crate::format::read) into a struct of optional fields, which
/// [`payload!`](crate::format::payload) declares.
///
/// ```
/// use toolstream::Str;
/// use toolstream::format::{Decoder, Done, EventOut, Format, payload, read};
/// use toolstream::frame::Frame;
///
/// static FORMAT: Format = Format::new("ticker", |_| Box::new(Ticker));
///
/// payload! {
///     struct Tick<'a> {
///         text: Option<Str<'a>>,
///     }
/// }
///
/// struct Ticker;
///
/// impl Decoder for Ticker {
///     fn feed(&mut self, frame: Frame, out: &mut EventOut) -> Done {
///         out.start(FORMAT.name, None, None)?;
///         read::<Tick<'static>, _>(&frame, out, |tick: &Tick<'_>, out| match &tick.text {
///             Some(text) => out.text(0, text),
///             None => out.end(),
///         })
///     }
///
///     fn finish(&mut self, _out: &mut EventOut) -> Done {
///         Ok(())
///     }
/// }
/// ```
pub trait Decoder: Send {
    /// Takes the next frame. Fails only if writing does.
    fn feed(&mut self, frame: Frame, out: &mut EventOut) -> io::Result<()>;
    /// The input has ended, or no more of it will be read. A decoder emits what
    /// it held back, and `end` if its format allows a message to end here.
    fn finish(&mut self, out: &mut EventOut) -> io::Result<()>;
    /// Returns what may differ in a record that repeats the last one: see
    /// [`Repeatable`]. Nothing if the next record must be decoded.
    fn repeatable(&self) -> Option<&'static Repeatable> {
        None
    }
    /// Records came that repeat the last one, and were not decoded. Their texts, joined, are
    /// `text`; `counts` is the object that [`Repeatable::counts`] names, as the last one of them
    /// has it. Only a decoder that names one, or compares later records with earlier ones, needs
    /// to know.
    fn on_repeat(&mut self, _text: &json::Str, _counts: Option<&str>) {}
}

/// Returns what stands at a path in a value, if that is anything but null.
fn at<'j>(json: &'j str, path: &str) -> Option<&'j str> {
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    match key {
        "" => Some(json).filter(|json| *json != "null"),
        key if !key.contains('*') => at(json::member(json, key)?, rest),
        key => match json::elements(json) {
            Some(all) => all.into_iter().find_map(|value| at(value, rest)),
            None => {
                let members = json::members(json).into_iter();
                let mut fitting = members.filter(|(name, _)| fits(key, name));
                fitting.find_map(|(_, value)| at(value.get(), rest))
            }
        },
    }
}

/// A row of the table of formats.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line and in the output.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// A description, in a line.
    pub about: &'static str,
    /// The page that documents it.
    pub link: &'static str,
    /// The members of its first record that set it apart from other formats, by their
    /// paths (see [`Record::at`]). `detect` names those that are there.
    pub evidence: &'static [&'static str],
    /// The beginnings of lines that an agent prints before its log, on the same standard output.
    pub banners: &'static [&'static str],
    /// The dialect of its text, if it is said here: a name, or `auto`.
    pub dialect: Option<&'static str>,
    /// True if a stream whose first record is this one may be in this format. Where there is a
    /// [`Row`], that must say so too.
    pub sniff: fn(&Record<'_>) -> bool,
    /// What reads it.
    pub decoder: FormatDecoder,
    /// True if it is what this program prints: whoever writes it says what the events are, and with
    /// that what a request grows by and which calls were run.
    pub is_ours: bool,
    /// The row of the requests that go on after an answer in this format, if there are any.
    pub request: Option<&'static Request>,
    /// The row of its encoder, if messages can be written in it.
    pub write: Option<&'static Writing>,
}

/// What reads a format.
#[derive(Clone, Copy, Debug)]
pub enum FormatDecoder {
    /// The machine that all described formats have, by this description.
    Row(Row),
    /// Returns a new decoder of the format that it is given.
    Code(fn(&'static Format) -> Box<dyn Decoder>),
}

impl Format {
    /// Returns a row with a name and a decoder, which detection never chooses. Other rows are made
    /// of it by `..Format::new(NAME, DECODER)`. A row outside of this crate is in no table: the
    /// `format` of a configuration asks for it.
    pub const fn new(name: &'static str, decoder: fn(&'static Format) -> Box<dyn Decoder>) -> Self {
        Format::named(name, FormatDecoder::Code(decoder))
    }

    pub(in crate::format) const fn named(name: &'static str, decoder: FormatDecoder) -> Self {
        Format {
            name,
            aliases: &[],
            about: "",
            link: "",
            evidence: &[],
            banners: &[],
            dialect: None,
            sniff: |_| false,
            decoder,
            is_ours: false,
            request: None,
            write: None,
        }
    }

    /// Returns what describes the format, if no code does.
    pub fn row(&self) -> Option<Row> {
        match self.decoder {
            FormatDecoder::Row(row) => Some(row),
            FormatDecoder::Code(_) => None,
        }
    }
}

/// Rows are told apart by their names: no two have the same.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// A frame read as far as is needed to tell formats apart.
pub struct Record<'a> {
    /// The framing that the frame came in.
    pub framing: &'static Framing,
    /// The frame's name, if it has one.
    pub event_type: &'a str,
    /// True if its framing gives it headers, as an AWS event stream does.
    pub has_headers: bool,
    /// True if these mark it as no event, but a failure.
    pub is_failure: bool,
    members: Vec<(Cow<'a, str>, RawJson<'a>)>,
}

impl<'a> Record<'a> {
    /// Reads the top of a frame's JSON object; of any other payload, nothing.
    pub fn new(frame: &Frame<'a>) -> Self {
        let members = match std::str::from_utf8(frame.data) {
            Ok(text) if !frame.framing.is_text() => json::members(text),
            _ => Vec::new(),
        };
        Record {
            framing: frame.framing,
            event_type: frame.event_type,
            has_headers: !frame.headers.is_empty(),
            is_failure: frame.is_failure(),
            members,
        }
    }

    /// Reads the top of a record that came inside this one, as text.
    pub fn inside<'p>(&self, text: &'p str) -> Record<'p> {
        let (event_type, has_headers, is_failure) = ("", false, false);
        let members = json::members(text);
        Record { framing: self.framing, event_type, has_headers, is_failure, members }
    }

    /// True if the payload is an object with anything in it.
    pub fn is_object(&self) -> bool {
        !self.members.is_empty()
    }

    /// The record that a member holds.
    pub fn inner(&self, key: &str) -> Option<Record<'a>> {
        let members = json::members(self.get(key)?);
        Some(Record { event_type: "", members, ..*self })
    }

    /// The key of its first member: what a record without a type is called.
    pub fn first_key(&self) -> &str {
        self.members.first().map_or("", |(key, _)| key)
    }

    /// The names of its members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members().map(|(name, _)| name)
    }

    /// Its members: the name of each, and its JSON text.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.members.iter().map(|(name, value)| (name.as_ref(), value.get()))
    }

    /// The JSON text of a member.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// The JSON text of what stands at the first of some paths, with `|` between them, at which
    /// there is anything but null. A path is keys joined by dots, numbers for elements of arrays.
    pub fn at(&self, places: &str) -> Option<&'a str> {
        paths(places).find_map(|path| self.at_path(path))
    }

    /// The JSON text of what stands at one path, if that is anything but null. A key may begin or end
    /// with `*`: it is any that fits, or any element.
    pub(crate) fn at_path(&self, path: &str) -> Option<&'a str> {
        let (key, rest) = path.split_once('.').unwrap_or((path, ""));
        let fitting = self.members.iter().filter(|(name, _)| fits(key, name));
        fitting.map(|(_, value)| value.get()).find_map(|value| at(value, rest))
    }

    /// True if there is such a member, and it isn't null.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value != "null")
    }

    /// A member that is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        json::string(self.get(key)?)
    }
}
