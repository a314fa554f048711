//! Sections and calls.

use std::io;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::cut::Cut as _;
use crate::dialect::body::calls::{ChoiceEmit, warn};
use crate::dialect::body::values::Opener;
use crate::dialect::body::{BodyProgress, BodyReader};
use crate::dialect::machine::DialectMachine;
use crate::dialect::machine::grammar::{CallForm, CallId, GrammarId, SectionId};
use crate::dialect::machine::place::{
    CallPlace, Nested, OpenCall, OpenSection, OpenText, OpenValue, PossibleEnd, TextPlace,
};
use crate::dialect::machine::rules::{Go, MarkerRule};
use crate::dialect::machine::search::{Begun, Marker};
use crate::dialect::spec::{Body, Parameters};
use crate::event::{Block, Done, Kind, Reason, WarningCode};
use crate::scan::{Attempt, Captures, Match};

impl DialectMachine {
    /// The first call or section decides which dialect this is.
    fn choose(&mut self, id: GrammarId) {
        if self.chosen.is_none() {
            self.chosen = Some(id);
            self.search.forget(|_| true);
        }
    }

    /// Takes the opener of a call or a section that the text ended in.
    #[cold]
    pub(crate) fn cut_header(
        &mut self,
        marker: &Marker<'_>,
        text: &str,
        emit: &mut ChoiceEmit,
    ) -> Done {
        self.leave_text(emit)?;
        let id = match marker.go {
            Go::Section(id) => id.0,
            Go::Call(id) => id.0,
            _ => return Ok(()),
        };
        self.calls.open_markup(self.grammars.get(id).name, text, &marker.words, "");
        self.is_cut = true;
        self.calls.cut(emit)
    }

    pub(crate) fn open_section(&mut self, id: SectionId, marker: &str, words: &Captures<'_>) {
        self.choose(id.0);
        let form = Arc::clone(self.grammars.section(id));
        let (marker, before) = (marker.to_owned(), self.calls.count());
        let words = words.keep(|_| true);
        let open = OpenSection { id, form, marker, words, before, space: Some(String::new()) };
        self.enter(TextPlace::Section(Box::new(open)));
    }

    /// Ends the text between the calls of a section; returns true if it was cut.
    /// `held` is the text that was held back: a part of the closer, or of another
    /// call's opener.
    pub(crate) fn finish_section(&mut self, held: &str, emit: &mut ChoiceEmit) -> io::Result<bool> {
        let TextPlace::Section(open) = &self.place else { return Ok(false) };
        let has_calls = self.calls.count() > open.before;
        let is_over = held.trim_ascii().is_empty() || self.is_begun(held, &[Go::EndSection]);
        if has_calls && is_over {
            return Ok(false);
        }
        let marker = if has_calls { held.to_owned() } else { open.marker.clone() + held };
        let source = self.grammars.get(open.id.0).name;
        self.calls.open_markup(source, &marker, &Captures::default(), "");
        self.calls.cut(emit).map(|()| true)
    }

    /// True if a text may be the beginning of a marker that leads to one of these.
    fn is_begun(&self, text: &str, goes: &[Go]) -> bool {
        let is_begun = |rule: &MarkerRule| {
            goes.contains(&rule.go)
                && Attempt::default().advance(&rule.pattern, text.as_bytes(), false) != Match::No
        };
        self.search.rules().rules.iter().any(is_begun)
    }

