//! A dialect's row with its patterns parsed.

use std::sync::{Arc, LazyLock};

use crate::dialect::rows::tags;
use crate::dialect::spec::{Body, Call, Dialect, Ends, Parameters, Region, Role, Section, TagRole};
use crate::scan::{MarkerPlace, Pattern};

/// A dialect whose patterns have been parsed.
pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    pub(crate) regions: Vec<Arc<RegionForm>>,
    pub(crate) sections: Vec<Arc<SectionForm>>,
    pub(crate) calls: Vec<Arc<CallForm>>,
    pub(crate) drops: Vec<Pattern>,
    /// What the results of its calls begin with.
    pub(crate) results: Option<Pattern>,
    /// What they stand between, if both ends of it are told from prose.
    pub(crate) result_tags: Option<[Pattern; 2]>,
    doubts: Vec<DoubtForm>,
}

/// The tokens that end a message in any dialect.
pub(crate) static ENDS: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::parse_all(tags::END_TOKENS));

/// What a body in JSON begins with.
static JSON: LazyLock<Vec<Pattern>> =
    LazyLock::new(|| Pattern::parse_all(&["{", "[{ws}{", "[{ws}]"]));

pub(crate) struct RegionForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) role: Role,
    /// The channel of its text, or the block's name; empty if it has none.
    pub(crate) name: &'static str,
    pub(crate) ends: Ends,
    /// True if it is a thought whose closer closes nothing else: a call in it is a draft.
    pub(crate) may_close_late: bool,
}

pub(crate) struct SectionForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) required: bool,
}

/// The first tag of the openers of calls, and what closes a call after it that can't be read.
pub(crate) struct DoubtForm {
    /// True if it is a section's.
    pub(crate) is_section: bool,
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
}

pub(crate) struct CallForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) body: Body,
    /// The tags around the values of its arguments, if it has any.
    pub(crate) value: Option<ValueForm>,
    /// Patterns of which one must follow the opener; anything may if there is none.
    pub(crate) next: Vec<Pattern>,
    /// What begins another call in the same markup.
    pub(crate) again: Option<Pattern>,
    /// True if the row itself names what follows.
    pub(crate) has_own_next: bool,
    pub(crate) known: bool,
    pub(crate) narrated: bool,
}

/// The tags around one argument's value.
pub(crate) struct ValueForm {
    pub(crate) open: Pattern,
    pub(crate) close: Option<Pattern>,
    pub(crate) form: Parameters,
}

/// The grammars that a text may be in: one, or all that `auto` knows. Copies
/// share them.
#[derive(Clone)]
pub(crate) struct Grammars(Arc<[Grammar]>);

/// A grammar by its number in [`Grammars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GrammarId(usize);

/// A region by its grammar, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RegionId(pub(crate) GrammarId, usize);

/// A section by its grammar, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SectionId(pub(crate) GrammarId, usize);

/// A form of calls by its grammar, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) GrammarId, usize);

/// A first tag by its grammar, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DoubtId(pub(crate) GrammarId, usize);

impl Grammars {
    /// Parses the patterns of these rows. Skips a row that has a mistake: a test
    /// parses the built-in ones, and `load` a user's.
    pub(crate) fn new(rows: impl Iterator<Item = &'static Dialect>) -> Self {
        Grammars(rows.filter_map(|row| Grammar::new(row).ok()).collect())
    }

    /// All grammars with their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (GrammarId, &Grammar)> {
        self.0.iter().enumerate().map(|(number, grammar)| (GrammarId(number), grammar))
    }

    /// Returns the id of the only grammar; `None` if there are several.
    pub(crate) fn only(&self) -> Option<GrammarId> {
        (self.0.len() == 1).then_some(GrammarId(0))
    }

    pub(crate) fn get(&self, GrammarId(number): GrammarId) -> &Grammar {
        &self.0[number]
    }

    pub(crate) fn region(&self, id: RegionId) -> &Arc<RegionForm> {
        self.get(id.0).region(id)
    }

    pub(crate) fn section(&self, SectionId(grammar, number): SectionId) -> &Arc<SectionForm> {
        &self.get(grammar).sections[number]
    }

    pub(crate) fn call(&self, id: CallId) -> &Arc<CallForm> {
        self.get(id.0).call(id)
    }

    pub(crate) fn doubt(&self, DoubtId(grammar, number): DoubtId) -> &DoubtForm {
        &self.get(grammar).doubts[number]
    }
}

