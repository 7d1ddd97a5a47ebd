//! The calls of tools.

use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

use super::Agents;
use super::report::Report;
use base::caller::Caller;
use base::model::Id;
use template::value::Value;

/// How long a call may wait, beside the time limit of the tool: for its turn, and for the start of its server.
const WAITING_TIME: Duration = Duration::from_secs(60);

/// The longest time limit of a tool.
const TOOL_TIME_MAX: Duration = Duration::from_secs(600);

impl Agents {
    /// How long a call of a tool of the catalog may take in all.
    pub(super) fn tool_time(&self, id: &Id) -> Duration {
        self.toolbox.time_limit(id).unwrap_or_default().min(TOOL_TIME_MAX) + WAITING_TIME
    }

    /// Calls a tool of the catalog; the answer, or why there is none.
    pub(super) async fn call(
        &self,
        caller: &Caller,
        id: &Id,
        arguments: &JsonMap<String, Json>,
        report: &mut Report<'_>,
    ) -> Result<Value, String> {
        report.verbose(|| format!("call_tool // {id}: {}", Json::Object(arguments.clone())));
        let arguments = Value::from(&Json::Object(arguments.clone()));
        let limit = self.tool_time(id);
        let called = tokio::time::timeout(limit, self.toolbox.call(caller, id, &arguments)).await;
        let answer = match called {
            Ok(Ok(timed)) => Ok(timed.answer.value),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("there was no answer within {} s", limit.as_secs())),
        };
        report.verbose(|| match &answer {
            Ok(answer) => format!("call_tool // {id} answers: {}", answer.to_json()),
            Err(error) => format!("call_tool // {id} fails: {error}"),
        });
        answer
    }
}
