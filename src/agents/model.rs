//! The calls of models: is a message relevant, which tool fits it, and what do the results say.

use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map as JsonMap, Value as Json, json};
use tokio::time::timeout;

use super::Agents;
use super::reading::{
    answered, attempts, chosen, failure, late, relevance, relevance_schema, unanswered, unwritable,
};
use super::report::Report;
use crate::llm::{self, Choice, ToolForm};
use crate::render::Content;
use crate::requests::{Context, OWN_PARAMS, Request, Wanted};
use agent::{Agent, Conversation, Failure, ToolCall};
use base::caller::Caller;
use base::model::Id;
use template::value::{RawObject, Value};

/// An agent and the conversation that a model is asked about.
#[derive(Clone, Copy)]
pub struct Talk<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The conversation.
    pub conversation: &'a Conversation,
}

impl Talk<'_> {
    /// How long a model may take.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.agent.settings.llm_timeout_ms())
    }

    /// The caller of a model, which waits no longer than the agent does.
    fn caller(&self, caller: &Caller) -> Caller {
        caller.within(self.time(), self.agent.settings.llm_retries())
    }
}

impl Agents {
    /// Whether the last message concerns the agent.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) async fn classify(
        &self,
        caller: &Caller,
        talk: Talk<'_>,
        report: &mut Report<'_>,
    ) -> Result<bool, Failure> {
        let Some(prompt) = &talk.agent.prompts.classify else { return Ok(true) };
        let (messages, params) = self.messages(caller, talk, prompt).await?;
        let request = || relevance_request(talk.agent, messages.clone(), &params);
        if report.is_verbose() {
            // Why there may be none is told by the request itself.
            if let Ok(preview) = self.requests.preview(caller, request()?).await {
                let payload = String::from_utf8_lossy(&preview.body);
                report.verbose(|| format!("post_chat_completions // payload: {payload}"));
            }
        }
        let patient = talk.caller(caller);
        let solved = match timeout(talk.time(), self.requests.solve(&patient, request()?)).await {
            Ok(solved) => solved,
            Err(_) => return Err(late(talk.time())),
        };
        if let Some(attempts) = attempts(&solved) {
            report.verbose(|| format!("post_chat_completions // response: {}", json!(attempts)));
        }
        let value = solved.map(|solution| solution.values.into_iter().next());
        relevance(talk.agent, value)
    }

    /// The tool that a model chooses.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) async fn select(
        &self,
        caller: &Caller,
        talk: Talk<'_>,
        report: &mut Report<'_>,
    ) -> Result<Option<ToolCall>, Failure> {
        let (messages, mut params) = self.messages(caller, talk, &talk.agent.prompts.select).await?;
        params.extend(self.offered(talk.agent));
        chosen(&self.ask(caller, talk, (messages, params), report).await?)
    }

    /// The tools as the agent's model is offered them: members of the body.
    fn offered(&self, agent: &Agent) -> JsonMap<String, Json> {
        let functions = agent.tools.iter().map(
            |tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}),
        );
        match self.llm.tool_form(agent.settings.model()) {
            // Some upstreams call no function unless they are told so.
            ToolForm::Functions => {
                [("functions".to_owned(), functions.collect()), ("function_call".to_owned(), "auto".into())]
                    .into_iter()
                    .collect()
            }
            ToolForm::Tools => {
                let tools = functions.map(|function| json!({"type": "function", "function": function}));
                [("tools".to_owned(), tools.collect())].into_iter().collect()
            }
        }
    }

    /// What a model makes of the results of tools.
    ///
    /// # Errors
    /// [`Failure`].
    pub(super) async fn answer(
        &self,
        caller: &Caller,
        talk: Talk<'_>,
        report: &mut Report<'_>,
    ) -> Result<String, Failure> {
        let Some(prompt) = &talk.agent.prompts.answer else { return Ok(String::new()) };
        let asked = self.messages(caller, talk, prompt).await?;
        answered(&self.ask(caller, talk, asked, report).await?)
    }

    /// Asks the agent's model; its first choice.
    async fn ask(
        &self,
        caller: &Caller,
        talk: Talk<'_>,
        (messages, params): (Vec<Box<RawValue>>, JsonMap<String, Json>),
        report: &mut Report<'_>,
    ) -> Result<Choice, Failure> {
        let mut body = RawObject::default();
        let model = talk.agent.settings.model();
        if let Some(model) = model {
            body.set("model", model).map_err(|error| unwritable(&error))?;
        }
        body.set("messages", &messages).map_err(|error| unwritable(&error))?;
        body.fill(params.iter()).map_err(|error| unwritable(&error))?;
        report.verbose(|| {
            format!("post_chat_completions // payload: {}", serde_json::to_string(&body).unwrap_or_default())
        });
        let patient = talk.caller(caller);
        let answer = timeout(talk.time(), self.llm.answer(&patient, llm::Request::Chat(&body))).await;
        let answered = answer.map_err(|_| late(talk.time()))?.map_err(|error| failure(&error))?;
        report.verbose(|| {
            format!("post_chat_completions // response: {}", String::from_utf8_lossy(&answered.body.bytes))
        });
        Ok(answered.completion.choices.into_iter().next().unwrap_or_default())
    }

    /// The messages for a model: the rendered prompt, and the last ones of the history. Also the parameters of the prompt.
    async fn messages(
        &self,
        caller: &Caller,
        talk: Talk<'_>,
        prompt: &Id,
    ) -> Result<(Vec<Box<RawValue>>, JsonMap<String, Json>), Failure> {
        let variables = Value::from(&variables(talk));
        let rendered = self.renderer.render(caller, prompt, Some(variables)).await;
        let rendered = rendered.map_err(|error| unanswered(&error))?;
        let instructions = match &rendered.content {
            Content::Text(text) => {
                to_raw_value(&json!({"role": "system", "content": text})).map(|one| vec![one])
            }
            messages => messages.to_raw_messages(),
        };
        let mut messages = instructions.map_err(|error| unwritable(&error))?;
        let Agent { settings, merge, .. } = talk.agent;
        for message in talk.conversation.history().last(settings.history_limit(), *merge) {
            messages.push(to_raw_value(&message).map_err(|error| unwritable(&error))?);
        }
        let mut params = self.options.params.clone();
        params.extend(rendered.prompt.params.iter().map(|(name, value)| (name.clone(), value.clone())));
        params.retain(|name, _| name != "model" && !OWN_PARAMS.contains(&name.as_str()));
        Ok((messages, params))
    }
}

/// The request for whether a message is relevant.
fn relevance_request(
    agent: &Agent,
    messages: Vec<Box<RawValue>>,
    params: &JsonMap<String, Json>,
) -> Result<Request, Failure> {
    let model = agent.settings.model().map(str::to_owned);
    let mut wanted = Wanted { model, n: 1, max_repairs: Some(0), ..Wanted::default() };
    wanted.schema = Some(to_raw_value(&relevance_schema()).map_err(|error| unwritable(&error))?);
    wanted.params.fill(params.iter()).map_err(|error| unwritable(&error))?;
    Ok(Request { context: Context::Messages(messages), wanted, save: false })
}

/// What prompts see beside the variables of the session.
fn variables(talk: Talk<'_>) -> Json {
    let Talk { agent, conversation } = talk;
    let mut variables = conversation.variables().clone();
    let tools = agent.tools.iter().map(|tool| json!({"name": tool.name, "description": tool.description}));
    let own = json!({
        "agent": {"name": agent.name, "description": agent.description},
        "settings": agent.settings.all(),
        "tools": tools.collect::<Vec<_>>(),
        "message": conversation.message(),
        "results": conversation.results(),
    });
    variables.extend(own.as_object().cloned().unwrap_or_default());
    Json::Object(variables)
}
