//! `[agents.NAME]`: what overrides the settings of agents.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// `[agents]`: for each agent, its settings, in any case and with `-` or `_`. The environment writes both names with `_`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Agents(pub Map<String, Json>);
