//! What the lexer cuts a source into.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The rest of the source cannot be read; the lexer has the message.
    Error,
    Bool,
    /// A printable character without a special meaning, such as a comma.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    End,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    Str,
    Text,
    Variable,
    Dot,
    Nil,
    Word(Word),
}

/// The keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

/// A token: a part of the source and the line it starts on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind,
    pub(super) pos: u32,
    pub(super) text: &'s str,
    pub(super) line: usize,
}
