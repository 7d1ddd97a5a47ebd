//! `[assistant]`: what commands of models may do on the user's machine; and the plugin's file, which keeps the names of its own and wins.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::section::section;

section! {
    /// `[assistant]`
    pub struct Assistant in "assistant" {
        /// The programs that may run, by their names, in the place of those that have a table of harmless forms and the usual tools of
        /// developers.
        allowed_programs: Option<Vec<String>> = None;
        /// Whether commands may use the network, after a question.
        allow_network: bool = true;
        /// Whether commands may write, after a question.
        allow_write: bool = true;
        /// Whether commands may gain privilege, after a question.
        allow_sudo: bool = false;
    }
}

/// The plugin's file, below the home folder.
const PLUGIN_FILE: &str = ".slothtool/plugin-configs/ai.json";

/// What the plugin's file says. It has more members, which are about conversations.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct PluginFile {
    allowed_programs: Option<Vec<String>>,
    allow_network: Option<bool>,
    allow_write: Option<bool>,
    allow_sudo: Option<bool>,
}

impl Assistant {
    /// The settings with what the plugin's file (`~/.slothtool/plugin-configs/ai.json`) says, if there is one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn with_plugin_file(mut self, home: &Path) -> Result<Assistant, String> {
        let path = home.join(PLUGIN_FILE);
        let Some(file) = read(&path)? else { return Ok(self) };
        self.allowed_programs = file.allowed_programs.or(self.allowed_programs);
        self.allow_network = file.allow_network.unwrap_or(self.allow_network);
        self.allow_write = file.allow_write.unwrap_or(self.allow_write);
        self.allow_sudo = file.allow_sudo.unwrap_or(self.allow_sudo);
        Ok(self)
    }

    /// What both settings permit. A list of programs that only one of them has is cut to those that the other permits: `may_run` says
    /// which are permitted without a list.
    pub fn narrowed_by(self, other: Assistant, may_run: impl Fn(&str) -> bool) -> Assistant {
        let allowed_programs = match (self.allowed_programs, other.allowed_programs) {
            (Some(programs), Some(others)) => {
                Some(programs.into_iter().filter(|name| others.contains(name)).collect())
            }
            (Some(programs), None) | (None, Some(programs)) => {
                Some(programs.into_iter().filter(|name| may_run(name)).collect())
            }
            (None, None) => None,
        };
        Assistant {
            allowed_programs,
            allow_network: self.allow_network && other.allow_network,
            allow_write: self.allow_write && other.allow_write,
            allow_sudo: self.allow_sudo && other.allow_sudo,
        }
    }

    /// The narrowest settings: what holds when nobody knows what was meant.
    pub fn narrowest() -> Assistant {
        Assistant { allow_network: false, allow_write: false, allow_sudo: false, ..Assistant::default() }
    }
}

fn read(path: &PathBuf) -> Result<Option<PluginFile>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    // A list would be taken for the members in their order.
    let object: Result<serde_json::Map<String, serde_json::Value>, _> =
        serde_json::from_str(text.trim_start_matches('\u{feff}'));
    let file = object.and_then(|object| serde_json::from_value(object.into()));
    file.map(Some).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file(text: &str) -> Result<Assistant, String> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(PLUGIN_FILE);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        Assistant::default().with_plugin_file(home.path())
    }

    #[test]
    fn the_file_of_the_plugin_wins_and_a_broken_one_is_named() {
        let file = r#"{"allowedPrograms": ["ls"], "allowNetwork": false, "defaultMode": "high"}"#;
        let settings = with_file(file).unwrap();
        assert_eq!(settings.allowed_programs, Some(vec!["ls".to_owned()]));
        assert!(!settings.allow_network && settings.allow_write);
        for broken in ["{", "[]", r#"{"allowWrite": "no"}"#, r#"{"allowedPrograms": "ls"}"#] {
            assert!(with_file(broken).unwrap_err().contains("ai.json"), "{broken}");
        }
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(Assistant::default().with_plugin_file(nowhere.path()), Ok(Assistant::default()));
    }
}
