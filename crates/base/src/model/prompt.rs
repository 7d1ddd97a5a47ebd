//! The prompt document: the template texts of a prompt, with its parameters and limits.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
pub use template::{Syntax, Undefined};

use super::{AnswerSchema, Id, object_schema, string_member, strings};

/// Whether a prompt is a document of its own or a part of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The prompt is a document of its own.
    Direct,
    /// An extension contributes the prompt.
    Extension,
}

/// What a failed call of a tool means for the prompt whose template made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolFailure {
    /// The tool's default, or nothing, stands in its place, and the answer has a warning.
    #[default]
    Default,
    /// The prompt is not rendered.
    Refuse,
}

/// A prompt, read from a document that has passed its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// `{extension}.{prompt}`.
    pub id: Id,
    /// Whether it is a document of its own.
    pub origin: Origin,
    /// The dialect of its templates, if the document names one; else it is guessed from each text.
    pub syntax: Option<Syntax>,
    /// Whether values may be missing, if the document says so; else the settings say it.
    pub undefined: Option<Undefined>,
    /// What a failed call of a tool means, if the document says so; else the settings say it.
    pub tool_failure: Option<ToolFailure>,
    /// The folder of its extension in which the paths of partials are looked up last.
    pub folder: Option<String>,
    /// Whether its one text has headings for roles, so that it renders to messages.
    pub roles: bool,
    /// What is rendered: one text or messages.
    pub body: Body,
    /// The parameter that the last message of the user fills in a chat.
    pub input: Option<String>,
    /// The uses that it is made for, such as `chat`.
    pub supports: Vec<String>,
    /// The JSON Schema of its variables; the list form is converted.
    pub parameters: Option<Json>,
    /// The JSON Schema of its answers.
    pub returns: Option<AnswerSchema>,
    /// Defaults for a chat request: the members of `params`, and `model`.
    pub params: serde_json::Map<String, Json>,
    /// The limits in the document.
    pub limits: PromptLimits,
    /// The whole document, with the texts of files in the place of file references.
    pub document: Json,
}

/// Limits that a prompt sets for its own renders; they can only be stricter than those of the service.
///
/// They apply when this prompt is rendered, not when it is used as a partial of another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptLimits {
    /// The time limit of one render, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// The ids of the tools that it may call; `None` allows all.
    pub tools: Option<Vec<String>>,
}

/// What a prompt renders to.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// One text.
    Text(TemplateText),
    /// Messages; every string in their `content` is a template.
    Messages {
        /// The messages of the document, with empty strings in the place of the templates.
        skeleton: Vec<Json>,
        /// The templates, in document order.
        texts: Vec<TemplateText>,
    },
}

/// A template text, with the place it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateText {
    /// The source of the template.
    pub text: Arc<str>,
    /// The file of a package that it was read from, for messages to authors.
    pub file: Option<String>,
    /// How many lines of that file come before it.
    pub lines_before: usize,
    /// Its place in the document (`messages[1].content`); empty if it is the prompt's only text.
    pub place: String,
}

/// The member for the text of the file that `{"file": …}` refers to, which the loader of packages adds. Its name begins with
/// a NUL, so that no author's document has it.
const FILE_TEXT: &str = "\u{0}text";

/// The member for the number of lines of the file that come before the text; absent if the text begins with the file.
const LINES_BEFORE: &str = "\u{0}lines";

/// A file reference with the text of the file added.
pub fn filled_in(file: &str, text: &str) -> Json {
    filled_in_after(0, file, text)
}

/// A file reference with a part of the file added that comes after this many lines.
pub fn filled_in_after(lines: usize, file: &str, text: &str) -> Json {
    let mut members = serde_json::Map::new();
    members.insert("file".to_owned(), file.into());
    members.insert(FILE_TEXT.to_owned(), text.into());
    if lines > 0 {
        members.insert(LINES_BEFORE.to_owned(), lines.into());
    }
    Json::Object(members)
}

/// Whether this is a file reference without the file's text. Only packages may contain these.
pub fn is_file_reference(json: &Json) -> bool {
    json.as_object()
        .is_some_and(|members| members.len() == 1 && members.get("file").is_some_and(Json::is_string))
}

fn from_template_string(json: &Json) -> Option<TemplateText> {
    match json {
        Json::String(text) => Some(TemplateText {
            text: text.as_str().into(),
            file: None,
            lines_before: 0,
            place: String::new(),
        }),
        Json::Object(_) => Some(TemplateText {
            text: json.get(FILE_TEXT)?.as_str()?.into(),
            file: Some(json.get("file")?.as_str()?.to_owned()),
            lines_before: json.get(LINES_BEFORE).and_then(Json::as_u64).unwrap_or(0) as usize,
            place: String::new(),
        }),
        _ => None,
    }
}

/// The document with each file reference replaced by the text of the file.
pub fn without_files(document: Json) -> Json {
    match document {
        Json::Object(members) => match from_template_string(&Json::Object(members.clone())) {
            Some(text) => Json::String(text.text.to_string()),
            None => members.into_iter().map(|(key, member)| (key, without_files(member))).collect(),
        },
        Json::Array(items) => items.into_iter().map(without_files).collect(),
        other => other,
    }
}

