//! What an answer of a model says: a value, or why it is none.

use super::answer::value_of;
use crate::llm::structured::{FUNCTION, OutputSchema, Strategy};
use crate::llm::{Choice, FinishReason, ToolCall};
use base::memory::{OutOfMemory, Reservation};
use base::pool::INLINE_JSON_BYTES;
use base::schema::Violation;
use template::value::{Tree, Value, admissible_weight};

/// The answer in a choice: the arguments of the function that was asked for, if it was called; else the text; where there is none,
/// the arguments of another function, or the words of a refusal.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// What the model wrote.
    pub text: String,
    /// The call in which it wrote it.
    pub call: Option<Called>,
    /// Its words, if it refuses.
    refusal: Option<String>,
    finish_reason: Option<FinishReason>,
}

/// A call without its arguments.
#[derive(Debug)]
pub(super) struct Called {
    id: String,
    name: String,
}

/// Why an answer gives no value.
#[derive(Debug)]
pub(super) enum Useless {
    /// It does not fit: what is wrong with it.
    Invalid(Vec<Violation>),
    /// Its value cannot be checked: why.
    Uncheckable([Violation; 1]),
    /// The model does not answer.
    Refused {
        /// Its words.
        refusal: String,
        /// Whether a filter of the provider stopped it.
        is_filtered: bool,
    },
    /// It is the beginning of an answer.
    Truncated,
}

/// What an answer may mean.
#[derive(Debug)]
pub(super) struct Meanings {
    /// The values, the likeliest first.
    pub values: Vec<Value>,
    /// Whether it has the wrapper that was asked for.
    pub wrapping: Wrapping,
}

/// Whether an answer has the wrapper that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// There was to be none.
    None,
    /// It has it, as the member of this name.
    Present(&'static str),
    /// It is an object without it.
    Missing(&'static str),
    /// It is no object.
    NoObject(&'static str),
}

impl Said {
    /// The answer in a choice.
    pub fn of(choice: Choice) -> Said {
        let Choice { mut text, mut tool_calls, refusal, finish_reason } = choice;
        let asked = tool_calls.iter().position(|call| call.name == FUNCTION);
        let is_silent = text.trim().is_empty();
        let call = match asked.or((is_silent && !tool_calls.is_empty()).then_some(0)) {
            Some(at) => {
                let ToolCall { id, name, arguments } = tool_calls.swap_remove(at);
                text = arguments;
                Some(Called { id, name })
            }
            None => None,
        };
        if let Some(refusal) = refusal.as_ref().filter(|_| call.is_none() && is_silent) {
            text.clone_from(refusal);
        }
        Said { text, call, refusal, finish_reason }
    }

    /// Whether it is to be read in the pool.
    pub fn is_long(&self) -> bool {
        self.text.len() > INLINE_JSON_BYTES
    }

    /// The call in which the model answered, with its arguments.
    pub fn as_call(&self) -> Option<ToolCall> {
        let Called { id, name } = self.call.as_ref()?;
        Some(ToolCall { id: id.clone(), name: name.clone(), arguments: self.text.clone() })
    }

    /// What it may mean, or why it is of no use; `held` grows by the memory that a long one takes.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn read(
        &self,
        schema: &OutputSchema,
        strategy: Strategy,
        held: &mut Reservation,
    ) -> Result<Result<Meanings, Useless>, OutOfMemory> {
        if let Some(end) = self.end() {
            return Ok(Err(end));
        }
        let invalid = |message: String| Ok(Err(Useless::Invalid(vec![Violation::new("", message)])));
        if let Some(nothing) = self.nothing(strategy) {
            return invalid(nothing);
        }
        if self.is_long() {
            match admissible_weight(self.text.as_bytes(), Tree::Value) {
                Ok(weight) => held.grow(weight)?,
                Err(error) => {
                    return invalid(format!("the answer {error}; answer with fewer values, or longer ones"));
                }
            }
        }
        match value_of(&self.text) {
            Ok(value) => {
                let wrapping = Wrapping::of(&value, schema.wrapper());
                Ok(Ok(Meanings { values: schema.meanings(&value, strategy), wrapping }))
            }
            Err(unreadable) => invalid(unreadable.message),
        }
    }

    /// Why it is no answer at all, by the reason of its end.
    fn end(&self) -> Option<Useless> {
        match (&self.refusal, &self.finish_reason) {
            (Some(refusal), reason) => {
                let is_filtered = *reason == Some(FinishReason::ContentFilter);
                Some(Useless::Refused { refusal: refusal.clone(), is_filtered })
            }
            (None, Some(FinishReason::ContentFilter)) => {
                Some(Useless::Refused { refusal: String::new(), is_filtered: true })
            }
            (None, Some(FinishReason::Length)) => Some(Useless::Truncated),
            _ => None,
        }
    }

    /// What is wrong with it, if it is not the answer that was asked for, or has no text.
    fn nothing(&self, strategy: Strategy) -> Option<String> {
        match &self.call {
            Some(Called { name, .. }) if name != FUNCTION => {
                Some(format!("the function `{name}` was called; call `{FUNCTION}`"))
            }
            _ if !self.text.trim().is_empty() => None,
            _ if strategy == Strategy::Tools => {
                Some(format!("the answer is empty; call the function `{FUNCTION}`"))
            }
            _ => Some("the answer is empty; answer with one JSON value".to_owned()),
        }
    }
}

impl Useless {
    /// What is wrong with the value.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Useless::Invalid(violations) => violations,
            Useless::Uncheckable(violation) => violation,
            Useless::Refused { .. } | Useless::Truncated => &[],
        }
    }
}