    pub(crate) fn open_call(
        &mut self,
        id: CallId,
        marker: &str,
        words: &Captures<'_>,
        emit: &mut ChoiceEmit,
    ) -> Done {
        self.choose(id.0);
        if self.calls.count() == 0 {
            self.expect_any_closer(id.0);
            self.forget_text_rules();
        }
        if let Some(text) = words.get("server") {
            emit.feed(Kind::Block(Block { name: "server_name", text, attributes: None }))?;
        }
        let section = match std::mem::take(&mut self.place) {
            TextPlace::Section(section) => Some(section),
            _ => None,
        };
        if self.calls.is_forged && self.calls.count() == 0 {
            warn_of_results(emit)?;
        }
        let form = Arc::clone(self.grammars.call(id));
        let name = if let Body::Raw(raw) = form.body { raw.name } else { "" };
        self.calls.open_markup(self.grammars.get(id.0).name, marker, words, name);
        let part = match form.body {
            Body::Raw(raw) => {
                let opener = Opener { key: raw.key, kind: Some("string"), form: Parameters::TEXT };
                self.calls.open_value(&opener, emit)?;
                CallPlace::Value(OpenValue::default())
            }
            Body::Yaml => {
                self.calls.open_yaml(emit)?;
                CallPlace::Value(OpenValue::default())
            }
            Body::Arguments => {
                self.calls.begin(emit)?;
                CallPlace::Head
            }
            Body::Unreadable => {
                self.calls.fault(Reason::Malformed, emit)?;
                CallPlace::Broken
            }
            body => match BodyReader::new(body) {
                Some(reader) => CallPlace::Body(reader),
                None => {
                    self.calls.begin(emit)?;
                    CallPlace::Between(None)
                }
            },
        };
        let words = with_section(words, section.as_deref(), &form);
        let is_over = matches!(form.body, Body::Empty) && form.close.is_empty();
        self.enter(TextPlace::Call(OpenCall { id, form, words, section, part }));
        if is_over { self.end_call("", emit) } else { Ok(()) }
    }

    /// Takes the beginning or the end of results that no tool gave. A call in them is none that the
    /// model makes.
    pub(crate) fn forge(&mut self, begin: bool, marker: &str, emit: &mut ChoiceEmit) -> Done {
        // Before any call, an answer may as well show what results look like.
        if begin && !self.calls.is_forged && self.calls.count() > 0 {
            warn_of_results(emit)?;
        }
        self.calls.is_forged = begin;
        self.text(marker, emit)
    }

    /// Takes the opener of a turn. A call in that of another role is none that the model makes.
    pub(crate) fn turn(&mut self, is_own: bool, marker: &str, emit: &mut ChoiceEmit) -> Done {
        if !is_own && !self.calls.is_others {
            let message = "the model went on in the turn of another; a call in that is withdrawn";
            warn(WarningCode::ForgedResults, message, emit)?;
        }
        self.calls.is_others = !is_own;
        self.content(marker, emit)
    }

    /// Ends the open call at a marker that is none of its own. A section goes on
    /// if that opens another call.
    pub(crate) fn leave_call(&mut self, go: Go, emit: &mut ChoiceEmit) -> Done {
        self.end_unclosed(emit)?;
        self.end_place(matches!(go, Go::Call(_)));
        Ok(())
    }

    /// Closes the open call, which has no closer. It's whole if its body shows
    /// that; of several arguments, more may have been to come.
    fn end_unclosed(&mut self, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Call(call) = &self.place else { return Ok(()) };
        let is_between = matches!(call.part, CallPlace::Between(_));
        if !is_between || BodyReader::new(call.form.body).is_none() {
            self.calls.fault(Reason::Malformed, emit)?;
        } else if call.has_closer() && !self.calls.is_faulty() {
            self.calls.warn(
                WarningCode::CloserMissing,
                "a call without its closer was ended by what follows it",
                emit,
            )?;
        }
        self.calls.close(emit)
    }

    /// Leaves the open call for its section, if that goes on, or for the text.
    fn end_place(&mut self, section_goes_on: bool) {
        let section = match &mut self.place {
            TextPlace::Call(call) => call.section.take(),
            _ => None,
        };
        match section.filter(|_| section_goes_on) {
            Some(mut section) => {
                section.space = Some(String::new());
                self.enter(TextPlace::Section(section));
            }
            None => self.back_to_text(),
        }
    }

    /// Goes back to the text after a call.
    pub(crate) fn back_to_text(&mut self) {
        self.enter(TextPlace::Text(OpenText { space: Some(String::new()), ..OpenText::default() }));
    }

