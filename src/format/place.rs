//! What a row says with places, as the machine reads it: the tables of [`spec`](crate::format::spec) say
//! once what is wanted of each, and the structs of what is read come from that.

/// The places of a value.
pub(crate) type Places = &'static str;

/// A word of a row. Built-in rows are part of the program; a user's is loaded once and never freed.
pub(crate) type Word = &'static str;

/// The places of a value, as they are read; none, where a row says nothing.
#[derive(Default)]
pub(in crate::format) struct Place {
    pub(in crate::format) ways: Vec<Way>,
    /// The words of a flag.
    pub(in crate::format) words: Option<Word>,
}

/// Where a place leads.
pub(in crate::format) enum Way {
    /// To the value in a slot.
    Slot(usize),
    /// To the objects in a slot, which are of the group of this number.
    Objects {
        slot: usize,
        group: usize,
    },
    /// To the place of the record that has this number.
    Record(usize),
    Here,
    /// To the frame's data, as they are.
    Data,
    Literal(Word),
    Kind,
    /// To what a pattern of the kind's leaves open.
    Star,
    Event,
    Position,
    /// To a text that is made of places.
    Joined(Vec<Place>),
    /// To an object that is made of places.
    Made(Vec<(Word, Place)>),
}

/// The type that a place's value is read as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::format) enum Wanted {
    Text,
    /// A text, or a number as it is written.
    Id,
    Json,
    /// A number of at least 0, or a name.
    Index,
    /// An object, or a list of objects, of the group of this number.
    Group(usize),
    /// Whatever else it is.
    Something,
}

/// Makes places of what a row says.
pub(in crate::format) struct PlaceReader<'r> {
    /// Returns the number of the group of a name.
    group: &'r dyn Fn(Word) -> Option<usize>,
    read: &'r mut dyn FnMut(Places, Wanted) -> Place,
}

/// What a row says with places.
pub(in crate::format) trait Placed: 'static {
    /// It, as it is read.
    type Read;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Self::Read;
}

/// Declares tables of rows, as [`table`](crate::leak::table) does, and for each the struct of its places
/// as they are read: the fields with `=>`, and before them what else is worked out.
macro_rules! placed {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident = $NEW:ident, $Read:ident
        $(, $more:ident: $More:ty = $work_out:path)* {$(
            $(#[$about:meta])*
            $field:ident: $Type:ty = $new:expr $(, $read:literal)? $(, $default:ident)? $(=> $how:ident)?;
        )*}
    )+) => {
        $crate::leak::table! {$(
            $(#[$meta])*
            $vis struct $Name = $NEW {$(
                $(#[$about])*
                $field: $Type = $new $(, $read)? $(, $default)?;
            )*}
        )+}

        $(
            /// The places of the table.
            #[derive(Default)]
            pub(in crate::format) struct $Read {
                $(pub(in crate::format) $more: $More,)*
                $($(pub(in crate::format) $field: placed!($how $Type),)?)*
            }

            impl Placed for $Name {
                type Read = $Read;

                fn read(&'static self, _: Wanted, reader: &mut PlaceReader<'_>) -> $Read {
                    $Read {
                        $($more: $work_out(self),)*
                        $($($field: reader.$how(&self.$field),)?)*
                    }
                }
            }

            // What is read of nothing is of the row that says nothing.
            impl Default for &'static $Name {
                fn default() -> Self {
                    &$Name::$NEW
                }
            }
        )+
    };
    ($how:ident $Type:ty) => { <$Type as Placed>::Read };
}

pub(in crate::format) use placed;

impl<'r> PlaceReader<'r> {
    pub(in crate::format) fn new(
        group: &'r dyn Fn(Word) -> Option<usize>,
        read: &'r mut dyn FnMut(Places, Wanted) -> Place,
    ) -> PlaceReader<'r> {
        PlaceReader { group, read }
    }

    pub(in crate::format) fn text<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Text, self)
    }

    pub(in crate::format) fn id<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Id, self)
    }

    pub(in crate::format) fn json<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Json, self)
    }

    pub(in crate::format) fn index<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Index, self)
    }

    pub(in crate::format) fn something<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Something, self)
    }

    /// Reads a table, whose fields say what is wanted of them.
    pub(in crate::format) fn table<P: Placed>(&mut self, table: &'static P) -> P::Read {
        table.read(Wanted::Something, self)
    }

    /// Reads what `each` leads to: its places, and the group of the objects there.
    pub(in crate::format) fn objects(&mut self, each: &&'static [Word]) -> Vec<Place> {
        let leads = each.iter().filter_map(|each| split_each(each));
        let leads =
            leads.filter_map(|(places, name)| Some((places, Wanted::Group((self.group)(name)?))));
        leads.map(|(places, wanted)| (self.read)(places, wanted)).collect()
    }
}

impl Placed for Places {
    type Read = Place;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Place {
        if self.is_empty() { Place::default() } else { (reader.read)(self, wanted) }
    }
}

impl Placed for &'static [Places] {
    type Read = Vec<Place>;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Vec<Place> {
        self.iter().map(|places| places.read(wanted, reader)).collect()
    }
}

impl Placed for &'static [(Places, Word)] {
    type Read = Vec<(Place, Word)>;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Self::Read {
        self.iter().map(|(places, words)| (places.read(wanted, reader), *words)).collect()
    }
}

impl<P: Placed> Placed for Option<P> {
    type Read = Option<P::Read>;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Self::Read {
        self.as_ref().map(|places| places.read(wanted, reader))
    }
}

/// Returns the places of an `each`, and the name of the group that it leads to.
pub(crate) fn split_each(each: Word) -> Option<(Places, Word)> {
    each.split_once('>').map(|(places, name)| (places.trim_ascii(), name.trim_ascii()))
}
