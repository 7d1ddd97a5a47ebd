//! Go's categories of characters: `unicode.IsUpper`, `IsLower`, `IsPunct`, and the mapping to title case.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

use crate::go;

/// The characters of a category, as sorted ranges.
struct Category(Vec<(char, char)>);

impl Category {
    fn named(name: &str) -> Category {
        let parsed = regex_syntax::parse(&format!("\\p{{{name}}}"));
        match parsed.as_ref().map(|hir| hir.kind()) {
            Ok(HirKind::Class(Class::Unicode(class))) => {
                Category(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
            }
            _ => Category(Vec::new()),
        }
    }

    fn contains(&self, c: char) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= c);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, end)| c <= *end)
    }
}

static UPPER: LazyLock<Category> = LazyLock::new(|| Category::named("Lu"));
static LOWER: LazyLock<Category> = LazyLock::new(|| Category::named("Ll"));
static TITLE: LazyLock<Category> = LazyLock::new(|| Category::named("Lt"));
static PUNCTUATION: LazyLock<Category> = LazyLock::new(|| Category::named("P"));

/// Go's `unicode.IsUpper`.
pub fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { UPPER.contains(c) }
}

/// Go's `unicode.IsLower`.
pub fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { LOWER.contains(c) }
}

/// Go's `unicode.IsTitle`.
pub fn is_title(c: char) -> bool {
    !c.is_ascii() && TITLE.contains(c)
}

/// Go's `unicode.IsPunct`.
pub fn is_punctuation(c: char) -> bool {
    PUNCTUATION.contains(c)
}

/// Go's `unicode.ToTitle`.
pub fn to_title(c: char) -> char {
    match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        // Georgian has no title case of its own.
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => c,
        _ => go::to_upper_char(c),
    }
}

/// The characters of a text; what is not UTF-8 becomes U+FFFD, as in Go.
pub fn chars(text: &[u8]) -> impl Iterator<Item = char> + '_ {
    go::Runes(text).map(|(c, _)| c.unwrap_or(char::REPLACEMENT_CHARACTER))
}
