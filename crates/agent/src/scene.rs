//! What the texts of an agent see: the agent, its settings, and what the step is about.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};
use template::value::{Map, SmolStr, Value};

use super::compiled::Agent;
use super::outcome::{Item, Level};
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
        level: Level,
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

    /// Renders texts. In the place of one that cannot be rendered, the log says why.
    pub fn say(&self, items: &[Item]) -> Vec<Rendered> {
        items.iter().map(|item| self.rendered(item)).collect()
    }

    fn rendered(&self, item: &Item) -> Rendered {
        let (Item::Shown { text, .. } | Item::Logged { text, .. }) = item;
        match (item, self.text(text)) {
            (Item::Shown { in_history, .. }, Ok(text)) => Rendered::Shown { text, in_history: *in_history },
            (Item::Logged { level, .. }, Ok(text)) => Rendered::Logged { level: *level, text },
            (_, Err(fault)) => Rendered::Logged {
                level: Level::Error,
                text: format!("a text of the agent cannot be rendered: {fault}"),
            },
        }
    }

    fn text(&self, text: &Text) -> Result<String, String> {
        let mut members = self.members.clone();
        if text.has_help || self.named(text).any(|named| named.has_help) {
            let help = self.agent.help.render(&data(&self.members))?;
            members.push(("help".into(), help.as_str().into()));
        }
        if !text.named.is_empty() {
            let seen = data(&members);
            let named = text.named.iter().filter_map(|name| {
                let (_, text) = self.agent.texts.iter().find(|(known, _)| known == name)?;
                Some(text.render(&seen).map(|text| (SmolStr::new(name), Value::from(text.as_str()))))
            });
            let named = named.collect::<Result<Map, String>>()?;
            members.push(("texts".into(), Value::Map(Arc::new(named))));
        }
        text.render(&data(&members))
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
