//! Expansions: variables, substitutions, arithmetic, escapes.

use super::super::{EXPANSION, QUOTED};
use super::{MOST_DEPTH, Reader};

impl Reader {
    /// What comes after `$`.
    pub(super) fn dollar(&mut self, in_quotes: bool) {
        let expansion = if in_quotes { QUOTED } else { EXPANSION };
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                self.substitution(true);
                self.word.push(expansion);
            }
            Some('{') => {
                self.at += 1;
                let inner = self.until_closed('{', '}', !in_quotes);
                self.expanded(&inner);
                // All values of an array are several words, in quotes, too.
                self.word.push(if inner.contains(['@', '*']) { EXPANSION } else { expansion });
            }
            Some('@' | '*') => {
                self.at += 1;
                self.word.push(EXPANSION);
            }
            Some('[') => {
                self.at += 1;
                let inner = self.until_closed('[', ']', true);
                self.expanded(&inner);
                self.word.push(expansion);
            }
            Some('\'') if !in_quotes => {
                self.at += 1;
                self.escapes();
            }
            Some('"') if !in_quotes => {}
            Some(letter) if letter.is_alphanumeric() || "_@*#?$!-".contains(letter) => {
                self.at += 1;
                if letter.is_alphabetic() || letter == '_' {
                    while self.peek(0).is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
                        self.at += 1;
                    }
                }
                self.word.push(expansion);
            }
            _ => self.word.push('$'),
        }
    }

    /// What comes after `$(`, `<(` or `>(`: code, or, after `$`, arithmetic.
    pub(super) fn substitution(&mut self, may_be_arithmetic: bool) {
        let inner = self.until_closed('(', ')', true);
        let is_arithmetic = may_be_arithmetic && inner.starts_with('(') && closes_at_end(&inner);
        if is_arithmetic { self.expanded(&inner) } else { self.script.nested.push(inner) }
    }

    /// The substitutions in a text in which nothing else counts.
    pub(super) fn expanded(&mut self, text: &str) {
        if self.depth >= MOST_DEPTH {
            self.script.is_unclear = true;
            return;
        }
        let mut inner = Reader { text: text.chars().collect(), depth: self.depth + 1, ..Reader::default() };
        while let Some(letter) = inner.take() {
            match letter {
                '\\' => drop(inner.take()),
                '$' => inner.dollar(true),
                '`' => inner.backticks(EXPANSION),
                _ => {}
            }
        }
        self.script.nested.append(&mut inner.script.nested);
        self.script.is_unclear |= inner.script.is_unclear;
    }

    /// The text up to the character that closes what is open; quotes hide those that do not count. Within double quotes, single ones
    /// are ordinary characters.
    pub(super) fn until_closed(&mut self, open: char, close: char, has_single_quotes: bool) -> String {
        let (mut inner, mut depth) = (String::new(), 1usize);
        while let Some(letter) = self.take() {
            match letter {
                '\\' => {
                    inner.push(letter);
                    inner.extend(self.take());
                    continue;
                }
                '\'' if !has_single_quotes => {}
                '\'' | '"' | '`' => {
                    inner.push(letter);
                    self.copy_quoted(letter, &mut inner);
                    continue;
                }
                _ if letter == open => depth += 1,
                _ if letter == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return inner;
            }
            inner.push(letter);
        }
        self.script.is_unclear = true;
        inner
    }

    pub(super) fn copy_quoted(&mut self, quote: char, inner: &mut String) {
        while let Some(letter) = self.take() {
            inner.push(letter);
            if letter == quote {
                return;
            }
            if letter == '\\' && quote != '\'' {
                inner.extend(self.take());
            }
        }
    }

    /// `$'…'`: escapes as in C.
    pub(super) fn escapes(&mut self) {
        self.word.quote();
        while let Some(letter) = self.take().filter(|letter| *letter != '\'') {
            if letter != '\\' {
                self.word.push(letter);
                continue;
            }
            let code = match self.take() {
                Some('x') => self.number(16, 2),
                Some('u') => self.number(16, 4),
                Some('U') => self.number(16, 8),
                Some(digit @ '0'..='7') => {
                    self.at -= 1;
                    let _ = digit;
                    self.number(8, 3)
                }
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                other => other,
            };
            self.word.push(code.unwrap_or(EXPANSION));
        }
    }

    pub(super) fn number(&mut self, base: u32, most: usize) -> Option<char> {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|letter| letter.to_digit(base)) else { break };
            self.at += 1;
            value = value * base + digit;
        }
        char::from_u32(value)
    }

    pub(super) fn backticks(&mut self, expansion: char) {
        let mut inner = String::new();
        while let Some(letter) = self.take().filter(|letter| *letter != '`') {
            match letter {
                '\\' if matches!(self.peek(0), Some('`' | '\\' | '$')) => inner.extend(self.take()),
                other => inner.push(other),
            }
        }
        self.script.nested.push(inner);
        self.word.push(expansion);
    }

    /// `((…))`, or two subshells that begin at once.
    pub(super) fn arithmetic(&mut self) {
        let start = self.at;
        self.tried += 1;
        let inner = self.until_closed('(', ')', true);
        if self.skip(')') {
            return self.expanded(&inner);
        }
        // So many of them are no code that anybody writes; to try each would take long.
        self.script.is_unclear |= self.tried > MOST_DEPTH;
        if self.script.is_unclear {
            return;
        }
        self.at = start;
        self.end_command();
        self.open += 2;
    }
}

/// Whether the parenthesis that opens a text is closed by its last character.
fn closes_at_end(text: &str) -> bool {
    let mut reader = Reader { text: text.chars().collect(), at: 1, ..Reader::default() };
    reader.until_closed('(', ')', true);
    reader.at == reader.text.len() && text.ends_with(')')
}
