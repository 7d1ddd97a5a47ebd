//! Which skills fit what somebody wants: a structured request over their names and descriptions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::{SkillError, Skills};
use crate::llm::LlmError;
use crate::requests::{Context, Request, Wanted};
use base::caller::Caller;
use base::model::{DocumentKind, Id, Skill};
use template::value::Value;

/// The prompt that asks which skills fit.
const MATCH: &str = "skills.match";

/// From how many skills one is chosen; those whose ids come first are taken.
const CHOOSABLE_MAX: usize = 1_000;

/// A skill that fits.
#[derive(Debug, Serialize)]
pub struct Chosen {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// What the model gives.
#[derive(Deserialize)]
struct Answer {
    skills: Vec<String>,
}

impl Skills {
    /// The skills that fit, the best first, at most `limit`.
    ///
    /// # Errors
    /// [`SkillError`].
    pub async fn choose(
        &self,
        caller: &Caller,
        wanted: &str,
        limit: usize,
    ) -> Result<Vec<Chosen>, SkillError> {
        let skills = self.choosable();
        if skills.is_empty() {
            return Ok(Vec::new());
        }
        let request = self.choice(caller, &skills, wanted, limit).await?;
        let solution = self.requests.solve(caller, request).await?;
        let answer =
            solution.values.first().and_then(|value| serde_json::from_str::<Answer>(value.get()).ok());
        let mut chosen: Vec<Chosen> = Vec::new();
        for id in answer.map(|answer| answer.skills).unwrap_or_default() {
            let skill = skills.iter().find(|skill| skill.id.as_str() == id);
            let Some(skill) = skill.filter(|_| chosen.iter().all(|known| known.id.as_str() != id)) else {
                continue;
            };
            let (name, description) = (skill.name.clone(), skill.description.clone());
            chosen.push(Chosen { id: skill.id.clone(), name, description });
        }
        chosen.truncate(limit);
        Ok(chosen)
    }

    /// The skills that a model may choose.
    fn choosable(&self) -> Vec<Arc<Skill>> {
        let snapshot = self.catalog.snapshot();
        let ids = snapshot.ids(DocumentKind::Skill);
        let skills = ids.iter().filter_map(|id| snapshot.skill(id).cloned());
        skills.filter(|skill| skill.is_chosen_by_models).take(CHOOSABLE_MAX).collect()
    }

    /// The request for the ids of the skills that fit.
    async fn choice(
        &self,
        caller: &Caller,
        skills: &[Arc<Skill>],
        wanted: &str,
        limit: usize,
    ) -> Result<Request, SkillError> {
        let known = skills
            .iter()
            .map(|skill| json!({"id": skill.id, "name": skill.name, "description": skill.description}));
        let variables = json!({"skills": known.collect::<Vec<_>>(), "prompt": wanted});
        let text = self.renderer.own_text(caller, MATCH, Value::from(&variables)).await?;
        let ids: Vec<&Id> = skills.iter().map(|skill| &skill.id).collect();
        let schema = json!({
            "type": "object",
            "properties": {"skills": {"type": "array", "items": {"enum": ids}, "maxItems": limit}},
            "required": ["skills"],
            "additionalProperties": false,
        });
        let unwritable =
            |error: serde_json::Error| LlmError::Invalid { param: "prompt", message: error.to_string() };
        let message = to_raw_value(&json!({"role": "user", "content": text})).map_err(unwritable)?;
        let schema = to_raw_value(&schema).map_err(unwritable)?;
        let model = self.options.model.clone();
        let wanted = Wanted { schema: Some(schema), model, n: 1, ..Wanted::default() };
        Ok(Request { context: Context::Messages(vec![message]), wanted, save: false })
    }
}
