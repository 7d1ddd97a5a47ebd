//! A proxy before the server: scans that another server goes on with, and writes that arrive when nobody waits any more.

use std::time::Duration;

use ai_prompt_shell::store::{self, Precondition, StoreError};
use redis::{Commands, cmd};

use crate::{keys, scan_all, to_the_end};
use support::proxy::Proxy;
use support::redis::RedisServer;

fn fill(server: &RedisServer, count: usize) {
    let mut pipeline = redis::pipe();
    for n in 0..count {
        pipeline.set(format!("k:{n:06}"), n).ignore();
    }
    pipeline.exec(&mut server.connection()).unwrap();
}

/// Whether the key holds this when everything that was on its way has arrived.
async fn assert_stays(server: &RedisServer, key: &str, expected: Option<&str>) {
    tokio::time::sleep(Duration::from_millis(300)).await;
    let found: Option<String> = server.connection().get(key).unwrap();
    assert_eq!(found.as_deref(), expected);
}

#[tokio::test]
async fn a_scan_does_not_go_on_at_another_server() {
    let (first, second) = (RedisServer::start(), RedisServer::start());
    fill(&first, 25_000);
    fill(&second, 25_000);
    let proxy = Proxy::before(first.port);
    let store = store::open(&proxy.url()).await.unwrap();
    let page = store.scan(&["k:"], None).await.unwrap();
    assert!(page.next.is_some());
    proxy.move_after(1, b"PING", second.port);
    store.ping().await.ok();
    assert!(!proxy.will_move());
    let lost = store.scan(&["k:"], page.next).await.unwrap_err();
    assert_eq!(lost, StoreError::ScanLost);
    assert_eq!(keys(&*store, "k:").await.len(), 25_000);
}

#[tokio::test]
async fn a_scan_goes_on_over_a_new_connection_to_the_same_server() {
    let server = RedisServer::start();
    fill(&server, 25_000);
    let proxy = Proxy::before(server.port);
    let store = store::open(&proxy.url()).await.unwrap();
    let (mut from, mut seen) = (None, Vec::new());
    loop {
        let page = store.scan(&["k:"], from).await.unwrap();
        seen.extend(page.items.into_iter().map(|item| item.key));
        from = page.next;
        proxy.cut();
        if from.is_none() {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 25_000);
}

#[tokio::test]
async fn without_the_right_to_ask_who_it_is_a_new_connection_is_another_server() {
    let rights = "+select +ping +scan +mget +get +strlen +type +set +del +evalsha +script|load";
    let arguments = format!("--user default on nopass ~* {rights}");
    let server = RedisServer::start_with(&arguments.split(' ').collect::<Vec<_>>());
    let proxy = Proxy::before(server.port);
    let store = store::open(&proxy.url()).await.unwrap();
    for n in 0..3 {
        store.put(&format!("k:{n}"), b"x", Precondition::Any, None).await.unwrap();
    }
    let page = store.scan(&["k:"], None).await.unwrap();
    proxy.cut();
    assert_eq!(store.scan(&["k:"], page.next).await.unwrap_err(), StoreError::ScanLost);
    assert_eq!(scan_all(&*store, "k:").await.len(), 3);
}

#[tokio::test]
async fn a_write_that_was_given_up_on_is_not_done_later_even_if_its_expectation_holds_again() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port);
    let store = store::open(&proxy.url()).await.unwrap();
    let old = store.put("k", b"old", Precondition::Any, None).await.unwrap();
    for condition in [Precondition::Any, Precondition::Etag(old)] {
        proxy.hold(b"late");
        let unsure = store.put("k", b"late", condition, None).await.unwrap_err();
        assert!(matches!(unsure, StoreError::Unsure { .. }), "{unsure}");
        store.put("k", b"new", Precondition::Any, None).await.unwrap();
        store.put("k", b"old", Precondition::Any, None).await.unwrap();
        proxy.release();
        assert_stays(&server, "k", Some("old")).await;
    }
    proxy.hold(b"late");
    assert!(store.put("absent", b"late", Precondition::Absent, None).await.is_err());
    proxy.release();
    assert_stays(&server, "absent", None).await;
}

#[tokio::test]
async fn a_write_whose_connection_breaks_is_over_when_its_error_is_told() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port);
    let store = store::open(&proxy.url()).await.unwrap();
    store.put("k", b"old", Precondition::Any, None).await.unwrap();
    proxy.hold(b"late");
    let (outcome, ()) = tokio::join!(store.put("k", b"late", Precondition::Any, None), async {
        proxy.wait_until_holding().await;
        proxy.cut();
    });
    assert!(matches!(outcome, Err(StoreError::Unsure { .. })), "{outcome:?}");
    store.put("k", b"new", Precondition::Any, None).await.unwrap();
    proxy.release();
    assert_stays(&server, "k", Some("new")).await;
}

#[tokio::test]
async fn a_removal_that_was_given_up_on_is_not_done_later() {
    let server = RedisServer::start();
    let proxy = Proxy::before(server.port);
    let store = store::open(&proxy.url()).await.unwrap();
    let etag = store.put("unique-key", b"1", Precondition::Any, None).await.unwrap();
    assert!(!store.delete("other", Precondition::Any).await.unwrap());
    for condition in [Precondition::Any, Precondition::Etag(etag)] {
        // With an expectation the key is read first, so that only the script itself is held.
        proxy.hold(if condition == Precondition::Any { b"unique-key" } else { b"same" });
        let unsure = store.delete("unique-key", condition).await.unwrap_err();
        assert!(matches!(unsure, StoreError::Unsure { .. }), "{unsure}");
        let mut other = server.connection();
        cmd("SET").arg("unique-key").arg("1").exec(&mut other).unwrap();
        proxy.release();
        assert_stays(&server, "unique-key", Some("1")).await;
    }
}

#[tokio::test]
async fn named_keys_of_another_type_are_reported() {
    let server = RedisServer::start();
    cmd("RPUSH").arg("k:list").arg("x").exec(&mut server.connection()).unwrap();
    let store = store::open(&server.url()).await.unwrap();
    let first = store.read(vec!["k:list".to_owned()]).await.unwrap();
    let items = to_the_end(&*store, &[], first).await;
    assert!(items.len() == 1 && items[0].content.is_err(), "{items:?}");
}

#[tokio::test]
async fn a_scan_of_a_slow_server_needs_few_answers() {
    let server = RedisServer::start();
    fill(&server, 30_000);
    let mut pipeline = redis::pipe();
    for n in 0..30_000 {
        pipeline.set(format!("other:{n}"), n).ignore();
    }
    pipeline.exec(&mut server.connection()).unwrap();
    let proxy = Proxy::before(server.port);
    proxy.delay(Duration::from_millis(100));
    let store = store::open(&proxy.url()).await.unwrap();
    let (mut from, mut pages) = (None, 0);
    loop {
        let page = store.scan(&["k:"], from).await.unwrap();
        pages += 1;
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    assert!(pages < 20, "{pages} pages for 60,000 keys");
    assert!(proxy.passed() > pages, "a page is a request");
}
