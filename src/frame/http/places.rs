//! Places of a body in its input.

use std::io;

use crate::frame::framer::{FrameOut, Framed};

/// The most places that are remembered. A frame that is cut into more chunks gets an offset that is
/// too large, and at most that of its last chunks.
const MAX_PLACES: usize = 64 << 10;

/// Where the pieces of a body are in the input.
#[derive(Debug)]
pub(crate) struct BodyPlaces {
    /// The offsets in the body and in the input at which pieces begin, in ascending order.
    pieces: Vec<(u64, u64)>,
    /// The length of the body so far.
    length: u64,
}

impl BodyPlaces {
    /// Returns the places of a body that begins at this offset of the input.
    pub(crate) fn new(offset: u64) -> Self {
        BodyPlaces { pieces: vec![(0, offset)], length: 0 }
    }

    /// Adds a piece of the body, which is at this offset of the input.
    pub(crate) fn add(&mut self, length: usize, offset: u64) {
        if self.input(self.length) != offset {
            if self.pieces.len() >= 2 * MAX_PLACES {
                self.pieces.drain(..MAX_PLACES);
            }
            self.pieces.push((self.length, offset));
        }
        self.length += length as u64;
    }

    /// Returns the offset in the input of an offset in the body.
    pub(crate) fn input(&self, body: u64) -> u64 {
        let after = self.pieces.partition_point(|&(begin, _)| begin <= body);
        let piece = self.pieces.get(after.saturating_sub(1));
        piece.map_or(body, |(begin, input)| input + body.saturating_sub(*begin))
    }

    /// Passes on what a framer finds in the body, with its offset in the input.
    pub(crate) fn pass(&self, framed: Framed<'_>, out: &mut FrameOut<'_>) -> io::Result<()> {
        out(framed.at(|offset| self.input(offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_body_is_one_in_the_input() {
        let mut places = BodyPlaces::new(10);
        assert_eq!([0, 5].map(|body| places.input(body)), [10, 15]);
        for offset in [13, 20, 25] {
            places.add(5, offset);
        }
        let found = [0, 4, 5, 9, 10, 14].map(|body| places.input(body));
        assert_eq!(found, [13, 17, 20, 24, 25, 29]);
        places.add(5, 30);
        assert_eq!([places.input(15), places.pieces.len() as u64], [30, 3]);
    }

    #[test]
    fn few_places_are_remembered() {
        let mut places = BodyPlaces::new(0);
        (0..1 << 20).for_each(|at| places.add(1, 6 * at + 3));
        assert!(places.pieces.len() <= 2 * MAX_PLACES);
        assert_eq!(
            places.input((1 << 20) - MAX_PLACES as u64),
            6 * ((1 << 20) - MAX_PLACES as u64) + 3
        );
    }
}
