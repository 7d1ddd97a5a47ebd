//! From a request to what a model is asked, and to what its idea will be.

use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;
use serde_json::{Map as JsonMap, Value as Json};

use super::error::RequestError;
use super::idea::Source;
use super::wanted::OWN_PARAMS;
use super::{Context, Rendering, Request, Requests, Wanted};
use crate::content::{MessageList, PlacedSchema};
use crate::llm::structured::Plan;
use crate::render::{Expansion, RenderTicket, RenderedPrompt, Warning};
use crate::structured::{CompiledSchema, StructuredError, Task, canonical};
use base::caller::Caller;
use base::model::{AnswerSchema, Id, Prompt};
use template::value::{RawObject, Value, parse_json};

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

/// The messages of a request.
#[derive(Default)]
struct Messages {
    messages: Vec<Box<RawValue>>,
    /// The prompt that they are rendered from.
    prompt: Option<Arc<Prompt>>,
    warnings: Vec<Warning>,
    rendering: Option<Rendering>,
}

/// A prompt that is still to be rendered.
struct Unrendered {
    id: Id,
    ticket: RenderTicket,
    variables: Option<Value>,
}

/// A schema as it was given, and compiled.
struct Given {
    /// As it was given, in canonical form.
    text: Arc<str>,
    compiled: Arc<CompiledSchema>,
}

impl Requests {
    /// Compiles the schema, renders the prompt, expands the context, and puts together the body for the model.
    ///
    /// # Errors
    /// [`RequestError`], before any model is asked.
    pub(super) async fn prepare(&self, caller: &Caller, request: Request) -> Result<Prepared, RequestError> {
        let Request { context, mut wanted, save } = request;
        let checks = self.structured.checks(std::mem::take(&mut wanted.checks))?;
        let (given, Messages { messages, prompt, mut warnings, rendering }) = match context {
            Context::Messages(messages) => {
                (self.schema(&wanted, None).await?, Messages { messages, ..Messages::default() })
            }
            Context::Prompt { id, variables } => {
                let ticket = self.renderer.ticket(id.clone());
                self.rendered(caller, &wanted, Unrendered { id, ticket, variables }).await?
            }
        };
        if messages.is_empty() {
            return Err(RequestError::invalid("/context", "must have at least one message"));
        }
        let save = save && self.options.keep_ideas;
        let kept = (save || wanted.reuse).then(|| serde_json::to_string(&messages));
        let kept = writable(kept.transpose())?;
        let original = given.compiled.output.original().clone();
        let list = MessageList::of_request(messages, Some(original));
        let Expansion { mut conversation, warnings: more } = self.renderer.expand(caller, list).await?;
        warnings.extend(more);
        let schema = match &conversation.schema {
            Some(changed) => match self.structured.schema(&changed.to_string()).await {
                Err(error @ StructuredError::Schema { .. }) => {
                    return Err(self.invalid_tools(std::mem::take(&mut conversation.tools), error).await?);
                }
                compiled => compiled?,
            },
            None => given.compiled,
        };
        let payload = self.payload(&wanted, &conversation.messages, &conversation.config, prompt.as_deref());
        let payload = writable(payload)?;
        // What our own templates and their messages give is in canonical form already.
        let context = kept.map(|written| if prompt.is_some() { Ok(written) } else { canonical(&written) });
        let context = context.transpose().map_err(|error| {
            let reason = format!("cannot be kept as an idea: {error}; change it, or ask with `?save=false`");
            RequestError::invalid("/context", reason)
        })?;
        let source = context.map(|context| self.source(context, given.text, &payload)).transpose();
        let source = writable(source)?;
        let max_repairs = wanted.max_repairs.unwrap_or(self.structured.options().max_repairs);
        let plan = wanted.strategy.map_or(Plan::ANY, Plan::only);
        let task = Task { payload: Arc::new(payload), schema, plan, checks, max_repairs };
        Ok(Prepared { task, source, save, reuse: wanted.reuse, warnings, rendering })
    }

    /// The error of tools whose schemas make that of the solution invalid; `error` is that of the whole.
    async fn invalid_tools(
        &self,
        tools: Vec<PlacedSchema>,
        error: StructuredError,
    ) -> Result<RequestError, RequestError> {
        let find = move || tools.iter().flat_map(PlacedSchema::violations).collect::<Vec<_>>();
        let found = self.renderer.run_on_json(find).await?;
        Ok(match found.is_empty() {
            true => error.into(),
            false => RequestError::Invalid { violations: found },
        })
    }

    /// The schema for a prompt, and the rendered prompt. The schema comes first, since a render may call tools.
    async fn rendered(
        &self,
        caller: &Caller,
        wanted: &Wanted,
        prompt: Unrendered,
    ) -> Result<(Given, Messages), RequestError> {
        let Unrendered { id, ticket, variables } = prompt;
        let given = match ticket.prompt() {
            Some(prompt) => Some(self.schema(wanted, Some(prompt)).await?),
            // That there is none is told by the render.
            None => None,
        };
        let began = Instant::now();
        let RenderedPrompt { prompt, content, warnings, .. } =
            self.renderer.render_admitted(caller, ticket, variables).await?;
        let rendering = Some(Rendering { id, duration: began.elapsed() });
        let messages = writable(content.to_raw_messages())?;
        let given = match given {
            Some(given) => given,
            None => self.schema(wanted, Some(&prompt)).await?,
        };
        Ok((given, Messages { messages, prompt: Some(prompt), warnings, rendering }))
    }

    /// The schema of the request, or of the prompt.
    async fn schema(&self, wanted: &Wanted, prompt: Option<&Prompt>) -> Result<Given, RequestError> {
        let missing = || RequestError::SchemaMissing { is_of_prompt: prompt.is_some() };
        let returns = match &wanted.schema {
            // The list form, in which prompts may have theirs.
            Some(schema) if schema.get().starts_with('[') => {
                let unreadable =
                    |error: serde_json::Error| RequestError::invalid("/schema", error.to_string());
                AnswerSchema::read(&parse_json(schema.get().as_bytes()).map_err(unreadable)?)
            }
            Some(schema) => {
                let compiled = self.structured.schema(schema.get()).await?;
                return Ok(Given { text: compiled.text.clone(), compiled });
            }
            None => prompt.and_then(|prompt| prompt.returns.clone()),
        };
        let AnswerSchema { written, schema } = returns.ok_or_else(missing)?;
        match self.structured.schema(&schema).await {
            Ok(compiled) => Ok(Given { text: written, compiled }),
            Err(StructuredError::Schema { violations, .. }) if wanted.schema.is_none() => {
                Err(RequestError::Returns { violations })
            }
            Err(error) => Err(error.into()),
        }
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

    /// What the idea will be made of. The parameters are those of the body for the model, and the model that will be asked.
    fn source(
        &self,
        context: String,
        schema: Arc<str>,
        payload: &RawObject,
    ) -> Result<Source, serde_json::Error> {
        let mut params = RawObject::default();
        params.set("model", &self.llm.default_model())?;
        for name in payload.names().filter(|name| *name != "messages") {
            params.set(name, &payload.get(name))?;
        }
        let params = canonical(&serde_json::to_string(&params)?)?;
        Ok(Source::new(context, schema, &params))
    }
}

fn writable<T>(written: Result<T, serde_json::Error>) -> Result<T, RequestError> {
    written.map_err(unwritable)
}

pub(super) fn unwritable(error: serde_json::Error) -> RequestError {
    RequestError::invalid("", format!("cannot be written as JSON: {error}"))
}
