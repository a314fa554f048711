//! Values with the text that they were read from.

use std::ops::Deref;

use crate::json::{FromJson, ReadError, Reader};

/// A value, and the JSON text that it was read from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sourced<'t, T> {
    /// The text.
    pub(crate) json: &'t str,
    value: T,
}

impl<T> Deref for Sourced<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'t, T: FromJson<'t> + Default> FromJson<'t> for Sourced<'t, T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        let mut sourced = Self::default();
        sourced.fill(reader)?;
        Ok(sourced)
    }

    fn read_into(place: &mut Option<Self>, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        place.get_or_insert_default().fill(reader)
    }

    fn push_onto(list: &mut Vec<Self>, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        list.push(Sourced::default());
        list.last_mut().map_or(Ok(()), |last| last.fill(reader))
    }

    fn fill(&mut self, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        reader.peek()?;
        let start = reader.position();
        self.value.fill(reader)?;
        self.json = reader.since(start)?;
        Ok(())
    }
}