impl Grammar {
    /// Parses a dialect's patterns. Fails with a sentence that names the one
    /// that is wrong.
    pub(crate) fn new(row: &Dialect) -> Result<Self, String> {
        let mut grammar = Grammar {
            name: row.name,
            regions: Vec::new(),
            sections: Vec::new(),
            calls: Vec::new(),
            drops: row.drops.iter().map(|drop| Pattern::parse(drop)).collect::<Result<_, _>>()?,
            results: None,
            result_tags: None,
            doubts: Vec::new(),
        };
        row.regions.iter().try_for_each(|region| grammar.add_region(region))?;
        row.sections.iter().try_for_each(|section| grammar.add_section(section))?;
        row.calls.iter().try_for_each(|call| grammar.add_call(call))?;
        row.tags.iter().try_for_each(|tag| grammar.add_tag(tag.name, tag.role))?;
        if let Some((open, _)) = row.results.markers() {
            grammar.results = Some(Pattern::parse(open)?);
        }
        if let Some((open, close)) = row.result_tags() {
            grammar.result_tags = Some([Pattern::parse(open)?, Pattern::parse(close)?]);
        }
        grammar.find_thoughts();
        grammar.find_doubts();
        Ok(grammar)
    }

    /// Tells the thoughts that have a closer of their own.
    fn find_thoughts(&mut self) {
        let is_call = |close: &Pattern| {
            let sections = self.sections.iter().any(|section| section.close.contains(close));
            sections || self.calls.iter().any(|call| call.close.contains(close))
        };
        let is_answer = |close: &Pattern| {
            let mut others = self.regions.iter().filter(|form| form.role != Role::Reasoning);
            others.any(|form| form.close.contains(close))
        };
        let is_own = |close: &Pattern| !is_call(close) && !is_answer(close);
        let may_close_late = |form: &Arc<RegionForm>| {
            let is_thought = form.role == Role::Reasoning && form.ends != Ends::Closer;
            is_thought && !form.close.is_empty() && form.close.iter().all(is_own)
        };
        let found: Vec<bool> = self.regions.iter().map(may_close_late).collect();
        for (form, found) in self.regions.iter_mut().zip(found) {
            if let Some(form) = Arc::get_mut(form) {
                form.may_close_late = found;
            }
        }
    }

    /// Collects the first tags of openers. Where markers frame messages, the first tag tells
    /// nothing.
    fn find_doubts(&mut self) {
        if self.has_messages() {
            return;
        }
        let is_told = |call: &&Arc<CallForm>| {
            let is_narration = call.narrated && self.calls.iter().any(|call| !call.narrated);
            let is_empty = matches!(call.body, Body::Empty);
            let is_text = call.is_one_value() && call.open.first_tag() == call.open;
            !(call.known || is_narration || is_text || is_empty)
        };
        let calls = self.calls.iter().filter(is_told).map(|call| (&call.open, &call.close, false));
        let sections = self.sections.iter().map(|section| (&section.open, &section.close, true));
        let mut doubts: Vec<DoubtForm> = Vec::new();
        for (open, close, is_section) in calls.chain(sections) {
            for open in open.without_option().map(|open| open.first_tag()) {
                if !open.begins_tag() || open.place() != MarkerPlace::Any || close.is_empty() {
                    continue;
                }
                let close = close.iter().map(Pattern::last_tag);
                match doubts.iter_mut().find(|doubt| doubt.open == open) {
                    Some(doubt) => {
                        doubt.is_section |= is_section;
                        doubt.close.extend(close);
                    }
                    None => doubts.push(DoubtForm { is_section, open, close: close.collect() }),
                }
            }
        }
        self.doubts = doubts;
    }

    /// True if its markers frame messages.
    pub(crate) fn has_messages(&self) -> bool {
        self.regions.iter().any(|form| form.ends == Ends::Anything)
    }

