//! `tool import`: tools of MCP servers, gRPC servers and OpenAPI documents become documents; a second run brings them up to date.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::args::Common;
use super::check::counted;
use super::client::{Client, FETCHED_BYTES, fetch};
use super::documents::{path, print_json};
use super::error::CliError;
use super::import_args::{SourceKind, ToolImport};
use super::output::{say, summary, warn};
use super::target;
use crate::formats::yaml;
use base::model::DocumentKind;
use tools::discover::updated;

/// What the service found.
struct Discovery {
    tools: Vec<Found>,
    left_out: Vec<(String, String)>,
    notes: Vec<String>,
}

/// A tool that the service found.
struct Found {
    id: String,
    /// What its source calls it.
    name: String,
    document: Json,
    notes: Vec<String>,
}

/// What became of a tool: a word, or why it was refused.
type Became = Result<&'static str, String>;

/// Finds tools and stores those that were chosen; without a choice, it lists them.
///
/// # Errors
/// The service's own error; [`CliError::Reported`] if a document was refused.
pub async fn run(common: &Common, options: &ToolImport) -> Result<(), CliError> {
    let request = request(options).await?;
    let client = target::open(common).await?;
    let reply = client.post("/api/tools/discover", &request).await?;
    let discovery = Discovery::read(&reply).ok_or_else(|| client.unusable("its answer lists no tools"))?;
    let is_chosen = options.all || !options.only.is_empty();
    if options.list || !is_chosen {
        match options.json {
            true => print_json(&reply),
            false => discovery.list(!options.list),
        }
        return Ok(());
    }
    let chosen = discovery.chosen(options)?;
    let mut outcomes = Vec::new();
    for found in chosen {
        outcomes.push((found, store(&client, found, options.dry_run).await?));
    }
    match options.json {
        true => print_json(&discovery.as_json(&outcomes, options.dry_run)),
        false => discovery.print(&outcomes, options),
    }
    if outcomes.iter().all(|(_, became)| became.is_ok()) { Ok(()) } else { Err(CliError::Reported) }
}

/// The body of the request to the service.
async fn request(options: &ToolImport) -> Result<Json, CliError> {
    let source = options.source.as_str();
    let is_url = source.contains("://");
    let mut request = match options.kind {
        SourceKind::Mcp if is_url => json!({"mcp": {"url": source}}),
        SourceKind::Mcp => json!({"mcp": {"server": source}}),
        SourceKind::Grpc => json!({"grpc": {"url": source}}),
        SourceKind::Openapi if is_url => {
            json!({"openapi": parsed(source, &fetch(source).await?)?, "readAt": source})
        }
        SourceKind::Openapi => {
            let file = Path::new(source);
            let text = std::fs::read_to_string(file).map_err(|error| CliError::file(file, error))?;
            json!({"openapi": parsed(source, &text)?})
        }
    };
    if let (Some(module), Some(members)) = (&options.module, request.as_object_mut()) {
        members.insert("module".to_owned(), module.as_str().into());
    }
    Ok(request)
}

/// A document in JSON or YAML.
fn parsed(source: &str, text: &str) -> Result<Json, CliError> {
    let document = match text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}")),
        false => yaml::parse(text, FETCHED_BYTES).map_err(|error| error.to_string()),
    };
    document.map_err(|message| CliError::Usage(format!("{source}: {message}")))
}

