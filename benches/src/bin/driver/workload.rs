//! The render workload: one prompt in two dialects, its environs, and requests with the texts they must give.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::{Outcome, client};

/// The requests of the workload.
pub const REQUESTS: [&str; 3] = ["small", "items40k", "text40k"];

/// Where the prompt is rendered, by dialect.
pub const JINJA: &str = "/api/render/prompts/bench.jinja";
/// Where the prompt is rendered, by dialect.
pub const GO: &str = "/api/render/prompts/bench.go";
/// Where a model is asked with the prompt.
pub const CHAT: &str = "/api/chat/prompts/bench.jinja";

/// The folder of the workload.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workload")
}

/// The file with a request's body.
pub fn body_file(request: &str) -> PathBuf {
    folder().join(format!("{request}.body.json"))
}

fn read(name: &str) -> Outcome<String> {
    let file = folder().join(name);
    Ok(std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?)
}

fn read_json(name: &str) -> Outcome<Json> {
    Ok(serde_json::from_str(&read(name)?)?)
}

/// The prompts as documents, with their names.
fn prompts() -> Outcome<[(&'static str, Json); 2]> {
    Ok([("jinja", prompt("jinja", "j2")?), ("go", prompt("go", "go")?)])
}

fn prompt(syntax: &str, suffix: &str) -> Outcome<Json> {
    let (system, user) = (read(&format!("system.{suffix}"))?, read(&format!("user.{suffix}"))?);
    let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": user}]);
    Ok(json!({"name": syntax, "syntax": syntax, "messages": messages}))
}

fn environs() -> Outcome<Vec<(String, Json)>> {
    match read_json("shared.json")? {
        Json::Object(members) => Ok(members.into_iter().collect()),
        _ => Err("shared.json holds no object".into()),
    }
}

/// Writes the workload as a package called `bench` into a folder of packages; with a schema, `value` is the Jinja prompt that returns
/// what fits it.
pub fn write_package(packages: &Path, returns: Option<&Json>) -> Outcome {
    let folder = packages.join("bench");
    std::fs::create_dir_all(folder.join("environs"))?;
    for (name, value) in environs()? {
        std::fs::write(folder.join(format!("environs/{name}.json")), value.to_string())?;
    }
    let [(_, jinja), (_, go)] = prompts()?;
    let mut prompts = vec![jinja.clone(), go];
    if let Some(schema) = returns {
        let mut value = jinja;
        (value["name"], value["returns"]) = (json!("value"), schema.clone());
        prompts.push(value);
    }
    let package = json!({
        "name": "bench",
        "publisher": "bench",
        "displayName": "Bench",
        "description": "The render workload.",
        "version": "1.0.0",
        "extensionType": "prompt",
        "license": "Apache-2.0",
        "contributes": {"prompts": prompts},
    });
    Ok(std::fs::write(folder.join("package.json"), package.to_string())?)
}

/// The workload as keys and values of a store.
pub fn documents() -> Outcome<Vec<(String, String)>> {
    let prompts =
        prompts()?.into_iter().map(|(name, prompt)| (format!("shenma:templates:bench:{name}"), prompt));
    let environs = environs()?.into_iter().map(|(name, value)| (format!("shenma:environs:{name}"), value));
    Ok(prompts.chain(environs).map(|(key, document)| (key, document.to_string())).collect())
}

/// The body of a request.
pub fn body(request: &str) -> Outcome<Json> {
    read_json(&format!("{request}.body.json"))
}

/// The messages that a request must give.
pub fn messages(request: &str) -> Outcome<Json> {
    let expected = read_json(&format!("{request}.expected.json"))?;
    Ok(json!([
        {"role": "system", "content": expected["system"]},
        {"role": "user", "content": expected["user"]},
    ]))
}

/// Asserts that a server renders a request as it must.
pub async fn verify(url: &str, request: &str) -> Outcome {
    let (status, answer) = client::post(url, read(&format!("{request}.body.json"))?).await?;
    if status == 200 && answer["rendered_prompt"] == messages(request)? {
        return Ok(());
    }
    Err(format!("{url} does not render {request} as expected: {status} {answer}").into())
}
