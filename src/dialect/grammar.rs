//! A dialect's patterns, read once, and the markers that are legal in each
//! place of the text.

use std::rc::Rc;

use super::{Body, Call, Dialect, Parameters, Role, TagRole};
use crate::scan::{Captures, Pattern};

/// A dialect whose patterns have been read.
pub(super) struct Grammar {
    pub(super) name: &'static str,
    pub(super) regions: Vec<RegionForm>,
    pub(super) sections: Vec<SectionForm>,
    pub(super) calls: Vec<CallForm>,
}

pub(super) struct RegionForm {
    pub(super) open: Pattern,
    pub(super) close: Pattern,
    pub(super) role: Role,
    pub(super) name: &'static str,
    pub(super) calls: bool,
}

pub(super) struct SectionForm {
    pub(super) open: Pattern,
    pub(super) close: Pattern,
}

pub(super) struct CallForm {
    pub(super) open: Pattern,
    pub(super) close: Pattern,
    pub(super) body: BodyForm,
}

pub(super) enum BodyForm {
    /// The keys of the name and of the arguments.
    Json(&'static [&'static str], &'static [&'static str]),
    Arguments,
    Parameters {
        open: Pattern,
        close: Pattern,
    },
}

/// A marker that is legal in a place, and where it leads.
#[derive(Clone)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    /// What must follow, behind white space; nothing, if that doesn't matter.
    pub(super) next: Vec<Pattern>,
    /// Whether the end of the text may follow instead.
    pub(super) end: bool,
    /// Whether it's legal only where prose is not: see [`super::guard`].
    pub(super) guarded: bool,
    pub(super) go: Go,
}

/// Where a marker leads. The first number is the grammar's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    Region(usize, usize),
    Section(usize, usize),
    Call(usize, usize),
    /// The closer of a reasoning region that wasn't open.
    Stray(usize, usize),
    /// A marker that means nothing here.
    Nothing,
    EndRegion,
    EndSection,
    Parameter,
    EndValue,
    EndCall,
}

impl Rule {
    pub(super) fn new(pattern: Pattern, go: Go) -> Self {
        Rule { pattern, next: Vec::new(), end: false, guarded: false, go }
    }
}

impl Grammar {
    /// Reads a dialect's patterns. Fails with a sentence that says which one
    /// is wrong.
    pub(super) fn new(row: &Dialect) -> Result<Self, String> {
        let mut grammar = Grammar {
            name: row.name,
            regions: Vec::new(),
            sections: Vec::new(),
            calls: Vec::new(),
        };
        for region in row.regions {
            grammar.region(region.open, region.close, region.role, region.name, region.calls)?;
        }
        for section in row.sections {
            let form = SectionForm {
                open: Pattern::parse(section.open)?,
                close: Pattern::parse(section.close)?,
            };
            grammar.sections.push(form);
        }
        for call in row.calls {
            grammar.call(call)?;
        }
        for tag in row.tags {
            grammar.tag(tag.name, tag.role)?;
        }
        Ok(grammar)
    }

    fn region(
        &mut self,
        open: &str,
        close: &str,
        role: Role,
        name: &'static str,
        calls: bool,
    ) -> Result<(), String> {
        let (open, close) = (Pattern::parse(open)?, Pattern::parse(close)?);
        self.regions.push(RegionForm { open, close, role, name, calls });
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let body = match call.body {
            Body::Json(envelope) => BodyForm::Json(envelope.name, envelope.arguments),
            Body::Arguments => BodyForm::Arguments,
            Body::Parameters(tags) => BodyForm::Parameters {
                open: Pattern::parse(tags.open)?,
                close: Pattern::parse(tags.close)?,
            },
        };
        self.calls.push(CallForm {
            open: Pattern::parse(call.open)?,
            close: Pattern::parse(call.close)?,
            body,
        });
        Ok(())
    }

