//! The search for the next marker of one place: where one may begin by its first bytes, which rules
//! to try there, and how far they fit.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::dialect::machine::blocks::TextRegion;
use crate::dialect::machine::markdown_context::MarkdownContext;
use crate::dialect::machine::place::RulesKey;
use crate::dialect::machine::rules::{Go, MarkerRule};
use crate::scan::{
    self, Attempt, CapturedWord, Captures, FirstBytes, Lookahead, Match, MatchStart, Namespace,
    Sight, begins_word, common_length,
};
use crate::tools::Tools;

/// The rules of a place, and the attempts at a marker that may have begun. Each
/// place has its own: attempts never outlive the place whose rules they follow.
#[derive(Default)]
pub(crate) struct Search {
    /// The rules that places had, the latest last.
    known: Vec<KnownRules>,
    /// The number of those of this place; beyond the last one if it has none.
    at: usize,
    /// The numbers of rules, and how far they fit.
    attempts: Vec<(usize, Fit)>,
}

/// The sets of rules that are kept: closers with words of openers in them make more.
const MAX_KNOWN: usize = 64;

/// The rules of a place, and the words of openers that stand in them.
struct KnownRules {
    key: RulesKey,
    words: Vec<CapturedWord<'static>>,
    rules: Arc<RuleSet>,
}

/// The rules of a place that has none.
static NO_RULES: RuleSet = RuleSet {
    rules: Vec::new(),
    finder: StartFinder { bytes: Vec::new(), numbers: Vec::new(), seconds: Vec::new() },
    starts: RuleStarts { nodes: Vec::new(), rules: Vec::new(), tables: Vec::new() },
    spaced: Vec::new(),
    shortest_spaced: 0,
    blank: Vec::new(),
    inline: Vec::new(),
    is_calm: false,
};

/// The length to which a rule fits.
#[derive(Default)]
enum Fit {
    /// It was not tried.
    #[default]
    Unknown,
    /// It fits so far.
    Open(Box<Lookahead>),
    No,
}

/// The result of all attempts at one place.
pub(crate) enum Attempted<'t> {
    /// No marker begins here.
    No,
    /// No marker begins here, but only because the text ended too soon: what
    /// follows may be a part of one, and no marker by itself.
    Cut,
    /// The text ended inside the opener of a call or a section.
    Header(Marker<'t>),
    /// More text will tell.
    More,
    Marker(Marker<'t>),
}

/// Whether rules are tried at a place in prose.
pub(crate) enum Begun {
    None,
    /// Some will be once more text has come: it is too short for any marker.
    Later,
    Now,
}

/// A marker that was found.
pub(crate) struct Marker<'t> {
    pub(crate) go: Go,
    /// True if it's none where code is.
    pub(crate) guarded: bool,
    /// In bytes.
    pub(crate) length: usize,
    pub(crate) words: Captures<'t>,
}

impl Search {
    /// True if no marker is under way.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Returns the rules of the place.
    #[inline]
    pub(crate) fn rules(&self) -> &RuleSet {
        self.known.get(self.at).map_or(&NO_RULES, |known| &known.rules)
    }

    /// Goes on at another place, with the rules of this key and these words if they are known, or
    /// else without any; returns true if they are.
    #[inline]
    pub(crate) fn enter(&mut self, key: RulesKey, words: &[&[CapturedWord<'static>]]) -> bool {
        let is_same = |known: &KnownRules| {
            let mut words = words.iter();
            let mut rest =
                || words.try_fold(&*known.words, |rest, words| rest.strip_prefix(*words));
            known.key == key && rest().is_some_and(<[_]>::is_empty)
        };
        self.attempts.clear();
        self.at = self.known.iter().rposition(is_same).unwrap_or(usize::MAX);
        self.at != usize::MAX
    }

    /// Goes on with other rules, and keeps them for the places of this key and these words.
    pub(crate) fn add(
        &mut self,
        key: RulesKey,
        words: Vec<CapturedWord<'static>>,
        rules: Arc<RuleSet>,
    ) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.at = self.known.len();
        self.known.push(KnownRules { key, words, rules });
    }

    /// Goes on at a place that has no rules.
    pub(crate) fn leave(&mut self) {
        self.attempts.clear();
        self.at = usize::MAX;
    }

    /// Forgets the rules of these keys; the place has none until another one is entered.
    pub(crate) fn forget(&mut self, is_old: impl Fn(RulesKey) -> bool) {
        self.known.retain(|known| !is_old(known.key));
        self.leave();
    }

    /// Returns the first place at or after `from` where a marker may begin, as far as its first
    /// two bytes tell.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        self.rules().finder.find(text, from)
    }

