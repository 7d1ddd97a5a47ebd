//! Values of beginnings, held against the values of the whole texts.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use template::value::from_json;

use super::*;

fn read(text: &str, wrapper: Option<&str>) -> Option<Json> {
    let mut reader = PartialReader::new(wrapper);
    reader.push(text);
    value(&reader).map(|value| value.to_json())
}

fn value(reader: &PartialReader) -> Option<Value> {
    reader.json().map(|json| parse_json(json.as_bytes()).unwrap())
}

#[test]
fn what_is_open_is_closed_and_what_is_unfinished_left_out() {
    for (text, expected) in [
        ("", None),
        ("Well", None),
        ("5", None),
        ("\"x\"", None),
        ("{", Some(json!({}))),
        ("[", Some(json!([]))),
        (r#"{"a"#, Some(json!({}))),
        (r#"{"a""#, Some(json!({}))),
        (r#"{"a": "#, Some(json!({}))),
        (r#"{"a": ""#, Some(json!({"a": ""}))),
        (r#"{"a": "b"#, Some(json!({"a": "b"}))),
        (r#"{"a": "b\"#, Some(json!({"a": "b"}))),
        (r#"{"a": "b\n"#, Some(json!({"a": "b\n"}))),
        (r#"{"a": "b\u00e"#, Some(json!({"a": "b"}))),
        (r#"{"a": "b\u00e4"#, Some(json!({"a": "bä"}))),
        (r#"{"a": "\ud83d"#, Some(json!({"a": ""}))),
        (r#"{"a": "\ud83d\ude0"#, Some(json!({"a": ""}))),
        (r#"{"a": "\ud83d\ude00"#, Some(json!({"a": "😀"}))),
        (r#"{"a": "\ud83dx"#, Some(json!({"a": "\u{fffd}x"}))),
        (r#"{"a": "\ud83d\ud83d"#, Some(json!({"a": "\u{fffd}"}))),
        (r#"{"a": "\ud83d"}"#, Some(json!({"a": "\u{fffd}"}))),
        (r#"{"a": 1"#, Some(json!({}))),
        (r#"{"a": 1,"#, Some(json!({"a": 1}))),
        (r#"{"a": tru"#, Some(json!({}))),
        (r#"{"a": true"#, Some(json!({"a": true}))),
        (r#"{"a": 1, "b"#, Some(json!({"a": 1}))),
        ("[1, 2", Some(json!([1]))),
        ("[1, 2 ", Some(json!([1, 2]))),
        ("[1, [{\"a\": [null", Some(json!([1, [{"a": [null]}]]))),
        ("[1] and [2]", Some(json!([1]))),
        ("\u{feff}```json\n{\"a\": [", Some(json!({"a": []}))),
        ("<think>{\"no\": 1}</", None),
        ("<think>{\"no\": <</think>```\n[1,", Some(json!([1]))),
        ("<thin[", Some(json!([]))),
        ("I <think> so: [2,", Some(json!([2]))),
        ("[1, 2, oops, 3]", Some(json!([1, 2]))),
        ("[1, }", Some(json!([1]))),
        (r#"{"a": "b\x"#, Some(json!({"a": "b"}))),
        ("[1, 1e999, 2]", Some(json!([1]))),
        ("[1, 01", Some(json!([1]))),
    ] {
        assert_eq!(read(text, None), expected, "{text}");
    }
    assert_eq!(read(&"[".repeat(1 << 20), None).map(|_| ()), Some(()));
}

#[test]
fn a_wrapper_is_looked_through_if_it_is_one() {
    for (text, expected) in [
        ("{", None),
        (r#"{"v"#, None),
        (r#"{"v": "#, None),
        (r#"{"v": 1"#, None),
        (r#"{"v": 1}"#, Some(json!(1))),
        (r#"{"v": 1, "w": 2}"#, Some(json!(1))),
        (r#"{"v": "a"#, Some(json!("a"))),
        (r#"{"v": nul"#, None),
        (r#"{"v": null"#, Some(json!(null))),
        (r#"{"v": [1, 2"#, Some(json!([1]))),
        (r#"{"\u0076": [1, {"v": 2"#, Some(json!([1, {}]))),
        (r#"{"v": {"v": [1,"#, Some(json!({"v": [1]}))),
        (r#"{"v": [1]} or so"#, Some(json!([1]))),
        ("{}", Some(json!({}))),
        (r#"{"w": 1, "v": 2}"#, Some(json!({"w": 1, "v": 2}))),
        (r#"{"w""#, Some(json!({}))),
        ("[1, ", Some(json!([1]))),
    ] {
        assert_eq!(read(text, Some("v")), expected, "{text}");
    }
}

#[test]
fn items_are_given_once_each_when_they_are_complete() {
    let mut reader = PartialReader::new(Some("v"));
    let mut taken = Vec::new();
    for piece in ["{\"v\": [1", ", [2, 3", "], {\"a\":", " [4]}, \"x", "\"", " ]", "}", " [5]"] {
        reader.push(piece);
        taken.push(reader.take_items().iter().map(Value::to_json).collect::<Vec<_>>());
    }
    let expected = [
        json!([]),
        json!([1]),
        json!([[2, 3]]),
        json!([{"a": [4]}]),
        json!(["x"]),
        json!([]),
        json!([]),
        json!([]),
    ];
    assert_eq!(json!(taken), json!(expected));
    assert_eq!(reader.known(), Some(r#"[1, [2, 3], {"a": [4]}, "x" ]"#.len()));
    let mut other = PartialReader::new(None);
    other.push("{\"v\": [1, 2]}");
    assert_eq!(other.take_items(), []);
}

#[test]
fn a_bracket_of_a_sentence_is_not_the_value() {
    for (text, expected) in [
        ("Here [see below]: [1, 2]", Some(json!([1, 2]))),
        ("Here [see [1] below]: [2]", Some(json!([2]))),
        ("{x}: {\"a\": 1}", Some(json!({"a": 1}))),
        ("Here [see below", None),
        ("Here [see below: [1]", None),
        ("[1, see]: [2]", Some(json!([1]))),
        ("{\"a\": 1, see}: [2]", Some(json!({"a": 1}))),
        (&("[x]".repeat(16) + "[1]"), Some(json!([1]))),
        (&("[x]".repeat(17) + "[1]"), Some(json!([]))),
    ] {
        assert_eq!(read(text, None), expected, "{text}");
    }
    let mut reader = PartialReader::new(Some("v"));
    let mut items = Vec::new();
    for byte in "As [asked]: {\"v\": [1, 2]}".chars() {
        reader.push(byte.encode_utf8(&mut [0; 4]));
        items.extend(reader.take_items());
    }
    assert_eq!(items, [Value::Int(1), Value::Int(2)]);
}

/// Whether a value can be the beginning of another one.
fn is_prefix(part: &Json, whole: &Json) -> bool {
    match (part, whole) {
        (Json::Array(part), Json::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| is_prefix(part, whole))
        }
        (Json::Object(part), Json::Object(whole)) => {
            let mut pairs = part.iter().zip(whole);
            part.len() <= whole.len()
                && pairs.all(|(part, whole)| part.0 == whole.0 && is_prefix(part.1, whole.1))
        }
        (Json::String(part), Json::String(whole)) => whole.starts_with(part),
        _ => part == whole,
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e300f64..1e300).prop_map(Into::into),
        ".{0,20}".prop_map(Into::into),
        r#"[\[\]{}"\\,: äß😀\n\x01]{0,8}"#.prop_map(Into::into),
    ];
    let container = |inner: BoxedStrategy<Json>| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((".{0,8}", inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    };
    let inner = leaf.prop_recursive(3, 32, 6, move |inner| container(inner.boxed()));
    container(inner.boxed())
}

/// Every character outside of ASCII as escapes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
            }
        }
    }
    out
}

/// The pieces of a text between places, which are moved to the next character.
fn pieces<'t>(text: &'t str, places: &[prop::sample::Index]) -> Vec<&'t str> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(text.len() + 1)).collect();
    places.iter_mut().for_each(|place| *place = text.ceil_char_boundary(*place));
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn every_beginning_is_a_beginning_of_the_value(
        json in any_json(), pretty in any::<bool>(), escape in any::<bool>(), wrapped in any::<bool>(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..40), before in "[^\\[{<]{0,10}",
    ) {
        let root = if wrapped { json!({"value": json}) } else { json.clone() };
        let text = if pretty { serde_json::to_string_pretty(&root).unwrap() } else { root.to_string() };
        let text = before + &if escape { escaped(&text) } else { text };
        let mut reader = PartialReader::new(wrapped.then_some("value"));
        let (mut items, mut last, mut taken) = (Vec::new(), Json::Null, Vec::new());
        for piece in pieces(&text, &places) {
            reader.push(piece);
            items.extend(reader.take_items());
            taken.push(items.len());
            if let Some(value) = value(&reader) {
                let own = serde_json::to_string(&value).unwrap();
                prop_assert_eq!(from_json(own.as_bytes()).unwrap(), value.clone());
                let value = value.to_json();
                prop_assert!(last.is_null() || is_prefix(&last, &value), "{} became {}", last, value);
                last = value;
                prop_assert!(is_prefix(&last, &json), "{} of {}", last, json);
            }
        }
        prop_assert_eq!(value(&reader), Some(Value::from(&json)));
        let expected = if let Json::Array(items) = &json { items.clone() } else { Vec::new() };
        prop_assert_eq!(items.iter().map(Value::to_json).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn broken_texts_leave_a_value_that_parses(text in r#"[\[{]([\[\]{}",:\\ u0d8.-]|true|"a":|\\ud83d|\\ude00){0,20}"#) {
        let mut reader = PartialReader::new(None);
        let mut items = Vec::new();
        for at in 0..text.len() {
            reader.push(&text[at..=at]);
            prop_assert_eq!(value(&reader).is_some(), reader.known().is_some(), "{}", &text[..at]);
            items.extend(reader.take_items());
        }
        let mut whole = PartialReader::new(None);
        whole.push(&text);
        prop_assert_eq!(value(&whole), value(&reader));
        prop_assert_eq!(whole.take_items(), items);
    }
}
