//! The language in which a row of [`rows`](crate::format::rows) describes a format: where things
//! stand in its records, and which kind of thing each is. A user's TOML file has the same fields.
//!
//! A row never says when, depending on what came before: that is the
//! [machine](crate::format::machine)'s, which has the meaning of every word.
//!
//! **Places** are paths of keys joined by dots, relative to the object that a rule is for, with `|`
//! between several, of which the first that holds anything but null counts:
//!
//! | | |
//! | --- | --- |
//! | `a.b`, `a.0` | a member of a member, an element of a list |
//! | `a.*.b` | `b` in any member of `a`; of objects, in all of them |
//! | `.` | the object itself |
//! | `/a` | a member of the record, wherever it is asked for |
//! | `#` | the object's position in its list |
//! | `a{}`, `a[]`, `a""`, `a?` | only if an object, a list, a string, or true or false stands there |
//! | `'word'` | this word, or this JSON |
//! | `kind:`, `event:` | the object's kind, the name of its frame |
//! | `kind:*` | what the `*` of the rule's word stands for |
//! | `data:` | the frame's data as they are, which are read as text and not as JSON |
//! | `a=b\|c` | a flag: one of these words stands there |
//! | `a + 'word' + b` | a text made of places |
//! | `{a: b, c: d}` | an object made of places |

use std::collections::{BTreeMap, BTreeSet};
use std::convert::identity;
use std::sync::OnceLock;
use std::{fmt, io, mem};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::cut::Cut as _;
use crate::event::{Executor, FinishReason, WarningCode};
use crate::format::machine::RowTables;
use crate::format::place::{Place, PlaceReader, Placed, Wanted, placed};
pub(crate) use crate::format::place::{Places, Word, split_each};
use crate::format::repeatable::Repeatable;
use crate::format::support::calls::Calls;
use crate::format::support::emit::EventOut;
use crate::format::support::object::Object;
use crate::format::support::usage::{self, Field, Op};
use crate::leak::{self, table};

/// A description of a format in place of code: see [`load`](crate::format::load()).
#[derive(Clone, Copy)]
pub struct Row {
    pub(crate) spec: &'static Spec,
    pub(crate) toml: &'static str,
    pub(in crate::format) tables: &'static OnceLock<RowTables>,
}

impl Row {
    /// Returns a row that was loaded, which lives as long as the program.
    pub(in crate::format) fn loaded(spec: Spec, toml: &str) -> Row {
        let spec = Box::leak(Box::new(spec));
        Row { spec, toml: toml.to_owned().leak(), tables: Box::leak(Box::default()) }
    }

