//! Structured outputs with libraries, unmodified, on models that do not have `response_format` with a JSON Schema.

use serde_json::{Value as Json, json};

use super::library::check_program;
use ai_prompt_shell::settings::{Capabilities, Model};
use support::app::TestApp;
use support::upstream::{Act, Seen, Upstream, completion, event, json as reply, sse};

/// What a model can do, or how it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ability {
    JsonSchema,
    Tools,
    JsonObject,
    /// Texts alone.
    Text,
}

use Ability::{JsonObject, JsonSchema, Text, Tools};

/// The models, each with the one thing that it can do.
const MODELS: [(&str, Ability); 3] = [("tools", Tools), ("json", JsonObject), ("text", Text)];

/// Where the service knows from what the models can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// The settings say it.
    Declared,
    /// It sees what they refuse.
    FoundOut,
}

/// All bodies that came to the upstream.
struct Asked(Vec<Json>);

impl Asked {
    /// Those for a model.
    fn of(&self, model: &str) -> Vec<&Json> {
        self.0.iter().filter(|body| body["model"] == model).collect()
    }

    /// No model was asked for what it cannot do, but for the first time, if that had to be found out.
    #[track_caller]
    fn assert_as_they_can(&self, known: Known) {
        for (model, can) in MODELS {
            let asked: Vec<Ability> = self.of(model).into_iter().map(asked_for).collect();
            let tried: Vec<Ability> = match known {
                Known::Declared => Vec::new(),
                Known::FoundOut => {
                    [JsonSchema, Tools, JsonObject].into_iter().take_while(|tried| *tried != can).collect()
                }
            };
            let (first, then) = asked.split_at(tried.len());
            assert_eq!(first, tried, "{model}");
            assert!(!then.is_empty() && then.iter().all(|asked| *asked == can), "{model}: {then:?}");
        }
    }

    /// The service sent answers that did not fit back, with what was wrong with them.
    #[track_caller]
    fn assert_repaired(&self) {
        for (model, _) in MODELS {
            let repairs: Vec<String> = self
                .of(model)
                .into_iter()
                .map(|body| body["messages"].as_array().unwrap())
                .map(|messages| text_of(&messages.last().unwrap()["content"]))
                .filter(|last| last.starts_with("The answer does not fit"))
                .collect();
            assert!(!repairs.is_empty(), "{model}");
            for repair in repairs {
                assert!(repair.contains("/priority") && repair.contains("labels"), "{model}: {repair}");
            }
        }
    }
}

/// Runs a program in front of the models.
async fn asked_by(program: &str, known: Known) -> Asked {
    let upstream = Upstream::start(answer).await;
    let service = TestApp::start_with(|settings| {
        settings.llm.base_url = Some(upstream.base.clone());
        if known == Known::Declared {
            settings.llm.models = MODELS.map(|(name, ability)| declared(name, ability)).into();
        }
    })
    .await;
    check_program(&format!("structured/{program}"), &format!("{}/v1", service.base)).await;
    Asked(upstream.seen().iter().map(Seen::json).collect())
}

/// A model of which everything is said.
fn declared(name: &str, ability: Ability) -> Model {
    let can = |one| Some(one == ability);
    let capabilities = Capabilities {
        json_schema: can(JsonSchema),
        tools: can(Tools),
        json_object: can(JsonObject),
        functions: None,
    };
    Model { name: name.into(), capabilities, ..Model::default() }
}

/// How a request asks for a value.
fn asked_for(body: &Json) -> Ability {
    match body["response_format"]["type"].as_str() {
        Some("json_schema") => JsonSchema,
        Some("json_object") => JsonObject,
        _ if body["tools"].is_array() => Tools,
        _ => Text,
    }
}

