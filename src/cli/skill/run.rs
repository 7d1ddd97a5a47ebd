//! `skill run`: finds a skill, starts its session, and carries out what the model wants.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::allowed::AllowedTools;
use super::args::{SkillRun, Yes};
use super::bundle::Bundle;
use super::command::Commands;
use super::dialogue::{Session, Turn};
use super::drive::{Run, can_be_tried_again, try_again};
use super::host::{Host, Sight};
use super::journal::Journal;
use super::machine::Machine;
use super::source::{Source, known};
use super::verdict::Judge;
use super::{choose, knowledge, show};
use crate::cli::ai::{judge, judge_elsewhere};
use crate::cli::args::Common;
use crate::cli::client::Client;
use crate::cli::error::CliError;
use crate::cli::{target, terminal};

/// Runs a skill.
///
/// # Errors
/// When there is no such skill, the model does not answer, the user cancels it, or a question has nobody to answer it.
pub async fn run(common: &Common, options: &SkillRun) -> Result<(), CliError> {
    let is_attended = terminal::is_attended();
    let is_safe_run = options.yes == Some(Yes::Safe);
    let params = params(options)?;
    let host = match &options.host {
        Some(name) => Some(Host::new(name, &current_dir()?)),
        None => None,
    };
    let journal = Journal::open(options.log.as_deref(), options.host.as_deref())?;
    let client = target::open(common).await?;
    let source = source(&client, options, host.as_ref(), is_attended).await?;
    let surroundings = surroundings(host.as_ref()).await?;
    let bundle = Bundle::of(&client, &source, host.is_some()).await?;
    let skill_dir = source.folder.as_deref().or(bundle.folder());
    show::beginning(&source, skill_dir, options.host.as_deref());
    show::freedom(&source.skill.allowed_tools, options.host.is_some(), is_safe_run, is_attended);
    let policy = match &options.host {
        Some(host) => judge_elsewhere(common, host, options.rules.as_deref()),
        None => judge(common, None, options.rules.as_deref())?,
    };
    let allowed = AllowedTools::read(&source.skill.allowed_tools);
    let judge = Judge { policy, allowed, is_safe_run, is_attended };
    let machine = Machine::new(options, host, skill_dir)?;
    let body = start_body(options, params, &surroundings, is_attended);
    let (session, first) = started(&client, &source, body, is_attended).await?;
    let commands = Commands::new(judge, machine, journal);
    let max_steps = first.max_steps;
    Run { session, commands, is_attended, max_steps }.until_done(first).await
}

fn current_dir() -> Result<std::path::PathBuf, CliError> {
    std::env::current_dir().map_err(|source| CliError::file(Path::new("."), source))
}

/// The skill that is named, or chosen.
async fn source(
    client: &Client,
    options: &SkillRun,
    host: Option<&Host>,
    is_attended: bool,
) -> Result<Source, CliError> {
    match (&options.id, &options.auto) {
        (Some(id), _) => Source::find(client, id, host).await,
        (None, Some(wanted)) => {
            let id = choose::choose(client, wanted, is_attended).await?;
            Source::chosen(client, &id).await
        }
        (None, None) => Err(CliError::Usage(format!("say which skill is to run; {}", known(client).await))),
    }
}

/// What the model is told of the machine.
async fn surroundings(host: Option<&Host>) -> Result<Sight, CliError> {
    match host {
        Some(host) => terminal::waiting(host.name(), host.look()).await,
        None => Ok(Sight { system: std::env::consts::OS.to_owned(), knowledge: knowledge::read() }),
    }
}

/// The parameters: those by name, and the arguments by number and together.
fn params(options: &SkillRun) -> Result<Map<String, Json>, CliError> {
    let mut params = options.params.object()?;
    if !options.arguments.is_empty() {
        params.insert("ARGUMENTS".to_owned(), options.arguments.join(" ").into());
    }
    for (number, argument) in (1..).zip(&options.arguments) {
        params.insert(number.to_string(), argument.as_str().into());
    }
    Ok(params)
}

/// The body of the start, without the skill.
fn start_body(
    options: &SkillRun,
    params: Map<String, Json>,
    machine: &Sight,
    is_attended: bool,
) -> Map<String, Json> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Option<Json>| body.extend(value.map(|value| (name.to_owned(), value)));
    set("params", (!params.is_empty()).then(|| params.into()));
    let prompt = options.prompt.as_ref().or(options.auto.as_ref());
    set("prompt", prompt.map(|prompt| prompt.as_str().into()));
    set("knowledge", machine.knowledge.as_deref().map(Json::from));
    set("os", system(&machine.system).map(Json::from));
    set("model", options.model.as_deref().map(Json::from));
    set("max_steps", options.max_steps.map(Json::from));
    // What has no tag is no command, where one could run that nobody has looked at.
    let may_run_unseen = !is_attended || options.yes.is_some();
    set("unknown_format", may_run_unseen.then(|| json!("error")));
    body
}

/// The system by the name that it gives itself, as the service names it.
fn system(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "linux" => Some("linux"),
        "macos" | "darwin" => Some("macos"),
        "windows" => Some("windows"),
        _ => None,
    }
}

/// Starts the session; after a failure of the model again, if the user wants it.
async fn started<'c>(
    client: &'c Client,
    source: &Source,
    body: Map<String, Json>,
    is_attended: bool,
) -> Result<(Session<'c>, Turn), CliError> {
    let (path, skill) = source.start();
    let body = Json::Object(skill.into_iter().chain(body).collect());
    loop {
        match Session::start(client, &path, &body).await {
            Err(error) if can_be_tried_again(&error) && is_attended => {
                try_again(&error.to_string(), is_attended).await?;
            }
            started => return started,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command, KindAction, KindCommand};
    use crate::cli::skill::SkillAction;
    use clap::Parser;

    fn options(words: &[&str]) -> SkillRun {
        let cli = Cli::try_parse_from(["ai-prompt-shell", "skill", "run"].iter().chain(words)).unwrap();
        match cli.command {
            Some(Command::Documents(KindCommand {
                action: KindAction::Skill(SkillAction::Run(options)),
                ..
            })) => *options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_parameters_by_number_and_together() {
        let options = options(&["x", "-v", "a=b", "--json", r#"{"n": 1}"#, "one", "two three", "--", "-4"]);
        let expected = json!({"n": 1, "a": "b", "ARGUMENTS": "one two three -4", "1": "one", "2": "two three", "3": "-4"});
        assert_eq!(Json::from(params(&options).unwrap()), expected);
    }

    #[test]
    fn the_start_says_what_is_known_and_nothing_else() {
        let machine = Sight { system: "Darwin".to_owned(), knowledge: Some("k".to_owned()) };
        let body = start_body(&options(&["x"]), Map::new(), &machine, true);
        assert_eq!(Json::from(body), json!({"knowledge": "k", "os": "macos"}));
        let options = options(&["--auto", "commit", "--max-steps", "3", "-m", "M"]);
        let body = start_body(&options, Map::new(), &Sight::default(), false);
        let expected = json!({"prompt": "commit", "model": "M", "max_steps": 3, "unknown_format": "error"});
        assert_eq!(Json::from(body), expected);
    }

    #[test]
    fn a_skill_is_either_named_or_chosen_and_hosts_are_names() {
        for wrong in [
            &["x", "--auto", "y"][..],
            &["x", "--host", "-oX"],
            &["x", "--yes", "all"],
            &["x", "--timeout", "0"],
        ] {
            let words = ["ai-prompt-shell", "skill", "run"].iter().chain(wrong);
            assert!(Cli::try_parse_from(words).is_err(), "{wrong:?}");
        }
    }
}
