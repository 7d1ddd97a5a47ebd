//! Texts of all sorts as skills.

use super::*;
use base::model::HistoryMode;
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Skill {
    skill(&Id::parse("x.demo").unwrap(), Some("demo"), text)
}

fn messages(skill: &Skill) -> String {
    skill.problems.iter().map(|problem| format!("{:?} {}\n", problem.line, problem.message)).collect()
}

const FULL: &str = "---
name: demo
description: |
  Does it.
  Twice.
params:
  - name: file
    description: The file
    required: true
  - {name: tone, default: kind}
history_mode: last_n
history_max: 4
model: small
temperature: 0.5
max_tokens: 900
allowed-tools: Bash(git status:*), Read
argument-hint: [file] [tone]
disable-model-invocation: true
license: MIT
---

# Demo

Do it.
";

#[test]
fn a_skill_says_what_it_takes_and_how_it_is_run() {
    let skill = read(&FULL.replace("[file] [tone]", "\"[file] [tone]\""));
    assert_eq!(messages(&skill), "");
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("demo", "Does it.\nTwice."));
    let params: Vec<_> =
        skill.params.iter().map(|p| (p.name.as_str(), p.required, p.default.clone())).collect();
    assert_eq!(params, [("file", true, None), ("tone", false, Some(json!("kind")))]);
    assert_eq!((skill.history_mode, skill.history_max), (HistoryMode::LastN, 4));
    assert_eq!((skill.temperature, skill.max_tokens), (Some(0.5), Some(900)));
    assert_eq!(skill.allowed_tools, ["Bash(git status:*)", "Read"]);
    assert_eq!(skill.argument_hint.as_deref(), Some("[file] [tone]"));
    assert!(!skill.is_chosen_by_models);
    assert_eq!(skill.front_matter["license"], "MIT");
    assert_eq!(skill.content, "# Demo\n\nDo it.");
}

#[test]
fn members_of_our_own_may_stand_where_validators_of_others_allow_them() {
    let text = "---\nname: demo\ndescription: Does it.\nargument-hint: here\nmetadata:\n  version: 1\n  ai-prompt-shell:\n    \
                argument-hint: there\n    history-max: 4\n    params:\n      - name: file\n        required: true\n---\nDo it.";
    let skill = read(text);
    assert_eq!(messages(&skill), "");
    assert_eq!((skill.params[0].name.as_str(), skill.params[0].required), ("file", true));
    assert_eq!((skill.history_max, skill.argument_hint.as_deref()), (4, Some("here")));
    let moved = text.replace("argument-hint: here\n", "");
    assert_eq!(read(&moved).argument_hint.as_deref(), Some("there"));
    assert_eq!(check_skill("demo", moved.as_bytes()), []);
    let wrong = read(&moved.replace("history-max: 4", "history-max: four"));
    assert!(messages(&wrong).contains("`history_max` must be a whole number"), "{}", messages(&wrong));
}

#[test]
fn front_matter_that_is_no_yaml_says_the_same_line_by_line() {
    let (near, good) = (read(FULL), read(&FULL.replace("[file] [tone]", "\"[file] [tone]\"")));
    assert!(
        messages(&near).starts_with("Some(17) the front matter is not valid YAML"),
        "{}",
        messages(&near)
    );
    assert_eq!(Skill { problems: Vec::new(), ..near }, good);
}

#[test]
fn values_that_yaml_refuses_are_texts() {
    let skill = read(
        "---
name: demo
description: Use when: the user says \"go\"
\tor: anything else
  @ any time
model: @small
compatibility: *nix
metadata:
  author: me: myself
  tags: [a, @b, 'd']
  \"deep\":
    level: 2
note: \"open
other: >-
  one
  two

  three
list:
- a
- b: 1
  c: 2
-
  d
---
Body",
    );
    let front = json!({
        "name": "demo",
        "description": "Use when: the user says \"go\" or: anything else @ any time",
        "model": "@small",
        "compatibility": "*nix",
        "metadata": {"author": "me: myself", "tags": ["a", "@b", "d"], "deep": {"level": 2}},
        "note": "open",
        "other": "one two\nthree",
        "list": ["a", {"b": 1, "c": 2}, "d"],
    });
    assert_eq!(Json::Object(skill.front_matter), front);
    assert_eq!(skill.content, "Body");
}

