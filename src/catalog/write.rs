//! Changes the store: validate first, write, and show the change at once.

use serde_json::Value as Json;

use super::slots::{Document, Layer, Slot, violations};
use super::{Catalog, Snapshot};
use crate::error::{Kind, Kinded};
use crate::model::{DocumentKind, Extension, Id, Origin, Prompt, Reason, string_member};
use crate::schema::Violation;
use crate::store::{Etag, Expect, StoreError};

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Whether nothing was stored under the id before.
    pub created: bool,
    /// The version that is stored now.
    pub etag: Etag,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The document is not JSON.
    #[error("the document is {}", .0.message)]
    NotJson(Reason),
    /// The document breaks its schema, or does not fit its id.
    #[error("the document is not a valid {kind}: {}", list(violations))]
    Invalid {
        /// The kind of the document.
        kind: DocumentKind,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
    /// A template in the document does not compile.
    #[error("{}", flaws.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; "))]
    Template {
        /// Everything that is wrong.
        flaws: Vec<Reason>,
    },
    /// Nothing of this id exists.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// The kind of the document.
        kind: DocumentKind,
        /// Its id.
        id: Id,
    },
    /// Only a package has it.
    #[error(
        "the {kind} `{id}` belongs to a package and cannot be deleted here; change the package, or put a document over it"
    )]
    ReadOnly {
        /// The kind of the document.
        kind: DocumentKind,
        /// Its id.
        id: Id,
    },
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(violations: &[Violation]) -> String {
    let one = |v: &Violation| match v.path.as_str() {
        "" => v.message.clone(),
        path => format!("{path}: {}", v.message),
    };
    violations.iter().map(one).collect::<Vec<_>>().join("; ")
}

impl Kinded for WriteError {
    fn kind(&self) -> Kind {
        match self {
            WriteError::NotJson(_) | WriteError::Invalid { .. } | WriteError::Template { .. } => {
                Kind::InvalidInput
            }
            WriteError::NotFound { .. } => Kind::NotFound,
            WriteError::ReadOnly { .. } => Kind::Conflict,
            WriteError::Store(error) => error.kind(),
        }
    }
}

impl Catalog {
    /// Validates a document by its schema and by compiling its templates, stores it, and shows it.
    ///
    /// # Errors
    /// [`WriteError`]; then nothing has changed.
    pub async fn put(
        &self,
        kind: DocumentKind,
        id: &Id,
        bytes: &[u8],
        expect: Expect,
    ) -> Result<Written, WriteError> {
        self.validate(kind, id, bytes, &self.snapshot())?;
        let key = id.to_key(&self.options.root, kind);
        let _turn = self.writes.lock().await;
        let created = self.store.get(&key).await?.is_none();
        let etag = self.store.put(&key, bytes, expect, None).await?;
        self.take_one(kind, &key, Some(bytes.to_vec())).await;
        Ok(Written { created, etag })
    }

    /// Takes a document out of the store; what a package has under the same id shows again.
    ///
    /// # Errors
    /// [`WriteError::ReadOnly`] when only a package has it, [`WriteError::NotFound`] when nobody has.
    pub async fn delete(&self, kind: DocumentKind, id: &Id, expect: Expect) -> Result<(), WriteError> {
        let key = id.to_key(&self.options.root, kind);
        let _turn = self.writes.lock().await;
        let was_there = self.store.delete(&key, expect).await?;
        self.take_one(kind, &key, None).await;
        let (kind, id) = (kind, id.clone());
        match (was_there, self.exists(kind, &id).await) {
            (true, _) => Ok(()),
            (false, true) => Err(WriteError::ReadOnly { kind, id }),
            (false, false) => Err(WriteError::NotFound { kind, id }),
        }
    }

    /// The version of the document that is stored under an id; `None` when only a package has it.
    pub async fn etag(&self, kind: DocumentKind, id: &Id) -> Option<Etag> {
        let state = self.state.lock().await;
        let slot = state.slots().of(kind).get(&id.to_key(&self.options.root, kind))?.get(Layer::Store)?;
        slot.bytes().map(Etag::of)
    }

    /// A document as it was written: what the store holds, else (unless only that is wanted) what a package brings.
    pub async fn raw(&self, kind: DocumentKind, id: &Id, stored_only: bool) -> Option<Vec<u8>> {
        let state = self.state.lock().await;
        let layers = state.slots().of(kind).get(&id.to_key(&self.options.root, kind))?;
        if let Some(bytes) = layers.get(Layer::Store).and_then(Slot::bytes) {
            return Some(bytes.to_vec());
        }
        let (_, slot) = layers.strongest_first().find(|_| !stored_only)?;
        match slot.good.as_ref()? {
            Document::Extension(extension) => serde_json::to_vec(&extension.document).ok(),
            _ => slot.bytes().map(<[u8]>::to_vec),
        }
    }

    async fn exists(&self, kind: DocumentKind, id: &Id) -> bool {
        let snapshot = self.snapshot();
        let documents = &snapshot.documents;
        match kind {
            DocumentKind::Extension => documents.extensions.contains_key(id),
            DocumentKind::Prompt => documents.prompts.contains_key(id),
            DocumentKind::Tool => documents.tools.contains_key(id),
            DocumentKind::Environ => {
                let state = self.state.lock().await;
                let slots = state.slots().of(kind);
                slots.get(&id.to_key(&self.options.root, kind)).is_some_and(|l| l.get(Layer::Store).is_none())
            }
        }
    }

    /// Everything that is wrong with a document that is about to be stored under `id`.
    ///
    /// # Errors
    /// [`WriteError::NotJson`], [`WriteError::Invalid`], [`WriteError::Template`].
    pub fn validate(
        &self,
        kind: DocumentKind,
        id: &Id,
        bytes: &[u8],
        around: &Snapshot,
    ) -> Result<(), WriteError> {
        let json: Json =
            serde_json::from_slice(bytes).map_err(|e| WriteError::NotJson(Reason::from_json_error(&e)))?;
        let mut violations = violations(kind, &json);
        violations.extend(identity_violation(kind, id, &json));
        if !violations.is_empty() {
            return Err(WriteError::Invalid { kind, violations });
        }
        let flaws = match kind {
            DocumentKind::Prompt => {
                let prompt = Prompt::from_document(id.clone(), Origin::Direct, json);
                (self.check)(&prompt, around).flaws
            }
            DocumentKind::Extension => {
                let extension = Extension::from_document(json);
                extension.prompts.iter().flat_map(|prompt| (self.check)(prompt, around).flaws).collect()
            }
            DocumentKind::Environ | DocumentKind::Tool => Vec::new(),
        };
        if flaws.is_empty() { Ok(()) } else { Err(WriteError::Template { flaws }) }
    }
}

/// A document that names itself must name itself as it is stored.
fn identity_violation(kind: DocumentKind, id: &Id, json: &Json) -> Option<Violation> {
    let text = |member| string_member(json, member);
    let (path, named) = match kind {
        DocumentKind::Extension => ("/name", text("name")?),
        DocumentKind::Tool => ("/name", format!("{}.{}", text("module")?, text("name")?)),
        DocumentKind::Prompt | DocumentKind::Environ => return None,
    };
    let same = Id::parse(&named).is_ok_and(|named| named == *id);
    let message = format!("the document calls itself `{named}`, but is stored as `{id}`");
    (!same).then(|| Violation { path: path.to_owned(), message, missing: None })
}
