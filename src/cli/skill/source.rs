//! The skill that is to run, and where it comes from.

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use super::folders::{self, Found};
use super::host::Host;
use crate::cli::client::Client;
use crate::cli::error::CliError;
use crate::cli::output::on_one_line;
use crate::formats;
use base::encoding::percent_encoded;
use base::model::{Id, Skill};

/// Where skills come from that no folder has.
const CATALOG: &str = "the service's catalog";

/// A skill that was found.
#[derive(Debug)]
pub struct Source {
    /// The skill.
    pub skill: Skill,
    /// Where it comes from, for people.
    pub place: String,
    /// The folder of its files, where commands run.
    pub folder: Option<PathBuf>,
    /// The files beside it that the service has.
    pub files: Vec<String>,
    /// The whole text of its file, unless the service has it.
    text: Option<String>,
}

impl Source {
    /// The skill of this name: in the folders of the project and the user, in the service's catalog, on the host. A full id (with a dot)
    /// is asked of the catalog first.
    ///
    /// # Errors
    /// When there is none, with those that there are.
    pub async fn find(client: &Client, name: &str, host: Option<&Host>) -> Result<Source, CliError> {
        check_name(name)?;
        let roots = folders::roots();
        let is_full_id = name.contains('.');
        if is_full_id && let Some(source) = Source::of_catalog(client, name).await? {
            return Ok(source);
        }
        if let Some(found) = folders::find(&roots, name)? {
            return Source::of_folder(&found, host.is_some());
        }
        if !is_full_id && let Some(source) = Source::of_catalog(client, name).await? {
            return Ok(source);
        }
        if let Some(host) = host
            && let Some(source) = Source::of_host(host, name).await?
        {
            return Ok(source);
        }
        Err(unknown(client, name).await)
    }

    /// The skill of the catalog with this id, which the service has chosen.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn chosen(client: &Client, id: &str) -> Result<Source, CliError> {
        match Source::of_catalog(client, id).await? {
            Some(source) => Ok(source),
            None => Err(unknown(client, id).await),
        }
    }

    fn of_folder(found: &Found, is_for_host: bool) -> Result<Source, CliError> {
        let (skill, text) = found.read()?;
        // Its files are on this machine.
        let folder = found.folder().filter(|_| !is_for_host);
        Ok(Source {
            skill,
            place: found.file.display().to_string(),
            folder,
            files: Vec::new(),
            text: Some(text),
        })
    }

    async fn of_catalog(client: &Client, name: &str) -> Result<Option<Source>, CliError> {
        let Ok(id) = Id::parse(name) else { return Ok(None) };
        let path = format!("/api/skills/{}", percent_encoded(name));
        let reply = match client.get(&path).await {
            Ok(reply) => reply,
            Err(CliError::Refused { code, .. }) if code.ends_with("_not_found") => return Ok(None),
            Err(error) => return Err(error),
        };
        let skill = of_reply(id, &reply);
        let files = texts(&reply, "files");
        Ok(Some(Source { skill, place: CATALOG.to_owned(), folder: None, files, text: None }))
    }

    async fn of_host(host: &Host, name: &str) -> Result<Option<Source>, CliError> {
        let Some((folder, text)) = host.skill(name).await? else { return Ok(None) };
        let id = formats::legal_name(name).and_then(|name| Id::parse(&name).ok());
        let Some(id) = id.or_else(|| Id::parse("skill").ok()) else { return Ok(None) };
        let skill = formats::skill(&id, Some(name), &text);
        let place = format!("{}:{folder}", host.name());
        Ok(Some(Source { skill, place, folder: Some(folder.into()), files: Vec::new(), text: Some(text) }))
    }

    /// Where a session of this skill is started, and what its body says of the skill.
    pub fn start(&self) -> (String, Map<String, Json>) {
        let given = |text: &String| ("skill".to_owned(), json!({"id": self.skill.id, "content": text}));
        let path = match &self.text {
            Some(_) => "/api/sessions".to_owned(),
            None => format!("/api/skills/{}/sessions", percent_encoded(self.skill.id.as_str())),
        };
        (path, self.text.iter().map(given).collect())
    }
}

/// The skill as the service tells it; `asked` may be the last part of its id.
fn of_reply(asked: Id, reply: &Json) -> Skill {
    let text = |member: &str| reply.get(member).and_then(Json::as_str).unwrap_or_default();
    let id = Id::parse(text("id")).unwrap_or(asked);
    let mut skill = Skill::new(id, text("name"), text("content"));
    skill.description = text("description").to_owned();
    skill.allowed_tools = texts(reply, "allowed_tools");
    skill
}

/// The texts of a list.
fn texts(reply: &Json, member: &str) -> Vec<String> {
    let list = reply.get(member).and_then(Json::as_array).into_iter().flatten();
    list.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A name that leads to no other folder, and can be shown.
fn check_name(name: &str) -> Result<(), CliError> {
    let is_path = name.contains(['/', '\\']) || name.split('.').any(str::is_empty);
    if is_path || name.is_empty() || name.len() > Id::BYTES_MAX || name.contains(char::is_control) {
        let message =
            format!("{name:?} is no name of a skill: folders, `..` and control characters are not taken");
        return Err(CliError::Usage(message));
    }
    Ok(())
}

/// The error for a name that no skill has.
async fn unknown(client: &Client, name: &str) -> CliError {
    CliError::Usage(format!("there is no skill {name:?}; {}", known(client).await))
}

/// What there is, for people.
pub async fn known(client: &Client) -> String {
    let roots = folders::roots();
    let local = folders::all(&roots)
        .into_iter()
        .map(|found| (found.id.to_string(), found.file.display().to_string()));
    // A service that cannot say what it has is no reason to be silent about the folders.
    let reply = client.get("/api/skills").await.unwrap_or_default();
    let ids = reply.as_array().into_iter().flatten().filter_map(Json::as_str);
    let of_catalog = ids.map(|id| (id.to_owned(), CATALOG.to_owned()));
    let lines: Vec<String> =
        local.chain(of_catalog).map(|(id, place)| on_one_line(&format!("  {id}  ({place})"))).collect();
    if lines.is_empty() {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        return format!("there are none, neither in the catalog nor in {}", roots.join(", "));
    }
    format!("there are:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_to_other_folders_are_refused() {
        for name in
            ["..", "../x", "/etc", "a/b", "a\\b", "", ".", "a..b", ".hidden", "a\nb", &"x".repeat(600)]
        {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        for name in ["a", "git-quick-commit", "x.y", "Git quick commit", "коммит"] {
            assert!(check_name(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_reply_of_the_service_is_a_skill() {
        let reply = json!({"id": "p.x", "name": "x", "description": "d", "content": "body", "allowed_tools": ["Bash"]});
        let skill = of_reply(Id::parse("x").unwrap(), &reply);
        assert_eq!((skill.id.as_str(), skill.name.as_str(), skill.content.as_str()), ("p.x", "x", "body"));
        assert_eq!(skill.allowed_tools, ["Bash"]);
    }
}
