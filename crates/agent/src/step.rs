//! The five steps.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A step of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The user is heard.
    Main,
    /// A model says whether the message concerns the agent.
    Cls,
    /// A model chooses a tool.
    Select,
    /// The choice is checked.
    Valid,
    /// The tool is called.
    Exec,
}

impl Step {
    /// All steps, in their order.
    pub const ALL: [Step; 5] = [Step::Main, Step::Cls, Step::Select, Step::Valid, Step::Exec];

    /// Its name in documents and answers.
    pub fn name(self) -> &'static str {
        match self {
            Step::Main => "main",
            Step::Cls => "cls",
            Step::Select => "select",
            Step::Valid => "valid",
            Step::Exec => "exec",
        }
    }

    /// The step of this name.
    pub fn named(name: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.name() == name)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
