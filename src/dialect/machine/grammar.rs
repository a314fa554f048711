//! A dialect's patterns, read once, and the markers that they stand for.

use crate::dialect::body::BodyForm;
use crate::dialect::spec::{AtEnd, Body, Call, Dialect, Ends, Parameters, Region, Role, TagRole};
use crate::scan::{Captures, Pattern};

/// A dialect whose patterns have been read.
pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    pub(crate) regions: Vec<RegionForm>,
    pub(crate) sections: Vec<SectionForm>,
    pub(crate) calls: Vec<CallForm>,
    pub(crate) drops: Vec<Pattern>,
}

pub(crate) struct RegionForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) role: Role,
    pub(crate) name: &'static str,
    pub(crate) ends: Ends,
}

pub(crate) struct SectionForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) required: bool,
    pub(crate) narrated: bool,
}

pub(crate) struct CallForm {
    pub(crate) open: Pattern,
    pub(crate) close: Vec<Pattern>,
    pub(crate) body: BodyForm,
    /// What must follow its opener; nothing, if that doesn't matter.
    pub(crate) next: Vec<Pattern>,
    pub(crate) at_end: AtEnd,
    pub(crate) known: bool,
    pub(crate) narrated: bool,
}

/// A marker that is legal in a place, and where it leads.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    /// What must follow, behind white space, unless the text ends; nothing, if
    /// that doesn't matter.
    pub(crate) next: Vec<Pattern>,
    /// Whether it's legal only where prose is not: see [`crate::dialect::machine::markdown_context`].
    pub(crate) guarded: bool,
    /// Whether the name in it must be a tool's that is known.
    pub(crate) known: bool,
    pub(crate) go: Go,
}

/// Where a marker leads. The first number is the grammar's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    Region(usize, usize),
    Section(usize, usize),
    Call(usize, usize),
    /// The closer of a reasoning region that wasn't open.
    Stray,
    /// A marker that means nothing here.
    Nothing,
    EndRegion,
    EndSection,
    Parameter,
    EndValue,
    /// Another object of the same call's body.
    NextObject,
    EndCall,
}

impl Rule {
    pub(crate) fn new(pattern: Pattern, go: Go) -> Self {
        Rule { pattern, next: Vec::new(), guarded: false, known: false, go }
    }
}

fn optional(text: &str) -> Result<Option<Pattern>, String> {
    if text.is_empty() { Ok(None) } else { Pattern::parse(text).map(Some) }
}

impl Grammar {
    /// Reads a dialect's patterns. Fails with a sentence that says which one
    /// is wrong.
    pub(crate) fn new(row: &Dialect) -> Result<Self, String> {
        let mut grammar = Grammar {
            name: row.name,
            regions: Vec::new(),
            sections: Vec::new(),
            calls: Vec::new(),
            drops: row.drops.iter().map(|drop| Pattern::parse(drop)).collect::<Result<_, _>>()?,
        };
        row.regions.iter().try_for_each(|region| grammar.region(region))?;
        for section in row.sections {
            let form = SectionForm {
                open: Pattern::parse(section.open)?,
                close: Pattern::parse_any(section.close)?,
                required: section.required,
                narrated: section.narrated,
            };
            grammar.sections.push(form);
        }
        row.calls.iter().try_for_each(|call| grammar.call(call))?;
        row.tags.iter().try_for_each(|tag| grammar.tag(tag.name, tag.role))?;
        Ok(grammar)
    }

    /// Whether calls stand in sections, wherever the text is from.
    pub(crate) fn requires_sections(&self) -> bool {
        self.sections.iter().any(|section| section.required)
    }

    /// The markers that mean nothing.
    pub(crate) fn drops(&self) -> impl Iterator<Item = Rule> {
        self.drops.iter().map(|drop| Rule::new(drop.clone(), Go::Nothing))
    }

    fn region(&mut self, region: &Region) -> Result<(), String> {
        let Region { role, name, ends, .. } = *region;
        let (open, close) = (Pattern::parse(region.open)?, Pattern::parse_any(region.close)?);
        self.regions.push(RegionForm { open, close, role, name, ends });
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let body = match call.body {
            Body::Json(envelope) => BodyForm::Json(envelope),
            Body::Literal(envelope) => BodyForm::Literal(envelope),
            Body::Arguments => BodyForm::Arguments,
            Body::Python => BodyForm::Python,
            Body::Braces(delimiter) => BodyForm::Braces(delimiter),
            Body::Raw(raw) => BodyForm::Raw(raw),
            Body::Yaml => BodyForm::Yaml,
            Body::Empty => BodyForm::Empty,
            Body::Parameters(form) => {
                let (open, close) = (Pattern::parse(form.open)?, optional(form.close)?);
                BodyForm::Parameters { open, close, form }
            }
        };
        let (open, close) = (Pattern::parse(call.open)?, Pattern::parse_any(call.close)?);
        let next = call.next.iter().map(|next| Pattern::parse(next)).collect::<Result<_, _>>()?;
        let Call { at_end, known, narrated, .. } = *call;
        self.push_call(CallForm { open, close, body, next, at_end, known, narrated });
        Ok(())
    }

