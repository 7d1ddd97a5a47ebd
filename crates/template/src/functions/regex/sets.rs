//! The sets of characters of a regular expression: single ones, classes, and what they are when case does not count.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::tree::Node;

/// All characters that differ from another one by case alone.
static CASED: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let mut cased = named("\\p{Changes_When_Casemapped}").unwrap_or_else(ClassUnicode::empty);
    cased.union(&named("\\p{Changes_When_Casefolded}").unwrap_or_else(ClassUnicode::empty));
    cased
});

/// A part of a class.
pub enum Item {
    Range(char, char),
    /// A class that has a name; `true`: all others.
    Class(Rc<ClassUnicode>, bool),
}

/// The sets of an expression, each once.
#[derive(Default)]
pub struct Sets<'p> {
    /// What sets are called, with whether case does not count.
    by_text: HashMap<(&'p str, bool), usize>,
    by_name: HashMap<(String, bool), Rc<ClassUnicode>>,
    by_ranges: HashMap<Vec<(char, char)>, usize>,
    sets: Vec<ClassUnicode>,
    /// How much work the sets were: about as many ranges.
    work: usize,
}

/// The class of that name.
fn named(name: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(name).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        // A class of one character.
        HirKind::Literal(text) => {
            let only = std::str::from_utf8(&text.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(only, only)]))
        }
        _ => None,
    }
}

/// Adds what differs from a character of the class by case alone.
fn fold(class: &mut ClassUnicode) {
    // Most characters have no case, and each takes time.
    let mut cased = class.clone();
    cased.intersect(&CASED);
    cased.case_fold_simple();
    class.union(&cased);
}

impl<'p> Sets<'p> {
    pub fn all(&self) -> &[ClassUnicode] {
        &self.sets
    }

    /// About how many ranges have been looked at.
    pub fn work(&self) -> usize {
        self.work
    }

    /// The number of a set.
    fn number(&mut self, set: ClassUnicode) -> usize {
        self.work += set.ranges().len();
        let ranges = set.ranges().iter().map(|range| (range.start(), range.end()));
        *self.by_ranges.entry(ranges.collect()).or_insert_with(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    /// A single character.
    pub fn character(&mut self, c: char, folds: bool) -> Node {
        match u8::try_from(c) {
            Ok(byte) if byte.is_ascii() && !(folds && byte.is_ascii_alphabetic()) => Node::Byte(byte),
            _ => {
                let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
                if folds {
                    class.case_fold_simple();
                }
                Node::Set(self.number(class))
            }
        }
    }

    /// The set that was written so before.
    pub fn known(&self, text: &'p str, folds: bool) -> Option<Node> {
        self.by_text.get(&(text, folds)).copied().map(Node::Set)
    }

    /// The set that is written so and has these parts, or all others.
    pub fn class(&mut self, text: &'p str, folds: bool, items: Vec<Item>, negative: bool) -> Node {
        let mut set = ClassUnicode::new(items.iter().filter_map(|item| match item {
            Item::Range(low, high) => Some(ClassUnicodeRange::new(*low, *high)),
            Item::Class(..) => None,
        }));
        if folds {
            self.work += set.ranges().len();
            fold(&mut set);
        }
        for item in items {
            let Item::Class(class, negative) = item else { continue };
            self.work += class.ranges().len();
            match negative {
                true => {
                    let mut others = class.as_ref().clone();
                    others.negate();
                    set.union(&others);
                }
                false => set.union(&class),
            }
        }
        if negative {
            set.negate();
        }
        let number = self.number(set);
        self.by_text.insert((text, folds), number);
        Node::Set(number)
    }

    /// The class of that name, in the syntax of the crate `regex_syntax`.
    pub fn named(&mut self, name: &str, folds: bool) -> Option<Rc<ClassUnicode>> {
        let key = (name.to_owned(), folds);
        if let Some(class) = self.by_name.get(&key) {
            return Some(class.clone());
        }
        let mut class = named(name)?;
        self.work += class.ranges().len();
        if folds {
            self.work += CASED.ranges().len();
            fold(&mut class);
        }
        let class = Rc::new(class);
        self.by_name.insert(key, class.clone());
        Some(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_without_case_have_no_others() {
        let mut others = CASED.clone();
        others.negate();
        let before = others.clone();
        others.case_fold_simple();
        assert!(others == before);
    }

    #[test]
    fn case_does_not_count_as_in_go() {
        let mut set = ClassUnicode::new([ClassUnicodeRange::new('k', 'k')]);
        fold(&mut set);
        let found: Vec<char> = set.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
        assert_eq!(found, ['K', 'k', '\u{212a}']);
    }
}
