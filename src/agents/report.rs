//! What happened in a turn: the steps with their texts and times, and the lines of the agent's log.

use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::body::LogDetail;
use crate::sessions::{EventKind, SessionState, Teller, Work};
use agent::{Agent, Level, Note, Said, Step};

/// A line of an agent's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// When it was written, in milliseconds since 1970.
    pub time: u64,
    /// How important it is.
    pub level: Level,
    /// The prefix of the step, without brackets.
    pub prefix: String,
    /// The text; it may have several lines.
    pub text: String,
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// The step.
    pub step: Step,
    /// How it ended, by the name in the document.
    pub outcome: &'static str,
    /// What was shown.
    pub output: Vec<String>,
    /// How much of that was shown when the step began.
    pub intro: usize,
    /// What was logged, if the session tells it.
    pub log: Vec<LogLine>,
    /// How long it took.
    pub duration: Duration,
}

impl StepReport {
    /// As clients get it.
    pub fn to_json(&self) -> Json {
        let mut json = json!({
            "step": self.step,
            "outcome": self.outcome,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        });
        if let (false, Some(members)) = (self.log.is_empty(), json.as_object_mut()) {
            members.insert("log".to_owned(), json!(self.log));
        }
        json
    }

    /// As those get it who watch.
    fn event(&self) -> (EventKind, String) {
        let mut json = self.to_json();
        if let Some(members) = json.as_object_mut() {
            members.insert("output".to_owned(), json!(self.output));
            members.insert("intro".to_owned(), json!(self.intro));
        }
        (EventKind::Step, json.to_string())
    }
}

/// The report of a turn under way.
pub struct Report<'a> {
    agent: &'a Agent,
    session: String,
    log: LogDetail,
    log_content: bool,
    teller: Teller,
    begun: Begun,
    /// The steps that have ended.
    pub steps: Vec<StepReport>,
}

/// The step under way.
struct Begun {
    step: Step,
    since: Instant,
    output: Vec<String>,
    intro: usize,
    log: Vec<LogLine>,
    /// Whether those who watch know all of it.
    is_told: bool,
}

impl Begun {
    fn new(step: Step) -> Begun {
        Begun { step, since: Instant::now(), output: Vec::new(), intro: 0, log: Vec::new(), is_told: false }
    }
}

impl<'a> Report<'a> {
    /// The report of a turn in a session that is worked on.
    pub fn new(agent: &'a Agent, work: &Work, log: LogDetail, log_content: bool) -> Report<'a> {
        let (session, teller) = (work.id().to_owned(), work.teller());
        Report { agent, session, log, log_content, teller, begun: Begun::new(Step::Main), steps: Vec::new() }
    }

    /// Takes what was said. Gives the events of the steps that have ended.
    pub fn take(&mut self, notes: Vec<Note>) -> Vec<(EventKind, String)> {
        let ended = self.steps.len();
        notes.into_iter().for_each(|note| self.note(note));
        self.steps.iter().skip(ended).map(StepReport::event).collect()
    }

    /// Tells those who watch what is new of the step under way.
    pub fn under_way(&mut self, step: Step) {
        if step != self.begun.step {
            self.begun = Begun::new(step);
        }
        if std::mem::replace(&mut self.begun.is_told, true) {
            return;
        }
        let Begun { step, output, log, .. } = &self.begun;
        let mut json = json!({"state": SessionState::Thinking, "at": step, "output": output});
        if let (false, Some(members)) = (log.is_empty(), json.as_object_mut()) {
            members.insert("log".to_owned(), json!(log));
        }
        self.teller.tell(EventKind::State, json.to_string());
    }

    /// All texts that were shown.
    pub fn output(&self) -> Vec<String> {
        let ended = self.steps.iter().flat_map(|step| &step.output);
        ended.chain(&self.begun.output).cloned().collect()
    }

    /// Whether it logs what models and tools are sent, and answer.
    pub fn is_verbose(&self) -> bool {
        self.log == LogDetail::Verbose
    }

    /// Logs what a model or a tool is sent, or answers, if that is wanted.
    pub fn verbose(&mut self, text: impl FnOnce() -> String) {
        if self.is_verbose() {
            let line = self.line(Level::Debug, text());
            self.begun.log.push(line);
            // Whoever waits in vain for the end of the step has seen it.
            self.begun.is_told = false;
            self.under_way(self.begun.step);
        }
    }

    fn note(&mut self, note: Note) {
        let Note { step, outcome, said } = note;
        if step != self.begun.step || outcome.is_none() {
            self.begun = Begun::new(step);
        }
        for said in said {
            match said {
                Said::Shown(text) => self.begun.output.push(text),
                Said::Logged(level, text) => {
                    self.trace(level, outcome, &text);
                    let line = self.line(level, text);
                    if self.log != LogDetail::Off {
                        self.begun.log.push(line);
                    }
                }
            }
        }
        let Some(outcome) = outcome else {
            self.begun.intro = self.begun.output.len();
            return;
        };
        let Begun { step, since, output, intro, log, .. } =
            std::mem::replace(&mut self.begun, Begun::new(step));
        self.steps.push(StepReport { step, outcome, output, intro, log, duration: since.elapsed() });
    }

    fn line(&self, level: Level, text: String) -> LogLine {
        LogLine { time: now(), level, prefix: self.agent.prefix(self.begun.step).to_owned(), text }
    }

    /// The same line in the service's log; its text only if the settings allow contents there.
    fn trace(&self, level: Level, outcome: Option<&str>, text: &str) {
        let (agent, session, step) = (self.agent.id.as_str(), &self.session, self.begun.step.name());
        let text = Some(text).filter(|_| self.log_content);
        match level {
            Level::Debug => tracing::debug!(agent, session, step, outcome, text, "a step of an agent"),
            Level::Warning => tracing::warn!(agent, session, step, outcome, text, "a step of an agent"),
            Level::Error => tracing::error!(agent, session, step, outcome, text, "a step of an agent"),
            Level::Critical => {
                tracing::error!(
                    agent,
                    session,
                    step,
                    outcome,
                    text,
                    severity = "critical",
                    "a step of an agent"
                );
            }
        }
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
