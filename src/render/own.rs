//! The service's own texts: prompts of the packages `requests` and `skills`. A prompt of the same id replaces each of them; what ships with the
//! service is there even if no packages are loaded.

use std::sync::Arc;
use std::time::Instant;

use super::{Content, PreparedPrompt, RenderError, Renderer, serving};
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::model::{Id, Prompt};
use template::value::Value;

/// The packages with these prompts.
pub(super) const PACKAGES: [&str; 2] = ["requests", "skills"];

/// The text of a block of data: `kind`, `data`, `description`, `schema`.
pub(super) const DATA: &str = "requests.data";

/// The description of inputs.
pub(super) const INPUT: &str = "requests.input";

impl Renderer {
    /// Renders one of the service's own texts, which is a prompt of one of these packages.
    ///
    /// # Errors
    /// [`RenderError`], which names the prompt.
    pub async fn own_text(
        &self,
        caller: &Caller,
        id: &'static str,
        variables: Value,
    ) -> Result<String, RenderError> {
        self.own_text_of(caller, &self.catalog.snapshot(), id, variables, Instant::now()).await
    }

    /// As [`Renderer::own_text`], with the prompts of a snapshot, and a time limit that began at `started`.
    pub(super) async fn own_text_of(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        id: &'static str,
        variables: Value,
        started: Instant,
    ) -> Result<String, RenderError> {
        let rendered = self.render_own(caller, snapshot, id, variables, started).await;
        rendered.map_err(|error| RenderError::Own { id, error: Box::new(error) })
    }

    async fn render_own(
        &self,
        caller: &Caller,
        snapshot: &Arc<Snapshot>,
        id: &'static str,
        variables: Value,
        started: Instant,
    ) -> Result<String, RenderError> {
        let prompt = self.own_prompt(snapshot, &Id::parse(id)?)?;
        let cached = self.cache.cached(&prompt, &snapshot.documents);
        let is_cached = cached.is_some();
        let compiled = match cached {
            Some(compiled) => compiled,
            None => self.compile(prompt, snapshot, started).await?,
        };
        let snapshot = snapshot.clone();
        let prepared =
            PreparedPrompt { compiled, cached: is_cached, turn: None, snapshot, started, explain: false };
        match self.run(caller, prepared, Some(variables)).await?.content {
            Content::Text(text) => Ok(text),
            Content::Messages(_) => {
                let message = "it renders to messages, but its text is needed".to_owned();
                Err(RenderError::Failed { message, position: None })
            }
        }
    }

    /// The prompt of a snapshot, else the one that ships with the service.
    fn own_prompt(&self, snapshot: &Snapshot, id: &Id) -> Result<Arc<Prompt>, RenderError> {
        let shipped = || self.own.iter().find(|prompt| prompt.id == *id).cloned();
        match snapshot.prompt(id) {
            Some(_) => serving(snapshot, id),
            None => shipped().ok_or_else(|| RenderError::NotFound { id: id.clone() }),
        }
    }
}
