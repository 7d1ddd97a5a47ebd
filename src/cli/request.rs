//! `request`: a value that fits a schema, from a model; many at once, with `request batch`.

use std::io::{IsTerminal, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value as Json, json};

use super::args::{Common, Request, RequestBatch};
use super::client::Client;
use super::documents::print_json;
use super::error::CliError;
use super::output::{say, warn};
use super::target;
use base::encoding::percent_encoded;

/// The longest line of an answer to a batch, in bytes.
const LINE_BYTES: usize = 64 << 20;

/// Prints the solution of a request as JSON; with `--explain` the whole answer.
///
/// # Errors
/// The service's own error.
pub async fn run(common: &Common, options: Request) -> Result<(), CliError> {
    let mut body = json!({});
    let mut set = |name: &str, value: Option<Json>| {
        if let (Some(value), Some(members)) = (value, body.as_object_mut()) {
            members.insert(name.to_owned(), value);
        }
    };
    set("schema", options.schema.as_deref().map(read_json).transpose()?);
    set("model", options.model.clone().map(Json::from));
    set("strategy", options.strategy.clone().map(Json::from));
    set("max_repairs", options.max_repairs.map(Json::from));
    let path = match &options.prompt {
        Some(id) => {
            set("variables", Some(options.variables.object()?.into()));
            format!("/api/requests/prompts/{}", percent_encoded(id))
        }
        None => {
            set("context", Some(context(&options)?));
            "/api/requests".to_owned()
        }
    };
    let client = target::open(common).await?;
    let query = [("explain", options.explain), ("dry_run", options.dry_run)];
    let reply = client.post(&with_query(&path, &query), &body).await?;
    match reply.get("solution") {
        Some(solution) if !options.explain => print_json(solution),
        _ => print_json(&reply),
    }
    Ok(())
}

/// The messages for the model: those of the file, or one of the user.
fn context(options: &Request) -> Result<Json, CliError> {
    let mut messages = match &options.context {
        Some(file) => read_json(file)?,
        None => json!([]),
    };
    let texts = options.messages.iter().map(|text| json!({"role": "user", "content": text}));
    match messages.as_array_mut() {
        Some(list) => list.extend(texts),
        None => return Err(CliError::Usage("the context must be a JSON list of messages".to_owned())),
    }
    Ok(messages)
}

fn with_query(path: &str, query: &[(&str, bool)]) -> String {
    let set: Vec<String> =
        query.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!("{name}=true")).collect();
    if set.is_empty() { path.to_owned() } else { format!("{path}?{}", set.join("&")) }
}

/// A JSON file; `-` is standard input.
fn read_json(file: &Path) -> Result<Json, CliError> {
    let text = read_text(file)?;
    let unreadable = |error| CliError::Usage(format!("{}: it is no JSON: {error}", file.display()));
    template::value::parse_json(text.as_bytes()).map_err(unreadable)
}

fn read_text(file: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
        _ => std::fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|error| CliError::Usage(format!("{}: {error}", file.display())))?;
    Ok(text)
}

/// Prints one line of JSON for each line of a file, in their order; a bar on standard error shows how many are done.
///
/// # Errors
/// The service's own error; [`CliError::Reported`] if lines had errors.
pub async fn batch(common: &Common, options: &RequestBatch) -> Result<(), CliError> {
    let text = read_text(&options.file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let client = target::open(common).await?;
    let path = if options.no_save { "/api/requests/batch?save=false" } else { "/api/requests/batch" };
    let bar = bar(lines);
    let failed = print_lines(&client, path, text, &bar).await;
    bar.finish_and_clear();
    match failed? {
        0 => Ok(()),
        failed => {
            warn(format_args!(
                "error: {failed} of {lines} lines have an error; see `error` in their answers"
            ));
            Err(CliError::Reported)
        }
    }
}

fn bar(lines: usize) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} lines, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(lines as u64), target);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Prints the lines of the answer as they come; how many of them are errors.
async fn print_lines(
    client: &Client,
    path: &str,
    text: String,
    bar: &ProgressBar,
) -> Result<usize, CliError> {
    let mut response = client.post_lines(path, text).await?;
    let (mut rest, mut failed) = (Vec::new(), 0);
    while let Some(bytes) = response.chunk().await.map_err(|error| client.unreachable(&error))? {
        rest.extend_from_slice(&bytes);
        if rest.len() > LINE_BYTES {
            return Err(client.unusable("a line is too long"));
        }
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            failed +=
                usize::from(serde_json::from_str(&line).is_ok_and(|line: Json| line.get("error").is_some()));
            bar.suspend(|| say(line.trim_end()));
            bar.inc(1);
        }
    }
    Ok(failed)
}
