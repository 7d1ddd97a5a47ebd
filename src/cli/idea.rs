//! `idea`: what was asked and answered before, shown and asked again.

use serde_json::json;

use super::args::{Common, IdeaAction};
use super::documents::print_json;
use super::error::CliError;
use super::target;
use base::encoding::percent_encoded;

/// Shows an idea, or asks a model again.
///
/// # Errors
/// The service's own error.
pub async fn run(common: &Common, action: IdeaAction) -> Result<(), CliError> {
    let client = target::open(common).await?;
    let path = |id: &str| format!("/api/ideas/{}", percent_encoded(id));
    let reply = match action {
        IdeaAction::Show { id } => client.get(&path(&id)).await?,
        IdeaAction::Replay { id, model } => {
            let body = model.map_or_else(|| json!({}), |model| json!({"model": model}));
            client.post(&format!("{}/replay", path(&id)), &body).await?
        }
    };
    print_json(&reply);
    Ok(())
}
