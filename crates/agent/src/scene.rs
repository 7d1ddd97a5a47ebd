//! What the texts of an agent see: the agent, its settings, and what the step is about.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};
use template::value::{Map, SmolStr, Value};

use super::compiled::Agent;
use super::outcome::Item;
use super::text::Text;

/// The names that every text can use.
pub const COMMON: [&str; 6] = ["agent", "help", "message", "settings", "texts", "variables"];

/// What texts see beside the agent itself.
#[derive(Clone)]
pub struct Scene<'a> {
    agent: &'a Agent,
    members: Vec<(SmolStr, Value)>,
}

/// A text that was rendered.
pub enum Rendered {
    /// The user sees it.
    Shown {
        /// The text.
        text: String,
        /// Whether it joins the history.
        in_history: bool,
    },
    /// It goes into the log.
    Logged {
        /// How important it is.
        level: super::outcome::Level,
        /// The text.
        text: String,
    },
}

impl<'a> Scene<'a> {
    /// The scene of a message, with the variables of the conversation.
    pub fn new(agent: &'a Agent, variables: &Value, message: &str) -> Scene<'a> {
        let mut members: Vec<(SmolStr, Value)> =
            agent.base.iter().map(|(name, value)| (SmolStr::new_static(name), value.clone())).collect();
        members.push(("variables".into(), variables.clone()));
        members.push(("message".into(), message.into()));
        Scene { agent, members }
    }

    /// The same with one more name.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Scene<'a> {
        self.members.push((SmolStr::new_static(name), value.into()));
        self
    }

    /// The same with the call of a tool.
    pub fn with_call(self, tool: &str, arguments: &JsonMap<String, Json>) -> Scene<'a> {
        let json = Json::Object(arguments.clone());
        let text = json.to_string();
        self.with("tool", tool).with("arguments", &json).with("arguments_json", text.as_str())
    }

    /// Renders texts. One that cannot be rendered is empty, and the log says why.
    pub fn say(&self, items: &[Item]) -> Vec<Rendered> {
        items.iter().flat_map(|item| self.rendered(item)).collect()
    }

    fn rendered(&self, item: &Item) -> Vec<Rendered> {
        let (text, fault) = match item {
            Item::Shown { text, .. } | Item::Logged { text, .. } => self.text(text),
        };
        let rendered = match item {
            Item::Shown { in_history, .. } => Rendered::Shown { text, in_history: *in_history },
            Item::Logged { level, .. } => Rendered::Logged { level: *level, text },
        };
        let fault = fault.map(|fault| Rendered::Logged {
            level: super::outcome::Level::Error,
            text: format!("a text of the agent cannot be rendered: {fault}"),
        });
        [rendered].into_iter().chain(fault).collect()
    }

    fn text(&self, text: &Text) -> (String, Option<String>) {
        let mut members = self.members.clone();
        let needs_help = text.has_help || self.named(text).any(|named| named.has_help);
        if needs_help {
            let help = self.agent.help.render(&data(&self.members)).unwrap_or_default();
            members.push(("help".into(), help.as_str().into()));
        }
        if !text.named.is_empty() {
            let seen = data(&members);
            let named = text.named.iter().filter_map(|name| {
                let (_, text) = self.agent.texts.iter().find(|(known, _)| known == name)?;
                Some((SmolStr::new(name), text.render(&seen).unwrap_or_default().as_str().into()))
            });
            let named: Map = named.collect();
            members.push(("texts".into(), Value::Map(Arc::new(named))));
        }
        match text.render(&data(&members)) {
            Ok(text) => (text, None),
            Err(fault) => (String::new(), Some(fault)),
        }
    }

    fn named(&self, text: &Text) -> impl Iterator<Item = &Text> {
        let named = text.named.iter();
        named
            .filter_map(|name| self.agent.texts.iter().find(|(known, _)| known == name).map(|(_, text)| text))
    }
}

fn data(members: &[(SmolStr, Value)]) -> Arc<Map> {
    Arc::new(members.iter().cloned().collect())
}
