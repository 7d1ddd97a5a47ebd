//! The file of the user's rules: reading it, checking its examples, taking a rule out.

use serde::Deserialize;

use super::{Pattern, Rules, UserDecision, UserRule};
use crate::command::base_name;
use crate::tables::Tables;

/// A file with more bytes is not read.
const MOST_BYTES: usize = 1 << 20;

/// Why a file of rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// It is not TOML, or has unknown members.
    #[error("{0}")]
    Toml(String),
    /// Rules that make no sense, and examples that do not hold; all of them.
    #[error("{}", .0.join("; "))]
    Rules(Vec<String>),
    /// There is no rule of this number.
    #[error("there is no rule {number}; there are {count}")]
    NoRule {
        /// The number, from 1.
        number: usize,
        /// How many rules there are.
        count: usize,
    },
}

/// The text of a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource(pub String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    rule: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    decision: UserDecision,
    prefix: Option<Vec<String>>,
    exact: Option<Vec<String>>,
    #[serde(default, rename = "match")]
    matches: Vec<Vec<String>>,
    #[serde(default)]
    not_match: Vec<Vec<String>>,
}

impl RuleSource {
    /// The rules.
    ///
    /// # Errors
    /// [`RulesError`], with everything that is wrong.
    pub fn rules(&self) -> Result<Rules, RulesError> {
        if self.0.len() > MOST_BYTES {
            return Err(RulesError::Toml(format!("the file is longer than {MOST_BYTES} bytes")));
        }
        let written: Written =
            toml::from_str(&self.0).map_err(|error| self.unreadable(error.message(), error.span()))?;
        let (mut rules, mut wrong) = (Vec::new(), Vec::new());
        for (number, written) in (1..).zip(written.rule) {
            match rule(written) {
                Ok(rule) => rules.push(rule),
                Err(problems) => {
                    wrong.extend(problems.into_iter().map(|problem| format!("rule {number}: {problem}")))
                }
            }
        }
        if wrong.is_empty() { Ok(Rules::new(rules)) } else { Err(RulesError::Rules(wrong)) }
    }

    /// The text without a rule; everything else stays as it is, with comments.
    ///
    /// # Errors
    /// [`RulesError`] when it cannot be read, or there is no such rule.
    pub fn without(&self, number: usize) -> Result<RuleSource, RulesError> {
        let document: Result<toml_edit::DocumentMut, toml_edit::TomlError> = self.0.parse();
        let mut document = document.map_err(|error| self.unreadable(error.message(), error.span()))?;
        let rules = document.get_mut("rule");
        let count = rules.as_ref().map_or(0, |rules| match rules {
            toml_edit::Item::ArrayOfTables(tables) => tables.len(),
            other => other.as_array().map_or(0, toml_edit::Array::len),
        });
        match rules {
            Some(toml_edit::Item::ArrayOfTables(tables)) if (1..=count).contains(&number) => {
                drop(tables.remove(number - 1));
            }
            Some(toml_edit::Item::Value(toml_edit::Value::Array(array))) if (1..=count).contains(&number) => {
                drop(array.remove(number - 1));
            }
            _ => return Err(RulesError::NoRule { number, count }),
        }
        Ok(RuleSource(document.to_string()))
    }

    /// The error of a text that is not such a file, with its line.
    fn unreadable(&self, message: &str, place: Option<std::ops::Range<usize>>) -> RulesError {
        let before = place.and_then(|place| self.0.get(..place.start));
        let line =
            before.map(|before| format!("line {}: ", before.matches('\n').count() + 1)).unwrap_or_default();
        RulesError::Toml(format!("{line}{}", message.replace('\n', ", ")))
    }
}

