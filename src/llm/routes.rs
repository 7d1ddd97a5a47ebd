//! Which upstream answers for which model, and which models are its fallbacks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::capabilities::Capabilities;
use super::options::{ModelOptions, UpstreamOptions};
use super::shared::Shared;
use super::transport;
use super::upstream::Upstream;

/// The name of the built-in model.
pub const ECHO: &str = "echo";

/// How the name of a model begins that means a prompt.
pub const PROMPT: &str = "prompt:";

/// The settings for models cannot be used; holds one message for each thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct InvalidModels(pub Vec<String>);

/// Who is asked for a model.
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
        /// The name by which requests ask for it.
        asked: String,
        /// The time limit for one attempt; `None` for the usual one.
        timeout: Option<Duration>,
        /// What it can do.
        capabilities: Capabilities,
    },
}

/// The routes from names of models to upstreams.
#[derive(Debug)]
pub struct Routes {
    /// The upstream of all names without a route.
    default: Option<Arc<Upstream>>,
    /// Routes by whole names.
    exact: HashMap<String, Route>,
    /// Routes by prefixes of names, the longest prefix first.
    prefixes: Vec<(String, Route)>,
}

#[derive(Debug)]
struct Route {
    upstream: Arc<Upstream>,
    upstream_model: Option<String>,
    timeout: Option<Duration>,
    fallback: Vec<String>,
    capabilities: Capabilities,
}

impl Routes {
    /// The routes of these models, and `default` for all others; upstreams on other machines are reached through `proxy`.
    ///
    /// # Errors
    /// [`InvalidModels`], with everything that is wrong.
    pub fn new(
        default: Option<&UpstreamOptions>,
        models: &[ModelOptions],
        proxy: Option<&str>,
    ) -> Result<Routes, InvalidModels> {
        let proxy = proxy.map(|address| (address, transport::proxy(address).is_ok()));
        let usable = proxy.and_then(|(address, is_usable)| is_usable.then_some(address));
        let (mut errors, mut shared) = (Vec::new(), Shared::new(usable));
        if proxy.is_some() && usable.is_none() {
            errors.push("llm.proxy is not the address of a proxy".to_owned());
        }
        let is_default = default.is_some();
        let default = default.and_then(|options| match Upstream::new(options, &mut shared) {
            Ok(upstream) => Some(Arc::new(upstream)),
            Err(wrong) => {
                errors.extend(wrong.iter().map(|error| format!("llm: {error}")));
                None
            }
        });
        // What is wrong with the default upstream is not told again for each model that uses it.
        let told_already = is_default && default.is_none();
        let mut routes = Routes { default, exact: HashMap::new(), prefixes: Vec::new() };
        for model in models {
            let place = |error| format!("llm.models, name = {:?}: {error}", model.name);
            match routes.add(model, &mut shared) {
                Err(_) if told_already && model.upstream.is_none() => {}
                added => errors.extend(added.err().into_iter().flatten().map(place)),
            }
        }
        routes.prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        errors.extend(routes.invalid_fallbacks());
        if errors.is_empty() { Ok(routes) } else { Err(InvalidModels(errors)) }
    }

    fn add(&mut self, model: &ModelOptions, shared: &mut Shared) -> Result<(), Vec<String>> {
        let none = || vec!["it needs a `base_url`, as llm.base_url is not set".to_owned()];
        let upstream = match &model.upstream {
            Some(options) => Arc::new(Upstream::new(options, shared)?),
            None => self.default.clone().ok_or_else(none)?,
        };
        let route = Route {
            upstream_model: model.upstream_model.clone(),
            timeout: model.timeout,
            fallback: model.fallback.clone(),
            capabilities: upstream.protocol.capabilities(model.capabilities),
            upstream,
        };
        self.insert(model, route).map_err(|wrong| vec![wrong])
    }

    fn insert(&mut self, model: &ModelOptions, route: Route) -> Result<(), String> {
        if model.name.is_empty() || model.name.starts_with(PROMPT) {
            return Err(format!("it needs a name that does not begin with `{PROMPT}`"));
        }
        if model.name.trim_end_matches('*').contains('*') || model.name.ends_with("**") {
            return Err("a `*` can only be the end of its name".to_owned());
        }
        let is_twice = match model.name.strip_suffix('*') {
            None => self.exact.insert(model.name.clone(), route).is_some(),
            Some(prefix) => {
                let is_known = self.prefixes.iter().any(|(other, _)| other == prefix);
                self.prefixes.push((prefix.to_owned(), route));
                is_known
            }
        };
        if is_twice { Err("it is there twice".to_owned()) } else { Ok(()) }
    }

