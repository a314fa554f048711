//! What is known of each choice of a message.

/// The most choices of one message; OpenAI's `n` is at most 128. An index costs nothing,
/// but what is known of each choice does.
pub(crate) const MAX_CHOICES: usize = 1024;

/// A value for each choice that came, in the order of their numbers. Mostly there is one: it takes
/// its own size, where a node of a `BTreeMap` has room for eleven.
#[derive(Debug)]
pub(crate) struct ByChoice<T>(Vec<(u64, T)>);

impl<T> Default for ByChoice<T> {
    fn default() -> Self {
        ByChoice(Vec::new())
    }
}

impl<T> ByChoice<T> {
    /// Returns where a choice is, or where it would be.
    fn place(&self, choice: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&choice, |(number, _)| *number)
    }

    /// True if this choice would be one more than there may be.
    pub(crate) fn is_too_many(&self, choice: u64) -> bool {
        self.0.len() >= MAX_CHOICES && self.place(choice).is_err()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, choice: u64) -> bool {
        self.place(choice).is_ok()
    }

    pub(crate) fn get(&self, choice: u64) -> Option<&T> {
        Some(&self.0.get(self.place(choice).ok()?)?.1)
    }

    pub(crate) fn get_mut(&mut self, choice: u64) -> Option<&mut T> {
        let place = self.place(choice).ok()?;
        Some(&mut self.0.get_mut(place)?.1)
    }

    /// Returns the value of a choice, which is made if there is none.
    pub(crate) fn or_insert_with(&mut self, choice: u64, make: impl FnOnce() -> T) -> &mut T {
        let place = self.place(choice).unwrap_or_else(|place| {
            self.0.reserve_exact(usize::from(self.0.is_empty()));
            self.0.insert(place, (choice, make()));
            place
        });
        &mut self.0[place].1
    }

    /// Sets the value of a choice, and returns the one that it had.
    pub(crate) fn insert(&mut self, choice: u64, value: T) -> Option<T> {
        match self.get_mut(choice) {
            Some(known) => Some(std::mem::replace(known, value)),
            None => {
                self.or_insert_with(choice, || value);
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, choice: u64) -> Option<T> {
        self.place(choice).ok().map(|place| self.0.remove(place).1)
    }

    /// Takes out the value of the first choice.
    pub(crate) fn take_first(&mut self) -> Option<T> {
        let first = self.choices().next()?;
        self.remove(first)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the numbers of the choices.
    pub(crate) fn choices(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|(choice, _)| *choice)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.0.iter().map(|(choice, value)| (*choice, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.0.iter_mut().map(|(choice, value)| (*choice, value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<T: Default> ByChoice<T> {
    /// Returns the value of a choice, or a new one.
    pub(crate) fn or_default(&mut self, choice: u64) -> &mut T {
        self.or_insert_with(choice, T::default)
    }
}

impl ByChoice<bool> {
    /// True if a choice came, and of all that came it is true.
    pub(crate) fn are_all(&self) -> bool {
        !self.is_empty() && self.values().all(|&value| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_the_order_of_their_choices() {
        let mut values = ByChoice::default();
        for choice in [7, 0, 3, u64::MAX, 3] {
            *values.or_default(choice) += 1;
        }
        let counts: Vec<_> = values.iter().map(|(choice, count)| (choice, *count)).collect();
        assert_eq!(counts, [(0, 1), (3, 2), (7, 1), (u64::MAX, 1)]);
        assert_eq!((values.insert(3, 9), values.insert(4, 5)), (Some(2), None));
        assert_eq!(values.get(3), Some(&9));
        assert_eq!((values.remove(3), values.remove(3)), (Some(9), None));
        assert!(values.choices().eq([0, 4, 7, u64::MAX]) && !values.contains(3));
    }

    #[test]
    fn there_is_a_limit() {
        let mut values = ByChoice::default();
        for choice in 0..MAX_CHOICES as u64 {
            assert!(!values.is_too_many(choice));
            values.insert(choice, ());
        }
        assert!(values.is_too_many(1 << 20) && !values.is_too_many(5));
    }
}
