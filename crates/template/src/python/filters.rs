//! The text filters of Jinja2 that are no methods of `str`: `truncate`, `indent`, `title`, `filesizeformat`, `wordcount`.

use std::borrow::Cow;

use super::PyError;
use super::arg::{big_text, float_int};
use super::case::{lower, upper};
use super::chars::{is_line_end, is_space, is_word};
use super::float_text::{FloatStyle, Notation};
use super::out::{Bounded, fits};
use super::split::{rsplit, split_lines};
use super::text::{head, len};

/// The arguments of `truncate`.
#[derive(Clone, Copy, Debug)]
pub struct TruncateOptions<'o> {
    /// The most characters of the result.
    pub length: i64,
    /// Whether the last word is cut instead of left out.
    pub killwords: bool,
    /// What stands for the rest of the text.
    pub end: &'o str,
    /// A text that is longer by so many characters is left as it is.
    pub leeway: i64,
}

impl Default for TruncateOptions<'_> {
    fn default() -> Self {
        TruncateOptions { length: 255, killwords: false, end: "...", leeway: 5 }
    }
}

/// The `truncate` filter. The `AssertionError`s of bad arguments are `ValueError`s here.
pub fn truncate<'t>(text: &'t str, options: &TruncateOptions<'_>) -> Result<Cow<'t, str>, PyError> {
    let TruncateOptions { length, killwords, end, leeway } = *options;
    let kept = length.checked_sub(len(end) as i64).and_then(|kept| usize::try_from(kept).ok());
    let Some(kept) = kept else {
        return PyError::value_error(format!("expected length >= {}, got {length}", len(end)));
    };
    if leeway < 0 {
        return PyError::value_error(format!("expected leeway >= 0, got {leeway}"));
    }
    if len(text) as i64 <= length.saturating_add(leeway) {
        return Ok(Cow::Borrowed(text));
    }
    let start = head(text, kept);
    let words = if killwords { start } else { rsplit(start, Some(" "), 1)?.first().copied().unwrap_or("") };
    Ok(Cow::Owned([words, end].concat()))
}

/// The `indent` filter; a `width` in characters is given as so many spaces, see [`spaces`].
pub fn indent(text: &str, width: &str, first: bool, blank: bool, room: usize) -> Result<String, PyError> {
    // The filter appends a newline and takes lines apart again, so one line break at the end is kept.
    let ends = text.ends_with(|c| is_line_end(c) && c != '\r');
    let mut lines = split_lines(text, false);
    if ends || text.is_empty() {
        lines.push("");
    }
    let mut out = Bounded::new(room);
    for (at, line) in lines.into_iter().enumerate() {
        if at > 0 {
            out.push('\n')?;
        }
        let indented = if at == 0 { first } else { blank || !line.is_empty() };
        out.push_str(if indented { width } else { "" })?;
        out.push_str(line)?;
    }
    Ok(out.finish())
}

/// `" " * count`
pub fn spaces(count: i64, room: usize) -> Result<String, PyError> {
    let count = usize::try_from(count).unwrap_or(0);
    fits(count, room)?;
    Ok(" ".repeat(count))
}

/// The `title` filter: what follows whitespace, a hyphen or an opening bracket in upper case, the rest in lower case.
pub fn title(text: &str) -> String {
    let separates = |c| matches!(c, '-' | '(' | '{' | '[' | '<') || is_space(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let separator = separates(c);
        let end = rest.find(|c| separates(c) != separator).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let (initial, others) = word.split_at(c.len_utf8());
        out.push_str(&upper(initial));
        out.push_str(&lower(others));
        rest = after;
    }
    out
}

/// The `wordcount` filter: the runs of `\w+`.
pub fn word_count(text: &str) -> usize {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).count()
}

/// The `filesizeformat` filter, of `float(value)`.
pub fn file_size(bytes: f64, binary: bool) -> Result<String, PyError> {
    let base = if binary { 1024.0 } else { 1000.0 };
    if bytes == 1.0 {
        return Ok("1 Byte".to_owned());
    }
    if bytes < base {
        return Ok(format!("{} Bytes", big_text(&float_int(bytes)?)?));
    }
    let style = FloatStyle { notation: Notation::Fixed, precision: 1, alternate: false, dot_zero: false };
    let mut power: u128 = if binary { 1024 } else { 1000 };
    let mut prefixes = "kMGTPEZY".chars().peekable();
    loop {
        power *= base as u128;
        let prefix = prefixes.next().unwrap_or('Y');
        let unit = power as f64;
        // Python compares with the exact number, which the nearest double may be below.
        let fits = !bytes.is_nan() && (bytes as u128) < power;
        if fits || prefixes.peek().is_none() {
            let prefix =
                if binary { format!("{}i", prefix.to_ascii_uppercase()) } else { prefix.to_string() };
            return Ok(format!("{} {prefix}B", style.text(base * bytes / unit)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_truncated_at_words() {
        let cut = |length, killwords, leeway| {
            let options = TruncateOptions { length, killwords, end: "...", leeway };
            truncate("foo bar baz qux", &options).map(Cow::into_owned)
        };
        assert_eq!(cut(9, false, 5).as_deref(), Ok("foo..."));
        assert_eq!(cut(9, true, 5).as_deref(), Ok("foo ba..."));
        assert_eq!(cut(11, false, 5).as_deref(), Ok("foo bar baz qux"));
        assert_eq!(cut(11, false, 0).as_deref(), Ok("foo bar..."));
        assert_eq!(cut(2, false, 0), PyError::value_error("expected length >= 3, got 2"));
    }

    #[test]
    fn lines_are_indented() {
        let text = "a\n\nb\r\n";
        assert_eq!(indent(text, "  ", false, false, 99).as_deref(), Ok("a\n\n  b\n"));
        assert_eq!(indent(text, "> ", true, true, 99).as_deref(), Ok("> a\n> \n> b\n> "));
        assert_eq!(indent("a\nb\nc", &"x".repeat(40), false, false, 80), Err(PyError::TooLarge));
    }

    #[test]
    fn sizes_and_words_are_counted() {
        assert_eq!(title("foo-bar (baz's) ß[x ÀB"), "Foo-Bar (Baz's) SS[X Àb");
        assert_eq!(word_count("it's 3 o'clock_now, é!"), 6);
        let cases = [
            (1.0, "1 Byte"),
            (999.9, "999 Bytes"),
            (1e3, "1.0 kB"),
            (1.5e6, "1.5 MB"),
            (1e30, "1000000.0 YB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(file_size(bytes, false).as_deref(), Ok(text));
        }
        assert_eq!(file_size(1536.0, true).as_deref(), Ok("1.5 KiB"));
    }
}
