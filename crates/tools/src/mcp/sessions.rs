//! The sessions that are open: found, shared, made again when they broke, and closed when there are too many.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use lru::LruCache;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::child::Command;
use super::engine::Engine;
use super::fault::unreachable;
use super::session::Session;
use crate::error::ToolError;
use crate::gate::Gate;

/// How many sessions are kept; the one that was unused for longest makes room.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// How soon a child process may be started again.
const RESTART: Duration = Duration::from_secs(1);

/// What a session is with.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A URL, and the headers that go with every request, in the order of their names.
    Http(Url, Vec<(HeaderName, HeaderValue)>),
    /// A name in the settings.
    Server(String),
}

impl Place {
    pub(super) fn http(url: &Url, headers: &HeaderMap) -> Place {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        headers.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        Place::Http(url.clone(), headers)
    }
}

/// A session that is open or on its way, or why there is none.
type Opening = Shared<BoxFuture<'static, Result<Arc<Session>, ToolError>>>;

struct Entry {
    started: Instant,
    opening: Opening,
}

/// All sessions.
pub(super) struct Sessions {
    gate: Gate,
    servers: HashMap<String, Command>,
    limit: usize,
    state: Mutex<State>,
}

/// The sessions end before their thread.
struct State {
    entries: LruCache<Place, Entry>,
    engine: Option<Engine>,
}

impl Sessions {
    pub(super) fn new(gate: Gate, servers: HashMap<String, Command>, limit: usize) -> Sessions {
        let state = State { entries: LruCache::new(KEPT), engine: None };
        Sessions { gate, servers, limit, state: Mutex::new(state) }
    }

    /// The session with a place, a new one if there is none that lives.
    pub(super) async fn get(&self, place: &Place) -> Result<Arc<Session>, ToolError> {
        self.find(place, |session| session.is_open())?.await
    }

    /// A session with a place other than `refused`, which did not accept a call.
    pub(super) async fn renew(
        &self,
        place: &Place,
        refused: &Arc<Session>,
    ) -> Result<Arc<Session>, ToolError> {
        self.find(place, |session| session.is_open() && !Arc::ptr_eq(session, refused))?.await
    }

    fn find(&self, place: &Place, is_good: impl Fn(&Arc<Session>) -> bool) -> Result<Opening, ToolError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = state.entries.get(place) {
            match entry.opening.peek() {
                None => return Ok(entry.opening.clone()),
                Some(Ok(session)) if is_good(session) => return Ok(entry.opening.clone()),
                Some(ended) => entry.rest(place, ended)?,
            }
        }
        let opening = self.open(&mut state, place)?;
        state.entries.put(place.clone(), Entry { started: Instant::now(), opening: opening.clone() });
        Ok(opening)
    }

    /// Opens a session in a task of its own, so that it does not matter which of its callers gives up.
    fn open(&self, state: &mut State, place: &Place) -> Result<Opening, ToolError> {
        let limit = self.limit;
        let session: BoxFuture<_> = match place {
            Place::Http(url, headers) => {
                let secrets = headers.iter().cloned().collect();
                Session::over_http(self.gate.clone(), url.clone(), secrets, limit).boxed()
            }
            Place::Server(name) => {
                let unknown =
                    || ToolError::Unusable { message: format!("the settings name no MCP server `{name}`") };
                let command = self.servers.get(name).cloned().ok_or_else(unknown)?;
                async move { Session::with_child(&command, limit).await }.boxed()
            }
        };
        let task = state.engine()?.handle().spawn(session);
        let opening = task.map(|opened| match opened {
            Ok(session) => session.map(Arc::new),
            Err(_) => Err(unreachable("the handshake was broken off")),
        });
        Ok(opening.boxed().shared())
    }
}

impl Entry {
    /// Whether a session that ended may be opened again already.
    fn rest(&self, place: &Place, ended: &Result<Arc<Session>, ToolError>) -> Result<(), ToolError> {
        if matches!(place, Place::Http(..)) || self.started.elapsed() >= RESTART {
            return Ok(());
        }
        match ended {
            Err(error) => Err(error.clone()),
            Ok(session) => {
                let how = session.end().unwrap_or_else(|| "the connection broke".into());
                Err(unreachable(&format!("{how}; it was started less than a second ago")))
            }
        }
    }
}

impl State {
    fn engine(&mut self) -> Result<&Engine, ToolError> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => Engine::start()
                .map_err(|error| unreachable(&format!("there is no thread for MCP: {error}")))?,
        };
        Ok(self.engine.insert(engine))
    }
}
