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
//! | `kind:*` | of a member whose key is its kind, what the `*` of the rule's word stands for |
//! | `data:` | the frame's data as they are, which are read as text and not as JSON |
//! | `a=b\|c` | a flag: one of these words stands there |
//! | `a + 'word' + b` | a text made of places |
//! | `{a: b, c: d}` | an object made of places |

use std::{io, mem};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::cut::Cut as _;
use crate::event::{Executor, FinishReason, WarningCode};
use crate::format::repeatable::Repeatable;
use crate::format::support::calls::Calls;
use crate::format::support::emit::EventOut;
use crate::format::support::object::Object;
use crate::format::support::usage;
use crate::leak;

/// The places of a value.
pub(crate) type Places = &'static str;

/// A word of a row. Built-in rows are part of the program; a user's is loaded once and never freed.
pub(crate) type Word = &'static str;

/// A description of a format in place of code: see [`load`](crate::format::load()).
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub(crate) spec: &'static Spec,
    pub(crate) toml: &'static str,
}

impl Row {
    /// Returns the TOML file that describes the format.
    pub fn toml(&self) -> &'static str {
        self.toml
    }
}

/// A format as a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) name: Word,
    pub(crate) aliases: &'static [Word],
    pub(crate) about: Word,
    pub(crate) link: Word,
    /// Members of a first record that set it apart, for people.
    pub(crate) evidence: &'static [Word],
    /// The beginnings of lines that an agent prints before its log, on the same standard output.
    pub(crate) banners: &'static [Word],
    /// The places of the words that say what a record is, joined by `/`. `event:` is the name of
    /// its frame; with `key:`, each member of the record that a rule names is a record of that
    /// kind.
    pub(crate) kind: &'static [Places],
    pub(crate) start: StartSpec,
    /// Members that any record may have, for the next start.
    pub(crate) session: StartSpec,
    pub(crate) detect: DetectSpec,
    pub(crate) done: Option<DoneSpec>,
    /// True if whoever sends a whole call may run it too: it waits for its result, or for a rule
    /// with `release`.
    pub(crate) hold: bool,
    /// Who runs its calls, if not the caller.
    pub(crate) executor: Option<Executor>,
    pub(crate) log: Option<LogSpec>,
    /// Reasons to stop that mean another thing in this format.
    pub(crate) finish_words: &'static [(Word, FinishReason)],
    /// The first that applies says what a record is. A record to which none applies is an error of
    /// any provider's, or unknown.
    pub(crate) on: &'static [Rule],
    pub(crate) groups: &'static [Group],
    pub(crate) usage: &'static [usage::Row],
    /// What may differ in a record that repeats the last one, if more than its text: `unread`, strings
    /// and numbers that no rule reads.
    pub(crate) repeatable: Option<&'static Repeatable>,
}

/// What the beginning of a message says.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StartSpec {
    #[serde(deserialize_with = "leak::text")]
    pub(crate) id: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) model: Places,
    /// The time at which the message was begun: a number of seconds, or a date.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) created: Places,
    /// The warning if a message has no beginning of its own.
    #[serde(deserialize_with = "leak::some_word")]
    pub(crate) late: Option<WarningCode>,
}

/// What the rules' kinds leave open of a first record.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DetectSpec {
    /// All of these stand in it. A row whose rules have no kinds needs one.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) has: &'static [Places],
    /// None of these stands in it.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) not: &'static [Places],
}

/// The meaning of `[DONE]`: it ends its message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoneSpec {
    /// The warning if that has not stopped.
    pub(crate) warn: Option<WarningCode>,
    /// The warning if it is missing after a message that has stopped.
    pub(crate) missing: Option<WarningCode>,
}

/// What an agent's log says of its conversation. A prompt and all that follows it, up to the next
/// one, is a message, however often the model was asked. The end of the input is the end of the
/// last one; what the model gives as a reason to stop is only noted until then. The agent ran all
/// calls. A call whose id is known and has no result, and a second result, say a thing again.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogSpec {
    /// Messages have an end of their own: one without it is cut.
    pub(crate) ends: bool,
    /// The counts of a message are those of its session so far.
    pub(crate) cumulative: bool,
    /// A flag: a record is a subagent's. It is passed over, unless the first one is: then the log
    /// is that subagent's.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) subagent: Places,
}

