//! Lists that mostly have one element, and lists that some servers send as their only one.

use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::json;
use crate::json::{Fault, FromJson, Reader};

/// A list that mostly has one element, which takes no allocation.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// Objects in an array, or one object by itself.
pub(crate) struct Many<T>(pub(crate) Few<T>);

impl<'t, T: FromJson<'t>> FromJson<'t> for Many<T> {
    fn from_json(reader: &mut Reader<'t>) -> Result<Self, Fault> {
        let mut all = Few::new();
        if reader.peek()? == b'{' {
            all.push(T::from_json(reader)?);
        } else {
            reader.elements(&"an object or an array of them", &mut |reader| {
                all.push(T::from_json(reader)?);
                Ok(())
            })?;
        }
        Ok(Many(all))
    }
}

impl<T> IntoIterator for Many<T> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'m, T> IntoIterator for &'m Many<T> {
    type Item = &'m T;
    type IntoIter = std::slice::Iter<'m, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// The elements of an array, or a value by itself: their JSON text.
pub(crate) fn each(json: &RawValue) -> Vec<&str> {
    json::elements(json.get()).unwrap_or_else(|| vec![json.get()])
}