    /// Ends the text in a value that lacks its closer, where the call may have ended; returns the
    /// text after that.
    pub(crate) fn end_at_closer(
        &mut self,
        held: &str,
        emit: &mut ChoiceEmit,
    ) -> io::Result<Option<String>> {
        let Some(end) = self.open_value_end() else { return Ok(None) };
        self.calls.push_raw(held);
        if self.calls.is_over() || !self.is_call_end(&end) {
            self.calls.drop_raw(held.len());
            return Ok(None);
        }
        self.end_at(end, emit).map(Some)
    }

    /// Ends the text in a call; returns true if the call was cut. `held` may be a
    /// part of its closer.
    pub(crate) fn finish_call(
        &mut self,
        held: &str,
        stopped: bool,
        emit: &mut ChoiceEmit,
    ) -> io::Result<bool> {
        let TextPlace::Call(call) = &self.place else { return Ok(false) };
        let is_over = match &call.part {
            CallPlace::Between(_) => true,
            CallPlace::Body(body) => body.is_between(),
            _ => false,
        };
        if is_over && !call.has_closer() && self.calls.has_closed() {
            return Ok(false);
        }
        let is_whole = match &call.part {
            CallPlace::Between(_) => !self.calls.is_faulty(),
            CallPlace::Value(value) => call.form.is_one_value() && value.nested.is_empty(),
            _ => false,
        };
        if matches!(&call.part, CallPlace::Value(value) if value.is_weak) {
            self.calls.push_raw(held);
            self.calls.fault(Reason::Malformed, emit)?;
            return self.calls.close(emit).map(|()| false);
        }
        // What may as well open the next argument closes nothing.
        let is_closer = held.trim_ascii().is_empty()
            || self.is_begun(held, &[Go::EndCall, Go::EndSection])
                && !self.is_begun(held, &[Go::Parameter]);
        if !stopped || !is_whole || !is_closer {
            self.calls.push_raw(held);
            if !held.trim_ascii().is_empty() {
                self.calls.begin(emit)?;
            }
            return self.calls.cut(emit).map(|()| true);
        }
        if call.has_closer() {
            self.calls.warn(
                WarningCode::CloserMissing,
                "a call without its closer was ended by the text's end",
                emit,
            )?;
        }
        self.calls.close(emit).map(|()| false)
    }

    /// Takes what stands before a call's arguments; returns how many bytes. An
    /// object begins with a brace, and where nothing comes before what may be
    /// the closer, there are no arguments.
    pub(crate) fn feed_head(&mut self, text: &str) -> usize {
        let taken = text.len() - text.trim_ascii_start().len();
        self.calls.push_raw(text.before(taken));
        let rest = text.after(taken);
        if rest.starts_with(['{', '[', '"']) {
            self.enter_arguments(true);
        } else if !rest.is_empty() && matches!(self.begin_here(rest.as_bytes(), false), Begun::None)
        {
            self.enter_arguments(false);
        }
        taken
    }

    /// Goes on from before the arguments, where these are not missing.
    pub(crate) fn leave_head(&mut self) {
        if let TextPlace::Call(OpenCall { part: CallPlace::Head, .. }) = &self.place {
            self.enter_arguments(false);
        }
    }

    fn enter_arguments(&mut self, is_json: bool) {
        let TextPlace::Call(call) = &self.place else { return };
        let body = BodyReader::new(call.form.body).filter(|_| is_json || !call.has_closer());
        self.enter_part(body.map_or(CallPlace::Loose, CallPlace::Body));
    }

    /// Takes a marker that is a part of a value.
    pub(crate) fn inner_marker(&mut self, go: Go, marker: &str, emit: &mut ChoiceEmit) -> Done {
        let is_string = self.calls.is_in_string();
        self.calls.feed_value(marker, emit)?;
        let length = self.calls.raw_length();
        if let TextPlace::Call(OpenCall { form, part: CallPlace::Value(value), .. }) =
            &mut self.place
            && !is_string
        {
            value.take(go, length, form.value_closer().is_some_and(|close| close.has_word("key")));
        }
        Ok(())
    }