    /// True if a marker may begin here, as far as its first two bytes tell.
    #[inline]
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        self.rules().finder.fits(text)
    }

    /// Begins to try the rules that are legal here and may begin with `text`; if it `may_wait`, not
    /// where all need more text than there is. Some need the names of `--tools`.
    #[inline]
    pub(crate) fn begin_here(
        &mut self,
        text: &[u8],
        may_wait: bool,
        has_tools: bool,
        mut here: Here<'_>,
    ) -> Begun {
        let rules = self.known.get(self.at).map_or(&NO_RULES, |known| &known.rules);
        let likely = rules.likely(text, here.is_start);
        if likely.is_empty() {
            return Begun::None;
        }
        let first = text.first().copied();
        let mut fits = |&number: &usize| {
            rules.may_begin(number, text, has_tools) && rules.is_legal(number, first, &mut here)
        };
        if may_wait && text.len() < likely.shortest {
            let may_become = |number: &usize| {
                let pattern = &rules.rules[*number].pattern;
                fits(number) && Attempt::default().advance(pattern, text, false) == Match::More
            };
            return if likely.numbers().any(may_become) { Begun::Later } else { Begun::None };
        }
        for number in likely.numbers().filter(|number| fits(number)) {
            self.attempts.push((*number, Fit::Unknown));
        }
        if !(likely.spaced.is_empty() && likely.blank.is_empty()) {
            self.attempts.sort_unstable_by_key(|(number, _)| *number);
            self.attempts.dedup_by_key(|(number, _)| *number);
        }
        if self.attempts.is_empty() { Begun::None } else { Begun::Now }
    }

    /// Gives up all attempts.
    pub(crate) fn reset(&mut self) {
        self.attempts.clear();
    }

    /// Looks at the bytes that are new. The first rule in their order that fits
    /// counts; its attempts stay until [`Search::reset`].
    #[inline]
    pub(crate) fn advance<'t>(
        &mut self,
        text: &'t str,
        ended: bool,
        tools: Option<&Tools>,
    ) -> Attempted<'t> {
        let mut is_cut = false;
        let Some(known) = self.known.get(self.at) else { return Attempted::No };
        for (number, fit) in &mut self.attempts {
            let rule = &known.rules.rules[*number];
            let mut begun = Lookahead::default();
            let attempt = match fit {
                Fit::No => continue,
                Fit::Unknown => &mut begun,
                Fit::Open(attempt) => &mut **attempt,
            };
            let mut sight = attempt.advance(&rule.pattern, &rule.next, text, false);
            if matches!(sight, Sight::More) && ended {
                if attempt.is_inside() && matches!(rule.go, Go::Call(_)) {
                    let words = attempt.captures(&rule.pattern, text);
                    let (go, guarded) = (rule.go, rule.guarded);
                    return Attempted::Header(Marker { go, guarded, length: text.len(), words });
                }
                sight = match rule.strict {
                    true => Sight::No,
                    false => attempt.advance(&rule.pattern, &rule.next, text, true),
                };
                is_cut |= matches!(sight, Sight::No);
            }
            match sight {
                Sight::No => {}
                Sight::More => {
                    if matches!(fit, Fit::Unknown) {
                        *fit = Fit::Open(Box::new(begun));
                    }
                    return Attempted::More;
                }
                Sight::Yes(length, words) => {
                    let name = words.get("name").or(attempt.name().filter(|_| rule.known));
                    if !is_unknown(rule, name, tools) {
                        let (go, guarded) = (rule.go, rule.guarded);
                        return Attempted::Marker(Marker { go, guarded, length, words });
                    }
                }
            }
            *fit = Fit::No;
        }
        self.reset();
        if is_cut { Attempted::Cut } else { Attempted::No }
    }
}

