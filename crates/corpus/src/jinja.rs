//! A case of the Jinja corpus: how it is compiled and rendered, and the answer.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use template::value::{Map, Value, from_json, parse_json};
use template::{
    CompileError, Functions, Limits, NoSurroundings, Partial, Partials, RunBudget, RunError, Surroundings,
    Syntax, Template, Undefined,
};

/// The stack of the thread that renders. The service's are larger: nesting that overflows this one is too deep for a limit.
pub const STACK_BYTES: usize = 2 << 20;

/// The time that a render gets.
const TIME: Duration = Duration::from_secs(2);

/// One case: a template, the texts that it includes, and the members of the root.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// The name under which the answer is reported.
    pub id: String,
    template: Arc<str>,
    #[serde(default)]
    partials: BTreeMap<String, Arc<str>>,
    #[serde(default)]
    data: Option<Box<serde_json::value::RawValue>>,
    #[serde(default)]
    undefined: Undefined,
}

/// The answer to a case.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The case's id.
    pub id: String,
    /// Whether there is an output.
    pub ok: bool,
    /// The output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// The message of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where there is no output: `data`, `compile`, `missing`, `failed`, `limit`, `steps`, `deadline`, `pending` or `panic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The milliseconds of a slow case; the caller fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_ms: Option<u64>,
}

/// An error: its kind and its message.
struct KindError(&'static str, String);

impl From<CompileError> for KindError {
    fn from(error: CompileError) -> KindError {
        KindError("compile", error.to_string())
    }
}

impl From<RunError> for KindError {
    fn from(error: RunError) -> KindError {
        let kind = match error {
            RunError::Missing(_) => "missing",
            RunError::Failed { .. } => "failed",
            RunError::Limit { .. } => "limit",
            RunError::Steps { .. } => "steps",
            RunError::Deadline => "deadline",
            RunError::Pending { .. } => "pending",
        };
        KindError(kind, error.to_string())
    }
}

struct CasePartials(BTreeMap<String, Arc<str>>);

impl Partials for CasePartials {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let text = self.0.get(name).ok_or_else(|| format!("there is no prompt `{name}`"))?;
        Ok(Partial { id: name.to_owned(), text: text.clone(), syntax: Syntax::Jinja })
    }
}

fn run_budget(undefined: Undefined) -> RunBudget {
    let Limits { steps, output_bytes, .. } = Limits::default();
    let (deadline, moment) = (Instant::now() + TIME, SystemTime::now());
    RunBudget { steps, output_bytes, deadline, undefined, moment, seed: 1 }
}

impl Case {
    /// Parses a line of the corpus.
    ///
    /// # Errors
    /// If the line is not a case.
    pub fn parse(line: &str) -> serde_json::Result<Case> {
        parse_json(line.as_bytes())
    }

    /// Compiles and renders the case; a panic is an answer, too.
    pub fn run(&self) -> Answer {
        let result = catch_unwind(AssertUnwindSafe(|| self.render()));
        let result = result.unwrap_or_else(|panic| Err(KindError("panic", panic_text(panic.as_ref()))));
        let id = self.id.clone();
        match result {
            Ok(out) => Answer { id, ok: true, out: Some(out), error: None, kind: None, slow_ms: None },
            Err(KindError(kind, error)) => {
                Answer { id, ok: false, out: None, error: Some(error), kind: Some(kind), slow_ms: None }
            }
        }
    }

    fn root(&self) -> Result<Arc<Map>, KindError> {
        let text = self.data.as_ref().map_or("{}", |raw| raw.get());
        match from_json(text.as_bytes()) {
            Ok(Value::Map(root)) => Ok(root),
            Ok(_) => Err(KindError("data", "the data is no object".to_owned())),
            Err(error) => Err(KindError("data", error.to_string())),
        }
    }

    fn render(&self) -> Result<String, KindError> {
        let root = self.root()?;
        let partials: Arc<dyn Partials> = Arc::new(CasePartials(self.partials.clone()));
        let functions: Arc<dyn Functions> = Arc::new(NoSurroundings);
        let surroundings = Surroundings { partials: &partials, functions: functions.as_ref() };
        let limits = Limits::default();
        let template = Template::compile("main", &self.template, Syntax::Jinja, surroundings, &limits)?;
        Ok(template.render(&root, &functions, &run_budget(self.undefined))?)
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let fixed = panic.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
    fixed.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no text)".to_owned())
}
