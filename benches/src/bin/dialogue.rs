//! Times reading answers of models and cleaning outputs of commands, on texts of 1 MB, ordinary and hostile: `make bench-dialogue`.

use std::hint::black_box;

use ai_prompt_benches::megabytes::{millis, numbered, shown};
use ai_prompt_benches::{Outcome, rounds};
use dialogue::{Answer, Cleaning, Duplicates, UnknownFormat, clean, read};

/// What outputs consist of, repeated; `#` is a number that changes.
const OUTPUTS: [(&str, &str); 24] = [
    (
        "log",
        "2026-01-02T03:04:05.678Z INFO request finished method=GET path=/api/items/# status=200 duration_ms=12\n",
    ),
    ("short lines, all distinct", "#\n"),
    ("equal lines", "nothing to do\n"),
    ("colours", "\u{1b}[1;32m   Compiling\u{1b}[0m crate-# v1.0.# \u{1b}[90m(registry)\u{1b}[0m\r\n"),
    ("progress bar", "\r[=======>         ] # of many files\u{1b}[K"),
    ("progress bars", "\r 10%\r 50%\r100% of #\n"),
    ("overstrikes", "N\u{8}NA\u{8}AM\u{8}ME\u{8}E #\n"),
    ("prompts", "me@box:~/src/#$ ls #\nC:\\Users\\me\\#>dir\n"),
    ("other scripts", "строка # из многих, 漢字\n"),
    ("ESC", "\u{1b}"),
    ("ESC [", "\u{1b}["),
    ("ESC ]", "\u{1b}]"),
    ("8-bit", "\u{9b}"),
    ("CR", "\r"),
    ("a CR", "a\r"),
    ("BS", "a\u{8}"),
    ("erased lines", "x\u{1b}[2K"),
    ("gaps", "\u{1b}[99C"),
    ("[", "["),
    ("a@", "a@"),
    ("prompts on a line", "a@b:~$ "),
    ("(c)", "(c) "),
    ("no line ends", "x"),
    ("line ends", "\n"),
];

/// What answers consist of, repeated.
const ANSWERS: [(&str, &str); 22] = [
    ("words", "some words of an answer that goes on # "),
    ("lines", "a line of an answer, number #\n"),
    ("[", "["),
    ("`", "`"),
    ("```", "```\n"),
    ("<", "<"),
    ("<think>", "<think>"),
    ("</think>", "</think>"),
    ("thoughts", "<think>\n[CMD] #\n</think>\n"),
    ("quoted marks", "'<think>"),
    ("[CMD]", "[CMD]\n"),
    ("lines that go on", "ls \\\n"),
    (">", "> "),
    (">, line by line", "> [x\n"),
    ("**", "**`"),
    ("here-documents", "cat <<E#\n"),
    ("ended here-documents", "cat <<E#\nx\nE#\n"),
    ("here-documents on a line", "<<A "),
    ("$(", "$("),
    ("quotation marks", "\"\n"),
    ("backslashes", "\\"),
    ("no-break spaces", "\u{a0}"),
];

/// What stands before the parts of answers.
const STARTS: [&str; 3] = ["", "> **[CMD]** ", "[CMD]\n```bash\n"];

fn main() -> Outcome {
    let rounds = rounds("dialogue", 15)?;
    println!("milliseconds for 1 MB, medians of {rounds} rounds (lowest..highest)");
    println!("\n{:32} {:>21}", "outputs", "");
    for (name, part) in OUTPUTS {
        let text = numbered(part);
        let cleaning = Cleaning { duplicates: Duplicates::All, chars: 8000 };
        let times = millis(rounds, || drop(black_box(clean(&text, "ls -la", cleaning))));
        println!("{name:32} {:>21}", shown(&times));
    }
    println!("\n{:32} {:>21} {:>21} {:>21}", "answers", "no tag", "[CMD]", "[CMD] and a block");
    ANSWERS.iter().for_each(|(name, part)| print_answers(name, &numbered(part), rounds));
    Ok(())
}

fn print_answers(name: &str, text: &str, rounds: usize) {
    let times = STARTS.map(|start| {
        let text = format!("{start}{text}");
        let answer = Answer { text: &text, is_cut: false };
        shown(&millis(rounds, || drop(black_box(read(answer, UnknownFormat::Command)))))
    });
    println!("{name:32} {:>21} {:>21} {:>21}", times[0], times[1], times[2]);
}
