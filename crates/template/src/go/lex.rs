//! The lexer: splits the source of a template into tokens.

use memchr::{memchr, memchr_iter};

use super::token::{Token, TokenKind, Word};
use super::unicode::{is_print, is_word};

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// The lexer's state.
pub(super) struct Lexer<'s> {
    input: &'s str,
    pos: usize,
    start: usize,
    /// The line of `start`, from 1.
    line: usize,
    inside: bool,
    parens: usize,
    /// Whether `break` and `continue` are keywords, which they are unless a function has that name.
    pub(super) break_is_word: bool,
    pub(super) continue_is_word: bool,
    /// The message for a token of kind [`TokenKind::Error`].
    pub(super) error: String,
}

/// The position of the next left delimiter.
fn find_left(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = text.as_bytes().get(from..)?;
        let at = memchr(b'{', rest)?;
        match rest.get(at + 1) {
            Some(b'{') => return Some(from + at),
            _ => from += at + 1,
        }
    }
}

fn is_space(c: char) -> bool {
    SPACES.contains(&c)
}

fn has_left_trim(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('-') && chars.next().is_some_and(is_space)
}

fn has_right_trim(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_space) && chars.next() == Some('-')
}

/// A character as Go's `%#U` prints it.
fn unicode_name(c: char) -> String {
    let shown = if is_print(c) { format!(" '{c}'") } else { String::new() };
    format!("U+{:04X}{shown}", c as u32)
}

impl<'s> Lexer<'s> {
    pub(super) fn new(input: &'s str) -> Lexer<'s> {
        Lexer {
            input,
            pos: 0,
            start: 0,
            line: 1,
            inside: false,
            parens: 0,
            break_is_word: true,
            continue_is_word: true,
            error: String::new(),
        }
    }

    /// The next token; after an error or the end, it is always the end.
    pub(super) fn next_token(&mut self) -> Token<'s> {
        if self.inside { self.action() } else { self.text() }
    }

    fn rest(&self) -> &'s str {
        self.input.get(self.pos..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn accept(&mut self, valid: &str) -> bool {
        let accepted = self.peek().is_some_and(|c| valid.contains(c));
        if accepted {
            self.bump();
        }
        accepted
    }

    fn accept_run(&mut self, valid: &str) {
        while self.accept(valid) {}
    }

    fn emit(&mut self, kind: TokenKind) -> Token<'s> {
        let text = self.input.get(self.start..self.pos).unwrap_or("");
        let token = Token { kind, pos: self.start as u32, text, line: self.line };
        match kind {
            TokenKind::Text | TokenKind::Space | TokenKind::RawString => self.ignore(),
            _ => self.start = self.pos,
        }
        token
    }

    fn ignore(&mut self) {
        let skipped = self.input.as_bytes().get(self.start..self.pos).unwrap_or_default();
        self.line += memchr_iter(b'\n', skipped).count();
        self.start = self.pos;
    }