fn rule(written: WrittenRule) -> Result<UserRule, Vec<String>> {
    let pattern = match (written.prefix, written.exact) {
        (Some(words), None) => Pattern::Prefix(words),
        (None, Some(words)) => Pattern::Exact(words),
        _ => return Err(vec!["give either `prefix` or `exact`, a list of words".to_owned()]),
    };
    let rule = UserRule { decision: written.decision, pattern };
    let mut wrong = Vec::new();
    match rule.pattern.words() {
        [] => wrong.push("there are no words".to_owned()),
        [program, ..] if program.is_empty() => wrong.push("the program is an empty text".to_owned()),
        words => wrong.extend(too_wide(&rule, words)),
    }
    let holds = |example: &Vec<String>| {
        let words: Vec<&str> = example.iter().map(String::as_str).collect();
        words.split_first().is_some_and(|(program, args)| rule.matches(program, args))
    };
    let unmatched = written.matches.iter().filter(|example| !holds(example));
    wrong.extend(unmatched.map(|example| format!("the example {example:?} of `match` does not match")));
    let matched = written.not_match.iter().filter(|example| holds(example));
    wrong.extend(matched.map(|example| format!("the example {example:?} of `not_match` matches")));
    if wrong.is_empty() { Ok(rule) } else { Err(wrong) }
}

/// Why a rule would allow anything at all: programs that run other programs or code.
fn too_wide(rule: &UserRule, words: &[String]) -> Option<String> {
    let program = words.first().filter(|_| rule.decision == UserDecision::Allow)?;
    if program.contains('/') {
        return Some(format!("{program:?} is a path: an allow rule names a program by its name"));
    }
    let base = base_name(program);
    let table = Tables::built_in().get(base)?;
    let runs_anything =
        table.interpreter.is_some() || table.operands.iter().any(|role| role.starts_a_command());
    (!rule.is_exact() && runs_anything)
        .then(|| format!("`{base}` runs whatever it is given: allow the whole command, with `exact`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Rules, RulesError> {
        RuleSource(text.to_owned()).rules()
    }

    #[test]
    fn examples_are_checked_and_everything_that_is_wrong_is_told() {
        let good = "[[rule]]\ndecision = \"allow\"\nprefix = [\"cargo\", \"test\"]\nmatch = [[\"cargo\", \"test\", \"x\"]]\n\
                    not_match = [[\"cargo\", \"run\"], [\"cargo\"]]\n";
        assert_eq!(read(good).unwrap().all().len(), 1);
        let bad = "[[rule]]\ndecision = \"deny\"\nexact = [\"a\"]\nmatch = [[\"a\", \"b\"]]\nnot_match = [[\"a\"]]\n\
                   [[rule]]\ndecision = \"ask\"\n[[rule]]\ndecision = \"allow\"\nprefix = [\"bash\"]\n[[rule]]\ndecision=\"ask\"\nprefix=[]";
        let RulesError::Rules(wrong) = read(bad).unwrap_err() else { panic!() };
        assert_eq!(wrong.len(), 5, "{wrong:?}");
        for text in
            ["[[rule]]\ndecision = \"yes\"\nprefix = [\"a\"]", "[[rules]]", "x", "[[rule]]\nprefix = \"a\""]
        {
            assert!(matches!(read(text), Err(RulesError::Toml(_))), "{text}");
        }
    }

    #[test]
    fn a_rule_is_taken_out_and_all_else_stays() {
        let text = "# mine\n[[rule]]\ndecision = \"ask\"\nprefix = [\"a\"]\n\n# second\n[[rule]]\ndecision = \"deny\"\nexact = [\"b\"]\n";
        let left = RuleSource(text.to_owned()).without(1).unwrap();
        assert!(left.0.contains("# second") && !left.0.contains("\"a\""), "{}", left.0);
        assert_eq!(left.rules().unwrap().all().len(), 1);
        assert_eq!(left.without(2), Err(RulesError::NoRule { number: 2, count: 1 }));
        let inline = RuleSource(
            "rule = [{decision = \"ask\", prefix = [\"a\"]}, {decision = \"deny\", exact = [\"b\"]}]\n"
                .to_owned(),
        );
        assert_eq!(inline.without(2).unwrap().rules().unwrap().all().len(), 1);
    }
}
