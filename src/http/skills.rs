//! Skills over HTTP: sessions that are started, and skills that are chosen.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::chat::finished;
use super::error::ApiError;
use super::sessions::ProgressReply;
use crate::app::App;
use crate::skills::{SkillSource, Start};
use base::caller::Caller;
use base::model::Id;
use base::schema::Members;
use template::value::{RawObject, Tree};

/// How many skills are chosen if nobody says it.
const CHOSEN: usize = 5;

/// The most skills that may be chosen.
const CHOSEN_MAX: usize = 100;

/// `POST /api/skills/{id}/sessions`
pub async fn start(
    app: Data<App>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let skill = SkillSource::Registered(Id::parse(&id)?);
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    let mut members = Members::new(value);
    let start = start_of(&mut members, skill);
    finish(members)?;
    started(&app, caller, start).await
}

/// `POST /api/sessions`
pub async fn start_given(
    app: Data<App>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Json).await?;
    let mut members = Members::new(value);
    let skill = given(&mut members);
    let start = start_of(&mut members, skill);
    finish(members)?;
    started(&app, caller, start).await
}

/// `POST /api/skills/match`
pub async fn choose(
    app: Data<App>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let mut members = Members::new(value);
    let prompt: Option<String> = members.need("prompt", "a text: what somebody wants");
    if prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        members.add("/prompt", "must say what somebody wants");
    }
    let prompt = prompt.unwrap_or_default();
    let limit = members.number("limit", 1, CHOSEN_MAX).unwrap_or(CHOSEN);
    finish(members)?;
    let services = app.clone().into_inner();
    let chosen =
        finished(&app, async move { services.skills.choose(&caller, &prompt, limit).await }).await??;
    Ok(HttpResponse::Ok().json(chosen))
}

async fn started(app: &Data<App>, caller: Caller, start: Start) -> Result<HttpResponse, ApiError> {
    let services = app.clone().into_inner();
    let progress = finished(app, async move { services.skills.start(&caller, start).await }).await??;
    Ok(HttpResponse::Created().json(ProgressReply::started(progress)))
}

/// A skill that the client has: `{content, id?}`.
fn given(members: &mut Members) -> SkillSource {
    let skill: RawObject =
        members.need("skill", "an object with `content`, a whole SKILL.md").unwrap_or_default();
    let mut inside = Members::new(skill);
    let content = inside.need("content", "a text: a whole SKILL.md").unwrap_or_default();
    let id = inside.take::<String>("id", "an id");
    let id = id.and_then(|id| Id::parse(&id).map_err(|error| inside.add("/id", error.to_string())).ok());
    if let Err(violations) = inside.finish("is no member of `skill`, which takes `content` and `id`") {
        violations.into_iter().for_each(|one| members.add(format!("/skill{}", one.path), one.message));
    }
    SkillSource::Given { id, content }
}

/// What a body says of a start, beside its skill.
pub fn start_of(members: &mut Members, skill: SkillSource) -> Start {
    let params = "an object with the parameters of the skill";
    Start {
        skill,
        params: members.take("params", params).unwrap_or_default(),
        prompt: members.take("prompt", "a text: what the user wants"),
        knowledge: members.take("knowledge", "a text: what is known of the system").unwrap_or_default(),
        os: members.take("os", "`linux`, `macos` or `windows`"),
        model: members.take("model", "the name of a model").filter(|name: &String| !name.is_empty()),
        max_steps: members.number("max_steps", 1, usize::MAX),
        auto_continue: members.take("auto_continue", "true or false").unwrap_or(true),
        unknown_format: members.take("unknown_format", "`command` or `error`"),
    }
}

/// Everything that is wrong with a body; parameters that are no object have a code of their own.
pub(super) fn finish(members: Members) -> Result<(), ApiError> {
    members.finish("is no member of this request").map_err(|violations| {
        match violations.iter().find(|violation| violation.path == "/params") {
            Some(_) => ApiError::invalid_members("invalid_variables", &violations).about("params"),
            None => ApiError::invalid_members("invalid_request", &violations),
        }
    })
}
