//! Whether the arguments that a model chose can be used.

use base::schema::{Effort, in_words};
use serde_json::{Map as JsonMap, Value as Json};
use template::value::Value;

use super::outcome::Outcome;
use super::tool::{AgentTool, Check};

/// The arguments of a call, by their names.
pub type Arguments = JsonMap<String, Json>;

/// Why arguments cannot be used.
pub enum Fault<'t> {
    /// An argument breaks a rule of the document.
    Broken {
        /// The argument.
        parameter: &'t str,
        /// The name of the rule: `missing`, `empty` or `too_long`.
        rule: &'static str,
        /// What is said.
        outcome: &'t Outcome,
        /// How long it is, and may be, in characters.
        length: Option<(usize, usize)>,
    },
    /// They do not fit the schema.
    Invalid(String),
}

impl AgentTool {
    /// Trims the arguments that have rules, and checks them all.
    ///
    /// # Errors
    /// The first rule that is broken; else everything that does not fit the schema.
    pub(super) fn check(&self, arguments: &mut Arguments) -> Result<(), Fault<'_>> {
        for check in &self.checks {
            check.apply(arguments)?;
        }
        let value = Value::from(&Json::Object(arguments.clone()));
        let violations = self.schema.violations(&value, Effort::SERVING);
        if violations.is_empty() { Ok(()) } else { Err(Fault::Invalid(in_words(&violations))) }
    }

    /// The argument that a text of the user means: JSON, where the schema wants another type than a text.
    pub(super) fn typed(&self, parameter: &str, text: &str) -> Json {
        let schema = self.parameters.get("properties").and_then(|all| all.get(parameter));
        let wanted = schema.and_then(|schema| schema.get("type")).and_then(Json::as_str);
        match wanted {
            None | Some("string") => text.into(),
            Some(_) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        }
    }
}

impl Check {
    fn apply(&self, arguments: &mut Arguments) -> Result<(), Fault<'_>> {
        let value = match arguments.get_mut(&self.parameter) {
            None | Some(Json::Null) => {
                // Null and absent are the same.
                arguments.shift_remove(&self.parameter);
                return self.broken("missing", self.missing.as_ref(), None);
            }
            Some(value) => value,
        };
        let Json::String(text) = value else { return Ok(()) };
        if text.trim().len() < text.len() {
            *text = text.trim().to_owned();
        }
        if text.is_empty() {
            return self.broken("empty", self.empty.as_ref(), None);
        }
        let (limit, outcome) = match &self.too_long {
            Some((limit, outcome)) => (*limit, Some(outcome)),
            None => return Ok(()),
        };
        let length = text.chars().count();
        if length > limit { self.broken("too_long", outcome, Some((length, limit))) } else { Ok(()) }
    }

    fn broken<'t>(
        &'t self,
        rule: &'static str,
        outcome: Option<&'t Outcome>,
        length: Option<(usize, usize)>,
    ) -> Result<(), Fault<'t>> {
        match outcome {
            Some(outcome) => Err(Fault::Broken { parameter: &self.parameter, rule, outcome, length }),
            None => Ok(()),
        }
    }
}