    /// Returns the TOML file that describes the format.
    pub fn toml(&self) -> &'static str {
        self.toml
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

placed! {
    /// A format as a row.
    pub(crate) struct Spec = NEW, RecordPlaces {
        name: Word = "", "leak::text";
        aliases: &'static [Word] = &[], "leak::texts", default;
        about: Word = "", "leak::text", default;
        link: Word = "", "leak::text", default;
        /// The dialect of its text, or `auto`.
        dialect: Word = "", "leak::text", default;
        /// Members of a first record that set it apart, for people.
        evidence: &'static [Word] = &[], "leak::texts", default;
        /// The beginnings of lines that an agent prints before its log, on the same standard output.
        banners: &'static [Word] = &[], "leak::texts", default;
        /// The places of the words that say what a record is, joined by `/`. `event:` is the name of
        /// its frame; with `key:`, each member of the record that a rule names is a record of that
        /// kind.
        kind: &'static [Places] = &[], "leak::one_or_more", default;
        start: StartSpec = StartSpec::NEW, default => table;
        /// Members that any record may have, for the next start.
        session: StartSpec = StartSpec::NEW, default => table;
        detect: DetectSpec = DetectSpec::NEW, default;
        done: Option<DoneSpec> = None, default;
        /// True if whoever sends a whole call may run it too: it waits for its result, for a rule with
        /// `release`, or for the end of its message.
        hold: bool = false, default;
        /// Who runs its calls, if not the caller.
        executor: Option<Executor> = None, "leak::some_word", default;
        log: Option<LogSpec> = None, default => table;
        /// Reasons to stop that mean another thing in this format.
        finish_words: &'static [(Word, FinishReason)] = &[], "reasons", default;
        /// The first that applies says what a record is. A record to which none applies is an error of
        /// any provider's, or unknown.
        on: &'static [Rule] = &[], "leak::list";
        #[serde(rename = "group")]
        groups: &'static [Group] = &[], "groups", default;
        usage: &'static [usage::CountRule] = &[], "counts", default;
        /// What may differ in a record that repeats the last one, if more than its text: `unread`,
        /// strings and numbers that no rule reads.
        #[serde(rename = "unread")]
        repeatable: Option<&'static Repeatable> = None, "repeatable", default;
        /// Places that have been written in place of their names.
        #[serde(rename = "places")]
        _places: IgnoredAny = IgnoredAny, default;
    }

    /// A provider's error. Without a message and a code, they are looked for where providers have
    /// them.
    pub(crate) struct FailureSpec = NEW, ReadFailure, spec: &'static FailureSpec = identity {
        at: Places = "", "leak::text" => json;
        message: Places = "", "leak::text", default => json;
        code: Places = "", "leak::text", default => json;
        /// In an open message, it is an error only if nothing comes after it: until then it is a
        /// warning.
        last: bool = false, default;
    }

    /// What the beginning of a message says.
    #[serde(default)]
    pub(crate) struct StartSpec = NEW, ReadStart {
        id: Places = "", "leak::text" => id;
        model: Places = "", "leak::text" => text;
        /// The time at which the message was begun: a number of seconds, or a date.
        created: Places = "", "leak::text" => json;
        /// The warning if a message has no beginning of its own; after the end of another one, it is
        /// passed over.
        late: Option<WarningCode> = None, "leak::some_word";
    }

    /// What an agent's log says of its conversation. A prompt and all that follows it, up to the next
    /// one, is a message, however often the model was asked. The end of the input is the end of the
    /// last one; what the model gives as a reason to stop is only noted until then. The agent ran all
    /// calls. A call with a known id that has no result yet is a repetition, and so is a second result
    /// for an id: both are passed over.
    #[serde(default)]
    pub(crate) struct LogSpec = NEW, ReadLog {
        /// Messages have an end of their own: one without it is cut. Places: if one of them holds
        /// anything in any record.
        ends: End = End::No, "end" => something;
        /// The counts of a message are those of its session so far.
        cumulative: bool = false;
        /// A flag: a record is a subagent's. It is passed over, unless the first one is: then the log
        /// is that subagent's.
        subagent: Places = "", "leak::text" => json;
    }

    /// The meaning of the objects of some kinds. What it emits comes in the order of its fields.
    #[serde(default)]
    pub(crate) struct Rule = NEW,
        ReadRule, spec: &'static Rule = identity, holds: RuleContent = RuleContent::new {
        /// The kinds, with `|` between them: words, which may begin or end with `*`. Empty for objects
        /// without a kind; missing for all.
        kind: Word = ANY, "leak::text";
        /// The rule applies only if something stands at each of these; at a flag's, one of its words.
        has: &'static [Places] = &[], "leak::one_or_more" => something;
        /// And if nothing stands at any of these.
        not: &'static [Places] = &[], "leak::one_or_more" => something;
        /// And if each of these places holds one of these words.
        is: &'static [(Places, Word)] = &[], "leak::pairs" => json;
        /// What else must stand there for a first record to prove the format.
        needs: &'static [Places] = &[], "leak::one_or_more";
        /// The only members that a first record has, to prove the format.
        only: &'static [Word] = &[], "leak::one_or_more";
        /// It applies to the first record of the input alone.
        first: bool = false;
        /// The rule proves no format: others have such records.
        weak: Weak = Weak::No, "weak";

