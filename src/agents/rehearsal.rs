//! A conversation without models, tools and a store: what they would answer is given beforehand, and all else is as in every session.

use std::collections::VecDeque;

use serde_json::value::to_raw_value;
use serde_json::{Map as JsonMap, Value as Json};

use super::body::state_of;
use super::reading::{answered, chosen, failure, relevance, relevance_schema};
use super::{AgentError, Agents};
use crate::llm::{Choice, GivenReply};
use crate::sessions::SessionState;
use crate::toolbox::ToolboxError;
use agent::{
    Agent, Conversation, Event, Failure, Message, Moved, Note, OutOfTurn, Said, Task, ToolCall, override_name,
};
use base::caller::Caller;
use base::model::{Id, ProblemDetail};
use template::value::Value;
use tools::ToolError;

/// A conversation that is to be played.
#[derive(Debug)]
pub struct Script {
    /// The id of the agent.
    pub agent: Id,
    /// What overrides its settings.
    pub settings: JsonMap<String, Json>,
    /// What texts see as variables.
    pub variables: JsonMap<String, Json>,
    /// What happens after the start.
    pub turns: Vec<Turn>,
}

/// What happens in one turn.
#[derive(Debug)]
pub struct Turn {
    /// What the user does.
    pub event: Event,
    /// What the model answers, in order.
    pub model: Vec<GivenReply>,
    /// What the tools answer, in order.
    pub calls: Vec<GivenCall>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenCall {
    /// JSON.
    Answer(Json),
    /// A text.
    Text(String),
    /// The status of an error, in the terms of its protocol, and a message.
    Failed {
        /// The status.
        status: String,
        /// The message.
        message: String,
    },
    /// The connection is closed without an answer.
    Closed,
}

/// How a conversation went.
#[derive(Debug)]
pub struct Rehearsal {
    /// The start, and the turns that were played.
    pub turns: Vec<Rehearsed>,
    /// All messages.
    pub history: Vec<Message>,
    /// The exit code, after the end.
    pub exit_code: Option<u8>,
}

/// How a turn went.
#[derive(Debug, Default)]
pub struct Rehearsed {
    /// What was shown.
    pub output: Vec<String>,
    /// What was logged: `LEVEL [prefix] text`.
    pub log: Vec<String>,
    /// The steps that ended: `step/outcome`.
    pub steps: Vec<String>,
    /// The messages of the history that the model was sent, for each of its answers.
    pub sent: Vec<Vec<Message>>,
    /// The calls of tools of the catalog, by their ids.
    pub calls: Vec<ToolCall>,
    /// What the session waits for then.
    pub state: Option<SessionState>,
    /// How many answers of the model, and of tools, were left.
    pub unused: (usize, usize),
    /// Why the conversation went no further.
    pub stopped: Option<Stopped>,
}

/// What keeps a conversation from going on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The turn cannot come now.
    #[error("the turn is refused: {0}")]
    Refused(#[from] OutOfTurn),
    /// The model is asked, and nothing is given that it answers.
    #[error("the model is asked once more, and `model` has no answer for it")]
    NoAnswer,
    /// A tool is called, and nothing is given that it answers.
    #[error("`{0}` is called, and `calls` has no answer for it")]
    NoCall(Id),
}

impl Agents {
    /// Plays a conversation: no model is asked, no tool is called, and nothing is kept.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be used with these settings.
    pub async fn rehearse(&self, caller: &Caller, script: Script) -> Result<Rehearsal, AgentError> {
        let (agent, mut overrides) = self.usable(&script.agent)?;
        overrides.extend(script.settings.into_iter().map(|(name, value)| (override_name(&name), value)));
        let agent = Agent::read(&agent.document, &overrides).map_err(|faults| AgentError::Unavailable {
            id: script.agent.clone(),
            problems: faults.iter().map(|fault| ProblemDetail::new(fault.to_string())).collect(),
        })?;
        let conversation = Conversation::new(script.variables);
        let mut stage = Stage { agents: self, caller, agent: &agent, conversation };
        let start = Turn { event: Event::Start, model: Vec::new(), calls: Vec::new() };
        let mut turns = Vec::new();
        for turn in [start].into_iter().chain(script.turns) {
            let rehearsed = stage.play(turn).await;
            let is_over = rehearsed.stopped.is_some();
            turns.push(rehearsed);
            if is_over {
                break;
            }
        }
        let exit_code = stage.conversation.exit_code();
        Ok(Rehearsal { turns, history: stage.conversation.history().all().to_vec(), exit_code })
    }
}

/// A conversation under way.
struct Stage<'s> {
    agents: &'s Agents,
    caller: &'s Caller,
    agent: &'s Agent,
    conversation: Conversation,
}

