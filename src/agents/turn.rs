//! From a message to what waits next: each step is stored before the next one begins.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::body::{Body, Frozen, LogDetail};
use super::model::Talk;
use super::report::{Report, StepReport};
use super::{AgentError, Agents};
use crate::sessions::{Draft, EventKind, SessionError, SessionKind, SessionState, Thinking, Work};
use agent::{Agent, Conversation, Event, Moved, OutOfTurn, Step, Task, ToolCall};
use base::caller::Caller;
use base::model::Id;

/// How long all messages of a session may be, in bytes, before another one is taken.
const BYTES_MAX: usize = 2 << 20;

/// How long all that a session keeps may be, in bytes of JSON: half of a value of the store, beside its events.
const KEPT_MAX: usize = 8 << 20;

/// How long work may take beside the calls of models and tools themselves.
const PREPARING_TIME: Duration = Duration::from_secs(30);

/// A session that is to be started.
#[derive(Debug)]
pub struct Start {
    /// The id of the agent.
    pub agent: Id,
    /// What texts and prompts see as variables.
    pub variables: JsonMap<String, Json>,
    /// How much the session tells of its log.
    pub log: LogDetail,
}

/// What came of a start or a message.
#[derive(Debug)]
pub struct Progress {
    /// The id of the session.
    pub session: String,
    /// What it waits for.
    pub state: SessionState,
    /// The exit code, after the end.
    pub exit_code: Option<u8>,
    /// The call that waits for approval.
    pub pending: Option<ToolCall>,
    /// The texts that were shown.
    pub output: Vec<String>,
    /// The steps that were taken.
    pub steps: Vec<StepReport>,
}

impl Agents {
    /// Starts a session: the agent says how it can be used, and waits for a message.
    ///
    /// # Errors
    /// [`AgentError`]; then there is no session.
    pub async fn start(&self, caller: &Caller, start: Start) -> Result<Progress, AgentError> {
        let (agent, overrides) = self.usable(&start.agent)?;
        let frozen = Frozen {
            agent: agent.id.to_string(),
            document: agent.document.clone(),
            overrides,
            log: start.log,
        };
        let body = Body { frozen: Arc::new(frozen), conversation: Conversation::new(start.variables) };
        let mut work = self.sessions.create(draft(&body)?, PREPARING_TIME).await?;
        match self.advance(caller, &mut work, (&agent, body), Event::Start).await {
            Ok(progress) => {
                work.finish().await;
                Ok(progress)
            }
            Err(error) => {
                work.discard().await;
                Err(error)
            }
        }
    }

    /// Takes what the user says, and goes on until the user has the word again.
    ///
    /// # Errors
    /// [`AgentError`]; then the session is as after its last step.
    pub async fn hear(&self, caller: &Caller, session: &str, event: Event) -> Result<Progress, AgentError> {
        let mut work = self.sessions.work(session, SessionKind::Agent, PREPARING_TIME).await?;
        let heard = async {
            let body = Body::read(work.record())?;
            let agent = body.agent()?;
            self.advance(caller, &mut work, (&agent, body), event).await
        };
        let progress = heard.await;
        work.finish().await;
        progress
    }

    async fn advance(
        &self,
        caller: &Caller,
        work: &mut Work,
        (agent, mut body): (&Agent, Body),
        event: Event,
    ) -> Result<Progress, AgentError> {
        if let Event::Line(line) = &event
            && agent.is_message(line)
            && body.conversation.history().bytes() + line.len() > BYTES_MAX
        {
            return Err(AgentError::TooLarge { limit: BYTES_MAX });
        }
        let mut report = Report::new(agent, work, body.frozen.log, self.options.log_content);
        let mut thinking = Thinking::new(work.teller(), state_json(body.state(), None));
        let told = (&mut report, &mut thinking);
        let done = self.turn(caller, work, (agent, &mut body, event), told).await;
        let failure = done.as_ref().err().map(ToString::to_string);
        match &done {
            Err(error) if error.is_out_of_turn() => thinking.end(None),
            _ => thinking.end(failure.as_deref()),
        }
        done?;
        Ok(Progress {
            session: work.id().to_owned(),
            state: body.state(),
            exit_code: body.conversation.exit_code(),
            pending: body.conversation.pending().cloned(),
            output: report.output(),
            steps: report.steps,
        })
    }

