//! Jinja expressions over a value, which are true or false.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::compiled::CompiledPrompt;
use super::error::RenderError;
use super::{Content, PreparedPrompt, Renderer};
use base::caller::Caller;
use base::model::{Id, Origin, Prompt};
use template::value::{Map, Value};

/// A compiled Jinja expression, with one variable.
#[derive(Clone)]
pub struct Expression {
    compiled: Arc<CompiledPrompt>,
    variable: &'static str,
}

impl Renderer {
    /// Compiles an expression, which can use everything that a Jinja template can, over a `variable`. What is missing is false, as
    /// in Jinja2 itself.
    ///
    /// # Errors
    /// [`RenderError::InvalidTemplate`].
    pub fn expression(&self, text: &str, variable: &'static str) -> Result<Expression, RenderError> {
        let document = json!({
            "userPrompt": format!("{{% if ({text}) %}}true{{% endif %}}"), "syntax": "jinja", "undefined": "lenient",
            "parameters": {"type": "object", "properties": {variable: {}}},
        });
        let prompt = Arc::new(Prompt::from_document(Id::parse("check")?, Origin::Direct, document));
        let snapshot = self.catalog.snapshot();
        let compiled = CompiledPrompt::new(&prompt, &snapshot.documents, &self.options.limits)?;
        Ok(Expression { compiled: Arc::new(compiled), variable })
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

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expression").field("variable", &self.variable).finish_non_exhaustive()
    }
}
