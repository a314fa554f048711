//! The rules of a row as the machine reads them: the places of each, and what it holds.

use std::collections::HashSet;

use crate::format::spec::{
    Begin, Cumulative, End, Extents, Group, Places, Rule, Spec, Total, Weak, Word, split_each,
};

/// The places of a value, as they are read; none, where a row says nothing.
#[derive(Default)]
pub(in crate::format) struct Place {
    pub(super) ways: Vec<Way>,
    /// The words of a flag.
    pub(super) words: Option<Word>,
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
    Json,
    /// A number of at least 0, or a name.
    Index,
    /// An object, or a list of objects, of the group of this number.
    Group(usize),
    /// Whatever else it is.
    Something,
}

/// What a rule holds.
#[derive(Clone, Copy, Default)]
pub(in crate::format) struct RuleContent {
    /// Something of what the model wrote, beside a call or a result.
    pub(super) more_than_calls: bool,
    /// Something of what the model wrote, or the beginning of a message.
    pub(super) content: bool,
    /// Text and nothing else, in objects of some kinds.
    pub(super) only_text: bool,
    /// Pieces in objects inside and nothing else, in objects of some kinds.
    pub(super) only_inside: bool,
    /// Nothing, but that a record is known: text does not go on over it.
    pub(super) nothing: bool,
    /// What begins a log's message: the model wrote it in the object itself, and not only in objects
    /// inside.
    pub(super) log_start: bool,
    /// All of a message, and why it stopped.
    pub(super) body: bool,
}

/// What all rules of a row say together.
#[derive(Clone, Copy, Default)]
pub(super) struct RowFlags {
    pub(super) is_log: bool,
    /// The counts of a log's message are those of its session so far.
    pub(super) is_cumulative_log: bool,
    /// No rule says when a call that comes in pieces is whole. Then its message does.
    pub(super) leaves_calls_open: bool,
    /// Bodies have rules of their own.
    pub(super) has_bodies: bool,
    /// Calls may come whole, and so once more.
    pub(super) has_whole_calls: bool,
    /// Texts that are of no part may come both in pieces and whole, or replace others.
    pub(super) mixes_texts: bool,
    /// Some counts are those of all of the message.
    pub(super) has_totals: bool,
    /// Records of several origins repeat each other.
    pub(super) has_origins: bool,
    /// Nothing else says when a message has stopped, and its end asks for that.
    pub(super) stops_by_finish: bool,
    /// Rules open blocks: one place of `at` is that of a block, and not of a part.
    pub(super) has_blocks: bool,
}

