//! A server that is away, comes back, breaks connections, or says nothing: errors, never hangs.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use ai_prompt_shell::store::{self, Etag, Precondition, Store, StoreError};
use redis::cmd;
use tokio::time::timeout;

use support::redis::{RedisServer, free_port};

/// Far above the store's own limits: what is not done by then hangs.
const HANGS: Duration = Duration::from_secs(10);

async fn assert_unavailable(store: &dyn Store) {
    let etag = Precondition::Etag(Etag::of(b"1"));
    let errors = [
        timeout(HANGS, store.ping()).await.unwrap().err(),
        timeout(HANGS, store.get("k")).await.unwrap().err(),
        timeout(HANGS, store.scan(&[""], None)).await.unwrap().err(),
        timeout(HANGS, store.put("k", b"1", Precondition::Any, None)).await.unwrap().err(),
        timeout(HANGS, store.put("k", b"1", etag, None)).await.unwrap().err(),
        timeout(HANGS, store.delete("k", Precondition::Any)).await.unwrap().err(),
        timeout(HANGS, store.delete("k", etag)).await.unwrap().err(),
    ];
    for error in errors {
        assert!(matches!(error, Some(StoreError::Unavailable { .. })), "{error:?}");
    }
}

/// Waits until the store has found the server again.
async fn wait_until_up(store: &dyn Store) {
    let up = async {
        while store.ping().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(HANGS, up).await.expect("the store does not find the server again");
}

#[tokio::test]
async fn a_server_that_is_away_at_first_is_an_error_of_each_call_and_then_works() {
    let mut server = RedisServer::start();
    server.kill();
    let store = store::open(&server.url()).await.unwrap();
    assert_unavailable(&*store).await;
    server.restart();
    wait_until_up(&*store).await;
    store.put("k", b"1", Precondition::Absent, None).await.unwrap();
}

#[tokio::test]
async fn a_server_that_goes_away_is_an_error_of_each_call_until_it_is_back() {
    let mut server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    for _ in 0..2 {
        store.put("k", b"1", Precondition::Absent, None).await.unwrap();
        server.kill();
        assert_unavailable(&*store).await;
        server.restart();
        wait_until_up(&*store).await;
        assert_eq!(store.get("k").await.unwrap(), None);
    }
    // The script is not loaded in the new server either.
    let etag = store.put("k", b"1", Precondition::Absent, None).await.unwrap();
    store.put("k", b"2", Precondition::Etag(etag), None).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced_unnoticed() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    let mut other = server.connection();
    let mut etag = store.put("k", b"0", Precondition::Absent, None).await.unwrap();
    for n in 1..20 {
        cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut other).unwrap();
        etag = store.put("k", n.to_string().as_bytes(), Precondition::Etag(etag), None).await.unwrap();
        cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut other).unwrap();
        assert_eq!(store.get("k").await.unwrap().unwrap().etag, etag);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_an_error_for_one_and_for_many_calls() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", silent.local_addr().unwrap());
    let store = store::open(&url).await.unwrap();
    assert_unavailable(&*store).await;
    many_at_once_fail(store).await;
}

#[tokio::test]
async fn a_server_that_stops_answering_is_an_error_and_works_again_when_it_goes_on() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    store.put("k", b"1", Precondition::Any, None).await.unwrap();
    server.pause();
    assert_unavailable(&*store).await;
    many_at_once_fail(store.clone()).await;
    server.go_on();
    wait_until_up(&*store).await;
    assert!(store.get("k").await.is_ok());
}

async fn many_at_once_fail(store: Arc<dyn Store>) {
    let calls = (0..200).map(|n| {
        let store = store.clone();
        async move { store.get(&n.to_string()).await }
    });
    let outcomes = timeout(HANGS, futures_util::future::join_all(calls)).await.unwrap();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(StoreError::Unavailable { .. }))));
}

#[tokio::test]
async fn nobody_listening_is_an_error() {
    let store = store::open(&format!("redis://127.0.0.1:{}", free_port())).await.unwrap();
    assert_unavailable(&*store).await;
}