/// Objects that stand in others: `each` leads to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) name: Word,
    pub(crate) kind: &'static [Places],
    /// True if each is a record of its own that stands in a string, as JSON.
    pub(crate) encoded: bool,
    /// True if each is a call, a block, or a piece of one, as the next request has it.
    pub(crate) native: bool,
    pub(crate) on: &'static [Rule],
}

/// The meaning of the objects of some kinds. What it emits comes in the order of its fields.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rule {
    /// The kinds, with `|` between them: words, which may begin or end with `*`. Empty for objects
    /// without a kind; missing for all.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) kind: Word,
    /// The rule applies only if something stands at each of these.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) has: &'static [Places],
    /// And if nothing stands at any of these.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) not: &'static [Places],
    /// And if each of these places holds one of these words.
    #[serde(deserialize_with = "leak::pairs")]
    pub(crate) is: &'static [(Places, Word)],
    /// What else must stand there for a first record to prove the format.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) needs: &'static [Places],
    /// It applies to the first record of the input alone.
    pub(crate) first: bool,
    /// The rule proves no format: others have such records.
    pub(crate) weak: Weak,

    pub(crate) begin: Begin,
    /// It holds the user's words, which end a log's message, unless it holds results.
    pub(crate) prompt: bool,
    /// Calls that wait are the caller's to run.
    pub(crate) release: bool,
    /// The record goes on beside the answer, and ends nothing that goes on.
    pub(crate) aside: bool,
    /// True if what it holds is whole: calls end, and of a text only what is new is emitted.
    /// Groups inside have it too.
    pub(crate) whole: bool,
    /// True if it may hold all of a text or of a call so far, or what is new: the texts show which.
    /// A text beside others, and the one of a record with a reason to stop, may be all of it once
    /// more. Groups inside have it too.
    pub(crate) cumulative: bool,
    /// What its texts repeat, in a log. `all`: the message, if that has any text. `pieces`: a whole
    /// text says once more what its pieces said, which have this word as well. Any other word: a
    /// text comes both from these records and from those without the word, in either order.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) origin: Word,
    /// The channel beside the answer that its text is on.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) channel: Word,
    /// The number of the choice that it is of, as are the objects inside. Where a row has choices,
    /// its message has stopped when all of them have.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) choice: Places,
    /// The index or name of the block or part that it is of.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) at: &'static [Places],
    /// A block begins.
    pub(crate) open: bool,
    /// A block ends.
    pub(crate) close: bool,
    /// A new thought begins, apart from the last one.
    #[serde(deserialize_with = "new")]
    pub(crate) part: bool,
    /// The message that it is of, and who wrote that: what is not the assistant's is passed over.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) of: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) role: Places,

    /// The message, or a piece of it, as the next request has it.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) native: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) thought: Places,
    /// The text is passed over if this is true: a marker of the model's.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) hidden: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) text: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) refusal: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) signature: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) redacted: Places,
    pub(crate) call: Option<CallSpec>,
    pub(crate) result: Option<ResultSpec>,
    /// Objects inside, as `PLACES > GROUP`: those of a list, or one by itself.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) each: &'static [Word],
    pub(crate) block: Option<BlockSpec>,
    /// Places of blocks that are named after their last key. A list is one block.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) blocks: &'static [Places],
    /// An object that is a block if it has members that are no counts of the rule's.
    pub(crate) rest: Option<BlockSpec>,
    /// The index or id of a call that ends. Where the record has none, all calls end.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) call_end: Places,
    pub(crate) warn: Option<WarnSpec>,
    /// An event of another provider's, for `--raw`, or a member that no event has.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) provider_event: Places,
    /// The objects of the counts, or lists of them, of which each is of another model.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) usage: &'static [Places],
    /// The counts are those of all of the message. Where a row has such a rule, those of the others
    /// are of a part each.
    pub(crate) total: bool,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) finish: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) stop_sequence: Places,
    /// The provider's error.
    pub(crate) error: Option<FailureSpec>,
    /// The message has a reason to stop; what it cost may follow.
    pub(crate) stop: bool,
    pub(crate) end: End,
    /// What no word says. A user's row has none.
    #[serde(skip)]
    pub(crate) hook: Option<Hook>,
}

/// A function for the object at a place. A row has at most one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hook {
    pub(crate) at: Places,
    pub(crate) run: fn(&Object<'_>, &mut Calls, &mut EventOut<'_>) -> io::Result<()>,
}

/// The type that a place's value is read as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Text,
    Json,
    /// A number of at least 0, or a name.
    Index,
    /// An object, or a list of objects, of the group of this number.
    Group(usize),
    /// Whatever else it is.
    Something,
}

