//! The calls of tools in one render: asked for by its templates, made between two waves, and known from then on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};

use super::report::{CallReport, Outcome, Warning, WaveReport};
use super::trial::module;
use crate::catalog::Snapshot;
use crate::model::Tool;
use crate::telemetry::Trace;
use crate::template::{Arguments, Called, Functions};
use crate::tools::{Bound, Call, ToolError, Tools};
use crate::value::Value;

/// The tools of a catalog as functions of one render's templates.
pub struct Calls {
    snapshot: Arc<Snapshot>,
    tools: Arc<Tools>,
    limits: CallLimits,
    trace: Trace,
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
}

/// Every call that was asked for so far, by its number.
#[derive(Default)]
struct Table {
    calls: Vec<Asked>,
    /// The numbers of calls, by tool and arguments: equal calls are one.
    numbers: HashMap<String, usize>,
    /// For each wave that is over, the call whose result it could not do without.
    waves: Vec<Option<usize>>,
    /// Whether the wave asks for nothing more: it might not come that far with the results.
    closed: bool,
}

struct Asked {
    tool: Arc<Tool>,
    wave: usize,
    /// The arguments, as far as they are such.
    bound: Result<Bound, Vec<Value>>,
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
    /// The tools of `snapshot`, reached through `tools` for whoever `trace` names.
    pub fn new(snapshot: Arc<Snapshot>, tools: Arc<Tools>, limits: CallLimits, trace: Trace) -> Calls {
        Calls { snapshot, tools, limits, trace, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run of the templates. What a run that was given up has asked for, the next one asks for again.
    pub fn open(&self) {
        self.table().closed = false;
    }

    /// Lets the rest of the run ask for nothing more.
    pub fn close(&self) {
        self.table().closed = true;
    }

    /// Makes all calls that were asked for and are not made yet, for a wave that `needed` the result of one of them.
    /// Returns how many there were.
    pub async fn make(&self, needed: Option<usize>) -> usize {
        let waiting: Vec<(usize, Arc<Tool>, Bound)> = {
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

    async fn call_one(&self, tool: &Arc<Tool>, bound: &Bound) -> Known {
        let began = Instant::now();
        let trace = &self.trace;
        let result = self.tools.call(Call { tool, bound, module: module(&self.snapshot, tool), trace }).await;
        let duration = began.elapsed();
        match result {
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

    fn log(&self, tool: &Tool, reason: &str, duration: Duration) {
        let (id, request_id, duration_ms) =
            (tool.id.as_str(), self.trace.request_id(), duration.as_millis() as u64);
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

    fn bind(&self, tool: &Arc<Tool>, arguments: &Arguments) -> Result<Bound, String> {
        let allowed = self.limits.allowed.as_ref();
        if allowed.is_some_and(|allowed| !allowed.iter().any(|id| id == tool.id.as_str())) {
            return Err("the prompt's `limits.tools` does not allow this tool".to_owned());
        }
        let bound = self.tools.bind(tool, &arguments.positional, &arguments.named);
        bound.map_err(|error: ToolError| error.to_string())
    }
}

impl Table {
    fn called(&self, number: usize) -> Called {
        match self.calls.get(number).and_then(|asked| asked.result.as_ref()) {
            Some(Known { value: Some(value), .. }) => Called::Value(value.clone()),
            Some(Known { value: None, .. }) => Called::Gap,
            None => Called::Pending(number),
        }
    }

    fn ask(&mut self, identity: String, asked: Asked) -> Called {
        let number = self.calls.len();
        self.numbers.insert(identity, number);
        self.calls.push(asked);
        self.called(number)
    }
}

impl Functions for Calls {
    fn contains(&self, name: &str) -> bool {
        self.snapshot.documents.functions.contains_key(name)
    }

    fn call(&self, name: &str, arguments: Arguments) -> Called {
        let Some(tool) = self.snapshot.documents.functions.get(name) else {
            return Called::Refused(format!("there is no function `{name}`"));
        };
        let bound = self.bind(tool, &arguments);
        let identity = match &bound {
            Ok(bound) => format!("{} {}", tool.id, bound.identity),
            Err(reason) => format!("{}: {reason}", tool.id),
        };
        let mut table = self.table();
        if let Some(&number) = table.numbers.get(&identity) {
            return table.called(number);
        }
        if table.closed {
            return Called::Pending(table.calls.len());
        }
        if table.calls.len() >= self.limits.calls {
            return Called::Refused(format!("the render makes more than {} tool calls", self.limits.calls));
        }
        let result = bound.as_ref().err().map(|reason| {
            self.log(tool, reason, Duration::ZERO);
            Known::failed(tool, reason.clone(), Duration::ZERO)
        });
        let bound = bound.map_err(|_| arguments.positional);
        let wave = table.waves.len();
        table.ask(identity, Asked { tool: tool.clone(), wave, bound, result })
    }
}
