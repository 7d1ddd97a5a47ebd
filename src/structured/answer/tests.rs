//! What texts say, and why others say nothing.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn reason(text: &str) -> String {
    value_of(text).expect_err(text).message
}

#[test]
fn values_are_found_wherever_models_put_them() {
    for (text, expected) in [
        (r#"{"a": 1}"#, json!({"a": 1})),
        ("5", json!(5)),
        (" -0.5e1\n", json!(-5.0)),
        (r#""x""#, json!("x")),
        ("null", json!(null)),
        ("\u{feff} [1, 2]\r\n", json!([1, 2])),
        ("\u{a0}true\u{a0}", json!(true)),
        ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
        ("```\n[1]\n```", json!([1])),
        ("~~~\n[1]\n~~~", json!([1])),
        ("~~~~ JSON\n7\n~~~~", json!(7)),
        ("```json\r\n{\r\n\"a\": 1\r\n}\r\n```\r\n", json!({"a": 1})),
        ("````json\n\"```\"\n````", json!("```")),
        ("```json\n{\"a\": \"```\"}\n```", json!({"a": "```"})),
        ("```json\n{\"a\": 1}\n  ```", json!({"a": 1})),
        ("```json\n{\"a\": 1}", json!({"a": 1})),
        ("```json {\"a\": 1}```", json!({"a": 1})),
        ("```{\"a\": 1}\n```", json!({"a": 1})),
        ("```{json}\n{\"a\": 1}\n```", json!({"a": 1})),
        ("Here it is:\n```json\n{\"a\": 1}\n```\nAnything else?", json!({"a": 1})),
        ("<think>5 or {\"b\": 2}?</think>{\"a\": 1}", json!({"a": 1})),
        ("\n<think>\n</think>\n\n```json\n5\n```", json!(5)),
        ("<think></think>\n1", json!(1)),
        (r#"{"a": "<think>"}"#, json!({"a": "<think>"})),
        (r#""<think>x</think>""#, json!("<think>x</think>")),
        (r#"I <think> so: {"a": 1}"#, json!({"a": 1})),
        (r#"The answer is {"a": 1}."#, json!({"a": 1})),
        ("The list [1, [2], {}] it is", json!([1, [2], {}])),
        (r#"Set {x} to {"a": 1}"#, json!({"a": 1})),
        (r#"As [see there] says: {"a": {"b": []}}"#, json!({"a": {"b": []}})),
        (r#"{"a": "}]{["} }]"#, json!({"a": "}]{["})),
        (r#"so: {"a": "\"}{\\"} ok"#, json!({"a": "\"}{\\"})),
        (r#"Open with { and answer: {"a": 1}"#, json!({"a": 1})),
        (r#"For x in [0, 1): {"a": 1}"#, json!({"a": 1})),
        (r#"A { for 5" screens, and "{"a": 1}""#, json!({"a": 1})),
        (r#"{ { [ and ( {"a": 1} ["#, json!({"a": 1})),
        (r#"{"a": 1} and then {"b": "#, json!({"a": 1})),
        (r#"not {"a": 1,}, but {"a": 1}"#, json!({"a": 1})),
        (r#"a "quoted [bracket" in prose: [1]"#, json!([1])),
        (r#"{"a": "\ud83d\ude00\ud83d"}"#, json!({"a": "😀\u{fffd}"})),
        (r#"{"big": 18446744073709551615, "a": {"a": 1}}"#, json!({"big": u64::MAX, "a": {"a": 1}})),
        ("it's [\"'\"]", json!(["'"])),
        // A comment behind the value is prose behind the value.
        ("[1] // one", json!([1])),
    ] {
        assert_eq!(value_of(text), Ok(Value::from(expected)), "{text}");
    }
}

#[test]
fn what_is_no_value_is_refused_with_a_reason() {
    for (text, expected) in [
        ("", "the answer is empty"),
        (" \n\u{feff}", "the answer is empty"),
        ("```json\n```", "the answer is empty"),
        ("<think>a</think> ", "the answer is empty"),
        ("<think>{\"a\": 1}", "ends before its thoughts do"),
        ("I don't know", "expected value at line 1 column 1"),
        ("The answer is 5", "expected value at line 1 column 1"),
        ("5 or 6", "trailing characters at line 1 column 3"),
        ("NaN", "at line 1 column"),
        ("'x'", "expected value at line 1 column 1"),
        (r#"{"a": 1,}"#, "trailing comma at line 1 column 9"),
        ("[1,]", "trailing comma at line 1 column 4"),
        ("Well:\n```json\n{\"a\": 1,}\n```", "trailing comma at line 3 column 9"),
        ("<think>\n</think> ```\n{\n\"a\" 1}\n```", "expected `:` at line 4 column 5"),
        ("so: [1,]", "trailing comma at line 1 column 8"),
        ("{'a': 1}", "key must be a string"),
        ("{a: 1}", "key must be a string"),
        (r#"{"a": NaN}"#, "expected"),
        (r#"{"a": Infinity}"#, "expected value"),
        ("[1e999]", "number out of range"),
        ("{\"a\": 1 /* one */}", "expected `,` or `}`"),
        (r#"{"a": 1, "a": 1}"#, "two members of the same name at line 1 column 16"),
        (r#"[{"b": {"a": 1, "\u0061": 2}}]"#, "two members of the same name"),
        (r#"{"a": [1, 2"#, "EOF while parsing a list"),
        (r#"{"a": {"b": 1}, "c"#, "EOF while parsing a string"),
        (r#"Here: {"a": [{"b": 1}, 2"#, "EOF while parsing a list"),
        (r#"{"a": {"b": 1}, c: "#, "key must be a string"),
        (r#"{"a": {"b": 1},}"#, "trailing comma"),
        (r#"{see {"a": 1}}"#, "key must be a string"),
        (r#"["text with [1] and"#, "EOF while parsing a string"),
        ("[\"a\nb\"]", "control character"),
        (r#"{"a": 1} {"b": 2}"#, "there are several JSON values in the answer; answer with one"),
        ("[1] or [1]", "there are several JSON values"),
        ("```json\n[1]\n```\nor\n```json\n[2]\n```", "there are several JSON values"),
        ("{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}", "there are several JSON values"),
        ("{x} and [y, y]", "expected value at line 1 column 10"),
    ] {
        assert!(reason(text).contains(expected), "{text}: {}", reason(text));
    }
    assert!(reason(&("[".repeat(200) + &"]".repeat(200))).contains("recursion limit"));
    assert!(!reason(r#"{"secret": 1, "secret": 1}"#).contains("secret"));
}

#[test]
fn hostile_texts_end_soon() {
    for piece in [
        "{", "[", "{\"", "[\"", "[1,", "{\"a\":", "{x", "[{\"", "{\"a\":[", "\"{", "[x\"", "}{", "[]x",
        "{} ", "\\{",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert!(value_of(&text).is_err(), "{piece}");
        let after = format!("{text} {{\"a\": 1}}");
        let _ = value_of(&after);
    }
    let deep = "[".repeat(1 << 19) + &"]".repeat(1 << 19);
    assert!(value_of(&deep).is_err());
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e300f64..1e300).prop_map(Into::into),
        ".{0,20}".prop_map(Into::into),
        r#"[\[\]{}"\\,: ]{0,8}"#.prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((".{0,8}", inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_is_found_in_prose_and_in_fences(
        json in any_json(), before in "[^\\[\\]{}`~]{0,40}", after in "[^\\[\\]{}`~]{0,40}",
        pretty in any::<bool>(), fenced in any::<bool>(), thoughts in prop::option::of("[^<]{0,40}"),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&json).unwrap() } else { json.to_string() };
        let text = if fenced { format!("```json\n{text}\n```") } else { text };
        let is_container = json.is_object() || json.is_array();
        let text = if is_container { format!("{before}\n{text}\n{after}") } else { text };
        let text = thoughts.map(|thoughts| format!("<think>{thoughts}</think>")).unwrap_or_default() + &text;
        prop_assert_eq!(value_of(&text), Ok(Value::from(json)));
    }

    #[test]
    fn no_text_is_corrected(text in r#"([\[\]{}",:\\ x1]|true|"a"|"a":){0,16}"#) {
        if let Ok(value) = value_of(&text) {
            let own = serde_json::to_string(&value).unwrap();
            let squeezed: String = text.chars().filter(|c| *c != ' ').collect();
            let own: String = own.chars().filter(|c| *c != ' ').collect();
            prop_assert!(squeezed.contains(&own) || text.contains('\\'), "{} in {}", own, text);
        }
    }
}
