//! The conformance suite: each test runs against a fresh store of each backend.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ai_prompt_shell::store::{Etag, Precondition, Store, StoreError, VALUE_LIMIT};

use super::{keys, scan_all, to_the_end};

type AnyStore = Arc<dyn Store>;

macro_rules! conformance {
    ($($name:ident)*) => {
        mod on_embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let fresh = crate::embedded_store().await;
                super::$name(fresh.store.clone()).await;
            })*
        }

        mod on_redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let fresh = crate::redis_store().await;
                super::$name(fresh.store.clone()).await;
            })*
        }
    };
}

conformance! {
    a_value_is_read_back_with_the_version_of_its_bytes
    a_key_that_is_not_there_is_nothing
    an_expectation_of_nothing_fails_where_something_is
    an_expected_version_must_be_the_one_that_is_there
    an_expected_version_must_not_be_gone
    a_removal_says_whether_something_was_there
    a_removal_keeps_its_expectation
    a_value_vanishes_when_its_time_is_up
    a_conditional_write_sets_and_lifts_the_time_to_live
    a_vanished_value_counts_as_absent
    a_time_to_live_of_any_length_is_accepted
    a_scan_finds_exactly_the_keys_with_the_prefix
    a_scan_of_several_prefixes_finds_the_keys_of_each
    a_scan_of_no_prefix_finds_nothing
    named_keys_are_read_and_absent_ones_left_out
    named_keys_come_in_pages_of_bounded_size
    a_scan_reads_the_bytes_as_they_are
    a_scan_of_nothing_is_empty
    a_scan_of_large_values_comes_in_pages_of_bounded_size
    a_scan_misses_no_key_while_others_write
    a_value_of_the_largest_size_is_kept_and_a_larger_one_refused
    concurrent_increments_lose_none
    the_store_says_that_it_is_there
}

async fn a_value_is_read_back_with_the_version_of_its_bytes(store: AnyStore) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    for (key, value) in [("a:b", &b"text"[..]), ("a:empty", b""), ("a:binary", &all_bytes), ("ключ", b"x")]
    {
        let etag = store.put(key, value, Precondition::Any, None).await.unwrap();
        let record = store.get(key).await.unwrap().unwrap();
        assert_eq!((record.bytes.as_slice(), record.etag), (value, etag), "{key}");
        assert_eq!(etag, Etag::of(value));
    }
}

async fn a_key_that_is_not_there_is_nothing(store: AnyStore) {
    store.put("a:b", b"x", Precondition::Any, None).await.unwrap();
    assert_eq!(store.get("a").await.unwrap(), None);
}

async fn an_expectation_of_nothing_fails_where_something_is(store: AnyStore) {
    let first = store.put("k", b"1", Precondition::Absent, None).await.unwrap();
    let refused = store.put("k", b"2", Precondition::Absent, None).await.unwrap_err();
    assert_eq!(refused, StoreError::PreconditionFailed { key: "k".into(), found: Some(first) });
    assert_eq!(store.get("k").await.unwrap().unwrap().bytes, b"1");
}

async fn an_expected_version_must_be_the_one_that_is_there(store: AnyStore) {
    let first = store.put("k", b"1", Precondition::Any, None).await.unwrap();
    let second = store.put("k", b"2", Precondition::Etag(first), None).await.unwrap();
    let refused = store.put("k", b"3", Precondition::Etag(first), None).await.unwrap_err();
    assert_eq!(refused, StoreError::PreconditionFailed { key: "k".into(), found: Some(second) });
    assert_eq!(store.get("k").await.unwrap().unwrap().bytes, b"2");
}

async fn an_expected_version_must_not_be_gone(store: AnyStore) {
    let refused = store.put("k", b"1", Precondition::Etag(Etag::of(b"0")), None).await.unwrap_err();
    assert_eq!(refused, StoreError::PreconditionFailed { key: "k".into(), found: None });
    assert_eq!(store.get("k").await.unwrap(), None);
}

async fn a_removal_says_whether_something_was_there(store: AnyStore) {
    store.put("k", b"1", Precondition::Any, None).await.unwrap();
    assert!(store.delete("k", Precondition::Any).await.unwrap());
    assert!(!store.delete("k", Precondition::Any).await.unwrap());
    assert!(!store.delete("k", Precondition::Absent).await.unwrap());
    assert_eq!(store.get("k").await.unwrap(), None);
}

async fn a_removal_keeps_its_expectation(store: AnyStore) {
    let etag = store.put("k", b"1", Precondition::Any, None).await.unwrap();
    let there = StoreError::PreconditionFailed { key: "k".into(), found: Some(etag) };
    assert_eq!(store.delete("k", Precondition::Etag(Etag::of(b"0"))).await.unwrap_err(), there);
    assert_eq!(store.delete("k", Precondition::Absent).await.unwrap_err(), there);
    assert!(store.delete("k", Precondition::Etag(etag)).await.unwrap());
    let gone = StoreError::PreconditionFailed { key: "k".into(), found: None };
    assert_eq!(store.delete("k", Precondition::Etag(etag)).await.unwrap_err(), gone);
}

