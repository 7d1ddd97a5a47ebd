//! The chat completion that is asked for in the place of a value, in each of the ways.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};

use super::plan::Way;
use super::request::{FailedAnswer, StructuredRequest};
use super::strategy::FUNCTION;
use crate::llm::error::LlmError;
use crate::llm::protocol::Protocol;
use crate::llm::tool_form::ToolForm;
use template::value::RawObject;

/// The members that ask for calls of functions, and those of the form that OpenAI's API had before.
const OF_FUNCTIONS: [&str; 3] = ["tools", "tool_choice", "parallel_tool_calls"];
const OF_OLD_FORM: [&str; 2] = ["functions", "function_call"];

impl StructuredRequest {
    /// The request for a chat completion that asks for the value in this way, of an upstream that speaks this protocol.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] if its messages, or its tools, are no list, or if it has `functions` and the value is the arguments of a tool.
    pub fn body(&self, way: Way, protocol: Protocol) -> Result<RawObject, LlmError> {
        let mut body = RawObject::clone(&self.payload);
        let adds_tool = self.plan.native != Some(way) && way == Way::Tools && !self.plan.is_call;
        let functions: Vec<Box<RawValue>> = body.find("functions").unwrap_or_default();
        if adds_tool && !functions.is_empty() && ToolForm::of(&body) == ToolForm::Functions {
            return Err(two_forms());
        }
        if self.plan.native != Some(way) {
            self.ask_for_value(&mut body, way, protocol).map_err(|error| invalid("tools", &error))?;
        }
        self.put_messages(&mut body, way).map_err(|error| invalid("messages", &error))?;
        Ok(body)
    }

    fn ask_for_value(
        &self,
        body: &mut RawObject,
        way: Way,
        protocol: Protocol,
    ) -> Result<(), serde_json::Error> {
        body.remove("response_format");
        // The function whose arguments the value is; and servers refuse an empty list.
        let is_value = self.plan.is_call && way != Way::Tools;
        if is_value || body.find("tools").is_some_and(|tools: Vec<Box<RawValue>>| tools.is_empty()) {
            OF_FUNCTIONS.into_iter().for_each(|member| drop(body.remove(member)));
        }
        if is_value {
            OF_OLD_FORM.into_iter().for_each(|member| drop(body.remove(member)));
        }
        match way {
            Way::Tools if self.plan.is_call => Ok(()),
            Way::JsonSchema => body.set("response_format", self.schema.response_format()),
            Way::Tools => self.put_function(body, protocol),
            Way::JsonObject => body.set("response_format", &json!({"type": "json_object"})),
            Way::Text => Ok(()),
        }
    }

    /// Adds the function that carries the value, beside the client's own functions, if it has some: the model has to call one. Where it
    /// cannot be made to, an answer without a call is one that does not fit.
    fn put_function(&self, body: &mut RawObject, protocol: Protocol) -> Result<(), serde_json::Error> {
        let mut tools: Vec<Box<RawValue>> = body.read("tools")?.unwrap_or_default();
        let may_call_others =
            !tools.is_empty() && body.find::<String>("tool_choice").as_deref() != Some("none");
        tools.push(self.schema.function().to_owned());
        body.set("tools", &tools)?;
        match may_call_others {
            true if protocol.may_require_any() => body.set("tool_choice", "required"),
            true => body.set("tool_choice", "auto"),
            false => body.set("tool_choice", &json!({"type": "function", "function": {"name": FUNCTION}})),
        }
    }

    /// Adds the schema as a text, and the answers that did not fit.
    fn put_messages(&self, body: &mut RawObject, way: Way) -> Result<(), serde_json::Error> {
        let is_native = self.plan.native == Some(way);
        let text = self.text.as_deref().filter(|_| way.has_text() && !is_native);
        if text.is_none() && self.failed.is_empty() {
            return Ok(());
        }
        let mut messages: Vec<Box<RawValue>> = body.read("messages")?.unwrap_or_default();
        if let Some(text) = text {
            add_instruction(&mut messages, text)?;
        }
        for failed in &self.failed {
            failed.add_to(&mut messages, way)?;
        }
        body.set("messages", &messages)
    }
}

