//! Template text before the engine may see it: its size, its shape, and places in it.

use minijinja::machinery::{Token, ast, parse, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::error;
use crate::{CompileError, Position};

/// How many operators, fields, calls and filters may be strung together in one expression, nested
/// brackets included. The engine's parser, compiler and destructors recurse once for each.
const LONGEST_CHAIN: usize = 300;
/// How deep brackets may be nested. The engine's parser needs about 20 KiB of stack for each in a
/// build without optimization, where a thread may have 2 MiB.
const DEEPEST_BRACKETS: usize = 32;
/// The same, where brackets have been put around the operators of a text.
const DEEPEST_GUARDED: usize = 48;
/// How many `elif` branches may be open at once, as they recurse, too.
const MOST_ELIFS: usize = 100;

/// Parses the text of an author.
///
/// # Errors
/// If it is not Jinja, or nests too deep to be parsed safely.
pub(super) fn parse_checked<'a>(name: &'a str, text: &'a str) -> Result<ast::Stmt<'a>, CompileError> {
    check_shape(name, text, DEEPEST_BRACKETS)?;
    parse(text, name, SyntaxConfig::default()).map_err(|error| error::syntax(name, text, &error))
}

/// Sees that a text that [`guard`](super::guard) has rewritten can be parsed safely.
///
/// # Errors
/// If it nests too deep.
pub(super) fn check_guarded(name: &str, text: &str) -> Result<(), CompileError> {
    check_shape(name, text, DEEPEST_GUARDED)
}

/// Refuses text that would lead the engine's recursion too deep.
fn check_shape(name: &str, text: &str, brackets: usize) -> Result<(), CompileError> {
    let mut shape = Shape::default();
    let mut after_block_start = false;
    // An error of the lexer ends the walk; the parser comes to the same place and reports it.
    for (token, span) in tokenize(text, false, SyntaxConfig::default()).map_while(Result::ok) {
        shape.see(&token, after_block_start);
        after_block_start = matches!(token, Token::BlockStart);
        if shape.depth > LONGEST_CHAIN || shape.elifs > MOST_ELIFS || shape.outer.len() > brackets {
            let message =
                "the expression or the chain of branches is too long or too deep; split it up".to_owned();
            return Err(CompileError::Invalid {
                message,
                position: Some(position(name, text, span.start_offset as usize)),
            });
        }
    }
    Ok(())
}

/// One level of brackets.
#[derive(Default, Clone, Copy)]
struct Level {
    operators: usize,
    postfixes: usize,
    longest_postfix: usize,
}

impl Level {
    fn depth(self) -> usize {
        self.operators + self.longest_postfix
    }
}

/// An upper bound for how deep the syntax tree is at a token.
#[derive(Default)]
struct Shape {
    outer: Vec<Level>,
    level: Level,
    depth: usize,
    ifs: Vec<usize>,
    elifs: usize,
}

impl Shape {
    fn see(&mut self, token: &Token<'_>, after_block_start: bool) {
        let before = self.level.depth();
        match token {
            Token::VariableStart | Token::BlockStart => {
                *self = Shape { ifs: std::mem::take(&mut self.ifs), elifs: self.elifs, ..Shape::default() };
                return;
            }
            Token::TemplateData(_) | Token::VariableEnd | Token::BlockEnd => return,
            Token::Ident(word) if after_block_start => return self.branch(word),
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => return self.open(),
            Token::ParenClose | Token::BracketClose | Token::BraceClose => return self.close(),
            Token::Comma => self.level = Level::default(),
            Token::Dot | Token::Pipe | Token::Ident("is") => self.postfix(),
            Token::Ident("and" | "or" | "not" | "if" | "else" | "in") => self.operator(),
            Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_) => {}
            _ => self.operator(),
        }
        self.depth = (self.depth + self.level.depth()).saturating_sub(before);
    }

    fn operator(&mut self) {
        self.level.operators += 1;
        self.level.postfixes = 0;
    }

    fn postfix(&mut self) {
        self.level.postfixes += 1;
        self.level.longest_postfix = self.level.longest_postfix.max(self.level.postfixes);
    }

    fn open(&mut self) {
        let before = self.level.depth();
        self.postfix();
        self.depth += self.level.depth() - before;
        self.outer.push(std::mem::take(&mut self.level));
    }

    fn close(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.depth = self.depth.saturating_sub(self.level.depth());
            self.level = outer;
        }
    }

    fn branch(&mut self, word: &str) {
        match word {
            "if" => self.ifs.push(0),
            "elif" => {
                if let Some(elifs) = self.ifs.last_mut() {
                    *elifs += 1;
                    self.elifs += 1;
                }
            }
            "endif" => self.elifs -= self.ifs.pop().unwrap_or(0),
            _ => {}
        }
    }
}

/// The place at a byte offset of a text.
pub(super) fn position(template: &str, text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position {
        template: template.to_owned(),
        line: before.matches('\n').count() + 1,
        column: Some(before.get(line_start..).unwrap_or_default().chars().count() + 1),
    }
}
