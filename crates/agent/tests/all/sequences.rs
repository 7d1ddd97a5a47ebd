//! What holds for any sequence of events.

use agent::{Agent, Conversation, Event, Message, Moved, Role, Said, Task};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map as JsonMap, json};

use super::AGENTS;
use super::happening::{Happening, happening, text};

/// A conversation that has begun.
fn begun(agent: &Agent) -> Conversation {
    let mut conversation = Conversation::new(JsonMap::new());
    conversation.take(agent, Event::Start).unwrap();
    conversation
}

/// The conversation as it is after it was stored.
fn stored(conversation: &Conversation) -> Conversation {
    serde_json::from_str(&serde_json::to_string(conversation).unwrap()).unwrap()
}

/// Whether an event is the one that a task leads to.
fn is_result_of(event: &Event, task: &Task) -> bool {
    matches!(
        (task, event),
        (Task::Listen, Event::Line(_))
            | (Task::Confirm, Event::Approve | Event::Reject | Event::Change(_))
            | (Task::Classify, Event::Classified(_))
            | (Task::Select, Event::Selected(_))
            | (Task::CheckHealth { .. }, Event::Health(_))
            | (Task::Call { .. }, Event::Called(_))
            | (Task::Answer, Event::Answered(_))
    )
}

/// The messages that a text of a document puts into the history are shown, too.
fn shown(moved: &Moved) -> Vec<&String> {
    let said = moved.notes.iter().flat_map(|note| &note.said);
    said.filter_map(|said| if let Said::Shown(text) = said { Some(text) } else { None }).collect()
}

/// Checks one event: a refusal changes nothing, what was said stays, and what is added is a line or was shown.
fn check_event(agent: &Agent, conversation: &mut Conversation, happening: &Happening) -> Option<Task> {
    let before = conversation.clone();
    let Ok(moved) = conversation.take(agent, happening.event()) else {
        assert_eq!(*conversation, before, "a refusal changes nothing: {happening:?}");
        return None;
    };
    let (was, is) = (before.history().all(), conversation.history().all());
    assert_eq!(&is[..was.len()], was, "what was said stays");
    for Message { role, content } in &is[was.len()..] {
        match (role, happening) {
            (Role::User, Happening::Line(line)) => assert_eq!(content, line.trim()),
            (Role::User, other) => panic!("{other:?} adds a message of the user"),
            (Role::Assistant, _) => assert!(shown(&moved).contains(&content), "{content} was not shown"),
        }
    }
    assert_eq!(conversation.pending().is_some(), moved.task == Task::Confirm);
    match moved.task {
        Task::End { code } => assert_eq!(conversation.exit_code(), Some(code)),
        _ => assert_eq!(conversation.exit_code(), None),
    }
    Some(moved.task)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_sequence_of_events_is_taken_or_refused_and_what_was_said_stays(
        happenings in vec(happening(), 1..60),
        kept in vec(any::<bool>(), 60),
    ) {
        for agent in &*AGENTS {
            let mut conversation = Conversation::new(JsonMap::new());
            let mut task = None;
            for (happening, is_kept) in happenings.iter().zip(&kept) {
                let taken = check_event(agent, &mut conversation, happening);
                // A result is taken just when it was asked for.
                if let Some(task) = &task && is_result_of(&happening.event(), task) {
                    prop_assert!(taken.is_some(), "{happening:?} after {task:?}");
                }
                task = taken.or(task);
                if *is_kept {
                    let stored = stored(&conversation);
                    prop_assert_eq!(&stored, &conversation);
                    conversation = stored;
                }
            }
        }
    }

    #[test]
    fn the_work_for_one_message_is_bounded_whatever_models_and_tools_say(
        happenings in vec(happening(), 400),
    ) {
        for agent in &*AGENTS {
            let mut conversation = begun(agent);
            let message = Event::Line("To Oslo, and further".into());
            let mut task = conversation.take(agent, message).unwrap().task;
            let (mut asked, mut called) = (usize::from(task == Task::Classify), 0);
            for happening in &happenings {
                // What was not asked for is left out.
                if !is_result_of(&happening.event(), &task) {
                    continue;
                }
                task = conversation.take(agent, happening.event()).unwrap().task;
                match task {
                    Task::Classify | Task::Select | Task::Answer => asked += 1,
                    Task::CheckHealth { .. } | Task::Call { .. } => called += 1,
                    Task::Confirm => {}
                    Task::Listen | Task::End { .. } => break,
                }
            }
            let limit = usize::try_from(agent.settings.get("TOOL_CALLS_MAX").unwrap().as_u64().unwrap()).unwrap();
            prop_assert!(asked <= 1 + limit + 1 + 1, "{asked} calls of models");
            prop_assert!(called <= 2 * limit, "{called} calls of tools");
        }
    }

    #[test]
    fn what_users_models_and_services_say_is_never_a_template(said in text(), tool in text()) {
        for agent in &*AGENTS {
            let mut conversation = begun(agent);
            let moved = conversation.take(agent, Event::Line(said.clone())).unwrap();
            let is_message = moved.task == Task::Classify;
            if !is_message {
                continue;
            }
            prop_assert_eq!(&conversation.history().all().last().unwrap().content, said.trim());
            conversation.take(agent, Event::Classified(Ok(true))).unwrap();
            let arguments = json!({"city": said, "question": said}).as_object().unwrap().clone();
            let call = agent::ToolCall { tool: tool.clone(), arguments };
            let moved = conversation.take(agent, Event::Selected(Ok(Some(call)))).unwrap();
            let text = shown(&moved).into_iter().find(|text| text.contains(&tool));
            prop_assert!(text.is_some(), "{tool:?} is shown as it is: {moved:?}");
            let json = json!(said).to_string();
            prop_assert!(shown(&moved)[0].contains(&json), "{json} is shown as it is: {moved:?}");
        }
    }
}

#[test]
fn a_model_that_always_chooses_a_tool_is_stopped_at_the_limit() {
    let [_, travel] = &*AGENTS;
    let mut conversation = begun(travel);
    for _ in 0..2 {
        let mut task = conversation.take(travel, Event::Line("Add up".into())).unwrap().task;
        let mut calls = 0;
        let code = loop {
            let arguments = json!({"a": 1, "b": 2}).as_object().unwrap().clone();
            let event = match task {
                Task::Classify => Event::Classified(Ok(true)),
                Task::Select => {
                    Event::Selected(Ok(Some(agent::ToolCall { tool: "add_up".into(), arguments })))
                }
                Task::Call { .. } => {
                    calls += 1;
                    Event::Called(Ok((&json!({"sum": 3})).into()))
                }
                Task::Answer => Event::Answered(Ok("3".into())),
                Task::Listen => break None,
                other => break Some(other),
            };
            task = conversation.take(travel, event).unwrap().task;
        };
        assert_eq!((code, calls), (None, 3));
    }
}
