//! The calls of tools in one render: asked for by its templates, made between two waves, and known from then on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};

use super::report::{CallReport, Outcome, Warning, WaveReport};
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::memory::{Memory, Reservation};
use base::model::Tool;
use base::schema::Effort;
use template::value::Value;
use template::{ARGUMENT_BYTES, Arguments, CallResult, Functions};
use tools::{BoundArguments, Call, Identity, ToolAnswer, ToolError, Tools};

/// The tools of a catalog as functions of one render's templates.
pub struct Calls {
    snapshot: Arc<Snapshot>,
    tools: Arc<Tools>,
    limits: CallLimits,
    caller: Caller,
    table: Mutex<Table>,
}

/// What a render may call.
#[derive(Debug, Clone)]
pub struct CallLimits {
    /// The ids of the only tools that it may call, if not all.
    pub allowed: Option<Vec<String>>,
    /// How many calls it may make.
    pub calls: usize,
    /// How many of them may run at once.
    pub parallel: usize,
    /// The budget that answers are part of.
    pub memory: Arc<Memory>,
}

/// Different ways to write calls that are remembered.
const WORDINGS_MAX: usize = 10_000;

/// What all answers of one render may take in memory, in bytes.
const ANSWERS_BYTES: usize = 256 << 20;

/// Every call that was asked for so far, by its number.
#[derive(Default)]
struct Table {
    calls: Vec<Asked>,
    /// The numbers of calls, by tool and arguments, as they were written and as the tool gets them: equal calls are one.
    numbers: HashMap<Identity, usize>,
    /// For each wave that is over, the call whose result it could not do without.
    waves: Vec<Option<usize>>,
    /// What the answers take.
    answer_bytes: usize,
    /// Their part of the budget of memory.
    held: Option<Reservation>,
    /// Whether the wave asks for nothing more: it might not come that far with the results.
    closed: bool,
    /// Whether the run is on a serving thread, and so has less time.
    inline: bool,
    /// Whether arguments could not be checked in that time.
    ran_out: bool,
}

struct Asked {
    tool: Arc<Tool>,
    wave: usize,
    /// The arguments, as far as they are such.
    bound: Result<BoundArguments, Vec<Value>>,
    result: Option<Known>,
}

/// What came of a call.
struct Known {
    /// The value that stands for the call; nothing for a gap.
    value: Option<Value>,
    outcome: Outcome,
    /// Why it failed, if it did.
    reason: Option<String>,
    duration: Duration,
}

impl Known {
    fn failed(tool: &Tool, reason: String, duration: Duration) -> Known {
        let value = tool.default.clone().map(Value::from);
        let outcome = if value.is_some() { Outcome::Default } else { Outcome::Empty };
        Known { value, outcome, reason: Some(reason), duration }
    }
}

