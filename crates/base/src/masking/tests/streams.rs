//! Texts in pieces, texts masked twice, and hostile texts.

use proptest::prelude::*;

use super::expand;
use crate::masking::{Masker, mask};

/// The most that may be held back, in bytes.
const HELD: usize = 2048;

/// Parts of texts that mean something to the rules.
const PARTS: &[&str] = &[
    "password",
    "token",
    "API_KEY",
    "key",
    "secret",
    "auth",
    "Authorization",
    "max_tokens",
    "keys",
    "login",
    "value",
    "--",
    "=",
    " = ",
    ": ",
    ":",
    "==",
    "\"",
    "\\\"",
    "'",
    "\\",
    "\\n",
    "\n",
    "\r\n",
    " ",
    "  ",
    ",",
    ", ",
    ";",
    "&",
    ")",
    "]",
    "}",
    "{",
    "[",
    "<",
    ">",
    "|",
    "|\n  ",
    ".",
    "-",
    "_",
    "/",
    "@",
    "#",
    " #",
    "$",
    "${",
    "://",
    "https://user:",
    "Bearer ",
    "Basic ",
    "eyJ",
    "sk-",
    "ghp_",
    "AKIA",
    "AKIAIOSFODNN7EXAMPLE",
    "SG.",
    "xoxb-",
    "hooks.slack.com/services/",
    "123456789:AA",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "PRIVATE KEY-----",
    "-----END",
    "[masked]",
    "[masked: JWT]",
    "[masked",
    "hunter2",
    "abc",
    "true",
    "String",
    "str",
    "foo(",
    "os.environ[",
    "12",
    "123456",
    "é",
    "密码",
    "n",
    "{8}",
    "{16}",
    "{20}",
    "{36}",
    "{600}",
    "curl -u a:",
    "machine x login y password z",
    "name: ",
    "export ",
    "*",
    "=>",
    "?",
    "!",
];

fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![9 => prop::sample::select(PARTS).prop_map(str::to_owned), 1 => ".{0,4}"];
    prop::collection::vec(part, 0..24).prop_map(|parts| expand(&parts.concat()))
}

/// Masks a text in pieces of the sizes that are given, in turns.
fn in_pieces(text: &str, sizes: &[usize]) -> String {
    let mut masker = Masker::new();
    let (mut shown, mut rest, mut sizes) = (String::new(), text, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = rest.ceil_char_boundary(*sizes.next().unwrap());
        let (piece, after) = rest.split_at(size);
        shown += &masker.push(piece);
        assert!(masker.held() <= HELD, "{} bytes are held back", masker.held());
        rest = after;
    }
    shown + &masker.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn pieces_are_masked_as_the_whole(text in texts(), sizes in prop::collection::vec(1_usize..40, 1..8)) {
        prop_assert_eq!(in_pieces(&text, &sizes), mask(&text));
    }

    #[test]
    fn masking_twice_is_masking_once(text in texts()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str(), "of {:?}", text);
    }

    #[test]
    fn a_secret_does_not_show_whatever_is_around_it(before in texts(), after in texts()) {
        let secret = expand("ghp_{36}");
        let masked = mask(&format!("{before} {secret} {after}")).into_owned();
        let own = before.contains("{16}") || before.contains(&secret) || after.contains(&secret);
        prop_assert!(own || !masked.contains(&secret), "{}", masked);
    }
}

#[test]
fn nothing_of_an_ordinary_text_is_held_back() {
    let mut masker = Masker::new();
    assert_eq!(masker.push("All is well, "), "All is well, ");
    assert_eq!(masker.push("my ghp"), "my ");
    assert_eq!(masker.push("ost."), "ghpost.");
    assert_eq!(masker.finish(), "");
}

#[test]
fn a_secret_of_any_length_is_masked_and_not_kept() {
    let secrets = ["password=\"", "password=", "ghp_", "eyJ", "https://user:", "Bearer "]
        .map(|start| format!("{start}{{200000}}"));
    for secret in secrets {
        let text = expand(&format!("{secret} \n"));
        let masked = in_pieces(&text, &[1000]);
        assert!(masked.len() < 60, "{}", &masked[..60]);
        assert_eq!(masked, mask(&text));
    }
    let pem = expand(&format!("-----BEGIN PRIVATE KEY-----\n{}", "{64}\n".repeat(3000)));
    assert_eq!(in_pieces(&pem, &[777]), "[masked: private key]");
}

#[test]
fn hostile_texts_are_masked_in_pieces_as_the_whole() {
    let parts = [
        "a=",
        "eyJ",
        "eyJ-",
        "eyJaaaaaaaa.",
        "-----BEGIN",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "\"",
        "\\",
        "\\\"",
        "key",
        "key=",
        "key:",
        "token=",
        "token: ",
        "password",
        "password\\\\",
        "password=,",
        "password: a,b",
        "://",
        "://a:",
        "://a:1@",
        "[masked",
        "[masked]",
        "token key ",
        "api_key\n",
        "--password ",
        "=",
        ":",
        " ",
        "auth.",
    ];
    for part in parts {
        let text = part.repeat(60_000 / part.len());
        assert_eq!(in_pieces(&text, &[4096]), mask(&text), "{part}");
    }
}