/// The scripted models: what they say is decided by the first message of the user, and by what was said since.
fn answer(seen: &Seen) -> Vec<Act> {
    let body = seen.json();
    let (_, can) = MODELS.into_iter().find(|(name, _)| body["model"] == *name).unwrap();
    let asked = asked_for(&body);
    if asked != Text && asked != can {
        return refusal(asked);
    }
    let messages = body["messages"].as_array().unwrap();
    let texts: Vec<String> = messages.iter().map(|message| text_of(&message["content"])).collect();
    if asked == JsonObject && !texts.iter().any(|text| text.to_lowercase().contains("json")) {
        let message = "'messages' must contain the word 'json' in some form";
        return reply(
            400,
            json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages"}}),
        );
    }
    if matches!(asked, JsonObject | Text) {
        assert!(
            texts[0].contains("\"properties\"") && messages[0]["role"] == "system",
            "no schema in {body}"
        );
    }
    let user = texts.iter().find_map(|text| text.split_once(" It is urgent.")).unwrap().0;
    let is_first = !messages.iter().any(|message| message["role"] == "assistant");
    let ticket = ticket();
    let (value, finish) = match user {
        "Refuse." => return told(&body, json!({"content": null, "refusal": "I do not do this."}), "stop"),
        "Be cut." => (ticket.to_string()[..20].to_owned(), "length"),
        "Err once." if is_first => (wrong().to_string(), "stop"),
        "Err always." => (wrong().to_string(), "stop"),
        "Be negative once." if is_first => (negative().to_string(), "stop"),
        "List tickets." => (json!({"elements": [ticket, ticket]}).to_string(), "stop"),
        "Fill a form." => (form().to_string(), "stop"),
        "Plant a tree." => (form()["tree"].to_string(), "stop"),
        _ => (ticket.to_string(), "stop"),
    };
    let message = match asked {
        Tools => {
            let tools = body["tools"].as_array().unwrap();
            let [tool] = &tools[..] else { panic!("one function: {body}") };
            assert_eq!(body["tool_choice"]["function"]["name"], tool["function"]["name"], "{body}");
            let function = json!({"name": tool["function"]["name"], "arguments": value});
            json!({"content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
        }
        Text if finish == "stop" => json!({"content": messy(&value)}),
        _ => json!({"content": value}),
    };
    told(&body, message, finish)
}

/// The refusal of what a model cannot do, as servers word it.
fn refusal(ability: Ability) -> Vec<Act> {
    let (message, param) = match ability {
        JsonSchema => (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "response_format",
        ),
        JsonObject => ("'response_format' is not supported with this model.", "response_format"),
        _ => ("registry.ollama.ai/library/m does not support tools", "tools"),
    };
    reply(400, json!({"error": {"message": message, "type": "invalid_request_error", "param": param}}))
}

/// A JSON text as models tell it that know no better.
fn messy(value: &str) -> String {
    format!(
        "<think>They want {{\"title\": …}}.</think>\n\nHere is the ticket that you {{all}} want:\n\n```json\n{value}\n```\n\nIs it \"right\"?"
    )
}

fn ticket() -> Json {
    json!({
        "title": "Früh \"am\" Morgen", "priority": "high", "kind": "bug", "labels": ["ui", "login"], "estimate": 2.5,
        "reporter": {"name": "Ann", "email": null},
        "watchers": [{"name": "Bob", "email": "bob@example.com"}],
    })
}

/// A ticket with an unknown priority and without labels.
fn wrong() -> Json {
    let mut wrong = ticket();
    wrong["priority"] = "urgent".into();
    wrong.as_object_mut().unwrap().remove("labels");
    wrong
}

/// A ticket that fits every schema.
fn negative() -> Json {
    let mut negative = ticket();
    negative["estimate"] = json!(-1.0);
    negative
}

/// A value of many types, as JSON has them.
fn form() -> Json {
    json!({
        "id": "123e4567-e89b-42d3-a456-426614174000", "mail": "ann@example.com", "site": "https://example.com/a?b=c",
        "at": "2026-11-25T04:41:53Z", "day": "2026-11-25", "price": "12.50", "count": 3, "pair": ["a", 1],
        "scores": {"a": 1, "b": 2}, "shape": {"kind": "circle", "radius": 1.5},
        "tree": {"name": "root", "children": [{"name": "leaf", "children": []}]},
    })
}

fn text_of(content: &Json) -> String {
    match content {
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}

/// An answer with this message, as a whole or in pieces.
fn told(body: &Json, message: Json, finish: &str) -> Vec<Act> {
    let mut whole = completion("");
    whole["choices"][0]["message"] = message.clone();
    whole["choices"][0]["message"]["role"] = "assistant".into();
    whole["choices"][0]["finish_reason"] = finish.into();
    if body["stream"] != true {
        return reply(200, whole);
    }
    let chunk = |delta: Json, finish: Json| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "scripted",
            "choices": [choice],
        })
    };
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(pieces(&message["content"]).map(|piece| json!({"content": piece})));
    deltas.extend(pieces(&message["refusal"]).map(|piece| json!({"refusal": piece})));
    let call = &message["tool_calls"][0];
    if let Some(name) = call["function"]["name"].as_str() {
        let function = json!({"name": name, "arguments": ""});
        deltas.push(
            json!({"tool_calls": [{"index": 0, "id": call["id"], "type": "function", "function": function}]}),
        );
        let more = |piece| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
        deltas.extend(pieces(&call["function"]["arguments"]).map(more));
    }
    let mut chunks: Vec<Json> = deltas.into_iter().map(|delta| chunk(delta, Json::Null)).collect();
    chunks.push(chunk(json!({}), finish.into()));
    if body["stream_options"]["include_usage"] == true {
        let mut last = chunk(json!({}), Json::Null);
        last["choices"] = json!([]);
        last["usage"] = whole["usage"].clone();
        chunks.push(last);
    }
    let mut events: Vec<String> = chunks.iter().map(|chunk| event(&chunk.to_string())).collect();
    events.push(event("[DONE]"));
    sse(&events)
}

/// A text, seven characters at a time.
fn pieces(text: &Json) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.as_str().unwrap_or_default().chars().collect();
    let pieces: Vec<String> = characters.chunks(7).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

/// Makes of each program two tests.
macro_rules! programs {
    ($($name:ident: $program:literal;)*) => {$(
        mod $name {
            use super::{Known, asked_by};

            #[tokio::test]
            async fn on_declared_models() {
                let asked = asked_by($program, Known::Declared).await;
                asked.assert_as_they_can(Known::Declared);
                asked.assert_repaired();
            }

            #[tokio::test]
            async fn on_unknown_models() {
                let asked = asked_by($program, Known::FoundOut).await;
                asked.assert_as_they_can(Known::FoundOut);
                asked.assert_repaired();
            }
        }
    )*};
}

programs! {
    openai_python: "with_openai.py";
    ai_sdk: "with_ai_sdk.mjs";
    instructor: "with_instructor.py";
}

/// In its other modes Instructor asks in its own way. Where a model does not have that, it is asked in one that it has.
#[tokio::test]
async fn instructor_in_its_other_modes() {
    let asked = asked_by("with_instructor_modes.py", Known::Declared).await;
    for (model, ability) in MODELS {
        let bodies = asked.of(model);
        assert!(bodies.iter().all(|body| [ability, Text].contains(&asked_for(body))), "{model}");
        assert!(bodies.iter().any(|body| asked_for(body) == ability), "{model}");
    }
}
