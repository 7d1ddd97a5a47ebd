//! The change feed: announces written keys to watchers, and tells a watcher when it has missed some.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use crate::store::{Change, ChangeStream};

/// A watcher that is more than this many changes behind misses the oldest ones.
const BACKLOG: usize = 1024;

/// The channel on which changed keys are announced.
#[derive(Clone)]
pub(super) struct ChangeFeed(Sender<Arc<str>>);

impl ChangeFeed {
    pub(super) fn new() -> ChangeFeed {
        ChangeFeed(broadcast::channel(BACKLOG).0)
    }

    /// Announces that a key has changed.
    pub(super) fn announce(&self, key: &str) {
        // Sending fails if there is no receiver.
        let _without_watchers = self.0.send(Arc::from(key));
    }

    /// The changes from now on to keys with one of these prefixes.
    pub(super) fn watch(&self, prefixes: Vec<String>) -> ChangeStream {
        stream::unfold((self.0.subscribe(), prefixes), |(mut receiver, prefixes)| async move {
            let change = next(&mut receiver, &prefixes).await?;
            Some((change, (receiver, prefixes)))
        })
        .boxed()
    }
}

async fn next(receiver: &mut Receiver<Arc<str>>, prefixes: &[String]) -> Option<Change> {
    loop {
        match receiver.recv().await {
            Ok(key) if prefixes.iter().any(|prefix| key.starts_with(prefix)) => {
                return Some(Change::Changed(key.as_ref().to_owned()));
            }
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return Some(Change::Lost),
            Err(RecvError::Closed) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watcher_that_falls_behind_is_told_so_once_and_goes_on() {
        let feed = ChangeFeed::new();
        let mut changes = feed.watch(vec!["k".to_owned()]);
        for n in 0..BACKLOG + 10 {
            feed.announce(&format!("k{n}"));
        }
        assert_eq!(changes.next().await, Some(Change::Lost));
        assert_eq!(changes.next().await, Some(Change::Changed("k10".to_owned())));
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_store() {
        let feed = ChangeFeed::new();
        let mut changes = feed.watch(vec![String::new()]);
        drop(feed);
        assert_eq!(changes.next().await, None);
    }
}