/// What is given for the rest of a turn.
struct Given {
    model: VecDeque<GivenReply>,
    calls: VecDeque<GivenCall>,
}

impl Stage<'_> {
    async fn play(&mut self, turn: Turn) -> Rehearsed {
        let mut rehearsed = Rehearsed::default();
        let mut given = Given { model: turn.model.into(), calls: turn.calls.into() };
        rehearsed.stopped = self.until_it_waits(turn.event, &mut given, &mut rehearsed).await.err();
        rehearsed.unused = (given.model.len(), given.calls.len());
        rehearsed.state = Some(state_of(&self.conversation));
        rehearsed
    }

    async fn until_it_waits(
        &mut self,
        mut event: Event,
        given: &mut Given,
        rehearsed: &mut Rehearsed,
    ) -> Result<(), Stopped> {
        loop {
            let Moved { notes, task } = self.conversation.take(self.agent, event)?;
            notes.into_iter().for_each(|note| rehearsed.note(self.agent, note));
            if matches!(task, Task::Listen | Task::Confirm | Task::End { .. }) {
                return Ok(());
            }
            event = self.perform(task, given, rehearsed).await?;
        }
    }

    async fn perform(
        &self,
        task: Task,
        given: &mut Given,
        rehearsed: &mut Rehearsed,
    ) -> Result<Event, Stopped> {
        if let Task::CheckHealth { tool } = task {
            return Ok(Event::Health(self.call(tool, JsonMap::new(), given, rehearsed).await?));
        }
        if let Task::Call { tool, arguments } = task {
            return Ok(Event::Called(self.call(tool, arguments, given, rehearsed).await?));
        }
        let Agent { settings, merge, .. } = self.agent;
        let reply = given.model.pop_front().ok_or(Stopped::NoAnswer)?;
        rehearsed.sent.push(self.conversation.history().last(settings.history_limit(), *merge));
        Ok(match task {
            Task::Classify => Event::Classified(self.classify(reply).await),
            Task::Select => Event::Selected(self.choice(reply).and_then(|choice| chosen(&choice))),
            _ => Event::Answered(self.choice(reply).and_then(|choice| answered(&choice))),
        })
    }

    async fn classify(&self, reply: GivenReply) -> Result<bool, Failure> {
        let completion = reply.read(self.model()).map_err(|error| failure(&error))?;
        let schema = to_raw_value(&relevance_schema());
        let schema = schema.map_err(|error| Failure::unreadable(error.to_string()))?;
        relevance(self.agent, self.agents.requests.read_given(self.caller, &schema, completion).await)
    }

    fn choice(&self, reply: GivenReply) -> Result<Choice, Failure> {
        let completion = reply.read(self.model()).map_err(|error| failure(&error))?;
        Ok(completion.choices.into_iter().next().unwrap_or_default())
    }

    fn model(&self) -> &str {
        self.agent.settings.model().unwrap_or("default")
    }

    /// What a tool answers. Arguments that it does not take never reach it.
    async fn call(
        &self,
        tool: Id,
        arguments: JsonMap<String, Json>,
        given: &mut Given,
        rehearsed: &mut Rehearsed,
    ) -> Result<Result<Value, String>, Stopped> {
        let value = Value::from(&Json::Object(arguments.clone()));
        if let Err(error) = self.agents.toolbox.takes(&tool, &value).await {
            return Ok(Err(error.to_string()));
        }
        let answer = given.calls.pop_front().ok_or_else(|| Stopped::NoCall(tool.clone()))?;
        rehearsed.calls.push(ToolCall { tool: tool.to_string(), arguments });
        Ok(answer.into_result().map_err(|error| ToolboxError::from(error).to_string()))
    }
}

impl GivenCall {
    fn into_result(self) -> Result<Value, ToolError> {
        match self {
            GivenCall::Answer(answer) => Ok(Value::from(&answer)),
            GivenCall::Text(text) => Ok(Value::from(text.as_str())),
            GivenCall::Failed { status, message } => Err(ToolError::Failed { status, message }),
            GivenCall::Closed => {
                Err(ToolError::Unreachable { message: "the connection was closed".to_owned() })
            }
        }
    }
}

impl Rehearsed {
    fn note(&mut self, agent: &Agent, note: Note) {
        for said in note.said {
            match said {
                Said::Shown(text) => self.output.push(text),
                Said::Logged(level, text) => {
                    self.log.push(format!("{level} [{}] {text}", agent.prefix(note.step)));
                }
            }
        }
        self.steps.extend(note.outcome.map(|outcome| format!("{}/{outcome}", note.step)));
    }
}
