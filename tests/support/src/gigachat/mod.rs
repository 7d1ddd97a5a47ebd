//! A scripted GigaChat, over TLS with an authority of its own: its tokens, chats, embeddings and models, and the refusals of the real one.
//!
//! - `strict`: what of a request the real one refuses; `answers`: how it writes what a script says

mod answers;
mod strict;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::log::{GIGACHAT_KEY, TOKEN};
use crate::tls::Tls;
use crate::upstream::{Act, Seen, Upstream, json as reply_json, reply};

/// What it answers a chat.
#[derive(Debug, Clone)]
pub enum Reply {
    /// This text; as a stream, a word a chunk.
    Text(String),
    /// A call of this function with these arguments.
    Call(String, Json),
    /// An error with this status and message.
    Refusal(u16, String),
    /// Anything.
    Acts(Vec<Act>),
}

/// The server; it ends with the value.
pub struct GigaChat {
    /// The base URL of its API.
    pub base_url: String,
    /// Where it gives tokens.
    pub oauth_url: String,
    /// The authority that signed its certificate, in PEM.
    pub ca_file: PathBuf,
    upstream: Upstream,
    _tls: Tls,
    state: Arc<Mutex<State>>,
}

/// What it knows.
struct State {
    /// How many tokens it has given; the last one is the only one that is good.
    tokens: usize,
    /// Whether that is good no more.
    is_expired: bool,
    /// How long tokens live, as it says.
    life: Duration,
    /// How long it thinks about a token.
    pause: Duration,
    /// Whether it gives tokens at all.
    gives_tokens: bool,
    /// How many seconds it would like to be left alone.
    is_busy_for: Option<u64>,
    /// The ids of the requests for tokens so far.
    request_ids: Vec<String>,
    /// The bodies of the chats so far that were not refused.
    asked: Vec<Json>,
    /// What was refused, and why.
    refused: Vec<String>,
}

impl GigaChat {
    /// A server that answers the chats that the real one would answer as `script` says; it gets the body.
    pub async fn start(script: impl Fn(&Json) -> Reply + Send + Sync + 'static) -> GigaChat {
        let state = Arc::new(Mutex::new(State::new()));
        let known = state.clone();
        let upstream = Upstream::start(move |seen| answer(&known, seen, &script)).await;
        let port = upstream.base.trim_end_matches("/v1").rsplit(':').next().unwrap().parse().unwrap();
        let tls = Tls::before(port).await;
        let at = format!("https://127.0.0.1:{}", tls.port);
        GigaChat {
            base_url: format!("{at}/api/v1"),
            oauth_url: format!("{at}/api/v2/oauth"),
            ca_file: tls.ca_file.clone(),
            upstream,
            _tls: tls,
            state,
        }
    }

    /// One that repeats the last message's text.
    pub async fn parrot() -> GigaChat {
        GigaChat::start(|body| {
            let messages = body["messages"].as_array().unwrap();
            Reply::Text(messages.last().unwrap()["content"].as_str().unwrap().to_owned())
        })
        .await
    }

    /// Settings for a service in front of it.
    pub fn settings(&self) -> ai_prompt_shell::settings::Llm {
        ai_prompt_shell::settings::Llm {
            protocol: ai_prompt_shell::settings::Protocol::GigaChat,
            base_url: Some(self.base_url.clone()),
            oauth_url: Some(self.oauth_url.clone()),
            ca_file: Some(self.ca_file.clone()),
            api_key: Some(GIGACHAT_KEY.into()),
            default_model: Some("GigaChat-2".to_owned()),
            ..ai_prompt_shell::settings::Llm::default()
        }
    }

    /// The same as the section of a settings file.
    pub fn toml(&self) -> String {
        let GigaChat { base_url, oauth_url, ca_file, .. } = self;
        format!(
            "[llm]\nprotocol = \"gigachat\"\nbase_url = {base_url:?}\noauth_url = {oauth_url:?}\nca_file = {ca_file:?}\n\
             api_key = {GIGACHAT_KEY:?}\ndefault_model = \"GigaChat-2\"\n"
        )
    }

    /// The bodies of the chats so far that were not refused.
    pub fn asked(&self) -> Vec<Json> {
        self.state().asked.clone()
    }

    /// Why requests were refused so far.
    pub fn refused(&self) -> Vec<String> {
        self.state().refused.clone()
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.upstream.seen()
    }

    /// Waits, ten seconds at most, until so many requests have come.
    pub async fn arrived(&self, count: usize) {
        self.upstream.arrived(count).await;
    }

