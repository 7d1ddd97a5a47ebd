//! Whether a model's answer in words means that a message is relevant.

/// Whether the first word of a text is one of those that mean yes; those that mean no come first. `None` if it is neither.
pub fn first_word(text: &str, yes: &[String], no: &[String]) -> Option<bool> {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty())?.to_lowercase();
    let is_in = |list: &[String]| list.iter().any(|word| word.to_lowercase() == first);
    if is_in(no) { Some(false) } else { is_in(yes).then_some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_counts_in_any_case_and_without_punctuation() {
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (yes, no) = (words(&["да", "Yes"]), words(&["нет", "no"]));
        for (text, expected) in [
            ("Да, конечно", Some(true)),
            ("  «ДА».", Some(true)),
            ("**yes**", Some(true)),
            ("Нет, но да", Some(false)),
            ("No!", Some(false)),
            ("Дай подумать", None),
            ("пожалуй, да", None),
            ("", None),
            ("...", None),
        ] {
            assert_eq!(first_word(text, &yes, &no), expected, "{text:?}");
        }
    }
}
