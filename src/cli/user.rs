//! The user, as the environment tells: folders, and other variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// A variable of the environment that is not empty.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The home folder.
pub fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// The folder of the user's configuration: `$XDG_CONFIG_HOME`, or `~/.config`.
pub fn configuration() -> Option<PathBuf> {
    let named = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(home()?.join(".config")))
}
