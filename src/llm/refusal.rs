//! What an upstream says about a failure: its words, and when it would like to be asked again.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::HeaderMap;
use http::header::RETRY_AFTER;
use serde_json::{Value as Json, json};

use base::outbound::{Secrets, redacted};

/// What an upstream says about a failure.
pub struct Said {
    text: String,
    json: Option<Json>,
}

impl Said {
    /// Reads a failure's body.
    pub fn read(body: &[u8]) -> Said {
        Said { text: String::from_utf8_lossy(body).into_owned(), json: serde_json::from_slice(body).ok() }
    }

    /// Its words: the error's message, or whatever there is.
    pub fn message(&self) -> String {
        let text = |place| self.json.as_ref()?.pointer(place)?.as_str();
        let places = ["/error/message", "/error", "/message", "/detail", "/0/error/message"];
        places.into_iter().find_map(text).unwrap_or(&self.text).to_owned()
    }

    /// The body in the shape that all errors have: as it is if it has it, else made of its words.
    pub fn passed_on(&self, secrets: &Secrets) -> Bytes {
        let error = self.json.as_ref().and_then(|json| json.get("error"));
        if error.is_some_and(|error| error.get("message").is_some_and(Json::is_string)) {
            return secrets.redact(self.text.clone()).into();
        }
        let message = match redacted(self.message(), secrets) {
            message if message.is_empty() => "the upstream refused the request and says no more".to_owned(),
            message => message,
        };
        let error =
            json!({"message": message, "type": "upstream_error", "param": null, "code": "llm_refused"});
        json!({"error": error}).to_string().into()
    }
}

/// When the upstream would like to be asked again: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let seconds: f64 = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    if let Some(after) = text("retry-after-ms").and_then(seconds) {
        return Some(after / 1000);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after).or_else(|| {
        let date = httpdate::parse_http_date(after).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_shape_or_get_it() {
        let secrets = Secrets::new(["sk-hidden-key"].into_iter());
        let passed = |body: &str| {
            let body = Said::read(body.as_bytes()).passed_on(&secrets);
            String::from_utf8(body.to_vec()).unwrap()
        };
        let shaped = r#"{ "error": {"message": "no", "code": 7, "more": [1.0]}, "x": 1 }"#;
        assert_eq!(passed(shaped), shaped);
        assert_eq!(
            passed(r#"{"error":{"message":"bad key sk-hidden-key"}}"#),
            r#"{"error":{"message":"bad key …"}}"#
        );
        for (body, message) in [
            (r#"{"error":"model is required"}"#, "model is required"),
            (r#"{"detail":"not here"}"#, "not here"),
            ("<h1>Forbidden</h1>", "<h1>Forbidden</h1>"),
            ("", "the upstream refused the request and says no more"),
        ] {
            let wrapped: Json = serde_json::from_str(&passed(body)).unwrap();
            assert_eq!(wrapped["error"]["message"], message);
            assert_eq!(wrapped["error"]["code"], "llm_refused");
        }
    }

    #[test]
    fn the_wish_to_be_asked_later_is_read_in_all_its_forms() {
        let read = |name: &'static str, value: &str| {
            retry_after(&HeaderMap::from_iter([(
                http::HeaderName::from_static(name),
                value.parse().unwrap(),
            )]))
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(read("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(read("retry-after", &later).is_some_and(|after| after > Duration::from_secs(90)));
        assert_eq!(read("retry-after", "1e400"), Some(Duration::MAX));
        for nonsense in ["-1", "soon", "NaN", ""] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
