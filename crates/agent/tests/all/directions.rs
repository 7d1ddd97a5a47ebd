//! Where outcomes lead: on, to the end, and never around in circles.

use agent::{Agent, Conversation, Event, Overrides, Task, ToolCall};
use serde_json::{Map as JsonMap, Value as Json, json};

use super::documents;

/// The outcomes of the steps, and the steps that may follow each.
const OUTCOMES: [(&str, &str, &[&str]); 9] = [
    ("main", "start", &[]),
    ("main", "restart", &[]),
    ("main", "help", &[]),
    ("main", "exit", &[]),
    ("main", "too_long", &[]),
    ("main", "message", &["cls", "select"]),
    ("cls", "irrelevant", &["main", "select"]),
    ("select", "none", &["main"]),
    ("valid", "invalid", &["main"]),
];

#[test]
fn outcomes_lead_forward_only() {
    for (step, outcome, following) in OUTCOMES {
        for next in ["main", "cls", "select"] {
            let [mut document, _] = documents();
            document["steps"][step]["outcomes"][outcome] = json!({"say": [], "next": next});
            let read = Agent::read(&document, &Overrides::new());
            assert_eq!(read.is_ok(), following.contains(&next), "{step}/{outcome} -> {next}");
            if let Err(faults) = read {
                assert_eq!(faults[0].path, format!("/steps/{step}/outcomes/{outcome}/next"));
            }
        }
        let [mut document, _] = documents();
        document["steps"][step]["outcomes"][outcome] = json!({"say": [], "next": {"end": 3}});
        assert!(Agent::read(&document, &Overrides::new()).is_ok(), "{step}/{outcome}");
    }
}

/// The agent of a document after a change.
fn changed(change: impl FnOnce(&mut Json)) -> Agent {
    let [mut document, _] = documents();
    change(&mut document);
    Agent::read(&document, &Overrides::new()).unwrap()
}

/// A conversation that has begun.
fn begun(agent: &Agent) -> Conversation {
    let mut conversation = Conversation::new(JsonMap::new());
    conversation.take(agent, Event::Start).unwrap();
    conversation
}

fn line(text: &str) -> Event {
    Event::Line(text.to_owned())
}

#[test]
fn a_value_that_was_asked_for_keeps_its_tool_whatever_follows_messages() {
    let agent = changed(|document| {
        document["steps"]["main"]["outcomes"]["message"] = json!({"say": [], "next": "select"});
        document["tools"][1]["on_missing"] = "ask".into();
    });
    let mut conversation = begun(&agent);
    assert_eq!(conversation.take(&agent, line("a haiku")).unwrap().task, Task::Select);
    let call = ToolCall { tool: "generate_haiku".to_owned(), arguments: JsonMap::new() };
    let asked = conversation.take(&agent, Event::Selected(Ok(Some(call)))).unwrap();
    assert_eq!(asked.task, Task::Listen);
    assert!(matches!(conversation.take(&agent, line(" snow ")).unwrap().task, Task::CheckHealth { .. }));
    let called = conversation.take(&agent, Event::Health(Ok(json!({"status": "ok"}).into()))).unwrap();
    let Task::Call { arguments, .. } = called.task else { panic!("{called:?}") };
    assert_eq!(Json::Object(arguments), json!({"theme": "snow"}));
}

#[test]
fn a_text_that_cannot_be_rendered_is_told_in_the_log_and_joins_no_history() {
    let agent = changed(|document| {
        document["texts"]["unclear"] = "{{ 1 / 0 }}".into();
        document["steps"]["cls"]["outcomes"]["irrelevant"] =
            json!([{"text": "{{ texts.unclear }}", "history": true}, {"text": " ", "history": true}]);
    });
    let mut conversation = begun(&agent);
    conversation.take(&agent, line("x")).unwrap();
    let moved = conversation.take(&agent, Event::Classified(Ok(false))).unwrap();
    let told = format!("{:?}", moved.notes[0]);
    assert!(told.contains("a text of the agent cannot be rendered"), "{told}");
    assert_eq!(conversation.history().all().len(), 1, "the message of the user");
}

#[test]
fn what_would_be_said_never_or_read_never_is_a_fault() {
    let faults_of = |change: &dyn Fn(&mut Json)| {
        let [mut document, _] = documents();
        change(&mut document);
        let faults = Agent::read(&document, &Overrides::new()).unwrap_err();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let done = faults_of(&|document| document["steps"]["exec"]["outcomes"] = json!({"done": ["x"]}));
    assert!(done.contains("is no outcome of this step"), "{done}");
    let texts = faults_of(&|document| document["help"] = "{{ texts[variables.x] }}".into());
    assert!(texts.contains("/help: uses `texts`"), "{texts}");
    let whole = faults_of(&|document| {
        document["steps"]["main"]["outcomes"]["help"] = json!(["{{ texts[message] }}"])
    });
    assert!(whole.contains("uses `texts` as a whole"), "{whole}");
    let spelled = faults_of(&|document| document["settings"]["message-maxlen"] = 5.into());
    assert!(spelled.contains("another spelling of `MESSAGE_MAXLEN`"), "{spelled}");
}
