//! Request bodies: JSON with the right content type, read within limits on length, time, rate and memory.
//!
//! A body with neither `variables` nor `args` is like `{}`, and so is an empty one. Unknown members are ignored.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::{Bytes, Data};
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until};

use super::cancel::unless;
use super::compression::{Packing, unpack};
use super::error::ApiError;
use crate::render::{RenderError, only_one};
use crate::settings;
use base::encoding::media_type;
use base::memory::{Buffer, BufferedBytes, Memory, Reservation};
use base::model::ProblemDetail;
use base::pool::{DeferredDrop, INLINE_JSON_BYTES, Lane, Pool};
use template::value::{Tree, Value, admissible_weight, parse_json};

/// Longer bodies, in bytes, are long work for the pool.
const SHORT_BYTES: usize = 1 << 20;

/// How long a body has before its rate counts.
const RATE_GRACE: Duration = Duration::from_secs(5);

/// The limits of all bodies.
#[derive(Clone)]
pub struct BodyLimits {
    bytes: usize,
    time: Duration,
    bytes_per_second: usize,
    memory: Arc<Memory>,
    pool: Arc<Pool>,
}

impl BodyLimits {
    /// The limits of the settings. Bodies count against `memory`, and large ones are parsed in `pool`.
    pub fn new(settings: &settings::Server, memory: Arc<Memory>, pool: Arc<Pool>) -> BodyLimits {
        BodyLimits {
            bytes: settings.body_limit_bytes,
            time: Duration::from_millis(settings.body_timeout_ms),
            bytes_per_second: settings.body_bytes_per_second,
            memory,
            pool,
        }
    }

    /// The longest body, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// When the next bytes must have arrived.
    fn deadline(&self, began: Instant, received: usize) -> Instant {
        let at_rate = Duration::from_secs_f64(received as f64 / self.bytes_per_second as f64);
        began + self.time.min(RATE_GRACE + at_rate)
    }

    async fn read(&self, mut payload: Payload, declared: Option<usize>) -> Result<Buffer, ApiError> {
        let mut began = None;
        let mut body = Buffer::new(&self.memory, declared);
        loop {
            let too_slow = || {
                let began = *began.get_or_insert_with(Instant::now);
                sleep_until(self.deadline(began, body.len()))
            };
            let Ok(next) = unless(payload.next(), too_slow).await else {
                return Err(ApiError::body_too_slow());
            };
            let Some(chunk) = next else { return Ok(body) };
            let chunk = chunk.map_err(|error| self.unreadable(&error))?;
            if body.len() + chunk.len() > self.bytes {
                return Err(ApiError::body_too_large(self.bytes));
            }
            body.push(chunk)?;
        }
    }

    /// Unpacks a body in the pool, as a short one may become long.
    async fn unpack(&self, packed: Buffer) -> Result<Buffer, ApiError> {
        let (limit, memory) = (self.bytes, self.memory.clone());
        self.pool.run_on_json(Lane::Short, move || unpack(packed, limit, &memory)).await?
    }

    fn unreadable(&self, error: &PayloadError) -> ApiError {
        match error {
            PayloadError::Overflow => ApiError::body_too_large(self.bytes),
            _ => ApiError::body_unreadable(&error.to_string()),
        }
    }
}

/// The bytes of a JSON body; an empty body stands for `{}`.
pub struct JsonBody {
    sent: Buffer,
    bounds: Data<BodyLimits>,
}

/// A parsed body, and its reservation of memory, which is kept until the request has been answered.
pub struct ParsedBody<T> {
    /// The content of the body.
    pub value: T,
    /// Its reservation.
    pub held: Reservation,
}

impl JsonBody {
    /// A body that has come in another way, within `bounds`.
    ///
    /// # Errors
    /// `overloaded` if there is no room in memory.
    pub fn of(bytes: Bytes, bounds: &Data<BodyLimits>) -> Result<JsonBody, ApiError> {
        let mut sent = Buffer::new(&bounds.memory, Some(bytes.len()));
        sent.push(bytes)?;
        Ok(JsonBody { sent, bounds: bounds.clone() })
    }

