//! The methods of `str` that change or test the case of a text.

use super::chars::{
    is_case_ignorable, is_cased, is_lower, is_title, is_upper, push_fold, push_lower, push_title, push_upper,
};

/// `str.upper`
pub fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { map(text, push_upper) }
}

/// `str.lower`, where a sigma at the end of a word becomes `ς`.
pub fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        lower_in(&mut out, text, at, c);
    }
    out
}

/// `str.casefold`
pub fn casefold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { map(text, push_fold) }
}

/// `str.capitalize`: the first character in title case, the rest in lower case.
pub fn capitalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if at == 0 { push_title(&mut out, c) } else { lower_in(&mut out, text, at, c) }
    }
    out
}

/// `str.title`: every letter that follows no letter in title case, the rest in lower case.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for (at, c) in text.char_indices() {
        if inside {
            lower_in(&mut out, text, at, c)
        } else {
            push_title(&mut out, c)
        }
        inside = is_cased(c);
    }
    out
}

/// `str.swapcase`
pub fn swapcase(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if is_upper(c) {
            lower_in(&mut out, text, at, c);
        } else if is_lower(c) {
            push_upper(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// `str.islower`
pub fn is_lower_text(text: &str) -> bool {
    text.chars().any(is_lower) && !text.chars().any(|c| is_upper(c) || is_title(c))
}

/// `str.isupper`
pub fn is_upper_text(text: &str) -> bool {
    text.chars().any(is_upper) && !text.chars().any(|c| is_lower(c) || is_title(c))
}

/// `str.istitle`
pub fn is_title_text(text: &str) -> bool {
    let mut inside = false;
    let mut any = false;
    for c in text.chars() {
        let begins = is_upper(c) || is_title(c);
        let continues = !begins && is_lower(c);
        if begins && inside || continues && !inside {
            return false;
        }
        inside = begins || continues;
        any |= inside;
    }
    any
}

fn map(text: &str, push: fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        push(&mut out, c);
    }
    out
}

/// The lower case of `c`, which stands at byte `at` of `text`.
fn lower_in(out: &mut String, text: &str, at: usize, c: char) {
    if c == 'Σ' {
        out.push(if is_final(text, at) { 'ς' } else { 'σ' });
    } else {
        push_lower(out, c);
    }
}

/// Whether the sigma at byte `at` has a cased character before it and none after it.
fn is_final(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + 'Σ'.len_utf8()..).unwrap_or_default();
    before.chars().rev().find(|&c| !is_case_ignorable(c)).is_some_and(is_cased)
        && !after.chars().find(|&c| !is_case_ignorable(c)).is_some_and(is_cased)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_changed_as_python_changes_it() {
        assert_eq!(upper("straße ﬁ"), "STRASSE FI");
        assert_eq!(lower("ΑΣ ΣΑΣ. Σ İ"), "ας σας. σ i̇");
        assert_eq!(casefold("Straße ΑΣ"), "strasse ασ");
        assert_eq!(capitalize("ǆABC déF"), "ǅabc déf");
        assert_eq!(title("they're bill's, 3D ǆ ΑΣ"), "They'Re Bill'S, 3D ǅ Ας");
        assert_eq!(swapcase("Straße ΑΣ"), "sTRASSE ας");
    }

    #[test]
    fn case_is_tested_as_python_tests_it() {
        assert!(is_lower_text("a1é") && !is_lower_text("aB") && !is_lower_text("12") && !is_lower_text("aǅ"));
        assert!(is_upper_text("A1É") && !is_upper_text("Ab") && !is_upper_text(""));
        assert!(
            is_title_text("Ab Cd1Ef") && !is_title_text("AB") && !is_title_text("a") && !is_title_text("1")
        );
    }
}
