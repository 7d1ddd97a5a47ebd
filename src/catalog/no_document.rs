//! The error of an id that no document has, which names the ids that may have been meant.

use super::Snapshot;
use base::error::{Kind, Kinded};
use base::model::{DocumentKind, Id};

/// The most ids that the error names.
const NAMED_MAX: usize = 20;

/// There is no document with an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct NoDocumentError {
    /// The kind that was asked for.
    pub kind: DocumentKind,
    id: Id,
    /// The ids that end so.
    whole: Vec<Id>,
}

impl NoDocumentError {
    fn message(&self) -> String {
        let NoDocumentError { kind, id, whole } = self;
        let listed = whole.iter().map(Id::as_str).collect::<Vec<_>>().join(", ");
        match whole.len() {
            0 => format!("there is no {kind} `{id}`; GET /api/{kind}s lists those that exist"),
            1 => format!("there is no {kind} `{id}`, but one that ends so: {listed}; give the whole id"),
            _ => format!("several {kind}s end in `{id}`: {listed}; give the whole id"),
        }
    }
}

impl Kinded for NoDocumentError {
    fn kind(&self) -> Kind {
        Kind::NotFound
    }
}

impl Snapshot {
    /// The error of an id that no document of a kind has.
    pub fn no_document(&self, kind: DocumentKind, id: &Id) -> NoDocumentError {
        let whole = match kind {
            DocumentKind::Skill => self.skills_ending_in(id).take(NAMED_MAX).cloned().collect(),
            _ => Vec::new(),
        };
        NoDocumentError { kind, id: id.clone(), whole }
    }
}
