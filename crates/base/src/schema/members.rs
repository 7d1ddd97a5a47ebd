//! The members of an object that somebody sends: read one by one, so that one answer names all that is wrong.

use serde::de::DeserializeOwned;
use template::value::{RawObject, parse_json};

use super::Violation;

/// The members that are still to be read, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Members {
    body: RawObject,
    violations: Vec<Violation>,
}

impl Members {
    /// All members of an object.
    pub fn new(body: RawObject) -> Members {
        Members { body, violations: Vec::new() }
    }

    /// Something that is wrong, at a JSON Pointer.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.violations.push(Violation::new(path.into(), message));
    }

    /// The text of a member as it was written; null counts as absent.
    pub fn raw(&mut self, name: &str) -> Option<Box<serde_json::value::RawValue>> {
        self.body.remove(name).filter(|member| member.get() != "null")
    }

    /// A member; null counts as absent. `what` says what it must be.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str, what: &str) -> Option<T> {
        let member = self.raw(name)?;
        parse_json(member.get().as_bytes())
            .map_err(|_| self.add(format!("/{name}"), format!("must be {what}")))
            .ok()
    }

    /// A member that has to be there.
    pub fn need<T: DeserializeOwned>(&mut self, name: &str, what: &str) -> Option<T> {
        let is_absent = self.body.get(name).is_none_or(|member| member.get() == "null");
        if is_absent {
            self.violations.push(Violation {
                missing: Some(name.to_owned()),
                ..Violation::new(format!("/{name}"), format!("is missing: it must be {what}"))
            });
        }
        self.take(name, what)
    }

    /// A whole number within bounds.
    pub fn number(&mut self, name: &str, least: usize, most: usize) -> Option<usize> {
        let what = match most {
            usize::MAX => format!("a whole number from {least} on"),
            most => format!("a whole number from {least} to {most}"),
        };
        let number: usize = self.take(name, &what)?;
        if (least..=most).contains(&number) {
            return Some(number);
        }
        self.add(format!("/{name}"), format!("must be {what}"));
        None
    }

    /// Refuses all members that are left; `message` says why.
    ///
    /// # Errors
    /// All that is wrong.
    pub fn finish(mut self, message: &str) -> Result<(), Vec<Violation>> {
        let unknown: Vec<String> = self.body.names().map(str::to_owned).collect();
        for name in unknown {
            self.add(format!("/{}", name.replace('~', "~0").replace('/', "~1")), message);
        }
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}