    /// True if calls stand in sections, wherever the text is from.
    pub(crate) fn requires_sections(&self) -> bool {
        self.sections.iter().any(|section| section.required)
    }

    /// True if blocks stand inside its other regions.
    pub(crate) fn has_blocks(&self) -> bool {
        self.regions.iter().any(|region| region.role == Role::Block)
    }

    pub(crate) fn region(&self, RegionId(_, number): RegionId) -> &Arc<RegionForm> {
        &self.regions[number]
    }

    pub(crate) fn call(&self, CallId(_, number): CallId) -> &Arc<CallForm> {
        &self.calls[number]
    }

    /// True if a call of this form is narration in a thought.
    pub(crate) fn is_narration(&self, id: CallId) -> bool {
        self.call(id).narrated && self.calls.iter().any(|call| !call.narrated)
    }

    /// The regions with their ids, where this grammar has the id `id`.
    pub(crate) fn regions(
        &self,
        id: GrammarId,
    ) -> impl Iterator<Item = (RegionId, &Arc<RegionForm>)> {
        self.regions.iter().enumerate().map(move |(number, form)| (RegionId(id, number), form))
    }

    /// The sections with their ids, where this grammar has the id `id`.
    pub(crate) fn sections(
        &self,
        id: GrammarId,
    ) -> impl Iterator<Item = (SectionId, &Arc<SectionForm>)> {
        self.sections.iter().enumerate().map(move |(number, form)| (SectionId(id, number), form))
    }

    /// The first tags of openers with their ids, where this grammar has the id `id`.
    pub(crate) fn doubts(&self, id: GrammarId) -> impl Iterator<Item = (DoubtId, &DoubtForm)> {
        self.doubts.iter().enumerate().map(move |(number, form)| (DoubtId(id, number), form))
    }

    /// The forms of calls with their ids, where this grammar has the id `id`.
    pub(crate) fn calls(&self, id: GrammarId) -> impl Iterator<Item = (CallId, &Arc<CallForm>)> {
        self.calls.iter().enumerate().map(move |(number, form)| (CallId(id, number), form))
    }

    fn add_region(&mut self, region: &Region) -> Result<(), String> {
        let Region { role, name, ends, .. } = *region;
        let (open, close) = (Pattern::parse(region.open)?, Pattern::parse_any(region.close)?);
        let may_close_late = false;
        self.regions.push(Arc::new(RegionForm { open, close, role, name, ends, may_close_late }));
        Ok(())
    }

    fn add_section(&mut self, section: &Section) -> Result<(), String> {
        let required = section.required;
        let (open, close) = (Pattern::parse(section.open)?, Pattern::parse_any(section.close)?);
        self.sections.push(Arc::new(SectionForm { open, close, required }));
        Ok(())
    }

    fn add_call(&mut self, call: &Call) -> Result<(), String> {
        let value = match call.body {
            Body::Parameters(form) => {
                let close = (!form.close.is_empty()).then(|| Pattern::parse(form.close));
                let (open, close) = (Pattern::parse(form.open)?, close.transpose()?);
                Some(ValueForm { open, close, form })
            }
            _ => None,
        };
        let (open, close) = (Pattern::parse(call.open)?, Pattern::parse_any(call.close)?);
        let next: Vec<_> =
            call.next.iter().map(|next| Pattern::parse(next)).collect::<Result<_, _>>()?;
        let Call { body, known, narrated, .. } = *call;
        let has_own_next = !next.is_empty();
        let again = (!call.again.is_empty()).then(|| Pattern::parse(call.again)).transpose()?;
        self.push_call(CallForm {
            open,
            close,
            body,
            value,
            next,
            again,
            has_own_next,
            known,
            narrated,
        });
        Ok(())
    }

