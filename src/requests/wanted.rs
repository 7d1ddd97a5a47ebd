//! What a request says beside its context: how the value is to be made.

use serde_json::value::RawValue;

use super::error::RequestError;
use crate::llm::structured::Strategy;
use crate::structured::Check;
use base::schema::Members;
use template::value::RawObject;

/// The most repairs that a request may ask for.
const REPAIRS_MAX: usize = 5;

/// The most choices that a request may ask for, as many as of OpenAI.
const CHOICES_MAX: usize = 128;

/// Members of the upstream's body that the service sets itself.
pub const OWN_PARAMS: [&str; 10] = [
    "messages",
    "stream",
    "stream_options",
    "n",
    "response_format",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
];

/// How a value is to be made.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The JSON Schema, as it was written.
    pub schema: Option<Box<RawValue>>,
    /// The model.
    pub model: Option<String>,
    /// Members of the upstream's body.
    pub params: RawObject,
    /// How many values are wanted.
    pub n: usize,
    /// The only strategy that is wanted.
    pub strategy: Option<Strategy>,
    /// How often an answer that does not fit is sent back; `None` for the usual number.
    pub max_repairs: Option<usize>,
    /// What the value has to fulfil beside the schema.
    pub checks: Vec<Check>,
    /// Whether an earlier answer to the same request will do.
    pub reuse: bool,
    /// Whether the value is wanted as it grows.
    pub stream: bool,
}

impl Wanted {
    /// Takes what is wanted out of the body of a request; what is left must be none.
    ///
    /// # Errors
    /// [`RequestError::Invalid`], with everything that is wrong.
    pub fn take(body: RawObject) -> Result<Wanted, RequestError> {
        let mut members = Members::new(body);
        let wanted = Wanted {
            schema: members.raw("schema"),
            model: members.take("model", "the name of a model").filter(|name: &String| !name.is_empty()),
            params: params(&mut members),
            n: members.number("n", 1, CHOICES_MAX).unwrap_or(1),
            strategy: members.take("strategy", "`json_schema`, `tools` or `json_object`"),
            max_repairs: members.number("max_repairs", 0, REPAIRS_MAX),
            checks: members.take("checks", "a list of {test, message}").unwrap_or_default(),
            reuse: members.take("reuse", "true or false").unwrap_or(false),
            stream: members.take("stream", "true or false").unwrap_or(false),
        };
        finish(members, &wanted)?;
        Ok(wanted)
    }
}

fn params(members: &mut Members) -> RawObject {
    let params: RawObject =
        members.take("params", "an object: members of the body for the model").unwrap_or_default();
    for name in OWN_PARAMS.iter().filter(|name| params.get(name).is_some()) {
        members.add(format!("/params/{name}"), "is set by the service, from the request itself");
    }
    params
}

fn finish(mut members: Members, wanted: &Wanted) -> Result<(), RequestError> {
    let is_single = wanted.n == 1;
    for (name, is_set) in [("stream", wanted.stream), ("reuse", wanted.reuse)] {
        if is_set && !is_single {
            members.add(format!("/{name}"), "needs `n` to be 1");
        }
    }
    if wanted.stream && wanted.reuse {
        members.add("/stream", "cannot be combined with `reuse`");
    }
    let unknown = "is no member of a request; parameters of the model go into `params`";
    members.finish(unknown).map_err(|violations| RequestError::Invalid { violations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::schema::Violation;
    use template::value::parse_json;

    fn wanted(text: &str) -> Result<Wanted, Vec<String>> {
        Wanted::take(parse_json(text.as_bytes()).unwrap()).map_err(|error| match error {
            RequestError::Invalid { violations } => violations.iter().map(Violation::to_string).collect(),
            error => vec![error.to_string()],
        })
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let found = wanted(
            r#"{"n": 0, "strategy": "magic", "max_repairs": 6, "checks": [{"test": 1}], "params": {"tools": [], "top_p": 1},
                "temperature": 0, "stream": "yes", "model": 5}"#,
        )
        .unwrap_err();
        let paths: Vec<&str> = found.iter().map(|violation| violation.split(':').next().unwrap()).collect();
        let expected = [
            "/model",
            "/params/tools",
            "/n",
            "/strategy",
            "/max_repairs",
            "/checks",
            "/stream",
            "/temperature",
        ];
        assert_eq!(paths, expected, "{found:?}");
    }

    #[test]
    fn what_is_null_counts_as_absent() {
        let wanted =
            wanted(r#"{"n": null, "schema": null, "model": "", "reuse": null, "params": null}"#).unwrap();
        assert!(wanted.n == 1 && wanted.schema.is_none() && wanted.model.is_none() && !wanted.reuse);
    }

    #[test]
    fn several_values_are_neither_streamed_nor_reused() {
        assert_eq!(wanted(r#"{"n": 2, "stream": true, "reuse": true}"#).unwrap_err().len(), 3);
    }
}
