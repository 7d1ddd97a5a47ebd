//! Ids, keys and function names: three spellings of one thing.

use std::fmt;

use serde::Serialize;

use super::DocumentKind;

/// A text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not an id: write segments of letters, digits, `_` and `-`, joined by `.` (32 segments and 512 bytes at most)"
)]
pub struct InvalidId {
    /// What was given.
    pub text: String,
}

/// The id of a document: segments of `[A-Za-z0-9_-]+`, joined by `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// The longest id.
    pub const BYTES_MAX: usize = 512;

    /// The most segments; environs nest as deeply as their ids have segments.
    pub const SEGMENTS_MAX: usize = 32;

    /// Reads an id as people write it: segments joined by `.` or `:`.
    ///
    /// # Errors
    /// [`InvalidId`] for an empty segment or any other character, and beyond [`Id::BYTES_MAX`] and [`Id::SEGMENTS_MAX`].
    pub fn parse(text: &str) -> Result<Id, InvalidId> {
        if text.len() > Id::BYTES_MAX || text.split(['.', ':']).count() > Id::SEGMENTS_MAX {
            let text = format!("{}…", text.chars().take(40).collect::<String>());
            return Err(InvalidId { text });
        }
        let good = |segment: &str| {
            !segment.is_empty()
                && segment.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        if text.split(['.', ':']).all(good) {
            Ok(Id(text.replace(':', ".")))
        } else {
            Err(InvalidId { text: text.to_owned() })
        }
    }

    /// Reads the id out of a store key: the rest after the prefix, `:` becoming `.`.
    ///
    /// # Errors
    /// [`InvalidId`] when the key lacks the prefix, or its rest has a segment that no id can have
    /// (a `.` inside a segment of a key is one).
    pub fn from_key(key: &str, root: &str, kind: DocumentKind) -> Result<Id, InvalidId> {
        let rest = key.strip_prefix(root).and_then(|rest| rest.strip_prefix(kind.key_prefix()));
        match rest {
            Some(rest) if !rest.contains('.') => Id::parse(rest),
            _ => Err(InvalidId { text: rest.unwrap_or(key).to_owned() }),
        }
    }

    /// The store key of the document, below the root prefix (such as `shenma:`).
    pub fn to_key(&self, root: &str, kind: DocumentKind) -> String {
        format!("{root}{}{}", kind.key_prefix(), self.0.replace('.', ":"))
    }

    /// The id as text, with dots.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments in order.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// The id without its last segment; `None` when there is only one.
    pub fn parent(&self) -> Option<Id> {
        self.0.rsplit_once('.').map(|(parent, _)| Id(parent.to_owned()))
    }

    /// The id `{self}.{name}`.
    ///
    /// # Errors
    /// [`InvalidId`] when `name` is not made of id segments.
    pub fn child(&self, name: &str) -> Result<Id, InvalidId> {
        Id::parse(&format!("{}.{name}", self.0))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name under which templates call the tool `id`: every character that cannot stand in an identifier becomes `_`.
pub fn function_name(id: &Id) -> String {
    let name: String = id.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_documents_hold() {
        let id = Id::from_key("shenma:tools:codebase:lookup_ref", "shenma:", DocumentKind::Tool).unwrap();
        assert_eq!(id.as_str(), "codebase.lookup_ref");
        assert_eq!(function_name(&id), "codebase_lookup_ref");
        let chrome = Id::from_key("shenma:tools:mcp:chrome:xx", "shenma:", DocumentKind::Tool).unwrap();
        assert_eq!(function_name(&chrome), "mcp_chrome_xx");
        assert_eq!(Id::parse("a:b").unwrap(), Id::parse("a.b").unwrap());
    }

    #[test]
    fn what_no_id_can_be_is_refused() {
        for text in ["", ".", "a.", ".a", "a..b", "a b", "a/b", "a*", "ä", "a\n", "a:.b"] {
            assert!(Id::parse(text).is_err(), "{text:?}");
        }
        assert!(Id::parse(&vec!["a"; 33].join(".")).is_err());
        assert!(Id::parse(&"a".repeat(513)).is_err());
        assert!(Id::from_key("shenma:tools:a.b", "shenma:", DocumentKind::Tool).is_err());
        assert!(Id::from_key("other:tools:a", "shenma:", DocumentKind::Tool).is_err());
    }

    proptest! {
        #[test]
        fn an_id_survives_the_way_through_its_key(id in "[A-Za-z0-9_-]{1,8}([.:][A-Za-z0-9_-]{1,8}){0,4}", root in "[a-z]{0,5}:?") {
            let id = Id::parse(&id).unwrap();
            for kind in DocumentKind::ALL {
                prop_assert_eq!(&Id::from_key(&id.to_key(&root, kind), &root, kind).unwrap(), &id);
            }
        }

        #[test]
        fn a_function_name_is_always_an_identifier(id in "[A-Za-z0-9_-]{1,8}([.:][A-Za-z0-9_-]{1,8}){0,4}") {
            let name = function_name(&Id::parse(&id).unwrap());
            prop_assert!(!name.starts_with(|c: char| c.is_ascii_digit()));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
            let _ = Id::parse(&text).map(|id| function_name(&id));
        }
    }
}
