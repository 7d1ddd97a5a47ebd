//! JSON: keys are sorted, numbers are Go's, and `<`, `>` and `&` stay as they are, since a prompt is no web page.

use super::call::{Call, Made};
use crate::value::{Tree, Value, from_json, weight};

pub fn to_json<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(call.context.json(&call.arg(0), false)?)
}

pub fn to_pretty_json<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let compact = call.context.json(&call.arg(0), false)?;
    call.string(indented(call, &compact)?)
}

pub fn from_text<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let text = call.text(0);
    let bytes = weight(text, Tree::Value) + size_of::<Value>();
    call.room(bytes)?;
    match from_json(text) {
        Ok(value) => Ok(call.context.weighed(value, bytes)),
        Err(error) => Err(format!("not valid JSON: {error}")),
    }
}

/// `json.Indent` with two spaces, for JSON without spaces.
fn indented(call: &Call<'_, '_>, compact: &[u8]) -> Result<Vec<u8>, String> {
    let (mut out, mut depth) = (Vec::with_capacity(compact.len() * 2), 0_usize);
    let (mut in_string, mut escaped, mut last) = (false, false, b' ');
    for &byte in compact {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            out.push(byte);
            continue;
        }
        let opened = matches!(last, b'[' | b'{');
        let closes = matches!(byte, b']' | b'}');
        depth = if closes { depth.saturating_sub(1) } else { depth };
        if (opened && !closes) || (closes && !opened) || last == b',' {
            call.room(out.len() + 2 * depth)?;
            out.push(b'\n');
            out.resize(out.len() + 2 * depth, b' ');
        }
        out.push(byte);
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b':' => out.push(b' '),
            _ => {}
        }
        last = byte;
    }
    Ok(out)
}
