//! A command as a model, a skill or a person proposes it: a program and its arguments, never a line for a shell.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A command that is to be judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Command {
    /// The program: a bare name, or a path.
    pub program: String,
    /// Its arguments, each as the program gets it.
    pub args: Vec<String>,
    /// The folder that it runs in; that of the session, if absent. Relative ones begin at the session's.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What whoever proposes the command says that it needs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub requires: Requires,
}

/// What a command is said to need. It can only raise the level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Requires {
    /// A person has to agree.
    pub confirm: bool,
    /// It needs more rights than the user has.
    pub elevated: bool,
    /// It uses the network.
    pub network: bool,
    /// It writes.
    pub write: bool,
}

impl Command {
    /// A command in the session's folder that is said to need nothing.
    pub fn new<'a>(program: &str, args: impl IntoIterator<Item = &'a str>) -> Command {
        let args = args.into_iter().map(str::to_owned).collect();
        Command { program: program.to_owned(), args, ..Command::default() }
    }
}

/// The name of a program without its folder.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn null_is_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Requires, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl<'de> Deserialize<'de> for Requires {
    /// Reads an object, never a list. A member that is given twice counts if it is true once.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Requires, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Requires;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of true and false")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Requires, A::Error> {
        let mut requires = Requires::default();
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "confirm" => requires.confirm |= members.next_value::<bool>()?,
                "elevated" => requires.elevated |= members.next_value::<bool>()?,
                "network" => requires.network |= members.next_value::<bool>()?,
                "write" => requires.write |= members.next_value::<bool>()?,
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(requires)
    }
}
