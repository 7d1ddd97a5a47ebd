//! What only the embedded store has to do: be durable, be alone, and tell what is written.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ai_prompt_shell::store::{self, Change, Precondition, StoreError};
use base::error::{Kind, Kinded};
use futures_util::StreamExt;

use super::{embedded_store, keys, scan_all};

#[tokio::test]
async fn no_acknowledged_write_is_lost_when_the_service_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("embedded:{}", folder.path().join("data").display());
    let mut service = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"))
        .args(["--store", &url, "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let greeting = BufReader::new(service.stdout.as_mut().unwrap()).lines().next().unwrap().unwrap();
    let address = greeting.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();

    // Several writers, so that the kill comes in the midst of writes.
    let count = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..4)
        .map(|writer| tokio::spawn(write_until_refused(address.clone(), writer, count.clone())))
        .collect();
    while count.load(Ordering::Relaxed) < 100 && writers.iter().all(|task| !task.is_finished()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(matches!(store::open(&url).await, Err(StoreError::Locked { .. })));
    service.kill().unwrap();
    service.wait().unwrap();

    let store = store::open(&url).await.unwrap();
    assert!(count.load(Ordering::Relaxed) >= 100, "the service refused the writes");
    for (writer, task) in writers.into_iter().enumerate() {
        for n in 0..task.await.unwrap() {
            let record = store.get(&format!("shenma:environs:w{writer}:n{n}")).await.unwrap();
            assert_eq!(record.unwrap().bytes, n.to_string().as_bytes());
        }
    }
}

/// Writes one environ after the other, and says how many were acknowledged before the service was gone.
async fn write_until_refused(address: String, writer: usize, count: Arc<AtomicUsize>) -> usize {
    let client = support::app::client();
    for n in 0..1_000_000 {
        let put = client.put(format!("{address}/api/environs/w{writer}.n{n}")).json(&n);
        match put.send().await {
            Ok(answer) => assert_eq!(answer.status(), 201),
            Err(_) => return n,
        }
        count.fetch_add(1, Ordering::Relaxed);
    }
    unreachable!("the service is killed before that")
}

#[tokio::test]
async fn a_second_opener_is_told_that_the_store_is_in_use_until_the_first_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("embedded:{}", folder.path().display());
    let first = store::open(&url).await.unwrap();
    let error = store::open(&url).await.err().unwrap();
    assert_eq!(error, StoreError::Locked { path: folder.path().join("store.redb") });
    assert_eq!(error.kind(), Kind::Conflict);
    drop(first);
    store::open(&url).await.unwrap();
}

#[tokio::test]
async fn a_folder_and_a_file_can_be_named() {
    let root = tempfile::tempdir().unwrap();
    for (location, file) in [("a/b", "a/b/store.redb"), ("c/d.redb", "c/d.redb")] {
        let url = format!("embedded:{}", root.path().join(location).display());
        let store = store::open(&url).await.unwrap();
        assert_eq!(store.describe(), url);
        assert!(root.path().join(file).is_file());
    }
}

#[tokio::test]
async fn a_file_that_is_no_store_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (good, path) = (folder.path().join("good.redb"), folder.path().join("bad.redb"));
    let store = store::open(&format!("embedded:{}", good.display())).await.unwrap();
    store.put("k", b"1", Precondition::Any, None).await.unwrap();
    drop(store);

    let good = std::fs::read(good).unwrap();
    let scribbled = [&vec![0xa5; 400], good.get(400..).unwrap()].concat();
    for damaged in [b"not a database".to_vec(), vec![0; 100_000], scribbled, good[..5000].to_vec()] {
        std::fs::write(&path, damaged).unwrap();
        let error = open_file(&path).await;
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert!(error.to_string().contains("move it away"));
    }
}

async fn open_file(path: &Path) -> StoreError {
    store::open(&format!("embedded:{}", path.display())).await.err().unwrap()
}

#[tokio::test]
async fn a_place_that_cannot_be_written_to_is_unavailable() {
    let error = open_file(Path::new("/dev/null/data")).await;
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn an_address_that_names_no_store_is_refused() {
    for url in ["", "data", "embedded:", "http://localhost", "redis:", "redis://h:1:2"] {
        let error = store::open(url).await.err().unwrap();
        assert!(matches!(error, StoreError::BadUrl { .. }), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn watchers_hear_of_writes_and_removals_under_their_prefixes() {
    let fresh = embedded_store().await;
    let store = &fresh.store;
    let mut changes = store.watch(vec!["a:".into(), "b:".into()]).unwrap();
    let etag = store.put("a:1", b"1", Precondition::Any, None).await.unwrap();
    store.put("c:1", b"1", Precondition::Any, None).await.unwrap();
    store.put("a:1", b"2", Precondition::Absent, None).await.unwrap_err();
    store.delete("b:none", Precondition::Any).await.unwrap();
    store.delete("a:1", Precondition::Etag(etag)).await.unwrap();
    store.put("b:1", b"1", Precondition::Any, Some(Duration::from_millis(1))).await.unwrap();
    for key in ["a:1", "a:1", "b:1"] {
        assert_eq!(changes.next().await, Some(Change::Changed(key.into())));
    }

    while !scan_all(&**store, "b:").await.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(changes.next().await, Some(Change::Changed("b:1".into())), "its time was up");
}

#[tokio::test]
async fn a_scan_of_100_000_keys_is_complete() {
    const DOCUMENTS: redb::TableDefinition<&str, (u64, &[u8])> = redb::TableDefinition::new("documents");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.redb");
    let database = redb::Database::create(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    let mut table = transaction.open_table(DOCUMENTS).unwrap();
    for n in 0..100_000 {
        table.insert(format!("many:{n:06}").as_str(), (u64::MAX, &[7; 200][..])).unwrap();
    }
    drop(table);
    transaction.commit().unwrap();
    drop(database);

    let store = store::open(&format!("embedded:{}", file.display())).await.unwrap();
    let items = scan_all(&*store, "many:").await;
    assert!(items.iter().all(|item| item.content.as_deref() == Ok(&[7; 200])));
    let found = keys(&*store, "many:").await;
    assert!(found.into_iter().eq((0..100_000).map(|n| format!("many:{n:06}"))));
    assert_eq!(items.len(), 100_000);
}
