//! What an analysis finds, in the terms of prompts: the same in both dialects.

use crate::analysis;
use crate::{Need, Requirements};

impl Requirements {
    /// Converts what an analysis has found: paths become variables or names, functions tools, templates partials.
    ///
    /// A function that tells the time (`strftime_now`) is listed among the tools, by its name, since a render depends on it.
    pub(crate) fn of(found: analysis::Requirements) -> Requirements {
        let mut requires = Requirements {
            tools: found.functions.into_iter().map(Need::from).collect(),
            partials: found.templates.into_iter().map(Need::from).collect(),
            ..Requirements::default()
        };
        for path in found.paths {
            match below_variables(&path.name).map(str::to_owned) {
                Some(name) => requires.variables.push(Need { name, ..Need::from(path) }),
                None => requires.names.push(Need::from(path)),
            }
        }
        // `variables.x` and `args.x` are one need.
        let mut merged = Requirements::default();
        merged.merge(&requires);
        merged
    }
}

/// The path below `variables` or `args`, if it is one.
fn below_variables(path: &str) -> Option<&str> {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (first, rest) = path.split_at_checked(end)?;
    matches!(first, "variables" | "args").then(|| rest.strip_prefix('.').unwrap_or(rest))
}

impl From<analysis::Need> for Need {
    fn from(need: analysis::Need) -> Need {
        Need { name: need.name, optional: need.optional, dynamic: need.dynamic }
    }
}
