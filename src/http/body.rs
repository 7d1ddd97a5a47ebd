//! Request bodies: JSON, declared as such, of bounded length, read in bounded time and within the budget of memory.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until};

use super::error::ApiError;
use super::unless::unless;
use crate::render::{RenderError, only_one};
use crate::settings;
use base::encoding::media_type;
use base::memory::{Buffer, BufferedBytes, Memory, Reservation};
use base::model::ProblemDetail;
use base::pool::{DeferredDrop, Lane, Pool};
use template::value::{Tree, Value, parse_json, weight};

/// A body longer than this, in bytes, is parsed in the pool: it takes about as long as a render may take on a serving thread.
const INLINE_BYTES: usize = 64 << 10;

/// A body longer than this, in bytes, is long work.
const SHORT_BYTES: usize = 1 << 20;

/// How long a body may wait for the pool and be parsed there.
const PARSE_TIME: Duration = Duration::from_secs(30);

/// A body longer than this, in bytes, may take at most so many times its size in memory when it is parsed.
const DENSE_FROM: usize = 1 << 20;
const DENSITY_MAX: usize = 12;

/// How long a body has to begin with, before its rate counts.
const RATE_GRACE: Duration = Duration::from_secs(5);

/// What holds for all bodies.
#[derive(Clone)]
pub struct Bounds {
    bytes: usize,
    time: Duration,
    bytes_per_second: usize,
    memory: Arc<Memory>,
    pool: Arc<Pool>,
}

impl Bounds {
    /// The bounds of the settings; bodies are part of `memory`, and large ones are parsed in `pool`.
    pub fn new(settings: &settings::Server, memory: Arc<Memory>, pool: Arc<Pool>) -> Bounds {
        Bounds {
            bytes: settings.body_limit_bytes,
            time: Duration::from_millis(settings.body_timeout_ms),
            bytes_per_second: settings.body_bytes_per_second,
            memory,
            pool,
        }
    }

    /// Until when the next bytes must have come.
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
    bounds: Data<Bounds>,
}

/// A body that was read, and its part of the budget of memory, which it keeps until the request has been answered.
pub struct Parsed<T> {
    /// What the body says.
    pub value: T,
    /// Its part of the budget.
    pub held: Reservation,
}

impl JsonBody {
    /// The bytes as they came, be they none.
    pub fn into_sent(self) -> Buffer {
        self.sent
    }

    /// The body, an object, as `T`; `tree` is what is made of most of it. Half of a surrogate pair, where a client cut a
    /// text, becomes U+FFFD.
    ///
    /// # Errors
    /// `invalid_json`, with line and column; `body_too_large` for a long body of so many small values that it would take much
    /// more memory than its length; `overloaded` when pool or memory are.
    pub async fn parse<T: DeserializeOwned + Send + 'static>(
        self,
        tree: Tree,
    ) -> Result<Parsed<T>, ApiError> {
        let JsonBody { sent, bounds } = self;
        let length = sent.len();
        if length <= INLINE_BYTES {
            let BufferedBytes { bytes, held } = sent.finish()?;
            return Ok(Parsed { value: object(&bytes)?, held });
        }
        let lane = if length <= SHORT_BYTES { Lane::Short } else { Lane::Long };
        let deadline = std::time::Instant::now() + PARSE_TIME;
        let parsed = bounds.pool.run(lane, deadline, move || {
            let BufferedBytes { bytes, mut held } = sent.finish()?;
            held.grow(admitted(&bytes, tree)?)?;
            let value = object(&bytes)?;
            Ok(Parsed { value, held })
        });
        parsed.await?
    }

    /// The variables of the body, under one of their two names.
    ///
    /// # Errors
    /// As [`JsonBody::parse`]; `invalid_variables` when both names are used.
    pub async fn variables(self) -> Result<Parsed<Variables>, ApiError> {
        let pool = self.is_large().then(|| self.bounds.pool.clone());
        let Parsed { value, held } = self.parse::<VariablesBody>(Tree::Value).await?;
        Ok(Parsed { value: Variables::new(value.either()?, pool.as_ref()), held })
    }

    /// Whether the body is so long that what is made of it is large.
    pub fn is_large(&self) -> bool {
        self.sent.len() > INLINE_BYTES
    }
}

/// How much memory a long body takes when it is parsed, in bytes.
///
/// # Errors
/// `body_too_large` if that is far too much for its length.
pub fn admitted(bytes: &[u8], tree: Tree) -> Result<usize, ApiError> {
    let weight = weight(bytes, tree);
    if bytes.len() > DENSE_FROM && weight / DENSITY_MAX > bytes.len() {
        return Err(ApiError::body_too_dense(weight, DENSITY_MAX));
    }
    Ok(weight)
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
        let Some(bounds) = request.app_data::<Data<Bounds>>().cloned() else {
            return Box::pin(async { Err(ApiError::broken_off("request bodies are not set up")) });
        };
        let is_json = declares_json(request);
        let declared = declared_length(request);
        let payload = payload.take();
        Box::pin(async move {
            if declared.is_some_and(|length| length > bounds.bytes) {
                return Err(ApiError::body_too_large(bounds.bytes));
            }
            let sent = bounds.read(payload, declared).await?;
            if !is_json && !sent.is_empty() {
                return Err(ApiError::unsupported_media_type());
            }
            Ok(JsonBody { sent, bounds })
        })
    }
}

fn declared_length(request: &HttpRequest) -> Option<usize> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn declares_json(request: &HttpRequest) -> bool {
    let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.is_some_and(|value| media_type(value).eq_ignore_ascii_case("application/json"))
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
    /// The variables. Small ones are to be gone when they have been used: kept longer, they only crowd the processor's caches.
    pub value: Option<Value>,
    /// Large ones once more, for the pool to free: taking a large tree apart takes long. So this must be dropped last.
    pub last: Option<DeferredDrop<Value>>,
}

impl Variables {
    /// Variables that are freed in `pool`, if there is one.
    pub fn new(value: Option<Value>, pool: Option<&Arc<Pool>>) -> Variables {
        let last = pool.and_then(|pool| Some(pool.defer_drop(value.clone()?)));
        Variables { value, last }
    }
}
