//! The methods of `str` that look for a part of a text.

use std::borrow::Cow;

use memchr::memmem;

use super::PyError;
use super::out::fits;
use super::text::{between, len};

/// The positions that a method searches, as Python's `start` and `end` arguments; `None` stands for an end of the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The first position; a negative one counts from the end.
    pub start: Option<i64>,
    /// The position after the last one.
    pub end: Option<i64>,
}

impl Span {
    /// The part of the text and its position; nothing if the span begins after its end.
    fn window(self, text: &str) -> Option<(&str, usize)> {
        if self.start.is_none() && self.end.is_none() {
            return Some((text, 0));
        }
        let count = len(text);
        let start = position(self.start.unwrap_or(0), count);
        let end = position(self.end.unwrap_or(i64::MAX), count).min(count);
        (start <= end).then(|| (between(text, start, end), start))
    }
}

/// A position that may be beyond the end, but not before the start.
fn position(index: i64, count: usize) -> usize {
    let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    if index < 0 { count.saturating_sub(distance) } else { distance }
}

/// `str.find`, with `None` for -1.
pub fn find(text: &str, part: &str, span: Span) -> Option<usize> {
    let (window, start) = span.window(text)?;
    let at = memmem::find(window.as_bytes(), part.as_bytes())?;
    Some(start + window.get(..at).map_or(0, len))
}

/// `str.rfind`, with `None` for -1.
pub fn rfind(text: &str, part: &str, span: Span) -> Option<usize> {
    let (window, start) = span.window(text)?;
    let at = memmem::rfind(window.as_bytes(), part.as_bytes())?;
    Some(start + window.get(..at).map_or(0, len))
}

/// `str.index`
pub fn index(text: &str, part: &str, span: Span) -> Result<usize, PyError> {
    find(text, part, span).ok_or_else(not_found)
}

/// `str.rindex`
pub fn rindex(text: &str, part: &str, span: Span) -> Result<usize, PyError> {
    rfind(text, part, span).ok_or_else(not_found)
}

fn not_found() -> PyError {
    PyError::Value("substring not found".to_owned())
}

/// `str.count`: how often `part` is found, without overlaps.
pub fn count(text: &str, part: &str, span: Span) -> usize {
    match span.window(text) {
        None => 0,
        Some((window, _)) if part.is_empty() => len(window) + 1,
        Some((window, _)) => memmem::find_iter(window.as_bytes(), part.as_bytes()).count(),
    }
}

/// `str.startswith` with one prefix.
pub fn starts_with(text: &str, prefix: &str, span: Span) -> bool {
    span.window(text).is_some_and(|(window, _)| window.starts_with(prefix))
}

/// `str.endswith` with one suffix.
pub fn ends_with(text: &str, suffix: &str, span: Span) -> bool {
    span.window(text).is_some_and(|(window, _)| window.ends_with(suffix))
}

/// `str.removeprefix`
pub fn remove_prefix<'t>(text: &'t str, prefix: &str) -> &'t str {
    text.strip_prefix(prefix).unwrap_or(text)
}

/// `str.removesuffix`
pub fn remove_suffix<'t>(text: &'t str, suffix: &str) -> &'t str {
    text.strip_suffix(suffix).unwrap_or(text)
}

/// `str.replace`; a negative `most` replaces all.
pub fn replace<'t>(
    text: &'t str,
    old: &str,
    new: &str,
    most: i64,
    room: usize,
) -> Result<Cow<'t, str>, PyError> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = if old.is_empty() {
        len(text).saturating_add(1).min(most)
    } else {
        memmem::find_iter(text.as_bytes(), old.as_bytes()).take(most).count()
    };
    if found == 0 {
        return Ok(Cow::Borrowed(text));
    }
    let size = (text.len() - found * old.len()).saturating_add(found.saturating_mul(new.len()));
    fits(size, room)?;
    // Rust finds an empty text where Python does: before each character and at the end.
    Ok(Cow::Owned(text.replacen(old, new, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> Span {
        Span { start: Some(start), end: Some(end) }
    }

    #[test]
    fn positions_are_code_points() {
        assert_eq!(find("aé世é", "é", Span::default()), Some(1));
        assert_eq!(rfind("aé世é", "é", Span::default()), Some(3));
        assert_eq!(find("aé世é", "é", span(2, 99)), Some(3));
        assert_eq!(find("aé世é", "é", span(-2, -1)), None);
        assert_eq!((find("abc", "", span(3, 3)), find("abc", "", span(4, 9))), (Some(3), None));
        assert_eq!((count("aaaa", "aa", Span::default()), count("é世", "", Span::default())), (2, 3));
        assert!(starts_with("abc", "b", span(1, 3)) && !starts_with("abc", "", span(4, 9)));
        assert!(ends_with("abc", "ab", span(0, -1)));
        assert_eq!(index("a", "b", Span::default()), PyError::value_error("substring not found"));
    }

    #[test]
    fn replacing_is_bounded() {
        assert_eq!(replace("a-b-c", "-", "", 1, 99).as_deref(), Ok("ab-c"));
        assert_eq!(replace("éa", "", "-", -1, 99).as_deref(), Ok("-é-a-"));
        assert_eq!(replace("abc", "", "-", 2, 99).as_deref(), Ok("-a-bc"));
        assert_eq!(replace("aaa", "a", "bbbb", -1, 11), Err(PyError::TooLarge));
    }
}
