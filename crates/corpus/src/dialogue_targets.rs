//! Properties of the dialogue that hold for any text: what the history keeps of an answer reads as the same directive, a command is part of
//! the answer, and a cleaned output is bounded text.

use dialogue::{Answer, AnswerError, Cleaning, Directive, Duplicates, UnknownFormat, clean, read};

/// The longest note about what was cut, in characters.
const NOTE: usize = 60;

/// Reads a text as an answer, and cleans it as an output; the first byte chooses the settings.
pub fn dialogue(bytes: &[u8]) {
    let (flags, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    answer(&text, if flags & 1 == 0 { UnknownFormat::Command } else { UnknownFormat::Error });
    output(&text, *flags);
}

fn answer(text: &str, unknown: UnknownFormat) {
    let Ok(directive) = read(Answer { text, is_cut: false }, unknown) else { return };
    let again = read(Answer { text: directive.content(), is_cut: false }, UnknownFormat::Error);
    assert_eq!(again.as_ref(), Ok(&directive), "what the history keeps reads as another directive");
    if let Directive::Command { command, .. } = &directive {
        assert!(!command.is_empty(), "an empty command");
        assert_eq!(read(Answer { text, is_cut: true }, unknown), Err(AnswerError::Cut), "a cut command");
        assert!(is_part(text, command), "{command:?} is no part of the answer");
    }
}

/// Whether each line of a command is part of a line of the answer, in lines that follow each other; unless thoughts divide them.
fn is_part(text: &str, command: &str) -> bool {
    let lines: Vec<&str> = text.split('\n').collect();
    let parts: Vec<&str> = command.split('\n').collect();
    let holds = |lines: &[&str]| lines.iter().zip(&parts).all(|(line, part)| line.contains(part));
    text.to_ascii_lowercase().contains("think") || lines.windows(parts.len()).any(holds)
}

fn output(text: &str, flags: u8) {
    let duplicates = match flags & 6 {
        0 => Duplicates::All,
        2 => Duplicates::Consecutive,
        _ => Duplicates::None,
    };
    let (chars, command) = (usize::from(flags >> 3) * 8, text.lines().next().unwrap_or_default());
    let cleaned = clean(text, command, Cleaning { duplicates, chars });
    assert!(!cleaned.is_empty(), "nothing at all");
    assert!(cleaned.chars().count() <= chars + NOTE, "more than may be kept");
    assert!(cleaned.lines().all(|line| !line.trim().is_empty()), "a blank line");
    assert!(!cleaned.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')), "a control character");
}
