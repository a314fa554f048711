//! What the rules of a row say together, and a walk over their places.

use std::collections::HashSet;

use crate::format::place::{Place, PlaceReader, Wanted};
use crate::format::spec::{CallEnds, Cumulative, End, Extents, Places, Rule, Spec, Total, Weak};

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

/// Calls `see` with each place that is the row's and no rule's, and what is wanted there.
pub(in crate::format) fn each_place(spec: &'static Spec, see: &mut dyn FnMut(Places, Wanted)) {
    walk(spec, see, |reader| {
        reader.table(spec);
        // What follows is not read with the record: it is for the detector, or of what stands in a
        // value.
        let kinds = spec.groups.iter().map(|group| &group.kind).chain([&spec.kind]);
        for places in kinds.chain([&spec.detect.has, &spec.detect.not]) {
            reader.something(places);
        }
        spec.usage.iter().for_each(|(places, ..)| drop(reader.something(places)));
    });
}

/// Calls `see` with each place of a rule of the row, and what is wanted there.
pub(in crate::format) fn each_place_of(
    rule: &'static Rule,
    spec: &Spec,
    see: &mut dyn FnMut(Places, Wanted),
) {
    walk(spec, see, |reader| {
        reader.table(rule);
        reader.something(&rule.needs);
        if let Weak::Without(places) = &rule.weak {
            reader.something(places);
        }
    });
}

/// Calls `see` with each place that `read` asks for.
fn walk(spec: &Spec, see: &mut dyn FnMut(Places, Wanted), read: impl FnOnce(&mut PlaceReader<'_>)) {
    let mut see = |places, wanted| {
        see(places, wanted);
        Place::default()
    };
    read(&mut PlaceReader::new(&|name| spec.group(name), &mut see));
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
                || rule.call_end != CallEnds::No
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