/// Whether a rule proves its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weak {
    No,
    Yes,
    /// Only if something stands here.
    Without(Places),
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
    /// It begins a message. One that is open is cut; that of a log ends, with a warning.
    Cut,
}

/// The effect of a record on the end of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    No,
    Yes,
    /// It is the end if anything but false stands here.
    If(Places),
    /// It is the end if the message has stopped.
    Stopped,
}

/// A call, or a piece of one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallSpec {
    /// What its pieces have in common, if that is not their id.
    #[serde(deserialize_with = "leak::one_or_more")]
    pub(crate) key: &'static [Places],
    #[serde(deserialize_with = "leak::text")]
    pub(crate) id: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) name: Places,
    /// A string holds a piece of the arguments' JSON, any other value is all of them.
    #[serde(deserialize_with = "leak::places")]
    pub(crate) arguments: Places,
    /// A flag: the arguments are text.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) free: Places,
    /// What the model wrote in place of arguments that can be read.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) invalid: Places,
    /// A flag: the provider runs the tool.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) provider: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) signature: Places,
    /// The provider's second id, of the item that the call is.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) item: Places,
    /// The set of tools that the name is of.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) namespace: Places,
    /// The provider's type of the call, if it is no plain function.
    #[serde(rename = "type", deserialize_with = "leak::text")]
    pub(crate) of_type: Places,
    /// The call goes on in such records until there is another.
    #[serde(deserialize_with = "other")]
    pub(crate) until: bool,
}

/// A tool's result.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ResultSpec {
    /// There is one only if this flag is set.
    #[serde(rename = "if", deserialize_with = "leak::text")]
    pub(crate) condition: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) id: Places,
    /// `call:` is the name of the log's last call.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) name: Places,
    #[serde(deserialize_with = "leak::places")]
    pub(crate) output: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) is_error: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) is_ok: Places,
}

/// A value without an event of its own. If it is a list, each element is one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BlockSpec {
    #[serde(deserialize_with = "leak::text")]
    pub(crate) name: Places,
    #[serde(deserialize_with = "leak::text")]
    pub(crate) at: Places,
    /// Text in place of a value.
    #[serde(deserialize_with = "leak::text")]
    pub(crate) text: Places,
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

/// A provider's error. Without a message and a code, they are looked for where providers have
/// them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailureSpec {
    pub(crate) at: Places,
    pub(crate) message: Places,
    pub(crate) code: Places,
    /// It is an error only if nothing comes after it. The agent may overcome it, and there is a
    /// warning.
    pub(crate) last: bool,
}

impl Spec {
    /// A row that says nothing.
    pub(crate) const NEW: Spec = Spec {
        name: "",
        aliases: &[],
        about: "",
        link: "",
        evidence: &[],
        banners: &[],
        kind: &[],
        start: StartSpec::NEW,
        session: StartSpec::NEW,
        detect: DetectSpec::NEW,
        done: None,
        hold: false,
        executor: None,
        log: None,
        finish_words: &[],
        on: &[],
        groups: &[],
        usage: &[],
        repeatable: None,
    };
}

impl DetectSpec {
    pub(crate) const NEW: DetectSpec = DetectSpec { has: &[], not: &[] };
}

impl StartSpec {
    pub(crate) const NEW: StartSpec = StartSpec { id: "", model: "", created: "", late: None };
}

impl Spec {
    /// True if no rule says when a call that comes in pieces is whole. Then its message does.
    pub(crate) fn leaves_calls_open(&self) -> bool {
        let says = |rule: &Rule| {
            rule.whole
                || rule.cumulative
                || rule.close
                || !rule.call_end.is_empty()
                || !rule.choice.is_empty()
                || rule.call.is_some_and(|call| call.until)
        };
        let rules = || self.on.iter().chain(self.groups.iter().flat_map(|group| group.on));
        !self.hold
            && self.log.is_none()
            && rules().any(|rule| rule.call.is_some())
            && !rules().any(says)
    }
}

impl DoneSpec {
    pub(crate) const NEW: DoneSpec = DoneSpec { warn: None, missing: None };
}

impl LogSpec {
    pub(crate) const NEW: LogSpec = LogSpec { ends: false, cumulative: false, subagent: "" };
}

impl Group {
    pub(crate) const NEW: Group =
        Group { name: "", kind: &[], encoded: false, native: false, on: &[] };
}

