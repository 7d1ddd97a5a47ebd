//! Jinja expressions over a value, which are true or false.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::compiled::CompiledPrompt;
use super::error::RenderError;
use super::{Content, PreparedPrompt, Renderer};
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::model::{Id, Origin, Prompt};
use template::Need;
use template::value::{Map, Value};

/// A compiled Jinja expression, with one variable.
#[derive(Clone)]
pub struct Expression {
    compiled: Arc<CompiledPrompt>,
    variable: &'static str,
}

/// Why a text is no expression that can be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidExpression {
    /// It does not compile.
    #[error("is no Jinja expression: {0}")]
    Template(#[from] RenderError),
    /// It uses names that mean nothing.
    #[error("there is no {}; it can use `{variable}`, environs, tools, and what is built into Jinja", names.join(" and no "))]
    Unknown {
        /// The names.
        names: Vec<String>,
        /// The variable that there is.
        variable: &'static str,
    },
}

impl Renderer {
    /// Compiles an expression, which can use everything that a Jinja template can, over a `variable`. What is missing is false, as
    /// in Jinja2 itself.
    ///
    /// # Errors
    /// [`InvalidExpression`].
    pub fn expression(&self, text: &str, variable: &'static str) -> Result<Expression, InvalidExpression> {
        let snapshot = self.catalog.snapshot();
        let test = format!("{{% set holds = ({text}) %}}{{% if holds %}}true{{% endif %}}");
        let compiled = self.compiled_expression(&test, variable, &snapshot)?;
        // A text that ends a tag of one kind does not compile in the other.
        let alone = self.compiled_expression(&format!("{{{{ ({text}) }}}}"), variable, &snapshot)?;
        let names = unknown(&alone, variable, &snapshot);
        match names.is_empty() {
            true => Ok(Expression { compiled: Arc::new(compiled), variable }),
            false => Err(InvalidExpression::Unknown { names, variable }),
        }
    }

    fn compiled_expression(
        &self,
        template: &str,
        variable: &str,
        snapshot: &Snapshot,
    ) -> Result<CompiledPrompt, RenderError> {
        let document = json!({
            "userPrompt": template, "syntax": "jinja", "undefined": "lenient",
            "parameters": {"type": "object", "properties": {variable: {}}},
        });
        let prompt = Arc::new(Prompt::from_document(Id::parse("check")?, Origin::Direct, document));
        CompiledPrompt::new(&prompt, &snapshot.documents, &self.options.limits)
    }

    /// Whether an expression is true for a value, within the limits of a render.
    ///
    /// # Errors
    /// [`RenderError`] if it cannot be evaluated.
    pub async fn holds(
        &self,
        caller: &Caller,
        expression: &Expression,
        value: Value,
    ) -> Result<bool, RenderError> {
        let Expression { compiled, variable } = expression.clone();
        let (snapshot, started) = (self.catalog.snapshot(), Instant::now());
        let prepared =
            PreparedPrompt { compiled, cached: true, turn: None, snapshot, started, explain: false };
        let variables = [(variable.into(), value)].into_iter().collect::<Map>();
        let rendered = self.run(caller, prepared, Some(variables.into())).await?;
        Ok(matches!(rendered.content, Content::Text(text) if !text.is_empty()))
    }
}

/// The names in an expression that mean nothing, apart from those that it can do without.
fn unknown(compiled: &CompiledPrompt, variable: &str, snapshot: &Snapshot) -> Vec<String> {
    let requires = compiled.names(snapshot).requires(&compiled.requires);
    let is_unknown = |need: &&Need| !need.optional && need.first_name() != variable;
    let variables =
        requires.variables.iter().filter(is_unknown).map(|need| format!("`{}`", need.first_name()));
    let functions = &snapshot.documents.functions;
    let tools = requires.tools.iter().filter(|need| !need.optional && !functions.contains_key(&need.name));
    let mut names: Vec<String> =
        variables.chain(tools.map(|need| format!("function `{}`", need.name))).collect();
    names.dedup();
    names
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expression").field("variable", &self.variable).finish_non_exhaustive()
    }
}
