//! The catalog: packages and store merged into one view of extensions, prompts, environs, tools, skills and agents.
//!
//! - [`Snapshot`]: the immutable view that requests read
//! - `packages`, `prompt_folders`, `slots`: the documents of the sources with their last good versions; `state`: the mutable state of it all
//! - `document`: how documents of all kinds are read and checked; `entry`: how they serve, with their state
//! - `partials`: what templates include by a path
//! - `agents`: agents, and what they need of other documents; [`AgentSessions`]: by which they are tested
//! - `skill_folders`: the skills of packages; `skill_files`: the files beside them
//! - `merge`, `dependences`, `environs`, `checks`, `dependents`, `scope`, `prompts`: from the sources to a snapshot
//! - `no_document`: the error of an id that no document has
//! - `declared`: the names of parameters, and those that hide environs
//! - `sync`: follows the sources; `scan`: reads the store; `health`: the state of the store; `write`: changes the store

mod agent_sessions;
mod agents;
mod checks;
mod declared;
mod dependences;
mod dependents;
mod document;
mod entry;
mod environs;
mod health;
mod merge;
mod no_document;
mod packages;
mod partials;
mod prompt_folders;
mod prompts;
mod scan;
mod scope;
mod skill_files;
mod skill_folders;
mod slots;
mod snapshot;
mod state;
mod sync;
mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

pub use agent_sessions::AgentSessions;
pub use agents::AgentEntry;
pub use checks::{Check, CheckResult};
pub use declared::clashes_of;
pub use document::{Document, DocumentError, violations};
pub use entry::{Entry, ExtensionEntry, PromptEntry};
pub use health::{Loss, MissingCount, NotLoadedError, StoreState};
pub use no_document::NoDocumentError;
pub use packages::{shipped_prompts, test_files};
pub use partials::PartialFile;
pub use prompt_folders::notes as package_notes;
pub use prompts::Prompts;
pub use scope::{Lookups, PromptScope};
pub use skill_files::{BundledFileError, SkillSource};
pub use snapshot::{Documents, Snapshot};
pub use write::{WriteError, WriteOutcome};

use crate::store::Store;
use state::CatalogState;

/// The options of a catalog.
#[derive(Debug, Clone)]
pub struct CatalogOptions {
    /// The prefix of every key in the store.
    pub root: String,
    /// The folder of packages.
    pub packages: PathBuf,
    /// Whether the packages inside the binary are loaded, too.
    pub builtin: bool,
    /// Whether an unmet dependence makes an extension unavailable.
    pub enforce_dependences: bool,
    /// The shortest pause between scans of a store that cannot push its changes.
    pub scan_every: Duration,
    /// How long documents are kept when more than half of their kind disappears from the store at once.
    pub keep_missing: Duration,
}

/// The catalog, which follows its sources and publishes snapshots.
pub struct Catalog {
    options: CatalogOptions,
    store: Arc<dyn Store>,
    check: Check,
    current: ArcSwap<Snapshot>,
    state: Mutex<CatalogState>,
    /// Serializes the writes, so that snapshots follow the order of the writes in the store.
    writes: Mutex<()>,
    /// The keys written since the running scan began, whose scanned values may be out of date; `None` between scans.
    recent_writes: std::sync::Mutex<Option<BTreeSet<String>>>,
    store_state: RwLock<StoreState>,
}

impl Catalog {
    /// An empty catalog over a store; [`Catalog::load_packages`] and [`Catalog::read_store`] fill it.
    pub fn new(options: CatalogOptions, store: Arc<dyn Store>, check: Check) -> Catalog {
        let state = CatalogState::new(&options.root, options.enforce_dependences, check.clone());
        let store_state = RwLock::new(StoreState::new(options.scan_every));
        Catalog {
            options,
            store,
            check,
            current: ArcSwap::default(),
            state: Mutex::new(state),
            writes: Mutex::new(()),
            recent_writes: std::sync::Mutex::default(),
            store_state,
        }
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The store that the catalog reads and writes.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The prefix of every key in the store.
    pub fn root(&self) -> &str {
        &self.options.root
    }

    /// The state of the store as of the last access.
    pub fn store_state(&self) -> StoreState {
        // A poisoned lock still holds a whole value: each writer only assigns fields.
        self.store_state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether requests can be served: the store has been read once, or it cannot be read but there are prompts in packages.
    pub fn ready(&self) -> bool {
        let (store, documents) = (self.store_state(), &self.current.load().documents);
        store.loaded || store.error.is_some() && !documents.prompts.is_empty()
    }

    fn publish(&self, state: &mut CatalogState) {
        self.current.store(state.snapshot());
    }
}