/// The kind of a rule for all objects.
pub(crate) const ANY: Word = "*";

impl Rule {
    /// A rule that applies to all objects and passes them over.
    pub(crate) const NEW: Rule = Rule {
        kind: ANY,
        has: &[],
        not: &[],
        is: &[],
        needs: &[],
        first: false,
        weak: Weak::No,
        begin: Begin::Late,
        prompt: false,
        release: false,
        aside: false,
        whole: false,
        cumulative: false,
        origin: "",
        channel: "",
        choice: "",
        at: &[],
        open: false,
        close: false,
        part: false,
        of: "",
        role: "",
        native: "",
        thought: "",
        hidden: "",
        text: "",
        refusal: "",
        signature: "",
        redacted: "",
        call: None,
        result: None,
        each: &[],
        block: None,
        blocks: &[],
        rest: None,
        call_end: "",
        warn: None,
        provider_event: "",
        usage: &[],
        total: false,
        finish: "",
        stop_sequence: "",
        error: None,
        stop: false,
        end: End::No,
        hook: None,
    };

    /// True if it names kinds.
    pub(crate) fn is_named(&self) -> bool {
        self.kind != ANY && !self.kind.is_empty()
    }

    /// True if it asks anything of an object: a kind, or what stands in it.
    pub(crate) fn asks(&self) -> bool {
        self.is_named() || !self.has.is_empty() || !self.is.is_empty()
    }

    /// True if it is of a message that comes at once, and says why it stopped.
    pub(crate) fn is_body(&self) -> bool {
        self.whole && self.end == End::Yes && !self.finish.is_empty()
    }

    /// True if it is of objects of this kind.
    pub(crate) fn is_of(&self, kind: &str) -> bool {
        paths(self.kind).any(|word| fits(word, kind))
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

/// Returns the places of an `each`, and the name of the group that it leads to.
pub(crate) fn split_each(each: Word) -> Option<(Places, Word)> {
    each.split_once('>').map(|(places, name)| (places.trim_ascii(), name.trim_ascii()))
}

impl CallSpec {
    pub(crate) const NEW: CallSpec = CallSpec {
        key: &[],
        id: "",
        name: "",
        arguments: "",
        free: "",
        invalid: "",
        provider: "",
        signature: "",
        item: "",
        namespace: "",
        of_type: "",
        until: false,
    };
}

impl BlockSpec {
    pub(crate) const NEW: BlockSpec = BlockSpec { name: "", at: "", text: "" };
}

impl ResultSpec {
    pub(crate) const NEW: ResultSpec =
        ResultSpec { condition: "", id: "", name: "", output: "", is_error: "", is_ok: "" };
}

impl FailureSpec {
    pub(crate) const NEW: FailureSpec = FailureSpec { at: "", message: "", code: "", last: false };
}

impl Rule {
    /// True if it holds something of what the model wrote, or begins a message.
    pub(crate) fn is_content(&self) -> bool {
        let texts = [self.thought, self.text, self.refusal, self.signature, self.redacted];
        texts.iter().any(|places| !places.is_empty())
            || self.call.is_some()
            || self.hook.is_some()
            || self.result.is_some()
            || !self.each.is_empty()
            || self.error.is_some()
            || self.begin != Begin::Late
    }

    /// True if it begins a log's message: it holds what the model wrote by itself, and not only in
    /// objects inside.
    pub(crate) fn begins_log(&self) -> bool {
        let inside = Rule { each: &[], ..*self };
        !self.prompt && (inside.is_content() || self.block.is_some() || self.end != End::No)
    }

    /// True if it says nothing of a record but that it is known: text does not go on over it.
    pub(crate) fn is_seam(&self) -> bool {
        !self.is_content()
            && self.block.is_none()
            && self.blocks.is_empty()
            && self.usage.is_empty()
            && self.finish.is_empty()
            && self.provider_event.is_empty()
    }

    /// Calls `see` with each place of the rule, and what is wanted there, but for those of `each`.
    /// What only has to stand there comes last.
    pub(crate) fn each_place(&'static self, see: &mut dyn FnMut(Places, Wanted)) {
        use Wanted::{Index, Json, Something, Text};
        let mut all = |places: &[Places], wanted| places.iter().for_each(|it| see(it, wanted));
        all(&[self.thought, self.text, self.refusal, self.signature, self.redacted], Text);
        all(&[self.of, self.role, self.finish, self.stop_sequence], Text);
        all(&[self.choice], Index);
        all(self.at, Index);
        if let Some(call) = &self.call {
            all(call.key, Index);
            all(&[call.id, call.name, call.signature], Text);
            all(&[call.item, call.namespace, call.of_type], Text);
            all(&[call.arguments, call.free, call.invalid, call.provider], Json);
        }
        if let Some(result) = &self.result {
            all(&[result.id, result.name], Text);
            all(&[result.condition, result.output, result.is_error, result.is_ok], Json);
        }
        for block in self.block.iter().chain(&self.rest) {
            all(&[block.name, block.text], Text);
            all(&[block.at], Json);
        }
        if let Some(warn) = &self.warn {
            all(&[warn.text], Text);
        }
        if let Some(error) = &self.error {
            all(&[error.at, error.message, error.code], Json);
        }
        if let Some(hook) = &self.hook {
            all(&[hook.at], Json);
        }
        all(self.blocks, Json);
        all(self.usage, Json);
        all(&[self.native, self.hidden, self.provider_event], Json);
        all(&[self.call_end], Index);
        if let End::If(places) = self.end {
            all(&[places], Json);
        }
        self.is.iter().for_each(|(places, _)| all(&[places], Json));
        all(self.has, Something);
        all(self.not, Something);
    }
}

macro_rules! default {
    ($($Type:ident),*) => {$(
        impl Default for $Type {
            fn default() -> Self {
                $Type::NEW
            }
        }
    )*};
}

default!(StartSpec, DetectSpec, LogSpec, Rule, CallSpec, ResultSpec, BlockSpec);

/// True, false, or a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum FlagOrWord {
    Flag(bool),
    Word(String),
}

impl<'de> Deserialize<'de> for Begin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match FlagOrWord::deserialize(deserializer)? {
            FlagOrWord::Flag(true) => Ok(Begin::Yes),
            FlagOrWord::Flag(false) => Ok(Begin::No),
            FlagOrWord::Word(word) if word == "cut" => Ok(Begin::Cut),
            FlagOrWord::Word(_) => Err(D::Error::custom("`begin` is true, false or \"cut\"")),
        }
    }
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match FlagOrWord::deserialize(deserializer)? {
            FlagOrWord::Flag(true) => End::Yes,
            FlagOrWord::Flag(false) => End::No,
            FlagOrWord::Word(word) if word == "stopped" => End::Stopped,
            FlagOrWord::Word(places) => End::If(places.leak()),
        })
    }
}

