//! Agents that can be used: those of the catalog, with the settings that override their own.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{AgentError, Agents};
use crate::catalog::AgentEntry;
use agent::{Agent, Overrides, override_name};
use base::model::{DocumentKind, Id, Problem, ProblemDetail};

impl Agents {
    /// Why an agent cannot be used now; empty if it can.
    pub fn faults(&self, entry: &AgentEntry) -> Vec<ProblemDetail> {
        let mut faults = entry.faults(&self.catalog.snapshot());
        if let Some(agent) = &entry.agent {
            faults.extend(self.overridden(agent).err().into_iter().flatten());
        }
        faults
    }

    /// What is wrong with the settings that override those of agents.
    pub fn override_problems(&self) -> Vec<Problem> {
        let snapshot = self.catalog.snapshot();
        let ids = snapshot.ids(DocumentKind::Agent);
        let agents = ids.iter().filter_map(|id| snapshot.agent(id)?.agent.as_ref());
        let faults = agents.filter_map(|agent| Some((&agent.id, self.overridden(agent).err()?)));
        let problems = faults.flat_map(|(id, faults)| {
            let problem =
                move |detail| Problem { kind: DocumentKind::Agent, key: format!("agents.{id}"), detail };
            faults.into_iter().map(problem)
        });
        problems.collect()
    }

    /// The agent with this id, and what overrides its settings.
    ///
    /// # Errors
    /// [`AgentError::NotFound`]; [`AgentError::Unavailable`], with everything that is wrong.
    pub(super) fn usable(&self, id: &Id) -> Result<(Arc<Agent>, Overrides), AgentError> {
        let snapshot = self.catalog.snapshot();
        let Some(entry) = snapshot.agent(id) else {
            return Err(match self.catalog.store_state().not_loaded() {
                // It may be in the store.
                Some(error) => error.into(),
                None => snapshot.no_document(DocumentKind::Agent, id).into(),
            });
        };
        let mut problems = entry.faults(&snapshot);
        let agent = entry.agent.as_ref().map(|agent| self.overridden(agent));
        match agent {
            Some(Ok(agent)) if problems.is_empty() => Ok((agent, self.overrides(id))),
            other => {
                problems.extend(other.and_then(Result::err).into_iter().flatten());
                Err(AgentError::Unavailable { id: id.clone(), problems })
            }
        }
    }

    /// An agent with the settings that override its own.
    fn overridden(&self, agent: &Arc<Agent>) -> Result<Arc<Agent>, Vec<ProblemDetail>> {
        let overrides = self.overrides(&agent.id);
        if overrides.is_empty() {
            return Ok(agent.clone());
        }
        match Agent::read(&agent.document, &overrides) {
            Ok(read) => Ok(Arc::new(read.stored_as(agent.id.clone()))),
            Err(faults) => Err(faults.iter().map(|fault| ProblemDetail::new(fault.to_string())).collect()),
        }
    }

    /// What overrides the settings of an agent. The environment writes names with `_`, and comes later in the order of names than
    /// what a file writes with `-` or in upper case, so that it wins.
    fn overrides(&self, id: &Id) -> Overrides {
        let wanted = override_name(id.as_str());
        let mut tables: Vec<(&String, &Json)> =
            self.options.overrides.iter().filter(|(name, _)| override_name(name) == wanted).collect();
        tables.sort_by_key(|(name, _)| *name);
        let mut overrides = Overrides::new();
        for (_, table) in tables {
            let mut values: Vec<(&String, &Json)> = table.as_object().into_iter().flatten().collect();
            values.sort_by_key(|(name, _)| *name);
            overrides.extend(values.into_iter().map(|(name, value)| (override_name(name), value.clone())));
        }
        overrides
    }
}