/// The function that carries a value is one of `tools`, which stand beside no `functions`.
fn two_forms() -> LlmError {
    let message = "cannot be given with this `response_format`, as the model takes a value as a tool's arguments: \
        send `tools` in their place, or leave out `response_format`";
    LlmError::Invalid { param: "functions", message: message.to_owned() }
}

fn invalid(param: &'static str, error: &serde_json::Error) -> LlmError {
    LlmError::Invalid { param, message: format!("must be a list: {error}") }
}

/// Adds a text to the system message at the beginning, or such a message: many models take one alone.
fn add_instruction(messages: &mut Vec<Box<RawValue>>, text: &str) -> Result<(), serde_json::Error> {
    if let Some(first) = messages.first_mut()
        && let Some(extended) = extended(first, text)?
    {
        *first = extended;
        return Ok(());
    }
    messages.insert(0, to_raw_value(&json!({"role": "system", "content": text}))?);
    Ok(())
}

/// The system message with a text added; `None` if this is no system message.
fn extended(message: &RawValue, text: &str) -> Result<Option<Box<RawValue>>, serde_json::Error> {
    let Ok(mut message) = template::value::parse_json::<RawObject>(message.get().as_bytes()) else {
        return Ok(None);
    };
    let role: Option<String> = message.find("role");
    if !role.is_some_and(|role| matches!(role.as_str(), "system" | "developer")) {
        return Ok(None);
    }
    match message.find::<Json>("content") {
        Some(Json::String(content)) => message.set("content", &format!("{content}\n\n{text}"))?,
        Some(Json::Array(mut parts)) => {
            parts.push(json!({"type": "text", "text": text}));
            message.set("content", &parts)?;
        }
        _ => message.set("content", text)?,
    }
    to_raw_value(&message).map(Some)
}

