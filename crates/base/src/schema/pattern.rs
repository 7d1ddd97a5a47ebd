//! The cost of a regular expression, estimated from its text.

/// How often a pattern may backtrack before its match is abandoned.
pub(super) const BACKTRACKS_MAX: usize = 1_000;

/// The most bytes that one compiled pattern may take.
pub(super) const COMPILED_BYTES: usize = 1 << 20;

/// About how many automaton states a Unicode property (`\p{L}`) takes.
const PROPERTY_STATES: u64 = 300;

/// About how many automaton states any other character class takes.
const CLASS_STATES: u64 = 4;

/// The cost of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternCost {
    /// About how many states its automaton has, which is the most steps that matching takes for a byte.
    pub states: u64,
    /// Whether it needs the backtracking engine: for look-around, back-references, possessive quantifiers or atomic groups.
    pub backtracks: bool,
}

/// Estimates the cost of a pattern.
pub(super) fn cost(pattern: &str) -> PatternCost {
    let mut reader =
        Reader { rest: pattern.chars().peekable(), groups: vec![Group::default()], backtracks: false };
    reader.read();
    let states = reader.groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.total()));
    PatternCost { states: states.saturating_add(1), backtracks: reader.backtracks }
}

/// The states of a group: the last part is kept apart from the others, since a quantifier may multiply it.
#[derive(Default)]
struct Group {
    sum: u64,
    last: u64,
}

impl Group {
    fn total(&self) -> u64 {
        self.sum.saturating_add(self.last)
    }

    fn push(&mut self, states: u64) {
        self.sum = self.total();
        self.last = states;
    }
}

struct Reader<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    groups: Vec<Group>,
    backtracks: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => self.escape(),
                '[' => self.class(),
                '(' => self.open(),
                ')' => self.close(),
                '*' | '+' | '?' => self.possessive(),
                '{' => self.repetition(),
                '.' => self.push(CLASS_STATES),
                _ => self.push(1),
            }
        }
    }

    fn push(&mut self, states: u64) {
        if let Some(group) = self.groups.last_mut() {
            group.push(states);
        }
    }

    fn escape(&mut self) {
        match self.rest.next() {
            Some('p' | 'P') => {
                if self.rest.peek() == Some(&'{') {
                    self.rest.by_ref().find(|letter| *letter == '}');
                }
                self.push(PROPERTY_STATES);
            }
            Some('1'..='9' | 'k' | 'g' | 'G' | 'K') => {
                self.backtracks = true;
                self.push(1);
            }
            _ => self.push(CLASS_STATES),
        }
    }

    fn class(&mut self) {
        let mut states = CLASS_STATES;
        while let Some(letter) = self.rest.next() {
            match letter {
                ']' => break,
                '\\' if matches!(self.rest.next(), Some('p' | 'P')) => states += PROPERTY_STATES,
                _ => states += 1,
            }
        }
        self.push(states.min(PROPERTY_STATES));
    }

    fn open(&mut self) {
        if self.rest.next_if_eq(&'?').is_some() && self.rest.peek() != Some(&':') {
            // Named groups and flags would not backtrack; they are rare, and counting them is safe.
            self.backtracks = true;
        }
        self.groups.push(Group::default());
    }

    fn close(&mut self) {
        let closed = if self.groups.len() > 1 { self.groups.pop() } else { None };
        self.push(closed.map_or(1, |group| group.total().max(1)));
    }

    fn possessive(&mut self) {
        self.backtracks |= self.rest.next_if_eq(&'+').is_some();
    }

    /// Reads the rest of `{2}`, `{2,}` or `{2,5}`; anything else is literal text.
    fn repetition(&mut self) {
        let mut times = 1;
        let mut number = 0u64;
        while let Some(letter) = self.rest.next_if(|letter| letter.is_ascii_digit() || *letter == ',') {
            match letter.to_digit(10) {
                Some(digit) => number = number.saturating_mul(10).saturating_add(digit.into()),
                None => number = 0,
            }
            times = times.max(number);
        }
        if self.rest.next_if_eq(&'}').is_some() {
            if let Some(group) = self.groups.last_mut() {
                group.last = group.last.saturating_mul(times);
            }
            self.possessive();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_multiply_what_they_repeat() {
        for (pattern, least, most) in [
            ("^[a-z]+$", 5, 15),
            ("^[0-9a-f]{8}-[0-9a-f]{4}$", 100, 200),
            ("(a{100}){100}", 10_000, 10_100),
            ("((a{1,100}){50}b){10}", 50_000, 51_000),
            (r"\p{L}{1000}", 300_000, 310_000),
            ("a{9999999999999999999999}", u64::MAX, u64::MAX),
            ("x{,y}{(]", 5, 10),
        ] {
            let states = cost(pattern).states;
            assert!((least..=most).contains(&states), "{pattern}: {states}");
        }
    }

    #[test]
    fn patterns_that_backtrack_are_told_from_those_that_do_not() {
        for pattern in ["(?=a)b", "^(?!x).*$", "(?<=a)b", r"(a)\1", "a++", "(?>a)", "a{2}+"] {
            assert!(cost(pattern).backtracks, "{pattern}");
        }
        for pattern in ["^a+?$", r"^\d{3}-\w+$", "(?:a|b)*", "[(?=]+x", r"\(\?=\)"] {
            assert!(!cost(pattern).backtracks, "{pattern}");
        }
    }
}
