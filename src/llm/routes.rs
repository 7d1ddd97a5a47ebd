//! Which upstream answers for which model, and which ones are asked when it does not.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::upstream::{Upstream, UpstreamOptions};

/// The model that is built in.
pub const ECHO: &str = "echo";

/// What a name of a model begins with that means a prompt.
pub const PROMPT: &str = "prompt:";

/// A model as the settings describe it.
#[derive(Clone, Default)]
pub struct ModelOptions {
    /// The name by which requests ask for it; with a `*` at its end, all names that begin so.
    pub name: String,
    /// What the upstream calls it; the name that was asked for if nothing is said.
    pub upstream_model: Option<String>,
    /// The upstream, if it is not the default one.
    pub upstream: Option<UpstreamOptions>,
    /// The time for one attempt, if it is not the usual one.
    pub timeout: Option<Duration>,
    /// Models that are asked when this one does not answer.
    pub fallback: Vec<String>,
    /// What the model can do, as a JSON object.
    pub capabilities: Json,
}

/// Everything that is wrong with the models of the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct InvalidModels(pub Vec<String>);

/// Who answers for a model.
#[derive(Debug, Clone)]
pub enum Target {
    /// The built-in model.
    Echo,
    /// A model of an upstream.
    Model {
        /// The upstream.
        upstream: Arc<Upstream>,
        /// What it calls the model.
        name: String,
        /// The time for one attempt, if it is not the usual one.
        timeout: Option<Duration>,
    },
}

/// The ways to all models.
#[derive(Debug)]
pub struct Routes {
    default: Option<Arc<Upstream>>,
    exact: HashMap<String, Route>,
    /// By what names begin with, the longest first.
    families: Vec<(String, Route)>,
}

#[derive(Debug)]
struct Route {
    upstream: Arc<Upstream>,
    upstream_model: Option<String>,
    timeout: Option<Duration>,
    fallback: Vec<String>,
    capabilities: Json,
}

impl Routes {
    /// The ways that the settings describe.
    ///
    /// # Errors
    /// [`InvalidModels`], with everything that is wrong with them.
    pub fn new(default: Option<&UpstreamOptions>, models: &[ModelOptions]) -> Result<Routes, InvalidModels> {
        let mut faults = Vec::new();
        let default = default.and_then(|options| match Upstream::new(options) {
            Ok(upstream) => Some(Arc::new(upstream)),
            Err(fault) => {
                faults.push(format!("llm: {fault}"));
                None
            }
        });
        let mut routes = Routes { default, exact: HashMap::new(), families: Vec::new() };
        for model in models {
            if let Err(fault) = routes.add(model) {
                faults.push(format!("llm.models, name = {:?}: {fault}", model.name));
            }
        }
        routes.families.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        faults.extend(routes.dead_ends());
        if faults.is_empty() { Ok(routes) } else { Err(InvalidModels(faults)) }
    }

    fn add(&mut self, model: &ModelOptions) -> Result<(), String> {
        let upstream = match &model.upstream {
            Some(options) => Arc::new(Upstream::new(options)?),
            None => self.default.clone().ok_or("it needs a `base_url`, as llm.base_url is not set")?,
        };
        let route = Route {
            upstream,
            upstream_model: model.upstream_model.clone(),
            timeout: model.timeout,
            fallback: model.fallback.clone(),
            capabilities: model.capabilities.clone(),
        };
        if model.name.is_empty() || model.name.starts_with(PROMPT) {
            return Err(format!("it needs a name that does not begin with `{PROMPT}`"));
        }
        if model.name.trim_end_matches('*').contains('*') || model.name.ends_with("**") {
            return Err("a `*` can only be the end of its name".to_owned());
        }
        let twice = match model.name.strip_suffix('*') {
            None => self.exact.insert(model.name.clone(), route).is_some(),
            Some(prefix) => {
                let known = self.families.iter().any(|(other, _)| other == prefix);
                self.families.push((prefix.to_owned(), route));
                known
            }
        };
        if twice { Err("it is there twice".to_owned()) } else { Ok(()) }
    }

    /// Fallbacks that lead nowhere.
    fn dead_ends(&self) -> Vec<String> {
        let families = self.families.iter().map(|(prefix, route)| (format!("{prefix}*"), route));
        let all = self.exact.iter().map(|(name, route)| (name.clone(), route)).chain(families);
        let dead = all.flat_map(|(name, route)| {
            let lost = route.fallback.iter().filter_map(|fallback| match self.target(fallback) {
                None => Some(format!("there is no model {fallback:?} to fall back to")),
                Some(_) if *fallback == name => Some("it falls back to itself".to_owned()),
                Some(_) => None,
            });
            lost.map(|fault| format!("llm.models, name = {name:?}: {fault}")).collect::<Vec<_>>()
        });
        let mut dead: Vec<String> = dead.collect();
        dead.sort();
        dead
    }

