//! Numbers that look random, and are the same for the same seed.

/// A generator: SplitMix64.
pub struct Dice(u64);

impl Dice {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns a generator whose seed is made of these bytes.
    pub fn of(bytes: &[u8]) -> Dice {
        let mix = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        Dice(bytes.iter().fold(7, mix))
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, or 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.number() as usize % end }
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of some things, of which there must be one.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }
}
