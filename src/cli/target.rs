//! The service that a command talks to: a running one, or one inside the command.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use super::args::Common;
use super::client::Client;
use super::error::CliError;
use super::output::warn;
use crate::app::{App, BuildError};
use crate::http;
use crate::settings::{self, Listen, Settings};
use crate::store::StoreError;
use crate::telemetry;

/// What is logged of a service inside a command. What agents log stands in their own files.
const CLI_LOG: &str = "error,ai_prompt_shell::agents=off";

/// Loads the settings with the options of the command line.
///
/// # Errors
/// [`CliError::Settings`].
pub fn settings(common: &Common) -> Result<Settings, CliError> {
    let mut overrides: Vec<(&str, String)> =
        common.set.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    overrides.extend(common.store.iter().map(|url| ("store.url", url.clone())));
    overrides.extend(common.listen.iter().map(|address| ("server.listen", address.clone())));
    overrides.extend(common.packages.iter().map(|dir| ("packages.dir", dir.display().to_string())));
    Ok(settings::load(common.config.as_deref(), &overrides)?)
}

/// A client of the service at `--server`, or else of one inside this process, or, if a running service holds the embedded store,
/// of that service.
///
/// # Errors
/// When neither can be had.
pub async fn open(common: &Common) -> Result<Client, CliError> {
    if let Some(url) = &common.server {
        return match url.strip_prefix("unix:") {
            Some(path) => Client::on_socket(path.into(), None),
            None => Ok(Client::new(url.trim_end_matches('/'))),
        };
    }
    open_with(&settings(common)?).await
}

/// As [`open`], with these settings and without `--server`.
///
/// # Errors
/// As [`open`].
pub async fn open_with(settings: &Settings) -> Result<Client, CliError> {
    // Commands print their own messages; the log is for the service.
    telemetry::init(&crate::settings::Log { level: CLI_LOG.into(), ..settings.log.clone() })?;
    match build(settings).await {
        Ok(app) => match app.catalog.store_state().error {
            None => inside(&app, settings),
            Some(message) => Err(CliError::Store { message }),
        },
        Err(BuildError::Store(StoreError::Locked { path })) => {
            let (client, url) = running(&settings.server.listen)?;
            warn(format_args!("note: {} is in use by a running service; talking to {url}", path.display()));
            Ok(client)
        }
        Err(error) => Err(error.into()),
    }
}

/// A client of the service that listens there, and its address.
fn running(listen: &Listen) -> Result<(Client, String), CliError> {
    match listen {
        Listen::Socket(path) => Ok((Client::on_socket(path.clone(), None)?, listen.to_string())),
        port => {
            let url = format!("http://{port}");
            Ok((Client::new(&url), url))
        }
    }
}

/// Builds the services. If another command holds the store, it waits for a moment.
async fn build(settings: &Settings) -> Result<Arc<App>, BuildError> {
    for _ in 0..LOCK_RETRIES {
        let served = match &settings.server.listen {
            Listen::Socket(path) => tokio::net::UnixStream::connect(path).await.is_ok(),
            port => tokio::net::TcpStream::connect(port.to_string()).await.is_ok(),
        };
        match App::build(settings).await {
            Err(BuildError::Store(StoreError::Locked { .. })) if !served => {
                tokio::time::sleep(LOCK_PAUSE).await
            }
            built => return built,
        }
    }
    App::build(settings).await
}

/// A locked store is opened again so often, with this pause, if no service answers.
const LOCK_RETRIES: usize = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` inside this process, on a Unix socket in a folder that only this user may enter. The folder is removed when the
/// client is dropped.
///
/// # Errors
/// When no socket can be had.
pub fn inside(app: &Arc<App>, settings: &Settings) -> Result<Client, CliError> {
    let server = settings::Server { workers: 1, ..settings.server.clone() };
    let no_socket = |source| CliError::Listen { address: "a socket for this command".to_owned(), source };
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new()
        .prefix("ai-prompt-shell-")
        .permissions(private)
        .tempdir()
        .map_err(no_socket)?;
    let path = folder.path().join("socket");
    tokio::spawn(http::bind_socket(app, &server, path.clone()).map_err(no_socket)?);
    Client::on_socket(path, Some(folder))
}
