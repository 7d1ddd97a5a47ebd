//! Random numbers that a seed decides, so that repeated runs of one render draw the same.

use std::cell::Cell;

/// A sequence of random numbers: the n-th number of a seed is always the same. They are not fit for secrets.
pub(crate) struct Random {
    seed: u128,
    drawn: Cell<u64>,
}

impl Random {
    /// The sequence of a seed, from its start.
    pub fn new(seed: u128) -> Random {
        Random { seed, drawn: Cell::new(0) }
    }

    /// The next number.
    pub fn draw(&self) -> u128 {
        let at = self.drawn.get();
        self.drawn.set(at.wrapping_add(1));
        let (high, low) = ((self.seed >> 64) as u64, self.seed as u64);
        let first = mixed(high ^ mixed(low ^ mixed(at)));
        let second = mixed(low.rotate_left(32) ^ mixed(high ^ first));
        u128::from(first) << 64 | u128::from(second)
    }
}

/// The output function of SplitMix64: every bit of the input has an effect on every bit of the result.
fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_each_time_and_another_seed_others() {
        let first = |seed| {
            let random = Random::new(seed);
            (0..1_000).map(|_| random.draw()).collect::<Vec<_>>()
        };
        assert_eq!(first(7), first(7));
        let all: HashSet<u128> = [0, 7, 1 << 64, u128::MAX].into_iter().flat_map(first).collect();
        assert_eq!(all.len(), 4_000);
    }
}