impl Calls {
    /// The tools of `snapshot`, reached through `tools` for `caller`.
    pub fn new(snapshot: Arc<Snapshot>, tools: Arc<Tools>, limits: CallLimits, caller: Caller) -> Calls {
        Calls { snapshot, tools, limits, caller, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run of the templates, on a serving thread (`inline`) or in the pool. What a run that was given up has asked
    /// for, the next one asks for again.
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

    /// Lets the rest of the run ask for nothing more.
    pub fn close(&self) {
        self.table().closed = true;
    }

    /// Makes all calls that were asked for and are not made yet, for a wave that `needed` the result of one of them.
    /// Returns how many there were.
    pub async fn make(&self, needed: Option<usize>) -> usize {
        let waiting: Vec<(usize, Arc<Tool>, BoundArguments)> = {
            let mut table = self.table();
            table.waves.push(needed);
            let calls = table.calls.iter().enumerate().filter(|(_, asked)| asked.result.is_none());
            calls
                .filter_map(|(at, asked)| Some((at, asked.tool.clone(), asked.bound.clone().ok()?)))
                .collect()
        };
        let calls = waiting.iter().map(|(number, tool, bound)| async move {
            let known = self.call_one(tool, bound).await;
            if let Some(asked) = self.table().calls.get_mut(*number) {
                asked.result = Some(known);
            }
        });
        stream::iter(calls).buffer_unordered(self.limits.parallel).for_each(|()| async {}).await;
        waiting.len()
    }

    async fn call_one(&self, tool: &Arc<Tool>, bound: &BoundArguments) -> Known {
        let began = Instant::now();
        let module = self.snapshot.module_environ(&tool.module);
        let result = self.tools.call(&self.caller, Call { tool, bound, module }).await;
        let duration = began.elapsed();
        match result.and_then(|answer| self.kept(answer)) {
            Ok(answer) => {
                let outcome = if answer.cached { Outcome::Cached } else { Outcome::Value };
                Known { value: Some(answer.value), outcome, reason: None, duration }
            }
            Err(error) => {
                self.log(tool, &error.for_log(), duration);
                Known::failed(tool, error.to_string(), duration)
            }
        }
    }

    /// The answer, if there is room for it beside the others.
    fn kept(&self, answer: ToolAnswer) -> Result<ToolAnswer, ToolError> {
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

    /// Tells the log of the calls that failed before they were made.
    pub fn log_unmade(&self) {
        for asked in self.table().calls.iter().filter(|asked| asked.bound.is_err()) {
            let reason = asked.result.as_ref().and_then(|known| known.reason.as_deref());
            self.log(&asked.tool, reason.unwrap_or_default(), Duration::ZERO);
        }
    }

    fn log(&self, tool: &Tool, reason: &str, duration: Duration) {
        let (id, request_id, duration_ms) =
            (tool.id.as_str(), self.caller.request_id(), duration.as_millis() as u64);
        tracing::warn!(tool = id, reason, duration_ms, request_id, "a tool call failed");
    }

    /// The ids of the tools that have not answered.
    pub fn unanswered(&self) -> Vec<String> {
        let table = self.table();
        let calls = table.calls.iter().filter(|asked| asked.result.is_none());
        let mut ids: Vec<String> = calls.map(|asked| asked.tool.id.to_string()).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// The calls that failed, in the order in which they were asked for.
    pub fn warnings(&self) -> Vec<Warning> {
        let table = self.table();
        let failed = table.calls.iter().filter_map(|asked| {
            let reason = asked.result.as_ref()?.reason.clone()?;
            Some(Warning { tool: asked.tool.id.to_string(), reason })
        });
        failed.collect()
    }

    /// The calls, wave by wave.
    pub fn report(&self) -> Vec<WaveReport> {
        let table = self.table();
        let tool_of = |number: usize| Some(table.calls.get(number)?.tool.id.to_string());
        let mut waves: Vec<WaveReport> = Vec::new();
        for asked in &table.calls {
            let Some(known) = &asked.result else { continue };
            let waited_for =
                asked.wave.checked_sub(1).and_then(|before| (*table.waves.get(before)?).and_then(tool_of));
            waves.resize_with(waves.len().max(asked.wave + 1), WaveReport::default);
            if let Some(wave) = waves.get_mut(asked.wave) {
                wave.calls.push(CallReport {
                    tool: asked.tool.id.to_string(),
                    arguments: match &asked.bound {
                        Ok(bound) => bound.arguments.clone(),
                        Err(written) => Value::from(written.clone()),
                    },
                    outcome: known.outcome,
                    reason: known.reason.clone(),
                    duration_us: known.duration.as_micros() as u64,
                    waited_for,
                });
            }
        }
        waves
    }

    /// The arguments as the tool takes them, or why it cannot; nothing if telling takes too long for a serving thread.
    fn bind(&self, tool: &Arc<Tool>, arguments: &Arguments) -> Option<Result<BoundArguments, String>> {
        let allowed = self.limits.allowed.as_ref();
        if allowed.is_some_and(|allowed| !allowed.iter().any(|id| id == tool.id.as_str())) {
            return Some(Err("the prompt's `limits.tools` does not allow this tool".to_owned()));
        }
        let inline = self.table().inline;
        let effort = if inline { Effort::SERVING } else { Effort::MEDIUM };
        match self.tools.bind(tool, arguments, effort) {
            Err(ToolError::Effort { .. }) if inline => None,
            bound => Some(bound.map_err(|error| error.to_string())),
        }
    }

    /// Asks for a call that was not asked for in these words.
    fn ask(&self, tool: &Arc<Tool>, arguments: Arguments, written: Identity) -> CallResult {
        let Some(bound) = self.bind(tool, &arguments) else {
            self.table().ran_out = true;
            return CallResult::Denied("its arguments take too long to check".to_owned());
        };
        let identity = match &bound {
            Ok(bound) => bound.identity,
            Err(reason) => Identity::of(&(tool.id.as_str(), reason)),
        };
        let mut table = self.table();
        if let Some(&number) = table.numbers.get(&identity) {
            table.remember(written, number);
            return table.called(number);
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
        let failed = |reason: &String| Known::failed(tool, reason.clone(), Duration::ZERO);
        let result = bound.as_ref().err().map(failed);
        let bound = bound.map_err(|_| arguments.positional);
        let wave = table.waves.len();
        table.calls.push(Asked { tool: tool.clone(), wave, bound, result });
        table.numbers.insert(identity, number);
        table.remember(written, number);
        table.called(number)
    }
}

impl Table {
    /// Notes under which words a call was asked for, so that the next wave need not look at its arguments again.
    fn remember(&mut self, written: Identity, number: usize) {
        if self.numbers.len() < WORDINGS_MAX {
            self.numbers.insert(written, number);
        }
    }

    fn called(&self, number: usize) -> CallResult {
        match self.calls.get(number).and_then(|asked| asked.result.as_ref()) {
            Some(Known { value: Some(value), .. }) => CallResult::Value(value.clone()),
            Some(Known { value: None, .. }) => CallResult::Gap,
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
        let known = self.table().numbers.get(&written).copied();
        match known {
            Some(number) => self.table().called(number),
            None => self.ask(tool, arguments, written),
        }
    }
}
