//! Runs the service until it is told to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::args::Common;
use super::error::CliError;
use super::output::announce;
use super::signals::Signals;
use super::target;
use crate::app::App;
use crate::http::{self, Address, RunningServer};
use crate::telemetry;
use base::model::Id;

/// The prompt of the greeting, and variables that it renders with.
const EXAMPLE: (&str, &str) = ("commit-writer.message", r#"{"diff":"+ retries on time-out"}"#);

/// How long the greeting waits for the first scan of the store, so that it can tell how many documents there are.
const READ_SOON: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

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
    let mut signals = Signals::listen().map_err(CliError::Signals)?;
    let app = tokio::select! {
        app = App::open(&settings) => app?,
        signal = signals.next() => return Err(CliError::Signal { number: signal.number() }),
    };
    let running = http::bind(&app, &settings.server)
        .map_err(|source| CliError::Listen { address: settings.server.listen.to_string(), source })?;
    let (follow, servers) = (app.follow(), app.start_servers());
    let greeting = tokio::spawn(greet(app.clone(), running.address.clone()));
    if app.llm.is_offline() {
        tracing::info!(
            "no default model is set (llm.base_url, llm.default_model): the built-in model `echo` answers chats, offline"
        );
    }
    let ended = until_stopped(running, &mut signals).await;
    greeting.abort();
    follow.abort();
    servers.abort();
    ended
}

/// Serves until a signal arrives, and then stops gracefully; a second signal ends it at once.
async fn until_stopped(running: RunningServer, signals: &mut Signals) -> Result<(), CliError> {
    let RunningServer { address, server, shutdown } = running;
    let failed = |source| CliError::Listen { address: address.to_string(), source };
    let mut server = std::pin::pin!(server);
    let first = tokio::select! {
        ended = &mut server => return ended.map_err(failed),
        signal = signals.next() => signal,
    };
    if first.is_at_once() {
        return Err(CliError::Signal { number: first.number() });
    }
    tracing::info!("stopping: requests under way are finished (a second signal ends the service at once)");
    // The server must be polled during the shutdown, which decides when it is over.
    let serve_on = async {
        let _ended = server.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = shutdown.stop() => Ok(()),
        () = serve_on => Ok(()),
        signal = signals.next() => Err(CliError::Signal { number: signal.number() }),
    }
}

/// Prints the address of the service and what it holds.
async fn greet(app: Arc<App>, address: Address) {
    let since = Instant::now();
    while app.catalog.store_state().is_first_read() && since.elapsed() < READ_SOON {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    announce(greeting(&app, &address));
}

fn greeting(app: &App, address: &Address) -> String {
    let snapshot = app.catalog.snapshot();
    let (prompts, problems) = (snapshot.documents.prompts.len(), snapshot.problems.len());
    let store = app.catalog.store().describe();
    let still = if app.catalog.store_state().is_first_read() { ", which is still being read" } else { "" };
    let (id, variables) = EXAMPLE;
    let known = Id::parse(id).is_ok_and(|id| snapshot.prompt(&id).is_some());
    let curl = match address {
        Address::Port(_) => format!("curl -s {address}"),
        Address::Socket(path) => format!("curl -s --unix-socket {} http://localhost", path.display()),
    };
    let render_and_chat = ["render", "chat"].map(|what| {
        format!(
            "  {curl}/api/{what}/prompts/{id} \\\n    -H 'content-type: application/json' -d '{{\"variables\":{variables}}}'\n"
        )
    });
    let attempts = if known { render_and_chat.concat() } else { format!("  {curl}/api/prompts\n") };
    format!(
        "ai-prompt-shell listens on {address} ({prompts} prompts, {problems} problems, store {store}{still})\nTry:\n{attempts}"
    )
}
