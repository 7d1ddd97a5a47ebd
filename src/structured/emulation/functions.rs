//! The functions that a client offers to a model, and which of them has to be called.

use serde_json::value::RawValue;

use template::value::{RawObject, each_item, parse_json};

/// The functions of a request.
#[derive(Debug)]
pub struct Functions {
    all: Vec<Function>,
    choice: ToolChoice,
}

/// One of them.
#[derive(Debug)]
pub struct Function {
    /// Its place in the list of tools.
    pub at: usize,
    /// Its name.
    pub name: String,
    /// The schema of its arguments, as far as it has one.
    pub schema: Option<String>,
}

/// What `tool_choice` says.
#[derive(Debug)]
enum ToolChoice {
    /// The model may call functions, or not.
    Auto,
    None,
    Required,
    Named(String),
}

impl Functions {
    /// The functions of a chat completion.
    pub fn read(payload: &RawObject) -> Functions {
        let (mut all, mut at) = (Vec::new(), 0);
        if let Some(tools) = payload.get("tools") {
            each_item(tools, |tool| {
                all.extend(Function::read(at, tool));
                at += 1;
            });
        }
        Functions { all, choice: ToolChoice::read(payload) }
    }

    /// Whether the model may call one.
    pub fn may_be_called(&self) -> bool {
        !self.all.is_empty() && !matches!(self.choice, ToolChoice::None)
    }

    /// Whether the model has to call one.
    pub fn must_be_called(&self) -> bool {
        matches!(self.choice, ToolChoice::Required | ToolChoice::Named(_)) && !self.all.is_empty()
    }

    /// Whether one has this name.
    pub fn has(&self, name: &str) -> bool {
        self.all.iter().any(|function| function.name == name)
    }

    /// The only function that will do, if there is one.
    pub fn forced(mut self) -> Option<Function> {
        let at = match &self.choice {
            ToolChoice::Named(name) => self.all.iter().position(|function| function.name == *name)?,
            ToolChoice::Required if self.all.len() == 1 => 0,
            _ => return None,
        };
        Some(self.all.swap_remove(at))
    }
}

impl Function {
    fn read(at: usize, tool: &RawValue) -> Option<Function> {
        let function: RawObject = parse_json::<RawObject>(tool.get().as_bytes()).ok()?.find("function")?;
        let schema = function.get("parameters").map(RawValue::get).filter(|schema| *schema != "null");
        Some(Function { at, name: function.find("name")?, schema: schema.map(str::to_owned) })
    }
}

impl ToolChoice {
    fn read(payload: &RawObject) -> ToolChoice {
        let Some(choice) = payload.get("tool_choice") else { return ToolChoice::Auto };
        match choice.get() {
            "\"none\"" => ToolChoice::None,
            "\"required\"" => ToolChoice::Required,
            choice => {
                let choice = parse_json::<RawObject>(choice.as_bytes()).ok();
                let name = choice.and_then(|choice| choice.find::<RawObject>("function")?.find("name"));
                name.map_or(ToolChoice::Auto, ToolChoice::Named)
            }
        }
    }
}
