//! The render workload as the engines see it: two texts in each dialect, and the data they both read.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::Outcome;

/// One request of the workload.
pub struct Case {
    /// What the README of the workload calls it.
    pub name: &'static str,
    /// Names and texts in Go's syntax.
    pub go: [(&'static str, String); 2],
    /// Names and texts in Jinja's.
    pub jinja: [(&'static str, String); 2],
    /// The environs with the request's `args` beside them.
    pub data: Json,
    /// What each text must print.
    pub expected: [String; 2],
}

impl Case {
    /// All cases.
    pub fn all() -> Outcome<Vec<Case>> {
        ["small", "items40k", "text40k"].into_iter().map(Case::read).collect()
    }

    fn read(name: &'static str) -> Outcome<Case> {
        let mut data = json(&format!("{name}.body.json"))?;
        if let (Json::Object(data), Json::Object(shared)) = (&mut data, json("shared.json")?) {
            data.extend(shared);
        }
        let expected = json(&format!("{name}.expected.json"))?;
        let text = |member: &str| expected[member].as_str().unwrap_or_default().to_owned();
        let go = [("system", file("system.go")?), ("user", file("user.go")?)];
        let jinja = [("system", file("system.j2")?), ("user", file("user.j2")?)];
        Ok(Case { name, go, jinja, data, expected: [text("system"), text("user")] })
    }

    /// Fails unless `printed` is what the case must print.
    pub fn check(&self, engine: &str, printed: &[String]) -> Outcome {
        match printed == self.expected {
            true => Ok(()),
            false => Err(format!("{engine} does not print {} as expected", self.name).into()),
        }
    }

    /// The case as a task for the Go program.
    pub fn task(&self, operation: &str, millis: u64) -> Json {
        json!({"operation": operation, "texts": self.go, "data": self.data, "millis": millis})
    }
}

fn file(name: &str) -> Outcome<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("workload").join(name);
    Ok(std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn json(name: &str) -> Outcome<Json> {
    Ok(serde_json::from_str(&file(name)?)?)
}
