//! A cache of message types: those of descriptor sets by their digest, those of servers for a minute.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use sha2::{Digest, Sha256};

use super::error::{catch_panic, unusable};
use crate::error::ToolError;
use crate::offload::offload;

/// The most bytes that the descriptors of one service may have, with their imports. In memory, they take about a hundred
/// times as many.
pub(super) const DESCRIPTOR_BYTES: usize = 1024 * 1024;

/// How many descriptor sets and services the cache holds.
const CACHE_ENTRIES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);
/// How many bytes their descriptors may have together, encoded.
const CACHE_BYTES: usize = 2 * DESCRIPTOR_BYTES;

/// How long a server's types are used before they are asked for again.
const SERVICE_TTL: Duration = Duration::from_secs(60);

/// The cache.
pub(super) struct TypeCache {
    entries: Arc<CacheEntries>,
}

/// The source of types, which is the cache key.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum TypeSource {
    /// A descriptor set, by its SHA-256.
    Set([u8; 32]),
    /// A service of a server.
    Service { server: String, service: String },
}

/// Files that describe types, and their encoded length.
pub(super) struct DescriptorFiles {
    pub(super) files: Vec<FileDescriptorProto>,
    pub(super) bytes: usize,
}

impl TypeCache {
    pub(super) fn new() -> TypeCache {
        TypeCache {
            entries: Arc::new(CacheEntries {
                types: Mutex::new(LruCache::new(CACHE_ENTRIES)),
                turn: Mutex::new(()),
            }),
        }
    }

    /// The types of an encoded `FileDescriptorSet`.
    pub(super) async fn of_set(&self, set: &[u8]) -> Result<DescriptorPool, ToolError> {
        if set.len() > DESCRIPTOR_BYTES {
            return Err(unusable(&format!("its descriptor set is longer than {DESCRIPTOR_BYTES} bytes")));
        }
        let source = TypeSource::Set(Sha256::digest(set).into());
        if let Some(types) = self.entries.get(&source, Duration::MAX) {
            return Ok(types);
        }
        let set = set.to_vec();
        self.make(source, Duration::MAX, move || decode(&set)).await
    }

    /// The cached types of a service, if they are recent enough.
    pub(super) fn of_service(&self, source: &TypeSource) -> Option<DescriptorPool> {
        self.entries.get(source, SERVICE_TTL)
    }

    /// Builds and caches the types in `files`, unless another call has meanwhile cached some that are no older than `age`.
    pub(super) async fn make(
        &self,
        source: TypeSource,
        age: Duration,
        files: impl FnOnce() -> Result<DescriptorFiles, ToolError> + Send + 'static,
    ) -> Result<DescriptorPool, ToolError> {
        let (entries, asked) = (self.entries.clone(), Instant::now());
        // Offloaded, as a MiB of descriptors takes about 0.1 s.
        let work = move || {
            // One build at a time, to bound the memory that concurrent builds take.
            let _turn = entries.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(types) = entries.get(&source, age.saturating_add(asked.elapsed())) {
                return Ok(types);
            }
            let DescriptorFiles { files, bytes } = files()?;
            let types = build(files)?;
            entries.put(source, CachedTypes { types: types.clone(), bytes, since: Instant::now() });
            Ok(types)
        };
        offload(move || catch_panic(work)).await
    }
}

struct CacheEntries {
    types: Mutex<LruCache<TypeSource, CachedTypes>>,
    turn: Mutex<()>,
}

struct CachedTypes {
    types: DescriptorPool,
    bytes: usize,
    since: Instant,
}

impl CacheEntries {
    fn get(&self, source: &TypeSource, age: Duration) -> Option<DescriptorPool> {
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        let found = types.get(source).filter(|found| found.since.elapsed() <= age);
        found.map(|found| found.types.clone())
    }

    fn put(&self, source: TypeSource, entry: CachedTypes) {
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        types.put(source, entry);
        while types.iter().map(|(_, entry)| entry.bytes).sum::<usize>() > CACHE_BYTES {
            types.pop_lru();
        }
    }
}

fn decode(set: &[u8]) -> Result<DescriptorFiles, ToolError> {
    let decoded = FileDescriptorSet::decode(set);
    let decoded = decoded.map_err(|error| unusable(&format!("its descriptor set is not valid: {error}")))?;
    Ok(DescriptorFiles { files: decoded.file, bytes: set.len() })
}

/// The types that files describe. Google's well-known types are built in and need not be among them.
fn build(files: Vec<FileDescriptorProto>) -> Result<DescriptorPool, ToolError> {
    let mut types = DescriptorPool::global();
    let added = types.add_file_descriptor_protos(files);
    added.map_err(|error| unusable(&format!("its message types contradict each other: {error}")))?;
    Ok(types)
}
