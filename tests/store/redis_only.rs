//! What only the Redis store has to do: live with what others keep on the same server.

use ai_prompt_shell::store::{self, Etag, ItemError, Precondition, StoreError, VALUE_LIMIT};
use redis::cmd;

use super::{keys, scan_all};
use support::redis::RedisServer;

#[tokio::test]
async fn a_foreign_write_counts_as_a_change() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    let ours = store.put("k", b"ours", Precondition::Any, None).await.unwrap();
    cmd("SET").arg("k").arg("theirs").exec(&mut server.connection()).unwrap();
    let changed = StoreError::PreconditionFailed { key: "k".into(), found: Some(Etag::of(b"theirs")) };
    assert_eq!(store.put("k", b"x", Precondition::Etag(ours), None).await.unwrap_err(), changed);
    assert_eq!(store.delete("k", Precondition::Etag(ours)).await.unwrap_err(), changed);
    assert!(store.delete("k", Precondition::Etag(Etag::of(b"theirs"))).await.unwrap());
}

#[tokio::test]
async fn what_cannot_be_read_is_reported_and_takes_nothing_else_down() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    let mut other = server.connection();
    cmd("RPUSH").arg("k:list").arg("x").exec(&mut other).unwrap();
    cmd("HSET").arg("k:hash").arg("x").arg("y").exec(&mut other).unwrap();
    cmd("SETRANGE").arg("k:large").arg(VALUE_LIMIT).arg("x").exec(&mut other).unwrap();
    cmd("SET").arg(b"k:\xff").arg("x").exec(&mut other).unwrap();
    cmd("SET").arg("k:good").arg("x").exec(&mut other).unwrap();

    let mut items = scan_all(&*store, "k:").await;
    items.sort_by(|a, b| a.key.cmp(&b.key));
    let contents: Vec<_> = items.into_iter().map(|item| (item.key, item.content)).collect();
    let wrong = |found: &str| Err(ItemError::WrongType { found: found.into() });
    assert_eq!(
        contents,
        [
            ("k:good".into(), Ok(b"x".to_vec())),
            ("k:hash".into(), wrong("hash")),
            ("k:large".into(), Err(ItemError::TooLarge { bytes: VALUE_LIMIT + 1 })),
            ("k:list".into(), wrong("list")),
            ("k:\u{fffd}".into(), Err(ItemError::KeyNotText)),
        ]
    );
}

#[tokio::test]
async fn another_type_is_named_and_replaced_only_without_an_expectation() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    cmd("RPUSH").arg("k").arg("x").exec(&mut server.connection()).unwrap();
    let wrong = StoreError::WrongType { key: "k".into(), found: "list".into() };
    assert_eq!(store.get("k").await.unwrap_err(), wrong);
    for condition in [Precondition::Absent, Precondition::Etag(Etag::of(b"x"))] {
        assert_eq!(store.put("k", b"1", condition, None).await.unwrap_err(), wrong);
        assert_eq!(store.delete("k", condition).await.unwrap_err(), wrong);
    }
    store.put("k", b"1", Precondition::Any, None).await.unwrap();
    assert_eq!(store.get("k").await.unwrap().unwrap().bytes, b"1");
}

#[tokio::test]
async fn a_value_that_others_made_too_large_is_not_read() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    cmd("SETRANGE").arg("k").arg(VALUE_LIMIT).arg("x").exec(&mut server.connection()).unwrap();
    let too_large = StoreError::TooLarge { key: "k".into(), bytes: VALUE_LIMIT + 1, limit: VALUE_LIMIT };
    assert_eq!(store.get("k").await.unwrap_err(), too_large);
}

#[tokio::test]
async fn a_redis_store_says_that_it_cannot_push() {
    let server = RedisServer::start();
    let store = store::open(&server.url()).await.unwrap();
    assert!(store.watch(vec![String::new()]).is_none());
}

#[tokio::test]
async fn a_scan_of_100_000_keys_is_complete() {
    let server = RedisServer::start();
    let mut other = server.connection();
    for thousand in 0..100 {
        let mut pipeline = redis::pipe();
        for n in 0..1000 {
            pipeline.set(format!("many:{thousand:03}{n:03}"), &[7; 200]).ignore();
        }
        pipeline.exec(&mut other).unwrap();
    }
    cmd("SET").arg("other").arg("x").exec(&mut other).unwrap();
    let store = store::open(&server.url()).await.unwrap();
    let items = scan_all(&*store, "many:").await;
    assert!(items.iter().all(|item| item.content.as_deref() == Ok(&[7; 200])));
    let found = keys(&*store, "many:").await;
    assert!(found.into_iter().eq((0..100_000).map(|n| format!("many:{n:06}"))));
}

#[tokio::test]
async fn a_user_with_the_least_rights_and_a_password_works_in_the_database_of_the_address() {
    let rights = "+select +ping +scan +mget +get +strlen +type +set +del +evalsha +script|load +time +info";
    let arguments = format!("--user default off --user writer on >p@ss ~my:* {rights}");
    let server = RedisServer::start_with(&arguments.split(' ').collect::<Vec<_>>());
    let address = format!("127.0.0.1:{}/3", server.port);
    let store = store::open(&format!("redis://writer:p%40ss@{address}")).await.unwrap();
    assert_eq!(store.describe(), format!("redis://{address}"));
    store.ping().await.unwrap();
    let first = store.put("my:k", b"1", Precondition::Absent, None).await.unwrap();
    let second = store.put("my:k", b"2", Precondition::Etag(first), None).await.unwrap();
    store.put("my:other", b"3", Precondition::Any, None).await.unwrap();
    assert_eq!(keys(&*store, "my:").await, ["my:k", "my:other"]);
    store.delete("my:k", Precondition::Etag(second)).await.unwrap();
    assert!(store.delete("my:other", Precondition::Any).await.unwrap());

    store.put("my:k", b"1", Precondition::Any, None).await.unwrap();
    let other_database = format!("redis://writer:p%40ss@127.0.0.1:{}", server.port);
    assert_eq!(keys(&*store::open(&other_database).await.unwrap(), "my:").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_wrong_password_is_an_error_that_does_not_repeat_it() {
    let server = RedisServer::start_with(&["--requirepass", "right"]);
    let url = format!("redis://:wrongsecret@127.0.0.1:{}", server.port);
    let error = store::open(&url).await.unwrap().get("k").await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("wrongsecret"));
}

#[tokio::test]
async fn tls_works_with_a_private_authority_and_only_if_that_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    support::tls::make_certificates(folder.path());
    let server =
        RedisServer::start_with_tls(&folder.path().join("server.pem"), &folder.path().join("server.key"));
    let address = format!("rediss://127.0.0.1:{}/0", server.port);

    let trusting = format!("{address}?ca={}", folder.path().join("ca.pem").display());
    let store = store::open(&trusting).await.unwrap();
    let etag = store.put("k", b"1", Precondition::Absent, None).await.unwrap();
    store.put("k", b"2", Precondition::Etag(etag), None).await.unwrap();
    assert_eq!(scan_all(&*store, "").await.len(), 1);
    assert_eq!(store.describe(), address);

    let error = store::open(&address).await.unwrap().ping().await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}
