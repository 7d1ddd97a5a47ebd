//! Bare minijinja on the same prompt in Jinja's syntax.

use minijinja::{AutoEscape, Environment, Value};

use crate::Outcome;
use crate::cases::Case;

/// The texts of a case, parsed, and its data.
pub struct Prepared<'c> {
    environment: Environment<'c>,
    data: Value,
}

impl<'c> Prepared<'c> {
    /// Parses the texts and converts the data.
    pub fn new(case: &'c Case) -> Outcome<Prepared<'c>> {
        Ok(Prepared { environment: parse(case)?, data: serde_json::from_value(case.data.clone())? })
    }

    /// Renders both templates, each into a string of its own.
    pub fn execute(&self) -> Outcome<[String; 2]> {
        let run = |name: &str| self.environment.get_template(name)?.render(&self.data);
        Ok([run("system")?, run("user")?])
    }
}

/// Parses both texts into a new environment.
pub fn parse(case: &Case) -> Outcome<Environment<'_>> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, text) in &case.jinja {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}
