//! Bare templates: the text is the prompt, or a chat if it begins with the heading of a role.

use serde_json::Map;
use template::Syntax;

use super::names::dialect_of;
use super::roles::begins_with_heading;
use super::source::{Found, PlainAs, Refusal, Source};

/// Reads a file that is a template, and nothing else.
///
/// # Errors
/// If it is a chat with messages that answer calls.
pub fn read(source: &Source) -> Result<Found, Refusal> {
    let syntax = dialect_of(&source.path);
    let mut left_out = Vec::new();
    let mut document = match syntax {
        None | Some(Syntax::Jinja) if begins_with_heading(&source.text) => {
            source.body(0, &source.text, PlainAs::Text, &mut left_out)?
        }
        _ => Map::from_iter([("userPrompt".to_owned(), source.template(0, &source.text))]),
    };
    if let Some(syntax) = syntax {
        document.insert("syntax".to_owned(), serde_json::json!(syntax));
    }
    document.extend(source.folder());
    Ok(Found { format: "template", document, left_out })
}
