//! Why messages cannot be unfolded, and the collection of everything that is wrong with them.

use super::object::TYPES;
use base::error::{Kind, Kinded};
use base::schema::{VIOLATIONS_MAX, Violation, in_words};

/// Why messages cannot be unfolded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// Messages, or the content objects in them, cannot be used as they are.
    #[error("the messages cannot be used: {}", in_words(violations))]
    Invalid {
        /// Everything that is wrong, in the order of the pipeline.
        violations: Vec<Violation>,
    },
    /// A content object is of a type that does not exist.
    #[error(
        "{path}: there is no content type `{name}`; the known ones are {}",
        TYPES.map(|(name, _)| name).join(", ")
    )]
    UnknownType {
        /// Where the object is: a JSON Pointer.
        path: String,
        /// The type that it names.
        name: String,
    },
    /// A content object brings tools, which only a request with a schema can use.
    #[error("{path}: a `tool` object has no meaning without a schema; use a structured request")]
    Tool {
        /// Where the object is: a JSON Pointer.
        path: String,
    },
}

impl Kinded for ContentError {
    fn kind(&self) -> Kind {
        Kind::InvalidInput
    }
}

/// Everything that was found to be wrong so far; one answer names it all.
#[derive(Debug, Default)]
pub(super) struct Faults {
    violations: Vec<Violation>,
    /// The first object whose type cannot be used, which matters more than the violations.
    refused: Option<ContentError>,
}

impl Faults {
    /// Something is wrong at `path`.
    pub(super) fn add(&mut self, path: String, message: impl Into<String>) {
        self.add_violation(Violation { path, message: message.into(), missing: None });
    }

    /// As [`Faults::add`]; past [`VIOLATIONS_MAX`], one violation says that there are more.
    pub(super) fn add_violation(&mut self, violation: Violation) {
        let more = || format!("there is more that is wrong; only {VIOLATIONS_MAX} faults are listed");
        match self.violations.len() {
            ..VIOLATIONS_MAX => self.violations.push(violation),
            VIOLATIONS_MAX => {
                self.violations.push(Violation { path: String::new(), message: more(), missing: None });
            }
            _ => {}
        }
    }

    /// An object's type cannot be used.
    pub(super) fn refuse(&mut self, error: ContentError) {
        self.refused.get_or_insert(error);
    }

    /// The error that names it all, if anything is wrong.
    pub(super) fn finish(self) -> Result<(), ContentError> {
        match self {
            Faults { refused: Some(error), .. } => Err(error),
            Faults { violations, .. } if !violations.is_empty() => Err(ContentError::Invalid { violations }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_faults_has_an_end_and_says_so() {
        let mut faults = Faults::default();
        (0..VIOLATIONS_MAX + 5).for_each(|index| faults.add(format!("/messages/{index}"), "wrong"));
        let Err(ContentError::Invalid { violations }) = faults.finish() else { panic!("no violations") };
        assert_eq!(violations.len(), VIOLATIONS_MAX + 1);
        assert!(violations[VIOLATIONS_MAX].message.starts_with("there is more"), "{violations:?}");
    }
}
