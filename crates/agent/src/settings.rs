//! The settings of an agent: those of its document, and what overrides them.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json, json};

/// What overrides the settings of an agent, by names in lower case with `_`: see [`override_name`].
pub type Overrides = BTreeMap<String, Json>;

/// The name of a setting, or of an agent, as overrides are looked up by it: in any case, `-` as `_`.
pub fn override_name(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// The settings of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings(JsonMap<String, Json>);

/// A setting that the engine itself knows: its name, its default, and the bounds of a number.
struct Known {
    name: &'static str,
    default: fn() -> Json,
    least: u64,
    most: u64,
}

const EXIT_COMMANDS: &str = "EXIT_COMMANDS";
const HELP_COMMANDS: &str = "HELP_COMMANDS";
const CONTEXT_HIST_LIMIT: &str = "CONTEXT_HIST_LIMIT";
const MESSAGE_MAXLEN: &str = "MESSAGE_MAXLEN";
const LLM_TIMEOUT_MS: &str = "LLM_TIMEOUT_MS";
const LLM_RETRIES: &str = "LLM_RETRIES";
const TOOL_CALLS_MAX: &str = "TOOL_CALLS_MAX";
const DEFAULT_MODEL: &str = "DEFAULT_MODEL";

const KNOWN: [Known; 4] = [
    Known { name: MESSAGE_MAXLEN, default: || json!(8_000), least: 1, most: 1_000_000 },
    Known { name: LLM_TIMEOUT_MS, default: || json!(30_000), least: 1, most: 600_000 },
    Known { name: LLM_RETRIES, default: || json!(0), least: 0, most: 2 },
    Known { name: TOOL_CALLS_MAX, default: || json!(5), least: 1, most: 32 },
];

/// The settings that have another place in the document, and that place.
const ELSEWHERE: [(&str, &str); 3] = [
    (EXIT_COMMANDS, "/commands/exit"),
    (HELP_COMMANDS, "/commands/help"),
    (CONTEXT_HIST_LIMIT, "/history/limit"),
];

impl Settings {
    /// The settings of a document that has passed its schema, with overrides. Gives also what is wrong with them: a JSON Pointer
    /// into the document, empty for an override, and a message.
    pub fn read(document: &Json, overrides: &Overrides) -> (Settings, Vec<(String, String)>) {
        let mut all = JsonMap::new();
        let mut faults = Vec::new();
        for (name, place) in ELSEWHERE {
            let default = if name == CONTEXT_HIST_LIMIT { json!(10) } else { json!([]) };
            all.insert(name.to_owned(), document.pointer(place).cloned().unwrap_or(default));
        }
        all.extend(KNOWN.iter().map(|known| (known.name.to_owned(), (known.default)())));
        for (name, value) in document.get("settings").and_then(Json::as_object).into_iter().flatten() {
            match ELSEWHERE.iter().find(|(other, _)| override_name(other) == override_name(name)) {
                Some((_, place)) => {
                    faults
                        .push((format!("/settings/{name}"), format!("is said in `{place}`: write it there")));
                }
                None => {
                    let engine = [DEFAULT_MODEL].into_iter().chain(KNOWN.iter().map(|known| known.name));
                    let others = all.keys().map(String::as_str).chain(engine);
                    let mut others = others.filter(|other| override_name(other) == override_name(name));
                    let other = others.find(|other| other != name).map(str::to_owned);
                    drop(others);
                    if let Some(other) = other {
                        let message = format!("is another spelling of `{other}`: write it so");
                        faults.push((format!("/settings/{name}"), message));
                    }
                    all.insert(name.clone(), value.clone());
                }
            }
        }
        let unknown = overridden(&mut all, overrides);
        faults.extend(unknown.into_iter().map(|message| (String::new(), message)));
        let is_overridden = |name: &str| overrides.contains_key(&override_name(name));
        faults.extend(out_of_bounds(&all).map(|(name, message)| match is_overridden(name) {
            true => (String::new(), format!("{message} (the settings override it)")),
            false => (place_of(document, name), message),
        }));
        (Settings(all), faults)
    }

    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// All of them.
    pub fn all(&self) -> &JsonMap<String, Json> {
        &self.0
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// The model that is asked; none for the service's own.
    pub fn model(&self) -> Option<&str> {
        self.get(DEFAULT_MODEL).and_then(Json::as_str).filter(|name| !name.is_empty())
    }

    /// How long a model may take for an answer, in milliseconds.
    pub fn llm_timeout_ms(&self) -> u64 {
        self.number(LLM_TIMEOUT_MS)
    }

    /// How often a model that did not answer is asked again.
    pub fn llm_retries(&self) -> usize {
        usize::try_from(self.number(LLM_RETRIES)).unwrap_or(0)
    }

    /// The longest message, in characters.
    pub(super) fn message_chars(&self) -> usize {
        usize::try_from(self.number(MESSAGE_MAXLEN)).unwrap_or(usize::MAX)
    }

    /// The most calls of tools for one message.
    pub(super) fn tool_calls(&self) -> usize {
        usize::try_from(self.number(TOOL_CALLS_MAX)).unwrap_or(1)
    }

    /// How many messages a model is sent.
    pub fn history_limit(&self) -> usize {
        usize::try_from(self.number(CONTEXT_HIST_LIMIT)).unwrap_or(usize::MAX)
    }

    /// The commands that end the conversation.
    pub fn exit_commands(&self) -> impl Iterator<Item = &str> {
        self.texts(EXIT_COMMANDS)
    }

    /// The commands that show the help text.
    pub fn help_commands(&self) -> impl Iterator<Item = &str> {
        self.texts(HELP_COMMANDS)
    }

    fn number(&self, name: &str) -> u64 {
        let known =
            KNOWN.iter().find(|known| known.name == name).and_then(|known| (known.default)().as_u64());
        self.get(name).and_then(Json::as_u64).or(known).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.get(name).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }
}

/// Where a document says a setting; the place of all settings, if it does not.
fn place_of(document: &Json, name: &str) -> String {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, place)| (*place).to_owned());
    let place = elsewhere.unwrap_or_else(|| format!("/settings/{name}"));
    if document.pointer(&place).is_some() { place } else { String::new() }
}

