//! Reads the document of an agent, which has passed its schema, and names everything that is wrong with it beyond that.
//!
//! - `items`: texts and outcomes; `tools`: tools with their rules

mod items;
mod tools;

use base::model::{Id, string_member};
use base::schema::Violation;
use serde_json::{Value as Json, json};
use template::Syntax;
use template::value::Value;

use super::compiled::{Agent, Prompts, StepTexts, Steps};
use super::scene::COMMON;
use super::settings::{Overrides, Settings};
use super::step::Step;
use super::tool::AgentTool;

/// What the outcomes of a step are called, and the names that their texts can use beside those that all can.
type OutcomeNames = &'static [(&'static str, &'static [&'static str])];

const CALL: [&str; 3] = ["tool", "arguments", "arguments_json"];

const MAIN: OutcomeNames = &[
    ("start", &[]),
    ("restart", &[]),
    ("message", &[]),
    ("help", &[]),
    ("exit", &[]),
    ("too_long", &["length", "limit"]),
];

const CLS: OutcomeNames =
    &[("llm_error", &["error"]), ("parse_error", &["error"]), ("irrelevant", &[]), ("relevant", &[])];

const SELECT: OutcomeNames =
    &[("llm_error", &["error"]), ("parse_error", &["error"]), ("none", &[]), ("selected", &CALL)];

const VALID: OutcomeNames = &[
    ("unknown_tool", &CALL),
    ("invalid", &["tool", "arguments", "arguments_json", "error"]),
    ("confirm", &CALL),
    ("rejected", &CALL),
];

const EXEC: OutcomeNames = &[
    ("limit", &["limit"]),
    ("answered", &["answer", "results"]),
    ("llm_error", &["error"]),
    ("parse_error", &["error"]),
];

/// The names that named texts can use: all of them, since they may stand anywhere.
const ANYWHERE: [&str; 11] = [
    "tool",
    "arguments",
    "arguments_json",
    "error",
    "result",
    "results",
    "answer",
    "parameter",
    "length",
    "limit",
    "message",
];

/// The outcomes of a step.
fn outcomes_of(step: Step) -> OutcomeNames {
    match step {
        Step::Main => MAIN,
        Step::Cls => CLS,
        Step::Select => SELECT,
        Step::Valid => VALID,
        Step::Exec => EXEC,
    }
}

/// The steps that may follow an outcome of a step. From step to step it only goes on, so that no outcome leads around in circles.
fn following(step: Step, outcome: &str) -> &'static [Step] {
    match (step, outcome) {
        (Step::Main, "message") => &[Step::Cls, Step::Select],
        (Step::Main, _) => &[],
        (Step::Cls, _) => &[Step::Main, Step::Select],
        (Step::Select | Step::Valid | Step::Exec, _) => &[Step::Main],
    }
}

/// A document that is being read.
struct Reader<'d> {
    document: &'d Json,
    syntax: Syntax,
    settings: Settings,
    setting_names: Vec<String>,
    text_names: Vec<String>,
    faults: Vec<Violation>,
}

impl Agent {
    /// Reads a document that has passed its schema, with what overrides its settings.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(document: &Json, overrides: &Overrides) -> Result<Agent, Vec<Violation>> {
        let mut reader = Reader::new(document, overrides);
        match (reader.agent(), reader.faults) {
            (Some(agent), faults) if faults.is_empty() => Ok(agent),
            // What is missing would be a fault by the schema.
            (None, faults) if faults.is_empty() => {
                Err(vec![Violation::new("", "does not fit the schema of agents")])
            }
            (_, faults) => Err(faults),
        }
    }
}

