//! What every store must do, run against both backends, and what only one of them has to do.

#![cfg(test)]

mod embedded;
mod moves;
mod outages;
mod redis_only;
mod suite;

use std::sync::Arc;

use ai_prompt_shell::store::{self, Item, Page, Store};
use support::redis::RedisServer;
use tempfile::TempDir;

/// An empty store, and the resource that it needs.
struct TestStore {
    store: Arc<dyn Store>,
    _resource: Resource,
}

enum Resource {
    Folder { _folder: TempDir },
    Server { _server: RedisServer },
}

async fn embedded_store() -> TestStore {
    let folder = tempfile::tempdir().unwrap();
    let store = store::open(&format!("embedded:{}", folder.path().display())).await.unwrap();
    TestStore { store, _resource: Resource::Folder { _folder: folder } }
}

async fn redis_store() -> TestStore {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    TestStore { store, _resource: Resource::Server { _server: server } }
}

/// All items with this prefix, page by page.
async fn scan_all(store: &dyn Store, prefix: &str) -> Vec<Item> {
    let first = store.scan(&[prefix], None).await.unwrap();
    to_the_end(store, &[prefix], first).await
}

/// The items of this page and of all that follow.
async fn to_the_end(store: &dyn Store, prefixes: &[&str], mut page: Page) -> Vec<Item> {
    let mut items = std::mem::take(&mut page.items);
    while let Some(next) = page.next {
        page = store.scan(prefixes, Some(next)).await.unwrap();
        items.append(&mut page.items);
    }
    items
}

/// The keys with this prefix, sorted, each once.
async fn keys(store: &dyn Store, prefix: &str) -> Vec<String> {
    let mut keys: Vec<_> = scan_all(store, prefix).await.into_iter().map(|item| item.key).collect();
    keys.sort();
    keys.dedup();
    keys
}
