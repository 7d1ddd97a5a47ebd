//! Message types: those of descriptor sets are kept by what the set holds, those of servers for a while.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use sha2::{Digest, Sha256};

use super::failure::{guarded, unusable};
use crate::aside::aside;
use crate::error::ToolError;

/// The most bytes that the descriptors of one service may have, with all that they import. In memory they take about
/// a hundred times as many.
pub(super) const DESCRIPTOR_BYTES: usize = 1024 * 1024;

/// How many descriptor sets and services are kept, and how many bytes they may have together.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);
const KEPT_BYTES: usize = 2 * DESCRIPTOR_BYTES;

/// How long a server's types are taken for current: a change that nothing else tells of shows after this.
const CURRENT: Duration = Duration::from_secs(60);

/// The types that are known.
pub(super) struct Types {
    shelf: Arc<Shelf>,
}

/// Where types come from.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// A descriptor set with this SHA-256.
    Set([u8; 32]),
    /// A service of a server.
    Service { server: String, service: String },
}

/// Files that describe types, and how many bytes they have when they are encoded.
pub(super) struct Files {
    pub(super) files: Vec<FileDescriptorProto>,
    pub(super) bytes: usize,
}

impl Types {
    pub(super) fn new() -> Types {
        Types { shelf: Arc::new(Shelf { known: Mutex::new(LruCache::new(KEPT)), turn: Mutex::new(()) }) }
    }

    /// The types of an encoded `FileDescriptorSet`.
    pub(super) async fn of_set(&self, set: &[u8]) -> Result<DescriptorPool, ToolError> {
        if set.len() > DESCRIPTOR_BYTES {
            return Err(unusable(&format!("its descriptor set is longer than {DESCRIPTOR_BYTES} bytes")));
        }
        let origin = Origin::Set(Sha256::digest(set).into());
        if let Some(types) = self.shelf.get(&origin, Duration::MAX) {
            return Ok(types);
        }
        let set = set.to_vec();
        self.make(origin, Duration::MAX, move || decode(&set)).await
    }

    /// The types of a service, if they were asked for lately.
    pub(super) fn of_service(&self, origin: &Origin) -> Option<DescriptorPool> {
        self.shelf.get(origin, CURRENT)
    }

    /// Makes types and keeps them, unless another call has done so and they are no older than `age`.
    pub(super) async fn make(
        &self,
        origin: Origin,
        age: Duration,
        files: impl FnOnce() -> Result<Files, ToolError> + Send + 'static,
    ) -> Result<DescriptorPool, ToolError> {
        let (shelf, asked) = (self.shelf.clone(), Instant::now());
        // A MiB of descriptors takes about 0.1 s.
        let work = move || {
            // One after the other, since what many calls make at once would take too much memory.
            let _turn = shelf.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(types) = shelf.get(&origin, age.saturating_add(asked.elapsed())) {
                return Ok(types);
            }
            let Files { files, bytes } = files()?;
            let types = build(files)?;
            shelf.put(origin, Known { types: types.clone(), bytes, since: Instant::now() });
            Ok(types)
        };
        aside(move || guarded(work)).await
    }
}

struct Shelf {
    known: Mutex<LruCache<Origin, Known>>,
    turn: Mutex<()>,
}

struct Known {
    types: DescriptorPool,
    bytes: usize,
    since: Instant,
}

impl Shelf {
    fn get(&self, origin: &Origin, age: Duration) -> Option<DescriptorPool> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(origin).filter(|found| found.since.elapsed() <= age);
        found.map(|found| found.types.clone())
    }

    fn put(&self, origin: Origin, types: Known) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.put(origin, types);
        while known.iter().map(|(_, known)| known.bytes).sum::<usize>() > KEPT_BYTES {
            known.pop_lru();
        }
    }
}

fn decode(set: &[u8]) -> Result<Files, ToolError> {
    let decoded = FileDescriptorSet::decode(set);
    let decoded = decoded.map_err(|error| unusable(&format!("its descriptor set is none: {error}")))?;
    Ok(Files { files: decoded.file, bytes: set.len() })
}

/// The types that files describe. Google's well-known ones are ours, and need not be among them.
fn build(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, ToolError> {
    let mut types = DescriptorPool::global();
    let added = types.add_file_descriptor_protos(files);
    added.map_err(|error| unusable(&format!("its message types contradict each other: {error}")))?;
    Ok(types)
}
