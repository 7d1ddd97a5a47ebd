//! The start of a session: the skill and all that it depends on are frozen, and the model is asked for the first time.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use super::body::{Body, Frozen};
use super::params::complete;
use super::steps::Progress;
use super::{SkillError, Skills};
use crate::formats;
use crate::render::RenderError;
use crate::sessions::SessionError;
use base::caller::Caller;
use base::model::{DocumentKind, HistoryMode, Id, Skill};
use dialogue::{Dialogue, Event, History, Os, UnknownFormat, start, system, with_arguments};
use template::value::{Map, Value};

/// The prompt with the instructions for the model.
const INSTRUCTIONS: &str = "skills.system";

/// The id of a skill of a client that has no name.
const UNNAMED: &str = "skill";

/// A session that is to be started.
#[derive(Debug)]
pub struct Start {
    /// The skill.
    pub skill: SkillSource,
    /// Its parameters.
    pub params: JsonMap<String, Json>,
    /// What the user wants.
    pub prompt: Option<String>,
    /// What is known of the system that commands run on.
    pub knowledge: String,
    /// That system.
    pub os: Option<Os>,
    /// The model.
    pub model: Option<String>,
    /// The most steps, up to the setting.
    pub max_steps: Option<usize>,
    /// Whether the service goes on by itself after a message.
    pub auto_continue: bool,
    /// What an answer without a tag means.
    pub unknown_format: Option<UnknownFormat>,
}

/// Where the skill of a session comes from.
#[derive(Debug)]
pub enum SkillSource {
    /// The catalog has it.
    Registered(Id),
    /// The client has it: a whole `SKILL.md`.
    Given {
        /// What it is called; by default as it calls itself.
        id: Option<Id>,
        /// The text.
        content: String,
    },
}

impl Skills {
    /// Starts a session, which goes on until somebody has to answer.
    ///
    /// # Errors
    /// [`SkillError`]; then there is no session, unless a client has found it in the list, and ended it.
    pub async fn start(&self, caller: &Caller, start: Start) -> Result<Progress, SkillError> {
        let body = self.frozen(caller, start).await?;
        let mut work = self.sessions.create(body.draft()?, self.options.timeout).await?;
        let next = body.dialogue.clone().accept(&Event::Continue, body.frozen.cleaning)?;
        match self.advance(caller, &mut work, &body.frozen, next).await {
            Ok(progress) => {
                work.finish().await;
                Ok(progress)
            }
            // A client has ended it meanwhile, and may want to read it.
            Err(error @ SkillError::Session(SessionError::OutOfTurn { .. })) => {
                work.finish().await;
                Err(error)
            }
            Err(error) => {
                work.discard().await;
                Err(error)
            }
        }
    }

    /// Freezes the skill, the system message, the model and the limits.
    pub(super) async fn frozen(&self, caller: &Caller, start: Start) -> Result<Body, SkillError> {
        let skill = self.skill(start.skill)?;
        let params = complete(&skill, start.params)?;
        let (text, params) = with_arguments(&skill.content, params);
        let name = Value::from(&Json::from(skill.name.as_str()));
        let variables: Map = [("skill".into(), name)].into_iter().collect();
        let instructions =
            self.renderer.own_text(caller, INSTRUCTIONS, Value::Map(Arc::new(variables))).await?;
        let options = &self.options;
        let model = start.model.or_else(|| skill.model.clone()).or_else(|| options.model.clone());
        let frozen = Frozen {
            skill: skill.id.to_string(),
            system: system(&instructions, start.os, &start.knowledge, &skill.name, &text),
            model: model.or_else(|| self.llm.default_model().map(str::to_owned)),
            temperature: skill.temperature.unwrap_or(options.temperature),
            max_tokens: skill.max_tokens.unwrap_or(options.max_tokens),
            history: history(&skill),
            auto_continue: start.auto_continue,
            unknown_format: start.unknown_format.unwrap_or(options.unknown_format),
            cleaning: options.cleaning,
            params: options.params.clone(),
        };
        let first = self::start(&skill.name, start.prompt.as_deref(), &params);
        let max_steps = start.max_steps.unwrap_or(usize::MAX).min(options.max_steps);
        Ok(Body { frozen: Arc::new(frozen), dialogue: Dialogue::new(first, max_steps) })
    }

    fn skill(&self, source: SkillSource) -> Result<Arc<Skill>, SkillError> {
        let id = match source {
            SkillSource::Given { id, content } => return given(id, &content),
            SkillSource::Registered(id) => id,
        };
        let snapshot = self.catalog.snapshot();
        match snapshot.skill(&id) {
            Some(skill) => Ok(skill.clone()),
            // It may be in the store.
            None => match self.catalog.store_state().not_loaded() {
                Some(error) => Err(error.into()),
                None => Err(snapshot.no_document(DocumentKind::Skill, &id).into()),
            },
        }
    }
}

/// The skill of a client.
fn given(id: Option<Id>, content: &str) -> Result<Arc<Skill>, SkillError> {
    let unnamed = Id::parse(UNNAMED).map_err(RenderError::from)?;
    let skill = formats::stored_skill(id.as_ref().unwrap_or(&unnamed), None, content.as_bytes())?;
    let own = || Id::parse(&skill.name).ok();
    let id = id.or_else(own).unwrap_or(unnamed);
    Ok(Arc::new(Skill { id, ..skill }))
}

fn history(skill: &Skill) -> History {
    match skill.history_mode {
        HistoryMode::Full => History::Full,
        HistoryMode::LastN => History::LastN(usize::try_from(skill.history_max).unwrap_or(0)),
        HistoryMode::SystemOnly => History::SystemOnly,
    }
}
