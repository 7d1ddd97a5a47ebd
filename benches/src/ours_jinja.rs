//! Our Jinja engine, as a library.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use template::jinja::Template;
use template::value::{Map, Value};
use template::{Functions, Limits, NoSurroundings, Partials, RunBudget, Undefined};

use crate::Outcome;
use crate::cases::Case;

/// The texts of a case, compiled, and its data.
pub struct Prepared {
    templates: [Template; 2],
    data: Arc<Map>,
    functions: Arc<dyn Functions>,
}

impl Prepared {
    /// Compiles the texts and converts the data.
    pub fn new(case: &Case) -> Outcome<Prepared> {
        let data = match Value::from(case.data.clone()) {
            Value::Map(data) => data,
            _ => return Err("the data must be an object".into()),
        };
        Ok(Prepared { templates: parse(case)?, data, functions: Arc::new(NoSurroundings) })
    }

    /// Runs both templates, each into a string of its own.
    pub fn execute(&self) -> Outcome<[String; 2]> {
        let Limits { steps, output_bytes, .. } = Limits::default();
        let deadline = Instant::now() + Duration::from_secs(1);
        let budget = RunBudget {
            steps,
            output_bytes,
            deadline,
            undefined: Undefined::Strict,
            moment: SystemTime::now(),
            seed: 1,
        };
        let [system, user] = &self.templates;
        let run = |template: &Template| template.render(&self.data, &self.functions, &budget);
        Ok([run(system)?, run(user)?])
    }
}

/// Compiles both texts.
pub fn parse(case: &Case) -> Outcome<[Template; 2]> {
    let none: Arc<dyn Partials> = Arc::new(NoSurroundings);
    let [system, user] = &case.jinja;
    let compile = |(name, text): &(&str, String)| Template::compile(name, text, &none, &Limits::default());
    Ok([compile(system)?, compile(user)?])
}