impl Prompt {
    /// Reads the document of the prompt `id`, which has passed its schema.
    pub fn from_document(id: Id, origin: Origin, document: Json) -> Prompt {
        let text = document.get("userPrompt").or_else(|| document.get("prompt"));
        let body = match (text.and_then(from_template_string), document.get("messages")) {
            (Some(text), _) => Body::Text(text),
            (None, messages) => Body::from_messages(messages.and_then(Json::as_array)),
        };
        let limits = document.get("limits");
        let tools = limits.and_then(|l| l.get("tools"));
        Prompt {
            id,
            origin,
            syntax: match string_member(&document, "syntax").as_deref() {
                Some("go") => Some(Syntax::Go),
                Some("jinja") => Some(Syntax::Jinja),
                Some("text") => Some(Syntax::Text),
                _ => None,
            },
            undefined: match string_member(&document, "undefined").as_deref() {
                Some("strict") => Some(Undefined::Strict),
                Some("lenient") => Some(Undefined::Lenient),
                _ => None,
            },
            tool_failure: match document.pointer("/tools/on_failure").and_then(Json::as_str) {
                Some("default") => Some(ToolFailure::Default),
                Some("refuse") => Some(ToolFailure::Refuse),
                _ => None,
            },
            folder: string_member(&document, "folder"),
            roles: document.get("roles") == Some(&Json::Bool(true)),
            body,
            input: string_member(&document, "input"),
            supports: strings(document.get("supports")),
            parameters: document.get("parameters").and_then(object_schema),
            returns: document.get("returns").and_then(AnswerSchema::read),
            params: chat_defaults(&document),
            limits: PromptLimits {
                timeout_ms: limits.and_then(|l| l.get("timeoutMs")).and_then(Json::as_u64),
                tools: tools.map(|_| strings(tools)),
            },
            document: without_files(document),
        }
    }

    /// The templates of the prompt, in document order.
    pub fn texts(&self) -> &[TemplateText] {
        self.body.texts()
    }

    /// The length of all templates together, in bytes.
    pub fn source_bytes(&self) -> usize {
        self.texts().iter().map(|text| text.text.len()).sum()
    }
}

/// The members of `params`, and `model`.
fn chat_defaults(document: &Json) -> serde_json::Map<String, Json> {
    let mut params = document.get("params").and_then(Json::as_object).cloned().unwrap_or_default();
    if let Some(model) = string_member(document, "model") {
        params.insert("model".to_owned(), model.into());
    }
    params
}

impl Body {
    /// A body of these messages, whose templates are moved into `texts`.
    pub fn from_messages(messages: Option<&Vec<Json>>) -> Body {
        let mut skeleton = messages.cloned().unwrap_or_default();
        let mut texts = Vec::new();
        for (at, message) in skeleton.iter_mut().enumerate() {
            if let Some(content) = message.get_mut("content") {
                take_texts(content, format!("messages[{at}].content"), &mut texts);
            }
        }
        Body::Messages { skeleton, texts }
    }

    /// Whether a message is a content object, or has one as its `content`.
    pub fn has_content_objects(&self) -> bool {
        let is_object = |message: &Json| {
            message.get("role").is_none() || message.get("content").is_some_and(Json::is_object)
        };
        match self {
            Body::Text(_) => false,
            Body::Messages { skeleton, .. } => skeleton.iter().any(is_object),
        }
    }

    /// The templates, in document order.
    pub fn texts(&self) -> &[TemplateText] {
        match self {
            Body::Text(text) => std::slice::from_ref(text),
            Body::Messages { texts, .. } => texts,
        }
    }
}

/// Moves every string below `content` into `texts`, and leaves an empty string in its place.
fn take_texts(content: &mut Json, place: String, texts: &mut Vec<TemplateText>) {
    if let Some(text) = from_template_string(content) {
        texts.push(TemplateText { place, ..text });
        *content = Json::String(String::new());
        return;
    }
    match content {
        Json::Array(items) => {
            let items = items.iter_mut().enumerate();
            items.for_each(|(at, item)| take_texts(item, format!("{place}[{at}]"), texts));
        }
        Json::Object(members) => {
            let members = members.iter_mut();
            members.for_each(|(name, member)| take_texts(member, format!("{place}.{name}"), texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::Messages;
    use super::*;
    use serde_json::json;

    fn prompt(document: Json) -> Prompt {
        Prompt::from_document(Id::parse("x.y").unwrap(), Origin::Direct, document)
    }

    #[test]
    fn every_string_in_a_parts_array_is_a_template_and_comes_back_in_its_place() {
        let messages = json!([
            {"role": "system", "content": "S"},
            {"role": "user", "name": "n", "content": [
                {"type": "text", "text": "T"},
                {"type": "image_url", "image_url": {"url": "U", "detail": null}}
            ]},
            {"role": "assistant", "content": null}
        ]);
        let prompt = prompt(json!({"messages": messages}));
        let Body::Messages { skeleton, texts } = &prompt.body else { panic!("messages") };
        assert_eq!(texts[0].place, "messages[0].content");
        assert_eq!(texts[4].place, "messages[1].content[1].image_url.url");
        let texts: Vec<String> = texts.iter().map(|t| t.text.to_string()).collect();
        assert_eq!(texts, ["S", "text", "T", "image_url", "U"]);
        assert_eq!(skeleton[0]["content"], "");
        assert_eq!(json!(Messages::new(&Arc::new(prompt.clone()), texts)), messages);
    }

    #[test]
    fn prompt_is_an_alias_of_user_prompt() {
        assert_eq!(prompt(json!({"prompt": "P"})).texts()[0].text.as_ref(), "P");
        assert_eq!(prompt(json!({"userPrompt": "P"})).texts()[0].text.as_ref(), "P");
    }

    #[test]
    fn a_text_from_a_file_remembers_the_file() {
        let prompt = prompt(json!({"userPrompt": filled_in("prompts/x.jinja", "T")}));
        assert_eq!(prompt.texts()[0].file.as_deref(), Some("prompts/x.jinja"));
    }
}
