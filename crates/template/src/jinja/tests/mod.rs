//! What templates do, seen from outside: the shared world that they run in.

mod data;
mod gaps;
mod growth;
mod missing;
mod nesting;
mod partials;
mod wave_templates;
mod waves;
mod work;
mod workload;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use super::Template;
use crate::value::{Map, Value, from_json};
use crate::{
    Arguments, CallResult, CompileError, Functions, Limits, Partial, Partials, RunBudget, RunError, Syntax,
    Undefined,
};

/// Partials by name; a text that starts with `go:` is in the other dialect.
#[derive(Default)]
struct Shelf(BTreeMap<String, String>);

impl Partials for Shelf {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let text = self.0.get(name).ok_or_else(|| "there is no such prompt".to_owned())?;
        let (syntax, text) = match text.strip_prefix("go:") {
            Some(text) => (Syntax::Go, text),
            None => (Syntax::Jinja, text.as_str()),
        };
        Ok(Partial { id: format!("demo.{name}"), text: text.into(), syntax })
    }
}

/// Functions that echo their arguments, fail, or know nothing.
#[derive(Default)]
struct Tools(Mutex<Vec<(String, Arguments)>>);

impl Functions for Tools {
    fn contains(&self, name: &str) -> bool {
        matches!(name, "echo" | "broken" | "lookup")
    }

    fn call(&self, name: &str, arguments: Arguments) -> CallResult {
        self.0.lock().unwrap().push((name.to_owned(), arguments.clone()));
        match name {
            "broken" => CallResult::Gap,
            "lookup" => CallResult::Value(value(r#"{"hits":[{"title":"one"},{"title":"two"}]}"#)),
            _ => CallResult::Value(arguments.positional.first().cloned().unwrap_or(Value::Null)),
        }
    }
}

/// A world to run templates in.
struct World {
    root: Arc<Map>,
    shelf: Shelf,
    tools: Arc<Tools>,
    limits: Limits,
    run: RunBudget,
}

fn value(json: &str) -> Value {
    from_json(json.as_bytes()).unwrap()
}

/// A root of these environs and variables, as the service makes it.
fn root(environs: &str, variables: &str) -> Arc<Map> {
    let base = value(environs).as_map().unwrap().clone();
    let own = vec![("variables".into(), value(variables))];
    Arc::new(Map::over(base, own).with_alias("args", "variables"))
}

impl World {
    fn new(environs: &str, variables: &str) -> World {
        let limits = Limits::default();
        World {
            root: root(environs, variables),
            shelf: Shelf::default(),
            tools: Arc::default(),
            limits,
            run: RunBudget {
                steps: limits.steps,
                output_bytes: limits.output_bytes,
                deadline: Instant::now() + Duration::from_secs(60),
                undefined: Undefined::Strict,
                moment: SystemTime::now(),
                seed: 1,
            },
        }
    }

    fn of(variables: &str) -> World {
        World::new("{}", variables)
    }

    fn with(mut self, name: &str, text: &str) -> World {
        self.shelf.0.insert(name.to_owned(), text.to_owned());
        self
    }

    fn partials(&self) -> Arc<dyn Partials> {
        Arc::new(Shelf(self.shelf.0.clone()))
    }

    fn compile(&self, source: &str) -> Result<Template, CompileError> {
        Template::compile("main", source, &self.partials(), &self.limits)
    }

    fn render(&self, source: &str) -> Result<String, RunError> {
        let functions: Arc<dyn Functions> = self.tools.clone();
        self.compile(source).unwrap().render(&self.root, &functions, &self.run)
    }

    #[track_caller]
    fn shows(&self, source: &str, expected: &str) {
        match self.render(source) {
            Ok(text) => assert_eq!(text, expected, "{source}"),
            Err(error) => panic!("{source}: {error:?}"),
        }
    }

    /// Asserts that a limit ends the run.
    #[track_caller]
    fn ends(&self, source: &str, limit: &str) {
        let result = self.render(source);
        let shown: String = format!("{result:?}").chars().take(300).collect();
        let head: String = source.chars().take(300).collect();
        assert!(
            matches!(result, Err(RunError::Limit { what, .. }) if what == limit),
            "{head}: {limit}: {shown}"
        );
    }

    #[track_caller]
    fn misses(&self, source: &str, expected: &[&str]) {
        match self.render(source) {
            Err(RunError::Missing(missing)) => {
                let paths: Vec<&str> = missing.iter().map(|miss| miss.path.as_str()).collect();
                assert_eq!(paths, expected, "{source}");
            }
            other => panic!("{source}: {other:?}"),
        }
    }
}