    /// Takes step after step, until the user has the word.
    async fn turn(
        &self,
        caller: &Caller,
        work: &mut Work,
        (agent, body, mut event): (&Agent, &mut Body, Event),
        (report, thinking): (&mut Report<'_>, &mut Thinking),
    ) -> Result<(), AgentError> {
        let out_of_turn = |error: OutOfTurn, body: &Body| SessionError::OutOfTurn {
            state: match error {
                OutOfTurn::Over { .. } => SessionState::Ended,
                _ => body.state(),
            },
        };
        loop {
            let before = body.state();
            let Moved { notes, task } = match body.conversation.take(agent, event) {
                Ok(moved) => moved,
                Err(error) => return Err(out_of_turn(error, body).into()),
            };
            let mut events = report.take(notes);
            if matches!(task, Task::Listen | Task::Confirm | Task::End { .. }) {
                if events.is_empty() && before == body.state() {
                    return Ok(());
                }
                let state = state_json(body.state(), body.conversation.exit_code());
                events.push((EventKind::State, state.clone()));
                events.extend(body.state().is_end().then_some((EventKind::End, state)));
                return Ok(work.save(draft(body)?, &events).await?);
            }
            // An approval is stored before the call, so that it counts once.
            if !events.is_empty() || before == SessionState::WaitingConfirmation {
                work.save(draft(body)?, &events).await?;
                thinking.stored(state_json(body.state(), None));
            }
            let talk = Talk { agent, conversation: &body.conversation };
            event = self.perform(caller, work, talk, (task, report)).await?;
        }
    }

    /// Does what is to be done next.
    async fn perform(
        &self,
        caller: &Caller,
        work: &mut Work,
        talk: Talk<'_>,
        (task, report): (Task, &mut Report<'_>),
    ) -> Result<Event, AgentError> {
        let time = match &task {
            Task::CheckHealth { tool } | Task::Call { tool, .. } => self.tool_time(tool) + PREPARING_TIME,
            _ => talk.time() + PREPARING_TIME,
        };
        work.extend(time).await?;
        report.under_way(match &task {
            Task::Classify => Step::Cls,
            Task::Select => Step::Select,
            Task::CheckHealth { .. } | Task::Call { .. } | Task::Answer => Step::Exec,
            Task::Listen | Task::Confirm | Task::End { .. } => Step::Main,
        });
        // Boxed, because the future is large.
        let event = Box::pin(async {
            match task {
                Task::Classify => Event::Classified(self.classify(caller, talk, report).await),
                Task::Select => Event::Selected(self.select(caller, talk, report).await),
                Task::Answer => Event::Answered(self.answer(caller, talk, report).await),
                Task::CheckHealth { tool } => {
                    Event::Health(self.call(caller, &tool, &JsonMap::new(), report).await)
                }
                Task::Call { tool, arguments } => {
                    Event::Called(self.call(caller, &tool, &arguments, report).await)
                }
                Task::Listen | Task::Confirm | Task::End { .. } => Event::EndOfInput,
            }
        });
        Ok(work.unless_ended(event).await?)
    }
}

/// The next version of a session, unless it is too large.
fn draft(body: &Body) -> Result<Draft, AgentError> {
    let draft = body.draft()?;
    match draft.body.get().len() > KEPT_MAX {
        true => Err(AgentError::TooLarge { limit: KEPT_MAX }),
        false => Ok(draft),
    }
}

/// What those who watch are told of a state.
fn state_json(state: SessionState, exit_code: Option<u8>) -> String {
    match exit_code {
        Some(code) => json!({"state": state, "exit_code": code}).to_string(),
        None => json!({"state": state}).to_string(),
    }
}