    /// The regions and calls that a tag stands for. Line ends beside the tags
    /// of reasoning and metadata are the template's; those of the answer are
    /// the answer's.
    fn tag(&mut self, name: &'static str, role: TagRole) -> Result<(), String> {
        let framed = (format!("<{name}{{@}}>{{nl}}"), format!("{{nl}}</{name}>"));
        let bare = (format!("<{name}{{@}}>"), format!("</{name}>"));
        let ((open, close), role, name) = match role {
            TagRole::Reasoning => ((framed.0, framed.1 + "{nl}{nl}"), Role::Reasoning, ""),
            TagRole::Block => (framed, Role::Block, name),
            TagRole::Drop => (framed, Role::Drop, name),
            TagRole::Text => (bare, Role::Text, name),
            TagRole::Tool => return self.tool_tag(name),
        };
        let (open, close) = (Pattern::parse(&open)?, Pattern::parse_any(&close)?);
        self.regions.push(RegionForm { open, close, role, name, ends: Ends::Closer });
        Ok(())
    }

    fn push_call(&mut self, form: CallForm) {
        self.calls.push(CallForm { next: form.lookahead(), ..form });
    }

    fn tool_tag(&mut self, name: &str) -> Result<(), String> {
        let word = name.replace('*', "{name}");
        if word == name {
            return Err(format!("the tool tag {name:?} needs a `*` where the tool's name stands"));
        }
        let (open, close) =
            (Pattern::parse(&format!("<{word}>"))?, Pattern::parse(&format!("</{word}>"))?);
        // One element for each argument, a line each or not.
        let (key, end) = (Pattern::parse("<{key}>")?, Pattern::parse("</{key}>")?);
        for body in [
            BodyForm::Arguments,
            BodyForm::Parameters { open: key, close: Some(end), form: Parameters::TEXT },
        ] {
            let (open, close) = (open.clone(), vec![close.clone()]);
            let next = Vec::new();
            self.push_call(CallForm {
                open,
                close,
                body,
                next,
                at_end: AtEnd::Never,
                known: false,
                narrated: false,
            });
        }
        Ok(())
    }
}

impl CallForm {
    /// Whether the end of the text closes the call, in a value or behind one.
    pub(crate) fn closes_at_end(&self, is_value: bool, stopped: bool) -> bool {
        let may_close = match self.at_end {
            AtEnd::Never => false,
            AtEnd::Stopped => stopped,
            AtEnd::Always => true,
        };
        may_close && (!is_value || matches!(self.body, BodyForm::Raw(_)))
    }

    /// What must follow the call's opener, if its row doesn't say: nothing else is
    /// a call.
    fn lookahead(&self) -> Vec<Pattern> {
        let parse =
            |texts: &[&str]| texts.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
        match &self.body {
            _ if !self.next.is_empty() => self.next.clone(),
            BodyForm::Literal(_) => parse(&["{", "["]),
            BodyForm::Json(_) => parse(&["{", "[{ws}{", "[{ws}]"]),
            BodyForm::Arguments => parse(&["{"]),
            BodyForm::Braces(_) => parse(&["{", "("]),
            BodyForm::Python => parse(&["{start}{[}[{]}{ws}{_}("]),
            BodyForm::Parameters { open, .. } => {
                [open.clone()].into_iter().chain(self.close.clone()).collect()
            }
            BodyForm::Yaml => parse(&["{start}{_}{sp}:", "\"", "'", "{{}", "#"]),
            BodyForm::Empty => self.close.clone(),
            BodyForm::Raw(_) => Vec::new(),
        }
    }

    /// The opener, where a section has begun with these words.
    pub(crate) fn rule(&self, words: Option<&Captures>, go: Go) -> Rule {
        let bind =
            |pattern: &Pattern| words.map_or_else(|| pattern.clone(), |words| pattern.bind(words));
        let next = self.next.iter().map(bind).collect();
        Rule { next, known: self.known, ..Rule::new(bind(&self.open), go) }
    }
}
