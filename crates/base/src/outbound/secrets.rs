//! Redaction: removes the secrets of the settings from what other servers say.

/// Words of fewer bytes than this are not secrets, but authentication schemes such as `Bearer`.
const SECRET_BYTES: usize = 8;

/// The secrets that no answer, log or error may contain.
#[derive(Debug, Default)]
pub struct Secrets {
    /// The longest first, so that a secret that contains another is removed as a whole.
    words: Vec<String>,
}

impl Secrets {
    /// The words of these texts (header values, environment variables), both as they are and as JSON escapes them.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Secrets {
        let words = texts.flat_map(str::split_whitespace).filter(|word| word.len() >= SECRET_BYTES);
        let mut words: Vec<String> =
            words.flat_map(|word| [word.to_owned(), escaped(word), slashed(word)]).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Secrets { words }
    }

    /// Replaces every secret in `text` by `…`.
    pub fn redact(&self, text: String) -> String {
        self.words.iter().fold(text, |text, word| match text.contains(word) {
            true => text.replace(word, "…"),
            false => text,
        })
    }
}

fn escaped(word: &str) -> String {
    serde_json::Value::from(word).to_string().trim_matches('"').to_owned()
}

/// The word as JSON writers spell it that escape the slash too.
fn slashed(word: &str) -> String {
    escaped(word).replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted_in_every_form_and_schemes_are_not() {
        let secrets = Secrets::new(["Bearer ab/cd\"efgh", "longer-ab/cd\"efgh-one"].into_iter());
        let text = r#"Bearer ab/cd"efgh, {"a": "ab\/cd\"efgh", "b": "ab/cd\"efgh"}, longer-ab/cd"efgh-one!"#;
        let redacted = r#"Bearer …, {"a": "…", "b": "…"}, …!"#;
        assert_eq!(secrets.redact(text.to_owned()), redacted);
    }
}