/// True if a call's opener names a tool that is not in `--tools`, where that
/// tells markup from prose.
fn is_unknown(rule: &MarkerRule, name: Option<&str>, tools: Option<&Tools>) -> bool {
    match (name, tools) {
        (Some(name), Some(tools)) => (rule.known || rule.plain) && !tools.has(name),
        (Some(_), None) => rule.known,
        (None, _) => false,
    }
}

/// The state that decides which rules are tried at a place.
pub(crate) struct Here<'h> {
    pub(crate) context: &'h mut MarkdownContext,
    /// True where the message begins.
    pub(crate) is_start: bool,
    /// True if a call in code is worth a warning.
    pub(crate) warns: bool,
}

/// The rules of a place, and an index of the texts that their markers begin with.
pub(crate) struct RuleSet {
    pub(crate) rules: Vec<MarkerRule>,
    finder: StartFinder,
    starts: RuleStarts,
    /// The rules whose markers may have a namespace, which `starts` leaves out.
    spaced: Vec<usize>,
    /// The length of the shortest marker of these, in bytes, or less.
    shortest_spaced: usize,
    /// The rules that may begin with any byte, where the message begins.
    blank: Vec<usize>,
    /// For each rule, true if its marker may stand inside a line of prose.
    inline: Vec<bool>,
    /// True if no marker begins in calm text, in the middle of a line of prose.
    pub(crate) is_calm: bool,
}

/// Rules that may begin with some text.
struct Likely<'r> {
    rules: &'r [usize],
    /// Those whose markers may have a namespace.
    spaced: &'r [usize],
    /// Those whose markers may begin with any byte.
    blank: &'r [usize],
    /// The length of the shortest marker of them all, in bytes, or less.
    shortest: usize,
}

impl Likely<'_> {
    fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.spaced.is_empty() && self.blank.is_empty()
    }

    fn numbers(&self) -> impl Iterator<Item = &usize> {
        self.rules.iter().chain(self.spaced).chain(self.blank)
    }
}

/// The most bytes by which the beginnings of markers are told apart in [`RuleStarts`].
const MAX_STARTS: usize = 32;

/// The most nodes of [`RuleStarts`] before what is added has no table: they are numbered in two bytes.
const MAX_NODES: usize = 1 << 15;

/// The rules that may begin with some text: a tree, its root the last node.
#[derive(Default)]
struct RuleStarts {
    nodes: Vec<StartsNode>,
    /// The numbers of each node's rules, in order.
    rules: Vec<usize>,
    /// The nodes that a byte leads to, by their numbers.
    tables: Vec<[u16; 256]>,
}

struct StartsNode {
    /// The length of what all its beginnings have after the byte that led here.
    length: usize,
    /// Its first bytes.
    head: FirstBytes,
    /// The node of a text that does not go on so.
    otherwise: u16,
    /// The place of its rules in [`RuleStarts`].
    rules: Range<usize>,
    /// The length of the shortest of their markers, in bytes, or less.
    shortest: usize,
    /// The table of the nodes that the byte after that leads to.
    next: Option<usize>,
}

/// A text that the markers of a rule can begin with.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RuleStart {
    /// Its first bytes, which decide most comparisons.
    head: u64,
    start: MatchStart,
    rule: usize,
    /// The length of the rule's shortest marker, in bytes.
    shortest: usize,
}

impl RuleStart {
    fn new(start: MatchStart, rule: usize, shortest: usize) -> Self {
        let mut head = [0; 8];
        head.iter_mut().zip(&start.text).for_each(|(head, byte)| *head = *byte);
        RuleStart { head: u64::from_be_bytes(head), start, rule, shortest }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.start.text.get(at).copied()
    }
}

