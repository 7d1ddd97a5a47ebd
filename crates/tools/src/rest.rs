//! REST tools: arguments go into the path, the query or a JSON body; the answer becomes a value.
//!
//! An answer is parsed as JSON if its `content-type` says so, and is a text otherwise. An empty answer is an empty text,
//! whatever its `content-type`.

use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::{Response, Url};
use serde_json::Value as Json;

use super::client::{Clients, tool_error};
use super::error::ToolError;
use super::gate::Gate;
use super::modules::Target;
use super::offload::{LARGE_BYTES, offload};
use base::encoding::{media_type, percent_encoded, without_bom};
use base::outbound::{BodyError, ERROR_BODY_BYTES, error_body, excerpt, whole_body};
use template::value::{Value, from_json};

/// How many redirects of one request are followed.
const REDIRECTS_MAX: usize = 3;

/// The client of REST tools.
#[derive(Debug)]
pub(super) struct Rest {
    clients: Clients,
    gate: Gate,
    answer_bytes: usize,
}

/// The name of an argument, and its value.
type NamedArgument<'v> = (&'v str, &'v Value);

/// A request, which a redirect replaces by the next one.
struct Request {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

/// Fills the placeholders `{name}` of an address with arguments, percent-encoded; also gives the arguments that have no
/// placeholder.
///
/// In the path, an argument must not be empty, `.` or `..`, so that it cannot lead to another path.
///
/// # Errors
/// [`ToolError::Arguments`] if an argument is missing, or is not allowed in a URL.
pub(super) fn fill<'v>(
    address: &str,
    arguments: &'v Value,
) -> Result<(String, Vec<NamedArgument<'v>>), ToolError> {
    let wrong = |message: String| ToolError::Arguments { message };
    let mut rest: Vec<NamedArgument<'v>> = arguments
        .as_map()
        .into_iter()
        .flat_map(|map| map.iter())
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let mut filled = String::with_capacity(address.len());
    let mut used = Vec::new();
    let mut left = address;
    while let Some((before, (name, after))) =
        left.split_once('{').and_then(|(a, b)| Some((a, b.split_once('}')?)))
    {
        let value = rest.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value =
            value.ok_or_else(|| wrong(format!("the URL needs the argument `{name}`, which is missing")))?;
        let text = plain(value)
            .ok_or_else(|| wrong(format!("`{name}` is used in the URL, and must be a text or a number")))?;
        filled.push_str(before);
        if matches!(text.as_str(), "" | "." | "..") && !filled.contains('?') {
            return Err(wrong(format!(
                "`{name}` is used in the URL's path, and must not be empty, `.` or `..`"
            )));
        }
        filled.push_str(&percent_encoded(&text));
        used.push(name);
        left = after;
    }
    filled.push_str(left);
    rest.retain(|(name, _)| !used.contains(name));
    Ok((filled, rest))
}

/// The text of a string, a number or a boolean; `None` for other values.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
        scalar => Some(scalar.to_json().to_string()),
    }
}

impl Rest {
    /// A client that sends requests where `gate` allows it, and reads answers of up to `answer_bytes`.
    pub fn new(gate: Gate, answer_bytes: usize) -> Rest {
        Rest { clients: Clients::new(gate.clone()), gate, answer_bytes }
    }

