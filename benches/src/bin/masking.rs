//! Times masking on texts of 1 MB, ordinary and hostile: `make bench-masking`.

use std::hint::black_box;

use ai_prompt_benches::megabytes::{millis, numbered, shown};
use ai_prompt_benches::{Outcome, rounds};
use base::masking::{Masker, mask};

/// The length of a piece of a stream, in bytes.
const PIECE: usize = 4096;

/// What ordinary texts consist of, repeated with a number that changes.
const ORDINARY: [(&str, &str); 3] = [
    (
        "log",
        "2026-01-02T03:04:05.678Z INFO server::http: request finished method=GET path=/api/items/# status=200 \
         duration_ms=12 request_id=3f2504e0-4f89-11d3-9a0c-0305e82c3301 peer=10.0.0.1:#\n",
    ),
    (
        "JSON",
        "{\"id\": #, \"name\": \"item #\", \"key\": \"value\", \"author\": {\"email\": \"a@b.example\", \"tokens\": 12}, \
         \"url\": \"https://example.com/#\", \"password\": \"hunter2\", \"tags\": [\"a\", \"b\"], \"sum\": 1.5}\n",
    ),
    (
        "source code",
        "    /// The token after # others.\n    fn next(&mut self, key: &str) -> Option<Token> {\n        let token = \
         self.tokens.get(self.at + #)?;\n        self.at += 1;\n        assert_eq!(token.kind, Kind::Key);\n    }\n",
    ),
];

/// What hostile texts consist of.
const HOSTILE: [&str; 35] = [
    "a=",
    "=",
    ":",
    "key",
    "key=",
    "key:",
    "key ",
    "token=",
    "token: ",
    "password",
    "password=,",
    "api_key: true\n",
    "auth.",
    "eyJ",
    "eyJ-",
    "-eyJaaaaaaaa",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "sk-",
    "sk-a ",
    "\"",
    "\\",
    "\\\"",
    "password\\\\\\\\",
    "://a:",
    "[masked]",
    "password ",
    "\"password\", ",
    "authorization: bearer ",
    "password: a, ",
    "token: String, ",
    "--token x ",
    ",a password=",
    "name: key value: ",
    "aaaaaaaaaaaaaaaa!",
];

fn main() -> Outcome {
    let rounds = rounds("masking", 15)?;
    println!("milliseconds for 1 MB, medians of {rounds} rounds (lowest..highest); pieces have 4 KiB");
    println!("{:32} {:>21} {:>21}", "", "whole", "pieces");
    for (name, part) in ORDINARY {
        print(name, &numbered(part), rounds);
    }
    for part in HOSTILE {
        print(&format!("{part:?}"), &numbered(part), rounds);
    }
    Ok(())
}

fn print(name: &str, text: &str, rounds: usize) {
    let whole = millis(rounds, || drop(black_box(mask(text))));
    let pieces = millis(rounds, || in_pieces(text));
    println!("{name:32} {:>21} {:>21}", shown(&whole), shown(&pieces));
}

fn in_pieces(text: &str) {
    let mut masker = Masker::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(PIECE.min(rest.len()));
        black_box(masker.push(piece));
        rest = after;
    }
    black_box(masker.finish());
}
