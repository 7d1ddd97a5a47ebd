//! The tool calls of one render: requested by its templates, made between two waves, and then answered from a table.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};

use super::report::{CallReport, OutcomeKind, Warning, WaveReport};
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::memory::{Memory, Reservation};
use base::model::{Id, Tool};
use base::schema::Effort;
use template::value::Value;
use template::{ARGUMENT_BYTES, Arguments, CallResult, Functions};
use tools::{BoundArguments, Call, Description, Identity, ServerStart, ToolAnswer, ToolError, Tools};

/// The tools of a catalog as functions for the templates of one render.
pub struct Calls {
    snapshot: Arc<Snapshot>,
    tools: Arc<Tools>,
    limits: CallLimits,
    caller: Caller,
    table: Mutex<Table>,
}

/// The limits of the tool calls of a render.
#[derive(Debug, Clone)]
pub struct CallLimits {
    /// The ids of the tools that may be called; `None` if all may.
    pub allowed: Option<Vec<String>>,
    /// The largest number of calls.
    pub calls: usize,
    /// How many of them may run concurrently.
    pub parallel: usize,
    /// The memory budget, which includes the answers.
    pub memory: Arc<Memory>,
}

/// The largest number of identities in the table.
const IDENTITIES_MAX: usize = 10_000;

/// The largest size of all answers of one render in memory, in bytes.
const ANSWERS_BYTES: usize = 256 << 20;

/// All calls that were requested so far; a call's number is its index.
#[derive(Default)]
struct Table {
    calls: Vec<ToolRequest>,
    /// The numbers of the calls, by tool and arguments, both as they are written in the template and as the tool gets them.
    /// Equal calls have the same number, and are made once.
    numbers: HashMap<Identity, usize>,
    /// For each finished wave, the call without whose result it could not continue.
    waves: Vec<Option<usize>>,
    /// The size of all answers.
    answer_bytes: usize,
    /// The part of the memory budget that the answers take.
    held: Option<Reservation>,
    /// The tools without `parameters` that were called, by their ids, and what their servers say that they take.
    described: BTreeMap<Id, DescribedTool>,
    /// Whether no more calls are accepted in this wave, because with the results the run might not get to them.
    closed: bool,
    /// Whether the run is on a serving thread, where checking arguments may take little time only.
    inline: bool,
    /// Whether checking arguments would have taken too long for a serving thread.
    ran_out: bool,
}

/// A tool whose arguments only its server knows.
struct DescribedTool {
    tool: Arc<Tool>,
    /// The description, or why there is none; `None` until the server has answered.
    outcome: Option<Result<Description, ToolError>>,
}

/// Why a call is not made.
struct UnmadeError {
    error: String,
    /// The error as the log may show it.
    for_log: String,
}

impl From<ToolError> for UnmadeError {
    fn from(error: ToolError) -> UnmadeError {
        UnmadeError { error: error.to_string(), for_log: error.for_log() }
    }
}

/// What became of the arguments of a call.
enum Binding {
    /// They fit, or they do not.
    Done(Result<BoundArguments, UnmadeError>),
    /// The check takes too long for a serving thread.
    TooLong,
    /// The server has to say first what the tool takes.
    Undescribed,
}

/// A call that was requested.
struct ToolRequest {
    tool: Arc<Tool>,
    /// The index of the wave that requested it.
    wave: usize,
    /// The arguments as the tool gets them; if they do not fit, those in the template.
    bound: Result<BoundArguments, Vec<Value>>,
    /// Why the call is not made, as the log may show it.
    unmade: Option<String>,
    /// `None` until the call has been made.
    outcome: Option<CallOutcome>,
}

/// A call that is to be made after the current wave.
struct PendingCall {
    number: usize,
    tool: Arc<Tool>,
    bound: BoundArguments,
}

/// The outcome of a call.
struct CallOutcome {
    /// The value that replaces the call in the template; `None` for a gap.
    value: Option<Value>,
    kind: OutcomeKind,
    /// The error, if the call failed.
    error: Option<String>,
    duration: Duration,
}