    /// Those who are asked for a model, in turn; nobody if it is not known.
    pub fn chain(&self, model: &str) -> Vec<Target> {
        let fallback = self.route(model).map(|route| route.fallback.as_slice()).unwrap_or_default();
        let names = std::iter::once(model).chain(fallback.iter().map(String::as_str));
        names.filter_map(|name| self.target(name)).collect()
    }

    fn route(&self, model: &str) -> Option<&Route> {
        self.exact.get(model).or_else(|| {
            // The built-in model is nobody else's, unless it is named in full.
            let mut families = self.families.iter().filter(|_| model != ECHO);
            families.find(|(prefix, _)| model.starts_with(prefix.as_str())).map(|(_, route)| route)
        })
    }

    fn target(&self, model: &str) -> Option<Target> {
        match (self.route(model), &self.default) {
            // A prompt is no model; whoever means one has come through another door.
            _ if model.starts_with(PROMPT) => None,
            (Some(route), _) => Some(Target::Model {
                upstream: route.upstream.clone(),
                name: route.upstream_model.clone().unwrap_or_else(|| model.to_owned()),
                timeout: route.timeout,
            }),
            (None, _) if model == ECHO => Some(Target::Echo),
            (None, Some(upstream)) => {
                Some(Target::Model { upstream: upstream.clone(), name: model.to_owned(), timeout: None })
            }
            (None, None) => None,
        }
    }

    /// The time for one attempt at a model, if it is not the usual one.
    pub fn timeout(&self, model: &str) -> Option<Duration> {
        self.route(model).and_then(|route| route.timeout)
    }

    /// The models that the settings name in full, with what they can do.
    pub fn named(&self) -> Vec<(&str, &Json)> {
        let mut named: Vec<(&str, &Json)> =
            self.exact.iter().map(|(name, route)| (name.as_str(), &route.capabilities)).collect();
        named.sort_by_key(|(name, _)| *name);
        named
    }

    /// The upstreams that know more models than the settings name, with what those models' names begin with.
    pub fn open(&self) -> Vec<(&str, &Arc<Upstream>)> {
        let default = self.default.iter().map(|upstream| ("", upstream));
        let families = self.families.iter().filter(|(_, route)| route.upstream_model.is_none());
        default.chain(families.map(|(prefix, route)| (prefix.as_str(), &route.upstream))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(base_url: &str) -> UpstreamOptions {
        UpstreamOptions { base_url: base_url.into(), ..UpstreamOptions::default() }
    }

    fn model(name: &str, host: Option<&str>, fallback: &[&str]) -> ModelOptions {
        ModelOptions {
            name: name.into(),
            upstream: host.map(|host| upstream(&format!("http://{host}/v1"))),
            fallback: fallback.iter().map(|name| (*name).to_owned()).collect(),
            ..ModelOptions::default()
        }
    }

    fn found(routes: &Routes, model: &str) -> Vec<String> {
        let shown = |target: &Target| match target {
            Target::Echo => ECHO.to_owned(),
            Target::Model { upstream, name, .. } => format!("{}:{name}", upstream.chat.host_str().unwrap()),
        };
        routes.chain(model).iter().map(shown).collect()
    }

    #[test]
    fn the_exact_name_wins_then_the_longest_beginning_then_echo_then_the_default() {
        let models = [
            model("a*", Some("a"), &[]),
            model("ab*", Some("ab"), &["a1", "echo"]),
            ModelOptions { upstream_model: Some("x".into()), ..model("abc", None, &["other"]) },
        ];
        let routes = Routes::new(Some(&upstream("http://d/")), &models).unwrap();
        for (model, expected) in [
            ("abc", &["d:x", "d:other"][..]),
            ("abd", &["ab:abd", "a:a1", "echo"]),
            ("ac", &["a:ac"]),
            ("echo", &["echo"]),
            ("else", &["d:else"]),
            ("prompt:a.b", &[]),
        ] {
            assert_eq!(found(&routes, model), expected, "{model}");
        }
        let alone = Routes::new(None, &[]).unwrap();
        assert!(found(&alone, "else").is_empty() && found(&alone, ECHO) == [ECHO]);
        let all = Routes::new(None, &[model("*", Some("h"), &[])]).unwrap();
        assert_eq!((found(&all, "x"), found(&all, ECHO)), (vec!["h:x".to_owned()], vec![ECHO.to_owned()]));
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let models = [
            model("a", Some("h"), &[]),
            model("a", Some("h"), &["nobody"]),
            model("b*", None, &[]),
            model("prompt:x", Some("h"), &[]),
            model("", Some("h"), &[]),
        ];
        let InvalidModels(faults) = Routes::new(Some(&upstream("nothing")), &models).unwrap_err();
        assert_eq!(faults.len(), 6, "{faults:?}");
        assert!(faults[5].contains("nobody"), "{faults:?}");
    }
}
