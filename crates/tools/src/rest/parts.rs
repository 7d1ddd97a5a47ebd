//! Where the arguments of a call go: the path, the query, headers and the body.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use serde_json::Value as Json;
use url::form_urlencoded::Serializer;

use crate::error::ToolError;
use base::encoding::percent_encoded;
use base::model::{ArgumentText, Encoding, Restful, TextPart};
use template::value::Value;

/// A name, and the argument that goes there.
type Named<'v> = (&'v str, &'v Value);

/// A request without the headers of the settings; its address may be relative.
#[derive(Debug)]
pub struct RequestParts {
    /// The URL with its arguments filled in, without those of the query.
    pub address: String,
    /// The names and values that are added to the query.
    pub query: Vec<(String, String)>,
    /// The headers that hold arguments, and the type of the body.
    pub headers: HeaderMap,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
}

impl RequestParts {
    /// Puts every argument into its place.
    ///
    /// # Errors
    /// [`ToolError::Arguments`] if the URL needs an argument that is missing, or an argument cannot stand where it belongs.
    pub fn new(restful: &Restful, arguments: &Value) -> Result<RequestParts, ToolError> {
        let find = |name: &str| arguments.as_map().and_then(|map| map.get(name));
        let address = fill(&restful.url, find)?;
        let mut query = Vec::new();
        for (name, text) in &restful.query {
            match text.argument() {
                Some(argument) => find(argument).into_iter().for_each(|value| pairs(name, value, &mut query)),
                None => query.extend(text_of(text, find, "the query")?.map(|text| (name.clone(), text))),
            }
        }
        let headers = headers(restful, find)?;
        let mut parts = RequestParts { address, query, headers, body: None };
        let is_placed = |name: &str| restful.placed().any(|placed| placed == name);
        let all = arguments.as_map().into_iter().flat_map(|map| map.iter());
        let rest = all.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| !is_placed(name));
        parts.add(restful, rest.collect(), restful.body.as_deref().map(|name| (name, find(name))))?;
        Ok(parts)
    }

    /// Adds the arguments without a place of their own, and the `whole` body if one argument is it.
    fn add(
        &mut self,
        restful: &Restful,
        rest: Vec<Named<'_>>,
        whole: Option<(&str, Option<&Value>)>,
    ) -> Result<(), ToolError> {
        let has_body = restful.encoding != Encoding::None && !matches!(&*restful.method, "GET" | "DELETE");
        if whole.is_some() || !has_body {
            rest.iter().for_each(|(name, value)| pairs(name, value, &mut self.query));
        }
        let (body, kind) = match (whole, restful.encoding) {
            (Some((_, None | Some(Value::Null))), _) => return Ok(()),
            (None, _) if !has_body => return Ok(()),
            (Some((name, Some(value))), Encoding::Form) => {
                let members = value.as_map().ok_or_else(|| ToolError::Arguments {
                    message: format!("`{name}` is sent as a form, and must be an object"),
                })?;
                (form(members.iter().map(|(name, value)| (name.as_str(), value))), FORM)
            }
            (Some((_, Some(value))), _) => (value.to_json().to_string(), JSON),
            (None, Encoding::Form) => (form(rest.into_iter()), FORM),
            (None, _) => {
                let members = rest.into_iter().map(|(name, value)| (name.to_owned(), value.to_json()));
                (Json::Object(members.collect()).to_string(), JSON)
            }
        };
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        self.body = Some(body.into_bytes());
        Ok(())
    }

    /// Adds the query to a URL, which may have one already.
    pub fn query_to(&self, url: &mut Url) {
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
    }
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Fills arguments into a URL, percent-encoded. In the path, an argument must not be empty, `.` or `..`, so that it cannot
/// lead to another path.
fn fill<'v>(url: &ArgumentText, find: impl Fn(&str) -> Option<&'v Value>) -> Result<String, ToolError> {
    let wrong = |message: String| ToolError::Arguments { message };
    let mut filled = String::new();
    for part in url.parts() {
        let name = match part {
            TextPart::Text(text) => {
                filled.push_str(text);
                continue;
            }
            TextPart::Argument(name) => name,
        };
        let value = find(name)
            .ok_or_else(|| wrong(format!("the URL needs the argument `{name}`, which is missing")))?;
        let text = plain(value)
            .ok_or_else(|| wrong(format!("`{name}` is used in the URL, and must be a text or a number")))?;
        if matches!(text.as_str(), "" | "." | "..") && !filled.contains('?') {
            return Err(wrong(format!(
                "`{name}` is used in the URL's path, and must not be empty, `.` or `..`"
            )));
        }
        filled.push_str(&percent_encoded(&text));
    }
    Ok(filled)
}