const SHORT: Option<Duration> = Some(Duration::from_millis(20));

/// Waits for a key to vanish; a key that never does hangs the test until its runner gives up.
async fn wait_until_gone(store: &dyn Store, key: &str) {
    while store.get(key).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn a_value_vanishes_when_its_time_is_up(store: AnyStore) {
    store.put("k", b"1", Precondition::Any, SHORT).await.unwrap();
    store.put("stays", b"1", Precondition::Any, Some(Duration::from_secs(3600))).await.unwrap();
    wait_until_gone(&*store, "k").await;
    assert_eq!(keys(&*store, "").await, ["stays"]);
    assert_eq!(keys(&*store, "").await, ["stays"]);
}

async fn a_conditional_write_sets_and_lifts_the_time_to_live(store: AnyStore) {
    let first = store.put("k", b"1", Precondition::Absent, SHORT).await.unwrap();
    wait_until_gone(&*store, "k").await;
    store.put("k", b"1", Precondition::Absent, None).await.unwrap();
    let second = store.put("k", b"2", Precondition::Etag(first), SHORT).await.unwrap();
    wait_until_gone(&*store, "k").await;

    let hour = Some(Duration::from_secs(3600));
    for lift in [Precondition::Any, Precondition::Etag(second)] {
        store.put("k", b"2", Precondition::Any, hour).await.unwrap();
        store.put("k", b"2", Precondition::Any, SHORT).await.unwrap();
        // If the short time was up before this write, there is nothing to lift and nothing to see.
        if store.put("k", b"3", lift, None).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(60)).await;
            assert_eq!(store.get("k").await.unwrap().unwrap().bytes, b"3");
        }
    }
}

async fn a_vanished_value_counts_as_absent(store: AnyStore) {
    for key in ["written", "removed"] {
        store.put(key, b"1", Precondition::Any, SHORT).await.unwrap();
        wait_until_gone(&*store, key).await;
    }
    store.put("written", b"2", Precondition::Absent, None).await.unwrap();
    assert!(!store.delete("removed", Precondition::Any).await.unwrap());
}

async fn a_time_to_live_of_any_length_is_accepted(store: AnyStore) {
    store.put("long", b"1", Precondition::Any, Some(Duration::MAX)).await.unwrap();
    store.put("long", b"2", Precondition::Etag(Etag::of(b"1")), Some(Duration::MAX)).await.unwrap();
    assert_eq!(store.get("long").await.unwrap().unwrap().bytes, b"2");
    store.put("short", b"1", Precondition::Any, Some(Duration::ZERO)).await.unwrap();
    wait_until_gone(&*store, "short").await;
}

async fn a_scan_finds_exactly_the_keys_with_the_prefix(store: AnyStore) {
    let with = [r"p*[a]?\:", r"p*[a]?\:x", r"p*[a]?\:y:z", "p*[a]?\\:ё"];
    let without = ["p", "pX[a]?\\:x", "p*aZ\\:x", "p*[a]Z\\:x", r"p*[a]?:x", "q", "p*[b]", "P*[a]?\\:x"];
    for key in with.iter().chain(&without) {
        store.put(key, b"1", Precondition::Any, None).await.unwrap();
    }
    let mut expected = with.map(str::to_owned);
    expected.sort();
    assert_eq!(keys(&*store, r"p*[a]?\:").await, expected);
    assert_eq!(keys(&*store, "").await.len(), with.len() + without.len());
}

async fn a_scan_of_several_prefixes_finds_the_keys_of_each(store: AnyStore) {
    for key in ["r:a:1", "r:a:2", "r:b:1", "r:c:1", "r:a", "q:a:1", "s"] {
        store.put(key, key.as_bytes(), Precondition::Any, None).await.unwrap();
    }
    for (prefixes, expected) in [
        (&["r:c:", "r:a:"][..], &["r:a:1", "r:a:2", "r:c:1"][..]),
        (&["r:none:", "s"], &["s"]),
        (&["r:none:", "t"], &[]),
    ] {
        let first = store.scan(prefixes, None).await.unwrap();
        let items = to_the_end(&*store, prefixes, first).await;
        assert!(items.iter().all(|item| item.content.as_deref() == Ok(item.key.as_bytes())), "{items:?}");
        let found: BTreeSet<&str> = items.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(found, expected.iter().copied().collect());
    }
}

async fn a_scan_of_no_prefix_finds_nothing(store: AnyStore) {
    store.put("k", b"1", Precondition::Any, None).await.unwrap();
    let first = store.scan(&[], None).await.unwrap();
    assert_eq!(to_the_end(&*store, &[], first).await, []);
}

