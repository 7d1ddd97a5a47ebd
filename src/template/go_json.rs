//! JSON as Go's `encoding/json` writes it: sorted keys and its own number format, but nothing escaped for HTML.

use crate::value::Value;

/// Appends the JSON text of a value.
pub fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::UInt(value) => out.push_str(&value.to_string()),
        Value::Float(value) => write_float(*value, out),
        Value::Str(text) => write_string(text, out),
        Value::List(list) => write_all('[', ']', list.iter(), out, write_json),
        Value::Map(map) => write_all('{', '}', map.iter_sorted().into_iter(), out, |(key, value), out| {
            write_string(key, out);
            out.push(':');
            write_json(value, out);
        }),
    }
}

fn write_all<T>(
    open: char,
    close: char,
    items: impl Iterator<Item = T>,
    out: &mut String,
    write: impl Fn(T, &mut String),
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

/// Plain digits from 1e-6 up to 1e21, an exponent outside.
fn write_float(value: f64, out: &mut String) {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        let positive_exponent = !text.contains("e-");
        out.push_str(&if positive_exponent { text.replace('e', "e+") } else { text });
    } else {
        out.push_str(&value.to_string());
    }
}

fn write_string(text: &str, out: &mut String) {
    // A string always serializes.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::from_json;

    #[test]
    fn numbers_and_keys_are_written_as_go_writes_them() {
        for (json, expected) in [
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e-7", "1.5e-7"),
            ("0.000001", "0.000001"),
            ("-0", "-0"),
            ("100000000", "100000000"),
            ("1e6", "1000000"),
            (r#"{"b":[1,null],"a":{"<":"&\n"}}"#, r#"{"a":{"<":"&\n"},"b":[1,null]}"#),
        ] {
            let mut out = String::new();
            write_json(&from_json(json.as_bytes()).unwrap(), &mut out);
            assert_eq!(out, expected, "{json}");
        }
    }
}
