//! Redaction: removes secrets, those of the settings and those that come at run time, from what other servers say.

use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock};

/// Words of fewer bytes than this are not secrets, but authentication schemes such as `Bearer`.
const SECRET_BYTES: usize = 8;

/// How many secrets that came at run time are known at once, such as tokens: the newest ones.
const LEARNED: usize = 8;

/// The secrets that no answer, log or error may contain.
#[derive(Default)]
pub struct Secrets {
    /// The longest first, so that a secret that contains another is removed as a whole.
    words: Vec<String>,
    /// Those that came at run time, each with its words; the newest last.
    learned: RwLock<VecDeque<(String, Vec<String>)>>,
}

impl Secrets {
    /// The words of these texts (header values, environment variables), both as they are and as JSON escapes them.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Secrets {
        Secrets { words: words(texts), learned: RwLock::default() }
    }

    /// Adds a secret that has come at run time. The newest eight are known.
    pub fn learn(&self, secret: &str) {
        let is_known = |(known, _): &(String, _)| known == secret;
        if self.learned.read().unwrap_or_else(PoisonError::into_inner).iter().any(is_known) {
            return;
        }
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if !learned.iter().any(is_known) {
            learned.push_back((secret.to_owned(), words(std::iter::once(secret))));
        }
        if learned.len() > LEARNED {
            learned.pop_front();
        }
    }

    /// Replaces every secret in `text` by `…`.
    pub fn redact(&self, text: String) -> String {
        let text = without(text, &self.words);
        let learned = self.learned.read().unwrap_or_else(PoisonError::into_inner);
        learned.iter().fold(text, |text, (_, words)| without(text, words))
    }
}

/// Shows none of them.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// The words of texts that are secrets, as they are and as JSON escapes them.
fn words<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let words = texts.flat_map(str::split_whitespace).filter(|word| word.len() >= SECRET_BYTES);
    let mut words: Vec<String> =
        words.flat_map(|word| [word.to_owned(), escaped(word), slashed(word)]).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.dedup();
    words
}

fn without(text: String, words: &[String]) -> String {
    words.iter().fold(text, |text, word| match text.contains(word) {
        true => text.replace(word, "…"),
        false => text,
    })
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

    #[test]
    fn secrets_that_come_at_run_time_are_redacted_the_newest_of_them() {
        let secrets = Secrets::new(["written-key"].into_iter());
        for number in 0..=LEARNED {
            secrets.learn(&format!("token-number-{number}"));
            secrets.learn(&format!("token-number-{number}"));
        }
        let text = "written-key, token-number-0, token-number-1, token-number-8".to_owned();
        assert_eq!(secrets.redact(text), "…, token-number-0, …, …");
        assert!(!format!("{secrets:?}").contains("number"));
    }
}
