//! From a request to what a model is asked, and to what its idea will be.

use std::sync::Arc;
use std::time::Instant;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map as JsonMap, Value as Json};

use super::error::RequestError;
use super::idea::{canonical, hash};
use super::wanted::OWN_PARAMS;
use super::{Context, Rendering, Request, Requests, Wanted};
use crate::content::MessageList;
use crate::llm::structured::Plan;
use crate::render::{Expansion, RenderedPrompt, Warning};
use crate::structured::{CompiledSchema, Task};
use base::caller::Caller;
use base::model::{Prompt, answer_schema};
use template::value::{RawObject, parse_json};

/// A request that is ready for a model.
pub(super) struct Prepared {
    /// What is wanted of the model.
    pub task: Task,
    /// What an idea is made of, if one may be kept or looked up.
    pub source: Option<Source>,
    /// Whether an idea is kept.
    pub save: bool,
    /// Whether an earlier one will do.
    pub reuse: bool,
    /// The warnings about tool calls that failed while prompts were rendered.
    pub warnings: Vec<Warning>,
    /// The prompt that was rendered.
    pub rendering: Option<Rendering>,
}

/// What an idea is made of, beside the solution.
pub(super) struct Source {
    /// The messages in canonical form.
    pub context: Box<RawValue>,
    /// The schema in canonical form.
    pub schema: Box<RawValue>,
    /// The hash of context, schema, model and parameters.
    pub hash: String,
}

/// The messages of a request.
#[derive(Default)]
struct Messages {
    messages: Vec<Box<RawValue>>,
    /// The prompt that they are rendered from.
    prompt: Option<Arc<Prompt>>,
    warnings: Vec<Warning>,
    rendering: Option<Rendering>,
}

/// A schema as it was given, and compiled.
struct Given {
    /// As it was given, in canonical form.
    text: String,
    compiled: Arc<CompiledSchema>,
}

impl Requests {
    /// Renders the prompt, expands the context, compiles the schema, and puts together the body for the model.
    ///
    /// # Errors
    /// [`RequestError`], before any model is asked.
    pub(super) async fn prepare(&self, caller: &Caller, request: Request) -> Result<Prepared, RequestError> {
        let Request { context, mut wanted, save } = request;
        let checks = self.structured.checks(std::mem::take(&mut wanted.checks))?;
        let Messages { messages, prompt, mut warnings, rendering } = self.messages(caller, context).await?;
        let given = self.schema(&wanted, prompt.as_deref()).await?;
        let save = save && self.options.keep_ideas;
        let kept = if save || wanted.reuse { Some(unwritable_as_invalid(joined(&messages))?) } else { None };
        let list = MessageList::of_request(messages, Some(given.compiled.output.original().clone()));
        let Expansion { conversation: expanded, warnings: of_content } =
            self.renderer.expand(caller, list).await?;
        warnings.extend(of_content);
        let schema = match &expanded.schema {
            Some(schema) if schema != given.compiled.output.original() => {
                self.structured.schema(&schema.to_string()).await?
            }
            _ => given.compiled.clone(),
        };
        let payload = self.payload(&wanted, &expanded.messages, &expanded.config, prompt.as_deref());
        let payload = unwritable_as_invalid(payload)?;
        let source = kept.map(|context| self.source(context, &given.text, &payload)).transpose();
        let source = unwritable_as_invalid(source)?;
        let max_repairs = wanted.max_repairs.unwrap_or(self.structured.options().max_repairs);
        let plan = wanted.strategy.map_or(Plan::ANY, Plan::only);
        let task = Task { payload: Arc::new(payload), schema, plan, checks, max_repairs };
        Ok(Prepared { task, source, save, reuse: wanted.reuse, warnings, rendering })
    }

    async fn messages(&self, caller: &Caller, context: Context) -> Result<Messages, RequestError> {
        match context {
            Context::Messages(messages) if messages.is_empty() => {
                Err(RequestError::invalid("/context", "must have at least one message"))
            }
            Context::Messages(messages) => Ok(Messages { messages, ..Messages::default() }),
            Context::Prompt { id, variables } => {
                let began = Instant::now();
                let RenderedPrompt { prompt, content, warnings, .. } =
                    self.renderer.render(caller, &id, variables).await?;
                Ok(Messages {
                    messages: unwritable_as_invalid(content.to_raw_messages())?,
                    prompt: Some(prompt),
                    warnings,
                    rendering: Some(Rendering { id, duration: began.elapsed() }),
                })
            }
        }
    }

    /// The schema of the request, or of the prompt.
    async fn schema(&self, wanted: &Wanted, prompt: Option<&Prompt>) -> Result<Given, RequestError> {
        let missing = || RequestError::SchemaMissing { is_of_prompt: prompt.is_some() };
        let returns = || prompt.and_then(|prompt| prompt.document.get("returns")).map(to_raw_value);
        let given = match &wanted.schema {
            Some(schema) => schema.clone(),
            None => {
                let returns = unwritable_as_invalid(returns().transpose())?.ok_or_else(missing)?;
                if answers(&returns).is_none() {
                    return Err(missing());
                }
                returns
            }
        };
        // The list form, in which prompts may have theirs.
        if given.get().starts_with('[') {
            let schema = answers(&given).ok_or_else(missing)?;
            let text = unwritable_as_invalid(canonical(given.get()))?.get().to_owned();
            return Ok(Given { text, compiled: self.structured.schema(&schema.to_string()).await? });
        }
        let compiled = self.structured.schema(given.get()).await?;
        Ok(Given { text: compiled.text.clone(), compiled })
    }

    /// The body for the model: what the request says comes before `config` objects, the prompt and the settings.
    fn payload(
        &self,
        wanted: &Wanted,
        messages: &[Box<RawValue>],
        config: &JsonMap<String, Json>,
        prompt: Option<&Prompt>,
    ) -> Result<RawObject, serde_json::Error> {
        let mut payload = RawObject::default();
        if let Some(model) = &wanted.model {
            payload.set("model", model)?;
        }
        payload.set("messages", messages)?;
        payload.complete(wanted.params.clone());
        let of_prompt = prompt.into_iter().flat_map(|prompt| &prompt.params);
        let defaults = config.iter().chain(of_prompt).chain(&self.options.params);
        payload.fill(defaults.filter(|(name, _)| !OWN_PARAMS.contains(&name.as_str())))?;
        if wanted.n > 1 {
            payload.set("n", &wanted.n)?;
        }
        Ok(payload)
    }

    fn source(
        &self,
        context: String,
        schema: &str,
        payload: &RawObject,
    ) -> Result<Source, serde_json::Error> {
        let context = canonical(&context)?;
        let mut params = payload.clone();
        params.remove("messages");
        if params.get("model").is_none() {
            params.set("model", &self.llm.default_model())?;
        }
        let params = canonical(&serde_json::to_string(&params)?)?;
        let hash = hash(&format!(r#"{{"context":{context},"schema":{schema},"params":{params}}}"#));
        Ok(Source { context, schema: RawValue::from_string(schema.to_owned())?, hash })
    }
}

/// The schema that the `returns` of a prompt declares.
fn answers(returns: &RawValue) -> Option<Json> {
    answer_schema(&parse_json(returns.get().as_bytes()).ok()?)
}

/// The messages as one JSON list.
fn joined(messages: &[Box<RawValue>]) -> Result<String, serde_json::Error> {
    serde_json::to_string(messages)
}

fn unwritable_as_invalid<T>(written: Result<T, serde_json::Error>) -> Result<T, RequestError> {
    written.map_err(|error| RequestError::invalid("", format!("cannot be written as JSON: {error}")))
}