/// Puts overrides in the place of what the document says. Gives what is wrong with them.
fn overridden(all: &mut JsonMap<String, Json>, overrides: &Overrides) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, value) in overrides {
        let known = all.keys().find(|known| override_name(known) == *name).cloned();
        match known.or_else(|| (*name == override_name(DEFAULT_MODEL)).then(|| DEFAULT_MODEL.to_owned())) {
            None => wrong.push(format!("the settings override `{name}`, which this agent does not have")),
            Some(known) => match like(all.get(&known), value) {
                Ok(value) => _ = all.insert(known, value),
                Err(what) => wrong.push(format!("the settings override `{known}`, which must be {what}")),
            },
        }
    }
    wrong
}

/// A value of the same type as the one that it replaces. In the environment, everything is written as a text, and what looks like a
/// number is one.
fn like(before: Option<&Json>, value: &Json) -> Result<Json, &'static str> {
    let parsed = || value.as_str().and_then(|text| serde_json::from_str::<Json>(text.trim()).ok());
    match (before, value) {
        (Some(Json::Number(_)), Json::Number(_)) | (Some(Json::Bool(_)), Json::Bool(_)) => Ok(value.clone()),
        (Some(Json::Number(_)), _) => parsed().filter(Json::is_number).ok_or("a number"),
        (Some(Json::Bool(_)), _) => parsed().filter(Json::is_boolean).ok_or("true or false"),
        (Some(Json::Array(_)), Json::Array(_)) => Ok(value.clone()),
        (Some(Json::Array(_)), Json::String(text)) => Ok(match parsed() {
            Some(list @ Json::Array(_)) => list,
            _ => text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect(),
        }),
        (Some(Json::Array(_)), _) => Err("a list of texts"),
        (Some(Json::String(_)) | None, Json::String(_)) => Ok(value.clone()),
        (Some(Json::String(_)) | None, Json::Number(_) | Json::Bool(_)) => Ok(value.to_string().into()),
        (Some(Json::String(_)) | None, _) => Err("a text"),
        (Some(_), _) => Ok(parsed().unwrap_or_else(|| value.clone())),
    }
}

/// The settings of the engine whose values cannot be.
fn out_of_bounds(all: &JsonMap<String, Json>) -> impl Iterator<Item = (&'static str, String)> {
    let history = Known { name: CONTEXT_HIST_LIMIT, default: || json!(10), least: 1, most: 10_000 };
    let numbers = KNOWN.iter().chain([&history]).filter_map(|known| {
        let value = all.get(known.name)?.as_u64();
        let is_good = value.is_some_and(|value| (known.least..=known.most).contains(&value));
        let message =
            || format!("`{}` must be a whole number from {} to {}", known.name, known.least, known.most);
        (!is_good).then(|| (known.name, message()))
    });
    let lists = [EXIT_COMMANDS, HELP_COMMANDS].into_iter().filter_map(|name| {
        let items = all.get(name)?.as_array();
        let is_good = items.is_some_and(|items| {
            items.iter().all(|item| item.as_str().is_some_and(|text| !text.trim().is_empty()))
        });
        (!is_good).then(|| (name, format!("`{name}` must be a list of commands, none of them empty")))
    });
    let model = all.get(DEFAULT_MODEL).filter(|model| !model.is_string());
    let model = model.map(|_| (DEFAULT_MODEL, format!("`{DEFAULT_MODEL}` must be a text")));
    numbers.chain(lists).chain(model).collect::<Vec<_>>().into_iter()
}
