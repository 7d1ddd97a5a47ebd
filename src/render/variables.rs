//! What a request brings: defaults filled in, checked against the prompt's schema.

use std::sync::Arc;
use std::time::Instant;

use super::compiled::Compiled;
use super::error::RenderFailure;
use base::model::with_defaults;
use base::pool::{Lane, Pool};
use base::schema::{Effort, Violation};
use template::value::{Map, SmolStr, Step, Value};
use template::{MissingValue, RunError};

/// The variables of a render, and what is wrong with them.
pub struct Checked {
    /// The variables with the prompt's defaults.
    pub value: Value,
    /// What the schema says against them.
    pub faults: Faults,
}

/// What the schema says against the variables.
#[derive(Debug, Default)]
pub struct Faults {
    missing: Vec<MissingValue>,
    violations: Vec<Violation>,
}

/// Variables with more values than this are checked in the pool, whatever the schema.
const CHECKED_INLINE_MAX: usize = 2_000;

/// The variables of a request, which may stand in any one of several members.
///
/// # Errors
/// [`RenderFailure::AmbiguousVariables`] if there are some in more than one.
pub fn only_one<const N: usize>(
    places: [(&'static str, Option<Value>); N],
) -> Result<Option<Value>, RenderFailure> {
    let given: Vec<_> = places.into_iter().filter_map(|(place, value)| Some((place, value?))).collect();
    if given.len() > 1 {
        let places = given.into_iter().map(|(place, _)| place).collect();
        return Err(RenderFailure::AmbiguousVariables { places });
    }
    Ok(given.into_iter().next().map(|(_, value)| value))
}

/// Fills the prompt's defaults into the variables of a request, and checks them.
///
/// # Errors
/// When they are not an object, or checking them takes longer than the deadline allows. What the schema finds is returned
/// beside the value, so that the templates can still say what else is missing.
pub async fn check(
    compiled: Arc<Compiled>,
    variables: Option<Value>,
    pool: &Pool,
    deadline: Instant,
) -> Result<Checked, RenderFailure> {
    let value = match variables {
        None | Some(Value::Null) => Value::from(Map::default()),
        Some(value @ Value::Map(_)) => value,
        Some(_) => {
            let message = "the variables must be an object".to_owned();
            let violations = vec![Violation { path: String::new(), message, missing: None }];
            return Err(RenderFailure::InvalidVariables { violations });
        }
    };
    let Some((document, schema)) = &compiled.parameters else {
        return Ok(Checked { value, faults: Faults::default() });
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

fn checked(value: Value, violations: Vec<Violation>) -> Checked {
    let mut faults = Faults::default();
    for violation in violations {
        match &violation.missing {
            Some(member) => faults.missing.push(missing(&violation.path, member, &value)),
            None => faults.violations.push(violation),
        }
    }
    Checked { value, faults }
}

/// An absent required member as a path of the template's data.
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

impl Faults {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.violations.is_empty()
    }

    /// What is wrong in all: what the schema found, and what is missing as a look at the templates found.
    pub fn with_found(self, looked: Result<(), RenderFailure>) -> RenderFailure {
        let Faults { mut missing, mut violations } = self;
        if let Err(RenderFailure::Missing { missing: more, violations: others }) = looked {
            missing.extend(more);
            violations.extend(others);
        }
        match missing.is_empty() {
            true => RenderFailure::InvalidVariables { violations },
            false => RenderFailure::Missing { missing: unique(missing), violations },
        }
    }
}

/// One entry a path, sorted; of equal paths the one with a position stays.
pub fn unique(mut missing: Vec<MissingValue>) -> Vec<MissingValue> {
    missing.sort_by(|a, b| (&a.path, a.position.is_none()).cmp(&(&b.path, b.position.is_none())));
    missing.dedup_by(|later, earlier| later.path == earlier.path);
    missing
}

impl From<RunError> for RenderFailure {
    fn from(error: RunError) -> RenderFailure {
        match error {
            RunError::Missing(missing) => {
                RenderFailure::Missing { missing: unique(missing), violations: Vec::new() }
            }
            RunError::Failed { message, position } => RenderFailure::Failed { message, position },
            RunError::Deadline => RenderFailure::Timeout,
            RunError::Pending { .. } => {
                RenderFailure::Failed { message: "a tool's result is not known".into(), position: None }
            }
            limit @ (RunError::Limit { .. } | RunError::Steps { .. }) => {
                RenderFailure::Failed { message: limit.to_string(), position: None }
            }
        }
    }
}
