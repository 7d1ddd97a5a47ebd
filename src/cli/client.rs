//! A client of the service's own HTTP API.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{ClientBuilder, Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::error::{CliError, Place};
use base::error::innermost;
use base::outbound::{plain_client, whole_body};

/// An answer that comes in pieces.
pub type Pieces = Response;

/// A client of one service.
#[derive(Debug)]
pub struct Client {
    base: String,
    http: reqwest::Client,
    /// The folder of the service's socket, if it runs in this process.
    _folder: Option<TempDir>,
}

impl Client {
    /// A client of the service at `base`, such as `http://127.0.0.1:8080`.
    pub fn new(base: &str) -> Client {
        let builder = client_for(base);
        Client { base: base.to_owned(), http: builder.build().unwrap_or_default(), _folder: None }
    }

    /// A client of the service on a Unix socket. The `folder` around it, if it is given, is removed with the client.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn on_socket(socket: PathBuf, folder: Option<TempDir>) -> Result<Client, CliError> {
        let base = "http://localhost".to_owned();
        let http = plain_client().no_proxy().unix_socket(socket).build();
        let http =
            http.map_err(|error| CliError::Unreachable { url: base.clone(), message: error.to_string() })?;
        Ok(Client { base, http, _folder: folder })
    }

    /// `GET path`, as JSON.
    ///
    /// # Errors
    /// The service's own error, or that it cannot be reached.
    pub async fn get(&self, path: &str) -> Result<Json, CliError> {
        let response = self.send(self.request(Method::GET, path)).await?;
        self.json(response).await
    }

    /// `GET path`, as bytes.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn get_raw(&self, path: &str) -> Result<Vec<u8>, CliError> {
        let response = self.send(self.request(Method::GET, path)).await?;
        Ok(response.bytes().await.map_err(|error| self.unreachable(&error))?.to_vec())
    }

    /// `GET path`, as bytes; `None` if there is no such document.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn get_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, CliError> {
        match self.get_raw(path).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(CliError::Refused { code, .. }) if code.ends_with("_not_found") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn post(&self, path: &str, body: &Json) -> Result<Json, CliError> {
        let response = self.send(self.request(Method::POST, path).json(body)).await?;
        self.json(response).await
    }

    /// `POST path` with a JSON body, for a streamed answer.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn post_for_pieces(&self, path: &str, body: &Json) -> Result<Response, CliError> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// `GET path`, for a streamed answer.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn get_pieces(&self, path: &str) -> Result<Pieces, CliError> {
        self.send(self.request(Method::GET, path)).await
    }

    /// `POST path` with JSON lines, for an answer of lines.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn post_lines(&self, path: &str, lines: String) -> Result<Response, CliError> {
        let request = self.request(Method::POST, path).header("content-type", "application/x-ndjson");
        self.send(request.body(lines)).await
    }

    /// `POST path` with a JSON body; the body of the answer, whatever its status.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub async fn post_any(&self, path: &str, body: &Json) -> Result<Json, CliError> {
        let request = self.request(Method::POST, path).json(body);
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        self.json(response).await
    }

    /// `PUT path` with a JSON text; returns whether a document was created.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn put(&self, path: &str, body: Vec<u8>) -> Result<bool, CliError> {
        self.put_as(path, "application/json", body).await
    }

    /// `PUT path` with a text of a media type; returns whether a document was created.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn put_as(&self, path: &str, media_type: &str, body: Vec<u8>) -> Result<bool, CliError> {
        let request = self.request(Method::PUT, path).header("content-type", media_type).body(body);
        Ok(self.send(request).await?.status() == StatusCode::CREATED)
    }

    /// `DELETE path`.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub async fn delete(&self, path: &str) -> Result<(), CliError> {
        self.send(self.request(Method::DELETE, path)).await.map(|_| ())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, CliError> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body: Json = response.json().await.unwrap_or_default();
        Err(refused(status, &body))
    }

    async fn json(&self, response: Response) -> Result<Json, CliError> {
        response.json().await.map_err(|error| self.unreachable(&error))
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// When it is not what it has to be.
    pub fn read<T: DeserializeOwned>(&self, reply: Json) -> Result<T, CliError> {
        serde_json::from_value(reply)
            .map_err(|error| self.unusable(&format!("the answer cannot be read: {error}")))
    }

    /// An answer that cannot be used.
    pub(super) fn unusable(&self, message: &str) -> CliError {
        CliError::Unreachable { url: self.base.clone(), message: message.to_owned() }
    }

    /// An error of the connection.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> CliError {
        CliError::Unreachable { url: self.base.clone(), message: innermost(error).to_string() }
    }
}

/// A builder of a client for this address. Proxies of the environment (`http_proxy`) are for other machines.
fn client_for(url: &str) -> ClientBuilder {
    let local =
        ["http://127.0.0.1", "http://localhost", "http://[::1]"].iter().any(|own| url.starts_with(own));
    if local { plain_client().no_proxy() } else { plain_client() }
}

/// The most bytes of a description of an API.
pub(super) const FETCHED_BYTES: usize = 16 << 20;

/// The text at a URL that need not be the service's.
///
/// # Errors
/// When it cannot be had.
pub async fn fetch(url: &str) -> Result<String, CliError> {
    let failed = |message: String| CliError::Usage(format!("{url}: {message}"));
    let http = client_for(url).timeout(FETCH_TIME).build().map_err(|error| failed(error.to_string()))?;
    let response = http.get(url).send().await.map_err(|error| failed(innermost(&error).to_string()))?;
    if !response.status().is_success() {
        return Err(failed(format!("the server answered {}", response.status())));
    }
    let bytes = whole_body(response, FETCHED_BYTES).await.map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is no UTF-8 text".to_owned()))
}

/// How long fetching may take.
const FETCH_TIME: Duration = Duration::from_secs(30);

/// The error that ends a stream.
pub(super) fn broken_off(body: &Json) -> CliError {
    refused(StatusCode::OK, body)
}

/// The service's error as text: its message, and the place that `details` name.
fn refused(status: StatusCode, body: &Json) -> CliError {
    let error = body.get("error");
    let text = |member: &str| error.and_then(|e| e.get(member)).and_then(Json::as_str).unwrap_or_default();
    let message = match text("message") {
        "" => format!("the service answered {status}"),
        message => message.to_owned(),
    };
    let details = error.and_then(|e| e.get("details"));
    let number = |member: &str| usize::try_from(details?.get(member)?.as_u64()?).ok();
    let place = number("line").map(|line| Place { line, column: number("column") });
    CliError::Refused { code: text("code").to_owned(), message, place }
}
