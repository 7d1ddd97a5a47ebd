//! Where a secret may begin or be named: the beginnings that the search looks for, all in one pass.

use std::sync::LazyLock;

use super::shapes::{SHAPES, Shape};

/// What to do where a beginning is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// A secret of known shape.
    Shape(&'static Shape),
    /// A word that names secrets.
    Name,
    /// The scheme of an `Authorization` header, which other places quote.
    Bearer,
    /// A PEM block.
    Pem,
    /// The part of a URL where a password may be.
    Url,
    /// The option for a user and a password.
    User,
    /// A secret that was masked before.
    Masked,
}

/// A beginning, and what it means.
#[derive(Debug)]
struct Beginning {
    text: &'static [u8],
    any_case: bool,
    rule: Rule,
}

/// A beginning that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: Rule,
}

/// The beginnings that are no shapes. The words are parts of names: `pass` is in `password`, `sess` in `PHPSESSID`.
const OTHERS: [(&str, Rule); 14] = [
    (super::MASK, Rule::Masked),
    ("-----BEGIN ", Rule::Pem),
    ("://", Rule::Url),
    ("-u ", Rule::User),
    ("--user ", Rule::User),
    ("bearer ", Rule::Bearer),
    ("key", Rule::Name),
    ("token", Rule::Name),
    ("secret", Rule::Name),
    ("pass", Rule::Name),
    ("pwd", Rule::Name),
    ("cred", Rule::Name),
    ("auth", Rule::Name),
    ("sess", Rule::Name),
];

/// Finds beginnings. For each of the first three bytes, and each value of it, a set of the beginnings that have it there: a
/// place where the three sets share a member is looked at closely, and others cost three lookups.
#[derive(Debug)]
pub(super) struct Anchors {
    beginnings: Vec<Beginning>,
    sets: [[u64; 256]; 3],
    /// The length of the longest, in bytes.
    longest: usize,
}

/// The beginnings of this module's tables.
pub(super) static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|shape| Beginning::new(shape.prefix, false, Rule::Shape(shape)));
    let others = OTHERS.iter();
    let others =
        others.map(|(text, rule)| Beginning::new(text, text.starts_with(char::is_alphabetic), *rule));
    Anchors::new(shapes.chain(others).collect())
});

impl Beginning {
    fn new(text: &'static str, any_case: bool, rule: Rule) -> Beginning {
        Beginning { text: text.as_bytes(), any_case, rule }
    }

    /// Whether the text goes on with this beginning, as far as both reach.
    fn fits(&self, text: &[u8]) -> bool {
        let reach = self.text.len().min(text.len());
        match (self.text.get(..reach), text.get(..reach)) {
            (Some(own), Some(text)) if self.any_case => own.eq_ignore_ascii_case(text),
            (own, text) => own == text,
        }
    }
}

impl Anchors {
    /// At most 64 beginnings of at least three bytes each (a test counts them).
    fn new(beginnings: Vec<Beginning>) -> Anchors {
        let mut sets = [[0_u64; 256]; 3];
        for (index, beginning) in beginnings.iter().enumerate() {
            for (set, byte) in sets.iter_mut().zip(beginning.text) {
                let lower = if beginning.any_case { byte.to_ascii_lowercase() } else { *byte };
                let upper = if beginning.any_case { byte.to_ascii_uppercase() } else { *byte };
                for byte in [lower, upper] {
                    if let Some(members) = set.get_mut(usize::from(byte)) {
                        *members |= 1 << index;
                    }
                }
            }
        }
        let longest = beginnings.iter().map(|beginning| beginning.text.len()).max().unwrap_or_default();
        Anchors { beginnings, sets, longest }
    }

    /// The first beginning at `from` or later.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Anchor> {
        let [first, second, third] = &self.sets;
        let member = |set: &[u64; 256], byte: u8| set.get(usize::from(byte)).copied().unwrap_or_default();
        let rest = text.get(from..)?;
        rest.windows(3).enumerate().find_map(|(offset, three)| {
            let [a, b, c] = three else { return None };
            let fitting = member(first, *a) & member(second, *b) & member(third, *c);
            if fitting == 0 { None } else { self.closely(text, from + offset, fitting) }
        })
    }

    /// The first of some beginnings that stands at a place as a whole.
    fn closely(&self, text: &[u8], start: usize, mut fitting: u64) -> Option<Anchor> {
        while fitting != 0 {
            let beginning = self.beginnings.get(fitting.trailing_zeros() as usize)?;
            let end = start + beginning.text.len();
            if text.get(start..end).is_some_and(|found| beginning.fits(found)) {
                return Some(Anchor { start, end, rule: beginning.rule });
            }
            fitting &= fitting - 1;
        }
        None
    }

    /// Where the end of a text may be the first part of a beginning; the text's length if nowhere.
    pub(super) fn begun(&self, text: &[u8], from: usize) -> usize {
        let begun = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            self.beginnings.iter().any(|beginning| beginning.text.len() > rest.len() && beginning.fits(rest))
        };
        (self.tail(text).max(from)..text.len()).find(|at| begun(*at)).unwrap_or(text.len())
    }

    /// Whether the end of a text may be the first part of a beginning that stands before a place.
    pub(super) fn begins_before(&self, text: &[u8], from: usize, place: usize) -> bool {
        self.tail(text) < place && self.begun(text, from) < place
    }

    /// The first place where not every beginning fits into the text.
    fn tail(&self, text: &[u8]) -> usize {
        text.len().saturating_sub(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_beginnings_have_a_bit_and_three_bytes() {
        assert!(ANCHORS.beginnings.len() <= 64, "{}", ANCHORS.beginnings.len());
        assert!(ANCHORS.beginnings.iter().all(|beginning| beginning.text.len() >= 3));
    }
}