/// Stores one tool over the stored one, if there is one.
async fn store(client: &Client, found: &Found, dry_run: bool) -> Result<Became, CliError> {
    let at = path(DocumentKind::Tool, &found.id);
    let before = client.get_bytes(&format!("{at}?raw=store")).await?;
    let before = before.map(|bytes| serde_json::from_slice::<Json>(&bytes).unwrap_or_default());
    let document =
        before.as_ref().map_or_else(|| found.document.clone(), |old| updated(old, &found.document));
    let text = document.to_string();
    // Compared as text: the order of the parameters is that of calls by position.
    let became = match before.as_ref().map(Json::to_string) {
        None => "created",
        Some(before) if before == text => return Ok(Ok("unchanged")),
        Some(_) => "updated",
    };
    if dry_run {
        return Ok(Ok(became));
    }
    match client.put(&at, text.into_bytes()).await {
        Ok(_) => Ok(Ok(became)),
        Err(error @ CliError::Refused { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

impl Discovery {
    fn read(reply: &Json) -> Option<Discovery> {
        let texts = |json: Option<&Json>| -> Vec<String> {
            let items = json.and_then(Json::as_array).into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let text = |json: &Json, member: &str| Some(json.get(member)?.as_str()?.to_owned());
        let found = |tool: &Json| {
            Some(Found {
                id: text(tool, "id")?,
                name: text(tool, "name")?,
                document: tool.get("document")?.clone(),
                notes: texts(tool.get("notes")),
            })
        };
        let left_out = reply.get("left_out")?.as_array()?.iter();
        Some(Discovery {
            tools: reply.get("tools")?.as_array()?.iter().map(found).collect::<Option<_>>()?,
            left_out: left_out
                .map(|left| Some((text(left, "name")?, text(left, "reason")?)))
                .collect::<Option<_>>()?,
            notes: texts(reply.get("notes")),
        })
    }

    /// The tools that the options choose.
    fn chosen(&self, options: &ToolImport) -> Result<Vec<&Found>, CliError> {
        let matched = |pattern: &str| self.tools.iter().any(|tool| tool.is_named(pattern));
        let unknown: Vec<&str> =
            options.only.iter().map(String::as_str).filter(|pattern| !matched(pattern)).collect();
        if !unknown.is_empty() {
            let left =
                self.left_out.iter().filter(|(name, _)| unknown.iter().any(|pattern| fits(pattern, name)));
            let why: Vec<String> = left.map(|(name, reason)| format!("; {name}: {reason}")).collect();
            let message = format!(
                "there is no tool {}{}; --list shows what there is",
                unknown.join(", "),
                why.concat()
            );
            return Err(CliError::Usage(message));
        }
        let is_chosen =
            |tool: &&Found| options.all || options.only.iter().any(|pattern| tool.is_named(pattern));
        Ok(self.tools.iter().filter(is_chosen).collect())
    }

    fn list(&self, hint: bool) {
        let width = self.tools.iter().map(|tool| tool.id.len()).max().unwrap_or(0);
        for tool in &self.tools {
            let about = tool.document.get("description").and_then(Json::as_str).unwrap_or(&tool.name);
            say(format_args!("{:width$}  {}", tool.id, summary(about)));
        }
        self.tell_left_out();
        let count = counted(self.tools.len(), "tool");
        match hint && !self.tools.is_empty() {
            true => say(format_args!(
                "{count}: --only NAME,… stores those (with * for any text), --all stores all"
            )),
            false => say(count),
        }
    }

    fn print(&self, outcomes: &[(&Found, Became)], options: &ToolImport) {
        let width = outcomes.iter().map(|(found, _)| found.id.len()).max().unwrap_or(0);
        for (found, became) in outcomes {
            match became {
                Ok(became) => say(format_args!("{:width$}  {became:9}  ({})", found.id, found.name)),
                Err(reason) => warn(format_args!("refused: {}: {reason}", found.id)),
            }
            found.notes.iter().for_each(|note| say(format_args!("{:width$}  {note}", "")));
        }
        if options.all {
            self.tell_left_out();
        }
        self.notes.iter().for_each(|note| say(format_args!("note: {note}")));
        let count = |word: &str| outcomes.iter().filter(|(_, became)| *became == Ok(word)).count();
        let refused = outcomes.iter().filter(|(_, became)| became.is_err()).count();
        say(format_args!(
            "{}: {} created, {} updated, {} unchanged, {refused} refused{}",
            counted(outcomes.len(), "tool"),
            count("created"),
            count("updated"),
            count("unchanged"),
            if options.dry_run { " (nothing was stored)" } else { "" }
        ));
    }

    fn tell_left_out(&self) {
        self.left_out.iter().for_each(|(name, reason)| say(format_args!("not taken: {name}: {reason}")));
    }

    fn as_json(&self, outcomes: &[(&Found, Became)], dry_run: bool) -> Json {
        let outcome = |(found, became): &(&Found, Became)| match became {
            Ok(became) => json!({"id": found.id, "name": found.name, "became": became, "notes": found.notes}),
            Err(reason) => {
                json!({"id": found.id, "name": found.name, "refused": reason, "notes": found.notes})
            }
        };
        let left = |(name, reason): &(String, String)| json!({"name": name, "reason": reason});
        json!({
            "dry_run": dry_run,
            "tools": outcomes.iter().map(outcome).collect::<Vec<_>>(),
            "not_taken": self.left_out.iter().map(left).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

impl Found {
    /// Whether the tool's id, its id without the module, or the name in its source fits a pattern.
    fn is_named(&self, pattern: &str) -> bool {
        let subject = self.document.get("name").and_then(Json::as_str).unwrap_or_default();
        [self.id.as_str(), subject, &self.name].iter().any(|name| fits(pattern, name))
    }
}

/// Whether a name fits a pattern, in which `*` is any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = name.split_once(part) else { return false };
        name = after;
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("list_*", "list_users", true),
            ("*_users", "list_users", true),
            ("l*_*s", "list_users", true),
            ("l*x*s", "list_users", false),
            ("a*a", "a", false),
            ("a**b", "axb", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