impl CallOutcome {
    fn failed(tool: &Tool, error: String, duration: Duration) -> CallOutcome {
        let value = tool.default.clone().map(Value::from);
        let kind = if value.is_some() { OutcomeKind::Default } else { OutcomeKind::Empty };
        CallOutcome { value, kind, error: Some(error), duration }
    }
}

impl Calls {
    /// The tools of `snapshot`, which are called through `tools` on behalf of `caller`.
    pub fn new(snapshot: Arc<Snapshot>, tools: Arc<Tools>, limits: CallLimits, caller: Caller) -> Calls {
        Calls { snapshot, tools, limits, caller, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run of the templates, on a serving thread (`inline`) or in the pool. A run that was aborted is restarted, and
    /// requests its calls again.
    pub fn open(&self, inline: bool) {
        let mut table = self.table();
        table.closed = false;
        table.inline = inline;
        table.ran_out = false;
    }

    /// Whether checking the arguments of a call would have taken too long for a serving thread.
    pub fn ran_out(&self) -> bool {
        self.table().ran_out
    }

    /// Accepts no more calls in this run.
    pub fn close(&self) {
        self.table().closed = true;
    }

    /// Makes all calls that were requested and have not been made yet, after a wave that `needed` the result of one of them, and
    /// asks servers what their tools take. Returns how many answers there are.
    pub async fn make(&self, needed: Option<usize>) -> usize {
        let (described, made) = tokio::join!(self.describe(), self.make_calls(needed));
        described + made
    }

    /// Asks the servers of tools without `parameters` what they take, so that the next wave can bind their arguments.
    async fn describe(&self) -> usize {
        let asked: Vec<Arc<Tool>> = {
            let table = self.table();
            let asked = table.described.values().filter(|described| described.outcome.is_none());
            asked.map(|described| described.tool.clone()).collect()
        };
        let asking = asked.iter().map(|tool| async move {
            let module = self.snapshot.module_environ(&tool.module);
            let outcome = self.tools.describe(&self.caller, tool, module).await;
            if let Some(described) = self.table().described.get_mut(&tool.id) {
                described.outcome = Some(outcome);
            }
        });
        stream::iter(asking).buffer_unordered(self.limits.parallel).for_each(|()| async {}).await;
        asked.len()
    }

    async fn make_calls(&self, needed: Option<usize>) -> usize {
        let pending: Vec<PendingCall> = {
            let mut table = self.table();
            let calls = table.calls.iter().enumerate().filter(|(_, request)| request.outcome.is_none());
            let pending = |(number, request): (usize, &ToolRequest)| {
                let (tool, bound) = (request.tool.clone(), request.bound.clone().ok()?);
                Some(PendingCall { number, tool, bound })
            };
            let pending: Vec<PendingCall> = calls.filter_map(pending).collect();
            // A wave that only asked what tools take is not one of the report.
            if !pending.is_empty() {
                // The run may have needed a call that is not requested before the next wave.
                let needed = needed.filter(|number| *number < table.calls.len());
                table.waves.push(needed);
            }
            pending
        };
        let calls = pending.iter().map(|PendingCall { number, tool, bound }| async move {
            let outcome = self.call_one(tool, bound).await;
            if let Some(request) = self.table().calls.get_mut(*number) {
                request.outcome = Some(outcome);
            }
        });
        stream::iter(calls).buffer_unordered(self.limits.parallel).for_each(|()| async {}).await;
        pending.len()
    }

    /// The starts of MCP servers that requested calls wait for.
    pub fn starts(&self) -> Vec<ServerStart> {
        let table = self.table();
        let waiting = table.calls.iter().filter(|request| request.outcome.is_none() && request.bound.is_ok());
        waiting.filter_map(|request| self.tools.start_under_way(&request.tool)).collect()
    }

    async fn call_one(&self, tool: &Arc<Tool>, bound: &BoundArguments) -> CallOutcome {
        let began = Instant::now();
        let module = self.snapshot.module_environ(&tool.module);
        let result = self.tools.call(&self.caller, Call { tool, bound, module }).await;
        let duration = began.elapsed();
        match result.and_then(|answer| self.reserve(answer)) {
            Ok(answer) => {
                let kind = if answer.cached { OutcomeKind::Cached } else { OutcomeKind::Value };
                CallOutcome { value: Some(answer.value), kind, error: None, duration }
            }
            Err(error) => {
                self.log(tool, &error.for_log(), duration);
                CallOutcome::failed(tool, error.to_string(), duration)
            }
        }
    }

    /// Reserves memory for an answer, and returns the answer if there is room.
    fn reserve(&self, answer: ToolAnswer) -> Result<ToolAnswer, ToolError> {
        let mut table = self.table();
        table.answer_bytes = table.answer_bytes.saturating_add(answer.value.bytes_up_to(ANSWERS_BYTES));
        if table.answer_bytes > ANSWERS_BYTES {
            let limit = ANSWERS_BYTES >> 20;
            let message = format!("the answers of this render take more than {limit} MiB");
            return Err(ToolError::Answer { message });
        }
        let bytes = table.answer_bytes;
        let held = table.held.get_or_insert_with(|| self.limits.memory.reservation());
        held.resize(bytes).map_err(|error| ToolError::Answer { message: error.to_string() })?;
        Ok(answer)
    }

    /// Logs the calls that failed before they were made.
    pub fn log_unmade(&self) {
        for request in &self.table().calls {
            if let Some(error) = &request.unmade {
                self.log(&request.tool, error, Duration::ZERO);
            }
        }
    }

    fn log(&self, tool: &Tool, error: &str, duration: Duration) {
        let (id, request_id, duration_ms) =
            (tool.id.as_str(), self.caller.request_id(), duration.as_millis() as u64);
        tracing::warn!(tool = id, error, duration_ms, request_id, "a tool call failed");
    }

    /// The ids of the tools that have not answered.
    pub fn unanswered(&self) -> Vec<String> {
        let table = self.table();
        let calls = table.calls.iter().filter(|request| request.outcome.is_none());
        let undescribed = table.described.iter().filter(|(_, described)| described.outcome.is_none());
        let mut ids: Vec<String> = calls.map(|request| request.tool.id.to_string()).collect();
        ids.extend(undescribed.map(|(id, _)| id.to_string()));
        ids.sort();
        ids.dedup();
        ids
    }

    /// The warnings about calls that failed, in the order of the requests.
    pub fn warnings(&self) -> Vec<Warning> {
        let table = self.table();
        let failed = table.calls.iter().filter_map(|request| {
            let error = request.outcome.as_ref()?.error.clone()?;
            Some(Warning { tool: request.tool.id.to_string(), error })
        });
        failed.collect()
    }

    /// The calls that were made, wave by wave.
    pub fn report(&self) -> Vec<WaveReport> {
        let table = self.table();
        let tool_of = |number: usize| Some(table.calls.get(number)?.tool.id.to_string());
        let mut waves: Vec<WaveReport> = Vec::new();
        for request in &table.calls {
            let Some(outcome) = &request.outcome else { continue };
            let waited_for =
                request.wave.checked_sub(1).and_then(|before| (*table.waves.get(before)?).and_then(tool_of));
            waves.resize_with(waves.len().max(request.wave + 1), WaveReport::default);
            if let Some(wave) = waves.get_mut(request.wave) {
                wave.calls.push(CallReport {
                    tool: request.tool.id.to_string(),
                    arguments: match &request.bound {
                        Ok(bound) => bound.arguments.clone(),
                        Err(written) => Value::from(written.clone()),
                    },
                    outcome: outcome.kind,
                    error: outcome.error.clone(),
                    duration_us: outcome.duration.as_micros() as u64,
                    waited_for,
                });
            }
        }
        waves
    }

    /// The arguments as the tool gets them.
    fn bind(&self, tool: &Arc<Tool>, arguments: &Arguments) -> Binding {
        let allowed = self.limits.allowed.as_ref();
        if allowed.is_some_and(|allowed| !allowed.iter().any(|id| id == tool.id.as_str())) {
            let error = "the prompt's `limits.tools` does not allow this tool".to_owned();
            return Binding::Done(Err(UnmadeError { for_log: error.clone(), error }));
        }
        let (inline, described) = {
            let table = self.table();
            let described = table.described.get(&tool.id).and_then(|described| described.outcome.clone());
            (table.inline, described.transpose())
        };
        let effort = if inline { Effort::SERVING } else { Effort::MEDIUM };
        let bound =
            described.and_then(|description| self.tools.bind(tool, description.as_ref(), arguments, effort));
        match bound {
            Err(ToolError::Effort { .. }) if inline => Binding::TooLong,
            Ok(None) => Binding::Undescribed,
            Ok(Some(bound)) => Binding::Done(Ok(bound)),
            Err(error) => Binding::Done(Err(error.into())),
        }
    }

    /// Requests a call that the table does not have in this notation.
    fn request(&self, tool: &Arc<Tool>, arguments: Arguments, written: Identity) -> CallResult {
        let bound = match self.bind(tool, &arguments) {
            Binding::Done(bound) => bound,
            Binding::TooLong => {
                self.table().ran_out = true;
                return CallResult::Denied("its arguments take too long to check".to_owned());
            }
            Binding::Undescribed => return self.table().ask_about(tool),
        };
        let identity = match &bound {
            Ok(bound) => bound.identity,
            Err(unmade) => Identity::of(&(tool.id.as_str(), &unmade.error)),
        };
        let mut table = self.table();
        if let Some(&number) = table.numbers.get(&identity) {
            table.add_identity(written, number);
            return table.result(number);
        }
        let number = table.calls.len();
        if table.closed {
            return CallResult::Pending(number);
        }
        if number >= self.limits.calls {
            return CallResult::Denied(format!(
                "the render makes more than {} tool calls",
                self.limits.calls
            ));
        }
        let failed = |unmade: &UnmadeError| CallOutcome::failed(tool, unmade.error.clone(), Duration::ZERO);
        let outcome = bound.as_ref().err().map(failed);
        let (bound, unmade) = match bound {
            Ok(bound) => (Ok(bound), None),
            Err(unmade) => (Err(arguments.positional), Some(unmade.for_log)),
        };
        let wave = table.waves.len();
        table.calls.push(ToolRequest { tool: tool.clone(), wave, bound, unmade, outcome });
        table.numbers.insert(identity, number);
        table.add_identity(written, number);
        table.result(number)
    }
}

impl Table {
    /// Notes that a server has to say what a tool takes; the next wave requests the call.
    fn ask_about(&mut self, tool: &Arc<Tool>) -> CallResult {
        if !self.closed {
            let asked = || DescribedTool { tool: tool.clone(), outcome: None };
            self.described.entry(tool.id.clone()).or_insert_with(asked);
        }
        CallResult::Pending(self.calls.len())
    }

    /// Adds the identity of a call as it is written in the template, so that the next wave need not check its arguments again.
    fn add_identity(&mut self, written: Identity, number: usize) {
        if self.numbers.len() < IDENTITIES_MAX {
            self.numbers.insert(written, number);
        }
    }

    fn result(&self, number: usize) -> CallResult {
        match self.calls.get(number).and_then(|request| request.outcome.as_ref()) {
            Some(CallOutcome { value: Some(value), .. }) => CallResult::Value(value.clone()),
            Some(CallOutcome { value: None, .. }) => CallResult::Gap,
            None => CallResult::Pending(number),
        }
    }
}

impl Functions for Calls {
    fn contains(&self, name: &str) -> bool {
        self.snapshot.documents.functions.contains_key(name)
    }

    fn call(&self, name: &str, arguments: Arguments) -> CallResult {
        let Some(tool) = self.snapshot.documents.functions.get(name) else {
            return CallResult::Denied(format!("there is no function `{name}`"));
        };
        if arguments.bytes_up_to(ARGUMENT_BYTES) >= ARGUMENT_BYTES {
            let limit = ARGUMENT_BYTES >> 20;
            return CallResult::Denied(format!(
                "the arguments of a call of `{name}` take more than {limit} MiB"
            ));
        }
        let written = Identity::of(&(name, &arguments.positional, &arguments.named));
        let number = self.table().numbers.get(&written).copied();
        match number {
            Some(number) => self.table().result(number),
            None => self.request(tool, arguments, written),
        }
    }
}
