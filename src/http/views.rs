//! How documents look from outside.

use serde_json::{Value as Json, json};

use crate::catalog::{ExtensionEntry, PromptEntry, Snapshot};
use crate::render::Description;
use base::model::{ProblemDetail, Tool, object_schema};

/// An extension: its document, its state, and what is wrong with it and its prompts.
pub fn extension(entry: &ExtensionEntry, snapshot: &Snapshot) -> Json {
    let own = snapshot.problems.iter().filter(|problem| problem.key == entry.key).map(|p| &p.detail);
    // Those of prompts that come from files of their own are not under the extension's key.
    let prompts = entry.extension.prompts.iter().filter_map(|prompt| snapshot.prompt(&prompt.id));
    let of_files = prompts.flat_map(|prompt| &prompt.problems).filter(|reason| reason.file.is_some());
    let problems: Vec<&ProblemDetail> = own.chain(of_files).collect();
    let mut view = entry.extension.document.clone();
    if let Some(members) = view.as_object_mut() {
        members.insert("available".to_owned(), entry.unavailable.is_none().into());
        members.insert("problems".to_owned(), json!(problems));
    }
    view
}

/// A prompt in a list.
pub fn prompt_summary(entry: &PromptEntry) -> Json {
    let document = entry.prompt.as_ref().map(|prompt| &prompt.document);
    let member = |name: &str| document.and_then(|document| document.get(name)).cloned();
    json!({
        "id": entry.id,
        "origin": entry.origin,
        "name": member("name"),
        "description": member("description"),
        "supports": entry.prompt.as_ref().map(|prompt| prompt.supports.clone()).unwrap_or_default(),
        "problems": entry.problems,
    })
}

/// A prompt in full.
pub fn prompt(description: &Description) -> Json {
    let entry = &description.entry;
    let prompt = entry.prompt.as_deref();
    let declared = prompt.and_then(|prompt| prompt.parameters.as_ref());
    let open = || json!({"type": "object", "properties": {}});
    json!({
        "id": entry.id,
        "origin": entry.origin,
        "prompt": prompt.map(|prompt| &prompt.document),
        "parameters": declared.and_then(object_schema).unwrap_or_else(open),
        "requires": description.requires,
        "syntax": description.syntax,
        "problems": entry.problems,
    })
}

/// A tool: its document and the name that templates call it by.
pub fn tool(tool: &Tool) -> Json {
    let mut view = tool.document.clone();
    if let Some(members) = view.as_object_mut() {
        members.insert("function".to_owned(), tool.function.as_str().into());
    }
    view
}
