//! The names that prompts declare as parameters, and the problem of a name that an environ has, too.
//!
//! At the top level of the prompt's templates such a name means the parameter, so that they cannot reach the environ.

use std::collections::{BTreeSet, HashMap};

use base::model::{Id, ProblemDetail, Prompt, declared_names};
use template::value::Map;

/// The prompts that declare parameters, by the names of these.
#[derive(Debug, Default)]
pub struct DeclaredNames {
    by_name: HashMap<String, BTreeSet<Id>>,
}

impl DeclaredNames {
    /// Notes the parameters of a prompt.
    pub fn add(&mut self, prompt: &Prompt) {
        for name in prompt.parameters.iter().flat_map(declared_names) {
            self.by_name.entry(name.to_owned()).or_default().insert(prompt.id.clone());
        }
    }

    /// Forgets the parameters of a prompt.
    pub fn remove(&mut self, prompt: &Prompt) {
        for name in prompt.parameters.iter().flat_map(declared_names) {
            if let Some(prompts) = self.by_name.get_mut(name) {
                prompts.remove(&prompt.id);
                if prompts.is_empty() {
                    self.by_name.remove(name);
                }
            }
        }
    }

    /// The names that are both of parameters and of environs, each with a prompt that declares it.
    pub fn clashes<'a>(&'a self, environs: &'a Map) -> impl Iterator<Item = (&'a str, &'a Id)> {
        let declared = environs.iter().filter_map(|(name, _)| self.by_name.get_key_value(name.as_str()));
        declared.flat_map(|(name, prompts)| prompts.iter().map(move |id| (name.as_str(), id)))
    }
}

/// The problems of a prompt's parameters that have names of environs.
pub fn clashes_of(prompt: &Prompt, environs: &Map) -> Vec<ProblemDetail> {
    let declared = prompt.parameters.iter().flat_map(declared_names);
    declared.filter(|name| environs.get(name).is_some()).map(clash).collect()
}

/// The problem of a parameter that has the name of an environ.
pub fn clash(name: &str) -> ProblemDetail {
    ProblemDetail::new(format!(
        "the parameter `{name}` hides the environ `{name}`: `{name}` at the top level of the templates means the parameter; \
         rename one of them"
    ))
}
