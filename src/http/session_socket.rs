//! A session over a WebSocket (RFC 6455): its events out, the events of the client in.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Bytes, Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, Closed};
use futures_util::StreamExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::agents::message_of;
use super::body::{BodyLimits, JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::error::ApiError;
use super::session_stream::{OutgoingEvent, last_event_id};
use super::sessions::{event_of, is_of_agent};
use super::shutdown::Shutdown;
use crate::app::App;
use crate::sessions::Watcher;
use base::caller::Caller;
use template::value::{RawObject, Tree};

/// A quiet client is asked so often whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(15);

/// A client that has not been heard for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// `GET /api/sessions/{sid}/ws`
pub async fn socket(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    bounds: Data<BodyLimits>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    request: HttpRequest,
    body: Payload,
) -> Result<HttpResponse, ApiError> {
    let (session, watcher) = app.sessions.watch(&id, last_event_id(&request)).await?;
    let first = match last_event_id(&request) {
        Some(_) => Vec::new(),
        None => OutgoingEvent::first(&session, &watcher),
    };
    let (response, out, messages) = actix_ws::handle(&request, body)
        .map_err(|error| ApiError::invalid_request(&format!("this is for WebSocket clients: {error}")))?;
    let messages = messages.max_frame_size(bounds.bytes()).aggregate_continuations();
    let messages = messages.max_continuation_size(bounds.bytes());
    let talk = Conversation {
        app: app.into_inner(),
        caller,
        is_of_agent: is_of_agent(&session),
        id: id.into_inner(),
        out,
        messages,
        watcher,
        working: JoinSet::new(),
        bounds,
        heard: Instant::now(),
        next_ping: Instant::now() + PING_EVERY,
    };
    actix_web::rt::spawn(talk.run(first, shutdown.into_inner()));
    Ok(response)
}

/// A conversation over a WebSocket.
struct Conversation {
    app: Arc<App>,
    caller: Caller,
    is_of_agent: bool,
    id: String,
    out: actix_ws::Session,
    messages: AggregatedMessageStream,
    watcher: Watcher,
    /// The event under way, of which there is one at most; its error. It goes on by itself, as a client that reads nothing must not
    /// hold it up, and ends with the conversation.
    working: JoinSet<Option<ApiError>>,
    bounds: Data<BodyLimits>,
    /// When the client was last heard.
    heard: Instant,
    next_ping: Instant,
}

/// What comes next.
enum SocketEvent {
    Outgoing(OutgoingEvent),
    Incoming(AggregatedMessage),
    Taken(Option<ApiError>),
    Failed(ApiError),
    Quiet,
    End(CloseCode),
}

impl Conversation {
    async fn run(mut self, first: Vec<OutgoingEvent>, shutdown: Arc<Shutdown>) {
        let code = match self.talk(first, &shutdown).await {
            Ok(code) => code,
            // The client has closed the connection.
            Err(Closed) => return,
        };
        let reason = CloseReason { code, description: None };
        if self.out.close(Some(reason)).await.is_err() {
            tracing::debug!("the client of a WebSocket has left before it was closed");
        }
    }

    async fn talk(&mut self, first: Vec<OutgoingEvent>, shutdown: &Shutdown) -> Result<CloseCode, Closed> {
        for first in first {
            self.out.text(first.message()).await?;
        }
        loop {
            let happened = tokio::select! {
                biased;
                () = shutdown.over() => SocketEvent::End(CloseCode::Away),
                happened = self.next() => happened,
            };
            match happened {
                SocketEvent::Outgoing(told) => self.out.text(told.message()).await?,
                SocketEvent::Incoming(message) => {
                    if let Some(code) = self.hear(message).await? {
                        return Ok(code);
                    }
                }
                SocketEvent::Taken(error) => self.refuse(error).await?,
                SocketEvent::Failed(error) => {
                    self.refuse(Some(error)).await?;
                    return Ok(CloseCode::Error);
                }
                SocketEvent::Quiet if self.heard.elapsed() > SILENCE_MAX => return Ok(CloseCode::Away),
                SocketEvent::Quiet => {
                    self.next_ping = Instant::now() + PING_EVERY;
                    self.out.ping(b"").await?;
                }
                SocketEvent::End(code) => return Ok(code),
            }
        }
    }

    async fn next(&mut self) -> SocketEvent {
        tokio::select! {
            biased;
            // An event that is over comes before the next one.
            Some(worked) = self.working.join_next() => match worked {
                Ok(error) => SocketEvent::Taken(error),
                Err(_) => SocketEvent::End(CloseCode::Error),
            },
            seen = self.watcher.next() => match seen {
                Ok(Some(seen)) => SocketEvent::Outgoing(OutgoingEvent::seen(seen)),
                Ok(None) => SocketEvent::End(CloseCode::Normal),
                Err(error) => SocketEvent::Failed(error.into()),
            },
            message = self.messages.next() => match message {
                Some(Ok(message)) => SocketEvent::Incoming(message),
                Some(Err(_)) => SocketEvent::End(CloseCode::Protocol),
                None => SocketEvent::End(CloseCode::Normal),
            },
            () = sleep_until(self.next_ping) => SocketEvent::Quiet,
        }
    }

    /// Takes a message of the client; gives the code if it ends the conversation.
    async fn hear(&mut self, message: AggregatedMessage) -> Result<Option<CloseCode>, Closed> {
        self.heard = Instant::now();
        match message {
            AggregatedMessage::Text(text) => self.take(text.into_bytes()).await?,
            AggregatedMessage::Binary(bytes) => self.take(bytes).await?,
            AggregatedMessage::Ping(bytes) => self.out.pong(&bytes).await?,
            AggregatedMessage::Pong(_) => {}
            AggregatedMessage::Close(_) => return Ok(Some(CloseCode::Normal)),
        }
        Ok(None)
    }

    /// Takes an event. What comes of it is told as the session's own events.
    async fn take(&mut self, body: Bytes) -> Result<(), Closed> {
        if !self.working.is_empty() {
            return self.refuse(Some(ApiError::busy_session())).await;
        }
        let (app, caller, id) = (self.app.clone(), self.caller.clone(), self.id.clone());
        let is_of_agent = self.is_of_agent;
        match JsonBody::of(body, &self.bounds) {
            Err(error) => self.refuse(Some(error)).await,
            Ok(body) => {
                // On this thread, as everything else of the connection.
                self.working.spawn_local(async move {
                    match is_of_agent {
                        true => tell_agent(&app, &caller, &id, body).await.err(),
                        false => tell(&app, &caller, &id, body).await.err(),
                    }
                });
                Ok(())
            }
        }
    }

    async fn refuse(&mut self, error: Option<ApiError>) -> Result<(), Closed> {
        match error {
            Some(error) => self.out.text(OutgoingEvent::error(&error).message()).await,
            None => Ok(()),
        }
    }
}

/// Tells an agent a message. What comes of it is told as the session's own events.
async fn tell_agent(app: &App, caller: &Caller, id: &str, body: JsonBody) -> Result<(), ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    Ok(app.agents.hear(caller, id, message_of(value)?).await.map(drop)?)
}

/// Tells a session an event.
async fn tell(app: &App, caller: &Caller, id: &str, body: JsonBody) -> Result<(), ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    match app.skills.event(caller, id, event_of(value)?).await {
        // The session's own event tells of it.
        Err(error) if error.is_of_model() => Ok(()),
        taken => Ok(taken.map(drop)?),
    }
}
