//! Request bodies: JSON of bounded length, declared as such.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, Data};
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use crate::model::Reason;
use crate::value::{Value, parse_json};

/// The longest body, in bytes.
pub struct Limit(pub usize);

/// The bytes of a JSON body; an empty body stands for `{}`.
pub struct JsonBody(Bytes);

impl JsonBody {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        if self.0.iter().all(u8::is_ascii_whitespace) { b"{}" } else { &self.0 }
    }

    /// The bytes as they came, be they none.
    pub fn as_sent(&self) -> &[u8] {
        &self.0
    }

    /// The body, an object, as `T`. Half of a surrogate pair, where a client cut a text, becomes U+FFFD.
    ///
    /// # Errors
    /// `invalid_json`, with line and column.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        let first = self.bytes().iter().find(|b| !b.is_ascii_whitespace());
        if first.is_some_and(|b| !b"{".contains(b)) {
            return Err(ApiError::invalid_json(&Reason::new("not a JSON object")));
        }
        parse_json(self.bytes()).map_err(|error| ApiError::invalid_json(&Reason::from_json_error(&error)))
    }
}

impl FromRequest for JsonBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<JsonBody, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let limit = request.app_data::<Data<Limit>>().map_or(0, |limit| limit.0);
        let is_json = declares_json(request);
        let bytes = Bytes::from_request(request, payload);
        Box::pin(async move {
            let bytes = bytes.await.map_err(|error| match error.as_error::<PayloadError>() {
                Some(PayloadError::Overflow) => ApiError::body_too_large(limit),
                _ => ApiError::body_unreadable(&error.to_string()),
            })?;
            if !is_json && !bytes.is_empty() {
                return Err(ApiError::unsupported_media_type());
            }
            Ok(JsonBody(bytes))
        })
    }
}

fn declares_json(request: &HttpRequest) -> bool {
    let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = declared.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

/// The variables of a request, under one of their two names.
#[derive(Debug, Deserialize)]
pub struct VariablesBody {
    variables: Option<Value>,
    args: Option<Value>,
}

impl VariablesBody {
    /// The variables.
    ///
    /// # Errors
    /// When both names are used.
    pub fn either(self) -> Result<Option<Value>, ApiError> {
        match (self.variables, self.args) {
            (Some(_), Some(_)) => Err(ApiError::invalid_variables(
                "`variables` and `args` mean the same; give only one of them",
            )),
            (one, other) => Ok(one.or(other)),
        }
    }
}
