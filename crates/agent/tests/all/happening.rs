//! What may happen to a conversation: events with texts, arguments and answers of all kinds.

use agent::{Event, Failure, FailureKind, ToolCall};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map as JsonMap, Value as Json, json};
use template::value::Value;

/// An event that can be made again.
#[derive(Debug, Clone)]
pub enum Happening {
    Start,
    Line(String),
    EndOfInput,
    Approve,
    Reject,
    Change(JsonMap<String, Json>),
    Classified(Option<bool>),
    Selected(Option<Option<(String, JsonMap<String, Json>)>>),
    Health(Option<Json>),
    Called(Option<Json>),
    Answered(Option<String>),
}

impl Happening {
    pub fn event(&self) -> Event {
        match self.clone() {
            Happening::Start => Event::Start,
            Happening::Line(line) => Event::Line(line),
            Happening::EndOfInput => Event::EndOfInput,
            Happening::Approve => Event::Approve,
            Happening::Reject => Event::Reject,
            Happening::Change(arguments) => Event::Change(arguments),
            Happening::Classified(result) => Event::Classified(result.ok_or_else(unanswered)),
            Happening::Selected(Some(call)) => {
                Event::Selected(Ok(call.map(|(tool, arguments)| ToolCall { tool, arguments })))
            }
            Happening::Selected(None) => Event::Selected(Err(Failure::unreadable("{{ error }}"))),
            Happening::Health(result) => Event::Health(answered(result)),
            Happening::Called(result) => Event::Called(answered(result)),
            Happening::Answered(result) => Event::Answered(result.ok_or_else(unanswered)),
        }
    }
}

fn unanswered() -> Failure {
    Failure { kind: FailureKind::Unanswered, message: "{% raw %}".into(), causes: vec!["{{ a }}".into()] }
}

fn answered(result: Option<Json>) -> Result<Value, String> {
    result.map(|json| Value::from(&json)).ok_or_else(|| "{{ nothing }}".to_owned())
}

/// What texts consist of, and what templates, commands and terminals stumble over.
const PIECES: [&str; 24] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "{{ settings.CURRENCY }}",
    "{% raw %}",
    "{{.help}}",
    "{{ texts.gone }}",
    " ",
    "\n",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{feff}",
    "\"",
    "\\",
    "bye",
    "q",
    "?",
    "Осло",
    "Oslo",
    "🙂",
    "x",
];

/// A text, which may be a command, blank, or a template.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        60 => vec(select(&PIECES[..]), 0..8).prop_map(|pieces| pieces.concat()),
        20 => "\\PC{0,40}",
        1 => (7_990_usize..8_010).prop_map(|length| "я".repeat(length)),
    ]
}

/// Any JSON, not deep.
pub fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((text(), inner), 0..4).prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Arguments: those that tools take, and others.
fn arguments() -> impl Strategy<Value = JsonMap<String, Json>> {
    let name = prop_oneof![5 => select(&["question", "theme", "city", "a", "b", "seats"][..]).prop_map(str::to_owned), 1 => text()];
    let value =
        prop_oneof![3 => text().prop_map(Json::from), 2 => (0..12_i64).prop_map(Json::from), 1 => any_json()];
    vec((name, value), 0..4).prop_map(|members| members.into_iter().collect())
}

fn call() -> impl Strategy<Value = (String, JsonMap<String, Json>)> {
    let names = ["rag_search", "generate_haiku", "find_trips", "add_up", "book_seats"];
    let good = select(
        &[
            ("rag_search", r#"{"question": "Why?"}"#),
            ("generate_haiku", r#"{"theme": "snow"}"#),
            ("find_trips", r#"{"city": "Oslo"}"#),
            ("find_trips", "{}"),
            ("add_up", r#"{"a": 1, "b": 2}"#),
            ("book_seats", r#"{"city": "Rome", "seats": 2}"#),
        ][..],
    );
    let good = good.prop_map(|(name, arguments)| (name.to_owned(), serde_json::from_str(arguments).unwrap()));
    let name = prop_oneof![4 => select(names.to_vec()).prop_map(str::to_owned), 1 => text()];
    prop_oneof![2 => good, 1 => (name, arguments())]
}

/// What services answer: what is wanted, what is not, and anything.
fn answer() -> impl Strategy<Value = Json> {
    let good = json!({
        "answer": "{{ a }}", "chunk_title_list": ["T"], "chunk_texts": ["t"], "haiku_text": "a\n\nb",
        "syllables_per_line": [5, 7, 5], "total_words": 9, "trips": [{"to": "Oslo", "price": 1}], "sum": 3,
    });
    prop_oneof![3 => Just(good), 1 => Just(json!({"error": "{{ no }}"})), 2 => any_json()]
}

/// Whatever may happen, likely or not.
pub fn happening() -> impl Strategy<Value = Happening> {
    let health = prop_oneof![3 => Just(json!({"status": "ok"})), 1 => any_json()];
    let good = |percent: f64| proptest::bool::weighted(percent);
    prop_oneof![
        1 => Just(Happening::Start),
        6 => text().prop_map(Happening::Line),
        1 => Just(Happening::EndOfInput),
        2 => Just(Happening::Approve),
        1 => Just(Happening::Reject),
        2 => arguments().prop_map(Happening::Change),
        5 => proptest::option::weighted(0.9, good(0.8)).prop_map(Happening::Classified),
        8 => proptest::option::weighted(0.9, proptest::option::weighted(0.8, call())).prop_map(Happening::Selected),
        5 => proptest::option::weighted(0.9, health).prop_map(Happening::Health),
        6 => proptest::option::weighted(0.9, answer()).prop_map(Happening::Called),
        3 => proptest::option::weighted(0.9, text()).prop_map(Happening::Answered),
    ]
}
