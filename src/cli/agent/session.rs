//! The session of an agent, over the HTTP API. What a step shows is printed as it comes; the answer to a message has all of it, so
//! that nothing is lost if the stream of events is.

use std::collections::VecDeque;
use std::time::Duration;

use agent::{Level, ToolCall};
use serde::Deserialize;
use serde_json::Value as Json;
use tokio::time::timeout;

use super::log::entries;
use super::show;
use crate::agents::LogLine;
use crate::cli::client::{Client, Pieces};
use crate::cli::documents::path;
use crate::cli::error::CliError;
use crate::cli::log_file::LogFile;
use crate::cli::session::session_path;
use crate::cli::terminal::{Spinner, interrupted};
use base::events::{EventDecoder, data, split};
use base::model::DocumentKind;

/// The longest event that is read, in bytes.
const EVENT_BYTES: usize = 64 << 20;

/// How long to wait for the last event of a turn, after its answer has come.
const LAST_EVENT: Duration = Duration::from_secs(2);

/// What a session waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A line of the user.
    #[default]
    Waiting,
    /// The user's approval.
    WaitingConfirmation,
    /// Nothing: it is over.
    Ended,
    /// Nothing that can be said here: somebody else has ended it, or works on it.
    #[serde(other)]
    Other,
}

/// What came of a message.
#[derive(Debug, Default, Deserialize)]
pub struct Turn {
    /// What the session waits for.
    pub state: State,
    /// The exit code, after the end.
    #[serde(default)]
    exit_code: u8,
    /// The call that waits for approval.
    #[serde(default)]
    pub pending: Option<ToolCall>,
    #[serde(default)]
    output: Vec<String>,
    #[serde(default)]
    steps: Vec<StepLog>,
}

/// What a step logged.
#[derive(Debug, Default, Deserialize)]
struct StepLog {
    #[serde(default)]
    log: Vec<LogLine>,
}

/// An event of a step: `outcome` when it has ended.
#[derive(Debug, Deserialize)]
struct StepEvent {
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    state: Option<String>,
    /// Only of a whole session, which comes in the place of events that are gone.
    #[serde(default)]
    session_id: Option<String>,
    /// How many of the texts were shown when the step began.
    #[serde(default)]
    intro: usize,
    #[serde(default)]
    output: Vec<String>,
    #[serde(default)]
    log: Vec<LogLine>,
}

#[derive(Debug, Deserialize)]
struct Started {
    session_id: String,
    output: Vec<String>,
    #[serde(default)]
    log: Vec<LogLine>,
}

/// A session under way.
pub struct Session<'c> {
    client: &'c Client,
    /// Its id.
    pub id: String,
    exit_code: u8,
    log: LogFile,
    events: Option<Events>,
    progress: Progress,
}

/// The stream of events.
struct Events {
    pieces: Pieces,
    decoder: EventDecoder,
    waiting: VecDeque<StepEvent>,
}

/// How much of a turn was shown and logged.
#[derive(Default)]
struct Progress {
    shown: usize,
    logged: usize,
    /// How much of that is of the step under way.
    of_step: (usize, usize),
    /// Whether the last event of the turn has come.
    is_over: bool,
    spinner: Option<Spinner>,
}

