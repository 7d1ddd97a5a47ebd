//! Runs the service until it is told to stop.

use super::args::Common;
use super::error::CliError;
use super::output::say;
use super::target;
use crate::app::App;
use crate::http;
use crate::model::Id;
use crate::telemetry;

/// The prompt of the greeting, and variables that it renders with.
const EXAMPLE: (&str, &str) = ("commit-writer.message", r#"{"diff":"+ retries on time-out"}"#);

/// Runs the service.
///
/// # Errors
/// When the settings, the store or the address do not permit it.
pub async fn run(common: &Common) -> Result<(), CliError> {
    if common.server.is_some() {
        return Err(CliError::Usage("`serve` runs a service itself and takes no --server".to_owned()));
    }
    let settings = target::settings(common)?;
    telemetry::init(&settings.log)?;
    let app = App::build(&settings).await?;
    let follow = app.follow();
    let bound = http::bind(&app, &settings.server)
        .map_err(|source| CliError::Listen { address: settings.server.listen.to_string(), source })?;
    greet(&app, &bound.address.to_string());
    if app.llm.is_offline() {
        tracing::info!(
            "no model is the default (llm.base_url, llm.default_model): the built-in one, `echo`, answers chats, offline"
        );
    }
    let ended = bound.server.await;
    follow.abort();
    ended.map_err(|source| CliError::Listen { address: bound.address.to_string(), source })
}

fn greet(app: &App, address: &str) {
    let snapshot = app.catalog.snapshot();
    let (prompts, problems) = (snapshot.documents.prompts.len(), snapshot.problems.len());
    let store = app.catalog.store().describe();
    say(format_args!(
        "ai-prompt-shell listens on http://{address} ({prompts} prompts, {problems} problems, store {store})"
    ));
    let (id, variables) = EXAMPLE;
    let known = Id::parse(id).is_ok_and(|id| snapshot.prompt(&id).is_some());
    say(format_args!("Try:"));
    match known {
        true => ["render", "chat"].into_iter().for_each(|what| {
            say(format_args!(
                "  curl -s http://{address}/api/{what}/prompts/{id} \\\n    -H 'content-type: application/json' -d '{{\"variables\":{variables}}}'"
            ));
        }),
        false => say(format_args!("  curl -s http://{address}/api/prompts")),
    }
}