        begin: Begin = Begin::Late, "begin";
        /// It holds the user's words, which end a log's message, unless it holds results.
        prompt: bool = false;
        /// Calls that wait are the caller's to run.
        release: bool = false;
        /// The record goes on beside the answer, and ends nothing that goes on.
        aside: bool = false;
        /// True if what it holds is whole: calls end, and of a text only what is new is emitted.
        /// Groups inside have it too.
        whole: bool = false;
        /// Whether it holds all of a text or of a call so far. Groups inside have it too.
        cumulative: Cumulative = Cumulative::No, "cumulative";
        /// Its text takes the place of what came.
        replaces: bool = false;
        /// What its texts repeat, in a log. `all`: the message, if that has any text. Any other word: a
        /// text comes both from these records and from those without the word, in either order.
        origin: Word = "", "leak::text";
        /// The channel beside the answer that its text is on.
        channel: Word = "", "leak::text";
        /// The number of the choice that it is of, as are the objects inside. Where a row has choices,
        /// its message has stopped when all of them have.
        choice: Places = "", "leak::text" => index;
        /// The index or name of the block or part that it is of.
        at: &'static [Places] = &[], "leak::one_or_more" => index;
        /// A block begins.
        open: bool = false;
        /// A block ends.
        close: bool = false;
        /// A new thought begins, apart from the last one.
        part: bool = false, "new";
        /// Members for the next start.
        session: StartSpec = StartSpec::NEW => table;
        /// The message that it is of, and who wrote that: what is not the model's is passed over. A
        /// prompt that comes again ends nothing.
        of: Places = "", "leak::text" => text;
        role: Places = "", "leak::text" => text;

        /// The message, or a piece of it, as the next request has it.
        native: Places = "", "leak::text" => json;
        /// Where a text stands as well, it is a thought if its part holds one.
        thought: Places = "", "leak::text" => text;
        /// The text is passed over if this is true: a marker of the model's.
        hidden: Places = "", "leak::text" => json;
        text: Places = "", "leak::text" => text;
        refusal: Places = "", "leak::text" => text;
        signature: Places = "", "leak::text" => text;
        redacted: Places = "", "leak::text" => text;
        call: Option<CallSpec> = None => table;
        result: Option<ResultSpec> = None => table;
        /// Objects inside, as `PLACES > GROUP`: those of a list, or one by itself.
        each: &'static [Word] = &[], "leak::one_or_more" => objects;
        block: Option<BlockSpec> = None => table;
        /// Places of blocks that are named after their last key. A list is one block.
        blocks: &'static [Places] = &[], "leak::one_or_more" => json;
        /// An object that is a block if it has members that are no counts of the rule's.
        rest: Option<BlockSpec> = None => table;
        /// A record of another format, whose message is the row's. The rule applies only if there is one.
        wraps: Option<WrapSpec> = None => table;
        /// The calls that end.
        call_end: CallEnds = CallEnds::No, "call_end" => index;
        warn: Option<WarnSpec> = None => text;
        /// An event of another provider's, for `--raw`, or a member that no event has.
        provider_event: Places = "", "leak::text" => json;
        /// The objects of the counts, or lists of them, of which each is of another model.
        usage: &'static [Places] = &[], "leak::one_or_more" => json;
        /// What its counts are of, if not of the message as far as it has come.
        total: Total = Total::No, "total";
        finish: Places = "", "leak::text" => text;
        stop_sequence: Places = "", "leak::text" => text;
        /// The provider's error.
        error: Option<FailureSpec> = None, "failure" => table;
        /// The message has a reason to stop; what it cost may follow.
        stop: bool = false;
        end: End = End::No, "end" => json;
        /// What no word says. A user's row has none.
        #[serde(skip)]
        hook: Option<Hook> = None => json;
    }
}

