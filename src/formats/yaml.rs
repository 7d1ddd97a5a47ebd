//! YAML as JSON, with bounds on what a text can unfold to.

use serde_json::Value as Json;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter};

/// The most bytes of a prompt file.
pub const PROMPT_FILE: usize = 1 << 20;

/// How deep lists and objects may be nested.
const DEPTH_MAX: usize = 64;

/// An error of a text that is not usable YAML.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", .line.map(|line| format!(" (line {line})")).unwrap_or_default())]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: Option<usize>,
}

/// Reads one YAML document of at most `bytes_max` bytes, and a tenth as many nodes.
///
/// # Errors
/// [`YamlError`] for text that is no YAML, too large, or unfolds to too much by its aliases.
pub fn parse(text: &str, bytes_max: usize) -> Result<Json, YamlError> {
    if text.len() > bytes_max {
        let message = format!("the YAML has {} bytes; at most {bytes_max} are read", text.len());
        return Err(YamlError { message, line: None });
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: DEPTH_MAX, max_nodes: bytes_max / 10, max_documents: 1, },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000, max_replay_stack_depth: 16, },
        // YAML 1.2: `no`, `n` and `on` are texts.
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| YamlError {
        line: error.location().and_then(|location| usize::try_from(location.line()).ok()),
        message: message_of(&error),
    })
}

/// What is wrong, without a place.
fn message_of(error: &Error) -> String {
    let too_much = |what: &str| format!("YAML that is not read: {what}");
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => message_of(error),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => too_much("its aliases (`*name`) unfold to too much"),
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } | Error::MultipleDocuments { .. } => {
            too_much("it has several documents (parted by `---`), and one is read")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            too_much(&format!("its lists and objects are nested more than {DEPTH_MAX} deep"))
        }
        Error::Budget { .. } => too_much("it has too many parts"),
        error => format!("not valid YAML: {}", UserMessageFormatter.format_message(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_becomes_json_and_errors_have_lines() {
        assert_eq!(
            parse("a: 1\nb: [n, 2.5, true, null]\n", PROMPT_FILE),
            Ok(json!({"a": 1, "b": ["n", 2.5, true, null]}))
        );
        assert_eq!(parse("a: 1\nb: [", PROMPT_FILE).unwrap_err().line, Some(2));
    }

    #[test]
    fn aliases_that_multiply_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let item = format!("*a{}", n - 1);
            bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![item; 10].join(", ")));
        }
        let message = |text: &str| parse(text, PROMPT_FILE).unwrap_err().to_string();
        assert!(message(&bomb).contains("its aliases"), "{}", message(&bomb));
        assert!(parse(&"[".repeat(10_000), PROMPT_FILE).is_err());
        assert!(message(&format!("{}{}", "[".repeat(200), "]".repeat(200))).contains("more than 64 deep"));
        assert!(message("a: 1\n---\nb: 2\n").contains("several documents"));
        assert_eq!(
            message("a: 1\na: 2\n"),
            "not valid YAML: duplicate mapping key `a` is not allowed here (line 2)"
        );
    }
}