async fn named_keys_are_read_and_absent_ones_left_out(store: AnyStore) {
    for key in ["a", "b", "c"] {
        store.put(key, key.as_bytes(), Precondition::Any, None).await.unwrap();
    }
    let first = store.read(["c", "none", "a"].map(str::to_owned).to_vec()).await.unwrap();
    let mut items = to_the_end(&*store, &[], first).await;
    items.sort_by(|a, b| a.key.cmp(&b.key));
    let found: Vec<_> = items.iter().map(|item| (item.key.as_str(), item.content.as_deref())).collect();
    assert_eq!(found, [("a", Ok(&b"a"[..])), ("c", Ok(&b"c"[..]))]);
    assert_eq!(store.read(Vec::new()).await.unwrap().items, []);
}

async fn named_keys_come_in_pages_of_bounded_size(store: AnyStore) {
    let keys: Vec<String> = (0..10).map(|n| format!("large:{n}")).collect();
    for key in &keys {
        store.put(key, &vec![7; 1024 * 1024], Precondition::Any, None).await.unwrap();
    }
    let mut page = store.read(keys).await.unwrap();
    let mut count = page.items.len();
    while let Some(next) = page.next {
        page = store.scan(&[], Some(next)).await.unwrap();
        assert!(page.items.len() <= 5, "{} MiB in one page", page.items.len());
        count += page.items.len();
    }
    assert_eq!(count, 10);
}

async fn a_scan_reads_the_bytes_as_they_are(store: AnyStore) {
    for (key, value) in [("a", &b""[..]), ("b", b"\xff\x00\r\n"), ("c", b"123")] {
        store.put(key, value, Precondition::Any, None).await.unwrap();
        let items = scan_all(&*store, key).await;
        assert!(!items.is_empty());
        assert!(items.iter().all(|item| item.content.as_deref() == Ok(value)), "{items:?}");
    }
}

async fn a_scan_of_nothing_is_empty(store: AnyStore) {
    store.put("a", b"1", Precondition::Any, None).await.unwrap();
    assert_eq!(scan_all(&*store, "b").await, []);
}

async fn a_scan_of_large_values_comes_in_pages_of_bounded_size(store: AnyStore) {
    let megabyte = vec![7; 1024 * 1024];
    for n in 0..10 {
        store.put(&format!("large:{n}"), &megabyte, Precondition::Any, None).await.unwrap();
    }
    let (mut from, mut seen) = (None, Vec::new());
    loop {
        let page = store.scan(&["large:"], from).await.unwrap();
        assert!(page.items.len() <= 5, "{} MiB in one page", page.items.len());
        seen.extend(page.items.into_iter().map(|item| item.key));
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10);
}

async fn a_scan_misses_no_key_while_others_write(store: AnyStore) {
    for n in 0..300 {
        store.put(&format!("kept:{n}"), b"1", Precondition::Any, None).await.unwrap();
    }
    let others = tokio::spawn({
        let store = store.clone();
        async move {
            for n in 0..200 {
                store.put(&format!("kept:new:{n}"), b"1", Precondition::Any, None).await.unwrap();
                store.delete(&format!("kept:new:{}", n / 2), Precondition::Any).await.unwrap();
            }
        }
    });
    while !others.is_finished() {
        let found = keys(&*store, "kept:").await;
        let missed = (0..300).find(|n| found.binary_search(&format!("kept:{n}")).is_err());
        assert_eq!(missed, None);
    }
    others.await.unwrap();
}

async fn a_value_of_the_largest_size_is_kept_and_a_larger_one_refused(store: AnyStore) {
    let mut value = vec![b'x'; VALUE_LIMIT];
    let etag = store.put("k", &value, Precondition::Absent, None).await.unwrap();
    assert_eq!(store.get("k").await.unwrap().unwrap().bytes, value);
    store.put("k", &value, Precondition::Etag(etag), None).await.unwrap();
    value.push(b'x');
    let too_large = StoreError::TooLarge { key: "k".into(), bytes: VALUE_LIMIT + 1, limit: VALUE_LIMIT };
    for condition in [Precondition::Any, Precondition::Etag(etag)] {
        assert_eq!(store.put("k", &value, condition, None).await.unwrap_err(), too_large);
    }
    assert_eq!(store.get("k").await.unwrap().unwrap().etag, etag);
}

async fn concurrent_increments_lose_none(store: AnyStore) {
    store.put("counter", b"0", Precondition::Absent, None).await.unwrap();
    let tasks = (0..32).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            increment(&*store).await;
            increment(&*store).await;
        })
    });
    futures_util::future::try_join_all(tasks).await.unwrap();
    assert_eq!(store.get("counter").await.unwrap().unwrap().bytes, b"64");
}

async fn increment(store: &dyn Store) {
    loop {
        let record = store.get("counter").await.unwrap().unwrap();
        let count: u32 = String::from_utf8(record.bytes).unwrap().parse().unwrap();
        let next = (count + 1).to_string();
        match store.put("counter", next.as_bytes(), Precondition::Etag(record.etag), None).await {
            Ok(_) => return,
            Err(StoreError::PreconditionFailed { found: Some(_), .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

async fn the_store_says_that_it_is_there(store: AnyStore) {
    store.ping().await.unwrap();
    let description = store.describe();
    assert!(description.starts_with("embedded:") || description.starts_with("redis://127.0.0.1:"));
}
