//! Solutions as they grow.

use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{LocalBoxStream, StreamExt};

use super::error::RequestError;
use super::{Rendering, Request, Requests, Solution};
use crate::structured::SolutionEvent;
use base::caller::Caller;
use base::schema::Violation;
use template::value::Value;

/// What is told of a solution that grows.
#[derive(Debug)]
pub enum RequestEvent {
    /// The value as far as it has come.
    Partial(Value),
    /// The next element of a value that is a list.
    Item(Value),
    /// What came so far does not fit: the value begins anew.
    Repair {
        /// The number of the attempt that begins, from 1.
        attempt: usize,
        /// What was wrong.
        violations: Vec<Violation>,
    },
    /// The solution.
    Solution(Box<Solution>),
}

/// The events of one request; the last one is the solution, or an error.
pub type RequestStream = LocalBoxStream<'static, Result<RequestEvent, RequestError>>;

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
                    SolutionEvent::Partial(value) => RequestEvent::Partial(value),
                    SolutionEvent::Item(value) => RequestEvent::Item(value),
                    SolutionEvent::Repair { attempt, violations } => {
                        RequestEvent::Repair { attempt, violations }
                    }
                    SolutionEvent::Solution(solved) => RequestEvent::Solution(Box::new(
                        service.kept(&prepared, *solved, began.elapsed()).await,
                    )),
                })
            }
        });
        Ok(Growing { rendering, events: told.boxed_local() })
    }
}