    /// How many tokens it has given.
    pub fn tokens(&self) -> usize {
        self.state().tokens
    }

    /// Has the token end before its time.
    pub fn expire(&self) {
        self.state().is_expired = true;
    }

    /// Gives tokens that live so long, as it says.
    pub fn set_life(&self, life: Duration) {
        self.state().life = life;
    }

    /// Thinks so long about a token.
    pub fn set_pause(&self, pause: Duration) {
        self.state().pause = pause;
    }

    /// Gives no token, and says that it would like to be asked again in so many seconds.
    pub fn be_busy(&self, seconds: u64) {
        self.state().is_busy_for = Some(seconds);
    }

    /// Gives tokens, or none.
    pub fn give_tokens(&self, gives: bool) {
        self.state().gives_tokens = gives;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn new() -> State {
        State {
            tokens: 0,
            is_expired: false,
            life: Duration::from_secs(1_800),
            pause: Duration::ZERO,
            gives_tokens: true,
            is_busy_for: None,
            request_ids: Vec::new(),
            asked: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The ids of the states of functions that its answers may have had.
    fn states(&self) -> Vec<String> {
        (1..=self.asked.len()).map(answers::state_id).collect()
    }

    /// The token that is good.
    fn token(&self) -> Option<String> {
        let is_good = self.tokens > 0 && !self.is_expired;
        is_good.then(|| format!("{TOKEN}.{}", self.tokens))
    }

    fn refuse(&mut self, status: u16, body: Json) -> Vec<Act> {
        self.refused.push(format!("{status} {}", body["message"].as_str().unwrap_or_default()));
        reply_json(status, body)
    }

    fn grant(&mut self, seen: &Seen) -> Vec<Act> {
        if let Some(seconds) = self.is_busy_for {
            return reply(
                429,
                &[("retry-after", &seconds.to_string())],
                b"{\"message\":\"Too many requests\"}",
            );
        }
        let (status, code, message) = match strict::token_request(seen, &self.request_ids) {
            Err(message) => (400, 5, message),
            Ok(_) if seen.header("authorization") != Some(&format!("Basic {GIGACHAT_KEY}")) => {
                (401, 6, "credentials doesn't match db data".to_owned())
            }
            Ok(_) if !self.gives_tokens => {
                // It repeats what it was sent, as bad servers do.
                let sent = seen.header("authorization").unwrap();
                (401, 6, format!("credentials doesn't match db data: {sent}"))
            }
            Ok(request_id) => {
                self.request_ids.push(request_id);
                (self.tokens, self.is_expired) = (self.tokens + 1, false);
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                let ends = (now + self.life).as_millis() as u64;
                let granted = reply_json(200, json!({"access_token": self.token(), "expires_at": ends}));
                return std::iter::once(Act::Wait(self.pause)).chain(granted).collect();
            }
        };
        self.refuse(status, json!({"code": code, "message": message}))
    }
}

fn answer(state: &Mutex<State>, seen: &Seen, script: &(impl Fn(&Json) -> Reply + ?Sized)) -> Vec<Act> {
    let mut state = state.lock().unwrap();
    if seen.path == "/api/v2/oauth" {
        return state.grant(seen);
    }
    let sent = seen.header("authorization").unwrap_or_default().to_owned();
    let wanted = state.token().map(|token| format!("Bearer {token}"));
    if wanted.as_deref() != Some(&sent) {
        return state.refuse(401, json!({"status": 401, "message": "Token has expired"}));
    }
    match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", "/api/v1/models") => reply_json(200, answers::models()),
        ("POST", "/api/v1/embeddings") => match strict::embeddings(seen) {
            Ok(texts) => reply_json(200, answers::vectors(&texts)),
            Err(message) => state.refuse(400, json!({"status": 400, "message": message})),
        },
        ("POST", "/api/v1/chat/completions") => match strict::chat(seen, &state.states()) {
            Ok(body) => {
                state.asked.push(body.clone());
                let (number, reply) = (state.asked.len(), script(&body));
                match reply {
                    Reply::Refusal(status, message) => {
                        let message = message.replace("{token}", &sent);
                        state.refuse(status, json!({"status": status, "message": message}))
                    }
                    reply => answers::chat(&body, reply, number),
                }
            }
            Err(message) => state.refuse(400, json!({"status": 400, "message": message})),
        },
        (method, path) => {
            state.refuse(404, json!({"status": 404, "message": format!("No such: {method} {path}")}))
        }
    }
}
