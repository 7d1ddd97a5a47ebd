//! The system message: the instructions, the system that commands run on, what is known of it, and the skill.

use serde::{Deserialize, Serialize};

/// The operating system that commands run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Os {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

impl Os {
    /// All of them.
    pub const ALL: [Os; 3] = [Os::Linux, Os::Macos, Os::Windows];

    /// Its name in requests.
    pub fn id(self) -> &'static str {
        match self {
            Os::Linux => "linux",
            Os::Macos => "macos",
            Os::Windows => "windows",
        }
    }

    /// Its name, and a line on its commands.
    fn about(self) -> (&'static str, &'static str) {
        match self {
            Os::Linux => ("Linux", "Use commands of a POSIX shell (sh, bash) and GNU tools."),
            Os::Macos => (
                "macOS",
                "Use commands of a POSIX shell (sh, zsh) and BSD tools, whose options differ from GNU's.",
            ),
            Os::Windows => (
                "Windows",
                "Use commands of cmd.exe; begin with `powershell -Command` where PowerShell is needed.",
            ),
        }
    }
}

/// Puts the system message together.
pub fn system(base: &str, os: Option<Os>, knowledge: &str, skill: &str, body: &str) -> String {
    let mut text = base.trim().to_owned();
    let mut add = |title: &str, content: &str| {
        for part in ["\n\n--- ", title, " ---\n", content] {
            text.push_str(part);
        }
    };
    if let Some((name, commands)) = os.map(Os::about) {
        add(&format!("Target OS: {name}"), commands);
    }
    if !knowledge.trim().is_empty() {
        add("System Context", knowledge.trim());
    }
    add(&format!("Active Skill: {skill}"), body.trim());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_stand_in_their_order() {
        assert_eq!(system("Base.\n", None, " \n", "s", "Body"), "Base.\n\n--- Active Skill: s ---\nBody");
        let all = system("Base.", Some(Os::Linux), "\nIt is old.\n", "s", "Body");
        assert_eq!(
            all,
            "Base.\n\n--- Target OS: Linux ---\nUse commands of a POSIX shell (sh, bash) and GNU tools.\n\n\
             --- System Context ---\nIt is old.\n\n--- Active Skill: s ---\nBody"
        );
        for os in Os::ALL {
            assert_eq!(serde_json::to_value(os).unwrap(), os.id());
        }
    }
}