impl FailedAnswer {
    /// The answer as the model gave it, and what is wrong with it. A call is one only for a model that is asked for calls.
    fn add_to(&self, messages: &mut Vec<Box<RawValue>>, way: Way) -> Result<(), serde_json::Error> {
        let complaint = match self.call.as_ref().filter(|_| way == Way::Tools) {
            Some(call) => {
                let function = json!({"name": call.name, "arguments": call.arguments});
                let calls = json!([{"id": call.id, "type": "function", "function": function}]);
                messages
                    .push(to_raw_value(&json!({"role": "assistant", "content": null, "tool_calls": calls}))?);
                json!({"role": "tool", "tool_call_id": call.id, "content": self.complaint})
            }
            None => {
                // Some servers refuse a message without a text.
                if !self.text.is_empty() {
                    messages.push(to_raw_value(&json!({"role": "assistant", "content": self.text}))?);
                }
                json!({"role": "user", "content": self.complaint})
            }
        };
        messages.push(to_raw_value(&complaint)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::completion::ToolCall;
    use crate::llm::structured::{OutputSchema, Plan};
    use std::sync::Arc;
    use template::value::parse_json;

    #[test]
    fn a_protocol_that_cannot_require_any_function_is_asked_for_one_all_the_same() {
        let tool = json!({"type": "function", "function": {"name": "f"}});
        let body =
            |protocol| request(json!({"messages": [], "tools": [tool]})).body(Way::Tools, protocol).unwrap();
        let choice = |protocol| body(protocol).find::<String>("tool_choice");
        assert_eq!(choice(Protocol::OpenAi).as_deref(), Some("required"));
        assert_eq!(choice(Protocol::GigaChat).as_deref(), Some("auto"));
    }

    fn request(payload: Json) -> StructuredRequest {
        let schema = json!({"title": "T", "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        StructuredRequest {
            payload: Arc::new(parse_json(payload.to_string().as_bytes()).unwrap()),
            schema: OutputSchema::new(schema).unwrap().into(),
            text: Some("As JSON.".into()),
            plan: Plan::ANY,
            failed: Vec::new(),
            emulation: None,
        }
    }

    fn body(request: &StructuredRequest, way: Way) -> Json {
        serde_json::to_value(request.body(way, Protocol::OpenAi).unwrap()).unwrap()
    }

    #[test]
    fn each_way_has_its_body() {
        let messages = json!([{"role": "user", "content": "q"}]);
        let request = request(json!({"messages": messages, "temperature": 0}));
        let asked = json!({"title": "T", "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let tools = body(&request, Way::Tools);
        assert_eq!(
            tools,
            json!({
                "messages": messages, "temperature": 0,
                "tools": [{"type": "function", "function": {"name": "generate_response", "parameters": asked}}],
                "tool_choice": {"type": "function", "function": {"name": "generate_response"}},
            })
        );
        let with_text = json!([{"role": "system", "content": "As JSON."}, {"role": "user", "content": "q"}]);
        assert_eq!(
            body(&request, Way::JsonObject),
            json!({"messages": with_text, "temperature": 0, "response_format": {"type": "json_object"}})
        );
        assert_eq!(body(&request, Way::Text), json!({"messages": with_text, "temperature": 0}));
    }

    #[test]
    fn a_system_message_is_extended_and_there_is_one_at_most() {
        for (first, expected) in [
            (
                json!({"role": "system", "content": "Be kind."}),
                json!({"role": "system", "content": "Be kind.\n\nAs JSON."}),
            ),
            (
                json!({"role": "developer", "content": [{"type": "text", "text": "x"}], "name": "n"}),
                json!({"role": "developer", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "As JSON."}], "name": "n"}),
            ),
        ] {
            let messages = json!([first, {"role": "user", "content": "q"}]);
            let body = body(&request(json!({"messages": messages})), Way::Text);
            assert_eq!(body["messages"], json!([expected, {"role": "user", "content": "q"}]));
        }
    }

    #[test]
    fn failed_answers_are_told_in_the_way_that_the_model_knows() {
        let call =
            ToolCall { id: "c1".into(), name: "generate_response".into(), arguments: "{\"a\":1}".into() };
        let failed = FailedAnswer { text: "{\"a\":1}".into(), call: Some(call), complaint: "No.".into() };
        let silent = FailedAnswer { text: String::new(), call: None, complaint: "Say it.".into() };
        let request = StructuredRequest { failed: vec![failed, silent], ..request(json!({"messages": []})) };
        assert_eq!(
            body(&request, Way::Tools)["messages"],
            json!([
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "generate_response", "arguments": "{\"a\":1}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "No."},
                {"role": "user", "content": "Say it."},
            ])
        );
        assert_eq!(
            body(&request, Way::JsonSchema)["messages"],
            json!([
                {"role": "assistant", "content": "{\"a\":1}"},
                {"role": "user", "content": "No."},
                {"role": "user", "content": "Say it."},
            ])
        );
    }

    #[test]
    fn the_functions_of_the_client_stay_and_its_own_format_goes_out_as_it_is_where_models_have_it() {
        let own = json!({"type": "function", "function": {"name": "f"}});
        let format = json!({"type": "json_schema", "json_schema": {"name": "N", "schema": {}}});
        let payload = json!({"messages": [], "tools": [own], "response_format": format});
        let request = StructuredRequest { plan: Plan::VALUE, ..request(payload.clone()) };
        assert_eq!(body(&request, Way::JsonSchema), payload);
        let asked = body(&request, Way::Tools);
        assert_eq!((&asked["tools"][0], &asked["tool_choice"]), (&own, &json!("required")));
        assert_eq!(asked["tools"][1]["function"]["name"], "generate_response");
        assert!(asked.get("response_format").is_none());
    }

    #[test]
    fn a_function_of_the_client_that_carries_the_value_stays_alone_and_goes_where_it_is_not_called() {
        let own = json!([{"type": "function", "function": {"name": "f"}}]);
        let payload = json!({"messages": [], "tools": own, "tool_choice": "required", "response_format": {}});
        let request = StructuredRequest { plan: Plan::CALL_BESIDE_FORMAT, ..request(payload.clone()) };
        assert_eq!(body(&request, Way::JsonSchema), payload);
        assert_eq!(
            body(&request, Way::Tools),
            json!({"messages": [], "tools": own, "tool_choice": "required"})
        );
        let text = body(&request, Way::Text);
        assert!(text.get("tools").is_none() && text.get("tool_choice").is_none(), "{text}");
    }
}
