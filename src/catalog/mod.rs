//! The catalog: packages and store merged into one view of extensions, prompts, environs and tools.
//!
//! - [`Snapshot`]: what requests read
//! - `packages`, `slots`: what the sources hold, and the last good version of it; `state`: all of it while it changes
//! - `document`: documents of all kinds, read and checked
//! - `merge`, `dependences`, `environs`, `checks`, `askers`, `nearby`, `prompts`: from there to a snapshot
//! - `sync`: follows the sources; `scan`: reads the store; `health`: what is known of it; `write`: changes it

mod askers;
mod checks;
mod dependences;
mod document;
mod environs;
mod health;
mod merge;
mod nearby;
mod packages;
mod prompts;
mod scan;
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

pub use checks::{Check, Checked};
pub use document::{Document, Entry, violations};
pub use health::{Loss, Missing, NotLoaded, StoreState};
pub use nearby::{Asked, Nearby};
pub use packages::test_files;
pub use prompts::Prompts;
pub use snapshot::{Documents, ExtensionEntry, PromptEntry, Snapshot};
pub use write::{WriteError, Written};

use crate::store::Store;
use state::State;

/// How the catalog is filled.
#[derive(Debug, Clone)]
pub struct Options {
    /// What every key of the store begins with.
    pub root: String,
    /// The folder of packages.
    pub packages: PathBuf,
    /// Whether the packages inside the binary are loaded too.
    pub builtin: bool,
    /// Whether an unmet dependence makes an extension unavailable.
    pub enforce_dependences: bool,
    /// How often a store that cannot push its changes is scanned.
    pub scan_every: Duration,
    /// How long documents go on serving when more than half of their kind is gone from the store at once.
    pub keep_missing: Duration,
}

/// The catalog and what keeps it up to date.
pub struct Catalog {
    options: Options,
    store: Arc<dyn Store>,
    check: Check,
    current: ArcSwap<Snapshot>,
    state: Mutex<State>,
    /// One write at a time, so that snapshots follow the store's order.
    writes: Mutex<()>,
    /// The keys written since the running scan began (what the scan read of them may be old); `None` between scans.
    written: std::sync::Mutex<Option<BTreeSet<String>>>,
    store_state: RwLock<StoreState>,
}

impl Catalog {
    /// An empty catalog over a store; [`Catalog::load_packages`] and [`Catalog::read_store`] fill it.
    pub fn new(options: Options, store: Arc<dyn Store>, check: Check) -> Catalog {
        let state = State::new(&options.root, options.enforce_dependences, check.clone());
        let store_state = RwLock::new(StoreState::new(options.scan_every));
        Catalog {
            options,
            store,
            check,
            current: ArcSwap::default(),
            state: Mutex::new(state),
            writes: Mutex::new(()),
            written: std::sync::Mutex::default(),
            store_state,
        }
    }

    /// The catalog as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The store below.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What every key of the store begins with.
    pub fn root(&self) -> &str {
        &self.options.root
    }

    /// What is known of the store.
    pub fn store_state(&self) -> StoreState {
        // What a panic has left behind is as good as any.
        self.store_state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether requests can be served: the store was read once, or it cannot be read and there are packages to go on with.
    pub fn ready(&self) -> bool {
        let (store, documents) = (self.store_state(), &self.current.load().documents);
        store.loaded || store.error.is_some() && !documents.prompts.is_empty()
    }

    fn publish(&self, state: &mut State) {
        self.current.store(state.snapshot());
    }
}
