//! What holds for any output.

use dialogue::{Cleaning, Duplicates, clean};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const PIECES: [&str; 40] = [
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}[31m",
    "\u{1b}[K",
    "\u{1b}[2K",
    "\u{1b}[1G",
    "\u{1b}[5C",
    "\u{1b}[3D",
    "\u{1b}]0;",
    "\u{7}",
    "\u{9b}",
    "\u{9d}",
    "\u{9c}",
    "\u{90}",
    "\u{8}",
    "\r",
    "\r\n",
    "\n",
    "\n",
    "\t",
    " ",
    "\0",
    "me@box:~$ ",
    "[me@box x]# ",
    "C:\\x>",
    "PS C:\\> ",
    "Microsoft Windows [",
    "(c) Microsoft",
    "ls",
    "text",
    "a",
    "é漢🎉",
    "\u{a0}",
    "\u{feff}",
    "@",
    ":",
    ">",
    "$",
    "[",
    "999999999",
];

fn outputs() -> impl Strategy<Value = String> {
    vec(select(&PIECES[..]), 0..60).prop_map(|pieces| pieces.concat())
}

/// The lines of a cleaned output without the note of a cut.
fn own_lines(cleaned: &str) -> impl Iterator<Item = &str> {
    cleaned.lines().filter(|line| !line.contains("characters cut …]"))
}

fn check(output: &str, duplicates: Duplicates, chars: usize) {
    let cleaned = clean(output, "ls", Cleaning { duplicates, chars });
    assert!(!cleaned.is_empty());
    assert!(!cleaned.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "{cleaned:?}");
    assert!(cleaned.lines().all(|line| !line.trim().is_empty()), "a blank line: {cleaned:?}");
    assert!(cleaned == cleaned.trim_end(), "white space at the end: {cleaned:?}");
    let own: usize = own_lines(&cleaned).map(|line| line.chars().count()).sum();
    assert!(own <= chars || cleaned == "(no output)", "{own} characters instead of {chars}: {cleaned:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn a_cleaned_output_has_no_controls_no_blank_lines_and_a_bounded_length(output in outputs(), chars in 0_usize..200) {
        for duplicates in [Duplicates::All, Duplicates::Consecutive, Duplicates::None] {
            check(&output, duplicates, chars);
        }
    }

    #[test]
    fn any_text_can_be_cleaned(output in "(?s).{0,200}") {
        check(&output, Duplicates::All, 8000);
    }

    #[test]
    fn ordinary_lines_stay_as_they_are(lines in vec("[ ]{0,4}[a-z0-9=:/.]{1,20}", 1..20)) {
        let text = lines.join("\n");
        let cleaning = Cleaning { duplicates: Duplicates::None, chars: 8000 };
        prop_assert_eq!(clean(&text, "another command", cleaning), text);
    }

    #[test]
    fn what_is_cut_and_what_is_kept_are_all_there_was(lines in vec("[a-z]{1,20}", 1..60), chars in 0_usize..300) {
        let text = lines.join("\n");
        let cleaned = clean(&text, "", Cleaning { duplicates: Duplicates::None, chars });
        let Some((head, rest)) = cleaned.split_once("[… ") else { return Ok(()) };
        let (gone, tail) = rest.split_once(" characters cut …]").unwrap();
        let (head, tail) = (head.trim_end(), tail.trim_start());
        prop_assert!(text.starts_with(head) && text.ends_with(tail));
        prop_assert_eq!(head.len() + gone.parse::<usize>().unwrap() + tail.len(), text.len());
        prop_assert!(head.len() + tail.len() <= chars);
    }
}

/// Texts of a megabyte that make careless cleaners slow, or their results long.
#[test]
fn hostile_outputs_of_a_megabyte_are_cleaned() {
    let parts = [
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]",
        "\u{9b}",
        "\r",
        "\r\n",
        "\n",
        "\u{8}",
        "a\u{8}",
        "a\r",
        "abc\r\u{1b}[K",
        "x\u{1b}[2K",
        "\u{1b}[999999999C",
        "\u{1b}[99Cx",
        "a@",
        "a@b:",
        "a@b:~$ ",
        "[a@b ",
        "C:\\",
        "PS ",
        "(a) ",
        "(c)",
        "[",
        "a@b:~ $",
        "\0",
        "\t",
        "1\n2\n",
        "\u{1b}[1G",
    ];
    for part in parts {
        let text = part.repeat(1_000_000 / part.len());
        let cleaned = clean(&text, &text, Cleaning { duplicates: Duplicates::All, chars: 8000 });
        assert!(cleaned.chars().count() <= 8100, "{part:?}");
    }
}
