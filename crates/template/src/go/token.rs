//! What the lexer cuts a source into.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The source cannot be read on; the lexer keeps the message.
    Error,
    Bool,
    /// A printable character without a meaning of its own, such as a comma.
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

/// The words that control what a template does.
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
    pub(super) kind: Kind,
    pub(super) pos: u32,
    pub(super) text: &'s str,
    pub(super) line: usize,
}
