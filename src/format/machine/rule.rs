//! The rules of a row as the machine reads them: the places of each, and what it holds.

use std::collections::HashSet;

use crate::format::format::Format;
use crate::format::spec::{
    Begin, BlockSpec, CallSpec, Cumulative, End, Extents, FailureSpec, Places, ResultSpec, Rule,
    Spec, StartSpec, Total, Weak, Word, WrapSpec, split_each,
};
use crate::format::table::find;

/// The places of a value, as they are read; none, where a row says nothing.
#[derive(Default)]
pub(super) struct Place {
    pub(super) ways: Vec<Way>,
    /// The words of a flag.
    pub(super) words: Option<Word>,
}

/// Where a place leads.
pub(super) enum Way {
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
    /// It is not read with the record: it is for the detector, or says what stands in a value.
    Nothing,
}

/// A rule and its places.
pub(super) struct ReadRule {
    pub(super) spec: &'static Rule,
    pub(super) holds: RuleContent,
    pub(super) has: Vec<Place>,
    pub(super) not: Vec<Place>,
    pub(super) is: Vec<(Place, Word)>,
    pub(super) choice: Place,
    pub(super) at: Within,
    pub(super) session: ReadStart,
    pub(super) of: Place,
    pub(super) role: Place,
    pub(super) native: Place,
    pub(super) thought: Place,
    pub(super) hidden: Place,
    pub(super) text: Place,
    pub(super) refusal: Place,
    pub(super) signature: Place,
    pub(super) redacted: Place,
    pub(super) call: Option<ReadCall>,
    pub(super) result: Option<ReadResult>,
    pub(super) each: Vec<Place>,
    pub(super) block: Option<ReadBlock>,
    /// The names of blocks, and their places.
    pub(super) blocks: Vec<(Word, Place)>,
    pub(super) rest: Option<ReadBlock>,
    pub(super) wraps: Option<ReadWrap>,
    pub(super) call_end: Place,
    /// The text of the warning.
    pub(super) warn: Place,
    pub(super) provider_event: Place,
    pub(super) usage: Vec<Place>,
    pub(super) finish: Place,
    pub(super) stop_sequence: Place,
    pub(super) error: Option<ReadFailure>,
    pub(super) end: Place,
    /// The place of what no word says.
    pub(super) hook: Place,
}

/// Where in its message an object stands.
pub(super) enum Within {
    Message,
    /// In the block of this index, or name. Where the rules of a row open blocks, one place is that.
    Block {
        index: Place,
        opens: bool,
    },
    /// In the part that has these indexes or names.
    Part(Vec<Place>),
}

/// A call and its places.
pub(super) struct ReadCall {
    pub(super) spec: &'static CallSpec,
    pub(super) key: Vec<Place>,
    pub(super) id: Place,
    pub(super) name: Place,
    pub(super) arguments: Place,
    pub(super) free: Place,
    pub(super) invalid: Place,
    pub(super) provider: Place,
    pub(super) signature: Place,
    pub(super) item: Place,
    pub(super) namespace: Place,
    pub(super) of_type: Place,
}

/// A result and its places.
pub(super) struct ReadResult {
    pub(super) spec: &'static ResultSpec,
    pub(super) condition: Place,
    pub(super) id: Place,
    pub(super) name: Place,
    pub(super) output: Place,
    pub(super) is_error: Place,
    pub(super) is_ok: Place,
}

/// The places of a block.
pub(super) struct ReadBlock {
    pub(super) spec: &'static BlockSpec,
    pub(super) name: Place,
    pub(super) at: Place,
    pub(super) text: Place,
}

/// A record of another format: its place, and the formats that it may be in.
pub(super) struct ReadWrap {
    pub(super) at: Place,
    pub(super) formats: Vec<&'static Format>,
}

/// An error and its places.
pub(super) struct ReadFailure {
    pub(super) spec: &'static FailureSpec,
    pub(super) at: Place,
    pub(super) message: Place,
    pub(super) code: Place,
}

/// The places of what the beginning of a message says.
#[derive(Default)]
pub(super) struct ReadStart {
    pub(super) id: Place,
    pub(super) model: Place,
    pub(super) created: Place,
}

