//! REST tools: arguments go into the path, the query, headers or a body; the answer becomes a value.
//!
//! - `parts`: where each argument goes
//! - `answer`: from bytes to a value: parsed as JSON if the `content-type` says so, else a text in its charset

mod answer;
mod parts;

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{Response, Url};

use self::answer::AnswerType;
pub(super) use self::parts::RequestParts;
use super::client::{Clients, tool_error};
use super::error::ToolError;
use super::gate::Gate;
use super::modules::Target;
use base::outbound::{BodyError, ERROR_BODY_BYTES, error_body, excerpt, whole_body};
use template::value::Value;

/// How many redirects of one request are followed.
const REDIRECTS_MAX: usize = 3;

/// The client of REST tools.
#[derive(Debug)]
pub(super) struct Rest {
    clients: Clients,
    gate: Gate,
    answer_bytes: usize,
}

/// A request, which a redirect replaces by the next one.
struct Request {
    url: Url,
    method: Method,
    /// The headers of the settings.
    secrets: HeaderMap,
    /// The headers of the tool's document, and the type of the body.
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Rest {
    /// A client that sends requests where `gate` allows it, and reads answers of up to `answer_bytes`.
    pub fn new(gate: Gate, answer_bytes: usize) -> Rest {
        Rest { clients: Clients::new(gate.clone()), gate, answer_bytes }
    }

    /// Sends a request. Redirects are followed, each checked by the gate. `trace` holds headers that are the same for every
    /// tool.
    ///
    /// # Errors
    /// [`ToolError::Failed`] with the beginning of the body for a status other than 2xx; all that the gate and the client
    /// report; [`ToolError::Answer`] if the answer is too long or not readable.
    pub async fn call(
        &self,
        target: Target,
        method: &Method,
        parts: RequestParts,
        trace: &HeaderMap,
    ) -> Result<Value, ToolError> {
        let Target { mut url, headers: secrets } = target;
        parts.query_to(&mut url);
        let RequestParts { headers, body, .. } = parts;
        let mut request = Request { url, method: method.clone(), secrets, headers, body };
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&request, trace).await?;
            match redirected(&request, &response)? {
                Some(next) => request = next,
                None => return self.read(response).await,
            }
        }
        Err(ToolError::Answer { message: format!("it redirects more than {REDIRECTS_MAX} times") })
    }

    async fn send(&self, request: &Request, trace: &HeaderMap) -> Result<Response, ToolError> {
        self.gate.check(&request.url)?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/*;q=0.9, */*;q=0.1"));
        let client = self.clients.get()?;
        let outgoing = client.request(request.method.clone(), request.url.clone());
        let outgoing = outgoing.headers(headers).headers(request.headers.clone());
        // Last, so that the headers of the settings win.
        let mut outgoing = outgoing.headers(trace.clone()).headers(request.secrets.clone());
        if let Some(body) = &request.body {
            outgoing = outgoing.body(body.clone());
        }
        outgoing.send().await.map_err(|error| tool_error(&error))
    }

    async fn read(&self, response: Response) -> Result<Value, ToolError> {
        let status = response.status();
        let kind = AnswerType::of(response.headers());
        if !status.is_success() {
            let message = excerpt(&kind.lossy(&error_body(response, ERROR_BODY_BYTES).await));
            return Err(ToolError::Failed { status: status.to_string(), message });
        }
        let bytes = whole_body(response, self.answer_bytes).await.map_err(|error| ToolError::Answer {
            message: match error {
                BodyError::TooLong { .. } => error.to_string(),
                BodyError::Broken(_) => "the connection broke before its end".to_owned(),
            },
        })?;
        kind.value(bytes).await
    }
}

/// The next request, if the response is a redirect. The settings' headers, which hold secrets, are not sent to another
/// origin, and neither are those of the document.
fn redirected(request: &Request, response: &Response) -> Result<Option<Request>, ToolError> {
    let Some(location) = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())
    else {
        return Ok(None);
    };
    let target = location.to_str().ok().and_then(|location| request.url.join(location).ok());
    let url = target.ok_or_else(|| ToolError::Answer { message: "it redirects to an invalid URL".into() })?;
    let same_origin = url.origin() == request.url.origin();
    let becomes_get = match response.status() {
        StatusCode::SEE_OTHER => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => request.method == Method::POST,
        _ => false,
    };
    let body = request.body.clone().filter(|_| !becomes_get);
    let goes_on = |name: &HeaderName| if *name == CONTENT_TYPE { body.is_some() } else { same_origin };
    let headers = request.headers.iter().filter(|(name, _)| goes_on(name));
    let headers = headers.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Some(Request {
        url,
        method: if becomes_get { Method::GET } else { request.method.clone() },
        secrets: if same_origin { request.secrets.clone() } else { HeaderMap::new() },
        headers,
        body,
    }))
}
