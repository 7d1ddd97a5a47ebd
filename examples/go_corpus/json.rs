//! Go's `json.Marshal` for the values of templates.

use ai_prompt_shell::template::go::Val;

/// The value as Go writes it: keys sorted, and what has a meaning in HTML escaped; `None` if it cannot be written.
pub fn marshal(value: &Val<'_>) -> Option<String> {
    let mut out = String::new();
    write(&mut out, value)?;
    Some(out)
}

fn write(out: &mut String, value: &Val<'_>) -> Option<()> {
    match value.type_name() {
        "<nil>" | "interface {}" => out.push_str("null"),
        "bool" => out.push_str(if value.is_true() { "true" } else { "false" }),
        "int" | "uint8" => out.push_str(&value.as_int().unwrap_or(0).to_string()),
        "float64" => write_float(out, value.as_float().unwrap_or(0.0)),
        "string" => write_string(out, value.as_bytes().unwrap_or_default()),
        "[]interface {}" => write_list(out, value)?,
        name if name.starts_with("map[") => write_map(out, value)?,
        _ => return None,
    }
    Some(())
}

fn write_list(out: &mut String, list: &Val<'_>) -> Option<()> {
    out.push('[');
    for at in 0..list.len().unwrap_or(0) {
        if at > 0 {
            out.push(',');
        }
        write(out, &list.item(at).unwrap_or(Val::nil()))?;
    }
    out.push(']');
    Some(())
}

fn write_map(out: &mut String, map: &Val<'_>) -> Option<()> {
    out.push('{');
    for (at, (key, value)) in map.members().iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        write(out, value)?;
    }
    out.push('}');
    Some(())
}

/// The shortest digits, with an exponent only for very small and very large numbers.
fn write_float(out: &mut String, number: f64) {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        out.push_str(&if text.contains("e-") { text } else { text.replace('e', "e+") });
    } else {
        out.push_str(&plain(number));
    }
}

/// The shortest digits without an exponent; of two forms that are equally near, the even one.
fn plain(number: f64) -> String {
    let shortest = number.to_string();
    let places = shortest.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let nearest = format!("{number:.places$}");
    if places > 0 && nearest.parse() == Ok(number) { nearest } else { shortest }
}

fn write_string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| write_char(out, c));
        chunk.invalid().iter().for_each(|_| out.push_str("\\ufffd"));
    }
    out.push('"');
}

fn write_char(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\x1f' => {
            out.push_str(&format!("\\u{:04x}", c as u32));
        }
        c => out.push(c),
    }
}