/// What every record is asked for.
#[derive(Default)]
pub(super) struct RecordPlaces {
    pub(super) start: ReadStart,
    pub(super) session: ReadStart,
    pub(super) subagent: Place,
    pub(super) ends: Place,
}

/// What a rule holds.
#[derive(Clone, Copy)]
pub(super) struct RuleContent {
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
}

/// Makes places of what a row says.
struct PlaceReader<'r>(&'r mut dyn FnMut(Places, Wanted) -> Place);

impl PlaceReader<'_> {
    fn one(&mut self, places: Places, wanted: Wanted) -> Place {
        if places.is_empty() { Place::default() } else { (self.0)(places, wanted) }
    }

    fn text(&mut self, places: Places) -> Place {
        self.one(places, Wanted::Text)
    }

    fn json(&mut self, places: Places) -> Place {
        self.one(places, Wanted::Json)
    }

    fn index(&mut self, places: Places) -> Place {
        self.one(places, Wanted::Index)
    }

    fn all(&mut self, all: &[Places], wanted: Wanted) -> Vec<Place> {
        all.iter().map(|places| self.one(places, wanted)).collect()
    }

    fn start(&mut self, start: &StartSpec) -> ReadStart {
        let StartSpec { id, model, created, .. } = *start;
        ReadStart { id: self.text(id), model: self.text(model), created: self.json(created) }
    }

    fn call(&mut self, call: &'static CallSpec) -> ReadCall {
        ReadCall {
            spec: call,
            key: self.all(call.key, Wanted::Index),
            id: self.text(call.id),
            name: self.text(call.name),
            signature: self.text(call.signature),
            item: self.text(call.item),
            namespace: self.text(call.namespace),
            of_type: self.text(call.of_type),
            arguments: self.json(call.arguments),
            free: self.json(call.free),
            invalid: self.json(call.invalid),
            provider: self.json(call.provider),
        }
    }

    fn result(&mut self, result: &'static ResultSpec) -> ReadResult {
        ReadResult {
            spec: result,
            id: self.text(result.id),
            name: self.text(result.name),
            condition: self.json(result.condition),
            output: self.json(result.output),
            is_error: self.json(result.is_error),
            is_ok: self.json(result.is_ok),
        }
    }

    fn block(&mut self, block: &'static BlockSpec) -> ReadBlock {
        ReadBlock {
            spec: block,
            name: self.text(block.name),
            text: self.text(block.text),
            at: self.json(block.at),
        }
    }

    fn wrap(&mut self, wrap: &'static WrapSpec) -> ReadWrap {
        let formats = wrap.formats.iter().filter_map(|name| find(name)).collect();
        ReadWrap { at: self.json(wrap.at), formats }
    }

    fn failure(&mut self, error: &'static FailureSpec) -> ReadFailure {
        ReadFailure {
            spec: error,
            at: self.json(error.at),
            message: self.json(error.message),
            code: self.json(error.code),
        }
    }
}