impl RuleStarts {
    /// Returns the tree of these beginnings, which are in order.
    fn new(beginnings: &[RuleStart]) -> Self {
        let mut starts = RuleStarts::default();
        starts.tables.reserve(beginnings.len() / 2);
        let none = starts.add(&mut Vec::new(), &[], 0, 0);
        starts.add(&mut Vec::new(), beginnings, 0, none);
        starts
    }

    /// Adds a node of `beginnings`, which are in order, and of those that ended `before` the place
    /// where these differ. They are known to be alike up to `from`; a text that goes on in another
    /// way is of the node `otherwise`. Returns its number.
    fn add<'b>(
        &mut self,
        before: &mut Vec<&'b RuleStart>,
        beginnings: &'b [RuleStart],
        from: usize,
        otherwise: u16,
    ) -> u16 {
        // What the first and the last begin with, all do.
        let ends = beginnings.first().zip(beginnings.last());
        let at = ends.map_or(from, |(a, b)| common_length(&a.start.text, &b.start.text));
        let common = ends.map_or(&[][..], |(first, _)| first.start.text.within(from..at));
        let ended = beginnings.partition_point(|beginning| beginning.start.text.len() == at);
        let (ended, longer) = beginnings.split_at(ended);
        let is_leaf = longer.is_empty() || at >= MAX_STARTS || self.nodes.len() >= MAX_NODES;
        let next = (!is_leaf).then(|| self.add_table(before, ended, longer, at));
        let all = || before.iter().copied().chain(beginnings);
        let mut rules: SmallVec<[usize; 64]> = all().map(|beginning| beginning.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let shortest = all().map(|beginning| beginning.shortest).min().unwrap_or(0);
        let place = self.rules.len()..self.rules.len() + rules.len();
        self.rules.extend(rules);
        let (length, head) = (common.len(), FirstBytes::new(common));
        self.nodes.push(StartsNode { length, head, otherwise, rules: place, shortest, next });
        u16::try_from(self.nodes.len() - 1).unwrap_or(0)
    }

    /// Adds the table of the byte where some have `ended` and the others differ. What ended before a
    /// word goes on with a byte that begins one. Returns its number.
    fn add_table<'b>(
        &mut self,
        before: &mut Vec<&'b RuleStart>,
        ended: &'b [RuleStart],
        longer: &'b [RuleStart],
        at: usize,
    ) -> usize {
        let known = before.len();
        let is_of_any = |ended: &&RuleStart| !ended.start.is_before_word;
        before.extend(ended.iter().filter(is_of_any));
        let mut table = [self.add(before, &[], at, 0); 256];
        for is_word in [false, true] {
            if is_word && before.len() < known + ended.len() {
                before.extend(ended.iter().filter(|ended| !is_of_any(ended)));
                let number = self.add(before, &[], at, 0);
                let bytes = (0..=u8::MAX).zip(&mut table).filter(|(byte, _)| begins_word(*byte));
                bytes.for_each(|(_, entry)| *entry = number);
            }
            for group in longer.chunk_by(|a, b| a.byte(at) == b.byte(at)) {
                let byte = group.first().and_then(|first| first.byte(at));
                if let Some(byte) = byte.filter(|&byte| begins_word(byte) == is_word) {
                    let entry = &mut table[usize::from(byte)];
                    *entry = self.add(before, group, at + 1, *entry);
                }
            }
        }
        before.truncate(known);
        self.tables.push(table);
        self.tables.len() - 1
    }

    /// Returns the node of a text: its rules may begin with that, as far as it is compared.
    #[inline]
    fn find(&self, text: &[u8]) -> Option<&StartsNode> {
        let (mut node, mut rest) = (self.nodes.last()?, text);
        loop {
            if node.head.differs(rest) {
                return self.nodes.get(usize::from(node.otherwise));
            }
            let (Some(table), Some((&byte, after))) =
                (node.next, rest.get(node.length..).and_then(<[u8]>::split_first))
            else {
                return Some(node);
            };
            node = &self.nodes[usize::from(self.tables[table][usize::from(byte)])];
            rest = after;
        }
    }

    /// Returns the rules of a node.
    fn rules(&self, node: &StartsNode) -> &[usize] {
        self.rules.within(node.rules.clone())
    }
}