    /// The body, which must be an object, as `T`; `tree` says into what most of it is parsed. Half of a surrogate pair (clients
    /// that cut strings by UTF-16 send such) becomes U+FFFD. JSON may nest 128 deep.
    ///
    /// # Errors
    /// `invalid_json`, with line and column; `body_too_large` if the parsed body would take too much memory for its length;
    /// `overloaded` if there is no room in the pool or in memory.
    pub async fn parse<T: DeserializeOwned + Send + 'static>(
        self,
        tree: Tree,
    ) -> Result<ParsedBody<T>, ApiError> {
        let JsonBody { sent, bounds } = self;
        let length = sent.len();
        if length <= INLINE_JSON_BYTES {
            let BufferedBytes { bytes, held } = sent.finish()?;
            return Ok(ParsedBody { value: object(&bytes)?, held });
        }
        let lane = if length <= SHORT_BYTES { Lane::Short } else { Lane::Long };
        let parsed = bounds.pool.run_on_json(lane, move || {
            let BufferedBytes { bytes, mut held } = sent.finish()?;
            held.grow(admitted(&bytes, tree)?)?;
            let value = object(&bytes)?;
            Ok(ParsedBody { value, held })
        });
        parsed.await?
    }

    /// The variables of the body, under one of their two names. Other members are ignored.
    ///
    /// # Errors
    /// As [`JsonBody::parse`]; `invalid_variables` when both names are used.
    pub async fn variables(self) -> Result<ParsedBody<Variables>, ApiError> {
        let pool = self.is_large().then(|| self.bounds.pool.clone());
        let ParsedBody { value, held } = self.parse::<VariablesBody>(Tree::Value).await?;
        Ok(ParsedBody { value: Variables::new(value.either()?, pool.as_ref()), held })
    }

    /// Whether the body is so long that its parsed form is large.
    pub fn is_large(&self) -> bool {
        self.sent.len() > INLINE_JSON_BYTES
    }
}

/// How much memory a long body takes when it is parsed, in bytes.
///
/// # Errors
/// `body_too_large` if that is too much for its length.
pub fn admitted(bytes: &[u8], tree: Tree) -> Result<usize, ApiError> {
    admissible_weight(bytes, tree).map_err(ApiError::body_too_dense)
}

fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if first.is_some_and(|b| !b"{".contains(b)) {
        return Err(ApiError::invalid_json(&ProblemDetail::new("not a JSON object")));
    }
    let bytes = if first.is_none() { b"{}" } else { bytes };
    parse_json(bytes).map_err(|error| ApiError::invalid_json(&ProblemDetail::from_json_error(&error)))
}

impl FromRequest for JsonBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<JsonBody, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let is_json: fn(&str) -> bool = |declared| declared.eq_ignore_ascii_case("application/json");
        let received = receive(request, payload, is_json, ApiError::unsupported_media_type);
        Box::pin(async move {
            let (sent, bounds) = received.await?;
            Ok(JsonBody { sent, bounds })
        })
    }
}

/// The body of a request, read within the limits and unpacked; if there is one, its declared media type must be as expected, or it is
/// refused.
pub(super) fn receive(
    request: &HttpRequest,
    payload: &mut Payload,
    is_expected: fn(&str) -> bool,
    refused: fn() -> ApiError,
) -> impl Future<Output = Result<(Buffer, Data<BodyLimits>), ApiError>> + use<> {
    let bounds = request.app_data::<Data<BodyLimits>>().cloned();
    let media_type_is_right = declared_type(request).is_some_and(is_expected);
    let packing = Packing::of(request);
    let declared = declared_length(request);
    let payload = payload.take();
    async move {
        let bounds = bounds.ok_or_else(|| ApiError::broken_off("request bodies are not set up"))?;
        if declared.is_some_and(|length| length > bounds.bytes) {
            return Err(ApiError::body_too_large(bounds.bytes));
        }
        let packing = packing?;
        let sent = bounds.read(payload, declared).await?;
        let sent = match packing {
            Packing::None => sent,
            Packing::Gzip => bounds.unpack(sent).await?,
        };
        match media_type_is_right || sent.is_empty() {
            true => Ok((sent, bounds)),
            false => Err(refused()),
        }
    }
}

fn declared_length(request: &HttpRequest) -> Option<usize> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn declared_type(request: &HttpRequest) -> Option<&str> {
    request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(media_type)
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
    pub fn either(self) -> Result<Option<Value>, RenderError> {
        only_one([("variables", self.variables), ("args", self.args)])
    }
}

/// The variables of a request.
pub struct Variables {
    /// The variables. Small ones are dropped as soon as they have been used, which keeps the processor's caches free.
    pub value: Option<Value>,
    /// A second reference to large variables. Freeing a large tree takes long, so the pool does it: drop this last.
    pub last: Option<DeferredDrop<Value>>,
}

impl Variables {
    /// Variables that are freed in `pool`, if there is one.
    pub fn new(value: Option<Value>, pool: Option<&Arc<Pool>>) -> Variables {
        let last = pool.and_then(|pool| Some(pool.defer_drop(value.clone()?)));
        Variables { value, last }
    }
}
