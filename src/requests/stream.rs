//! Solutions as they grow.

use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{LocalBoxStream, StreamExt};

use super::error::RequestError;
use super::{Rendering, Request, Requests, Solution};
use crate::structured::SolutionEvent;
use base::caller::Caller;

/// The events of one request; the last one is the solution, or an error.
pub type RequestStream = LocalBoxStream<'static, Result<SolutionEvent<Solution>, RequestError>>;

/// A solution that grows.
pub struct Growing {
    /// The prompt that was rendered.
    pub rendering: Option<Rendering>,
    /// The events.
    pub events: RequestStream,
}

impl Requests {
    /// Solves a request as a stream. The first answer has begun when this returns.
    ///
    /// # Errors
    /// [`RequestError`], also as the last event.
    pub async fn stream(self: &Arc<Self>, caller: Caller, request: Request) -> Result<Growing, RequestError> {
        let prepared = Arc::new(self.prepare(&caller, request).await?);
        let (began, rendering) = (Instant::now(), prepared.rendering.clone());
        let events = self.structured.stream(caller, prepared.task.clone()).await?;
        let service = self.clone();
        let told = events.then(move |event| {
            let (service, prepared) = (service.clone(), prepared.clone());
            async move {
                Ok(match event? {
                    SolutionEvent::Partial(value) => SolutionEvent::Partial(value),
                    SolutionEvent::Item(value) => SolutionEvent::Item(value),
                    SolutionEvent::Repair { attempt, violations } => {
                        SolutionEvent::Repair { attempt, violations }
                    }
                    SolutionEvent::Solution(solved) => SolutionEvent::Solution(Box::new(
                        service.kept(&prepared, *solved, began.elapsed()).await?,
                    )),
                })
            }
        });
        Ok(Growing { rendering, events: told.boxed_local() })
    }
}
