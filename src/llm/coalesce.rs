//! Coalesces chunks of a stream that are ready at the same time, so that not each of them becomes a write to the client.
//!
//! The HTTP client runs in tasks of its own and hands an answer over chunk by chunk. The next chunk may be there already, but
//! shows only after that task has run again. So a small task collects a burst: what is ready, until the client's task has run
//! and nothing more has come. It never waits for a chunk. A stream begins with a burst, and a chunk that follows another one
//! closely starts one; a chunk that follows a pause is passed on at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, poll};
use tokio::sync::oneshot;

/// A chunk that follows the one before within this time may be part of a burst.
const CLOSE: Duration = Duration::from_millis(2);

/// A burst of this length, in bytes, is passed on without looking for more.
const BURST_BYTES: usize = 64 << 10;

/// A stream of chunks that coalesces those that are ready at the same time.
pub struct Coalesce<S, E> {
    /// The chunks with which the stream began.
    first: Option<Bytes>,
    source: Source<S, E>,
    /// When the last chunk came.
    last_chunk: Option<Instant>,
}

enum Source<S, E> {
    /// The chunks themselves.
    Chunks(S),
    /// A burst, from the task that collects it.
    Burst(oneshot::Receiver<Burst<S, E>>),
    /// The end of the stream, or the error, that followed a burst.
    End(Option<Result<Bytes, E>>),
}

/// Chunks that came at the same time, and the stream after them.
struct Burst<S, E> {
    bytes: Bytes,
    rest: Source<S, E>,
}

impl<S, E> Coalesce<S, E> {
    /// Whether the chunk that comes now follows the one before closely.
    fn is_close(&mut self) -> bool {
        let now = Instant::now();
        self.last_chunk.replace(now).is_some_and(|last| now.duration_since(last) < CLOSE)
    }
}

impl<S, E> Stream for Coalesce<S, E>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: Send + Unpin + 'static,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        loop {
            match &mut self.source {
                Source::Chunks(chunks) => {
                    let Poll::Ready(next) = chunks.poll_next_unpin(context) else { return Poll::Pending };
                    match next {
                        Some(Ok(chunk)) if self.is_close() => self.start_burst(chunk),
                        next => return Poll::Ready(next),
                    }
                }
                Source::Burst(burst) => {
                    let Poll::Ready(burst) = Pin::new(burst).poll(context) else { return Poll::Pending };
                    // The task is gone when the runtime ends; then the stream has ended, too.
                    let Ok(Burst { bytes, rest }) = burst else { return Poll::Ready(None) };
                    self.source = rest;
                    self.last_chunk = Some(Instant::now());
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Source::End(end) => return Poll::Ready(end.take()),
            }
        }
    }
}

impl<S, E> Coalesce<S, E>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: Send + 'static,
{
    /// Coalesces these chunks, and begins with those that are ready now.
    pub async fn begin(chunks: S) -> Coalesce<S, E> {
        match collect(BytesMut::new(), chunks).await {
            Ok(Burst { bytes, rest }) => {
                let first = (!bytes.is_empty()).then_some(bytes);
                let last_chunk = first.as_ref().map(|_| Instant::now());
                Coalesce { first, source: rest, last_chunk }
            }
            // The runtime is ending.
            Err(_) => Coalesce { first: None, source: Source::End(None), last_chunk: None },
        }
    }

    /// Has a task collect what is ready, `first` included.
    fn start_burst(&mut self, first: Bytes) {
        // The stream is over if the task has gone with its runtime.
        if let Source::Chunks(chunks) = std::mem::replace(&mut self.source, Source::End(None)) {
            self.source = Source::Burst(collect(first.into(), chunks));
        }
    }
}

/// Has a task of its own collect what is ready after `first`: a task that runs beside those of the HTTP client, and not among the
/// local ones of a serving thread, which run in batches.
fn collect<S, E>(first: BytesMut, chunks: S) -> oneshot::Receiver<Burst<S, E>>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        // An error means that the client has left: the rest of the stream is dropped with it.
        let _left = sender.send(burst(first, chunks).await);
    });
    receiver
}

/// Everything that is ready of `chunks`, after `first`.
async fn burst<S, E>(mut bytes: BytesMut, mut chunks: S) -> Burst<S, E>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let mut others_ran = false;
    let rest = loop {
        match poll!(chunks.next()) {
            Poll::Ready(Some(Ok(chunk))) => {
                bytes.extend_from_slice(&chunk);
                others_ran = false;
                if bytes.len() >= BURST_BYTES {
                    break Source::Chunks(chunks);
                }
            }
            Poll::Ready(end) => break Source::End(end),
            Poll::Pending if others_ran => break Source::Chunks(chunks),
            Poll::Pending => {
                to_the_back().await;
                others_ran = true;
            }
        }
    };
    Burst { bytes: bytes.freeze(), rest }
}

/// Puts this task at the back of the run queue: behind the client's task, which the last look at the stream has woken. Other than
/// `yield_now` it does not go through the I/O driver, which would be a system call for each chunk.
async fn to_the_back() {
    let mut was_polled = false;
    poll_fn(|context| match std::mem::replace(&mut was_polled, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use tokio::sync::mpsc;

    /// What comes out when these chunks are handed over one by one by another task, with a pause after some.
    async fn coalesced(chunks: &'static [(&'static str, u64)]) -> Vec<Bytes> {
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
        Coalesce::begin(Box::pin(chunks)).await.map(Result::unwrap).collect().await
    }

    #[tokio::test]
    async fn chunks_that_are_ready_are_coalesced_without_waiting_for_others() {
        let pieces =
            coalesced(&[("a", 0), ("b", 0), ("c", 0), ("d", 50), ("e", 50), ("f", 0), ("g", 0)]).await;
        assert_eq!(pieces.concat(), b"abcdefg");
        assert_eq!(pieces.first().map(|first| &first[..]), Some(&b"abcd"[..]), "{pieces:?}");
        assert_eq!(pieces.get(1).map(|second| &second[..]), Some(&b"e"[..]), "{pieces:?}");
    }

    #[tokio::test]
    async fn what_was_collected_comes_before_the_error_that_ends_it() {
        let chunks = [Ok("a"), Ok("b"), Ok("c"), Err(1)].map(|chunk| chunk.map(Bytes::from));
        let pieces: Vec<_> = Coalesce::begin(stream::iter(chunks)).await.collect().await;
        assert_eq!(pieces, [Ok("abc".into()), Err(1)]);
    }
}