fn headers<'v>(
    restful: &Restful,
    find: impl Fn(&str) -> Option<&'v Value> + Copy,
) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, text) in &restful.headers {
        let Some(text) = text_of(text, find, "a header")? else { continue };
        // The client would send other characters as UTF-8, which servers read as they like.
        let value = HeaderValue::from_str(&text).ok().filter(|_| text.is_ascii());
        let value = value.ok_or_else(|| ToolError::Arguments {
            message: format!("the header `{name}` takes ASCII text without control characters only"),
        })?;
        let name = HeaderName::try_from(name)
            .map_err(|_| ToolError::Unusable { message: format!("`{name}` is not the name of a header") })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The text with its arguments filled in; a list is joined by commas. `None` if an argument is absent or null.
fn text_of<'v>(
    text: &ArgumentText,
    find: impl Fn(&str) -> Option<&'v Value>,
    place: &str,
) -> Result<Option<String>, ToolError> {
    let mut filled = String::new();
    for part in text.parts() {
        let name = match part {
            TextPart::Text(text) => {
                filled.push_str(text);
                continue;
            }
            TextPart::Argument(name) => name,
        };
        let text = match find(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::List(items)) => {
                let items: Option<Vec<String>> = items.iter().map(plain).collect();
                items.map(|items| items.join(","))
            }
            Some(value) => plain(value),
        };
        filled.push_str(&text.ok_or_else(|| ToolError::Arguments {
            message: format!("`{name}` is a part of {place}, and must be a text, a number or a list of them"),
        })?);
    }
    Ok(Some(filled))
}

/// Adds the pairs of an argument: a list repeats the name, an object is written as JSON, null is left out.
fn pairs(name: &str, value: &Value, to: &mut Vec<(String, String)>) {
    let items = match value {
        Value::List(items) => items.iter().collect(),
        value => vec![value],
    };
    let items = items.into_iter().filter(|item| **item != Value::Null);
    to.extend(items.map(|item| (name.to_owned(), plain(item).unwrap_or_else(|| item.to_json().to_string()))));
}

fn form<'v>(members: impl Iterator<Item = Named<'v>>) -> String {
    let mut all = Vec::new();
    members.for_each(|(name, value)| pairs(name, value, &mut all));
    Serializer::new(String::new()).extend_pairs(all).finish()
}

/// The text of a string, a number or a boolean; `None` for other values.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
        scalar => Some(scalar.to_json().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(restful: Json, arguments: Json) -> Result<RequestParts, ToolError> {
        let restful = Restful::read(&json!({"restful": restful})).unwrap();
        RequestParts::new(&restful, &Value::from(arguments))
    }

    #[test]
    fn arguments_in_the_address_are_encoded_and_not_sent_again() {
        let arguments = json!({"repo": "a/b c?", "n": 7, "x": true});
        let sent = parts(json!({"url": "http://h/{repo}/issues/{n}?q={repo}"}), arguments).unwrap();
        assert_eq!(sent.address, "http://h/a%2Fb%20c%3F/issues/7?q=a%2Fb%20c%3F");
        assert_eq!(sent.body.as_deref(), Some(&b"{\"x\":true}"[..]));
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
            let result = parts(json!({"url": address}), arguments.clone());
            assert!(matches!(result, Err(ToolError::Arguments { .. })), "{arguments}");
        }
        let sent = parts(json!({"url": "http://h/a?q={x}&r=1"}), json!({"x": ""})).unwrap();
        assert_eq!(sent.address, "http://h/a?q=&r=1");
        let sent = parts(json!({"url": "http://h/a/{x}/b"}), json!({"x": "../..%2e"})).unwrap();
        assert_eq!(Url::parse(&sent.address).unwrap().path(), "/a/..%2F..%252e/b");
    }

    #[test]
    fn lists_repeat_their_name_in_the_query() {
        let arguments = json!({"tag": ["a b", 2, null], "o": {"k": 1}, "none": null});
        let sent = parts(json!({"url": "/p", "method": "GET"}), arguments).unwrap();
        let mut url = Url::parse("http://h/p?fixed=1").unwrap();
        sent.query_to(&mut url);
        assert_eq!(url.query(), Some("fixed=1&tag=a+b&tag=2&o=%7B%22k%22%3A1%7D"));
    }

    #[test]
    fn headers_take_no_line_breaks_and_no_objects() {
        let restful = json!({"url": "/p", "headers": {"X-A": "v {x}"}});
        for value in [json!("a\r\nX-B: 1"), json!("ä"), json!({"k": 1}), json!([[1]])] {
            let result = parts(restful.clone(), json!({"x": value}));
            assert!(matches!(result, Err(ToolError::Arguments { .. })), "{value}");
        }
        let sent = parts(restful.clone(), json!({"x": ["a", 1]})).unwrap();
        assert_eq!(sent.headers["x-a"], "v a,1");
        assert!(!parts(restful, json!({"x": null})).unwrap().headers.contains_key("x-a"));
    }
}
