//! The calls that a whole body answers itself.

use std::collections::BTreeSet;
use std::io;

use crate::format::support::prelude::*;

/// The ids of the calls of a body that have their results in it: whoever wrote the body ran them.
pub(super) struct Answered(BTreeSet<String>);

impl Answered {
    /// Reads the items of a body: the type of a result ends with `_output`, and its `call_id` names
    /// the call.
    pub(super) fn by(items: &[RawJson<'_>]) -> Self {
        let objects = items.iter().map(|json| Object::new(json.get()));
        let is_result =
            |item: &Object<'_>| item.word("type").is_some_and(|kind| kind.ends_with("_output"));
        Answered(objects.filter(is_result).filter_map(|it| it.word("call_id")).collect())
    }

    /// Emits that the call of this id was run, ahead of the call; returns false if it wasn't.
    pub(super) fn mark(&self, id: Option<&str>, out: &mut EventOut) -> io::Result<bool> {
        let id = id.filter(|id| self.0.contains(*id));
        if id.is_some() {
            out.call(0, CallPart { id, executor: Some(Executor::Agent), ..CallPart::default() })?;
        }
        Ok(id.is_some())
    }
}
