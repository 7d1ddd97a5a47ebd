//! What every store must do, run against both backends, and what only one of them has to do.

#![cfg(test)]

#[path = "../common/proxy.rs"]
mod proxy;
#[path = "../common/redis.rs"]
mod redis_server;
mod server;

mod embedded;
mod moves;
mod outages;
mod redis_only;
mod suite;

use std::sync::Arc;

use ai_prompt_shell::store::{self, Cursor, Item, Store};
use redis_server::RedisServer;
use tempfile::TempDir;

/// A fresh, empty store, and what has to live as long as it.
struct Fresh {
    store: Arc<dyn Store>,
    _alive: Alive,
}

enum Alive {
    Folder { _folder: TempDir },
    Server { _server: RedisServer },
}

async fn embedded_store() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    let store = store::open(&format!("embedded:{}", folder.path().display())).await.unwrap();
    Fresh { store, _alive: Alive::Folder { _folder: folder } }
}

async fn redis_store() -> Fresh {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    Fresh { store, _alive: Alive::Server { _server: server } }
}

/// All items with this prefix, page by page.
async fn scan_all(store: &dyn Store, prefix: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut from: Option<Cursor> = None;
    loop {
        let page = store.scan(&[prefix], from).await.unwrap();
        items.extend(page.items);
        from = page.next;
        if from.is_none() {
            return items;
        }
    }
}

/// The keys with this prefix, sorted, each once.
async fn keys(store: &dyn Store, prefix: &str) -> Vec<String> {
    let mut keys: Vec<_> = scan_all(store, prefix).await.into_iter().map(|item| item.key).collect();
    keys.sort();
    keys.dedup();
    keys
}
