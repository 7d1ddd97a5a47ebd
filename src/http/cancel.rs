//! Futures that another future may cancel.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::future::{Either, select};

/// The output of `work`, or, as the error, the output of `end` if that comes first.
///
/// `end` is made only if `work` is not finished when it is polled for the second time. The HTTP server calls a handler before it
/// hands over the body, which has usually arrived with the head. So most requests never create a timer.
pub async fn unless<T, E, F: Future<Output = E>>(
    work: impl Future<Output = T>,
    end: impl FnOnce() -> F,
) -> Result<T, E> {
    let mut work = pin!(work);
    if let Some(done) = within_two_looks(work.as_mut()).await {
        return Ok(done);
    }
    match select(work, pin!(end())).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right((ended, _)) => Err(ended),
    }
}

async fn within_two_looks<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    let mut is_second = false;
    let look = poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if is_second => Poll::Ready(None),
        Poll::Pending => {
            is_second = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    });
    look.await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[actix_web::test]
    async fn the_end_is_waited_for_from_the_second_look_on() {
        let never = || -> std::future::Pending<()> { unreachable!("nobody has to wait for the end") };
        assert_eq!(unless(ready(1), never).await, Ok(1));
        assert_eq!(unless(async { tokio::task::yield_now().await }, never).await, Ok(()));
        assert_eq!(unless(pending::<()>(), || ready(2)).await, Err(2));
        let soon = async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            3
        };
        assert_eq!(unless(soon, pending::<()>).await, Ok(3));
    }
}
