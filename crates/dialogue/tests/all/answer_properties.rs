//! What holds for any answer.

use dialogue::{Answer, AnswerError, Directive, UnknownFormat, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What answers consist of, and what confuses readers.
const PIECES: [&str; 62] = [
    "[CMD]",
    "[ASK]",
    "[ASK:optional]",
    "[ASK: required]",
    "[MESSAGE]",
    "[DONE]",
    "[ cmd ]",
    "[",
    "]",
    " ",
    "\n",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\r\n",
    "\u{a0}",
    "\u{feff}",
    "\u{200b}",
    "**",
    "*",
    "__",
    "_",
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "```bash",
    "> ",
    "- ",
    "1. ",
    "### ",
    ":",
    "<think>",
    "</think>",
    "<THINKING>",
    "</thinking>",
    "<thi",
    "nk>",
    "'",
    "\"",
    "\\",
    "$ ",
    "ls -la",
    "echo",
    "<<EOF",
    "<<-'EOF'",
    "<< \"A B\"",
    "<<<",
    "EOF",
    "A B",
    "$(",
    ")",
    "((",
    "#",
    "rm -rf x",
    "bash",
    "text",
    "é漢🎉",
    "|",
    "(",
];

fn answers() -> impl Strategy<Value = String> {
    vec(select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// Reads an answer, and holds it against the properties of all answers.
fn check(text: &str) {
    for unknown in [UnknownFormat::Command, UnknownFormat::Error] {
        let Ok(directive) = read(Answer { text, is_cut: false }, unknown) else { continue };
        let kept = directive.content();
        let again = read(Answer { text: kept, is_cut: false }, UnknownFormat::Error);
        assert_eq!(again.as_ref(), Ok(&directive), "read again: {kept:?}");
        if let Directive::Command { command, .. } = &directive {
            assert!(!command.trim().is_empty());
            assert_eq!(read(Answer { text, is_cut: true }, unknown), Err(AnswerError::Cut));
            assert_contiguous(text, command);
        }
    }
}

/// Asserts that each line of a command is part of a line of the answer, in lines that follow each other.
fn assert_contiguous(text: &str, command: &str) {
    let spaced = |text: &str| text.replace('\r', "");
    let (text, command) = (spaced(text), spaced(command));
    let (lines, parts): (Vec<&str>, Vec<&str>) = (text.split('\n').collect(), command.split('\n').collect());
    let holds = |lines: &[&str]| lines.iter().zip(&parts).all(|(line, part)| line.contains(part));
    let is_part = lines.windows(parts.len()).any(holds);
    assert!(
        is_part || text.contains("think") || text.contains("THINK"),
        "{command:?} is no part of {text:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn what_the_history_keeps_reads_the_same_and_a_command_is_part_of_the_answer(text in answers()) {
        check(&text);
    }

    #[test]
    fn any_text_can_be_read(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn nothing_of_a_thought_is_executed(before in "[a-z \n]{0,20}", thought in answers(), after in "[a-z \n]{0,20}") {
        let thought = thought.replace(['<', '>'], "");
        let text = format!("{before}\n<think>secret {thought} secret</think>\n[CMD] ls {after}");
        let directive = read(Answer { text: &text, is_cut: false }, UnknownFormat::Error).unwrap();
        prop_assert!(!directive.content().contains("secret"));
        let Directive::Command { command, .. } = directive else { panic!("another directive") };
        prop_assert!(command.starts_with("ls"));
    }
}

/// Texts that make careless readers slow: those of a megabyte would take them hours.
#[test]
fn hostile_answers_of_a_megabyte_are_read() {
    let parts = [
        "[",
        "]",
        "`",
        "```",
        "```\n",
        "~~~\n",
        "<think>",
        "</think>",
        "<think>\n[CMD] x\n",
        "'<think>",
        "[CMD]\n",
        "[CMD] ls \\\n",
        "> ",
        ">\n",
        "**",
        "**`",
        "- ",
        "1. ",
        "#",
        "cat <<A\n",
        "cat <<A <<B <<-C\n",
        "<<",
        "$(",
        "((",
        "(\n",
        "\"\n",
        "\\\n",
        "\\",
        "\r",
        "\u{200b}",
        "[ASK] a\n",
        "**[CMD]**\n",
    ];
    for (start, part) in ["", "[CMD] ", "[CMD]\n```bash\n", "> **[CMD]** ", "```\n"]
        .into_iter()
        .flat_map(|start| parts.map(|part| (start, part)))
    {
        let length = if start.is_empty() { 1_000_000 } else { 200_000 };
        let text = format!("{start}{}", part.repeat(length / part.len()));
        let _ = read(Answer { text: &text, is_cut: false }, UnknownFormat::Command);
    }
    let many: String = (0..60_000).map(|number| format!("cat <<E{number}\n")).collect();
    let _ = read(Answer { text: &format!("[CMD]\n```\n{many}```"), is_cut: false }, UnknownFormat::Command);
}
