//! What a value has to fulfil beside its schema: Jinja expressions.

use std::sync::Arc;

use serde::Deserialize;

use super::error::StructuredError;
use crate::render::{Expression, RenderError, Renderer};
use base::caller::Caller;
use base::error::{Kind, Kinded};
use base::schema::Violation;
use template::value::Value;

/// The name of the value in the expressions.
const VARIABLE: &str = "solution";

/// The most checks of a request.
pub const CHECKS_MAX: usize = 32;

/// The longest expression, in bytes.
const TEST_BYTES: usize = 4 << 10;

/// A check as a request gives it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A Jinja expression over `solution`.
    pub test: String,
    /// What the model, or in the end the client, is told if it is not true.
    pub message: String,
}

/// The compiled checks of a request.
#[derive(Debug, Clone, Default)]
pub struct Checks(Arc<[(Expression, String)]>);

impl Checks {
    /// Compiles checks.
    ///
    /// # Errors
    /// [`StructuredError::Checks`], which names all that do not compile.
    pub fn compile(checks: Vec<Check>, renderer: &Renderer) -> Result<Checks, StructuredError> {
        if checks.len() > CHECKS_MAX {
            return Err(invalid(vec![Violation::new(
                "/checks",
                format!("there are {} checks; at most {CHECKS_MAX} are allowed", checks.len()),
            )]));
        }
        let (mut compiled, mut violations) = (Vec::new(), Vec::new());
        for (at, Check { test, message }) in checks.into_iter().enumerate() {
            match compile(&test, renderer) {
                Ok(expression) => compiled.push((expression, message)),
                Err(problem) => violations.push(Violation::new(format!("/checks/{at}/test"), problem)),
            }
        }
        match violations.is_empty() {
            true => Ok(Checks(compiled.into())),
            false => Err(invalid(violations)),
        }
    }

    /// The messages of those checks that are not true for a value.
    ///
    /// # Errors
    /// If there is no room for the work now.
    pub(super) async fn violations(
        &self,
        value: &Value,
        caller: &Caller,
        renderer: &Renderer,
    ) -> Result<Vec<Violation>, StructuredError> {
        let mut violations = Vec::new();
        for (expression, message) in self.0.iter() {
            match renderer.holds(caller, expression, value.clone()).await {
                Ok(true) => {}
                Ok(false) => violations.push(Violation::new("", message.clone())),
                Err(error) if is_of_value(&error) => {
                    let message = format!("{message} (it cannot be checked: {error})");
                    violations.push(Violation::new("", message));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(violations)
    }
}

fn compile(test: &str, renderer: &Renderer) -> Result<Expression, String> {
    if test.trim().is_empty() {
        return Err("must be a Jinja expression over `solution`, such as `solution.total > 0`".to_owned());
    }
    if test.len() > TEST_BYTES {
        return Err(format!("has {} bytes; at most {TEST_BYTES} are allowed", test.len()));
    }
    renderer.expression(test, VARIABLE).map_err(|error| error.to_string())
}

/// Whether an expression failed because of the value, and not of the moment.
fn is_of_value(error: &RenderError) -> bool {
    matches!(error.kind(), Kind::Failed | Kind::InvalidInput)
}

fn invalid(violations: Vec<Violation>) -> StructuredError {
    StructuredError::Checks { violations }
}