impl RuleSet {
    pub(crate) fn new(rules: Vec<MarkerRule>) -> Arc<Self> {
        let (mut beginnings, mut blank, mut spaced) = (Vec::new(), Vec::new(), Vec::new());
        let (mut inline, mut is_calm, mut shortest_spaced) = (Vec::new(), true, usize::MAX);
        for (number, rule) in rules.iter().enumerate() {
            let (starts, shortest) = (rule.pattern.starts(), rule.pattern.min_length());
            inline.push(rule.is_inline(&starts));
            is_calm &= rule.is_calm(&starts);
            if starts.is_empty() {
                blank.push(number);
            }
            if rule.pattern.has_namespace() {
                spaced.push(number);
                shortest_spaced = shortest.min(shortest_spaced);
            }
            let beginning = |start| RuleStart::new(start, number, shortest);
            beginnings.extend(starts.into_iter().map(beginning));
        }
        beginnings.sort_unstable();
        beginnings.dedup();
        let starts = RuleStarts::new(&beginnings);
        let is_searched = |beginning: &&RuleStart| {
            rules[beginning.rule].pattern.place() != scan::MarkerPlace::Start
        };
        let searched = beginnings.iter().filter(is_searched).map(|beginning| &beginning.start);
        // A namespace may stand after the first byte of a tag.
        let tag = MatchStart { text: b"<".into(), is_before_word: true };
        let tags = std::iter::once(&tag).filter(|_| !spaced.is_empty());
        let finder = StartFinder::new(searched.chain(tags));
        Arc::new(RuleSet { rules, finder, starts, spaced, shortest_spaced, blank, inline, is_calm })
    }

    /// True if a rule may begin with this text. Some need the names of `--tools`.
    fn may_begin(&self, number: usize, text: &[u8], has_tools: bool) -> bool {
        let rule = &self.rules[number];
        (has_tools || !rule.known) && rule.pattern.may_begin(text)
    }

    /// Returns the rules that may begin with this text, as far as the bytes tell before their first
    /// part that varies; where the message begins if `is_start`.
    fn likely(&self, text: &[u8], is_start: bool) -> Likely<'_> {
        let node = self.starts.find(text);
        let (rules, shortest) =
            node.map_or((&[][..], 0), |node| (self.starts.rules(node), node.shortest));
        let spaced = match self.spaced.is_empty() {
            true => &[][..],
            false => self.likely_spaced(text),
        };
        let blank = if is_start { &*self.blank } else { &[] };
        Likely { rules, spaced, blank, shortest: shortest.min(self.shortest_spaced) }
    }

    /// Returns the rules that may begin with this text after a namespace.
    fn likely_spaced(&self, text: &[u8]) -> &[usize] {
        match scan::namespace(text) {
            Namespace::None => &[],
            Namespace::Open => &self.spaced,
            Namespace::Is(space) => {
                let (before, after) = (text.iter().take(space.start), text.iter().skip(space.end));
                let tag: SmallVec<[u8; MAX_STARTS]> =
                    before.chain(after).take(MAX_STARTS).copied().collect();
                let node = self.starts.find(&tag);
                node.map_or(&[], |node| self.starts.rules(node))
            }
        }
    }

    /// True if a rule that may begin with this text is tried there.
    fn is_legal(&self, number: usize, first: Option<u8>, here: &mut Here<'_>) -> bool {
        let rule = &self.rules[number];
        let is_line = here.context.is_line();
        let fits = match rule.pattern.place() {
            scan::MarkerPlace::Any => true,
            scan::MarkerPlace::Line => is_line,
            scan::MarkerPlace::Start => here.is_start,
        };
        if !(fits && rule.guarded) {
            return fits;
        }
        let is_prose = !is_line && (!self.inline[number] || first == Some(b'\n'));
        !is_prose && {
            here.context.settle();
            // In code, a call is looked for only to warn of it, or for the end of its quotation.
            match here.context.region() {
                TextRegion::Prose => true,
                TextRegion::Code => rule.go.opens_call() && here.warns,
                TextRegion::Quoted => rule.go.opens_call(),
            }
        }
    }
}

