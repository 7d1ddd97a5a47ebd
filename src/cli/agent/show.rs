//! What a conversation with an agent shows. On a terminal, texts have colours; elsewhere they are printed as they are.

use std::io::IsTerminal;

use agent::{Level, ToolCall};
use console::style;
use serde_json::Value as Json;

use crate::cli::output::{on_one_line, say, visible};

/// Shows a text of the agent: `is_intro` if it only says that a step begins, and `level` is that of the worst line in the log of the step.
pub fn text(text: &str, is_intro: bool, level: Level) {
    // A terminal must not be told what to do; a file gets the text itself.
    let text = if std::io::stdout().is_terminal() { visible(text) } else { text.to_owned() };
    say(match (is_intro, level) {
        (true, _) => style(text).dim(),
        (false, Level::Debug) => style(text),
        (false, Level::Warning) => style(text).yellow(),
        (false, Level::Error | Level::Critical) => style(text).red(),
    });
}

/// Shows a call that waits for approval.
pub fn pending(call: &ToolCall) {
    let arguments = Json::Object(call.arguments.clone()).to_string();
    say(format_args!("{} {}", style(on_one_line(&call.tool)).bold(), on_one_line(&arguments)));
}
