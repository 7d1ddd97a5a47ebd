//! Microsoft's Prompty (`NAME.prompty`, v1 and v2): YAML between two lines `---`, then a text with headings for roles.
//!
//! Environment variables and files that it refers to (`${env:NAME}`, `${file:PATH}`) are never read. An image in the text
//! (`![alt](path.png)`) stays text.

use serde_json::{Map, Value as Json};

use super::fields::{NOT_READ, add_examples, fields_of, is_reference, kind_of, schema_of};
use super::params::add_params;
use super::placeholders::of_mustache;
use super::roles::without_open_heading;
use super::source::{Found, PlainAs, Refusal, Source};
use super::threads::with_threads;
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

/// The members that declare inputs; the first one counts.
const INPUTS: [&str; 2] = ["inputs", "inputSchema"];

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
    if !(front.is_object() || front.is_null()) {
        left_out.push("the front matter (neither empty nor an object)".to_owned());
    }
    left_out.retain(|name| !KNOWN.contains(&name.as_str()));
    if body.trim().is_empty() {
        return Err(Refusal::new("it has no text after its front matter".to_owned()));
    }
    let body = with_threads(without_open_heading(&jinja(&front, body)?), &threads(&front));
    let model = Model::of(&front, &mut left_out);
    let plain = if model.api == "chat" { PlainAs::System } else { PlainAs::Text };
    let mut document = Map::new();
    for member in ["name", "description"] {
        match front.get(member).filter(|text| text.is_string()) {
            Some(text) if is_reference(text) => left_out.push(format!("{member} ({NOT_READ})")),
            Some(text) => drop(document.insert(member.to_owned(), text.clone())),
            None => {}
        }
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

/// The text as a template of Jinja.
fn jinja(front: &Json, body: &str) -> Result<String, Refusal> {
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
        None | Some("jinja2" | "jinja" | "nunjucks") => Ok(body.to_owned()),
        Some("mustache") => of_mustache(body).map_err(|tag| {
            Refusal::new(format!(
                "its template is Mustache with more than variables (`{tag}`), which is not rendered here: write it in Jinja"
            ))
        }),
        Some(other) => Err(Refusal::new(format!("its template is `{other}`; Jinja is rendered here"))),
    }
}

/// The names of the inputs that are conversations.
fn threads(front: &Json) -> Vec<&str> {
    let fields = INPUTS.iter().find_map(|name| fields_of(front.get(*name)?)).unwrap_or_default();
    fields.into_iter().filter(|(_, field)| kind_of(field) == Some("thread")).map(|(name, _)| name).collect()
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
            Some(id) if id.is_string() && is_reference(id) => {
                left_out.push(format!("model ({NOT_READ})"));
                return model;
            }
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
                ("id", Some(_)) if is_reference(value) => left_out.push(format!("model.id ({NOT_READ})")),
                ("id", Some(id)) => model.id = Some(id.to_owned()),
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
    let mut parameters = schema(INPUTS);
    let returns = schema(["outputs", "outputSchema"]);
    match front.get("sample") {
        Some(Json::Object(samples)) => add_examples(&mut parameters, samples, "sample", left_out),
        Some(Json::Null) | None => {}
        Some(_) => left_out.push("sample (files are not read)".to_owned()),
    }
    document.extend(parameters.map(|schema| ("parameters".to_owned(), schema)));
    document.extend(returns.map(|schema| ("returns".to_owned(), schema)));
}
