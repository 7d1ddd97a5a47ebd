//! Sessions over HTTP: what clients tell, and what they are told.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::agents;
use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::chat::finished;
use super::error::ApiError;
use super::skills::finish;
use crate::app::App;
use crate::sessions::{Filter, Head, Session, SessionKind, SessionState};
use crate::skills::{Progress, SkillSession};
use base::schema::{Members, Violation};
use dialogue::{CommandResult, Directive, Event, Message};
use template::value::{RawObject, Tree};

/// How far a session has come.
#[derive(Serialize)]
pub struct ProgressReply {
    #[serde(flatten)]
    started: Option<StartedReply>,
    state: SessionState,
    step: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<usize>,
    directives: Vec<Directive>,
    /// Why no more came after a message; `continue` goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Json>,
}

#[derive(Serialize)]
struct StartedReply {
    session_id: String,
    skill: String,
}

impl ProgressReply {
    /// The reply to a start.
    pub fn started(progress: Progress) -> ProgressReply {
        let Progress { session, skill, state, step, max_steps, directives, error } = progress;
        ProgressReply {
            started: Some(StartedReply { session_id: session, skill }),
            state,
            step,
            max_steps: Some(max_steps),
            directives,
            error: error.map(|error| ApiError::from(error).to_json()),
        }
    }

    /// The reply to an event.
    pub fn of_event(progress: Progress) -> ProgressReply {
        ProgressReply { started: None, max_steps: None, ..ProgressReply::started(progress) }
    }
}

/// A session in a list.
#[derive(Serialize)]
struct ListedReply<'s> {
    session_id: &'s str,
    kind: Option<SessionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'s str>,
    state: SessionState,
    step: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<usize>,
    /// In seconds since 1970, as all times.
    created_at: u64,
    updated_at: u64,
}

/// A whole session.
#[derive(Serialize)]
pub struct SessionReply<'s> {
    #[serde(flatten)]
    head: ListedReply<'s>,
    pending: Option<&'s Directive>,
    messages: Vec<Message<'s>>,
}

impl<'s> ListedReply<'s> {
    fn new(id: &'s str, head: &'s Head, state: SessionState) -> ListedReply<'s> {
        let subject = head.subject.as_ref();
        let id_of = |kind| subject.filter(|subject| subject.kind == kind).map(|subject| subject.id.as_str());
        let agent = id_of(SessionKind::Agent);
        ListedReply {
            session_id: id,
            kind: subject.map(|subject| subject.kind),
            skill: id_of(SessionKind::Skill),
            agent,
            state,
            step: head.step,
            max_steps: agent.is_none().then_some(head.max_steps),
            created_at: head.created_at / 1_000,
            updated_at: head.updated_at / 1_000,
        }
    }
}

/// A session as JSON.
pub(super) fn shown(session: &Session) -> Json {
    if is_of_agent(session) {
        return agents::shown(session);
    }
    let skill = SkillSession::new(&session.record, session.state);
    let head = ListedReply::new(&session.id, &session.record.head, skill.state());
    // It holds only texts, numbers and lists, which can always be written.
    serde_json::to_value(SessionReply { head, pending: skill.pending(), messages: skill.messages() })
        .unwrap_or_default()
}

/// The state of a session as JSON, and what it waits for.
pub(super) fn state_of(session: &Session) -> Json {
    if is_of_agent(session) {
        return agents::state_of(session);
    }
    let skill = SkillSession::new(&session.record, session.state);
    let Head { step, max_steps, .. } = session.record.head;
    json!({"state": skill.state(), "step": step, "max_steps": max_steps, "pending": skill.pending()})
}

/// Whether it is a session of an agent.
pub(super) fn is_of_agent(session: &Session) -> bool {
    session.record.head.subject.as_ref().is_some_and(|subject| subject.kind == SessionKind::Agent)
}

/// The query of a list.
#[derive(Debug, Deserialize)]
pub struct ListQuery {
    kind: Option<SessionKind>,
    state: Option<SessionState>,
}

/// `GET /api/sessions`
pub async fn list(app: Data<App>, query: Query<ListQuery>) -> Result<HttpResponse, ApiError> {
    let found = app.sessions.list(Filter { kind: query.kind, state: query.state }).await?;
    let replies = found.iter().map(|listed| ListedReply::new(&listed.id, &listed.head, listed.head.state));
    Ok(HttpResponse::Ok().json(replies.collect::<Vec<_>>()))
}

/// `GET /api/sessions/{sid}`
pub async fn show(app: Data<App>, id: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(shown(&app.sessions.open(&id).await?)))
}

/// `POST /api/sessions/{sid}/events`
pub async fn event(
    app: Data<App>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    let event = event_of(value)?;
    let services = app.clone().into_inner();
    let taken = async move { services.skills.event(&caller, &id, event).await };
    let progress = finished(&app, taken).await??;
    Ok(HttpResponse::Ok().json(ProgressReply::of_event(progress)))
}

/// `POST /api/sessions/{sid}/fork`
pub async fn fork(app: Data<App>, id: Path<String>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let mut members = Members::new(value);
    let step = members.need("step", "the number of a step, from 1 on").unwrap_or_default();
    finish(members)?;
    let session = app.sessions.open(&id).await?;
    let progress = app.skills.fork(&session, step).await?;
    Ok(HttpResponse::Created().json(ProgressReply::started(progress)))
}

/// `DELETE /api/sessions/{sid}`
pub async fn cancel(app: Data<App>, id: Path<String>) -> Result<HttpResponse, ApiError> {
    app.sessions.cancel(&id).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// The event that a body tells.
///
/// # Errors
/// `invalid_request`, with everything that is wrong.
pub(super) fn event_of(body: RawObject) -> Result<Event, ApiError> {
    read_event(body).map_err(|violations| ApiError::invalid_members("invalid_request", &violations))
}

/// The event that an object tells, wherever it stands.
///
/// # Errors
/// Everything that is wrong.
pub fn read_event(body: RawObject) -> Result<Event, Vec<Violation>> {
    let mut members = Members::new(body);
    let kinds = "`command_result`, `user_message` or `continue`";
    let event = match members.need::<String>("type", kinds).as_deref() {
        Some("command_result") => Event::CommandResult(command_result(&mut members)),
        Some("user_message") => {
            let text = members.need("text", "a text: the user's answer").unwrap_or_default();
            Event::UserMessage { text }
        }
        Some("continue") => Event::Continue,
        // Which members belong to it is not known.
        _ => return Err(vec![Violation::new("/type".to_owned(), format!("must be {kinds}"))]),
    };
    members.finish("is no member of such an event")?;
    Ok(event)
}

fn command_result(members: &mut Members) -> CommandResult {
    CommandResult {
        stdout: members.take("stdout", "a text").unwrap_or_default(),
        stderr: members.take("stderr", "a text").unwrap_or_default(),
        exit_code: members.take("exit_code", "a whole number"),
        skipped: members.take("skipped", "true or false").unwrap_or(false),
        command: members.take("command", "a text: the command that was run"),
    }
}
