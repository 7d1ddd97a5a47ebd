//! promptflow's flows: `flow.dag.yaml`, whose nodes name the templates (`.jinja2`) of their prompts.

use serde_json::{Map, Value as Json, json};

use super::fields::{is_reference, schema_of};
use super::names::{dialect_of, file_name, folder_of, is_template_file};
use super::params::add_params;
use super::source::{Found, PlainAs, Refusal, Source};
use super::tags::trimmed;
use super::yaml;
use template::Syntax;

/// The file of a flow.
pub const FILE: &str = "flow.dag.yaml";

/// The inputs of a node that are parameters of its model; the others are variables of its template.
const PARAMS: [&str; 15] = [
    "temperature",
    "max_tokens",
    "top_p",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "logit_bias",
    "n",
    "response_format",
    "functions",
    "function_call",
    "tools",
    "tool_choice",
    "suffix",
];

/// A flow.
#[derive(Debug)]
pub struct Flow {
    /// The nodes with a template of their own.
    pub nodes: Vec<Node>,
    /// The names of the other nodes.
    others: Vec<String>,
    /// Files of other folders that count as the flow's own.
    included: Vec<String>,
}

/// A node with a template.
#[derive(Debug)]
pub struct Node {
    /// Its name in the flow.
    pub name: String,
    /// The path of its template.
    pub file: String,
    node: Json,
    inputs: Json,
}

impl Flow {
    /// The place of another folder from which the flow has a file.
    pub fn source_of(&self, file: &str) -> Option<&str> {
        self.included.iter().map(String::as_str).find(|included| file_name(included) == file_name(file))
    }

    /// What is said of a flow whose other nodes are no prompts.
    pub fn other_nodes(&self) -> Option<String> {
        let others = self.others.join(", ");
        (!others.is_empty()).then(|| format!("its nodes without a template are not taken: {others}"))
    }
}

/// Reads a flow.
///
/// # Errors
/// If it is not YAML.
pub fn read(source: &Source) -> Result<Flow, Refusal> {
    let file = yaml::parse(&source.text, yaml::PROMPT_FILE)
        .map_err(|error| Refusal { message: error.message, line: error.line })?;
    let included = file.get("additional_includes").and_then(Json::as_array).into_iter().flatten();
    let included = included.filter_map(|path| path.as_str().map(str::to_owned)).collect();
    let mut flow = Flow { nodes: Vec::new(), others: Vec::new(), included };
    let inputs = file.get("inputs").cloned().unwrap_or_default();
    for (name, node) in nodes(&file) {
        let path = node.pointer("/source/path").and_then(Json::as_str);
        let path = path.map(|path| path.replace('\\', "/"));
        match path.as_deref().filter(|path| is_template(path, node)) {
            Some(path) => {
                let path = path.trim_start_matches("./");
                let file = match folder_of(&source.path) {
                    "" => path.to_owned(),
                    folder => format!("{folder}/{path}"),
                };
                flow.nodes.push(Node { name, file, node: node.clone(), inputs: inputs.clone() });
            }
            // A node without a source has variants, which come by themselves; a file of Prompty is read by itself.
            None if path.as_deref().is_none_or(|path| path.ends_with(".prompty")) => {}
            None => flow.others.push(name),
        }
    }
    Ok(flow)
}

/// Whether the file of a node is a template: those of nodes for prompts and models are, whatever they are called.
fn is_template(path: &str, node: &Json) -> bool {
    let is_prompt =
        node.get("type").and_then(Json::as_str).is_some_and(|kind| ["prompt", "llm"].contains(&kind));
    match dialect_of(path) {
        Some(syntax) => syntax == Syntax::Jinja,
        None => is_prompt && is_template_file(path),
    }
}

/// The nodes of a flow, and those of variants.
fn nodes(file: &Json) -> impl Iterator<Item = (String, &Json)> {
    let plain = file.get("nodes").and_then(Json::as_array).into_iter().flatten();
    let plain = plain.filter_map(|node| Some((node.get("name")?.as_str()?.to_owned(), node)));
    let varied = file.get("node_variants").and_then(Json::as_object).into_iter().flatten();
    let varied = varied.flat_map(|(name, node)| {
        let variants = node.get("variants").and_then(Json::as_object).into_iter().flatten();
        variants.filter_map(move |(variant, node)| Some((format!("{name} ({variant})"), node.get("node")?)))
    });
    plain.chain(varied)
}

/// The prompt of a node, whose template is `source`.
///
/// # Errors
/// If it has messages that answer calls.
pub fn prompt(source: &Source, node: &Node) -> Result<Found, Refusal> {
    let mut left_out = Vec::new();
    let mut document = Map::from_iter([("syntax".to_owned(), "jinja".into())]);
    document.insert("name".to_owned(), node.name.as_str().into());
    let mut text = trimmed(&source.text);
    if text.ends_with('\n') {
        // promptflow keeps the line end at the end of a text; Jinja drops one.
        text.push('\n');
    }
    document.extend(source.body(0, &text, PlainAs::Text, &mut left_out)?);
    document.extend(source.folder());
    let mut params = Map::new();
    let mut variables = Map::new();
    for (name, value) in node.node.get("inputs").and_then(Json::as_object).into_iter().flatten() {
        match name.as_str() {
            "model" if value.is_string() && !is_reference(value) => {
                drop(document.insert("model".to_owned(), value.clone()))
            }
            "deployment_name" | "model" => left_out.push(name.clone()),
            name if PARAMS.contains(&name) => {
                add_params(&mut params, &json!({ name: value }), "inputs", &mut left_out);
            }
            _ => drop(variables.insert(name.clone(), declared(value, &node.inputs))),
        }
    }
    left_out.extend(
        ["connection", "activate"].iter().filter(|m| node.node.get(**m).is_some()).map(ToString::to_string),
    );
    document.extend(
        schema_of(&variables.into(), "inputs", &mut left_out).map(|schema| ("parameters".to_owned(), schema)),
    );
    if !params.is_empty() {
        document.insert("params".to_owned(), params.into());
    }
    Ok(Found { format: "promptflow", document, left_out })
}

/// How a node's input is declared: as the input of the flow that it is, as the value that it has, or, if another node gives it,
/// without more.
fn declared(value: &Json, inputs: &Json) -> Json {
    let reference = value.as_str().and_then(|text| text.strip_prefix("${")?.strip_suffix('}'));
    match reference {
        None => json!({"default": value}),
        Some(path) => path
            .strip_prefix("inputs.")
            .and_then(|name| inputs.get(name))
            .cloned()
            .unwrap_or_else(|| json!({})),
    }
}
