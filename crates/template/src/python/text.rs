//! Length, slices and classes of texts, by code points.

use std::borrow::Cow;

use super::chars;

/// `len(str)`
pub fn len(text: &str) -> usize {
    text.chars().count()
}

/// `text[index]`; a negative index counts from the end.
pub fn char_at(text: &str, index: i64) -> Option<&str> {
    let count = usize::try_from(index.unsigned_abs()).ok()?;
    let start = if index < 0 {
        text.char_indices().nth_back(count - 1)?.0
    } else if text.is_ascii() {
        count
    } else {
        text.char_indices().nth(count)?.0
    };
    let rest = text.get(start..)?;
    rest.get(..rest.chars().next()?.len_utf8())
}

/// `text[start:stop:step]`. A step of 0, for which Python raises `ValueError("slice step cannot be zero")`, gives nothing.
pub fn slice(text: &str, start: Option<i64>, stop: Option<i64>, step: i64) -> Cow<'_, str> {
    let count = len(text) as i64;
    if step > 0 {
        let start = clamp(start.unwrap_or(0), count);
        let stop = clamp(stop.unwrap_or(count), count);
        let inner = between(text, start as usize, stop as usize);
        if step == 1 {
            return Cow::Borrowed(inner);
        }
        return inner.chars().step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect();
    }
    if step == 0 {
        return Cow::Borrowed("");
    }
    // Downwards, the character at `start` is the first, and the one at `stop` is left out.
    let start = start.map_or(count, |start| clamp(start, count).saturating_add(1).min(upper(start, count)));
    let stop = stop.map_or(0, |stop| clamp(stop, count).saturating_add(1).min(upper(stop, count)));
    let step = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    between(text, stop as usize, start as usize).chars().rev().step_by(step).collect()
}

/// A position from 0 to `count`; a negative `index` counts from the end.
fn clamp(index: i64, count: i64) -> i64 {
    if index < 0 { index.saturating_add(count).max(0) } else { index.min(count) }
}

/// The bound after the character at `index`: 0 for an index before the text, `count` for one beyond it.
fn upper(index: i64, count: i64) -> i64 {
    if index < 0 && index.saturating_add(count) < 0 { 0 } else { count }
}

/// The text from one position to another, which are not beyond its end; nothing if they are the wrong way round.
pub(super) fn between(text: &str, start: usize, stop: usize) -> &str {
    let rest = tail(text, start);
    let count = stop.saturating_sub(start);
    rest.get(..bytes(rest, count)).unwrap_or_default()
}

/// The first `count` characters.
pub(super) fn head(text: &str, count: usize) -> &str {
    text.get(..bytes(text, count)).unwrap_or_default()
}

/// All but the first `count` characters.
pub(super) fn tail(text: &str, count: usize) -> &str {
    text.get(bytes(text, count)..).unwrap_or_default()
}

/// How many bytes the first `count` characters have.
pub(super) fn bytes(text: &str, count: usize) -> usize {
    match text.get(..count) {
        Some(head) if head.is_ascii() => count,
        None if count >= text.len() => text.len(),
        _ => text.char_indices().nth(count).map_or(text.len(), |(at, _)| at),
    }
}

/// `str.isalpha` and its kin: not empty, and of such characters only.
fn all(text: &str, class: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(class)
}

/// `str.isalpha`
pub fn is_alpha(text: &str) -> bool {
    all(text, chars::is_alpha)
}

/// `str.isalnum`
pub fn is_alnum(text: &str) -> bool {
    all(text, chars::is_alnum)
}

/// `str.isdecimal`
pub fn is_decimal(text: &str) -> bool {
    all(text, chars::is_decimal)
}

/// `str.isdigit`
pub fn is_digit(text: &str) -> bool {
    all(text, chars::is_digit)
}

/// `str.isnumeric`
pub fn is_numeric(text: &str) -> bool {
    all(text, chars::is_numeric)
}

/// `str.isspace`
pub fn is_space(text: &str) -> bool {
    all(text, chars::is_space)
}

/// `str.isprintable`, which holds for an empty text.
pub fn is_printable(text: &str) -> bool {
    text.chars().all(chars::is_printable)
}

/// `str.isidentifier`
pub fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(chars::starts_name) && text.chars().skip(1).all(chars::continues_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_count_code_points() {
        let text = "aé世😀z";
        let cases = [
            (Some(1), Some(-1), 1, "é世😀"),
            (None, None, -1, "z😀世éa"),
            (Some(-2), None, -2, "😀é"),
            (None, Some(0), -1, "z😀世é"),
            (Some(99), Some(-99), -1, "z😀世éa"),
            (Some(-99), None, -1, ""),
            (None, None, 2, "a世z"),
            (Some(3), Some(1), 1, ""),
            (Some(i64::MIN), Some(i64::MAX), i64::MAX, "a"),
        ];
        for (start, stop, step, expected) in cases {
            assert_eq!(slice(text, start, stop, step), expected, "[{start:?}:{stop:?}:{step}]");
        }
        assert_eq!((char_at(text, 3), char_at(text, -1), char_at(text, 5)), (Some("😀"), Some("z"), None));
        assert_eq!((char_at("abc", 3), char_at("abc", -4), len(text)), (None, None, 5));
    }
}