    /// The regions and calls that a tag stands for. Line ends beside the tags
    /// of reasoning and metadata are the template's; those of the answer are
    /// the answer's.
    fn tag(&mut self, name: &'static str, role: TagRole) -> Result<(), String> {
        let framed = (format!("<{name}{{@}}>{{nl}}"), format!("{{nl}}</{name}>"));
        match role {
            TagRole::Reasoning => {
                let close = format!("{}{{nl}}{{nl}}", framed.1);
                self.region(&framed.0, &close, Role::Reasoning, "", false)
            }
            TagRole::Block => self.region(&framed.0, &framed.1, Role::Block, name, false),
            TagRole::Drop => self.region(&framed.0, &framed.1, Role::Drop, name, false),
            TagRole::Text => self.region(
                &format!("<{name}{{@}}>"),
                &format!("</{name}>"),
                Role::Text,
                name,
                false,
            ),
            TagRole::Tool => {
                let word = name.replace('*', "{name}");
                if word == name {
                    return Err(format!(
                        "the tool tag {name:?} needs a `*` where the tool's name stands"
                    ));
                }
                let (open, close) = (format!("<{word}>"), format!("</{word}>"));
                for body in [Body::Arguments, Body::Parameters(ELEMENTS)] {
                    self.call(&Call {
                        open: open.clone().leak(),
                        close: close.clone().leak(),
                        body,
                    })?;
                }
                Ok(())
            }
        }
    }
}

/// One element for each argument, a line each or not.
const ELEMENTS: Parameters = Parameters { open: "<{key}>", close: "</{key}>" };

impl CallForm {
    /// What must follow the call's opener: nothing else is a call.
    fn lookahead(&self) -> Vec<Pattern> {
        match &self.body {
            BodyForm::Json(..) | BodyForm::Arguments => Pattern::parse("{").into_iter().collect(),
            BodyForm::Parameters { open, .. } => vec![open.clone(), self.close.clone()],
        }
    }

    /// The opener, where a section has begun with these words.
    pub(super) fn rule(&self, words: Option<&Captures>, go: Go) -> Rule {
        let bind =
            |pattern: &Pattern| words.map_or_else(|| pattern.clone(), |words| pattern.bind(words));
        let next = self.lookahead().iter().map(bind).collect();
        Rule { next, ..Rule::new(bind(&self.open), go) }
    }
}

/// The markers that are legal in the answer's text. `named` if the user chose
/// the dialect: then closers that close nothing are dropped, and no context is
/// asked for.
pub(super) fn text_rules(grammars: &[Rc<Grammar>], named: bool) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (g, grammar) in grammars.iter().enumerate() {
        for (s, section) in grammar.sections.iter().enumerate() {
            let next = grammar.calls.iter().map(|call| call.open.clone()).collect();
            rules.push(Rule { next, ..Rule::new(section.open.clone(), Go::Section(g, s)) });
        }
        for (c, call) in grammar.calls.iter().enumerate().filter(|_| grammar.sections.is_empty()) {
            rules.push(call.rule(None, Go::Call(g, c)));
        }
        for (r, region) in grammar.regions.iter().enumerate() {
            rules.push(Rule::new(region.open.clone(), Go::Region(g, r)));
            if named && region.role == Role::Reasoning {
                let close = region.close.bind(&Captures::default());
                rules.push(Rule::new(close, Go::Stray(g, r)));
            }
        }
    }
    rules.iter_mut().for_each(|rule| rule.guarded = !named);
    rules
}

/// The markers that are legal inside a region.
pub(super) fn region_rules(
    grammars: &[Rc<Grammar>],
    g: usize,
    r: usize,
    words: &Captures,
) -> Vec<Rule> {
    let Some(region) = grammars.get(g).and_then(|grammar| grammar.regions.get(r)) else {
        return Vec::new();
    };
    let mut rules = vec![Rule::new(region.close.bind(words), Go::EndRegion)];
    if region.role == Role::Reasoning {
        rules.push(Rule::new(region.open.bind(words), Go::Nothing));
    }
    if region.calls {
        let calls = text_rules(grammars, true).into_iter();
        rules.extend(calls.filter(|rule| matches!(rule.go, Go::Section(..) | Go::Call(..))));
    }
    rules
}

/// The markers that are legal between the calls of a section.
pub(super) fn section_rules(
    grammars: &[Rc<Grammar>],
    g: usize,
    s: usize,
    words: &Captures,
) -> Vec<Rule> {
    let Some(grammar) = grammars.get(g) else { return Vec::new() };
    let calls =
        grammar.calls.iter().enumerate().map(|(c, call)| call.rule(Some(words), Go::Call(g, c)));
    let close =
        grammar.sections.get(s).map(|section| Rule::new(section.close.bind(words), Go::EndSection));
    calls.chain(close).collect()
}
