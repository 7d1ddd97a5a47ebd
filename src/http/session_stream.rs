//! The events of a session as a stream of server-sent events.

use std::convert::Infallible;

use actix_web::web::{Bytes, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream::unfold;
use serde_json::json;
use tokio::time::sleep;

use super::chat::streamed;
use super::error::ApiError;
use super::sessions::{shown, state_of};
use super::shutdown::{Shutdown, ShutdownEnd};
use super::solution_events::{COMMENT, QUIET};
use crate::app::App;
use crate::sessions::{EventKind, Seen, Session, SessionEvent, Watcher};

/// `GET /api/sessions/{sid}/stream`
pub async fn stream(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    id: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let after = last_event_id(&request);
    let (session, watcher) = app.sessions.watch(&id, after).await?;
    if session.state.is_end() && after == Some(watcher.newest()) {
        // Browsers connect again and again until they get this.
        return Ok(HttpResponse::NoContent().finish());
    }
    let first = match after {
        None => {
            Some(OutgoingEvent::first(&session, &watcher).iter().map(OutgoingEvent::event_stream).collect())
        }
        Some(_) => None::<String>,
    };
    let stream = EventStream { watcher, is_over: false, stop: Box::pin(shutdown.over()) };
    let events = unfold((first, stream), |(first, mut stream)| async move {
        let piece = match first {
            Some(first) => Bytes::from(first),
            None => stream.piece().await?,
        };
        Some((Ok::<_, Infallible>(piece), (None, stream)))
    });
    Ok(streamed(&mut HttpResponse::Ok(), "text/event-stream", events))
}

/// The number of the last event that a client has, from its header or its query; none if it has none. A text that is no number is
/// one of an event that nobody knows.
pub(super) fn last_event_id(request: &HttpRequest) -> Option<u64> {
    let header = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
    let query = form_urlencoded::parse(request.query_string().as_bytes());
    let query =
        query.into_iter().find(|(name, _)| name == "last_event_id").map(|(_, value)| value.into_owned());
    let text = header.map(str::to_owned).or(query).filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or(u64::MAX))
}

/// What clients are told of an event.
#[derive(Clone)]
pub(super) struct OutgoingEvent {
    /// None for what is no event of the session.
    id: Option<u64>,
    name: &'static str,
    data: String,
}

impl OutgoingEvent {
    /// What those are told who begin to watch: the state, and the end if it has come.
    pub fn first(session: &Session, watcher: &Watcher) -> Vec<OutgoingEvent> {
        let now = OutgoingEvent::now(session, watcher);
        let end =
            session.state.is_end().then(|| OutgoingEvent { name: EventKind::End.name(), ..now.clone() });
        [now].into_iter().chain(end).collect()
    }

    /// The state of a session as it is now.
    fn now(session: &Session, watcher: &Watcher) -> OutgoingEvent {
        OutgoingEvent {
            id: Some(watcher.last()),
            name: EventKind::State.name(),
            data: state_of(session).to_string(),
        }
    }

    /// What a watcher has seen.
    pub fn seen(seen: Seen) -> OutgoingEvent {
        match seen {
            Seen::Event(SessionEvent { id, kind, data }) => {
                let data = match kind {
                    EventKind::Delta => json!({"text": data}).to_string(),
                    _ => data.to_string(),
                };
                OutgoingEvent { id: Some(id), name: kind.name(), data }
            }
            Seen::Reset(id, session) => OutgoingEvent {
                id: Some(id),
                name: EventKind::Reset.name(),
                data: shown(&session).to_string(),
            },
        }
    }

    /// An error that is no event of the session.
    pub fn error(error: &ApiError) -> OutgoingEvent {
        OutgoingEvent { id: None, name: EventKind::Error.name(), data: error.to_json().to_string() }
    }

    /// As a server-sent event.
    fn event_stream(&self) -> String {
        let id = self.id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        // JSON in one line has no line ends.
        format!("{id}event: {}\ndata: {}\n\n", self.name, self.data)
    }

    /// As a message of a WebSocket.
    pub fn message(&self) -> String {
        let id = self.id.map_or_else(|| "null".to_owned(), |id| id.to_string());
        format!(r#"{{"event":"{}","id":{id},"data":{}}}"#, self.name, self.data)
    }
}

/// A stream under way.
struct EventStream {
    watcher: Watcher,
    is_over: bool,
    stop: ShutdownEnd,
}

impl EventStream {
    /// The next piece; none after the last one.
    async fn piece(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let told = tokio::select! {
            biased;
            () = &mut self.stop => Err(ApiError::stopping()),
            seen = self.watcher.next() => seen.map_err(ApiError::from),
            () = sleep(QUIET) => return Some(COMMENT),
        };
        match told {
            Ok(seen) => seen.map(|seen| OutgoingEvent::seen(seen).event_stream().into()),
            Err(error) => {
                self.is_over = true;
                Some(OutgoingEvent::error(&error).event_stream().into())
            }
        }
    }
}
