//! Checks whether the engine and the other extensions that an extension depends on are present.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::model::{Dependence, ENGINE_NAME, ENGINE_VERSION, Extension, FailStrategy, Id};

/// A dependence of an extension that is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetDependence {
    /// The predicate of a sentence about the extension.
    pub message: String,
    /// Whether the extension cannot work without it.
    pub fatal: bool,
}

/// The dependences of `extension` that the extensions `all` and this engine do not meet.
pub fn unmet(extension: &Extension, all: &BTreeMap<Id, Arc<Extension>>) -> Vec<UnmetDependence> {
    let dependences = extension.dependences.iter().filter_map(|dependence| {
        let fatal = dependence.fail_strategy == FailStrategy::Abort;
        unmet_dependence(dependence, all).map(|message| UnmetDependence { message, fatal })
    });
    engine(extension).into_iter().chain(dependences).collect()
}

fn unmet_dependence(dependence: &Dependence, all: &BTreeMap<Id, Arc<Extension>>) -> Option<String> {
    let name = &dependence.name;
    let wanted = match &dependence.version {
        Ok(wanted) => wanted,
        Err(text) => {
            return Some(format!("depends on the extension `{name}` in the version `{text}`, {UNREADABLE}"));
        }
    };
    let found = Id::parse(name).ok().and_then(|id| all.get(&id));
    match found.map(|other| other.version.as_ref()) {
        None => Some(format!("depends on the extension `{name}` ({wanted}), which is not installed")),
        Some(Some(version)) if wanted.matches(version) => None,
        Some(Some(version)) => {
            Some(format!("depends on the extension `{name}` ({wanted}); version {version} is installed"))
        }
        Some(None) if *wanted == semver::VersionReq::STAR => None,
        Some(None) => Some(format!("depends on the extension `{name}` ({wanted}), which states no version")),
    }
}

/// The end of a message about a version requirement that cannot be parsed.
const UNREADABLE: &str = "which is not a version requirement such as ^1.2.0";

fn engine(extension: &Extension) -> Option<UnmetDependence> {
    let engine = extension.engine.as_ref()?;
    let message = match &engine.version {
        _ if engine.name != ENGINE_NAME => {
            format!("is made for the engine `{}`; this one is `{ENGINE_NAME}`", engine.name)
        }
        Ok(wanted) if wanted.matches(&ENGINE_VERSION) => return None,
        Ok(wanted) => format!("needs version {wanted} of the engine; this one is {ENGINE_VERSION}"),
        Err(text) => format!("needs version `{text}` of the engine, {UNREADABLE}"),
    };
    Some(UnmetDependence { message, fatal: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn extension(document: serde_json::Value) -> Arc<Extension> {
        Arc::new(Extension::from_document(document))
    }

    #[test]
    fn missing_and_wrong_versions_are_told_apart_and_met_ones_are_not_mentioned() {
        let wanting = extension(json!({
            "name": "x",
            "engines": {"name": "ai-prompt-shell", "version": ">=1.0.0"},
            "contributes": {"dependences": [
                {"name": "gone", "version": "^1.0.0", "failStrategy": "abort"},
                {"name": "old", "version": "^1.2.0", "failStrategy": "ignore"},
                {"name": "good", "version": "^1.2.0"},
                {"name": "good", "version": ">=1.0.0 <2.0.0"}
            ]}
        }));
        let all = [("old", "1.1.0"), ("good", "1.9.9")].map(|(name, version)| {
            (Id::parse(name).unwrap(), extension(json!({"name": name, "version": version})))
        });
        let found = unmet(&wanting, &all.into());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].fatal && found[0].message.contains("`gone`"));
        assert!(!found[1].fatal && found[1].message.contains("1.1.0"));
    }

    #[test]
    fn another_engine_or_a_newer_one_is_reported() {
        for engines in [
            json!({"name": "other"}),
            json!({"name": "ai-prompt-shell", "version": ">=2"}),
            json!({"name": "ai-prompt-shell", "version": "latest"}),
        ] {
            let found = unmet(&extension(json!({"name": "x", "engines": engines})), &BTreeMap::new());
            assert!(found.len() == 1 && found[0].fatal, "{found:?}");
        }
    }
}