    fn fail(&mut self, message: String) -> Token<'s> {
        self.error = message;
        let token = Token { kind: TokenKind::Error, pos: self.start as u32, text: "", line: self.line };
        self.input = "";
        (self.pos, self.start, self.inside) = (0, 0, false);
        token
    }

    fn text(&mut self) -> Token<'s> {
        loop {
            let Some(before) = find_left(self.rest()) else {
                self.pos = self.input.len();
                let kind = if self.pos > self.start { TokenKind::Text } else { TokenKind::End };
                return self.emit(kind);
            };
            let text = self.rest().get(..before).unwrap_or("");
            let after = self.rest().get(before + LEFT.len()..).unwrap_or("");
            let trimmed = if has_left_trim(after) { text.trim_end_matches(SPACES) } else { text };
            self.pos += trimmed.len();
            let token = (!trimmed.is_empty()).then(|| self.emit(TokenKind::Text));
            self.pos += text.len() - trimmed.len();
            self.ignore();
            if let Some(token) = token {
                return token;
            }
            if let Some(token) = self.left_delim() {
                return token;
            }
        }
    }

    /// Reads a left delimiter; `None` if it opened a comment, which is skipped.
    fn left_delim(&mut self) -> Option<Token<'s>> {
        self.pos += LEFT.len();
        let marker = if has_left_trim(self.rest()) { 2 } else { 0 };
        if self.rest().get(marker..).is_some_and(|rest| rest.starts_with("/*")) {
            self.pos += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.emit(TokenKind::LeftDelim);
        self.inside = true;
        self.parens = 0;
        self.pos += marker;
        self.ignore();
        Some(token)
    }

    fn comment(&mut self) -> Option<Token<'s>> {
        self.pos += 2;
        let Some(end) = self.rest().find("*/") else { return Some(self.fail("unclosed comment".into())) };
        self.pos += end + 2;
        let Some(trim) = self.at_right_delim() else {
            return Some(self.fail("comment ends before closing delimiter".into()));
        };
        self.pass_right_delim(trim);
        self.ignore();
        None
    }

    /// Whether a right delimiter is next, and whether it trims.
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_trim(rest) && rest.get(2..).is_some_and(|rest| rest.starts_with(RIGHT)) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn pass_right_delim(&mut self, trim: bool) {
        self.pos += RIGHT.len();
        if trim {
            self.pos += 2;
            self.pos += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
        }
    }

    fn right_delim(&mut self, trim: bool) -> Token<'s> {
        if trim {
            self.pos += 2;
            self.ignore();
        }
        self.pos += RIGHT.len();
        let token = self.emit(TokenKind::RightDelim);
        if trim {
            self.pos += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
            self.ignore();
        }
        self.inside = false;
        token
    }

    fn action(&mut self) -> Token<'s> {
        if let Some(trim) = self.at_right_delim() {
            return match self.parens {
                0 => self.right_delim(trim),
                _ => self.fail("unclosed left paren".into()),
            };
        }
        let Some(c) = self.peek() else { return self.fail("unclosed action".into()) };
        if is_space(c) {
            return self.space();
        }
        self.bump();
        match c {
            '=' => self.emit(TokenKind::Assign),
            ':' if self.accept("=") => self.emit(TokenKind::Declare),
            ':' => self.fail("expected :=".into()),
            '|' => self.emit(TokenKind::Pipe),
            '"' => self.quoted('"', TokenKind::Str, "unterminated quoted string"),
            '\'' => self.quoted('\'', TokenKind::CharConstant, "unterminated character constant"),
            '`' => self.raw_string(),
            '$' => self.field_or_variable(TokenKind::Variable),
            '.' if !self.peek().is_none_or(|next| next.is_ascii_digit()) => {
                self.field_or_variable(TokenKind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => self.number(c),
            '(' => {
                self.parens += 1;
                self.emit(TokenKind::LeftParen)
            }
            ')' => self.right_paren(),
            c if is_word(c) => self.identifier(),
            c if c.is_ascii() && is_print(c) => self.emit(TokenKind::Char),
            c => self.fail(format!("unrecognized character in action: {}", unicode_name(c))),
        }
    }

    fn right_paren(&mut self) -> Token<'s> {
        match self.parens.checked_sub(1) {
            Some(parens) => {
                self.parens = parens;
                self.emit(TokenKind::RightParen)
            }
            None => self.fail("unexpected right paren".into()),
        }
    }

    /// Reads spaces, except for the one that belongs to a trimming delimiter.
    fn space(&mut self) -> Token<'s> {
        let run = self.rest().len() - self.rest().trim_start_matches(is_space).len();
        self.pos += run - 1;
        match self.at_right_delim() {
            Some(true) if run == 1 => self.right_delim(true),
            Some(true) => self.emit(TokenKind::Space),
            _ => {
                self.pos += 1;
                self.emit(TokenKind::Space)
            }
        }
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(c) => is_space(c) || self.rest().starts_with(RIGHT),
        }
    }

    fn pass_word(&mut self) {
        let rest = self.rest().bytes();
        self.pos += rest.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        while self.peek().is_some_and(is_word) {
            self.bump();
        }
    }

    fn bad_character(&mut self) -> Token<'s> {
        let c = self.peek().unwrap_or('\u{fffd}');
        self.fail(format!("bad character {}", unicode_name(c)))
    }

    fn identifier(&mut self) -> Token<'s> {
        self.pass_word();
        if !self.at_terminator() {
            return self.bad_character();
        }
        let kind = match self.input.get(self.start..self.pos).unwrap_or("") {
            "block" => TokenKind::Word(Word::Block),
            "break" if self.break_is_word => TokenKind::Word(Word::Break),
            "continue" if self.continue_is_word => TokenKind::Word(Word::Continue),
            "define" => TokenKind::Word(Word::Define),
            "else" => TokenKind::Word(Word::Else),
            "end" => TokenKind::Word(Word::End),
            "if" => TokenKind::Word(Word::If),
            "range" => TokenKind::Word(Word::Range),
            "template" => TokenKind::Word(Word::Template),
            "with" => TokenKind::Word(Word::With),
            "nil" => TokenKind::Nil,
            "true" | "false" => TokenKind::Bool,
            _ => TokenKind::Identifier,
        };
        self.emit(kind)
    }

    /// Reads a field or a variable, after its `.` or `$`.
    fn field_or_variable(&mut self, kind: TokenKind) -> Token<'s> {
        if self.at_terminator() {
            return self.emit(if kind == TokenKind::Variable { kind } else { TokenKind::Dot });
        }
        self.pass_word();
        if !self.at_terminator() {
            return self.bad_character();
        }
        self.emit(kind)
    }

    /// Reads a quoted literal after its opening quote; the parser checks its contents.
    fn quoted(&mut self, quote: char, kind: TokenKind, unterminated: &str) -> Token<'s> {
        loop {
            match self.bump() {
                Some(c) if c == quote => return self.emit(kind),
                Some('\\') if self.peek().is_some_and(|c| c != '\n') => {
                    self.bump();
                }
                None | Some('\\' | '\n') => return self.fail(unterminated.into()),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Token<'s> {
        match self.rest().find('`') {
            Some(length) => {
                self.pos += length + 1;
                self.emit(TokenKind::RawString)
            }
            None => self.fail("unterminated raw quoted string".into()),
        }
    }

    /// Reads a number whose first character, `first`, was read already; it may be a complex sum of two.
    fn number(&mut self, first: char) -> Token<'s> {
        self.pos -= first.len_utf8();
        let mut kind = TokenKind::Number;
        let mut good = self.scan_number();
        if good && matches!(self.peek(), Some('+' | '-')) {
            kind = TokenKind::Complex;
            good = self.scan_number() && self.input.get(..self.pos).is_some_and(|read| read.ends_with('i'));
        }
        if good {
            return self.emit(kind);
        }
        let text = self.input.get(self.start..self.pos).unwrap_or("");
        self.fail(format!("bad number syntax: {}", super::quote::quoted(text)))
    }

    /// Reads characters that may form a number; the parser refuses what is not one.
    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits.len() {
            11 => "eE",
            23 => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run("0123456789_");
        }
        self.accept("i");
        match self.peek() {
            Some(c) if is_word(c) => {
                self.bump();
                false
            }
            _ => true,
        }
    }
}