    /// Ends the open call before the opener of another one that stands in its value, if its closers
    /// came on a line before that, and its value's did not: the call can't be read, and the other is
    /// none of its parts.
    pub(crate) fn end_before_call(&mut self, emit: &mut ChoiceEmit) -> Done {
        if self.calls.is_over() || self.calls.is_in_string() {
            return Ok(());
        }
        let begins_line = |end: &PossibleEnd| self.calls.raw_from(end.length).contains('\n');
        let is_end =
            |end: &PossibleEnd| !end.ends_section && begins_line(end) && self.is_call_end(end);
        let Some(end) = self.open_value_end().filter(is_end) else {
            return Ok(());
        };
        let between = self.end_at(end, emit)?;
        self.run(&between, true, emit)?;
        self.search.reset();
        let held = std::mem::take(&mut self.held);
        self.content(&held, emit)
    }

    /// Returns where the open call may have ended, if nothing is open in its value.
    fn open_value_end(&self) -> Option<PossibleEnd> {
        match &self.place {
            TextPlace::Call(OpenCall { part: CallPlace::Value(value), .. }) => {
                value.end.filter(|_| value.nested.is_empty())
            }
            _ => None,
        }
    }

    /// True if nothing on its line follows the place where a call may have ended, but for the end of
    /// its section.
    fn is_call_end(&self, end: &PossibleEnd) -> bool {
        let rest = self.calls.raw_from(end.length).trim_start_matches([' ', '\t']);
        let section = match &self.place {
            TextPlace::Call(call) => call.section.as_ref(),
            _ => None,
        };
        let ends_section = |open: &OpenSection| {
            let mut close = open.form.close.iter().map(|close| close.bind(&open.words));
            close
                .any(|close| Attempt::default().advance(&close, rest.as_bytes(), true) != Match::No)
        };
        rest.is_empty()
            || end.ends_section
            || rest.starts_with(['\n', '\r'])
            || section.is_some_and(|open| ends_section(open))
    }

    /// Ends the open call, whose closers don't add up, at a place in its value; returns what
    /// follows.
    fn end_at(&mut self, end: PossibleEnd, emit: &mut ChoiceEmit) -> io::Result<String> {
        let rest = self.calls.split_raw(end.length);
        self.calls.fault(Reason::Malformed, emit)?;
        self.calls.close(emit)?;
        self.end_place(!end.ends_section);
        Ok(rest)
    }

    /// Takes what belongs to the call's body; returns how many bytes.
    pub(crate) fn feed_body(&mut self, text: &str, emit: &mut ChoiceEmit) -> io::Result<usize> {
        let TextPlace::Call(OpenCall { form, part: CallPlace::Body(body), .. }) = &mut self.place
        else {
            return Ok(text.len());
        };
        let (taken, progress) = body.feed(text, &mut self.calls, emit)?;
        match progress {
            BodyProgress::Open => {}
            BodyProgress::Bad => {
                self.calls.fault(Reason::Malformed, emit)?;
                self.enter_part(CallPlace::Broken);
            }
            // Where the body shows where the call ends, it ends here.
            BodyProgress::Whole if form.close.is_empty() && !form.may_repeat() => {
                self.end_call("", emit)?;
            }
            BodyProgress::Whole => self.enter_part(CallPlace::Between(None)),
        }
        Ok(taken)
    }

    /// Ends the open call at the opener of another one in the same markup.
    pub(crate) fn open_another(
        &mut self,
        marker: &str,
        words: &Captures<'_>,
        emit: &mut ChoiceEmit,
    ) -> Done {
        let TextPlace::Call(call) = &self.place else { return Ok(()) };
        let (source, body) = (self.grammars.get(call.id.0).name, BodyReader::new(call.form.body));
        self.calls.close(emit)?;
        self.calls.open_markup(source, marker, words, "");
        self.calls.begin(emit)?;
        self.enter_part(body.map_or(CallPlace::Broken, CallPlace::Body));
        Ok(())
    }

    pub(crate) fn next_object(&mut self, marker: &str, emit: &mut ChoiceEmit) -> Done {
        let TextPlace::Call(call) = &self.place else { return Ok(()) };
        let Some(mut body) = BodyReader::new(call.form.body) else { return Ok(()) };
        body.feed_all(marker, &mut self.calls, emit)?;
        self.enter_part(CallPlace::Body(body));
        Ok(())
    }