impl<'de> Deserialize<'de> for Weak {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match FlagOrWord::deserialize(deserializer)? {
            FlagOrWord::Flag(true) => Weak::Yes,
            FlagOrWord::Flag(false) => Weak::No,
            FlagOrWord::Word(places) => Weak::Without(places.leak()),
        })
    }
}

impl<'de> Deserialize<'de> for DoneSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            ends: bool,
            #[serde(default, deserialize_with = "leak::some_word")]
            warn: Option<WarningCode>,
            #[serde(default, deserialize_with = "leak::some_word")]
            missing: Option<WarningCode>,
        }
        let Fields { ends, warn, missing } = Fields::deserialize(deserializer)?;
        if ends {
            return Ok(DoneSpec { warn, missing });
        }
        Err(D::Error::custom("`done` has no other meaning than `ends = true`"))
    }
}

impl<'de> Deserialize<'de> for FailureSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            at: String,
            #[serde(default, deserialize_with = "leak::text")]
            message: Places,
            #[serde(default, deserialize_with = "leak::text")]
            code: Places,
            #[serde(default)]
            last: bool,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum PlaceOrTable {
            At(String),
            Table(Fields),
        }
        Ok(match PlaceOrTable::deserialize(deserializer)? {
            PlaceOrTable::At(at) => FailureSpec { at: at.leak(), ..FailureSpec::NEW },
            PlaceOrTable::Table(Fields { at, message, code, last }) => {
                FailureSpec { at: at.leak(), message, code, last }
            }
        })
    }
}

/// Reads `until`.
fn other<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    only_word(deserializer, "other")
}

/// Reads `part`.
fn new<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    only_word(deserializer, "new")
}

/// Reads a flag that one word sets.
fn only_word<'de, D: Deserializer<'de>>(deserializer: D, known: &str) -> Result<bool, D::Error> {
    let word = String::deserialize(deserializer)?;
    let wrong = || D::Error::custom(format!("the only word is \"{known}\""));
    (word == known).then_some(true).ok_or_else(wrong)
}
