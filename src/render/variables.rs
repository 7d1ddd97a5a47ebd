//! The variables of a request: fills in the defaults and checks them against the prompt's schema.
//!
//! `null` counts as no variables.

use std::sync::Arc;
use std::time::Instant;

use super::compiled::CompiledPrompt;
use super::error::RenderError;
use base::model::with_defaults;
use base::pool::{Lane, Pool};
use base::schema::{Effort, Violation};
use template::value::{Map, SmolStr, Step, Value};
use template::{MissingValue, RunError};

/// The variables of a render and the result of checking them.
pub struct CheckedVariables {
    /// The variables with the prompt's defaults.
    pub value: Value,
    /// The violations of the schema.
    pub errors: VariableErrors,
}

/// The violations of the schema by the variables.
#[derive(Debug, Default)]
pub struct VariableErrors {
    /// Required members that are absent.
    missing: Vec<MissingValue>,
    /// All other violations.
    violations: Vec<Violation>,
}

/// Variables with more values than this are checked in the pool, regardless of the schema.
const CHECKED_INLINE_MAX: usize = 2_000;

/// The variables of a request, which may be in one of several members.
///
/// # Errors
/// [`RenderError::AmbiguousVariables`] if more than one member has them.
pub fn only_one<const N: usize>(
    places: [(&'static str, Option<Value>); N],
) -> Result<Option<Value>, RenderError> {
    let given: Vec<_> = places.into_iter().filter_map(|(place, value)| Some((place, value?))).collect();
    if given.len() > 1 {
        let places = given.into_iter().map(|(place, _)| place).collect();
        return Err(RenderError::AmbiguousVariables { name: None, places });
    }
    Ok(given.into_iter().next().map(|(_, value)| value))
}

/// Fills the prompt's defaults into the variables of a request, and checks them.
///
/// # Errors
/// If they are not an object, or if the check does not end before the deadline. Violations of the schema are returned with
/// the value, so that the templates can run to find what else is missing.
pub async fn check(
    compiled: Arc<CompiledPrompt>,
    variables: Option<Value>,
    pool: &Pool,
    deadline: Instant,
) -> Result<CheckedVariables, RenderError> {
    let value = match variables {
        None | Some(Value::Null) => Value::from(Map::default()),
        Some(value @ Value::Map(_)) => value,
        Some(_) => {
            let message = "the variables must be an object".to_owned();
            let violations = vec![Violation { path: String::new(), message, missing: None }];
            return Err(RenderError::InvalidVariables { violations });
        }
    };
    let Some((document, schema)) = &compiled.parameters else {
        return Ok(CheckedVariables { value, errors: VariableErrors::default() });
    };
    if value.count_up_to(CHECKED_INLINE_MAX) < CHECKED_INLINE_MAX {
        let filled = with_defaults(document, value.clone());
        if let Ok(violations) = schema.check(&filled, Effort::SERVING) {
            return Ok(checked(filled, violations));
        }
    }
    let compiled = compiled.clone();
    let checked = pool.run(Lane::Short, deadline, move || match &compiled.parameters {
        None => checked(value, Vec::new()),
        Some((document, schema)) => {
            let filled = with_defaults(document, value);
            let violations = schema.violations(&filled, Effort::POOL);
            checked(filled, violations)
        }
    });
    Ok(checked.await?)
}

fn checked(value: Value, violations: Vec<Violation>) -> CheckedVariables {
    let mut errors = VariableErrors::default();
    for violation in violations {
        match &violation.missing {
            Some(member) => errors.missing.push(missing(&violation.path, member, &value)),
            None => errors.violations.push(violation),
        }
    }
    CheckedVariables { value, errors }
}

/// An absent required member, as a path in the data of the templates.
fn missing(pointer: &str, member: &str, variables: &Value) -> MissingValue {
    let mut steps = vec![Step::Key("variables".into())];
    let mut here = Some(variables.clone());
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let step = match (&here, token.parse::<usize>()) {
            (Some(Value::List(_)), Ok(index)) => Step::Index(index),
            _ => Step::Key(SmolStr::new(&token)),
        };
        here = match (&here, &step) {
            (Some(Value::List(list)), Step::Index(index)) => list.get(*index).cloned(),
            (Some(value), Step::Key(key)) => value.get(key).cloned(),
            _ => None,
        };
        steps.push(step);
    }
    MissingValue { path: template::value::Path(steps).member(member).to_string(), position: None }
}

impl VariableErrors {
    /// Whether the variables fit the schema.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.violations.is_empty()
    }

    /// One error for these violations and for the values that were found missing in a trial run of the templates.
    pub fn combine(self, trial: Result<(), RenderError>) -> RenderError {
        let VariableErrors { mut missing, mut violations } = self;
        if let Err(RenderError::Missing { missing: more, violations: others }) = trial {
            missing.extend(more);
            violations.extend(others);
        }
        match missing.is_empty() {
            true => RenderError::InvalidVariables { violations },
            false => RenderError::Missing { missing: unique(missing), violations },
        }
    }
}

/// Sorts by path and keeps one entry of each path, preferably one with a position.
pub fn unique(mut missing: Vec<MissingValue>) -> Vec<MissingValue> {
    missing.sort_by(|a, b| (&a.path, a.position.is_none()).cmp(&(&b.path, b.position.is_none())));
    missing.dedup_by(|later, earlier| later.path == earlier.path);
    missing
}

impl From<RunError> for RenderError {
    fn from(error: RunError) -> RenderError {
        match error {
            RunError::Missing(missing) => {
                RenderError::Missing { missing: unique(missing), violations: Vec::new() }
            }
            RunError::Failed { message, position } => RenderError::Failed { message, position },
            RunError::Deadline => RenderError::Timeout,
            RunError::Pending { .. } => RenderError::Failed {
                message: "the result of a tool call is not available".into(),
                position: None,
            },
            limit @ (RunError::Limit { .. } | RunError::Steps { .. }) => {
                RenderError::Failed { message: limit.to_string(), position: None }
            }
        }
    }
}