/// Finds where markers can begin, by the first two bytes of each.
#[derive(Clone, Debug, Default)]
struct StartFinder {
    bytes: Vec<u8>,
    /// For each byte, the number of those that follow it in a marker's beginning.
    numbers: Vec<u8>,
    /// The bytes that may follow; the first is of bytes that begin no marker.
    seconds: Vec<[bool; 256]>,
}

impl StartFinder {
    /// Returns a finder for markers that begin so. After a beginning of one byte, a word follows
    /// or any byte may.
    fn new<'s>(starts: impl Iterator<Item = &'s MatchStart>) -> Self {
        let mut finder = StartFinder { numbers: vec![0; 256], ..StartFinder::default() };
        finder.seconds.push([false; 256]);
        for start in starts {
            let Some((&first, rest)) = start.text.split_first() else { continue };
            let number = &mut finder.numbers[usize::from(first)];
            if *number == 0 {
                // There are fewer first bytes than numbers: no marker begins with 0xFF.
                *number = u8::try_from(finder.seconds.len()).unwrap_or(u8::MAX);
                finder.bytes.push(first);
                finder.seconds.push([false; 256]);
            }
            let seconds = &mut finder.seconds[usize::from(*number)];
            match rest.first() {
                Some(second) => seconds[usize::from(*second)] = true,
                None => (0..=u8::MAX).zip(seconds).for_each(|(byte, may_follow)| {
                    *may_follow |= !start.is_before_word || begins_word(byte);
                }),
            }
        }
        finder
    }

    /// True if one may begin here, as far as the first two bytes tell.
    #[inline]
    fn fits(&self, text: &[u8]) -> bool {
        let Some((&first, rest)) = text.split_first() else { return false };
        let number = usize::from(self.numbers[usize::from(first)]);
        number != 0 && rest.first().is_none_or(|&second| self.seconds[number][usize::from(second)])
    }

    /// Returns the first place from `from` on where one may begin.
    fn find(&self, text: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let rest = text.get(from..)?;
            let found = match *self.bytes {
                [] => None,
                [a] => memchr::memchr(a, rest),
                [a, b] => memchr::memchr2(a, b, rest),
                [a, b, c] => memchr::memchr3(a, b, c, rest),
                _ => rest.iter().position(|&byte| self.numbers[usize::from(byte)] != 0),
            };
            let at = found?;
            if rest.get(at..).is_some_and(|rest| self.fits(rest)) {
                return Some(from + at);
            }
            from += at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_byte_tells_beginnings_from_other_text() {
        let check = |starts: &[&str], text: &str, expected: &[usize]| {
            let start = |text: &&str| match text.strip_suffix('*') {
                Some(text) => MatchStart { text: text.into(), is_before_word: true },
                None => MatchStart { text: (*text).into(), is_before_word: false },
            };
            let starts: Vec<MatchStart> = starts.iter().map(start).collect();
            let finder = StartFinder::new(starts.iter());
            let mut found = Vec::new();
            while let Some(at) = finder.find(text.as_bytes(), found.last().map_or(0, |at| at + 1)) {
                found.push(at);
            }
            assert_eq!(found, expected, "{text:?}");
        };
        check(&["<t", "<|"], "<<t<x<|<", &[1, 5, 7]);
        check(&["<"], "<<x", &[0, 1]);
        check(&["<*", "<|"], "<<x< <|</<é", &[1, 5, 9]);
        check(&["ab", "b", "cd", "de"], "acabxde", &[2, 3, 5]);
        check(&[], "x", &[]);
    }
}
