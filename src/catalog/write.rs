//! Writes of documents: validates a document, stores it, and updates the catalog at once.
//!
//! A document that breaks its schema, or whose templates do not compile, is not stored; the error lists every violation.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::MutexGuard;

use super::document::{Document, DocumentError};
use super::slots::{Layers, Slot};
use super::state::CatalogState;
use super::{Catalog, Documents, ExtensionEntry, PromptEntry, Snapshot};
use crate::store::{Etag, Precondition, StoreError};
use base::error::{Kind, Kinded};
use base::model::{DocumentKind, Extension, Id, Origin, ProblemDetail};
use base::schema::{Violation, in_words};

/// How long a write waits for the lock.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOutcome {
    /// Whether there was no stored document with the id before.
    pub created: bool,
    /// The version that is stored now.
    pub etag: Etag,
    /// The problems that the document has although it was taken.
    pub problems: Vec<ProblemDetail>,
}

/// The error of a write that was not done.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The document is not JSON.
    #[error("the document is {}", .0.message)]
    NotJson(ProblemDetail),
    /// The document breaks its schema, or names itself otherwise than its id.
    #[error("the document is not a valid {kind}: {}", in_words(violations))]
    Invalid {
        /// The kind whose schema was checked.
        kind: DocumentKind,
        /// All violations.
        violations: Vec<Violation>,
    },
    /// A template in the document does not compile.
    #[error("{}", problems.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; "))]
    Template {
        /// The problems of all templates.
        problems: Vec<ProblemDetail>,
    },
    /// There is no document with this id.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// The kind that was asked for.
        kind: DocumentKind,
        /// The id that was asked for.
        id: Id,
    },
    /// The document is not in the store, but in a package or an extension.
    #[error(
        "the {kind} `{id}` comes with a package or an extension and cannot be deleted here; \
         change the package, or override the document by storing one with its id"
    )]
    ReadOnly {
        /// The kind that was asked for.
        kind: DocumentKind,
        /// The id that was asked for.
        id: Id,
    },
    /// The error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
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
    /// Validates a document by its schema and by compiling its templates, stores it, and updates the catalog.
    ///
    /// # Errors
    /// [`WriteError`]; then nothing has changed, unless it is [`StoreError::Unsure`].
    pub async fn put(
        &self,
        kind: DocumentKind,
        id: &Id,
        bytes: &[u8],
        condition: Precondition,
    ) -> Result<WriteOutcome, WriteError> {
        self.validate(kind, id, bytes, &self.snapshot())?;
        let _lock = self.write_lock().await?;
        let key = self.key_of(&*self.state.lock().await, kind, id);
        let created = match self.store.get(&key).await {
            Ok(found) => found.is_none(),
            // An unreadable value of another program is replaced.
            Err(StoreError::WrongType { .. } | StoreError::TooLarge { .. })
                if condition == Precondition::Any =>
            {
                false
            }
            Err(error) => return Err(error.into()),
        };
        let etag = self.store.put(&key, bytes, condition, None).await?;
        self.update(kind, &key, Some(bytes.to_vec())).await;
        let problems = self.snapshot().problems_of(&key);
        Ok(WriteOutcome { created, etag, problems })
    }

    /// Deletes a document from the store; a package's document with the same id is then visible again.
    ///
    /// # Errors
    /// [`WriteError::ReadOnly`] if only a package has it, [`WriteError::NotFound`] if there is none.
    pub async fn delete(
        &self,
        kind: DocumentKind,
        id: &Id,
        condition: Precondition,
    ) -> Result<(), WriteError> {
        let _lock = self.write_lock().await?;
        let (key, known) = {
            let state = self.state.lock().await;
            let key = self.key_of(&state, kind, id);
            let known = state.slots().of(kind).get(&key).is_some_and(|layers| layers.stored().is_some());
            (key, known)
        };
        // A known document that is not there may have been deleted by the first attempt of this request.
        let was_there = self.store.delete(&key, condition).await? || known;
        self.update(kind, &key, None).await;
        let (kind, id) = (kind, id.clone());
        match (was_there, self.exists(kind, &id).await) {
            (true, _) => Ok(()),
            (false, true) => Err(WriteError::ReadOnly { kind, id }),
            (false, false) => Err(WriteError::NotFound { kind, id }),
        }
    }

    /// Waits for the lock of writes, with a time limit for the case that the store does not answer.
    pub(super) async fn write_lock(&self) -> Result<MutexGuard<'_, ()>, StoreError> {
        tokio::time::timeout(LOCK_LIMIT, self.writes.lock())
            .await
            .map_err(|_| StoreError::Unavailable { message: "too many writes are waiting for it".to_owned() })
    }

    /// The current snapshot, and the version of the stored document in that snapshot; `None` if only a package has it.
    pub async fn snapshot_with_etag(&self, kind: DocumentKind, id: &Id) -> (Arc<Snapshot>, Option<Etag>) {
        // Snapshots are published under this lock.
        let state = self.state.lock().await;
        let stored = state.slots().of(kind).get(&self.key_of(&state, kind, id));
        let bytes = stored.and_then(Layers::stored).and_then(Slot::bytes);
        (self.snapshot(), bytes.map(Etag::of))
    }

    /// The ids of all documents in the store, good or bad, according to their keys; sorted.
    pub async fn stored_ids(&self, kind: DocumentKind) -> Vec<Id> {
        let state = self.state.lock().await;
        let slots = state.slots().of(kind).iter().filter(|(_, layers)| layers.stored().is_some());
        let mut ids: Vec<Id> =
            slots.filter_map(|(key, _)| Id::from_key(key, &self.options.root, kind).ok()).collect();
        ids.sort();
        ids
    }

    /// The key of a document: that of its id, or, for an extension that another program stored, the key that it has.
    fn key_of(&self, state: &CatalogState, kind: DocumentKind, id: &Id) -> String {
        let key = id.to_key(&self.options.root, kind);
        let slots = state.slots().of(kind);
        if kind != DocumentKind::Extension || slots.get(&key).and_then(Layers::stored).is_some() {
            return key;
        }
        let named = |layers: &Layers| {
            let document = layers.stored().and_then(|slot| slot.good.as_ref());
            matches!(document, Some(Document::Extension(e)) if Id::parse(&e.name).is_ok_and(|name| name == *id))
        };
        slots.iter().find(|(_, layers)| named(layers)).map_or(key, |(key, _)| key.clone())
    }

    /// The bytes of a document as they were written: those in the store, else (unless `stored_only`) those of a package.
    pub async fn raw(&self, kind: DocumentKind, id: &Id, stored_only: bool) -> Option<Vec<u8>> {
        let state = self.state.lock().await;
        let Some(layers) = state.slots().of(kind).get(&self.key_of(&state, kind, id)) else {
            let contributed =
                self.snapshot().prompt(id).filter(|_| kind == DocumentKind::Prompt && !stored_only).cloned();
            return serde_json::to_vec(&contributed?.prompt.as_ref()?.document).ok();
        };
        if let Some(bytes) = layers.stored().and_then(Slot::bytes) {
            return Some(bytes.to_vec());
        }
        let (_, slot) = layers.strongest_first().find(|_| !stored_only)?;
        match slot.good.as_ref()? {
            Document::Extension(extension) => serde_json::to_vec(&extension.document).ok(),
            Document::Prompt(prompt) => serde_json::to_vec(&prompt.document).ok(),
            _ => slot.bytes().map(<[u8]>::to_vec),
        }
    }

    async fn exists(&self, kind: DocumentKind, id: &Id) -> bool {
        match kind {
            DocumentKind::Environ => {}
            // One that is found by its last segment is another one.
            DocumentKind::Skill => return self.snapshot().documents.skill_sources.contains_key(id),
            _ => return self.snapshot().entry(kind, id).is_some(),
        }
        // There may be a value at the path of an environ that is part of another environ.
        let state = self.state.lock().await;
        let layers = state.slots().of(kind).get(&id.to_key(&self.options.root, kind));
        layers.is_some_and(|layers| layers.stored().is_none())
    }

    /// Validates a document that is about to be stored under `id`.
    ///
    /// # Errors
    /// [`WriteError::NotJson`], [`WriteError::Invalid`] or [`WriteError::Template`], with everything that is wrong.
    pub fn validate(
        &self,
        kind: DocumentKind,
        id: &Id,
        bytes: &[u8],
        around: &Snapshot,
    ) -> Result<(), WriteError> {
        let document = Document::read_named(kind, id, bytes).map_err(|error| match error {
            DocumentError::NotJson(problem) => WriteError::NotJson(problem),
            DocumentError::Invalid(violations) => WriteError::Invalid { kind, violations },
        })?;
        let prompts = document.prompts();
        let around = match &document {
            Document::Extension(extension) => &with_contributions(&around.documents, extension),
            _ => &around.documents,
        };
        let problems: Vec<ProblemDetail> =
            prompts.iter().flat_map(|prompt| (self.check)(prompt, around).problems).collect();
        if problems.is_empty() { Ok(()) } else { Err(WriteError::Template { problems }) }
    }
}

/// The documents together with this extension and its prompts, which may include one another and its texts.
fn with_contributions(around: &Documents, extension: &Arc<Extension>) -> Arc<Documents> {
    let mut documents = around.clone();
    if let Ok(id) = Id::parse(&extension.name) {
        let entry = ExtensionEntry { key: id.to_string(), extension: extension.clone(), unavailable: None };
        Arc::make_mut(&mut documents.extensions).insert(id, Arc::new(entry));
    }
    for prompt in &extension.prompts {
        let entry = PromptEntry {
            id: prompt.id.clone(),
            origin: Origin::Extension,
            prompt: Some(prompt.clone()),
            files: Arc::default(),
            extension: None,
            problems: Vec::new(),
        };
        documents.prompts.insert(Arc::new(entry));
    }
    Arc::new(documents)
}
