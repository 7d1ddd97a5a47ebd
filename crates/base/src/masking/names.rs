//! Which names name secrets: a name is split into words, and some words are known.

use super::words::{
    DESCRIBING, FILES, MEDIUM, MEDIUM_WORDS, PLAIN_KEYS, PLAIN_TOKENS, SECRET_KEYS, STRONG, STRONG_WORDS,
};

/// How surely a name names a secret; the surer, the less its value has to look like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// `key`, `token_type`: only what is random.
    Weak,
    /// `JSESSIONID`: what is random, or hexadecimal.
    Session,
    /// `api_key`, `token`: all but numbers, types, code, and words in prose.
    Medium,
    /// `password`, `secret`: all but types and code.
    Strong,
}

/// What is usual for a word, and for those beside it.
pub(super) fn strength(name: &[u8], assigned: bool) -> Option<Strength> {
    let (mut found, mut before): (Option<Strength>, &[u8]) = (None, b"");
    for word in words(name) {
        let own = of_word(word, before, assigned || !name.iter().any(u8::is_ascii_lowercase));
        found = match found {
            Some(_) if own.is_none() && (is_one_of(word, DESCRIBING) || is_one_of(word, FILES)) => {
                Some(Strength::Weak)
            }
            _ => found.max(own),
        };
        before = word;
    }
    found
}

/// Whether a name ends with the word `authorization`, before whose value a scheme may stand.
pub(super) fn is_authorization(name: &[u8]) -> bool {
    words(name).last().is_some_and(|word| word.eq_ignore_ascii_case(b"authorization"))
}

fn of_word(word: &[u8], before: &[u8], assigned: bool) -> Option<Strength> {
    let plain_token = || is_one_of(before, PLAIN_TOKENS);
    if word.eq_ignore_ascii_case(b"key") {
        Some(of_key(before, assigned))
    } else if ends_with_one_of(word, STRONG) || is_one_of(word, STRONG_WORDS) {
        Some(Strength::Strong)
    } else if word.eq_ignore_ascii_case(b"token") && plain_token() {
        Some(Strength::Weak)
    } else if ends_with_one_of(word, MEDIUM) || is_one_of(word, MEDIUM_WORDS) || is_pass(word, before) {
        Some(Strength::Medium)
    } else if ends_with_one_of(word, &["sessid", "sessionid"]) {
        Some(Strength::Session)
    } else {
        is_one_of(word, &["keys", "tokens"]).then_some(Strength::Weak)
    }
}

/// `DB_PASS`; alone the word says that a test has passed.
fn is_pass(word: &[u8], before: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"pass") && !before.is_empty()
}

/// How surely a key is a secret, by the word before; `assigned` if it stands before `=` or is written in capitals.
fn of_key(before: &[u8], assigned: bool) -> Strength {
    let secret =
        is_one_of(before, SECRET_KEYS) || assigned && !before.is_empty() && !is_one_of(before, PLAIN_KEYS);
    if secret { Strength::Medium } else { Strength::Weak }
}

/// The words of a name: in snake case, in kebab case, with dots, in camel case. Digits separate words, too.
fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let runs = name.split(move |byte| !letter(byte)).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let mut rest = run;
        std::iter::from_fn(move || {
            let (word, after) = rest.split_at(camel(rest));
            rest = after;
            (!word.is_empty()).then_some(word)
        })
    })
}

/// Where the first word of a run of letters ends: `api|Key`, `API|Key`.
fn camel(run: &[u8]) -> usize {
    let upper = |at: usize| run.get(at).is_some_and(u8::is_ascii_uppercase);
    let lower = |at: usize| run.get(at).is_some_and(u8::is_ascii_lowercase);
    let ends = |at: usize| upper(at) && (!upper(at - 1) || lower(at + 1));
    (1..run.len()).find(|at| ends(*at)).unwrap_or(run.len())
}

/// Whether a text is one of some words, in any case.
pub(super) fn is_one_of(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

fn ends_with_one_of(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        let end = text.len().checked_sub(word.len()).and_then(|at| text.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}
