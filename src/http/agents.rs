//! Agents over HTTP: sessions that are started, and messages.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use serde::Serialize;
use serde_json::{Map as JsonMap, Value as Json};

use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::chat::finished;
use super::error::ApiError;
use super::skills::finish;
use crate::agents::{AgentSession, LogLine, Progress, Start, StepReport};
use crate::app::App;
use crate::sessions::{Head, Session, SessionKind, SessionState};
use agent::{Event, Message, ToolCall};
use base::model::Id;
use base::schema::{Members, Violation};
use template::value::{RawObject, Tree};

/// What came of a start.
#[derive(Serialize)]
struct StartedReply {
    session_id: String,
    output: Vec<String>,
    /// The lines of the agent's log, if the start asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    log: Vec<LogLine>,
}

/// What came of a message.
#[derive(Serialize)]
struct HeardReply {
    state: SessionState,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    /// The call that waits for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<ToolCall>,
    output: Vec<String>,
    steps: Vec<Json>,
}

/// A whole session.
#[derive(Serialize)]
struct SessionReply<'s> {
    session_id: &'s str,
    kind: SessionKind,
    agent: Option<&'s str>,
    state: SessionState,
    /// How many messages the user has sent.
    step: usize,
    pending: Option<&'s ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    messages: &'s [Message],
    /// In seconds since 1970, as all times.
    created_at: u64,
    updated_at: u64,
}

/// `POST /api/agents/{id}/sessions`
pub async fn start(
    app: Data<App>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let agent = Id::parse(&id)?;
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    let mut members = Members::new(value);
    let start = Start {
        agent,
        variables: members
            .take("variables", "an object: what the texts and prompts of the agent see")
            .unwrap_or_default(),
        log: members.take("log", "`off`, `lines` or `verbose`").unwrap_or_default(),
    };
    finish(members)?;
    let services = app.clone().into_inner();
    let Progress { session, output, steps, .. } =
        finished(&app, async move { services.agents.start(&caller, start).await }).await??;
    let log = steps.into_iter().flat_map(|step| step.log).collect();
    Ok(HttpResponse::Created().json(StartedReply { session_id: session, output, log }))
}

/// `POST /api/sessions/{sid}/messages`
pub async fn message(
    app: Data<App>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    let event = message_of(value)?;
    let services = app.clone().into_inner();
    let heard = async move { services.agents.hear(&caller, &id, event).await };
    let Progress { state, exit_code, pending, output, steps, .. } = finished(&app, heard).await??;
    let steps = steps.iter().map(StepReport::to_json).collect();
    Ok(HttpResponse::Ok().json(HeardReply { state, exit_code, pending, output, steps }))
}

/// What a body tells an agent.
///
/// # Errors
/// `invalid_request`, with everything that is wrong.
pub(super) fn message_of(body: RawObject) -> Result<Event, ApiError> {
    read_message(body).map_err(|violations| ApiError::invalid_members("invalid_request", &violations))
}

/// What an object tells an agent.
///
/// # Errors
/// Everything that is wrong.
pub fn read_message(body: RawObject) -> Result<Event, Vec<Violation>> {
    let mut members = Members::new(body);
    let text: Option<String> = members.take("text", "a text: what the user says");
    let approve: Option<bool> = members.take("approve", "true");
    let reject: Option<bool> = members.take("reject", "true");
    let arguments: Option<JsonMap<String, Json>> =
        members.take("arguments", "an object: the arguments of the call that waits");
    for (name, value) in [("approve", approve), ("reject", reject)] {
        if value == Some(false) {
            members.add(format!("/{name}"), "must be true");
        }
    }
    members.finish("is no member of a message")?;
    match (text, approve, reject, arguments) {
        (Some(text), None, None, None) => Ok(Event::Line(text)),
        (None, Some(_), None, None) => Ok(Event::Approve),
        (None, None, Some(_), None) => Ok(Event::Reject),
        (None, None, None, Some(arguments)) => Ok(Event::Change(arguments)),
        _ => {
            Err(vec![Violation::new("", "needs exactly one of `text`, `approve`, `reject` and `arguments`")])
        }
    }
}

/// A session as JSON.
pub(super) fn shown(session: &Session) -> Json {
    let conversation = AgentSession::new(&session.record, session.state);
    let Head { subject, step, created_at, updated_at, .. } = &session.record.head;
    let reply = SessionReply {
        session_id: &session.id,
        kind: SessionKind::Agent,
        agent: subject.as_ref().map(|subject| subject.id.as_str()),
        state: conversation.state(),
        step: *step,
        pending: conversation.pending(),
        exit_code: conversation.exit_code(),
        messages: conversation.messages(),
        created_at: created_at / 1_000,
        updated_at: updated_at / 1_000,
    };
    // It holds only texts, numbers and lists, which can always be written.
    serde_json::to_value(reply).unwrap_or_default()
}

/// The state of a session as JSON, and what it waits for.
pub(super) fn state_of(session: &Session) -> Json {
    let conversation = AgentSession::new(&session.record, session.state);
    let mut json = serde_json::json!({"state": conversation.state(), "pending": conversation.pending()});
    if let (Some(code), Some(members)) = (conversation.exit_code(), json.as_object_mut()) {
        members.insert("exit_code".to_owned(), code.into());
    }
    json
}
