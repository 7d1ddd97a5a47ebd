//! Characters that are not what they seem: those that are not seen, that turn the direction of the text, or that look like a dash.

use super::Judge;
use crate::command::Command;
use crate::decision::{Level, Rule};

/// Dashes that are not the one that begins options.
const DASHES: &[char] = &[
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}', '\u{2043}',
    '\u{2796}', '\u{FE58}', '\u{FE63}', '\u{FF0D}',
];

impl Judge<'_> {
    /// Looks at every character of a command.
    pub(super) fn letters(&mut self, command: &Command) {
        let words = || std::iter::once(&command.program).chain(&command.args).chain(&command.cwd);
        if let Some(letter) = words().flat_map(|word| word.chars()).find(|letter| is_unseen(*letter)) {
            let message = format!("there is an invisible or control character: U+{:04X}", u32::from(letter));
            self.add(Rule::ControlCharacters, Level::L1, message);
        }
        for word in words().filter(|word| looks_like_another(word)) {
            let message = format!("{word:?} has characters that only look like others");
            self.add(Rule::LookAlike, Level::L1, message);
        }
    }
}

/// Whether a word has a dash that begins no option, letters of two alphabets side by side, or signs that look like those of paths.
fn looks_like_another(word: &str) -> bool {
    let begins = word.starts_with(DASHES) && word.chars().nth(1).is_some();
    let is_mixed =
        |run: &str| run.contains(|letter: char| letter.is_ascii_alphabetic()) && run.contains(is_foreign);
    begins
        || word.contains(is_like_a_sign)
        || word.split(|letter: char| !letter.is_alphabetic()).any(is_mixed)
}

/// Full-width signs, and others that look like a dot or a slash.
fn is_like_a_sign(letter: char) -> bool {
    matches!(letter, '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF5E}' | '\u{2024}' | '\u{2044}' | '\u{2215}' | '\u{29F8}' | '\u{FE52}')
}

/// Letters of alphabets that share shapes with Latin letters.
fn is_foreign(letter: char) -> bool {
    matches!(letter,
        '\u{370}'..='\u{58F}' | '\u{13A0}'..='\u{13FF}' | '\u{1F00}'..='\u{1FFF}' | '\u{2C80}'..='\u{2CFF}' | '\u{A640}'..='\u{A69F}'
        | '\u{1D400}'..='\u{1D7FF}')
}

/// Whether a character is not seen, or turns the direction of the text; tabs and ends of lines are ordinary text.
pub fn is_unseen(letter: char) -> bool {
    let is_control = letter.is_control() && letter != '\n' && letter != '\t';
    is_control
        || matches!(letter,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{E000}'..='\u{F8FF}' | '\u{E0000}'..='\u{10FFFF}')
}
