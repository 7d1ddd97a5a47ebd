//! Whether an extension finds the engine and the other extensions that it asks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::model::{Dependence, ENGINE_NAME, ENGINE_VERSION, Extension, FailStrategy, Id};

/// Something that an extension asks for and does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// A sentence.
    pub message: String,
    /// Whether the extension cannot do without it.
    pub fatal: bool,
}

/// Everything that `extension` asks for and does not find among `all`.
pub fn unmet(extension: &Extension, all: &BTreeMap<Id, Arc<Extension>>) -> Vec<Unmet> {
    let dependences = extension.dependences.iter().filter_map(|dependence| {
        let fatal = dependence.fail_strategy == FailStrategy::Abort;
        unmet_dependence(dependence, all).map(|message| Unmet { message, fatal })
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

/// What is wrong with a requirement that is none.
const UNREADABLE: &str = "which is no requirement on versions, such as ^1.2.0";

fn engine(extension: &Extension) -> Option<Unmet> {
    let engine = extension.engine.as_ref()?;
    let message = match &engine.version {
        _ if engine.name != ENGINE_NAME => {
            format!("is made for the engine `{}`; this one is `{ENGINE_NAME}`", engine.name)
        }
        Ok(wanted) if wanted.matches(&ENGINE_VERSION) => return None,
        Ok(wanted) => format!("needs version {wanted} of the engine; this one is {ENGINE_VERSION}"),
        Err(text) => format!("needs version `{text}` of the engine, {UNREADABLE}"),
    };
    Some(Unmet { message, fatal: true })
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
