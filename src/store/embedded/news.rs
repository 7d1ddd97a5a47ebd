//! Tells watchers what was written, and tells them so when they fall too far behind.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use crate::store::{Change, Changes};

/// A watcher that is more than this many changes behind is told that it lost some.
const BACKLOG: usize = 1024;

/// Where changed keys are announced.
#[derive(Clone)]
pub(super) struct News(Sender<Arc<str>>);

impl News {
    pub(super) fn new() -> News {
        News(broadcast::channel(BACKLOG).0)
    }

    /// Announces a key; without watchers nothing happens.
    pub(super) fn changed(&self, key: &str) {
        let _nobody_watches = self.0.send(Arc::from(key));
    }

    /// The changes from now on to keys with one of these prefixes.
    pub(super) fn watch(&self, prefixes: Vec<String>) -> Changes {
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
        let news = News::new();
        let mut changes = news.watch(vec!["k".to_owned()]);
        for n in 0..BACKLOG + 10 {
            news.changed(&format!("k{n}"));
        }
        assert_eq!(changes.next().await, Some(Change::Lost));
        assert_eq!(changes.next().await, Some(Change::Changed("k10".to_owned())));
    }

    #[tokio::test]
    async fn the_stream_ends_with_the_store() {
        let news = News::new();
        let mut changes = news.watch(vec![String::new()]);
        drop(news);
        assert_eq!(changes.next().await, None);
    }
}