/// A function for the object at a place. A row has at most one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hook {
    pub(crate) at: Places,
    pub(crate) run: fn(&Object<'_>, &mut Calls, &mut EventOut<'_>) -> io::Result<()>,
}

/// Whether a rule proves its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weak {
    No,
    Yes,
    /// Only if something stands here.
    Without(Places),
}

/// Whether records hold all of a text so far, or what is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cumulative {
    /// What is new.
    No,
    /// Either: the texts show which. A text beside others, and the one of a record with a reason to
    /// stop, may be all of it once more.
    Yes,
    /// All of it.
    Always,
}

/// What counts are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// The message as far as it has come: each count takes the place of the last one. Where a row has
    /// a rule for all of it, of a part.
    No,
    /// All of the message.
    Yes,
    /// One of the requests that made it: they are added up.
    Each,
}

/// The effect of a record on the beginning of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// None.
    No,
    /// It begins a message unless one is open, which has no beginning of its own.
    Late,
    /// It begins a message unless one is open.
    Yes,
    /// It begins a message unless one is open. One of another id is cut.
    Other,
    /// It begins a message. One that is open is cut; that of a log ends, with a warning.
    Cut,
}

/// The effect of a record on the end of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    No,
    Yes,
    /// It is the end if this flag is set.
    If(Places),
    /// It is the end if the message has stopped.
    Stopped,
}

/// The calls that a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallEnds {
    No,
    /// All of them.
    Yes,
    /// The one whose index or id stands here.
    Of(Places),
}

table! {
    /// Objects that stand in others: `each` leads to them.
    pub(crate) struct Group = NEW {
        #[serde(skip)]
        name: Word = "";
        kind: &'static [Places] = &[], "leak::one_or_more", default;
        /// True if each is a record of its own that stands in a string, as JSON.
        encoded: bool = false, default;
        /// True if each is a call, a block, or a piece of one, as the next request has it.
        native: bool = false, default;
        on: &'static [Rule] = &[], "leak::list";
    }

    /// What the rules' kinds leave open of a first record.
    #[serde(default)]
    pub(crate) struct DetectSpec = NEW {
        /// All of these stand in it. A row whose rules have no kinds needs one.
        has: &'static [Places] = &[], "leak::one_or_more";
        /// None of these stands in it.
        not: &'static [Places] = &[], "leak::one_or_more";
    }

    /// The meaning of `[DONE]`: it ends its message.
    pub(crate) struct DoneSpec = NEW {
        /// Must be true: a table, so that `warn` has a place.
        #[serde(rename = "ends")]
        _ends: () = (), "ends";
        /// The warning if that has not stopped.
        warn: Option<WarningCode> = None, "leak::some_word", default;
        /// The warning if it is missing after a message that has stopped.
        missing: Option<WarningCode> = None, "leak::some_word", default;
    }
}

