//! Token look-ahead and error positions of the parser, and what both of its halves share.

use std::collections::HashMap;

use super::ast::{ROOT, Variable, VariableId};
use super::error::ParseError;
use super::fmt::sprintf;
use super::lex::Lexer;
use super::parse_options::{ParseOptions, UnknownFunctions};
use super::quote::quoted;
use super::token::{Token, TokenKind};
use super::val::Val;

/// The parser's state for one template; a definition inside a text has its own.
pub(super) struct Scope<'s> {
    tokens: [Token<'s>; 3],
    peeked: usize,
    pub(super) variables: Vec<VariableId>,
    /// The line on which the current action began, or 0.
    pub(super) action_line: usize,
    pub(super) ranges: usize,
    pub(super) parens: usize,
}

impl<'s> Scope<'s> {
    pub(super) fn new() -> Scope<'s> {
        let none = Token { kind: TokenKind::End, pos: 0, text: "", line: 0 };
        let tokens = [none; 3];
        Scope { tokens, peeked: 0, variables: vec![ROOT], action_line: 0, ranges: 0, parens: 0 }
    }
}

/// The parser of one source.
pub(super) struct Parser<'s> {
    pub(super) name: &'s str,
    pub(super) lexer: Lexer<'s>,
    pub(super) scopes: Vec<Scope<'s>>,
    pub(super) scope: Scope<'s>,
    pub(super) options: &'s ParseOptions<'s>,
    /// The numbers of all variable names in the source.
    variables: HashMap<&'s str, VariableId>,
}

impl<'s> Parser<'s> {
    pub(super) fn new(name: &'s str, text: &'s str, options: &'s ParseOptions<'s>) -> Parser<'s> {
        let mut lexer = Lexer::new(text);
        lexer.break_is_word = !(options.functions)("break");
        lexer.continue_is_word = !(options.functions)("continue");
        let variables = HashMap::from([("$", ROOT)]);
        Parser { name, lexer, scopes: Vec::new(), scope: Scope::new(), options, variables }
    }

    /// The variable named by the token.
    pub(super) fn variable_of(&mut self, token: Token<'s>) -> Variable {
        let next = self.variables.len() as VariableId;
        let id = *self.variables.entry(token.text).or_insert(next);
        Variable { name: token.text.into(), id }
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        match self.scope.peeked {
            0 => self.scope.tokens[0] = self.lexer.next_token(),
            _ => self.scope.peeked -= 1,
        }
        self.current(self.scope.peeked)
    }

    fn current(&self, at: usize) -> Token<'s> {
        self.scope.tokens.get(at).copied().unwrap_or(self.scope.tokens[0])
    }

    /// Puts the last token back.
    pub(super) fn back_up(&mut self) {
        self.scope.peeked = (self.scope.peeked + 1).min(3);
    }

    /// Puts two tokens back: `first`, and the last one.
    pub(super) fn back_up_two(&mut self, first: Token<'s>) {
        self.scope.tokens[1] = first;
        self.scope.peeked = 2;
    }

    /// Puts three tokens back: `first`, `second`, and the last one.
    pub(super) fn back_up_three(&mut self, first: Token<'s>, second: Token<'s>) {
        self.scope.tokens[1] = second;
        self.scope.tokens[2] = first;
        self.scope.peeked = 3;
    }

    pub(super) fn peek(&mut self) -> Token<'s> {
        match self.scope.peeked.checked_sub(1) {
            Some(at) => self.current(at),
            None => {
                self.scope.peeked = 1;
                self.scope.tokens[0] = self.lexer.next_token();
                self.scope.tokens[0]
            }
        }
    }

    pub(super) fn next_non_space(&mut self) -> Token<'s> {
        loop {
            let token = self.next();
            if token.kind != TokenKind::Space {
                return token;
            }
        }
    }

    pub(super) fn peek_non_space(&mut self) -> Token<'s> {
        let token = self.next_non_space();
        self.back_up();
        token
    }

    pub(super) fn expect(&mut self, kind: TokenKind, context: &str) -> Result<Token<'s>, ParseError> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, context)) }
    }

    /// The error for a token that is not allowed here.
    pub(super) fn unexpected(&self, token: Token<'s>, context: &str) -> ParseError {
        if token.kind != TokenKind::Error {
            return self.error("unexpected %s in %s", &[&self.show(token), context]);
        }
        let start = self.scope.action_line;
        let mut extra = String::new();
        if start != 0 && start != token.line {
            let word = if self.lexer.error.ends_with(" action") { "" } else { " in action" };
            extra = format!("{word} started at {}:{start}", self.name);
        }
        self.error("%s%s", &[&self.lexer.error, &extra])
    }

    fn show(&self, token: Token<'s>) -> String {
        match token.kind {
            TokenKind::End => "EOF".into(),
            TokenKind::Dot | TokenKind::Nil | TokenKind::Word(_) => format!("<{}>", token.text),
            _ if token.text.len() > 10 => {
                let start: String = token.text.chars().take(10).collect();
                format!("{}...", quoted(&start))
            }
            _ => quoted(token.text),
        }
    }

    /// An error at the line of the last token; the name of the text is, as in Go, part of the format.
    pub(super) fn error(&self, format: &str, args: &[&str]) -> ParseError {
        let args: Vec<Val<'_>> = args.iter().map(|arg| Val::text(arg)).collect();
        self.error_with(format, &args)
    }

    /// As above, with arguments of any type.
    pub(super) fn error_with(&self, format: &str, args: &[Val<'_>]) -> ParseError {
        let line = self.scope.tokens[0].line;
        let message = sprintf(&format!("template: {}:{line}: {format}", self.name), args);
        ParseError { message, name: self.name.into(), line }
    }

    /// Whether a function of this name may be called here; this may depend on what follows the name.
    pub(super) fn accepts_function(&mut self, name: &str) -> bool {
        if (self.options.functions)(name) || super::builtins::Builtin::named(name).is_some() {
            return true;
        }
        match self.options.unknown {
            UnknownFunctions::Reject => false,
            UnknownFunctions::Accept => true,
            UnknownFunctions::AcceptWithArgument => self.argument_follows(),
        }
    }

    /// Whether a space and a literal, a `.field` or a `$variable` follow.
    fn argument_follows(&mut self) -> bool {
        let space = self.next();
        if space.kind != TokenKind::Space {
            self.back_up();
            return false;
        }
        let token = self.next();
        self.back_up_two(space);
        let literal = [
            TokenKind::Bool,
            TokenKind::CharConstant,
            TokenKind::Complex,
            TokenKind::Number,
            TokenKind::RawString,
            TokenKind::Str,
        ];
        literal.contains(&token.kind) || matches!(token.kind, TokenKind::Field | TokenKind::Variable)
    }
}
