//! Joins what is ready of a stream at the same time, so that not each chunk becomes a write to the client.
//!
//! The HTTP client hands an answer over chunk by chunk, each by way of another task. To see whether the next chunk is there
//! already, that task has to run first: a chunk that follows another one closely is kept until all tasks that are ready have
//! run. Nothing is ever waited for, and a chunk that follows a pause is passed on at once.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};

/// A chunk that follows the one before within this time may be part of a burst.
const CLOSE: Duration = Duration::from_millis(2);

/// As much as this, in bytes, is passed on without looking for more.
const ENOUGH: usize = 64 << 10;

/// A stream of chunks, of which those that are ready at the same time are one.
pub struct Joined<S, E> {
    chunks: S,
    /// How it ended, while what came before is passed on.
    end: Option<Option<Result<Bytes, E>>>,
    /// Chunks that are kept while others may be ready, too.
    kept: Vec<Bytes>,
    kept_bytes: usize,
    /// When the last chunk came.
    last: Option<Instant>,
    /// Whether other tasks have run since then.
    others_ran: bool,
}

impl<S, E> Joined<S, E> {
    /// Joins these chunks.
    pub fn new(chunks: S) -> Joined<S, E> {
        Joined { chunks, end: None, kept: Vec::new(), kept_bytes: 0, last: None, others_ran: false }
    }

    /// Keeps a chunk that has come; whether what is kept is to be passed on now.
    fn keep(&mut self, chunk: Bytes) -> bool {
        let now = Instant::now();
        let is_close = self.last.replace(now).is_some_and(|last| now.duration_since(last) < CLOSE);
        let follows = is_close || !self.kept.is_empty();
        self.kept_bytes += chunk.len();
        self.kept.push(chunk);
        self.others_ran = false;
        !follows || self.kept_bytes >= ENOUGH
    }

    /// All that is kept; nothing if that is nothing.
    fn take_kept(&mut self) -> Option<Bytes> {
        let bytes = std::mem::take(&mut self.kept_bytes);
        if self.kept.len() < 2 {
            return self.kept.pop();
        }
        let mut joined = BytesMut::with_capacity(bytes);
        self.kept.drain(..).for_each(|chunk| joined.extend_from_slice(&chunk));
        Some(joined.freeze())
    }
}

impl<S: Stream<Item = Result<Bytes, E>> + Unpin, E: Unpin> Stream for Joined<S, E> {
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(end) = self.end.take() {
            return Poll::Ready(end);
        }
        loop {
            match self.chunks.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(chunk))) => {
                    if self.keep(chunk) {
                        return Poll::Ready(self.take_kept().map(Ok));
                    }
                }
                Poll::Ready(end) => {
                    let Some(kept) = self.take_kept() else { return Poll::Ready(end) };
                    self.end = Some(end);
                    return Poll::Ready(Some(Ok(kept)));
                }
                Poll::Pending if self.kept.is_empty() => return Poll::Pending,
                Poll::Pending if self.others_ran => return Poll::Ready(self.take_kept().map(Ok)),
                Poll::Pending => {
                    self.others_ran = true;
                    // Polled once, it has this task woken after the others; there is no need to poll it again.
                    let _woken_later = pin!(tokio::task::yield_now()).poll(context);
                    return Poll::Pending;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use tokio::sync::mpsc;

    /// What comes out when these chunks are handed over one by one by another task, with a pause after some.
    async fn joined(chunks: &'static [(&'static str, u64)]) -> Vec<Bytes> {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for (chunk, pause_ms) in chunks {
                sender.send(Ok::<_, ()>(Bytes::from_static(chunk.as_bytes()))).await.unwrap();
                if *pause_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(*pause_ms)).await;
                }
            }
        });
        let chunks =
            stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) });
        Joined::new(Box::pin(chunks)).map(Result::unwrap).collect().await
    }

    #[tokio::test]
    async fn chunks_that_are_ready_become_one_and_nobody_waits_for_others() {
        let pieces = joined(&[("a", 0), ("b", 0), ("c", 0), ("d", 50), ("e", 50), ("f", 0), ("g", 0)]).await;
        assert_eq!(pieces.concat(), b"abcdefg");
        assert_eq!(pieces.first().map(|first| &first[..]), Some(&b"a"[..]), "the first one goes at once");
        assert!(pieces.iter().any(|piece| piece == "e"), "one between two pauses stays alone: {pieces:?}");
        assert!(pieces.len() < 7, "{pieces:?}");
    }

    #[tokio::test]
    async fn what_was_kept_comes_before_the_error_that_ends_it() {
        let chunks = [Ok("a"), Ok("b"), Ok("c"), Err(1)].map(|chunk| chunk.map(Bytes::from));
        let pieces: Vec<_> = Joined::new(stream::iter(chunks)).collect().await;
        assert_eq!(pieces, [Ok("a".into()), Ok("bc".into()), Err(1)]);
    }
}