placed! {
    /// A call, or a piece of one.
    #[serde(default)]
    pub(crate) struct CallSpec = NEW, ReadCall, spec: &'static CallSpec = identity {
        /// What its pieces have in common, if that is not their id.
        key: &'static [Places] = &[], "leak::one_or_more" => index;
        id: Places = "", "leak::text" => id;
        name: Places = "", "leak::text" => text;
        /// A string holds a piece of the arguments' JSON, any other value is all of them.
        arguments: Places = "", "leak::places" => json;
        /// A flag: the arguments are text.
        free: Places = "", "leak::text" => json;
        /// What the model wrote in place of arguments that can be read.
        invalid: Places = "", "leak::text" => json;
        /// A flag: the provider runs the tool.
        provider: Places = "", "leak::text" => json;
        signature: Places = "", "leak::text" => text;
        /// The provider's second id, of the item that the call is.
        item: Places = "", "leak::text" => text;
        /// The set of tools that the name is of.
        namespace: Places = "", "leak::text" => text;
        /// The provider's type of the call, if it is no plain function.
        #[serde(rename = "type")]
        of_type: Places = "", "leak::text" => text;
        /// The call goes on in such records until there is another.
        until: bool = false, "other";
    }

    /// A tool's result. That of a block comes in pieces, which are lists, or whole; then it is null if
    /// it never comes.
    #[serde(default)]
    pub(crate) struct ResultSpec = NEW, ReadResult, spec: &'static ResultSpec = identity {
        /// There is one only if this flag is set.
        #[serde(rename = "if")]
        condition: Places = "", "leak::text" => json;
        id: Places = "", "leak::text" => id;
        /// `call:` is the name of the log's last call.
        name: Places = "", "leak::text" => text;
        output: Places = "", "leak::places" => json;
        is_error: Places = "", "leak::text" => json;
        is_ok: Places = "", "leak::text" => json;
    }

    /// A record of another format, as an object or as JSON in a string.
    pub(crate) struct WrapSpec = NEW, ReadWrap, spec: &'static WrapSpec = identity {
        at: Places = "", "leak::text" => json;
        /// The formats that it may be in. The first record of a message says which.
        formats: &'static [Word] = &[], "leak::one_or_more";
    }

    /// A value without an event of its own. If it is a list, each element is one.
    #[serde(default)]
    pub(crate) struct BlockSpec = NEW, ReadBlock, spec: &'static BlockSpec = identity {
        name: Places = "", "leak::text" => text;
        at: Places = "", "leak::text" => json;
        /// Text in place of a value.
        text: Places = "", "leak::text" => text;
    }
}

/// A warning.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarnSpec {
    #[serde(deserialize_with = "leak::word")]
    pub(crate) code: WarningCode,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) text: Places,
}

impl Placed for WarnSpec {
    type Read = Place;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Place {
        self.text.read(wanted, reader)
    }
}

impl Placed for Hook {
    type Read = Place;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Place {
        self.at.read(wanted, reader)
    }
}

impl Placed for End {
    type Read = Place;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Place {
        match self {
            End::If(places) => places.read(wanted, reader),
            End::No | End::Yes | End::Stopped => Place::default(),
        }
    }
}

impl Placed for CallEnds {
    type Read = Place;

    fn read(&'static self, wanted: Wanted, reader: &mut PlaceReader<'_>) -> Place {
        match self {
            CallEnds::Of(places) => places.read(wanted, reader),
            CallEnds::No | CallEnds::Yes => Place::default(),
        }
    }
}

impl Spec {
    /// True if who sends its calls runs them, or may.
    pub(crate) fn may_run_calls(&self) -> bool {
        self.log.is_some() || self.hold || self.executor.is_some()
    }

    /// Returns the number of the group of a name.
    pub(crate) fn group(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.name == name)
    }

    /// Returns every rule, with the name of its group; that of a record's is empty.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (Word, &'static Rule)> {
        let of_groups = self.groups.iter().map(|group| (group.name, group.on));
        let all = std::iter::once(("", self.on)).chain(of_groups);
        all.flat_map(|(name, on)| on.iter().map(move |rule| (name, rule)))
    }

    /// Returns every rule, and how what it holds may come: it says that it is whole, or a rule that
    /// leads to it.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (&'static Rule, Extents)> {
        self.extents_beside(|_| false)
    }

    /// Returns every rule but these, and how what it holds may come by the others.
    pub(crate) fn extents_beside(
        &self,
        left_out: fn(&Rule) -> bool,
    ) -> impl Iterator<Item = (&'static Rule, Extents)> {
        let rules = move || self.rules().filter(move |(_, rule)| !left_out(rule));
        let mut groups = BTreeSet::from([("", false)]);
        let extents = |groups: &BTreeSet<(Word, bool)>, name, rule: &Rule| Extents {
            whole: rule.whole || groups.contains(&(name, true)),
            in_pieces: !rule.whole && rule.at.is_empty() && groups.contains(&(name, false)),
        };
        loop {
            let known = groups.len();
            for (name, rule) in rules() {
                let Extents { whole, in_pieces } = extents(&groups, name, rule);
                let leads = || rule.each.iter().filter_map(|each| split_each(each));
                groups.extend(leads().filter(|_| whole).map(|(_, name)| (name, true)));
                groups.extend(leads().filter(|_| in_pieces).map(|(_, name)| (name, false)));
            }
            if groups.len() == known {
                return rules().map(move |(name, rule)| (rule, extents(&groups, name, rule)));
            }
        }
    }
}

