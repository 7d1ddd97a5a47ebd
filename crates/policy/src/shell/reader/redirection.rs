//! Redirections and here-documents.

use super::super::EXPANSION;
use super::super::word::Word;
use super::{HereDocument, Purpose, Reader};

impl Reader {
    pub(super) fn redirection(&mut self, letter: char) {
        if self.skip('(') {
            self.substitution(false);
            return self.word.push(EXPANSION);
        }
        let is_number =
            self.word.text().chars().all(|letter| letter.is_ascii_digit()) && !self.word.is_quoted;
        if self.word.begun && is_number {
            self.word = Word::default();
        }
        self.end_word();
        self.purpose = match letter {
            '>' => {
                let _ = self.skip('>') || self.skip('|') || self.skip('&');
                let _ = self.skip('!');
                Purpose::Output
            }
            _ if self.skip('<') => match self.skip('<') {
                true => Purpose::Input,
                false => Purpose::HereDocument { tabs: self.skip('-') },
            },
            _ if self.skip('>') => Purpose::Output,
            _ => {
                let _ = self.skip('&');
                Purpose::Input
            }
        };
    }

    pub(super) fn ampersand(&mut self) {
        let _ = self.skip('&');
        self.end_command();
        // `&>` writes to a file in bash; in other shells it is `&`, and what follows the file is a command.
        if self.skip('>') {
            let _ = self.skip('>');
            self.purpose = Purpose::Output;
        }
    }

    pub(super) fn here_document(&mut self, document: &HereDocument) {
        let mut body = String::new();
        while self.at < self.text.len() {
            let line: String = self.text.iter().skip(self.at).take_while(|letter| **letter != '\n').collect();
            self.at += line.chars().count() + 1;
            let bare = if document.tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if bare == document.end {
                break;
            }
            body.push_str(&line);
            body.push('\n');
        }
        if document.expands {
            self.expanded(&body);
        }
    }
}