impl Wrapping {
    fn of(answer: &Value, wrapper: Option<&'static str>) -> Wrapping {
        match (wrapper, answer) {
            (None, _) => Wrapping::None,
            (Some(name), Value::Map(members)) if members.get(name).is_some() => Wrapping::Present(name),
            (Some(name), Value::Map(_)) => Wrapping::Missing(name),
            (Some(name), _) => Wrapping::NoObject(name),
        }
    }

    /// The violations of the value as those of the answer in its wrapper: what was asked of the model.
    pub fn around(self, violations: &[Violation]) -> Vec<Violation> {
        let (name, is_missing) = match self {
            Wrapping::None => return violations.to_vec(),
            Wrapping::Present(name) => (name, false),
            Wrapping::Missing(name) | Wrapping::NoObject(name) => (name, true),
        };
        let missing = is_missing.then(|| {
            Violation::new("", format!("must be an object with the member `{name}`, which is missing"))
        });
        // Where the wrapper was forgotten, it is unknown what of the object is the value.
        let inner = violations.iter().filter(|_| !matches!(self, Wrapping::Missing(_)));
        let inner = inner.map(|violation| violation.clone().below(&format!("/{name}")));
        missing.into_iter().chain(inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::memory::Memory;
    use serde_json::{Value as Json, json};

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".into(), name: name.into(), arguments: arguments.into() }
    }

    fn choice(text: &str, tool_calls: Vec<ToolCall>) -> Choice {
        Choice { text: text.into(), tool_calls, ..Choice::default() }
    }

    #[test]
    fn one_text_of_a_choice_is_the_answer() {
        let [other, own] = [call("other", "{\"o\":1}"), call(FUNCTION, "{\"a\":1}")];
        for (choice, text, name) in [
            (choice("t", vec![]), "t", None),
            (choice("t", vec![other.clone()]), "t", None),
            (choice(" ", vec![other.clone()]), "{\"o\":1}", Some("other")),
            (choice("t", vec![other, own]), "{\"a\":1}", Some(FUNCTION)),
            (Choice { refusal: Some("No.".into()), ..choice("", vec![]) }, "No.", None),
            (Choice { refusal: Some("No.".into()), ..choice("t", vec![]) }, "t", None),
        ] {
            let said = Said::of(choice);
            assert_eq!((said.text.as_str(), said.call.as_ref().map(|call| call.name.as_str())), (text, name));
            assert_eq!(said.as_call().map(|call| call.arguments), name.map(|_| text.to_owned()));
        }
    }

    fn told(answer: Json, violations: &[(&str, &str)]) -> Vec<String> {
        let violations: Vec<Violation> =
            violations.iter().map(|(path, message)| Violation::new(*path, *message)).collect();
        let told = Wrapping::of(&answer.into(), Some("value")).around(&violations);
        told.iter().map(Violation::to_string).collect()
    }

    #[test]
    fn violations_are_told_as_those_of_the_answer_in_its_wrapper() {
        let missing = "must be an object with the member `value`, which is missing";
        let found = [("", "a"), ("/0/x", "b")];
        assert_eq!(told(json!({"value": [{"x": 1}]}), &found), ["/value: a", "/value/0/x: b"]);
        assert_eq!(told(json!({"items": []}), &found), [missing]);
        assert_eq!(told(json!([{"x": 1}]), &found), [missing, "/value: a", "/value/0/x: b"]);
        let bare = Wrapping::of(&json!([]).into(), None).around(&[Violation::new("/0", "a")]);
        assert_eq!(bare, [Violation::new("/0", "a")]);
    }

    #[test]
    fn an_answer_of_too_many_small_values_is_told_so() {
        let schema = OutputSchema::new(json!({"type": "array"})).unwrap();
        let text = format!("[{}1]", "1,".repeat(1 << 20));
        let mut held = Memory::new(1 << 30).reservation();
        let read = Said::of(choice(&text, vec![])).read(&schema, Strategy::JsonSchema, &mut held);
        let Ok(Err(Useless::Invalid(violations))) = read else { panic!("{read:?}") };
        assert!(violations[0].message.contains("so many small values"), "{violations:?}");
    }

    #[test]
    fn the_tree_of_a_long_answer_takes_memory_of_the_budget() {
        let schema = OutputSchema::new(json!({"type": "object"})).unwrap();
        let text = format!("{{\"a\":[{}1]}}", "1,".repeat(100_000));
        let read = |text: &str, limit| {
            let mut held = Memory::new(limit).reservation();
            let read = Said::of(choice(text, vec![])).read(&schema, Strategy::JsonSchema, &mut held);
            read.map(|read| read.map(|_| held.bytes()).unwrap_or_default())
        };
        assert!(read(&text, 1 << 30).unwrap() > text.len());
        assert!(read(&text, 1 << 20).is_err());
        assert_eq!(read("{\"a\":[1]}", 0), Ok(0));
    }
}