/// How what a rule holds may come, as it says itself and the rules that lead to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    pub(crate) whole: bool,
    /// In pieces, which are of no block or part.
    pub(crate) in_pieces: bool,
}

/// The kind of a rule for all objects.
pub(crate) const ANY: Word = "*";

impl Rule {
    /// True if it names kinds.
    pub(crate) fn is_named(&self) -> bool {
        self.kind != ANY && !self.kind.is_empty()
    }

    /// True if it asks anything of an object: a kind, or what stands in it.
    pub(crate) fn asks(&self) -> bool {
        self.is_named() || !self.has.is_empty() || !self.is.is_empty() || self.wraps.is_some()
    }

    /// True if it is of records that hold all of a message and end it.
    pub(crate) fn is_message(&self) -> bool {
        self.whole && self.end == End::Yes
    }

    /// True if it is of objects of this kind.
    pub(crate) fn is_of(&self, kind: &str) -> bool {
        paths(self.kind).any(|word| fits(word, kind))
    }
}

/// What a rule holds.
#[derive(Clone, Copy, Default)]
pub(in crate::format) struct RuleContent {
    /// Something of what the model wrote, beside a call or a result.
    pub(in crate::format) more_than_calls: bool,
    /// Something of what the model wrote, or the beginning of a message.
    pub(in crate::format) content: bool,
    /// Text and nothing else, in objects of some kinds.
    pub(in crate::format) only_text: bool,
    /// Pieces in objects inside and nothing else, in objects of some kinds.
    pub(in crate::format) only_inside: bool,
    /// Nothing, but that a record is known: text does not go on over it.
    pub(in crate::format) nothing: bool,
    /// What begins a log's message: the model wrote it in the object itself, and not only in objects
    /// inside.
    pub(in crate::format) log_start: bool,
    /// All of a message, and why it stopped.
    pub(in crate::format) body: bool,
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

/// True if the keys of an object's members are the words for their kinds.
pub(crate) fn is_keyed(kind: &[Places]) -> bool {
    kind.iter().any(|places| places.ends_with("key:"))
}

/// True if a kind is this word, which may begin or end with `*`.
pub(crate) fn fits(word: &str, kind: &str) -> bool {
    match (word.strip_suffix('*'), word.strip_prefix('*')) {
        (Some(start), _) => kind.starts_with(start),
        (None, Some(end)) => kind.ends_with(end),
        (None, None) => word == kind,
    }
}

/// True if a word is one of some, with `|` between them, each of which may begin or end with `*`.
pub(crate) fn is_one_of(words: &str, found: &str) -> bool {
    paths(words).any(|word| fits(word, found))
}

/// Returns the paths of some places, or the words of a kind.
pub(crate) fn paths(places: &str) -> impl Iterator<Item = &str> {
    let bars = memchr::memchr_iter(b'|', places.as_bytes()).chain([places.len()]);
    let mut start = 0;
    bars.map(move |end| places.within(mem::replace(&mut start, end + 1)..end))
}

/// Returns a path without its type test, and the first bytes of a value of that type; none, if it
/// has no test.
pub(crate) fn split_test(path: &str) -> (&str, &'static str) {
    let tests = [("{}", "{"), ("[]", "["), ("\"\"", "\""), ("?", "tf")];
    let found =
        tests.into_iter().find_map(|(test, begins)| Some((path.strip_suffix(test)?, begins)));
    found.unwrap_or((path, ""))
}

/// Returns some places without the words of a flag, and these.
pub(crate) fn split_flag(places: &str) -> (&str, Option<&str>) {
    let flag = places.split_once('=').filter(|_| !places.starts_with(['\'', '{']));
    flag.map_or((places, None), |(places, words)| (places, Some(words)))
}

/// True, false, or a word.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false or a word")]
enum FlagOrWord {
    Flag(bool),
    Word(String),
}

/// Reads true, false, or one of some words; `field` is what says it.
fn flag_or<'de, D: Deserializer<'de>, T: Copy>(
    from: D,
    field: &str,
    [no, yes]: [T; 2],
    words: &[(&str, T)],
) -> Result<T, D::Error> {
    let word = match FlagOrWord::deserialize(from)? {
        FlagOrWord::Flag(flag) => return Ok(if flag { yes } else { no }),
        FlagOrWord::Word(word) => word,
    };
    let known = words.iter().find(|(known, _)| *known == word).map(|(_, said)| *said);
    known.ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(known, _)| format!("\"{known}\"")).collect();
        D::Error::custom(format!("`{field}` is true, false or {}", words.join(" or ")))
    })
}