    /// What is wrong with the fallbacks, sorted.
    fn invalid_fallbacks(&self) -> Vec<String> {
        let prefixes = self.prefixes.iter().map(|(prefix, route)| (format!("{prefix}*"), route));
        let all = self.exact.iter().map(|(name, route)| (name.clone(), route)).chain(prefixes);
        let errors = all.flat_map(|(name, route)| {
            let errors = route.fallback.iter().filter_map(|fallback| match self.target(fallback) {
                None => Some(format!("there is no model {fallback:?} to fall back to")),
                Some(_) if *fallback == name => Some("it falls back to itself".to_owned()),
                Some(_) => None,
            });
            errors.map(|error| format!("llm.models, name = {name:?}: {error}")).collect::<Vec<_>>()
        });
        let mut errors: Vec<String> = errors.collect();
        errors.sort();
        errors
    }

    /// Who is asked for a model: its own target, then those of its fallbacks. Empty if there is no such model.
    pub fn chain(&self, model: &str) -> Vec<Target> {
        let fallback = self.route(model).map(|route| route.fallback.as_slice()).unwrap_or_default();
        let names = std::iter::once(model).chain(fallback.iter().map(String::as_str));
        names.filter_map(|name| self.target(name)).collect()
    }

    fn route(&self, model: &str) -> Option<&Route> {
        self.exact.get(model).or_else(|| {
            // No prefix takes the name of the built-in model; a route by the whole name does.
            let mut prefixes = self.prefixes.iter().filter(|_| model != ECHO);
            prefixes.find(|(prefix, _)| model.starts_with(prefix.as_str())).map(|(_, route)| route)
        })
    }

    fn target(&self, model: &str) -> Option<Target> {
        match (self.route(model), &self.default) {
            // `prompt:` names are resolved in `chat`; here they match nothing.
            _ if model.starts_with(PROMPT) => None,
            (Some(route), _) => Some(Target::Model {
                upstream: route.upstream.clone(),
                name: route.upstream_model.clone().unwrap_or_else(|| model.to_owned()),
                asked: model.to_owned(),
                timeout: route.timeout,
                capabilities: route.capabilities,
            }),
            (None, _) if model == ECHO => Some(Target::Echo),
            (None, Some(upstream)) => {
                let capabilities = upstream.protocol.capabilities(Capabilities::default());
                let (name, asked) = (model.to_owned(), model.to_owned());
                Some(Target::Model { upstream: upstream.clone(), name, asked, timeout: None, capabilities })
            }
            (None, None) => None,
        }
    }

    /// The time limit for one attempt at a model; `None` for the usual one.
    pub fn timeout(&self, model: &str) -> Option<Duration> {
        self.route(model).and_then(|route| route.timeout)
    }

    /// The models whose whole names are in the settings, sorted, with what they can do.
    pub fn named(&self) -> Vec<(&str, Capabilities)> {
        let mut named: Vec<(&str, Capabilities)> =
            self.exact.iter().map(|(name, route)| (name.as_str(), route.capabilities)).collect();
        named.sort_by_key(|(name, _)| *name);
        named
    }

    /// The upstreams that may offer more models than the settings name, each with the prefix of those models' names.
    pub fn open(&self) -> Vec<(&str, &Arc<Upstream>)> {
        let default = self.default.iter().map(|upstream| ("", upstream));
        let prefixes = self.prefixes.iter().filter(|(_, route)| route.upstream_model.is_none());
        default.chain(prefixes.map(|(prefix, route)| (prefix.as_str(), &route.upstream))).collect()
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
            Target::Model { upstream, name, .. } => {
                format!("{}:{name}", upstream.endpoints.chat.host_str().unwrap())
            }
        };
        routes.chain(model).iter().map(shown).collect()
    }

    #[test]
    fn the_exact_name_wins_then_the_longest_prefix_then_echo_then_the_default() {
        let models = [
            model("a*", Some("a"), &[]),
            model("ab*", Some("ab"), &["a1", "echo"]),
            ModelOptions { upstream_model: Some("x".into()), ..model("abc", None, &["other"]) },
        ];
        let routes = Routes::new(Some(&upstream("http://d/")), &models, None).unwrap();
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
        let alone = Routes::new(None, &[], None).unwrap();
        assert!(found(&alone, "else").is_empty() && found(&alone, ECHO) == [ECHO]);
        let all = Routes::new(None, &[model("*", Some("h"), &[])], None).unwrap();
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
        let InvalidModels(errors) = Routes::new(Some(&upstream("nothing")), &models, None).unwrap_err();
        // Not named: `b*`, which uses the default upstream.
        assert_eq!(errors.len(), 5, "{errors:?}");
        assert!(errors[4].contains("nobody"), "{errors:?}");
        let InvalidModels(errors) = Routes::new(None, &[model("b*", None, &[])], None).unwrap_err();
        assert!(errors[0].contains("base_url"), "{errors:?}");
    }
}
