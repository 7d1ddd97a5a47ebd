//! What the members of front matter mean: a wrong type is a problem of the skill, never an error.

use base::model::{HistoryMode, ProblemDetail, Skill, SkillParam};
use serde_json::{Map, Value as Json};

use super::parts::Front;
use super::tools::tools_of;

/// The member of `metadata` below which all members but those of agentskills.io may stand, too: its validators refuse them elsewhere.
const OWN: &str = "ai-prompt-shell";

/// The most parameters of a skill.
const PARAMS_MAX: usize = 100;

/// The members of front matter, and where they stand.
pub struct Members<'a> {
    front: Option<Front<'a>>,
    all: Map<String, Json>,
}

impl<'a> Members<'a> {
    /// The members; `front` is the text that some of them come from.
    pub fn new(front: Option<Front<'a>>, all: Map<String, Json>) -> Members<'a> {
        Members { front, all }
    }

    /// All of them.
    pub fn into_all(self) -> Map<String, Json> {
        self.all
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The member of a name, which may be written with `_` in the place of `-`; `null` counts as absent.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let own = || self.all.get("metadata")?.get(OWN)?.as_object();
        member(&self.all, name).or_else(|| member(own()?, name))
    }

    /// A problem of a member, with its line.
    pub fn problem(&self, name: &str, message: impl Into<String>) -> ProblemDetail {
        let line = self.front.and_then(|front| {
            let written = [name.to_owned(), name.replace('-', "_"), name.replace('_', "-")];
            written.iter().find_map(|name| front.line_of(name))
        });
        ProblemDetail { line, ..ProblemDetail::new(message) }
    }

    /// Fills in what the members say, and adds what is wrong with them to the problems.
    pub fn fill(&self, skill: &mut Skill) {
        let mut reader = Reader { members: self, problems: Vec::new() };
        if let Some(name) = reader.text("name").filter(|name| !name.is_empty()) {
            skill.name = name;
        }
        skill.description = reader.text("description").unwrap_or_default();
        skill.params = reader.params();
        skill.history_mode = reader.history_mode();
        skill.history_max =
            reader.read("history_max", "a whole number", integer).unwrap_or(skill.history_max);
        skill.model = reader.text("model").filter(|model| !model.is_empty() && model != "inherit");
        skill.temperature =
            reader.read("temperature", "a number from 0", |json| number(json).filter(|n| *n >= 0.0));
        skill.max_tokens = reader.read("max_tokens", "a whole number from 1", |json| {
            u64::try_from(integer(json)?).ok().filter(|tokens| *tokens > 0)
        });
        skill.allowed_tools =
            reader.read("allowed-tools", "a list, or a text", allowed_tools).unwrap_or_default();
        skill.argument_hint = reader.read("argument-hint", "a text", hint).filter(|hint| !hint.is_empty());
        let is_disabled = reader.read("disable-model-invocation", "`true` or `false`", truth);
        skill.is_chosen_by_models = is_disabled != Some(true);
        skill.problems.append(&mut reader.problems);
    }
}

fn member<'m>(all: &'m Map<String, Json>, name: &str) -> Option<&'m Json> {
    let same = |key: &str| key.replace('_', "-") == name.replace('_', "-");
    let exact = all.get_key_value(name);
    let found = exact.or_else(|| all.iter().find(|(key, _)| same(key)));
    found.map(|(_, value)| value).filter(|value| !value.is_null())
}

/// Reads members, and notes those that are of a wrong type.
struct Reader<'a> {
    members: &'a Members<'a>,
    problems: Vec<ProblemDetail>,
}

impl Reader<'_> {
    /// What `reads` makes of a member; if that is nothing, a problem says what it should be.
    fn read<T>(&mut self, name: &str, wanted: &str, reads: impl Fn(&Json) -> Option<T>) -> Option<T> {
        let value = self.members.get(name)?;
        let read = reads(value);
        if read.is_none() {
            self.problems
                .push(self.members.problem(name, format!("`{name}` must be {wanted}; it is ignored")));
        }
        read
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "a text", text)
    }

    fn history_mode(&mut self) -> HistoryMode {
        let wanted = "`full`, `last_n` or `system_only`";
        let mode = self.read("history_mode", wanted, |json| match text(json)?.replace('-', "_").as_str() {
            "full" => Some(HistoryMode::Full),
            "last_n" => Some(HistoryMode::LastN),
            "system_only" => Some(HistoryMode::SystemOnly),
            _ => None,
        });
        mode.unwrap_or_default()
    }

    fn params(&mut self) -> Vec<SkillParam> {
        let listed =
            self.read("params", "a list of objects `{name, description, required, default}`", |json| {
                json.as_array().cloned()
            });
        let listed = listed.unwrap_or_default();
        if listed.len() > PARAMS_MAX {
            let message = format!("`params` has {} members; the first {PARAMS_MAX} are read", listed.len());
            self.problems.push(self.members.problem("params", message));
        }
        let mut params: Vec<SkillParam> = Vec::new();
        for (at, item) in listed.into_iter().take(PARAMS_MAX).enumerate() {
            let known = |param: &SkillParam| params.iter().any(|known| known.name == param.name);
            match param(&item) {
                Some(param) if known(&param) => self.ignore_param(at, "has the name of another one"),
                Some(param) => params.push(param),
                None => self.ignore_param(
                    at,
                    "has no name: it must be an object `{name, description, required, default}`",
                ),
            }
        }
        params
    }

    fn ignore_param(&mut self, at: usize, why: &str) {
        let message = format!("number {} of `params` {why}; it is ignored", at + 1);
        self.problems.push(self.members.problem("params", message));
    }
}

/// A parameter; its name alone will do.
fn param(item: &Json) -> Option<SkillParam> {
    let of = |member: &str| item.get(member).and_then(text).unwrap_or_default();
    let name = if item.is_object() { of("name") } else { text(item)? };
    (!name.is_empty()).then(|| SkillParam {
        name,
        description: of("description"),
        required: item.get("required").and_then(truth).unwrap_or(false),
        default: item.get("default").filter(|value| !value.is_null()).cloned(),
    })
}

/// The trimmed text of a value that is no list and no object.
pub fn text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.trim().to_owned()),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn number(json: &Json) -> Option<f64> {
    let number = json.as_f64().or_else(|| json.as_str()?.trim().parse().ok())?;
    number.is_finite().then_some(number)
}

fn integer(json: &Json) -> Option<i64> {
    json.as_i64().or_else(|| json.as_str()?.trim().parse().ok())
}

fn truth(json: &Json) -> Option<bool> {
    let said = text(json)?.to_ascii_lowercase();
    match said.as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "" => Some(false),
        _ => None,
    }
}

fn allowed_tools(json: &Json) -> Option<Vec<String>> {
    match json {
        Json::Array(items) => {
            let tools = items.iter().map(text).collect::<Option<Vec<String>>>()?;
            Some(tools.into_iter().filter(|tool| !tool.is_empty()).collect())
        }
        json => Some(tools_of(&text(json)?)),
    }
}

/// A hint; `[file]` without quotes is a list for YAML, and meant as a text.
fn hint(json: &Json) -> Option<String> {
    let Json::Array(items) = json else { return text(json) };
    let items = items.iter().map(text).collect::<Option<Vec<String>>>()?;
    Some(format!("[{}]", items.join(", ")))
}
