//! Documents that another program, or a person, has made something else of.

use agent::{Agent, Conversation, Event, Overrides, override_name};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map as JsonMap, Value as Json};

use super::documents;
use super::happening::any_json;

/// The places of all members and items of a document.
fn places(json: &Json, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match json {
        Json::Object(members) => members.iter().for_each(|(name, member)| {
            places(member, &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), found);
        }),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| places(item, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

/// Reads a document; if it is an agent, it begins without a fault.
fn read(document: &Json, overrides: &Overrides) {
    match Agent::read(document, overrides) {
        Ok(agent) => {
            let begun = Conversation::new(JsonMap::new()).take(&agent, Event::Start);
            assert!(begun.is_ok());
        }
        Err(faults) => assert!(!faults.is_empty(), "a refusal says why"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_document_with_anything_in_the_place_of_a_part_is_read_or_refused(
        changes in vec((any::<prop::sample::Index>(), any_json()), 1..4),
    ) {
        for mut document in documents() {
            for (at, json) in &changes {
                let mut found = Vec::new();
                places(&document, "", &mut found);
                let place: &String = at.get(&found);
                *document.pointer_mut(place).unwrap() = json.clone();
            }
            read(&document, &Overrides::new());
        }
    }

    #[test]
    fn any_settings_override_those_of_a_document_or_are_refused(
        values in vec((any::<prop::sample::Index>(), any_json()), 1..4),
    ) {
        for document in documents() {
            let agent = Agent::read(&document, &Overrides::new()).unwrap();
            let names = agent.settings.names();
            let overridden = |(at, value): &(prop::sample::Index, Json)| {
                let name: &String = at.get(&names);
                (override_name(name), value.clone())
            };
            read(&document, &values.iter().map(overridden).collect());
        }
    }
}
