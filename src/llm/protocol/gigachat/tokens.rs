//! One token for all requests with the same authorization key and scope: asked for once for all who wait, and anew before it ends.
//!
//! - The request for a token is a task of its own, which goes on when those who wait for it leave.
//! - In the last minute of a token's life the next one is asked for, while requests still use this one, at most every ten seconds.
//! - A token that an upstream refuses is forgotten, if it is still the current one: of many requests that are refused at once, the first
//!   one asks for another.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Client;
use tokio::sync::watch;

use super::oauth::{NotGiven, TokenRequest};
use crate::llm::error::UpstreamError;

/// How long before its end a token is renewed.
const MARGIN: Duration = Duration::from_secs(60);

/// How long a token that lives is not renewed after a renewal, or one that failed: tokens may live for less than [`MARGIN`], and must not be
/// asked for with each request.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);

/// How often a request waits for a token: the runtime on which one was asked for may stop.
const WAITS: usize = 3;

/// A token.
pub struct Token {
    text: String,
    /// When it is renewed.
    renewed: Instant,
    /// When it ends.
    ends: Instant,
}

/// Gives the token of all requests with one key.
pub struct TokenSource {
    request: TokenRequest,
    state: Mutex<State>,
}

/// Tells those who wait what came of a request for a token; nothing yet.
type Answer = watch::Receiver<Option<Result<Arc<Token>, UpstreamError>>>;

#[derive(Default)]
struct State {
    token: Option<Arc<Token>>,
    /// The request that is under way.
    asking: Option<Answer>,
    /// Until when a token that lives is not renewed.
    resting: Option<Instant>,
}

/// What a request gets at once.
enum Given {
    Token(Arc<Token>),
    Answer(Answer),
}

impl Token {
    fn new(text: String, life: Duration, now: Instant) -> Token {
        Token { text, renewed: now + life.saturating_sub(MARGIN), ends: now + life }
    }

    /// Its text.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

impl TokenSource {
    /// A source that has no token yet.
    pub fn new(request: TokenRequest) -> Arc<TokenSource> {
        Arc::new(TokenSource { request, state: Mutex::default() })
    }

    /// The token; `client` asks for it, if that has to be done.
    ///
    /// # Errors
    /// [`UpstreamError::NoToken`], without secrets.
    pub async fn token(self: &Arc<TokenSource>, client: &Client) -> Result<Arc<Token>, UpstreamError> {
        for _ in 0..WAITS {
            let mut answer = match self.given(client) {
                Given::Token(token) => return Ok(token),
                Given::Answer(answer) => answer,
            };
            // An error: the task was stopped with its runtime.
            if let Ok(done) = answer.wait_for(Option::is_some).await
                && let Some(result) = done.clone()
            {
                return result;
            }
        }
        Err(UpstreamError::no_token(UpstreamError::unusable("the request for a token was stopped")))
    }

    /// Forgets a token that an upstream has refused.
    pub fn refused(&self, token: &Arc<Token>) {
        let mut state = self.lock();
        if state.token.as_ref().is_some_and(|current| Arc::ptr_eq(current, token)) {
            state.token = None;
        }
    }

    fn given(self: &Arc<TokenSource>, client: &Client) -> Given {
        let mut state = self.lock();
        let now = Instant::now();
        match state.token.clone().filter(|token| now < token.ends) {
            Some(token) => {
                if now >= token.renewed && state.resting.is_none_or(|until| until <= now) {
                    self.asked(&mut state, client);
                }
                Given::Token(token)
            }
            None => Given::Answer(self.asked(&mut state, client)),
        }
    }

    /// The request that is under way, or a new one.
    fn asked(self: &Arc<TokenSource>, state: &mut State, client: &Client) -> Answer {
        let under_way = state.asking.clone().filter(|answer| answer.has_changed().is_ok());
        under_way.unwrap_or_else(|| {
            let (told, answer) = watch::channel(None);
            let (source, client) = (self.clone(), client.clone());
            // It has to be known now: a refusal may have taken the token away when the next one comes.
            let is_renewal = state.token.is_some();
            tokio::spawn(async move {
                let result = source.ask(&client, is_renewal).await;
                told.send_replace(Some(result));
            });
            state.asking = Some(answer.clone());
            answer
        })
    }

    async fn ask(&self, client: &Client, is_renewal: bool) -> Result<Arc<Token>, UpstreamError> {
        let answer = self.request.send(client).await;
        let now = Instant::now();
        let mut state = self.lock();
        state.asking = None;
        match answer {
            Ok((text, life)) => {
                let token = Arc::new(Token::new(text, life, now));
                state.token = Some(token.clone());
                state.resting = is_renewal.then(|| now + RENEWAL_PAUSE);
                Ok(token)
            }
            Err(NotGiven { cause, after }) => {
                state.resting = Some(now + RENEWAL_PAUSE);
                let error = UpstreamError::NoToken { cause: Box::new(cause), after };
                tracing::warn!(cause = error.for_log(), "an upstream's token was not given");
                Err(error)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows no token.
impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSource").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Shows when it ends.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("ends", &self.ends).finish_non_exhaustive()
    }
}