impl<'d> Reader<'d> {
    fn new(document: &'d Json, overrides: &Overrides) -> Reader<'d> {
        let (settings, faults) = Settings::read(document, overrides);
        let texts = document.get("texts").and_then(Json::as_object).into_iter().flatten();
        Reader {
            document,
            syntax: match document.get("syntax").and_then(Json::as_str) {
                Some("go") => Syntax::Go,
                _ => Syntax::Jinja,
            },
            setting_names: settings.names(),
            settings,
            text_names: texts.map(|(name, _)| name.clone()).collect(),
            faults: faults.into_iter().map(|(path, message)| Violation::new(path, message)).collect(),
        }
    }

    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Violation::new(path, message));
    }

    fn agent(&mut self) -> Option<Agent> {
        let document = self.document;
        let name = string_member(document, "name").unwrap_or_default();
        let description = string_member(document, "description").unwrap_or_default();
        let id = self.id("/name", &name);
        let named: Vec<(String, &str)> = texts_of(document);
        let mut texts = Vec::new();
        for (name, source) in named {
            // A text in another one would be rendered again and again.
            let known = ["agent", "help", "settings", "variables"].iter().chain(&ANYWHERE).copied();
            let known: Vec<&str> = known.collect();
            let text = self.text_of(&format!("/texts/{name}"), source, &known);
            texts.extend(text.map(|text| (name, text)));
        }
        let help = document.get("help").and_then(Json::as_str).unwrap_or_default();
        let help = self.text_of("/help", help, &["agent", "settings", "variables"]);
        let steps = Steps::new(Step::ALL.map(|step| self.step(step)));
        let prompts = self.prompts();
        let tools = self.tools();
        self.check_steps(&steps, prompts.as_ref(), &tools);
        let about = json!({"name": name, "description": description});
        let settings = Value::from(&Json::Object(self.settings.all().clone()));
        Some(Agent {
            id: id?,
            base: vec![("agent", Value::from(&about)), ("settings", settings)],
            name,
            description,
            settings: self.settings.clone(),
            prompts: prompts?,
            tools,
            merge: document.pointer("/history/merge") == Some(&Json::Bool(true)),
            yes: texts_at(document, "/classify/yes"),
            no: texts_at(document, "/classify/no"),
            help: help?,
            texts,
            steps,
            goes_on: document.pointer("/steps/exec/next").and_then(Json::as_str) == Some("select"),
            document: document.clone(),
        })
    }

    fn id(&mut self, path: &str, text: &str) -> Option<Id> {
        Id::parse(text).map_err(|error| self.fault(path, error.to_string())).ok()
    }

    /// The id at a path, if there is a text.
    fn id_at(&mut self, path: &str) -> Option<Id> {
        let text = self.document.pointer(path)?.as_str()?;
        self.id(path, text)
    }

    fn prompts(&mut self) -> Option<Prompts> {
        let classify = self.id_at("/prompts/classify");
        let answer = self.id_at("/prompts/answer");
        let select = self.id_at("/prompts/select");
        Some(Prompts { classify, select: select?, answer })
    }

    fn step(&mut self, step: Step) -> StepTexts {
        let path = format!("/steps/{step}");
        let document = self.document;
        let prefix = document.pointer(&format!("{path}/prefix")).and_then(Json::as_str);
        let prefix = prefix.unwrap_or(step.name()).to_owned();
        let intro = document.pointer(&format!("{path}/intro"));
        let intro = intro.map(|items| self.items(&format!("{path}/intro"), items, &[])).unwrap_or_default();
        let given = document.pointer(&format!("{path}/outcomes")).and_then(Json::as_object);
        let mut outcomes = Vec::new();
        for (name, outcome) in given.into_iter().flatten() {
            let place = format!("{path}/outcomes/{name}");
            match outcomes_of(step).iter().find(|(known, _)| known == name) {
                Some((known, names)) => {
                    if *known == "confirm" && outcome.get("next").is_some() {
                        self.fault(format!("{place}/next"), "is for the user to decide: leave it out");
                    }
                    outcomes.push((*known, self.outcome(&place, outcome, names, following(step, known))));
                }
                None => {
                    let known: Vec<&str> = outcomes_of(step).iter().map(|(name, _)| *name).collect();
                    self.fault(
                        place,
                        format!("is no outcome of this step: there are `{}`", known.join("`, `")),
                    );
                }
            }
        }
        StepTexts { prefix, intro, outcomes }
    }

    /// What has to be there because of other members.
    fn check_steps(&mut self, steps: &Steps, prompts: Option<&Prompts>, tools: &[AgentTool]) {
        let classifies = prompts.is_some_and(|prompts| prompts.classify.is_some());
        let answers = prompts.is_some_and(|prompts| prompts.answer.is_some());
        let needed = [
            (Step::Valid, "confirm", tools.iter().any(|tool| tool.confirm), "a tool has `confirm`"),
            (Step::Valid, "rejected", tools.iter().any(|tool| tool.confirm), "a tool has `confirm`"),
            (Step::Exec, "answered", answers, "there is a prompt `answer`"),
            (Step::Cls, "irrelevant", classifies, "there is a prompt `classify`"),
            (Step::Select, "none", true, "a model may choose no tool"),
        ];
        for (step, name, is_needed, why) in needed {
            if is_needed && steps.of(step).outcome(name).is_none() {
                self.fault(format!("/steps/{step}/outcomes/{name}"), format!("is missing: {why}"));
            }
        }
        for (step, is_asked) in [(Step::Cls, classifies), (Step::Select, true), (Step::Exec, answers)] {
            for name in ["llm_error", "parse_error"] {
                if is_asked && steps.of(step).outcome(name).is_none() {
                    let why = "is missing: the model may not answer, or answer with what cannot be read";
                    self.fault(format!("/steps/{step}/outcomes/{name}"), why);
                }
            }
        }
    }
}

/// The named texts of a document.
fn texts_of(document: &Json) -> Vec<(String, &str)> {
    let all = document.get("texts").and_then(Json::as_object).into_iter().flatten();
    all.filter_map(|(name, text)| Some((name.clone(), text.as_str()?))).collect()
}

fn texts_at(document: &Json, path: &str) -> Vec<String> {
    let items = document.pointer(path).and_then(Json::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The names that texts at a place can use.
fn known_names(extra: &[&'static str]) -> Vec<&'static str> {
    COMMON.iter().chain(extra).copied().collect()
}
