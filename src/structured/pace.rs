//! How often a value that grows is looked at: all looks together take time in proportion to its length.

/// A value is looked at again when this share of it is new.
const SHARE: usize = 16;

/// When a value was looked at.
#[derive(Debug, Default)]
pub struct Pace {
    /// How long it was the last time.
    seen: usize,
}

impl Pace {
    /// Whether a value that has this length now is to be looked at, which it then counts as. One that is shorter than before is another
    /// one.
    pub fn is_due(&mut self, length: usize) -> bool {
        let is_due = length < self.seen || length >= self.seen + (self.seen / SHARE).max(1);
        if is_due {
            self.seen = length;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structured::partial::PartialReader;

    /// How many bytes are looked at while these pieces come.
    fn looked_at(
        reader: &mut PartialReader,
        pace: &mut Pace,
        pieces: impl Iterator<Item = &'static str>,
    ) -> usize {
        let mut bytes = 0;
        for piece in pieces {
            reader.push(piece);
            bytes += reader.known().filter(|known| pace.is_due(*known)).unwrap_or_default();
        }
        bytes
    }

    #[test]
    fn looks_get_rarer_as_a_value_grows_and_white_space_needs_none() {
        let (mut reader, mut pace) = (PartialReader::new(None), Pace::default());
        looked_at(&mut reader, &mut pace, ["{\"a\":[1"].into_iter());
        let values = std::iter::repeat_n(",1", 100_000);
        let bytes = looked_at(&mut reader, &mut pace, values);
        assert!(bytes > 200_000 && bytes < 20 * 200_000, "{bytes}");
        let blanks = || std::iter::repeat_n("                    ", 3_000);
        assert!(looked_at(&mut reader, &mut pace, blanks()) <= 200_002, "once, for the last number");
        looked_at(&mut reader, &mut pace, ["]}"].into_iter());
        assert_eq!(looked_at(&mut reader, &mut pace, blanks()), 0);
    }

    #[test]
    fn a_value_that_begins_anew_is_looked_at() {
        let mut pace = Pace::default();
        let due: Vec<bool> = [1, 1, 2, 40, 41, 42, 3, 3].map(|length| pace.is_due(length)).into();
        assert_eq!(due, [true, false, true, true, false, true, true, false]);
    }
}
