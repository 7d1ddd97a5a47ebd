//! Random numbers that nobody outside of the process can guess.

use std::hash::{BuildHasher, RandomState};

/// A random number of 128 bits.
pub fn random() -> u128 {
    // The keys of the standard library's hashers are random, and no two hashers have the same.
    let half = || u128::from(RandomState::new().hash_one(0));
    half() << 64 | half()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_numbers_are_the_same() {
        let numbers: std::collections::HashSet<u128> = (0..1_000).map(|_| random()).collect();
        assert_eq!(numbers.len(), 1_000);
    }
}