    /// True after an object of a call that has no closer: what comes may be another object of it.
    pub(crate) fn is_after_object(&self) -> bool {
        matches!(&self.place, TextPlace::Call(call) if call.is_after_object())
    }

    /// Takes a character there that begins no marker; returns how many bytes. What is more than
    /// white space is the answer's, and may begin a marker of that.
    pub(crate) fn pass_after_object(
        &mut self,
        c: char,
        emit: &mut ChoiceEmit,
    ) -> io::Result<usize> {
        if c.is_ascii_whitespace() || matches!(c, ';' | ',') {
            return Ok(c.len_utf8());
        }
        let TextPlace::Call(OpenCall { part: CallPlace::Between(space), .. }) = &mut self.place
        else {
            return Ok(0);
        };
        let space = space.take().unwrap_or_default();
        self.end_call("", emit)?;
        self.context.feed(&space);
        self.text(&space, emit).map(|()| 0)
    }

    /// Takes text inside a call that is neither marker nor value.
    pub(crate) fn call_content(&mut self, text: &str, emit: &mut ChoiceEmit) -> Done {
        if let TextPlace::Call(call) = &mut self.place
            && call.is_after_object()
            && let CallPlace::Between(space) = &mut call.part
        {
            space.get_or_insert_default().push_str(text);
            return Ok(());
        }
        self.calls.push_raw(text);
        if text.trim_ascii().is_empty() {
            Ok(())
        } else {
            self.calls.fault(Reason::Malformed, emit)
        }
    }

    pub(crate) fn open_value(
        &mut self,
        marker: &str,
        words: &Captures<'_>,
        emit: &mut ChoiceEmit,
    ) -> Done {
        let TextPlace::Call(call) = &mut self.place else { return Ok(()) };
        let form = call.form.value.as_ref().map_or(Parameters::TEXT, |value| value.form);
        let is_nested = !form.item.is_empty();
        let mut keys = match &mut call.part {
            CallPlace::Value(keys) if is_nested && !self.calls.may_nest() => {
                return self.calls.feed_value(marker, emit);
            }
            CallPlace::Value(value) => std::mem::take(&mut value.keys),
            _ => SmallVec::new(),
        };
        if !is_nested && self.calls.has_value() {
            self.calls.close_value(emit)?;
            keys.pop();
        }
        // Words that stand in its closer.
        let closer = call.form.value_closer();
        keys.push(words.keep(|name| closer.is_some_and(|close| close.has_word(name))));
        self.calls.push_raw(marker);
        let (key, kind) = (words.get("key").unwrap_or_default(), words.get("type"));
        self.calls.open_value(&Opener { key, kind, form }, emit)?;
        self.enter_part(CallPlace::Value(OpenValue { keys, ..OpenValue::default() }));
        Ok(())
    }

    pub(crate) fn end_value(&mut self, marker: &str, emit: &mut ChoiceEmit) -> Done {
        if self.calls.is_in_string() {
            return self.calls.feed_value(marker, emit);
        }
        if self.is_nested() {
            return self.inner_marker(Go::EndValue, marker, emit);
        }
        self.calls.close_value(emit)?;
        self.calls.push_raw(marker);
        let TextPlace::Call(OpenCall { part: CallPlace::Value(value), .. }) = &mut self.place
        else {
            return Ok(());
        };
        let OpenValue {
            mut keys, inner, quotes_parameter, quotes_call, has_stray, is_torn, ..
        } = std::mem::take(value);
        keys.pop();
        let is_doubtful = has_stray && (quotes_parameter || quotes_call);
        if inner > 0 || is_doubtful || is_torn {
            self.calls.fault(Reason::Malformed, emit)?;
        }
        let is_outermost = !self.calls.has_value();
        let outer = CallPlace::Value(OpenValue { keys, ..OpenValue::default() });
        self.enter_part(if is_outermost { CallPlace::Between(None) } else { outer });
        Ok(())
    }

