//! The errors of content objects, and a collector that reports all of them at once.

use base::error::{Kind, Kinded};
use base::schema::{VIOLATIONS_MAX, Violation, in_words};

/// The error of messages whose content objects cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// Messages, or the content objects in them, are not valid.
    #[error("the messages cannot be used: {}", in_words(violations))]
    Invalid {
        /// All violations, in the order in which the pipeline finds them.
        violations: Vec<Violation>,
    },
    /// A content object has an unknown type.
    #[error("{path}: there is no content type `{name}`; the known ones are {}", known.join(", "))]
    UnknownType {
        /// The JSON Pointer of the object.
        path: String,
        /// The type that it names.
        name: String,
        /// The types that exist, or the first ones if they are many.
        known: Vec<String>,
    },
    /// A content object contains tools, which only structured requests support.
    #[error("{path}: a `tool` object has no meaning without a schema; use a structured request")]
    Tool {
        /// The JSON Pointer of the object.
        path: String,
    },
}

impl Kinded for ContentError {
    fn kind(&self) -> Kind {
        Kind::InvalidInput
    }
}

/// Collects the errors of a list of messages, so that one response names them all.
#[derive(Debug, Default)]
pub(super) struct ContentErrors {
    violations: Vec<Violation>,
    /// The error of the first object whose type cannot be used; it takes precedence over the violations.
    type_error: Option<ContentError>,
}

impl ContentErrors {
    /// Adds a violation at `path`.
    pub(super) fn add(&mut self, path: String, message: impl Into<String>) {
        self.add_violation(Violation { path, message: message.into(), missing: None });
    }

    /// Adds a violation; after [`VIOLATIONS_MAX`] violations, one more says that there are more.
    pub(super) fn add_violation(&mut self, violation: Violation) {
        let more = || format!("there are more violations; only {VIOLATIONS_MAX} are listed");
        match self.violations.len() {
            ..VIOLATIONS_MAX => self.violations.push(violation),
            VIOLATIONS_MAX => {
                self.violations.push(Violation { path: String::new(), message: more(), missing: None });
            }
            _ => {}
        }
    }

    /// Adds the error of an object whose type cannot be used.
    pub(super) fn add_type_error(&mut self, error: ContentError) {
        self.type_error.get_or_insert(error);
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.violations.is_empty() && self.type_error.is_none()
    }

    /// One error for everything that was added.
    pub(super) fn finish(self) -> Result<(), ContentError> {
        match self {
            ContentErrors { type_error: Some(error), .. } => Err(error),
            ContentErrors { violations, .. } if !violations.is_empty() => {
                Err(ContentError::Invalid { violations })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_violations_is_bounded_and_says_so() {
        let mut errors = ContentErrors::default();
        (0..VIOLATIONS_MAX + 5).for_each(|index| errors.add(format!("/messages/{index}"), "wrong"));
        let Err(ContentError::Invalid { violations }) = errors.finish() else { panic!("no violations") };
        assert_eq!(violations.len(), VIOLATIONS_MAX + 1);
        assert!(violations[VIOLATIONS_MAX].message.starts_with("there are more"), "{violations:?}");
    }
}