    /// Adds the regions and calls that a tag stands for. Line ends beside the
    /// tags of reasoning and metadata are the template's; those of the answer
    /// are the answer's.
    fn add_tag(&mut self, name: &'static str, role: TagRole) -> Result<(), String> {
        let framed = (format!("<{name}{{@}}>{{nl}}"), format!("{{nl}}</{name}>"));
        let bare = (format!("<{name}{{@}}>"), format!("</{name}>"));
        let ((open, close), role, name) = match role {
            TagRole::Reasoning => ((framed.0, framed.1 + "{nl}{nl}"), Role::Reasoning, ""),
            TagRole::Block => (framed, Role::Block, name),
            TagRole::Drop => (framed, Role::Drop, name),
            TagRole::Text => (bare, Role::Text, name),
            TagRole::Tool => return self.add_tool_tag(name),
        };
        let (open, close) = (Pattern::parse(&open)?, Pattern::parse_any(&close)?);
        let ends = if role == Role::Reasoning { Ends::Calls } else { Ends::Closer };
        let may_close_late = false;
        self.regions.push(Arc::new(RegionForm { open, close, role, name, ends, may_close_late }));
        Ok(())
    }

    fn push_call(&mut self, form: CallForm) {
        self.calls.push(Arc::new(CallForm { next: form.lookahead(), ..form }));
    }

    fn add_tool_tag(&mut self, name: &str) -> Result<(), String> {
        let word = name.replace('*', "{name}");
        if word == name {
            return Err(format!("the tool tag {name:?} needs a `*` where the tool's name stands"));
        }
        let (open, close) =
            (Pattern::parse(&format!("<{word}>"))?, Pattern::parse(&format!("</{word}>"))?);
        // One element for each argument, a line each or not.
        let (key, end) = (Pattern::parse("<{key}>")?, Pattern::parse("</{key}>")?);
        let value = ValueForm { open: key, close: Some(end), form: Parameters::TEXT };
        for (body, value) in
            [(Body::Arguments, None), (Body::Parameters(Parameters::TEXT), Some(value))]
        {
            let (open, close) = (open.clone(), vec![close.clone()]);
            self.push_call(CallForm {
                open,
                close,
                body,
                value,
                next: Vec::new(),
                again: None,
                has_own_next: false,
                known: false,
                narrated: false,
            });
        }
        Ok(())
    }
}

impl CallForm {
    /// True if what follows its opener can be read.
    pub(crate) fn is_readable(&self) -> bool {
        !matches!(self.body, Body::Unreadable)
    }

    /// True if the call is its one value: where that ends, it is whole.
    pub(crate) fn is_one_value(&self) -> bool {
        matches!(self.body, Body::Raw(_) | Body::Yaml)
    }

    /// True if more objects may follow the first one.
    pub(crate) fn may_repeat(&self) -> bool {
        matches!(self.body, Body::Json(envelope) if envelope.many)
    }

    /// Returns the closer of a value among its parameters.
    pub(crate) fn value_closer(&self) -> Option<&Pattern> {
        self.value.as_ref()?.close.as_ref()
    }

    /// True if a word of the opener, or of its section's, stands in other patterns of the call.
    pub(crate) fn binds(&self, name: &str) -> bool {
        let open = self.value.as_ref().map(|value| &value.open);
        let mut bound = self.close.iter().chain(open).chain(self.value_closer());
        bound.any(|pattern| pattern.has_word(name))
    }

    /// Returns what must follow the call's opener: what its row names, or else
    /// what its body begins with.
    fn lookahead(&self) -> Vec<Pattern> {
        let parse = Pattern::parse_all;
        match self.body {
            _ if !self.next.is_empty() => self.next.clone(),
            Body::Literal(_) => parse(&["{", "["]),
            Body::Json(_) => JSON.clone(),
            Body::Arguments => parse(&["{"]).into_iter().chain(self.close.clone()).collect(),
            Body::Braces(_) => parse(&["{", "("]),
            Body::Python => parse(&["{start}{[}[{]}{ws}{_}("]),
            Body::Parameters(_) => {
                let open = self.value.iter().map(|value| &value.open);
                open.chain(&self.close).cloned().collect()
            }
            Body::Yaml => parse(&["{start}{_}{sp}:", "\"", "'", "{{}", "#"]),
            Body::Empty => self.close.clone(),
            Body::Raw(_) | Body::Unreadable => Vec::new(),
        }
    }
}