    pub(crate) fn end_call(&mut self, marker: &str, emit: &mut ChoiceEmit) -> Done {
        if self.calls.is_in_string() {
            return self.calls.feed_value(marker, emit);
        }
        if self.is_nested() {
            return self.inner_marker(Go::InnerEndCall, marker, emit);
        }
        self.calls.push_raw(marker);
        if self.is_in_open_value() {
            self.calls.fault(Reason::Malformed, emit)?;
        }
        self.calls.close(emit)?;
        self.end_place(true);
        Ok(())
    }

    /// True in a call that a value holds.
    fn is_nested(&self) -> bool {
        matches!(&self.place, TextPlace::Call(OpenCall { part: CallPlace::Value(value), .. })
            if !value.nested.is_empty())
    }

    /// True in one of several values, which has a closer of its own.
    fn is_in_open_value(&self) -> bool {
        let TextPlace::Call(OpenCall { form, part: CallPlace::Value(_), .. }) = &self.place else {
            return false;
        };
        form.value_closer().is_some()
    }

    /// Takes the section's closer; inside a call, that lacks its own.
    pub(crate) fn end_section(&mut self, marker: &str, emit: &mut ChoiceEmit) -> Done {
        if self.calls.is_in_string() || self.is_nested() {
            return self.calls.feed_value(marker, emit);
        }
        if matches!(self.place, TextPlace::Call(_)) {
            self.calls.push_raw(marker);
            self.end_unclosed(emit)?;
        }
        self.back_to_text();
        Ok(())
    }
}

impl OpenValue {
    /// Takes a marker that is a part of it, and the length of the call's markup after that; if
    /// closers have the value's key in them (`is_by_key`), only those of this key count.
    fn take(&mut self, go: Go, length: usize, is_by_key: bool) {
        let last = self.nested.last().copied();
        match (go, last) {
            (Go::InnerCall, _) => {
                self.nested.push(Nested::Call);
                // A call that a value may quote must not run.
                (self.quotes_call, self.end) = (true, None);
            }
            (Go::InnerParameter, Some(_)) => self.nested.push(Nested::Parameter),
            (Go::InnerParameter, None) => {
                self.inner += usize::from(!is_by_key);
                self.quotes_parameter |= !is_by_key;
            }
            (Go::EndValue | Go::InnerEndValue | Go::TornEnd, Some(Nested::Parameter)) => {
                self.nested.pop();
            }
            (Go::EndValue, Some(Nested::Call)) => (self.is_uneven, self.is_torn) = (true, true),
            (Go::InnerEndValue | Go::TornEnd, None) => {
                self.is_torn |= go == Go::TornEnd && self.inner == 0;
                self.has_stray |= self.inner == 0;
                self.inner = self.inner.saturating_sub(1);
            }
            (Go::InnerEndCall, _) => {
                let call = self.nested.iter().rposition(|nested| *nested == Nested::Call);
                self.is_torn |= call.is_some_and(|call| call + 1 < self.nested.len());
                self.is_uneven |= self.is_torn || call.is_none();
                self.nested.truncate(call.unwrap_or_default());
                if self.is_uneven && self.nested.is_empty() {
                    self.end = Some(PossibleEnd { length, ends_section: false });
                }
            }
            (Go::WeakEnd, None) => self.is_weak = true,
            (Go::WeakEndSection, None) if !self.quotes_call => {
                self.end.get_or_insert(PossibleEnd { length, ends_section: true });
            }
            _ => {}
        }
    }
}

fn warn_of_results(emit: &mut ChoiceEmit) -> Done {
    let message = "the model made up the results of its calls; a call in them is withdrawn";
    warn(WarningCode::ForgedResults, message, emit)
}

/// The words of a call's opener, and of its section's, that stand in other patterns of the call.
fn with_section(
    words: &Captures<'_>,
    section: Option<&OpenSection>,
    form: &CallForm,
) -> Captures<'static> {
    let mut kept = words.keep(|name| form.binds(name));
    for (name, word) in section.into_iter().flat_map(|section| &section.words.words) {
        if kept.get(name).is_none() && form.binds(name) {
            kept.words.push((name, word.clone()));
        }
    }
    kept
}