/// Reads `begin`.
fn begin<'de, D: Deserializer<'de>>(from: D) -> Result<Begin, D::Error> {
    let words = [("other", Begin::Other), ("cut", Begin::Cut)];
    flag_or(from, "begin", [Begin::No, Begin::Yes], &words)
}

/// Reads `cumulative`.
fn cumulative<'de, D: Deserializer<'de>>(from: D) -> Result<Cumulative, D::Error> {
    let words = [("always", Cumulative::Always)];
    flag_or(from, "cumulative", [Cumulative::No, Cumulative::Yes], &words)
}

/// Reads `total`.
fn total<'de, D: Deserializer<'de>>(from: D) -> Result<Total, D::Error> {
    flag_or(from, "total", [Total::No, Total::Yes], &[("each", Total::Each)])
}

/// Reads `end`.
fn end<'de, D: Deserializer<'de>>(from: D) -> Result<End, D::Error> {
    Ok(match FlagOrWord::deserialize(from)? {
        FlagOrWord::Flag(true) => End::Yes,
        FlagOrWord::Flag(false) => End::No,
        FlagOrWord::Word(word) if word == "stopped" => End::Stopped,
        FlagOrWord::Word(word) if matches!(word.as_str(), "true" | "false") => {
            let message = format!("`end` is {word} without quotes, \"stopped\" or a place");
            return Err(D::Error::custom(message));
        }
        FlagOrWord::Word(places) => End::If(places.leak()),
    })
}

/// Reads true, false, or places.
fn flag_or_places<'de, D: Deserializer<'de>, T>(
    from: D,
    [no, yes]: [T; 2],
    of: fn(Places) -> T,
) -> Result<T, D::Error> {
    Ok(match FlagOrWord::deserialize(from)? {
        FlagOrWord::Flag(true) => yes,
        FlagOrWord::Flag(false) => no,
        FlagOrWord::Word(places) => of(places.leak()),
    })
}

/// Reads `call_end`.
fn call_end<'de, D: Deserializer<'de>>(from: D) -> Result<CallEnds, D::Error> {
    flag_or_places(from, [CallEnds::No, CallEnds::Yes], CallEnds::Of)
}

/// Reads `weak`.
fn weak<'de, D: Deserializer<'de>>(from: D) -> Result<Weak, D::Error> {
    flag_or_places(from, [Weak::No, Weak::Yes], Weak::Without)
}

/// Reads `ends`.
fn ends<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    let wrong = || D::Error::custom("`done` has no other meaning than `ends = true`");
    bool::deserialize(from)?.then_some(()).ok_or_else(wrong)
}

