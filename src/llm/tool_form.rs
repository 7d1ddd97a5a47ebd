//! The two forms in which functions are offered to a model and called by it.

use super::Llm;
use super::routes::Target;
use template::value::RawObject;

/// The form of functions in a chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolForm {
    /// `tools`, `tool_calls`, and results in messages of the role `tool`.
    #[default]
    Tools,
    /// OpenAI's form before that: `functions`, `function_call`, and results in messages of the role `function`.
    Functions,
}

impl ToolForm {
    /// The form that a request speaks.
    pub fn of(payload: &RawObject) -> ToolForm {
        let has = |name| payload.get(name).is_some_and(|member| member.get() != "null");
        // Whoever speaks the old form sends the list again with the results.
        match has("functions") && !has("tools") {
            true => ToolForm::Functions,
            false => ToolForm::Tools,
        }
    }
}

impl Llm {
    /// The form in which a chat has to offer functions to a model; without a name, to the default one. It is [`ToolForm::Tools`] unless
    /// the model's capabilities say that its upstream knows the old form alone. Fallbacks get what the model gets.
    pub fn tool_form(&self, model: Option<&str>) -> ToolForm {
        let chain = model.or(self.default_model()).map(|model| self.routes.chain(model)).unwrap_or_default();
        match chain.first() {
            Some(Target::Model { capabilities, .. }) if capabilities.functions == Some(true) => {
                ToolForm::Functions
            }
            _ => ToolForm::Tools,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    #[test]
    fn a_request_speaks_the_old_form_if_it_sends_nothing_else() {
        for (payload, form) in [
            (r#"{"functions": []}"#, ToolForm::Functions),
            (r#"{"functions": [], "tools": null}"#, ToolForm::Functions),
            (r#"{"functions": [], "tools": []}"#, ToolForm::Tools),
            (r#"{"functions": null}"#, ToolForm::Tools),
            ("{}", ToolForm::Tools),
        ] {
            assert_eq!(ToolForm::of(&parse_json(payload.as_bytes()).unwrap()), form, "{payload}");
        }
    }
}
