//! Our engine, as a library.

use template::go::{ExecOptions, NoFunctions, ParseOptions, Set};
use template::value::Value;

use crate::Outcome;
use crate::cases::Case;

/// The texts of a case, parsed, and its data.
pub struct Prepared {
    set: Set,
    data: Value,
}

impl Prepared {
    /// Parses the texts and converts the data.
    pub fn new(case: &Case) -> Outcome<Prepared> {
        Ok(Prepared { set: parse(case)?, data: Value::from(case.data.clone()) })
    }

    /// Executes both templates, each into a buffer of its own.
    pub fn execute(&self) -> Outcome<[Vec<u8>; 2]> {
        let run = |name: &str| {
            let mut out = Vec::new();
            let options = ExecOptions::default();
            self.set.execute(name, &self.data, &NoFunctions, &options, &mut out).map(|()| out)
        };
        Ok([run("system")?, run("user")?])
    }
}

/// Parses both texts into a new set.
pub fn parse(case: &Case) -> Outcome<Set> {
    let mut set = Set::new();
    for (name, text) in &case.go {
        set.parse(name, text, &ParseOptions::default())?;
    }
    Ok(set)
}