impl ReadRule {
    /// Returns a rule of a row with what `read` makes of its places. What only has to stand somewhere
    /// comes after what is read.
    pub(super) fn new(
        rule: &'static Rule,
        spec: &Spec,
        read: &mut dyn FnMut(Places, Wanted) -> Place,
    ) -> ReadRule {
        let mut read = PlaceReader(read);
        let number = |name| spec.groups.iter().position(|group| group.name == name);
        let leads = rule.each.iter().filter_map(|each| split_each(each));
        let leads = leads.filter_map(|(places, name)| Some((places, number(name)?)));
        let name = |places: Places| places.rsplit_once('.').map_or(places, |(_, key)| key);
        let read_rule = ReadRule {
            spec: rule,
            holds: RuleContent::new(rule),
            thought: read.text(rule.thought),
            text: read.text(rule.text),
            refusal: read.text(rule.refusal),
            signature: read.text(rule.signature),
            redacted: read.text(rule.redacted),
            session: read.start(&rule.session),
            of: read.text(rule.of),
            role: read.text(rule.role),
            finish: read.text(rule.finish),
            stop_sequence: read.text(rule.stop_sequence),
            choice: read.index(rule.choice),
            at: Within::new(rule, spec, read.all(rule.at, Wanted::Index)),
            call: rule.call.as_ref().map(|call| read.call(call)),
            result: rule.result.as_ref().map(|result| read.result(result)),
            block: rule.block.as_ref().map(|block| read.block(block)),
            rest: rule.rest.as_ref().map(|rest| read.block(rest)),
            wraps: rule.wraps.as_ref().map(|wrap| read.wrap(wrap)),
            warn: rule.warn.map_or_else(Place::default, |warn| read.text(warn.text)),
            error: rule.error.as_ref().map(|error| read.failure(error)),
            hook: rule.hook.map_or_else(Place::default, |hook| read.json(hook.at)),
            blocks: rule.blocks.iter().map(|it| (name(it), read.json(it))).collect(),
            usage: read.all(rule.usage, Wanted::Json),
            native: read.json(rule.native),
            hidden: read.json(rule.hidden),
            provider_event: read.json(rule.provider_event),
            call_end: read.index(rule.call_end),
            end: read.json(rule.end.places()),
            is: rule.is.iter().map(|(places, words)| (read.json(places), *words)).collect(),
            has: read.all(rule.has, Wanted::Something),
            not: read.all(rule.not, Wanted::Something),
            each: leads.map(|(places, group)| read.one(places, Wanted::Group(group))).collect(),
        };
        read.all(rule.needs, Wanted::Nothing);
        if let Weak::Without(places) = rule.weak {
            read.one(places, Wanted::Nothing);
        }
        read_rule
    }
}

impl Within {
    fn new(rule: &Rule, spec: &Spec, mut places: Vec<Place>) -> Within {
        let has_blocks = spec.on.iter().any(|rule| rule.open);
        match places.as_slice() {
            [] => Within::Message,
            [_] if has_blocks => Within::Block { index: places.remove(0), opens: rule.open },
            _ => Within::Part(places),
        }
    }
}

impl RecordPlaces {
    /// Returns what `read` makes of the places that are the row's and no rule's.
    pub(super) fn new(spec: &Spec, read: &mut dyn FnMut(Places, Wanted) -> Place) -> RecordPlaces {
        let mut read = PlaceReader(read);
        let log = spec.log.map(|log| (log.subagent, log.ends.places()));
        let (subagent, ends) = log.unwrap_or_default();
        let record = RecordPlaces {
            start: read.start(&spec.start),
            session: read.start(&spec.session),
            subagent: read.json(subagent),
            ends: read.one(ends, Wanted::Something),
        };
        let kinds = spec.groups.iter().map(|group| group.kind).chain([spec.kind]);
        for places in kinds.chain([spec.detect.has, spec.detect.not]) {
            read.all(places, Wanted::Nothing);
        }
        for (places, ..) in spec.usage {
            read.one(places, Wanted::Nothing);
        }
        record
    }
}

/// Calls `see` with each place that is the row's and no rule's, and what is wanted there.
pub(in crate::format) fn each_place(spec: &Spec, see: &mut dyn FnMut(Places, Wanted)) {
    RecordPlaces::new(spec, &mut |places, wanted| {
        see(places, wanted);
        Place::default()
    });
}

/// Calls `see` with each place of a rule of the row, and what is wanted there.
pub(in crate::format) fn each_place_of(
    rule: &'static Rule,
    spec: &Spec,
    see: &mut dyn FnMut(Places, Wanted),
) {
    ReadRule::new(rule, spec, &mut |places, wanted| {
        see(places, wanted);
        Place::default()
    });
}

/// Returns the keys of all members that a place of the row leads to or through.
pub(super) fn keys(spec: &Spec) -> HashSet<&'static str> {
    let mut keys = HashSet::new();
    let mut see = |places: Places, _| {
        keys.extend(places.split(|c: char| ".|/ {}[]\"?=:,>+".contains(c)));
    };
    each_place(spec, &mut see);
    spec.rules().for_each(|(_, rule)| each_place_of(rule, spec, &mut see));
    keys
}

impl RuleContent {
    fn new(rule: &Rule) -> RuleContent {
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
            has_origins: is_log && any(&|rule, _| !matches!(rule.origin, "" | "all")),
        }
    }
}
