//! Texts, items and outcomes.

use serde_json::Value as Json;

use super::{Reader, known_names};
use crate::outcome::{Item, Level, Next, Outcome};
use crate::step::Step;
use crate::text::{Known, Text};

impl Reader<'_> {
    /// A text that can use these names.
    pub(super) fn text_of(&mut self, path: &str, source: &str, names: &[&str]) -> Option<Text> {
        let known = Known { names, settings: &self.setting_names, texts: &self.text_names };
        match Text::compile(path, source, self.syntax, &known) {
            Ok(text) => Some(text),
            Err(faults) => {
                faults.into_iter().for_each(|fault| self.fault(path, fault));
                None
            }
        }
    }

    /// What is said at one place; its texts can use `extra` beside what all can.
    pub(super) fn items(&mut self, path: &str, items: &Json, extra: &[&'static str]) -> Vec<Item> {
        let names = known_names(extra);
        let items = items.as_array().into_iter().flatten().enumerate();
        items.filter_map(|(at, item)| self.item(&format!("{path}/{at}"), item, &names)).collect()
    }

    fn item(&mut self, path: &str, item: &Json, names: &[&str]) -> Option<Item> {
        if let Some(source) = item.as_str() {
            let text = self.text_of(path, source, names)?;
            return Some(Item::Shown { text, in_history: false });
        }
        if let Some(source) = item.get("text").and_then(Json::as_str) {
            let text = self.text_of(&format!("{path}/text"), source, names)?;
            return Some(Item::Shown { text, in_history: item.get("history") == Some(&Json::Bool(true)) });
        }
        let (level, source) =
            Level::ALL.into_iter().find_map(|level| Some((level, item.get(level.name())?.as_str()?)))?;
        let text = self.text_of(&format!("{path}/{}", level.name()), source, names)?;
        Some(Item::Logged { level, text })
    }

    /// An outcome: a list of items, or an object with such a list and what follows, which may be the end or one of these steps.
    pub(super) fn outcome(
        &mut self,
        path: &str,
        outcome: &Json,
        extra: &[&'static str],
        following: &[Step],
    ) -> Outcome {
        if outcome.is_array() {
            return Outcome { items: self.items(path, outcome, extra), next: None };
        }
        let said = outcome.get("say").map(|items| self.items(&format!("{path}/say"), items, extra));
        let next = outcome.get("next").and_then(|next| self.next(&format!("{path}/next"), next, following));
        Outcome { items: said.unwrap_or_default(), next }
    }

    fn next(&mut self, path: &str, next: &Json, following: &[Step]) -> Option<Next> {
        if let Some(code) = next.get("end").and_then(Json::as_u64) {
            return u8::try_from(code).ok().map(Next::End);
        }
        let next = next.as_str().and_then(Step::named)?;
        if following.contains(&next) {
            return Some(Next::Step(next));
        }
        let possible = following.iter().map(|step| format!("`{step}`, "));
        let possible: String = possible.chain(["or {\"end\": CODE}".to_owned()]).collect();
        self.fault(path, format!("`{next}` cannot follow here: it can be {possible}"));
        None
    }
}
