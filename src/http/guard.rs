//! The checks of every request: its id, and its `Host` and `Origin`, against DNS rebinding and requests forged by web pages.

use std::future::Future;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use actix_web::body::BoxBody;
use actix_web::dev::{Service, ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use actix_web::{Error, HttpMessage, ResponseError};

use super::caller::RequestId;
use super::compression;
use super::connections::{StreamSlot, is_beyond, is_health};
use super::disconnect::DisconnectWatch;
use super::error::ApiError;
use super::shutdown::Shutdown;
use super::unread_body::{BodyWith, UnreadBody};
use crate::settings;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_MAX: usize = 128;

/// The checks of every request.
#[derive(Clone)]
pub struct Guard {
    names: Vec<String>,
    any_host: bool,
    any_address: bool,
    origins: Vec<String>,
    started: u64,
    /// Counts the requests without an id of their own, for all serving threads together.
    requests: Arc<AtomicU64>,
    shutdown: Arc<Shutdown>,
}

impl Guard {
    /// The guard of a server with these settings.
    pub fn new(settings: &settings::Server, shutdown: Arc<Shutdown>) -> Guard {
        let mut names: Vec<String> = settings.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        names.extend(settings.listen.host().map(str::to_ascii_lowercase));
        Guard {
            any_host: settings.hosts.iter().any(|host| host == "*"),
            any_address: settings.listen.ip().is_some_and(|ip| ip.is_unspecified()),
            names,
            origins: settings.origins.clone(),
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64),
            requests: Arc::default(),
            shutdown,
        }
    }

    /// Checks a request and passes it on, or refuses it. Every answer carries the request's id.
    pub fn around<S>(
        self: Rc<Self>,
        mut request: ServiceRequest,
        service: &S,
    ) -> impl Future<Output = Result<ServiceResponse<BoxBody>, Error>> + use<S>
    where
        S: Service<ServiceRequest, Response = ServiceResponse<BoxBody>, Error = Error>,
    {
        let id = self.request_id(&request);
        request.extensions_mut().insert(RequestId(id.clone()));
        let unread = UnreadBody::of(&mut request);
        let beyond = is_beyond(request.request());
        let stream = StreamSlot::take(request.request());
        let accepts_gzip = compression::is_accepted(&request);
        let checked = match &stream {
            Err(refusal) => Err(refusal.clone()),
            Ok(_) => self.check(&request),
        };
        let answer = match checked {
            Ok(()) => Ok(service.call(request)),
            Err(refusal) => Err(request.into_response(refusal.error_response())),
        };
        let disconnect = DisconnectWatch::watch(id.clone());
        async move {
            let mut response = match answer {
                Ok(answer) => match self.shutdown.unless_over(answer).await {
                    Some(answer) => answer?,
                    None => {
                        disconnect.complete();
                        return Err(ApiError::stopping().with_header(REQUEST_ID, text(&id)).into());
                    }
                },
                Err(refusal) => refusal,
            };
            if beyond {
                response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
            }
            response.headers_mut().insert(REQUEST_ID, id);
            if self.shutdown.has_begun() {
                response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
            }
            Ok(response.map_body(|head, body| {
                let body = compression::encoded(head, body, accepts_gzip);
                let body = match stream {
                    Ok(Some(slot)) => BoxBody::new(BodyWith::new(body, slot)),
                    _ => body,
                };
                let body = disconnect.until_sent(body);
                match unread {
                    Some(unread) => unread.until_sent(body),
                    None => body,
                }
            }))
        }
    }

    /// The client's own id if it is short and plain, else a new one.
    fn request_id(&self, request: &ServiceRequest) -> HeaderValue {
        let sane = |value: &&HeaderValue| {
            let bytes = value.as_bytes();
            let good = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:".contains(b);
            (1..=REQUEST_ID_MAX).contains(&bytes.len()) && bytes.iter().all(good)
        };
        request.headers().get(REQUEST_ID).filter(sane).cloned().unwrap_or_else(|| {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            let text = format!("{:x}-{number:x}", self.started);
            HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("unknown"))
        })
    }

    fn check(&self, request: &ServiceRequest) -> Result<(), ApiError> {
        if is_beyond(request.request()) && !is_health(request.path()) {
            return Err(ApiError::too_many_connections());
        }
        let host = match (request.headers().get(HOST), request.uri().authority()) {
            (Some(host), _) => host.to_str().unwrap_or_default(),
            // HTTP/2 has it in `:authority` (RFC 9113, section 8.3.1).
            (None, Some(authority)) => authority.as_str(),
            (None, None) => return self.check_origin(request, ""),
        };
        let name = host_name(host);
        if !(self.any_host || self.knows(name)) {
            return Err(ApiError::forbidden(format!(
                "this service does not answer for the host `{name}`; add it to server.hosts if it should"
            )));
        }
        self.check_origin(request, host)
    }

    fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || (self.any_address && name.parse::<IpAddr>().is_ok())
    }

    fn check_origin(&self, request: &ServiceRequest, host: &str) -> Result<(), ApiError> {
        let Some(origin) = request.headers().get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        let same = origin.split_once("://").is_some_and(|(_, authority)| authority == host);
        if same || self.origins.iter().any(|known| known == origin || known == "*") {
            return Ok(());
        }
        Err(ApiError::forbidden(format!(
            "web pages of `{origin}` may not call this service; add it to server.origins if they should"
        )))
    }
}

fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

/// The name in a `Host` header, without port and brackets.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    }
}
