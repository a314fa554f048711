//! Payloads as borrowed structs: a frame in, one struct a record out.

use std::borrow::Cow;

use crate::cut::Cut as _;
use crate::event::{Output, WarningCode};
use crate::format::support::emit::{Done, EventOut};
use crate::format::support::finish;
use crate::format::support::repair::repair;
use crate::format::support::writing::seconds;
use crate::frame::Frame;
use crate::json::{self, FromJson, RawJson, ReadError, Source, Str};

/// The most fields of one record that are repaired.
const MAX_REPAIRS: usize = 16;

const NOT_JSON: &str = "an event's data is not the JSON that its format asks for";

/// Reads a frame's payload as a `T` and hands it to `then`. A field of an
/// unexpected type costs that field, a warning, and the calls that are open;
/// several objects in one frame are read one after another; what isn't JSON is
/// reported as malformed, after the objects that came before it. A frame without
/// data is a keep-alive.
pub fn read_records<'f, T, F>(frame: &Frame<'f>, out: &mut EventOut, mut then: F) -> Done
where
    T: for<'de> Payload<'de>,
    F: for<'de> FnMut(&<T as Payload<'de>>::Type, &mut EventOut<'_>) -> Done,
{
    each_record(frame, false, out, &mut |source, text, is_lost, out| {
        let mut payload = None;
        json::read_to(&mut payload, source, text)?;
        let then: &mut dyn FnMut(&mut EventOut<'_>) -> Done =
            &mut |out| payload.as_ref().map_or(Ok(()), |payload| then(payload, out));
        Ok(if is_lost { out.distrusted(then) } else { then(out) })
    })
}

/// Reads the text of one record, and emits what it holds. If the flag is true, the text lacks a
/// field that may have been a part of an open call.
type ReadOne<'r> = dyn FnMut(Source, &str, bool, &mut EventOut<'_>) -> Result<Done, ReadError> + 'r;

/// Reads the records of a frame: see [`read_records`]. They are objects, or any JSON.
pub(in crate::format) fn each_record(
    frame: &Frame<'_>,
    takes_any: bool,
    out: &mut EventOut,
    read: &mut ReadOne<'_>,
) -> Done {
    let data = frame.data.trim_ascii();
    if data.is_empty() {
        return Ok(());
    }
    if takes_any || data.starts_with(b"{") {
        let text = frame.text();
        let source = match (&text, frame.json) {
            (Cow::Owned(_), _) => Source::Lossy,
            (_, Some(_)) => Source::Json,
            (_, None) => Source::Text,
        };
        if let Ok(done) = read(source, text.trim_ascii(), false, out) {
            return done;
        }
        let records: Vec<RawJson<'_>> = json::records(data).collect();
        let end = records.last().map_or(0, |last| json::place(data, last.get()).end);
        let is_whole = data.after(end).trim_ascii().is_empty();
        if records.len() > 1 {
            out.warn(WarningCode::SeveralRecords, "several records in one event were told apart")?;
        }
        for record in records {
            read_repaired(record.get(), frame, out, read)?;
        }
        if is_whole {
            return Ok(());
        }
    }
    out.malformed(frame, NOT_JSON)
}

/// Reads a record of which some fields may be wrong.
#[cold]
fn read_repaired(
    record: &str,
    frame: &Frame<'_>,
    out: &mut EventOut,
    read: &mut ReadOne<'_>,
) -> Done {
    let (mut record, mut is_lost) = (Cow::Borrowed(record), false);
    for _ in 0..MAX_REPAIRS {
        let fault = match read(Source::Json, &record, is_lost, out) {
            Ok(done) => return done,
            Err(fault) => fault,
        };
        let Some(repaired) = repair(&record, &fault) else { break };
        out.warn(repaired.code, &repaired.message)?;
        is_lost |= repaired.is_lost;
        record = Cow::Owned(repaired.json);
    }
    out.malformed(frame, NOT_JSON)
}

/// The text of a field that a record may lack.
pub(crate) trait OptionalStr {
    /// Returns the text if it is there, empty or not.
    fn text(&self) -> Option<&str>;

    /// Returns the text if it is there and not empty.
    fn non_empty(&self) -> Option<&str> {
        self.text().filter(|text| !text.is_empty())
    }

    /// Returns the text if it is there and not all white space: an id.
    fn non_blank(&self) -> Option<&str> {
        self.text().filter(|text| !text.trim_ascii().is_empty())
    }

    /// Returns the text if it is a reason to stop.
    fn reason(&self) -> Option<&str> {
        self.text().filter(|raw| !finish::is_none(raw))
    }

    /// Returns the text if it is a role that is not the model's.
    fn other_role(&self) -> Option<&str> {
        let others = ["user", "system", "developer", "tool", "function"];
        self.text().filter(|role| others.contains(role))
    }

    /// Returns the text, or an empty one if it is missing.
    fn or_empty(&self) -> &str {
        self.text().unwrap_or_default()
    }
}

impl OptionalStr for Option<Str<'_>> {
    fn text(&self) -> Option<&str> {
        self.as_ref().map(Str::as_str)
    }
}

