//! Names at the top level of templates: the data in which they are looked up, and what each of them means.
//!
//! After the text's own names and functions, which the engines know, a name means the first of these that has it:
//! `variables` and `args`; a declared parameter; an environ; any other variable of the request. So a request cannot replace
//! what an environ names. A declared parameter that is absent is missing, even if there is an environ of that name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use template::value::{Map, SmolStr, Value};
use template::{MissingValue, Need, Requirements};

/// The name of the request's variables.
const VARIABLES: &str = "variables";
/// Another name of the variables, which is never enumerated.
const ARGS: &str = "args";

/// The names that a render can look up at the top level, apart from the undeclared variables of its request.
#[derive(Debug, Clone)]
pub struct TopLevelNames {
    /// The names of the prompt's parameters, sorted.
    pub declared: Arc<[SmolStr]>,
    /// The environs.
    pub environs: Arc<Map>,
}

/// Where the value of a name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameOrigin {
    /// A variable that the prompt declares as a parameter; its default counts, too.
    Parameter,
    /// An environ.
    Environ,
    /// Any other variable of the request.
    Variable,
    /// The name has no value.
    Absent,
}

/// What the templates of a prompt can touch, among certain environs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Requires {
    /// Paths in the variables, whether the templates begin them with `variables` or not.
    pub variables: Vec<Need>,
    /// Paths in the environs.
    pub environs: Vec<Need>,
    /// Functions that are neither built-in nor defined in the text.
    pub tools: Vec<Need>,
    /// The names of other prompts.
    pub partials: Vec<Need>,
}

impl TopLevelNames {
    /// The root of the data of a render. Nothing is copied, and only the environs and `variables` are enumerated.
    pub fn root(&self, variables: Value) -> Map {
        Map::over(self.environs.clone(), vec![(VARIABLES.into(), variables)])
            .with_alias(ARGS, VARIABLES)
            .with_opened(VARIABLES, self.declared.clone())
    }

    fn is_declared(&self, name: &str) -> bool {
        self.declared.binary_search_by(|declared| declared.as_str().cmp(name)).is_ok()
    }

    /// What a name means that is not `variables` or `args`, if it has a value.
    fn meaning(&self, name: &str) -> NameOrigin {
        match self.environs.get(name) {
            _ if self.is_declared(name) => NameOrigin::Parameter,
            Some(_) => NameOrigin::Environ,
            None => NameOrigin::Variable,
        }
    }

    /// Adds `variables` to a path that begins with the name of a variable. `may_be_environ` says whether a name that means
    /// nothing may be that of an environ that is not known yet.
    pub fn with_full_path(&self, missing: MissingValue, may_be_environ: bool) -> MissingValue {
        let is_variable = match missing.first_name() {
            None | Some(VARIABLES | ARGS) => false,
            Some(name) => match self.meaning(name) {
                NameOrigin::Parameter => true,
                NameOrigin::Variable => !may_be_environ,
                NameOrigin::Environ | NameOrigin::Absent => false,
            },
        };
        match is_variable {
            true => MissingValue { path: format!("{VARIABLES}.{}", missing.path), ..missing },
            false => missing,
        }
    }

    /// The requirements of templates, with each path at the top level among the variables or the environs.
    pub fn requires(&self, found: &Requirements) -> Requires {
        let is_variable = |need: &Need| {
            let name = need.first_name();
            !name.is_empty() && self.meaning(name) != NameOrigin::Environ
        };
        let (variables, environs) = found.names.iter().cloned().partition(is_variable);
        let mut all = Requirements { variables, ..Requirements::default() };
        all.merge(found);
        Requires { variables: all.variables, environs, tools: all.tools, partials: all.partials }
    }

    /// Where the values of the names come from that the templates use at the top level. `root` is the data of the render.
    pub fn origins(&self, found: &Requirements, root: &Map) -> BTreeMap<SmolStr, NameOrigin> {
        let names = found.names.iter().map(Need::first_name).filter(|name| !name.is_empty());
        let origin = |name| if root.get(name).is_some() { self.meaning(name) } else { NameOrigin::Absent };
        names.map(|name| (SmolStr::new(name), origin(name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn names() -> TopLevelNames {
        let environs = Value::from(json!({"team": {"tone": "kind"}, "lang": "de"}));
        TopLevelNames {
            declared: Arc::new(["lang".into(), "text".into()]),
            environs: environs.as_map().unwrap().clone(),
        }
    }

    fn needs(names: &[&str]) -> Vec<Need> {
        let need = |name: &&str| Need { name: name.to_string(), optional: false, dynamic: false };
        names.iter().map(need).collect()
    }

    fn listed(needs: &[Need]) -> Vec<&str> {
        needs.iter().map(|need| need.name.as_str()).collect()
    }

    #[test]
    fn the_path_of_a_missing_variable_begins_with_variables() {
        let path = |path: &str, may_be_environ| {
            let missing = MissingValue { path: path.to_owned(), position: None };
            names().with_full_path(missing, may_be_environ).path
        };
        for (found, expected) in [
            ("text", "variables.text"),
            ("lang", "variables.lang"),
            ("user.name", "variables.user.name"),
            ("docs[1].title", "variables.docs[1].title"),
            ("team.lead", "team.lead"),
            ("variables.x", "variables.x"),
            ("(an expression).x", "(an expression).x"),
        ] {
            assert_eq!(path(found, false), expected);
        }
        assert_eq!(path("user.name", true), "user.name", "an environ may still be read");
        assert_eq!(path("text", true), "variables.text");
    }

    #[test]
    fn requirements_are_split_by_parameters_and_environs() {
        let found = Requirements {
            variables: needs(&["text", "x"]),
            names: needs(&["", "docs[].title", "lang", "team.tone", "text"]),
            ..Requirements::default()
        };
        let requires = names().requires(&found);
        assert_eq!(listed(&requires.variables), ["docs[].title", "lang", "text", "x"]);
        assert_eq!(listed(&requires.environs), ["", "team.tone"]);
    }

    #[test]
    fn origins_say_what_gave_each_name_its_value() {
        let found = Requirements {
            names: needs(&["lang", "team.tone", "more", "none", "text"]),
            ..Default::default()
        };
        let root = names().root(Value::from(json!({"text": 1, "team": 2, "more": 3})));
        let origins: Json = serde_json::to_value(names().origins(&found, &root)).unwrap();
        assert_eq!(
            origins,
            json!({"lang": "absent", "more": "variable", "none": "absent", "team": "environ", "text": "parameter"})
        );
    }
}
