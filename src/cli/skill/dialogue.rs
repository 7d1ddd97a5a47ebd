//! The session of a skill, over the HTTP API.

use ::dialogue::{Answer, Directive, Event, UnknownFormat, read};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::cli::client::Client;
use crate::cli::error::CliError;
use crate::cli::session::session_path;
use crate::cli::terminal::waiting;

/// What the service answers at the start, and to an event.
#[derive(Debug, Deserialize)]
pub struct Turn {
    /// The session's id, at its start.
    #[serde(default)]
    pub session_id: String,
    /// How many messages the model was sent.
    pub step: u64,
    /// How many it may be sent, at the start.
    #[serde(default)]
    pub max_steps: u64,
    /// What the model wants: messages, and last what waits.
    #[serde(default)]
    pub directives: Vec<Directive>,
    /// Why it stopped between messages.
    pub error: Option<TurnError>,
}

/// A failure after which the session can be continued.
#[derive(Debug, Deserialize)]
pub struct TurnError {
    /// What happened.
    pub message: String,
}

/// A session as the service shows it.
#[derive(Debug, Deserialize)]
struct Now {
    step: u64,
    pending: Option<Directive>,
    messages: Vec<Said>,
}

/// A message of a session.
#[derive(Debug, Deserialize)]
struct Said {
    content: String,
}

/// A session under way.
pub struct Session<'c> {
    client: &'c Client,
    /// Its id.
    pub id: String,
}

impl<'c> Session<'c> {
    /// Starts a session, and waits for what the model wants first.
    ///
    /// # Errors
    /// The service's own, and [`CliError::Cancelled`].
    pub async fn start(client: &'c Client, path: &str, body: &Json) -> Result<(Session<'c>, Turn), CliError> {
        let turn: Turn = client.read(waiting("the model thinks", client.post(path, body)).await?)?;
        Ok((Session { client, id: turn.session_id.clone() }, turn))
    }

    /// Tells the service what happened, and waits for what the model wants next.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub async fn send(&self, event: &Event) -> Result<Turn, CliError> {
        let path = format!("{}/events", session_path(&self.id));
        let body = serde_json::to_value(event).unwrap_or_default();
        self.client.read(waiting("the model thinks", self.client.post(&path, &body)).await?)
    }

    /// What the model wants now, if it has answered since a step.
    ///
    /// # Errors
    /// The service's own.
    pub async fn after(&self, step: u64) -> Result<Option<Turn>, CliError> {
        let now: Now = self.client.read(self.client.get(&session_path(&self.id)).await?)?;
        let last = now.messages.last().map_or("", |message| message.content.as_str());
        let said = || read(Answer { text: last, is_cut: false }, UnknownFormat::Error).ok();
        let directives = now.pending.or_else(said).into_iter().collect();
        let turn = Turn { session_id: String::new(), step: now.step, max_steps: 0, directives, error: None };
        Ok((now.step > step).then_some(turn))
    }

    /// Ends the session before its time.
    ///
    /// # Errors
    /// The service's own.
    pub async fn cancel(&self) -> Result<(), CliError> {
        self.client.delete(&session_path(&self.id)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::dialogue::CommandResult;
    use serde_json::json;

    #[test]
    fn events_are_written_as_the_service_reads_them() {
        let written = |event: &Event| serde_json::to_value(event).unwrap();
        assert_eq!(written(&Event::Continue), json!({"type": "continue"}));
        assert_eq!(
            written(&Event::UserMessage { text: "a".into() }),
            json!({"type": "user_message", "text": "a"})
        );
        let skipped = CommandResult { skipped: true, ..CommandResult::default() };
        assert_eq!(
            written(&Event::CommandResult(skipped)),
            json!({"type": "command_result", "skipped": true})
        );
        let ran = CommandResult {
            stdout: "o".into(),
            exit_code: Some(1),
            command: Some("ls".into()),
            ..CommandResult::default()
        };
        let expected = json!({"type": "command_result", "stdout": "o", "exit_code": 1, "command": "ls"});
        assert_eq!(written(&Event::CommandResult(ran)), expected);
    }

    #[test]
    fn turns_are_read_with_what_waits_or_why_nothing_does() {
        let reply = json!({"session_id": "s", "skill": "x", "state": "waiting_cmd", "step": 1, "max_steps": 100,
            "directives": [{"type": "MESSAGE", "content": "[MESSAGE] a", "message": "a"}, {"type": "CMD", "content": "[CMD] ls", "command": "ls"}]});
        let client = Client::new("http://localhost");
        let read: Turn = client.read(reply).unwrap();
        assert_eq!((read.session_id.as_str(), read.max_steps, read.directives.len()), ("s", 100, 2));
        let reply = json!({"state": "idle", "step": 2, "directives": [], "error": {"code": "llm_unavailable", "message": "no"}});
        assert_eq!(client.read::<Turn>(reply).unwrap().error.unwrap().message, "no");
        assert!(client.read::<Turn>(json!({"step": 1, "directives": [{"type": "NEW"}]})).is_err());
    }
}
