//! What the document of a REST tool says about its requests: where each argument goes.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::argument_text::ArgumentText;
use super::string_member;

/// How the body of a request is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// A JSON object.
    #[default]
    Json,
    /// As HTML forms do: `application/x-www-form-urlencoded`.
    Form,
    /// There is none.
    None,
}

/// The requests of a REST tool.
///
/// Arguments that `url`, `query`, `headers` and `body` do not name go into the body; into the query if the method has none,
/// or if `body` or `encoding` leave no room for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restful {
    /// The URL, which may be relative.
    pub url: ArgumentText,
    /// The method.
    pub method: String,
    /// How the body is written.
    pub encoding: Encoding,
    /// Names and values of parameters of the query.
    pub query: Vec<(String, ArgumentText)>,
    /// Names and values of headers.
    pub headers: Vec<(String, ArgumentText)>,
    /// The argument that is the whole body.
    pub body: Option<String>,
}

/// A member of a document that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The member: a JSON Pointer.
    pub path: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Headers that belong to the client or to the settings.
const OWN_HEADERS: [&str; 18] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-request-id",
    "traceparent",
    "tracestate",
];

/// Why a tool's document may not set a header; `None` if it may.
pub fn header_fault(name: &str) -> Option<String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Some(format!("`{name}` is not the name of a header"));
    }
    let lower = name.to_ascii_lowercase();
    let is_own = OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("proxy-");
    is_own.then(|| {
        format!(
            "the header `{name}` is set by the service and its settings (tools.modules.NAME.headers), not by documents"
        )
    })
}

impl Restful {
    /// Reads the document of a REST tool.
    ///
    /// # Errors
    /// All that cannot be used.
    pub fn read(document: &Json) -> Result<Restful, Vec<Fault>> {
        let restful = document.get("restful").unwrap_or(&Json::Null);
        let mut faults = Vec::new();
        let restful = Restful {
            url: url(document, restful, &mut faults),
            method: string_member(restful, "method").unwrap_or_else(|| "POST".to_owned()),
            encoding: match restful.get("encoding").and_then(Json::as_str) {
                Some("form") => Encoding::Form,
                Some("none") => Encoding::None,
                _ => Encoding::Json,
            },
            query: texts(restful, "query", &mut faults),
            headers: texts(restful, "headers", &mut faults),
            body: body(restful, &mut faults),
        };
        faults.extend(restful.headers.iter().filter_map(|(name, _)| {
            Some(Fault { path: format!("/restful/headers/{name}"), message: header_fault(name)? })
        }));
        if restful.body.is_some() && restful.encoding == Encoding::None {
            let message = "there is a `body`, but the `encoding` is `none`".to_owned();
            faults.push(Fault { path: "/restful/body".to_owned(), message });
        }
        faults.extend(restful.undeclared(document));
        if faults.is_empty() { Ok(restful) } else { Err(faults) }
    }

    /// The names of all arguments that have a place of their own.
    pub fn placed(&self) -> impl Iterator<Item = &str> {
        let named = self.query.iter().chain(&self.headers).flat_map(|(_, text)| text.names());
        self.url.names().chain(named).chain(self.body.as_deref())
    }

    /// The names that `parameters` do not declare. A schema that is composed of others may declare them there.
    fn undeclared(&self, document: &Json) -> Option<Fault> {
        const COMPOSED: [&str; 9] = [
            "$ref",
            "$dynamicRef",
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "patternProperties",
            "dependentSchemas",
            "not",
        ];
        let schema = document.get("parameters")?;
        let declared = schema.get("properties")?.as_object()?;
        if COMPOSED.iter().any(|keyword| schema.get(keyword).is_some()) {
            return None;
        }
        let unknown: BTreeSet<&str> = self.placed().filter(|name| !declared.contains_key(*name)).collect();
        let names: Vec<String> = unknown.into_iter().map(|name| format!("`{{{name}}}`")).collect();
        let message = format!(
            "{} cannot be filled in: `parameters` have no such property; declare it there, or correct the name",
            names.join(", ")
        );
        (!names.is_empty()).then(|| Fault { path: "/restful".to_owned(), message })
    }
}