impl<'c> Session<'c> {
    /// Starts a session, and shows what the agent says at its beginning.
    ///
    /// # Errors
    /// The service's own, and that of the log file.
    pub async fn start(
        client: &'c Client,
        agent: &str,
        body: &Json,
        mut log: LogFile,
    ) -> Result<Session<'c>, CliError> {
        let reply = client.post(&format!("{}/sessions", path(DocumentKind::Agent, agent)), body).await?;
        let started: Started = client.read(reply)?;
        started.output.iter().for_each(|text| show::text(text, false, Level::Debug));
        log.add(|| entries(&started.log))?;
        Ok(Session {
            client,
            id: started.session_id,
            exit_code: 0,
            log,
            events: None,
            progress: Progress::default(),
        })
    }

    /// Sends a message, and shows what comes of it.
    ///
    /// # Errors
    /// The service's own, that of the log file, and [`CliError::Cancelled`].
    pub async fn send(&mut self, body: &Json) -> Result<Turn, CliError> {
        let (client, id) = (self.client, self.id.clone());
        if self.events.is_none() {
            self.events = Events::open(client, &id).await;
        }
        self.progress = Progress::default();
        let url = format!("{}/messages", session_path(&id));
        let mut reply = std::pin::pin!(client.post(&url, body));
        let reply = loop {
            tokio::select! {
                reply = &mut reply => break reply,
                event = next(&mut self.events) => self.tell(&event)?,
                () = interrupted() => return Err(CliError::Cancelled),
            }
        };
        self.progress.spinner = None;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                // What it still tells of this turn must not be taken for the next one.
                self.events = None;
                return Err(error);
            }
        };
        let turn: Turn = client.read(reply)?;
        self.catch_up().await?;
        let rest = turn.output.get(self.progress.shown..).unwrap_or_default();
        let log: Vec<LogLine> = turn.steps.iter().flat_map(|step| step.log.clone()).collect();
        let log = log.get(self.progress.logged..).unwrap_or_default();
        rest.iter().for_each(|text| show::text(text, false, worst(log)));
        self.log.add(|| entries(log))?;
        self.exit_code = turn.exit_code;
        Ok(turn)
    }

    /// What the session waits for now.
    ///
    /// # Errors
    /// The service's own.
    pub async fn now(&self) -> Result<Turn, CliError> {
        self.client.read(self.client.get(&session_path(&self.id)).await?)
    }

    /// The exit code of the agent, after the end.
    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Ends the session before its time, and shows and logs what is left of the turn.
    ///
    /// # Errors
    /// The service's own, and that of the log file.
    pub async fn cancel(&mut self) -> Result<(), CliError> {
        self.progress.spinner = None;
        self.client.delete(&session_path(&self.id)).await?;
        self.catch_up().await
    }

    /// Reads the events of this turn to their end, so that none of them is taken for one of the next turn.
    async fn catch_up(&mut self) -> Result<(), CliError> {
        while self.events.is_some() && !self.progress.is_over {
            match timeout(LAST_EVENT, next(&mut self.events)).await {
                Ok(event) => self.tell(&event)?,
                Err(_) => self.events = None,
            }
        }
        Ok(())
    }

    /// Shows and logs what is new in an event.
    fn tell(&mut self, event: &StepEvent) -> Result<(), CliError> {
        if event.session_id.is_some() {
            // The answer to the message has what is missing.
            self.events = None;
            return Ok(());
        }
        let progress = &mut self.progress;
        let is_under_way = event.outcome.is_none();
        let intro = if is_under_way { event.output.len() } else { event.intro };
        let (shown, logged) = progress.of_step;
        let output = event.output.get(shown..).unwrap_or_default();
        let log = event.log.get(logged..).unwrap_or_default();
        progress.spinner = None;
        for (at, text) in (shown..).zip(output) {
            show::text(text, at < intro, worst(log));
        }
        self.log.add(|| entries(log))?;
        progress.shown += output.len();
        progress.logged += log.len();
        progress.of_step = match is_under_way {
            true => (shown + output.len(), logged + log.len()),
            false => (0, 0),
        };
        match event.state.as_deref() {
            Some("thinking") => progress.spinner = Spinner::start(""),
            Some(_) => progress.is_over = true,
            None => {}
        }
        Ok(())
    }
}

impl Events {
    /// Opens the stream, up to its first event, which tells the state as it is. Without the stream everything is shown at the end of
    /// a turn.
    async fn open(client: &Client, id: &str) -> Option<Events> {
        let pieces = client.get_pieces(&format!("{}/stream", session_path(id))).await.ok()?;
        let mut events = Events { pieces, decoder: EventDecoder::new(EVENT_BYTES), waiting: VecDeque::new() };
        timeout(LAST_EVENT, events.next()).await.ok()??;
        Some(events)
    }

    /// The next event; none if the stream has ended.
    async fn next(&mut self) -> Option<StepEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let whole = self.decoder.push(self.pieces.chunk().await.ok()??).ok()?;
            let read = split(&whole).filter_map(data).filter_map(|data| serde_json::from_slice(&data).ok());
            self.waiting.extend(read);
        }
    }
}

/// The next event; never, without a stream.
async fn next(events: &mut Option<Events>) -> StepEvent {
    if let Some(stream) = events {
        match stream.next().await {
            Some(event) => return event,
            None => *events = None,
        }
    }
    std::future::pending().await
}

/// The level of the worst line.
fn worst(lines: &[LogLine]) -> Level {
    lines.iter().map(|line| line.level).max().unwrap_or(Level::Debug)
}
