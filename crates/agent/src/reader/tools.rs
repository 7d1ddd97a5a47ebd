//! Tools with their rules.

use std::collections::HashSet;

use base::model::string_member;
use base::schema::Schema;
use serde_json::{Map as JsonMap, Value as Json, json};

use super::{CALL, Reader};
use crate::outcome::Outcome;
use crate::step::Step;
use crate::tool::{AgentTool, Check, Failures};

/// The names that the texts of rules can use.
const RULE: [&str; 6] = ["tool", "arguments", "arguments_json", "parameter", "length", "limit"];

/// The names that the texts of failures can use.
const FAILURE: [&str; 4] = ["tool", "arguments", "arguments_json", "error"];

/// The names that the texts of results can use.
const RESULT: [&str; 4] = ["tool", "arguments", "arguments_json", "result"];

impl Reader<'_> {
    pub(super) fn tools(&mut self) -> Vec<AgentTool> {
        let document = self.document;
        let tools = document.get("tools").and_then(Json::as_array).into_iter().flatten();
        let (mut read, mut names) = (Vec::new(), HashSet::new());
        for (at, tool) in tools.enumerate() {
            let path = format!("/tools/{at}");
            // Also one that cannot be read has its name.
            if let Some(name) = tool.get("name").and_then(Json::as_str)
                && !names.insert(name)
            {
                self.fault(format!("{path}/name"), format!("there is another tool called `{name}`"));
            }
            read.extend(self.tool(&path, tool));
        }
        read
    }

    fn tool(&mut self, path: &str, tool: &Json) -> Option<AgentTool> {
        let name = string_member(tool, "name");
        let parameters = match tool.get("parameters") {
            Some(parameters) => parameters.clone(),
            None => json!({"type": "object", "properties": {}}),
        };
        let schema = Schema::compile(&parameters);
        let schema = schema.map_err(|error| self.fault(format!("{path}/parameters"), error.to_string())).ok();
        let id =
            self.id(&format!("{path}/tool"), tool.get("tool").and_then(Json::as_str).unwrap_or_default());
        let health = tool.get("health").and_then(Json::as_str);
        let health = health.map(|health| self.id(&format!("{path}/health"), health));
        let bound = self.bound(&format!("{path}/bind"), tool.get("bind"), &parameters);
        let checks = self.checks(&format!("{path}/checks"), tool.get("checks"), &parameters);
        let ok = tool.get("ok").map(|ok| self.outcome(&format!("{path}/ok"), ok, &CALL, &[Step::Main]));
        let output = tool.get("output").map(|items| self.items(&format!("{path}/output"), items, &RESULT));
        let failure = self.failures(&format!("{path}/failure"), tool.get("failure"));
        let texts = |member: &str| super::texts_at(tool, &format!("/{member}"));
        let asks = tool.get("on_missing").and_then(Json::as_str) == Some("ask");
        if asks && checks.iter().all(|check| check.missing.is_none()) {
            let message = "asks for what is missing, but no rule in `checks` says so with `missing`";
            self.fault(format!("{path}/on_missing"), message);
        }
        // What is not there is a fault by the schema, or was told.
        Some(AgentTool {
            name: name?,
            description: string_member(tool, "description").unwrap_or_default(),
            tool: id?,
            parameters,
            health: health.map_or(Some(None), |health| health.map(Some))?,
            schema: schema?,
            bound,
            checks,
            ok: ok.unwrap_or_default(),
            error_field: string_member(tool, "error_field"),
            required: texts("required"),
            output: output.unwrap_or_default(),
            failure,
            confirm: tool.get("confirm") == Some(&Json::Bool(true)),
            asks,
        })
    }

    /// Arguments that the model does not choose: settings, and values.
    fn bound(&mut self, path: &str, bind: Option<&Json>, parameters: &Json) -> JsonMap<String, Json> {
        let mut bound = JsonMap::new();
        for (name, value) in bind.and_then(Json::as_object).into_iter().flatten() {
            let place = format!("{path}/{name}");
            if parameters.get("properties").is_some_and(|known| known.get(name).is_some()) {
                self.fault(&place, "is offered to the model, too; leave it out of `parameters`");
            }
            let value = match value.get("setting").and_then(Json::as_str) {
                Some(setting) => self.setting(&format!("{place}/setting"), setting),
                None => value.get("value").cloned(),
            };
            bound.extend(value.map(|value| (name.clone(), value)));
        }
        bound
    }

    fn setting(&mut self, path: &str, name: &str) -> Option<Json> {
        let value = self.settings.get(name).cloned();
        if value.is_none() {
            self.fault(path, format!("there is no setting `{name}`"));
        }
        value
    }

    fn checks(&mut self, path: &str, checks: Option<&Json>, parameters: &Json) -> Vec<Check> {
        let checks = checks.and_then(Json::as_array).into_iter().flatten().enumerate();
        checks.filter_map(|(at, check)| self.check(&format!("{path}/{at}"), check, parameters)).collect()
    }

    fn check(&mut self, path: &str, check: &Json, parameters: &Json) -> Option<Check> {
        let parameter = string_member(check, "parameter")?;
        let is_known = parameters.get("properties").is_some_and(|known| known.get(&parameter).is_some());
        if !is_known {
            let message = format!("the `parameters` of the tool have no property `{parameter}`");
            self.fault(format!("{path}/parameter"), message);
        }
        let mut rule = |name: &str| -> Option<Outcome> {
            let outcome = check.get(name)?;
            Some(self.outcome(&format!("{path}/{name}"), outcome, &RULE, &[Step::Main]))
        };
        let (missing, empty, too_long) = (rule("missing"), rule("empty"), rule("too_long"));
        let limit = check.get("max_chars").and_then(|limit| self.limit(&format!("{path}/max_chars"), limit));
        if check.get("max_chars").is_some() != too_long.is_some() {
            self.fault(path, "`max_chars` and `too_long` go together: a limit, and what is said of it");
        }
        Some(Check { parameter, missing, empty, too_long: limit.zip(too_long) })
    }

    /// A number of characters: itself, or a setting.
    fn limit(&mut self, path: &str, limit: &Json) -> Option<usize> {
        let (place, value) = match limit.get("setting").and_then(Json::as_str) {
            Some(name) => (format!("{path}/setting"), self.setting(&format!("{path}/setting"), name)?),
            None => (path.to_owned(), limit.clone()),
        };
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        if number.is_none() {
            self.fault(place, format!("must be a whole number of characters, not {value}"));
        }
        number
    }

    fn failures(&mut self, path: &str, failure: Option<&Json>) -> Failures {
        let mut outcome = |name: &str| {
            let given = failure?.get(name)?;
            Some(self.outcome(&format!("{path}/{name}"), given, &FAILURE, &[Step::Main]))
        };
        Failures {
            health_failed: outcome("health_failed"),
            health_not_ok: outcome("health_not_ok"),
            call_failed: outcome("call_failed").unwrap_or_default(),
            error_reported: outcome("error_reported"),
        }
    }
}
