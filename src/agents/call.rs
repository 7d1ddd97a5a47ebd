//! The calls of tools.

use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

use super::Agents;
use super::report::Report;
use base::caller::Caller;
use base::model::Id;
use template::value::Value;

/// How long a tool may take in any case; usually its own time limit is shorter.
pub(super) const TOOL_TIME: Duration = Duration::from_secs(600);

impl Agents {
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
        let called = tokio::time::timeout(TOOL_TIME, self.toolbox.call(caller, id, &arguments)).await;
        let answer = match called {
            Ok(Ok(timed)) => Ok(timed.answer.value),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("there was no answer within {} s", TOOL_TIME.as_secs())),
        };
        report.verbose(|| match &answer {
            Ok(answer) => format!("call_tool // {id} answers: {}", answer.to_json()),
            Err(error) => format!("call_tool // {id} fails: {error}"),
        });
        answer
    }
}