#[test]
fn members_of_wrong_types_are_problems_with_their_lines() {
    let skill = read(
        "---
name: [a]
description: x
params:
  - {description: nameless}
  - one
  - one
  - {name: two, required: \"True\"}
history-mode: some
history_max: many
temperature: hot
max_tokens: -1
allowed_tools: {a: b}
disable_model_invocation: maybe
---
Body",
    );
    let expected = [
        "Some(2) `name` must be a text; it is ignored",
        "Some(4) number 1 of `params` has no name: it must be an object `{name, description, required, default}`; it is ignored",
        "Some(4) number 3 of `params` has the name of another one; it is ignored",
        "Some(9) `history_mode` must be `full`, `last_n` or `system_only`; it is ignored",
        "Some(10) `history_max` must be a whole number; it is ignored",
        "Some(11) `temperature` must be a number from 0; it is ignored",
        "Some(12) `max_tokens` must be a whole number from 1; it is ignored",
        "Some(13) `allowed-tools` must be a list, or a text; it is ignored",
        "Some(14) `disable-model-invocation` must be `true` or `false`; it is ignored",
        "Some(2) there is no `name`; `demo` is taken",
    ];
    assert_eq!(messages(&skill).lines().collect::<Vec<_>>(), expected);
    let names: Vec<_> = skill.params.iter().map(|p| (p.name.as_str(), p.required)).collect();
    assert_eq!(names, [("one", false), ("two", true)]);
    assert_eq!((skill.history_mode, skill.history_max), (HistoryMode::Full, 10));
}

#[test]
fn a_text_without_front_matter_is_all_body() {
    for text in ["# Title\n\nText", "Title: x\n---\nText", "---\nNo end", "name: x\n\nText\n---\n"] {
        let skill = read(text);
        assert_eq!((skill.name.as_str(), skill.content.as_str()), ("demo", text.trim()), "{text}");
    }
    let unnamed = skill(&Id::parse("a.b").unwrap(), None, "Text");
    assert_eq!(unnamed.name, "b");
    assert!(messages(&read("---\nNo end")).contains("has no end"));
}

#[test]
fn a_forgotten_first_fence_a_byte_order_mark_and_windows_lines_are_forgiven() {
    let good = read("---\nname: demo\ndescription: x\n---\nA\nB");
    let forgotten = read("name: demo\ndescription: x\n---\nA\nB");
    assert!(messages(&forgotten).contains("the first line should be `---`"));
    assert_eq!(Skill { problems: Vec::new(), ..forgotten }, good);
    assert_eq!(read("\u{feff}\r\n---\r\nname: demo\r\ndescription: x\r\n--- \r\nA\r\nB\r\n"), good);
}

#[test]
fn what_agentskills_asks_is_told_and_not_refused() {
    let told = |front: &str, what: &str| {
        let skill = read(&format!("---\n{front}\n---\nBody"));
        assert!(messages(&skill).contains(what), "{front}: {}", messages(&skill));
    };
    told("name: Demo\ndescription: x", "it has a `D`");
    told("name: other\ndescription: x", "the name is `other`, and the folder `demo`");
    told("name: -a\ndescription: x", "begins or ends with a hyphen");
    told("name: a--b\ndescription: x", "two hyphens");
    told(&format!("name: {}\ndescription: x", "a".repeat(65)), "it has 65 characters");
    told("description: x", "there is no `name`");
    told("name: demo", "there is no `description`");
    told(&format!("name: demo\ndescription: {}", "é".repeat(1025)), "has 1025 characters");
    told(&format!("name: demo\ndescription: x\ncompatibility: {}", "é".repeat(501)), "has 501 characters");
    let plain = read(&format!("---\nname: demo\ndescription: {}\nversion: 1\n---\nBody", "é".repeat(1024)));
    assert_eq!(messages(&plain), "");
}

#[test]
fn members_beside_the_content_come_before_those_of_its_front_matter() {
    let object = json!({
        "name": "demo",
        "temperature": 1,
        "content": "---\nname: other\ndescription: \"from: within\"\n---\nBody",
    });
    let bytes = object.to_string().into_bytes();
    let (id, Json::Object(members)) = (Id::parse("x.demo").unwrap(), object) else { panic!("an object") };
    let skill = skill_of_object(&id, None, members).unwrap();
    assert_eq!((skill.name.as_str(), skill.description.as_str()), ("demo", "from: within"));
    let file = skill_file(&bytes);
    assert_eq!(stored_skill(&id, None, &file), Ok(skill));
    assert_eq!(skill_file(b"{\"content\": \"Body\"}").as_ref(), b"Body");
    assert_eq!(skill_file(b"Text").as_ref(), b"Text");
    assert!(
        is_skill_document(b" { \"a\"") && !is_skill_document(b"{{ x }}") && !is_skill_document(b"--- {\"")
    );
}

#[test]
fn what_is_no_text_is_no_skill() {
    let id = Id::parse("a").unwrap();
    let fault = |bytes: &[u8]| stored_skill(&id, None, bytes).unwrap_err().to_string();
    assert!(fault(b" \n").contains("is empty"));
    assert!(fault(b"a\0").contains("NUL"));
    assert!(fault(b"\xff\xfe").contains("UTF-8"));
    assert!(fault("a".repeat((1 << 20) + 1).as_bytes()).contains("bytes"));
}

/// Texts that look like front matter, or nearly so.
fn near_front_matter() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "---",
        "name: demo",
        "description: a: b",
        "description: |",
        "  more",
        "\t- x",
        "- y: [",
        "params:",
        "  - name: p",
        "    required: yes",
        "key: \"open",
        "x: {a: b",
        "",
        "# note",
        "&a: *a",
        "a: !tag",
        "history_max: 1e99",
        "Text.",
        "metadata:",
        "  a:",
        "    b:",
        "      - c",
        "allowed-tools: [A(b, c), D]",
        "\u{feff}",
        "...",
    ]);
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "\\PC{0,80}", near in near_front_matter()) {
        for text in [text.as_str(), near.as_str()] {
            let skill = read(text);
            prop_assert_eq!(skill.content.trim(), &skill.content);
            let _ = check_skill("demo", text.as_bytes());
        }
    }

    #[test]
    fn windows_lines_and_blanks_around_change_nothing(text in near_front_matter()) {
        let skill = read(&text);
        prop_assert_eq!(&read(&text.replace('\n', "\r\n")), &skill);
        prop_assert_eq!(&read(&format!("{text}\n \n")).content, &skill.content);
    }

    #[test]
    fn a_body_below_front_matter_is_kept_as_it_is(body in "[a-z#\\-\\n ]{0,60}") {
        let skill = read(&format!("---\nname: demo\ndescription: x\n---\n{body}"));
        prop_assert_eq!(&skill.content, body.trim());
        let again = read(&format!("---\nname: demo\ndescription: x\n---\n{}", skill.content));
        prop_assert_eq!(again, skill);
    }

    #[test]
    fn front_matter_in_yaml_says_line_by_line_what_it_says_as_yaml(
        values in prop::collection::btree_map("[a-z]{1,6}", "[A-Za-z][A-Za-z ,.()/-]{0,20}[a-z]", 1..6)
    ) {
        let text: String = values.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let yaml = super::super::yaml::parse(&text, 10_000);
        prop_assert_eq!(yaml.ok(), Some(Json::Object(lines::read(&text))));
    }
}
