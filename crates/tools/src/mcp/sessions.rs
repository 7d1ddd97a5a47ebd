//! The pool of MCP sessions: opened on demand, shared by all calls, reopened when they break.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use lru::LruCache;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::child::ServerCommand;
use super::error::unreachable;
use super::session::Session;
use super::session_thread::SessionThread;
use crate::error::ToolError;
use crate::gate::Gate;
use crate::starting::ServerStart;

/// How many sessions are kept; the least recently used one is closed first.
const SESSIONS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// The shortest time between two starts of a child process.
const RESTART_INTERVAL: Duration = Duration::from_secs(1);

/// The server of a session, which is the key in the pool.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum ServerKey {
    /// A URL, and the headers of every request, sorted by name.
    Http(Url, Vec<(HeaderName, HeaderValue)>),
    /// A name in the settings.
    Server(String),
}

impl ServerKey {
    pub(super) fn http(url: &Url, headers: &HeaderMap) -> ServerKey {
        let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        headers.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        ServerKey::Http(url.clone(), headers)
    }
}

/// A session that is open or being opened, or the error of opening it.
type SessionFuture = Shared<BoxFuture<'static, Result<Arc<Session>, ToolError>>>;

struct Entry {
    started: Instant,
    opening: SessionFuture,
    /// Whether the start before this one failed.
    after_failure: bool,
}

/// The pool.
pub(super) struct Sessions {
    gate: Gate,
    servers: HashMap<String, ServerCommand>,
    limits: SessionLimits,
    state: Mutex<State>,
}

/// The limits of sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionLimits {
    /// The most bytes of an answer.
    pub(super) answer_bytes: usize,
    /// The time for the start of a child process and its handshake.
    pub(super) start: Duration,
}

/// The fields are dropped in this order: sessions close before their thread ends.
struct State {
    entries: LruCache<ServerKey, Entry>,
    thread: Option<SessionThread>,
}

impl Sessions {
    pub(super) fn new(
        gate: Gate,
        servers: HashMap<String, ServerCommand>,
        limits: SessionLimits,
    ) -> Sessions {
        let state = State { entries: LruCache::new(SESSIONS_MAX), thread: None };
        Sessions { gate, servers, limits, state: Mutex::new(state) }
    }

    /// The names of the servers in the settings.
    pub(super) fn servers(&self) -> impl Iterator<Item = &String> {
        self.servers.keys()
    }

    /// The start of a server of the settings, if one is under way and is worth waiting for: if the last one did not fail.
    pub(super) fn start_under_way(&self, name: &str) -> Option<ServerStart> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = state.entries.get(&ServerKey::Server(name.to_owned()))?;
        let is_under_way = entry.opening.peek().is_none() && !entry.after_failure;
        let ended = || entry.opening.clone().map(drop).boxed();
        is_under_way.then(|| ServerStart { began: entry.started, ended: ended() })
    }

    /// The session with a server; a new one if there is none, or it is closed.
    pub(super) async fn get(&self, key: &ServerKey) -> Result<Arc<Session>, ToolError> {
        self.find(key, |session| session.is_open())?.await
    }

    /// A session with a server other than `refused`, which did not accept a call.
    pub(super) async fn renew(
        &self,
        key: &ServerKey,
        refused: &Arc<Session>,
    ) -> Result<Arc<Session>, ToolError> {
        self.find(key, |session| session.is_open() && !Arc::ptr_eq(session, refused))?.await
    }

    fn find(
        &self,
        key: &ServerKey,
        is_good: impl Fn(&Arc<Session>) -> bool,
    ) -> Result<SessionFuture, ToolError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut after_failure = false;
        if let Some(entry) = state.entries.get(key) {
            match entry.opening.peek() {
                None => return Ok(entry.opening.clone()),
                Some(Ok(session)) if is_good(session) => return Ok(entry.opening.clone()),
                Some(ended) => {
                    entry.check_restart(key, ended)?;
                    after_failure = ended.is_err();
                }
            }
        }
        let started = Instant::now();
        let opening = self.open(&mut state, key)?;
        state.entries.put(key.clone(), Entry { started, opening: opening.clone(), after_failure });
        Ok(opening)
    }

    fn unknown(&self, name: &str) -> ToolError {
        let mut known: Vec<&str> = self.servers.keys().map(String::as_str).collect();
        known.sort_unstable();
        let known = if known.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        ToolError::Unusable {
            message: format!(
                "there is no MCP server `{name}` in the settings ([tools.servers.{name}]); {known}"
            ),
        }
    }

    /// Opens a session in its own task. It goes on if the call that asked for it times out, so that a later call finds the
    /// session of a child process that is slow to start.
    fn open(&self, state: &mut State, key: &ServerKey) -> Result<SessionFuture, ToolError> {
        let SessionLimits { answer_bytes, start } = self.limits;
        let session: BoxFuture<_> = match key {
            ServerKey::Http(url, headers) => {
                let secrets = headers.iter().cloned().collect();
                Session::over_http(self.gate.clone(), url.clone(), secrets, answer_bytes).boxed()
            }
            ServerKey::Server(name) => {
                let command = self.servers.get(name).cloned().ok_or_else(|| self.unknown(name))?;
                async move { Session::with_child(&command, answer_bytes, start).await }.boxed()
            }
        };
        let task = state.thread()?.handle().spawn(session);
        let opening = task.map(|opened| match opened {
            Ok(session) => session.map(Arc::new),
            Err(_) => Err(unreachable("the handshake panicked, or the service is stopping")),
        });
        Ok(opening.boxed().shared())
    }
}

impl Entry {
    /// Checks that a session that ended may be reopened: HTTP sessions at once, child processes not too often.
    fn check_restart(
        &self,
        key: &ServerKey,
        ended: &Result<Arc<Session>, ToolError>,
    ) -> Result<(), ToolError> {
        if matches!(key, ServerKey::Http(..)) || self.started.elapsed() >= RESTART_INTERVAL {
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
    fn thread(&mut self) -> Result<&SessionThread, ToolError> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => SessionThread::start()
                .map_err(|error| unreachable(&format!("the thread for MCP cannot be started: {error}")))?,
        };
        Ok(self.thread.insert(thread))
    }
}
