//! The secrets of the settings, struck out of whatever is told of a server's own words.

/// Words that are shorter than this are no secrets, but schemes such as `Bearer`.
const SECRET_BYTES: usize = 8;

/// Texts that no answer, log or error may show.
#[derive(Debug, Default)]
pub struct Secrets {
    /// The longest first, so that none is left of a secret that contains another.
    words: Vec<String>,
}

impl Secrets {
    /// The words of these texts, plainly and as JSON writes them.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Secrets {
        let words = texts.flat_map(str::split_whitespace).filter(|word| word.len() >= SECRET_BYTES);
        let mut words: Vec<String> =
            words.flat_map(|word| [word.to_owned(), escaped(word), slashed(word)]).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Secrets { words }
    }

    /// The text without them.
    pub fn strike(&self, text: String) -> String {
        self.words.iter().fold(text, |text, word| match text.contains(word) {
            true => text.replace(word, "…"),
            false => text,
        })
    }
}

fn escaped(word: &str) -> String {
    serde_json::Value::from(word).to_string().trim_matches('"').to_owned()
}

/// As those write it who escape the slash, too.
fn slashed(word: &str) -> String {
    escaped(word).replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_struck_out_in_every_form_and_schemes_are_not() {
        let secrets = Secrets::new(["Bearer ab/cd\"efgh", "longer-ab/cd\"efgh-one"].into_iter());
        let told = r#"Bearer ab/cd"efgh, {"a": "ab\/cd\"efgh", "b": "ab/cd\"efgh"}, longer-ab/cd"efgh-one!"#;
        let struck = r#"Bearer …, {"a": "…", "b": "…"}, …!"#;
        assert_eq!(secrets.strike(told.to_owned()), struck);
    }
}
