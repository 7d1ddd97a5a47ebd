//! A skill as a document: the text of a SKILL.md, or an object `{name, description, content}`.

use std::borrow::Cow;

use base::encoding::without_bom;
use base::model::{Id, Skill};
use serde_json::{Map, Value as Json};

use super::super::yaml::PROMPT_FILE;
use super::{parts, skill, skill_beside};

/// Why bytes are no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableSkill(pub String);

/// Whether bytes are meant as a JSON object: no text of a skill begins with `{` and a quote.
pub fn is_skill_document(bytes: &[u8]) -> bool {
    let mut signs = without_bom(bytes).iter().filter(|byte| !byte.is_ascii_whitespace());
    signs.next() == Some(&b'{') && signs.next().is_none_or(|byte| b"\"}".contains(byte))
}

/// The skill that a text in bytes is.
///
/// # Errors
/// [`UnusableSkill`] for what is no text, for too long a text, and for one without a word.
pub fn stored_skill(id: &Id, folder: Option<&str>, bytes: &[u8]) -> Result<Skill, UnusableSkill> {
    let text = usable(bytes)?;
    Ok(skill(id, folder, text))
}

/// The skill that an object is, which has passed its schema. Members beside `content` come before those of its front matter.
///
/// # Errors
/// As [`stored_skill`].
pub fn skill_of_object(
    id: &Id,
    folder: Option<&str>,
    object: Map<String, Json>,
) -> Result<Skill, UnusableSkill> {
    let mut beside = object;
    let content = beside.shift_remove("content");
    let text = usable(content.as_ref().and_then(Json::as_str).unwrap_or_default().as_bytes())?;
    Ok(skill_beside(id, folder, text, beside))
}

fn usable(bytes: &[u8]) -> Result<&str, UnusableSkill> {
    let fault = |message: String| Err(UnusableSkill(message));
    if bytes.len() > PROMPT_FILE {
        return fault(format!("has {} bytes; a skill may have {PROMPT_FILE}", bytes.len()));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) if bytes.contains(&0) => fault("is no text: it holds a NUL".to_owned()),
        Ok(text) if parts::normal(text).trim().is_empty() => {
            fault("is empty: a skill is a text that says what to do".to_owned())
        }
        Ok(text) => Ok(text),
        Err(error) => fault(format!("is no text in UTF-8: {error}")),
    }
}

/// The SKILL.md that a stored skill is: a text as it stands, and of an object its members as front matter and its text below.
pub fn skill_file(bytes: &[u8]) -> Cow<'_, [u8]> {
    let object = Some(bytes).filter(|bytes| is_skill_document(bytes));
    let object = object.and_then(|bytes| serde_json::from_slice::<Map<String, Json>>(bytes).ok());
    let Some(mut members) = object else { return Cow::Borrowed(bytes) };
    let content = members.shift_remove("content");
    let content = content.as_ref().and_then(Json::as_str).unwrap_or_default();
    members.retain(|_, value| !value.is_null());
    if members.is_empty() {
        return Cow::Owned(content.as_bytes().to_vec());
    }
    let text = parts::normal(content);
    let parts = parts::split(&text);
    let members = parts::merged(parts.front, members, &mut Vec::new());
    // JSON is YAML: values need no other form.
    let lines: String = members.iter().map(|(name, value)| format!("{}: {value}\n", key(name))).collect();
    Cow::Owned(format!("---\n{lines}---\n\n{}\n", parts.body.trim()).into_bytes())
}

/// A name as YAML has it before a colon.
fn key(name: &str) -> String {
    let is_plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ['_', '-'].contains(&c));
    let is_word = is_plain && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_word { name.to_owned() } else { Json::from(name).to_string() }
}