fn url(document: &Json, restful: &Json, faults: &mut Vec<Fault>) -> ArgumentText {
    let (path, text) = match (string_member(restful, "url"), string_member(document, "url")) {
        (Some(url), _) => ("/restful/url", url),
        (None, Some(url)) => ("/url", url),
        (None, None) => ("/url", String::new()),
    };
    let fault = |message: &str| Fault { path: path.to_owned(), message: message.to_owned() };
    if text.is_empty() {
        faults.push(fault("the URL is missing"));
    }
    let url = argument_text(path, &text, faults);
    if chooses_host(&text) {
        faults.push(fault("the URL has an argument in the host; arguments are allowed after the host only"));
    }
    url
}

/// Whether an argument can change the host that a URL points to. A template must not choose the host.
///
/// URLs are read as clients read them: `http:host` and `http:\\host` name a host, too, and tabs and line breaks do not count.
fn chooses_host(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    if scheme.contains(['/', '\\', '?', '#']) {
        return false;
    }
    let rest = rest.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    scheme.contains('{') || host.contains('{')
}

/// The members of an object of texts.
fn texts(restful: &Json, member: &str, faults: &mut Vec<Fault>) -> Vec<(String, ArgumentText)> {
    let members = restful.get(member).and_then(Json::as_object).into_iter().flatten();
    let read = |(name, text): (&String, &Json)| {
        let path = format!("/restful/{member}/{name}");
        Some((name.clone(), argument_text(&path, text.as_str()?, faults)))
    };
    members.filter_map(read).collect()
}

fn body(restful: &Json, faults: &mut Vec<Fault>) -> Option<String> {
    let text = string_member(restful, "body")?;
    let body = argument_text("/restful/body", &text, faults).argument().map(str::to_owned);
    if body.is_none() {
        let message = "the body must be one argument, such as `{name}`".to_owned();
        faults.push(Fault { path: "/restful/body".to_owned(), message });
    }
    body
}

fn argument_text(path: &str, text: &str, faults: &mut Vec<Fault>) -> ArgumentText {
    ArgumentText::parse(text).unwrap_or_else(|error| {
        faults.push(Fault { path: path.to_owned(), message: error.to_string() });
        ArgumentText::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(document: Json) -> Vec<(String, String)> {
        let faults = Restful::read(&document).expect_err("it has faults");
        faults.into_iter().map(|fault| (fault.path, fault.message)).collect()
    }

    #[test]
    fn everything_that_cannot_be_used_is_named_with_its_place() {
        let found = faults(json!({
            "restful": {
                "url": "/a/{b", "encoding": "none", "body": "x{y}",
                "query": {"q": "}"},
                "headers": {"Authorization": "{b}", "X-A": "{", "a b": "1", "Proxy-Connection": "1"},
            },
        }));
        let places: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        let expected = [
            "/restful/url",
            "/restful/query/q",
            "/restful/headers/X-A",
            "/restful/body",
            "/restful/headers/Authorization",
            "/restful/headers/a b",
            "/restful/headers/Proxy-Connection",
        ];
        assert_eq!(places, expected, "{found:?}");
    }

    #[test]
    fn names_must_be_declared_where_parameters_say_what_there_is() {
        let with = |parameters: Json| json!({"url": "/{a}/{b}", "parameters": parameters});
        let found = faults(with(json!({"properties": {"a": {}}})));
        assert!(found[0].1.contains("`{b}`") && !found[0].1.contains("`{a}`"), "{found:?}");
        for parameters in [
            json!({"properties": {"a": {}, "b": {}}}),
            json!({"type": "object"}),
            json!({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}),
        ] {
            assert!(Restful::read(&with(parameters.clone())).is_ok(), "{parameters}");
        }
        assert!(Restful::read(&json!({"url": "/{a}/{b}"})).is_ok());
    }

    #[test]
    fn arguments_choose_no_host() {
        for url in [
            "http://{host}/x",
            "http://h{x}",
            "http://u:{p}@h/",
            "http:{host}/x",
            "http:\\{host}/x",
            "http:/\t/{host}/x",
            "{scheme}://h/",
            "{a}:{b}",
        ] {
            let found = faults(json!({"url": url}));
            assert!(found[0].1.contains("after the host only"), "{url}: {found:?}");
        }
        for url in ["http://h/{x}", "http://h?{x}", "/{x}", "a/{x}", "{x}/a", "/{x}:{y}", "//{x}"] {
            assert!(Restful::read(&json!({"url": url})).is_ok(), "{url}");
        }
    }
}