/// Makes places of what a row says.
pub(in crate::format) struct PlaceReader<'r> {
    groups: &'r [Group],
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
    pub(super) fn new(
        groups: &'r [Group],
        read: &'r mut dyn FnMut(Places, Wanted) -> Place,
    ) -> PlaceReader<'r> {
        PlaceReader { groups, read }
    }

    pub(in crate::format) fn text<P: Placed>(&mut self, places: &'static P) -> P::Read {
        places.read(Wanted::Text, self)
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
        let number = |name| self.groups.iter().position(|group| group.name == name);
        let leads = each.iter().filter_map(|each| split_each(each));
        let leads = leads.filter_map(|(places, name)| Some((places, Wanted::Group(number(name)?))));
        let leads: Vec<_> = leads.collect();
        leads.into_iter().map(|(places, wanted)| (self.read)(places, wanted)).collect()
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

/// Calls `see` with each place that is the row's and no rule's, and what is wanted there.
pub(in crate::format) fn each_place(spec: &'static Spec, see: &mut dyn FnMut(Places, Wanted)) {
    let mut see = |places, wanted| {
        see(places, wanted);
        Place::default()
    };
    let mut reader = PlaceReader::new(spec.groups, &mut see);
    reader.table(spec);
    // What follows is not read with the record: it is for the detector, or of what stands in a value.
    let kinds = spec.groups.iter().map(|group| &group.kind).chain([&spec.kind]);
    for places in kinds.chain([&spec.detect.has, &spec.detect.not]) {
        reader.something(places);
    }
    spec.usage.iter().for_each(|(places, ..)| drop(reader.something(places)));
}

/// Calls `see` with each place of a rule of the row, and what is wanted there.
pub(in crate::format) fn each_place_of(
    rule: &'static Rule,
    spec: &Spec,
    see: &mut dyn FnMut(Places, Wanted),
) {
    let mut see = |places, wanted| {
        see(places, wanted);
        Place::default()
    };
    let mut reader = PlaceReader::new(spec.groups, &mut see);
    reader.table(rule);
    reader.something(&rule.needs);
    if let Weak::Without(places) = &rule.weak {
        reader.something(places);
    }
}

/// Returns the keys of all members that a place of the row leads to or through.
pub(super) fn keys(spec: &'static Spec) -> HashSet<&'static str> {
    let mut keys = HashSet::new();
    let mut see = |places: Places, _| {
        keys.extend(places.split(|c: char| ".|/ {}[]\"?=:,>+".contains(c)));
    };
    each_place(spec, &mut see);
    spec.rules().for_each(|(_, rule)| each_place_of(rule, spec, &mut see));
    keys
}

impl RuleContent {
    pub(in crate::format) fn new(rule: &Rule) -> RuleContent {
        let any = |all: &[Places]| all.iter().any(|places| !places.is_empty());
        let text = any(&[rule.thought, rule.text, rule.refusal]);
        let mark = any(&[rule.signature, rule.redacted]);
        let call = rule.call.is_some() || rule.result.is_some();
        let object = rule.hook.is_some() || rule.error.is_some();
        let inside = !rule.each.is_empty() || rule.wraps.is_some();
        let block = rule.block.is_some();
        let blocks = !rule.blocks.is_empty() || rule.rest.is_some();
        let about = !rule.usage.is_empty() || any(&[rule.finish, rule.provider_event]);
        let (begins, ends) = (rule.begin != Begin::Late, rule.end != End::No);
        let own = call || text || mark || object || begins;
        let others = mark || call || object || inside || block || blocks || about || ends;
        RuleContent {
            more_than_calls: text || mark || object || inside,
            content: own || inside,
            only_text: rule.is_named() && text && !others && rule.native.is_empty(),
            only_inside: rule.is_named()
                && !rule.whole
                && inside
                && !(own || block || blocks || about || ends)
                && rule.native.is_empty(),
            nothing: !(own || inside || block || blocks || about),
            log_start: !rule.prompt && (own || block || ends),
            body: rule.is_message() && !rule.finish.is_empty(),
        }
    }
}

impl RowFlags {
    pub(super) fn new(spec: &Spec) -> RowFlags {
        let rules: Vec<(&Rule, Extents)> = spec.extents().collect();
        let any = |is_it: &dyn Fn(&Rule, Extents) -> bool| {
            rules.iter().any(|(rule, extents)| is_it(rule, *extents))
        };
        let is_log = spec.log.is_some();
        let grows = spec.rules().any(|(_, rule)| rule.cumulative != Cumulative::No);
        // A record that holds all of a message and ends it says nothing of calls in pieces, nor does a
        // whole call without the key that those have.
        let have_keys = any(&|rule, extents| {
            !extents.whole && rule.call.is_some_and(|call| !call.key.is_empty())
        });
        let ends_calls = spec.extents_beside(Rule::is_message).any(|(rule, extents)| {
            rule.close
                || !rule.call_end.is_empty()
                || !rule.choice.is_empty()
                || rule.call.is_some_and(|call| {
                    call.until || extents.whole && !grows && (!have_keys || !call.key.is_empty())
                })
        });
        let has_calls = any(&|rule, _| rule.call.is_some());
        let is_more = |rule: &Rule| rule.cumulative != Cumulative::No || rule.replaces;
        let any_text = |is_it: &dyn Fn(&Rule, Extents) -> bool| {
            let is_text = |rule: &Rule| [rule.text, rule.thought] != ["", ""];
            any(&|rule, it| is_text(rule) && rule.at.is_empty() && is_it(rule, it))
        };
        RowFlags {
            is_log,
            is_cumulative_log: spec.log.is_some_and(|log| log.cumulative),
            leaves_calls_open: !spec.hold && !is_log && has_calls && !ends_calls,
            has_bodies: any(&|rule, _| rule.is_message()),
            has_whole_calls: any(&|rule, it| (it.whole || grows) && rule.call.is_some()),
            mixes_texts: !is_log
                && any_text(&|rule, extents| extents.whole || is_more(rule))
                && (any_text(&|rule, extents| extents.in_pieces && !is_more(rule))
                    || any_text(&|rule, it| it.whole && !is_more(rule))
                        && any_text(&|rule, _| is_more(rule))),
            has_totals: spec.on.iter().any(|rule| rule.total == Total::Yes),
            stops_by_finish: !is_log
                && any(&|rule, _| rule.end == End::Stopped)
                && !any(&|rule, _| rule.stop || !rule.choice.is_empty()),
            has_blocks: spec.on.iter().any(|rule| rule.open),
            has_origins: is_log && any(&|rule, _| !matches!(rule.origin, "" | "all")),
        }
    }
}