/// Reads the provider's error: its place, or a table.
fn failure<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FailureSpec>, D::Error> {
    struct PlaceOrTable;
    impl<'de> Visitor<'de> for PlaceOrTable {
        type Value = FailureSpec;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a place, or a table of `at`, `message`, `code` and `last`")
        }

        fn visit_str<E: Error>(self, at: &str) -> Result<FailureSpec, E> {
            Ok(FailureSpec { at: at.to_owned().leak(), ..FailureSpec::NEW })
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<FailureSpec, A::Error> {
            FailureSpec::deserialize(MapAccessDeserializer::new(table))
        }
    }
    from.deserialize_any(PlaceOrTable).map(Some)
}

/// Reads the reasons to stop that mean another thing.
fn reasons<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [(Word, FinishReason)], D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct WordedReason(#[serde(deserialize_with = "leak::word")] FinishReason);
    let words = BTreeMap::<String, WordedReason>::deserialize(from)?.into_iter();
    let words = words.map(|(word, WordedReason(reason))| (&*word.leak(), reason));
    Ok(words.collect::<Vec<_>>().leak())
}

/// Reads groups, by their names: the rules of each, or a table.
fn groups<'de, D: Deserializer<'de>>(from: D) -> Result<&'static [Group], D::Error> {
    struct RulesOrTable;
    impl<'de> Visitor<'de> for RulesOrTable {
        type Value = Group;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of rules, or a table of `kind`, `encoded`, `native` and `on`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, rules: A) -> Result<Group, A::Error> {
            Ok(Group { on: leak::list(SeqAccessDeserializer::new(rules))?, ..Group::NEW })
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Group, A::Error> {
            Group::deserialize(MapAccessDeserializer::new(table))
        }
    }
    struct NamelessGroup(Group);
    impl<'de> Deserialize<'de> for NamelessGroup {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            from.deserialize_any(RulesOrTable).map(NamelessGroup)
        }
    }
    let groups = BTreeMap::<String, NamelessGroup>::deserialize(from)?.into_iter();
    let named = |(name, NamelessGroup(group)): (String, _)| Group { name: name.leak(), ..group };
    Ok(groups.map(named).collect::<Vec<_>>().leak())
}

/// Reads the members that may differ where the last record is repeated.
fn repeatable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'static Repeatable>, D::Error> {
    let unread = leak::one_or_more(from)?;
    let repeatable = || &*Box::leak(Box::new(Repeatable { unread, ..Repeatable::TEXT }));
    Ok((!unread.is_empty()).then(repeatable))
}

/// The places of the counts.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Counts {
    input: String,
    output: String,
    total: String,
    cached: String,
    cache_write: String,
    reasoning: String,
    keep: Vec<String>,
}

/// Reads the places of the counts; `+` is between those that make a sum, and `keep` has those that
/// are only passed on.
fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<&'static [usage::CountRule], D::Error> {
    let counts = Counts::deserialize(from)?;
    let fields: [(String, &'static [Field]); 6] = [
        (counts.input, &[Field::Input]),
        (counts.output, &[Field::Output]),
        (counts.total, &[Field::Total]),
        (counts.cached, &[Field::Cached]),
        (counts.cache_write, &[Field::CacheWrite]),
        (counts.reasoning, &[Field::Reasoning]),
    ];
    let mut rows: Vec<usage::CountRule> = Vec::new();
    for (places, fields) in fields {
        let op = if places.contains('+') { Op::Adds } else { Op::Is };
        let terms = places.split('+').map(str::trim).filter(|place| !place.is_empty());
        rows.extend(terms.map(|place| (&*place.to_owned().leak(), op, fields)));
    }
    rows.extend(counts.keep.into_iter().map(|place| (&*place.leak(), Op::Is, &[][..])));
    Ok(rows.leak())
}

/// Reads `until`.
fn other<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    only_word(from, "other")
}

/// Reads `part`.
fn new<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    only_word(from, "new")
}

/// Reads a flag that one word sets.
fn only_word<'de, D: Deserializer<'de>>(from: D, known: &str) -> Result<bool, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || D::Error::custom(format!("the only word is \"{known}\""));
    (word == known).then_some(true).ok_or_else(wrong)
}
