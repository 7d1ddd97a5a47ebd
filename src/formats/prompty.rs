//! Microsoft's Prompty (`NAME.prompty`, v1 and v2): YAML between two lines `---`, then a text with headings for roles.
//!
//! Environment variables and files that it refers to (`${env:NAME}`, `${file:PATH}`) are never read. An image in the text
//! (`![alt](path.png)`) stays text.

use serde_json::{Map, Value as Json};

use super::fields::{add_examples, add_params, is_reference, schema_of};
use super::placeholders::has_only_placeholders;
use super::source::{Found, PlainAs, Refusal, Source};
use super::yaml;

/// The end of the names of such files.
pub const EXTENSION: &str = ".prompty";

/// The members that are taken, wholly or in part.
const KNOWN: [&str; 10] = [
    "name",
    "description",
    "model",
    "inputs",
    "inputSchema",
    "outputs",
    "outputSchema",
    "sample",
    "template",
    "instructions",
];

/// A file in its two parts.
struct Parts<'t> {
    front: Json,
    body: &'t str,
    lines_before: usize,
}

/// Reads a file.
///
/// # Errors
/// If its front matter is not YAML, or if its template is of another language.
pub fn read(source: &Source) -> Result<Found, Refusal> {
    let Parts { front, body, lines_before } = parts(&source.text)?;
    let mut left_out: Vec<String> =
        front.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    left_out.retain(|name| !KNOWN.contains(&name.as_str()));
    refuse_template(&front, body)?;
    let body = with_threads(&front, body);
    let model = Model::of(&front, &mut left_out);
    let plain = if model.api == "chat" { PlainAs::System } else { PlainAs::Text };
    let mut document = Map::new();
    for member in ["name", "description"] {
        let text = front.get(member).filter(|text| text.is_string() && !is_reference(text));
        document.extend(text.map(|text| (member.to_owned(), text.clone())));
    }
    document.insert("syntax".to_owned(), "jinja".into());
    document.extend(source.body(lines_before, &body, plain, &mut left_out)?);
    document.extend(source.folder());
    model.add_to(&mut document, &mut left_out);
    add_schemas(&front, &mut document, &mut left_out);
    Ok(Found { format: "Prompty", document, left_out })
}

fn parts(text: &str) -> Result<Parts<'_>, Refusal> {
    let start = text.len() - text.trim_start().len();
    let rest = text.get(start..).unwrap_or_default();
    let blank = text.get(..start).unwrap_or_default().matches('\n').count();
    let Some((first, after)) = rest.split_once('\n').filter(|(first, _)| first.trim_end() == "---") else {
        return Ok(Parts { front: Json::Null, body: text, lines_before: 0 });
    };
    let mut at = 0;
    for (number, line) in after.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            let front = after.get(..at).unwrap_or_default();
            let error = |error: yaml::YamlError| Refusal {
                message: error.message,
                line: error.line.map(|line| line + blank + 1),
            };
            let front = if front.trim().is_empty() {
                Json::Null
            } else {
                yaml::parse(front, yaml::PROMPT_FILE).map_err(error)?
            };
            let body = after.get(at + line.len()..).unwrap_or_default();
            return Ok(Parts { front, body, lines_before: blank + number + 2 });
        }
        at += line.len();
    }
    Err(Refusal {
        message: format!("the front matter has no end: write a line `{first}` after it"),
        line: Some(blank + 1),
    })
}

/// Refuses a template that is neither Jinja nor plain placeholders.
fn refuse_template(front: &Json, body: &str) -> Result<(), Refusal> {
    let template = front.get("template");
    let of = |value: &Json| {
        value
            .as_str()
            .or_else(|| value.get("kind").or_else(|| value.get("type"))?.as_str())
            .map(str::to_owned)
    };
    let format = template.and_then(|template| of(template.get("format").unwrap_or(template)));
    match format.as_deref() {
        // Nunjucks is Jinja in JavaScript.
        None | Some("jinja2" | "jinja" | "nunjucks") => Ok(()),
        Some("mustache") if has_only_placeholders(body) => Ok(()),
        Some("mustache") => Err(Refusal::new(
            "its template is Mustache with more than `{{name}}`, which is not rendered here: write it in Jinja".to_owned(),
        )),
        Some(other) => Err(Refusal::new(format!("its template is `{other}`; Jinja is rendered here"))),
    }
}

/// The text with each input that is a conversation, alone on its line, as a loop over messages.
fn with_threads(front: &Json, body: &str) -> String {
    let inputs = front.get("inputs").and_then(Json::as_array).into_iter().flatten();
    let threads = inputs.filter(|input| input.get("kind").and_then(Json::as_str) == Some("thread"));
    let names: Vec<&str> = threads.filter_map(|thread| thread.get("name")?.as_str()).collect();
    let line = |line: &str| {
        let name = line.trim().strip_prefix("{{").and_then(|rest| Some(rest.strip_suffix("}}")?.trim()));
        match name.filter(|name| names.contains(name)) {
            Some(name) => format!(
                "{{% for message in {name} or [] %}}\n{{{{ message.role }}}}:\n{{{{ message.content }}}}\n{{% endfor %}}"
            ),
            None => line.to_owned(),
        }
    };
    body.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// What `model` says.
struct Model {
    api: String,
    id: Option<String>,
    params: Map<String, Json>,
}

impl Model {
    fn of(front: &Json, left_out: &mut Vec<String>) -> Model {
        let mut model = Model { api: "chat".to_owned(), id: None, params: Map::new() };
        let members = match front.get("model") {
            Some(Json::String(id)) => {
                model.id = Some(id.clone());
                return model;
            }
            Some(Json::Object(members)) => members,
            _ => return model,
        };
        for (name, value) in members {
            match (name.as_str(), value.as_str()) {
                ("api" | "apiType", Some(api)) => model.api = api.to_ascii_lowercase(),
                ("id", Some(id)) if !is_reference(value) => model.id = Some(id.to_owned()),
                ("parameters" | "options", _) => {
                    add_params(&mut model.params, value, &format!("model.{name}"), left_out);
                }
                _ => left_out.push(format!("model.{name}")),
            }
        }
        model
    }

    fn add_to(self, document: &mut Map<String, Json>, left_out: &mut Vec<String>) {
        match self.api.as_str() {
            "chat" => {}
            "completion" => drop(document.insert("supports".to_owned(), serde_json::json!(["completion"]))),
            other => {
                left_out.push(format!("model.apiType ({other}: the text is taken, not the kind of request)"))
            }
        }
        document.extend(self.id.map(|id| ("model".to_owned(), id.into())));
        if !self.params.is_empty() {
            document.insert("params".to_owned(), self.params.into());
        }
    }
}

/// Inputs become `parameters` and outputs `returns`; samples become examples.
fn add_schemas(front: &Json, document: &mut Map<String, Json>, left_out: &mut Vec<String>) {
    let mut schema = |names: [&str; 2]| {
        let (name, fields) = names.iter().find_map(|name| Some((*name, front.get(*name)?)))?;
        schema_of(fields, name, left_out)
    };
    let mut parameters = schema(["inputs", "inputSchema"]);
    let returns = schema(["outputs", "outputSchema"]);
    match front.get("sample") {
        Some(Json::Object(samples)) => add_examples(&mut parameters, samples),
        Some(_) => left_out.push("sample (files are not read)".to_owned()),
        None => {}
    }
    document.extend(parameters.map(|schema| ("parameters".to_owned(), schema)));
    document.extend(returns.map(|schema| ("returns".to_owned(), schema)));
}
