//! The methods of `str` that widen a text.

use super::PyError;
use super::out::{Bounded, fits};
use super::text::len;

/// The fill character that a method was given as a text.
pub fn fill_char(text: &str) -> Result<char, PyError> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(c),
        _ => PyError::type_error("The fill character must be exactly one character long"),
    }
}

/// `str.ljust`
pub fn ljust(text: &str, width: i64, fill: char, room: usize) -> Result<String, PyError> {
    pad(text, fill, (0, missing(text, width)), room)
}

/// `str.rjust`
pub fn rjust(text: &str, width: i64, fill: char, room: usize) -> Result<String, PyError> {
    pad(text, fill, (missing(text, width), 0), room)
}

/// `str.center`; of an odd number of fill characters one more stands at the right, but at the left if the width is odd.
pub fn center(text: &str, width: i64, fill: char, room: usize) -> Result<String, PyError> {
    let missing = missing(text, width);
    let left = missing / 2 + usize::from(missing % 2 == 1 && width % 2 == 1);
    pad(text, fill, (left, missing - left), room)
}

/// `str.zfill`: zeros after a sign.
pub fn zfill(text: &str, width: i64, room: usize) -> Result<String, PyError> {
    let missing = missing(text, width);
    fits(text.len().saturating_add(missing), room)?;
    let digits = if missing == 0 { text } else { text.strip_prefix(['+', '-']).unwrap_or(text) };
    let sign = text.get(..text.len() - digits.len()).unwrap_or_default();
    Ok([sign, &"0".repeat(missing), digits].concat())
}

/// How many characters the text lacks.
fn missing(text: &str, width: i64) -> usize {
    usize::try_from(width).unwrap_or(0).saturating_sub(len(text))
}

fn pad(text: &str, fill: char, (left, right): (usize, usize), room: usize) -> Result<String, PyError> {
    let mut out = Bounded::new(room);
    fits(text.len(), room)?;
    out.fill(fill, left)?;
    out.push_str(text)?;
    out.fill(fill, right)?;
    Ok(out.finish())
}

/// `str.expandtabs`
pub fn expand_tabs(text: &str, tab_size: i64, room: usize) -> Result<String, PyError> {
    let size = usize::try_from(tab_size).unwrap_or(0);
    let mut out = Bounded::new(room);
    let mut column = 0;
    for c in text.chars() {
        if c != '\t' {
            column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
            out.push(c)?;
        } else if size > 0 {
            let spaces = size - column % size;
            out.fill(' ', spaces)?;
            column += spaces;
        }
    }
    Ok(out.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_widened() {
        assert_eq!(center("ab", 5, '*', 99).as_deref(), Ok("**ab*"));
        assert_eq!(center("abc", 6, 'é', 99).as_deref(), Ok("éabcéé"));
        assert_eq!(ljust("世", 3, '.', 99).as_deref(), Ok("世.."));
        assert_eq!(rjust("abc", -3, '.', 99).as_deref(), Ok("abc"));
        assert_eq!((zfill("-5", 4, 9).as_deref(), zfill("+", 2, 9).as_deref()), (Ok("-005"), Ok("+0")));
        assert_eq!(expand_tabs("a\tb\n\tc", 4, 99).as_deref(), Ok("a   b\n    c"));
        assert!(fill_char("").is_err() && fill_char("é") == Ok('é'));
    }

    #[test]
    fn widths_beyond_the_room_are_refused_before_they_are_built() {
        assert_eq!(center("a", i64::MAX, '😀', 1000), Err(PyError::TooLarge));
        assert_eq!(zfill("a", i64::MAX, 1000), Err(PyError::TooLarge));
        assert_eq!(expand_tabs("\t\t", i64::MAX, 1000), Err(PyError::TooLarge));
    }
}