    /// Sends `arguments`: in the query for `GET` and `DELETE`, else as a JSON body. Redirects are followed, each checked
    /// by the gate. `trace` holds headers that are the same for every tool.
    ///
    /// # Errors
    /// [`ToolError::Failed`] with the beginning of the body for a status other than 2xx; all that the gate and the client
    /// report; [`ToolError::Answer`] if the answer is too long or not readable.
    pub async fn call(
        &self,
        target: Target,
        method: &Method,
        arguments: &[NamedArgument<'_>],
        trace: &HeaderMap,
    ) -> Result<Value, ToolError> {
        let Target { mut url, headers } = target;
        let mut body = None;
        if *method == Method::GET || *method == Method::DELETE {
            into_query(&mut url, arguments);
        } else {
            let object = arguments.iter().map(|(name, value)| ((*name).to_owned(), value.to_json()));
            body = Some(Json::Object(object.collect()).to_string().into_bytes());
        }
        let mut request = Request { url, method: method.clone(), headers, body };
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
        if request.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let client = self.clients.get()?;
        let mut outgoing = client.request(request.method.clone(), request.url.clone()).headers(headers);
        // Last, so that the headers of the settings win.
        outgoing = outgoing.headers(trace.clone()).headers(request.headers.clone());
        if let Some(body) = &request.body {
            outgoing = outgoing.body(body.clone());
        }
        outgoing.send().await.map_err(|error| tool_error(&error))
    }

    async fn read(&self, response: Response) -> Result<Value, ToolError> {
        let status = response.status();
        if !status.is_success() {
            let message = excerpt(&String::from_utf8_lossy(&error_body(response, ERROR_BODY_BYTES).await));
            return Err(ToolError::Failed { status: status.to_string(), message });
        }
        let is_json = declares_json(response.headers());
        let bytes = whole_body(response, self.answer_bytes).await.map_err(|error| ToolError::Answer {
            message: match error {
                BodyError::TooLong { .. } => error.to_string(),
                BodyError::Broken(_) => "the connection broke before its end".to_owned(),
            },
        })?;
        match is_json && !bytes.is_empty() {
            true => value_of(bytes).await,
            false => text_of(bytes),
        }
    }
}

/// Adds arguments to the query: a list repeats the name, an object is written as JSON, null is left out.
fn into_query(url: &mut Url, arguments: &[NamedArgument<'_>]) {
    if arguments.is_empty() {
        return;
    }
    let mut query = url.query_pairs_mut();
    for (name, value) in arguments {
        let items = match value {
            Value::List(items) => items.iter().collect(),
            value => vec![*value],
        };
        for item in items.into_iter().filter(|item| **item != Value::Null) {
            query.append_pair(name, &plain(item).unwrap_or_else(|| item.to_json().to_string()));
        }
    }
}

/// The next request, if the response is a redirect. The settings' headers, which hold secrets, are not sent to another
/// origin.
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
    Ok(Some(Request {
        url,
        method: if becomes_get { Method::GET } else { request.method.clone() },
        headers: if same_origin { request.headers.clone() } else { HeaderMap::new() },
        body: request.body.clone().filter(|_| !becomes_get),
    }))
}

fn declares_json(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type(declared).to_ascii_lowercase();
    media_type == "application/json" || media_type.ends_with("+json")
}

async fn value_of(bytes: Vec<u8>) -> Result<Value, ToolError> {
    let invalid = |error| ToolError::Answer { message: format!("it is not valid JSON: {error}") };
    let is_large = bytes.len() > LARGE_BYTES;
    let parse = move || from_json(without_bom(&bytes)).map_err(invalid);
    if is_large { offload(parse).await } else { parse() }
}

fn text_of(bytes: Vec<u8>) -> Result<Value, ToolError> {
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| ToolError::Answer { message: "it is neither JSON nor UTF-8 text".into() })?;
    Ok(Value::from(text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_in_the_address_are_encoded_and_not_sent_again() {
        let arguments = Value::from(json!({"repo": "a/b c?", "n": 7, "x": true}));
        let (address, rest) = fill("http://h/{repo}/issues/{n}?q={repo}", &arguments).unwrap();
        assert_eq!(address, "http://h/a%2Fb%20c%3F/issues/7?q=a%2Fb%20c%3F");
        assert_eq!(rest.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn arguments_cannot_climb_out_of_the_address() {
        for (address, arguments) in [
            ("http://h/a/{x}/b", json!({"x": ".."})),
            ("http://h/a/{x}/b", json!({"x": "."})),
            ("http://h/a/{x}/b", json!({"x": ""})),
            ("http://h/a/{x}/b", json!({"x": [1]})),
            ("http://h/a/{x}/b", json!({"x": null})),
            ("http://h/a/{x}/b", json!({})),
            ("http://h/{x}?q=1", json!({"x": ".."})),
        ] {
            let value = Value::from(arguments.clone());
            let result = fill(address, &value);
            assert!(matches!(result, Err(ToolError::Arguments { .. })), "{arguments}");
        }
        let empty = Value::from(json!({"x": ""}));
        assert_eq!(fill("http://h/a?q={x}&r=1", &empty).unwrap().0, "http://h/a?q=&r=1");
        let arguments = Value::from(json!({"x": "../..%2e"}));
        let (address, _) = fill("http://h/a/{x}/b", &arguments).unwrap();
        assert_eq!(Url::parse(&address).unwrap().path(), "/a/..%2F..%252e/b");
    }

    #[test]
    fn lists_repeat_their_name_in_the_query() {
        let arguments = Value::from(json!({"tag": ["a b", 2, null], "o": {"k": 1}, "none": null}));
        let (_, rest) = fill("", &arguments).unwrap();
        let mut url = Url::parse("http://h/p?fixed=1").unwrap();
        into_query(&mut url, &rest);
        assert_eq!(url.query(), Some("fixed=1&tag=a+b&tag=2&o=%7B%22k%22%3A1%7D"));
    }
}
