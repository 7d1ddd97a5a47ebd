//! Changes the store: validate first, write, and show the change at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::MutexGuard;

use super::document::{Document, DocumentError};
use super::slots::{Layers, Slot};
use super::state::State;
use super::{Catalog, Documents, PromptEntry, Snapshot};
use crate::store::{Etag, Precondition, StoreError};
use base::error::{Kind, Kinded};
use base::model::{DocumentKind, Extension, Id, Origin, ProblemDetail};
use base::schema::{Violation, in_words};

/// How long a write waits for those before it.
const TURN_LIMIT: Duration = Duration::from_secs(5);

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
    NotJson(ProblemDetail),
    /// The document breaks its schema, or does not fit its id.
    #[error("the document is not a valid {kind}: {}", in_words(violations))]
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
        flaws: Vec<ProblemDetail>,
    },
    /// Nothing of this id exists.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// The kind of the document.
        kind: DocumentKind,
        /// Its id.
        id: Id,
    },
    /// Only a package or an extension has it.
    #[error(
        "the {kind} `{id}` comes with a package or an extension and cannot be deleted here; change that, or put a document over it"
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
        condition: Precondition,
    ) -> Result<Written, WriteError> {
        self.validate(kind, id, bytes, &self.snapshot())?;
        let _turn = self.turn().await?;
        let key = self.key_of(&*self.state.lock().await, kind, id);
        let created = match self.store.get(&key).await {
            Ok(found) => found.is_none(),
            // Whatever it is that others put there is replaced.
            Err(StoreError::WrongType { .. } | StoreError::TooLarge { .. })
                if condition == Precondition::Any =>
            {
                false
            }
            Err(error) => return Err(error.into()),
        };
        let etag = self.store.put(&key, bytes, condition, None).await?;
        self.take_one(kind, &key, Some(bytes.to_vec())).await;
        Ok(Written { created, etag })
    }

    /// Takes a document out of the store; what a package has under the same id shows again.
    ///
    /// # Errors
    /// [`WriteError::ReadOnly`] when only a package has it, [`WriteError::NotFound`] when nobody has.
    pub async fn delete(
        &self,
        kind: DocumentKind,
        id: &Id,
        condition: Precondition,
    ) -> Result<(), WriteError> {
        let _turn = self.turn().await?;
        let (key, known) = {
            let state = self.state.lock().await;
            let key = self.key_of(&state, kind, id);
            let known = state.slots().of(kind).get(&key).is_some_and(|layers| layers.stored().is_some());
            (key, known)
        };
        // What we knew of and is not there may have been removed by our own request, sent again over a new connection.
        let was_there = self.store.delete(&key, condition).await? || known;
        self.take_one(kind, &key, None).await;
        let (kind, id) = (kind, id.clone());
        match (was_there, self.exists(kind, &id).await) {
            (true, _) => Ok(()),
            (false, true) => Err(WriteError::ReadOnly { kind, id }),
            (false, false) => Err(WriteError::NotFound { kind, id }),
        }
    }

    /// Waits for this write's turn, but not for ever behind a store that does not answer.
    pub(super) async fn turn(&self) -> Result<MutexGuard<'_, ()>, StoreError> {
        tokio::time::timeout(TURN_LIMIT, self.writes.lock())
            .await
            .map_err(|_| StoreError::Unavailable { message: "too many writes are waiting for it".to_owned() })
    }

    /// The catalog, and the version of the document that is stored under an id in just that catalog; `None` when only a
    /// package has it.
    pub async fn snapshot_with_etag(&self, kind: DocumentKind, id: &Id) -> (Arc<Snapshot>, Option<Etag>) {
        // Snapshots are published under this lock.
        let state = self.state.lock().await;
        let stored = state.slots().of(kind).get(&self.key_of(&state, kind, id));
        let bytes = stored.and_then(Layers::stored).and_then(Slot::bytes);
        (self.snapshot(), bytes.map(Etag::of))
    }

    /// The ids of the documents in the store, good or bad, as their keys say; sorted.
    pub async fn stored_ids(&self, kind: DocumentKind) -> Vec<Id> {
        let state = self.state.lock().await;
        let slots = state.slots().of(kind).iter().filter(|(_, layers)| layers.stored().is_some());
        let mut ids: Vec<Id> =
            slots.filter_map(|(key, _)| Id::from_key(key, &self.options.root, kind).ok()).collect();
        ids.sort();
        ids
    }

    /// The key of a document: that of its id, or, for an extension, the one under which its name is stored.
    fn key_of(&self, state: &State, kind: DocumentKind, id: &Id) -> String {
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

    /// A document as it was written: what the store holds, else (unless only that is wanted) what a package brings.
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
            _ => slot.bytes().map(<[u8]>::to_vec),
        }
    }

    async fn exists(&self, kind: DocumentKind, id: &Id) -> bool {
        if kind != DocumentKind::Environ {
            return self.snapshot().entry(kind, id).is_some();
        }
        // An entry of an environ may be a part of others.
        let state = self.state.lock().await;
        let layers = state.slots().of(kind).get(&id.to_key(&self.options.root, kind));
        layers.is_some_and(|layers| layers.stored().is_none())
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
        let document = Document::read_named(kind, id, bytes).map_err(|error| match error {
            DocumentError::NotJson(reason) => WriteError::NotJson(reason),
            DocumentError::Invalid(violations) => WriteError::Invalid { kind, violations },
        })?;
        let prompts = document.prompts();
        let around = match &document {
            Document::Extension(extension) => &with_contributions(&around.documents, extension),
            _ => &around.documents,
        };
        let flaws: Vec<ProblemDetail> =
            prompts.iter().flat_map(|prompt| (self.check)(prompt, around).flaws).collect();
        if flaws.is_empty() { Ok(()) } else { Err(WriteError::Template { flaws }) }
    }
}

/// The documents as they would be with the prompts of this extension, which may include one another.
fn with_contributions(around: &Documents, extension: &Extension) -> Arc<Documents> {
    let mut documents = around.clone();
    for prompt in &extension.prompts {
        let entry = PromptEntry {
            id: prompt.id.clone(),
            origin: Origin::Extension,
            prompt: Some(prompt.clone()),
            extension: None,
            problems: Vec::new(),
        };
        documents.prompts.insert(Arc::new(entry));
    }
    Arc::new(documents)
}
