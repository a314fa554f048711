//! Lists that mostly have one element, and lists that some servers send as their only one.

use std::iter::Chain;
use std::{option, slice, vec};

use crate::json::{self, FromJson, ReadError, Reader};

/// A list that mostly has one element, which takes no allocation and is read where it stands.
pub(crate) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { first: None, rest: Vec::new() }
    }
}

impl<T> Few<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.first.iter().chain(&self.rest)
    }
}

impl<'t, T: FromJson<'t>> Few<T> {
    /// Reads the element that is next.
    fn read(&mut self, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        match self.first {
            None => T::read_into(&mut self.first, reader),
            Some(_) => T::push_onto(&mut self.rest, reader),
        }
    }
}

impl<'t, T: FromJson<'t>> FromJson<'t> for Few<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        let mut all = Few::default();
        all.fill(reader)?;
        Ok(all)
    }

    fn read_into(place: &mut Option<Self>, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        place.get_or_insert_default().fill(reader)
    }

    fn fill(&mut self, reader: &mut Reader<'t>) -> Result<(), ReadError> {
        reader.elements(&"a sequence", &mut |reader| self.read(reader))
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'m, T> IntoIterator for &'m Few<T> {
    type Item = &'m T;
    type IntoIter = Chain<option::Iter<'m, T>, slice::Iter<'m, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Objects in an array, or one object by itself.
pub(crate) struct Many<T>(pub(crate) Few<T>);

impl<'t, T: FromJson<'t>> FromJson<'t> for Many<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, ReadError> {
        let mut all = Few::default();
        if reader.peek()? == b'{' {
            all.read(reader)?;
        } else {
            let expected = &"an object or an array of them";
            reader.elements(expected, &mut |reader| all.read(reader))?;
        }
        Ok(Many(all))
    }
}

/// The elements of an array, or a value by itself: their JSON text.
pub(crate) fn each(json: &str) -> Vec<&str> {
    json::elements(json).unwrap_or_else(|| vec![json])
}