/// Names a payload struct for every lifetime of the text that it borrows from:
/// [`read_records`] is generic over the struct, and each record lends its own text.
pub trait Payload<'de> {
    /// The struct, with text borrowed for `'de`.
    type Type: FromJson<'de>;
}

impl<'de> Payload<'de> for RawJson<'static> {
    type Type = RawJson<'de>;
}

/// Declares structs that objects of JSON are read into. A field has a name, a type, and after `=`
/// the spellings of its key if the name alone is not the key. Where the object lacks it, it has
/// the default of its type, mostly `None`; members of other names are passed. A member that comes
/// twice, or is of another type, is an error that names it. After the last field, `; NAME` adds one
/// that is true if a member was passed that is a string, an object or a list of such with anything
/// in it.
///
/// ```
/// toolstream::format::payload! {
///     /// A piece of an answer.
///     struct Piece<'a> {
///         text: Option<toolstream::Str<'a>>,
///         stop_reason: Option<toolstream::Str<'a>> = "stopReason" | "stop_reason",
///     }
/// }
/// ```
#[macro_export]
macro_rules! payload {
    (@key $field:ident) => {
        $crate::format::FieldKey::new(stringify!($field), &[])
    };
    (@key $field:ident $key:literal $($other:literal)*) => {
        $crate::format::FieldKey::new($key, &[$($other),*])
    };
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident<$life:lifetime> {$(
            $(#[$about:meta])*
            $field_vis:vis $field:ident: $Type:ty $(= $($key:literal)|+)?
        ),* $(,)? $(; $passes_vis:vis $passes:ident)?}
    )+) => {$(
        $(#[$meta])*
        #[derive(Default)]
        $vis struct $Name<$life> {$(
            $(#[$about])*
            $field_vis $field: $Type,
        )*
            $($passes_vis $passes: bool,)?
        }

        impl $Name<'_> {
            const KEYS: &'static [$crate::format::FieldKey] =
                &[$($crate::format::payload!(@key $field $($($key)+)?)),*];

            /// True for the keys of fields.
            #[allow(dead_code)]
            pub(crate) fn reads(key: &str) -> bool {
                Self::KEYS.iter().any(|field| field.is(key.as_bytes()))
            }
        }

        impl<$life> $crate::format::FromJson<$life> for $Name<$life> {
            fn from_json(
                reader: &mut $crate::format::Reader<$life>,
            ) -> ::std::result::Result<Self, $crate::format::ReadError> {
                let mut fields = Self::default();
                fields.fill(reader)?;
                Ok(fields)
            }

            fn read_into(
                place: &mut Option<Self>,
                reader: &mut $crate::format::Reader<$life>,
            ) -> ::std::result::Result<(), $crate::format::ReadError> {
                place.get_or_insert_with(Self::default).fill(reader)
            }

            fn push_onto(
                list: &mut ::std::vec::Vec<Self>,
                reader: &mut $crate::format::Reader<$life>,
            ) -> ::std::result::Result<(), $crate::format::ReadError> {
                list.resize_with(list.len() + 1, Self::default);
                list.last_mut().map_or(Ok(()), |last| last.fill(reader))
            }

            fn fill(
                &mut self,
                reader: &mut $crate::format::Reader<$life>,
            ) -> ::std::result::Result<(), $crate::format::ReadError> {
                #[allow(non_camel_case_types)]
                enum PayloadField { $($field),* }
                // The reader notes in the bits of a number which fields have come.
                const { assert!($Name::KEYS.len() <= 64) }

                let _passes = reader.object(stringify!($Name), Self::KEYS, &mut |field, reader| {
                    $(if field == PayloadField::$field as usize {
                        return $crate::format::FromJson::fill(&mut self.$field, reader);
                    })*
                    Ok(())
                })?;
                $(self.$passes |= _passes;)?
                Ok(())
            }
        }

        impl<$life> $crate::format::Payload<$life> for $Name<'static> {
            type Type = $Name<$life>;
        }
    )+};
}

/// Reads a frame's payload as a struct that `payload!` names: see [`read_records`].
/// `|event: Event| …` is given a reference to the struct, and `out` under the name that it has.
macro_rules! read {
    ($frame:expr, $out:ident, |$payload:ident : $Payload:ident| $then:expr) => {
        $crate::format::support::payload::read_records::<$Payload<'static>, _>(
            $frame,
            $out,
            |$payload: &$Payload<'_>,
             #[allow(unused_variables)] $out: &mut $crate::format::support::emit::EventOut<'_>| {
                $then
            },
        )
    };
}

pub use payload;
pub(crate) use read;

/// Returns a time, a number or a date, in whole seconds since 1970, if it is one.
pub(in crate::format) fn time(json: &str) -> Option<u64> {
    if let Some(date) = json.strip_prefix('"') {
        return seconds(date.strip_suffix('"')?);
    }
    json.split('.').next()?.parse().ok().filter(|seconds| *seconds > 0)
}

/// Returns what a tool gave as its JSON, null if it is missing.
pub(in crate::format) fn output_of(json: Option<RawJson<'_>>) -> Output<'_> {
    Output::Json(json.map_or("null", RawJson::get))
}

/// Returns an enum's value: its word, or its number as text.
pub(in crate::format) fn word(json: RawJson<'_>) -> Cow<'_, str> {
    json::text(json.get()).into_text()
}
