//! Lists that mostly have one element, and lists that some servers send as their only one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::{SmallVec, smallvec};

use crate::json;

/// A list that mostly has one element, which takes no allocation.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// Objects in an array, or one object by itself.
pub(crate) struct Many<T>(pub(crate) Few<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(PhantomData))
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

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object or an array of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut all = Few::new();
        while let Some(one) = seq.next_element()? {
            all.push(one);
        }
        Ok(Many(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(Many(smallvec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }
}

/// The elements of an array, or a value by itself: their JSON text.
pub(crate) fn each(json: &RawValue) -> Vec<&str> {
    json::elements(json.get()).unwrap_or_else(|| vec![json.get()])
}
