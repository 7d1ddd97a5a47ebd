//! Parses what stands between the delimiters: pipelines, commands and operands, without recursion.

use super::ast::{Command, Expr, Pipe};
use super::builtins::Builtin;
use super::error::ParseError;
use super::number::Number;
use super::parse::Parser;
use super::quote::unquote;
use super::token::{Token, TokenKind};

/// A pipeline that is being read, with its current command.
struct OpenPipe {
    pipe: Pipe,
    context: &'static str,
    end: TokenKind,
    command: Option<Command>,
}

/// The name of the context in messages about pipelines in parentheses.
const INNER: &str = "parenthesized pipeline";

/// A token in the place of an operand.
enum Term {
    Operand(Expr),
    Paren,
    Nothing,
}

impl<'s> Parser<'s> {
    /// Reads a pipeline up to the right delimiter.
    pub(super) fn pipeline(&mut self, context: &'static str) -> Result<Pipe, ParseError> {
        let mut outer: Vec<OpenPipe> = Vec::new();
        let mut open = self.open_pipeline(context, TokenKind::RightDelim)?;
        loop {
            if open.command.is_none() && self.at_pipeline_end(&mut open)? {
                let Some(parent) = outer.pop() else { return Ok(open.pipe) };
                self.scope.parens -= 1;
                let inner = Expr::Pipe(Box::new(collapse(open.pipe)));
                open = parent;
                self.take_operand(&mut open, inner)?;
                continue;
            }
            self.peek_non_space();
            match self.term()? {
                Term::Operand(operand) => self.take_operand(&mut open, operand)?,
                Term::Nothing => self.after_operand(&mut open)?,
                Term::Paren => {
                    if self.scope.parens >= self.options.max_parens {
                        return Err(self.error("max expression depth exceeded", &[]));
                    }
                    self.scope.parens += 1;
                    let inner = self.open_pipeline(INNER, TokenKind::RightParen)?;
                    outer.push(std::mem::replace(&mut open, inner));
                }
            }
        }
    }

    fn open_pipeline(&mut self, context: &'static str, end: TokenKind) -> Result<OpenPipe, ParseError> {
        let mut pipe = Pipe { pos: self.peek_non_space().pos, ..Pipe::default() };
        while self.declaration(&mut pipe, context)? {}
        Ok(OpenPipe { pipe, context, end, command: None })
    }

    /// Reads a variable that the pipeline declares or assigns to; true if another one may follow.
    fn declaration(&mut self, pipe: &mut Pipe, context: &'static str) -> Result<bool, ParseError> {
        let variable = self.peek_non_space();
        if variable.kind != TokenKind::Variable {
            return Ok(false);
        }
        self.next();
        let after = self.peek();
        let next = self.peek_non_space();
        if matches!(next.kind, TokenKind::Assign | TokenKind::Declare) {
            pipe.assign = next.kind == TokenKind::Assign;
            self.next_non_space();
            self.declare(pipe, variable);
        } else if next.kind == TokenKind::Char && next.text == "," {
            self.next_non_space();
            self.declare(pipe, variable);
            return self.second_variable(pipe, context);
        } else if after.kind == TokenKind::Space {
            self.back_up_three(variable, after);
        } else {
            self.back_up_two(variable);
        }
        Ok(false)
    }

    fn declare(&mut self, pipe: &mut Pipe, variable: Token<'s>) {
        let variable = self.variable_of(variable);
        self.scope.variables.push(variable.id);
        pipe.decl.push(variable);
    }

    fn second_variable(&mut self, pipe: &Pipe, context: &'static str) -> Result<bool, ParseError> {
        if context != "range" || pipe.decl.len() >= 2 {
            return Err(self.error("too many declarations in %s", &[context]));
        }
        match self.peek_non_space().kind {
            TokenKind::Variable | TokenKind::RightDelim | TokenKind::RightParen => Ok(true),
            _ => Err(self.error("range can only initialize variables", &[])),
        }
    }

    /// Whether the pipeline ends here; otherwise a command begins.
    fn at_pipeline_end(&mut self, open: &mut OpenPipe) -> Result<bool, ParseError> {
        let token = self.next_non_space();
        if token.kind == open.end {
            self.check_pipeline(open)?;
            return Ok(true);
        }
        let begins = [
            TokenKind::Bool,
            TokenKind::CharConstant,
            TokenKind::Complex,
            TokenKind::Dot,
            TokenKind::Field,
            TokenKind::Identifier,
            TokenKind::Number,
            TokenKind::Nil,
            TokenKind::RawString,
            TokenKind::Str,
            TokenKind::Variable,
            TokenKind::LeftParen,
        ];
        if !begins.contains(&token.kind) {
            return Err(self.unexpected(token, open.context));
        }
        self.back_up();
        open.command = Some(Command { pos: self.peek_non_space().pos, args: Vec::new() });
        Ok(false)
    }

    /// Checks that a pipeline has a command, and that only the first one is a plain value.
    fn check_pipeline(&mut self, open: &OpenPipe) -> Result<(), ParseError> {
        if open.pipe.cmds.is_empty() {
            return Err(self.error("missing value for %s", &[open.context]));
        }
        for (at, command) in open.pipe.cmds.iter().enumerate().skip(1) {
            let plain = matches!(
                command.args.first(),
                Some(Expr::Bool(..) | Expr::Dot(_) | Expr::Nil(_) | Expr::Number(..) | Expr::Str { .. })
            );
            if plain {
                let stage = super::val::Val::int(at as i64 + 1);
                return Err(self.error_with("non executable command in pipeline stage %d", &[stage]));
            }
        }
        if open.pipe.depth as usize >= self.options.max_nesting {
            return Err(self.error("max expression depth exceeded", &[]));
        }
        Ok(())
    }

    fn take_operand(&mut self, open: &mut OpenPipe, operand: Expr) -> Result<(), ParseError> {
        let operand = self.with_fields(operand)?;
        let pipe = match &operand {
            Expr::Pipe(pipe) => Some(pipe),
            Expr::Chain { base, .. } => match &**base {
                Expr::Pipe(pipe) => Some(pipe),
                _ => None,
            },
            _ => None,
        };
        if let Some(inner) = pipe {
            open.pipe.depth = open.pipe.depth.max(inner.depth + 1);
        }
        if let Some(command) = &mut open.command {
            command.args.push(operand);
        }
        self.after_operand(open)
    }

    /// Decides whether the command continues after an operand.
    fn after_operand(&mut self, open: &mut OpenPipe) -> Result<(), ParseError> {
        let token = self.next();
        match token.kind {
            TokenKind::Space => return Ok(()),
            TokenKind::RightDelim | TokenKind::RightParen => self.back_up(),
            TokenKind::Pipe => {}
            _ => return Err(self.unexpected(token, "operand")),
        }
        match open.command.take() {
            Some(command) if !command.args.is_empty() => open.pipe.cmds.push(command),
            _ => return Err(self.error("empty command", &[])),
        }
        Ok(())
    }

    /// Reads the fields that follow an operand.
    fn with_fields(&mut self, operand: Expr) -> Result<Expr, ParseError> {
        let (start, pos) = (operand.start(), self.peek().pos);
        let mut fields: Vec<Box<str>> = Vec::new();
        while self.peek().kind == TokenKind::Field {
            fields.push(field_name(self.next().text));
        }
        if fields.is_empty() {
            return Ok(operand);
        }
        Ok(match operand {
            Expr::Field { mut path, .. } => {
                path.append(&mut fields);
                Expr::Field { start, pos, path }
            }
            Expr::Variable { variable, mut path, .. } => {
                path.append(&mut fields);
                Expr::Variable { start, pos, variable, path }
            }
            Expr::Bool(..) | Expr::Str { .. } | Expr::Number(..) | Expr::Nil(_) | Expr::Dot(_) => {
                return Err(self.error("unexpected . after term %q", &[&operand.to_string()]));
            }
            base => Expr::Chain { start, pos, base: Box::new(base), path: fields },
        })
    }

    fn term(&mut self) -> Result<Term, ParseError> {
        let token = self.next_non_space();
        let pos = token.pos;
        Ok(Term::Operand(match token.kind {
            TokenKind::Identifier => self.function(token)?,
            TokenKind::Dot => Expr::Dot(pos),
            TokenKind::Nil => Expr::Nil(pos),
            TokenKind::Variable => self.variable(token)?,
            TokenKind::Field => Expr::Field { start: pos, pos, path: vec![field_name(token.text)] },
            TokenKind::Bool => Expr::Bool(pos, token.text == "true"),
            TokenKind::CharConstant => self.number(token, Number::from_char)?,
            TokenKind::Complex => self.number(token, Number::from_sum)?,
            TokenKind::Number => self.number(token, Number::from_text)?,
            TokenKind::Str | TokenKind::RawString => {
                let text = self.unquote(token)?;
                Expr::Str { pos, quoted: token.text.into(), text: text.into() }
            }
            TokenKind::LeftParen => return Ok(Term::Paren),
            _ => {
                self.back_up();
                return Ok(Term::Nothing);
            }
        }))
    }

    fn function(&mut self, token: Token<'s>) -> Result<Expr, ParseError> {
        if !self.accepts_function(token.text) {
            return Err(self.error("function %q not defined", &[token.text]));
        }
        let builtin = if (self.options.functions)(token.text) { None } else { Builtin::named(token.text) };
        Ok(Expr::Ident { pos: token.pos, name: token.text.into(), builtin })
    }

    fn variable(&mut self, token: Token<'s>) -> Result<Expr, ParseError> {
        let variable = self.variable_of(token);
        if !self.scope.variables.contains(&variable.id) {
            return Err(self.error("undefined variable %q", &[token.text]));
        }
        Ok(Expr::Variable { start: token.pos, pos: token.pos, variable, path: Vec::new() })
    }

    fn number(
        &mut self,
        token: Token<'s>,
        parse: fn(&str) -> Result<Number, String>,
    ) -> Result<Expr, ParseError> {
        let number = parse(token.text).map_err(|message| self.error("%s", &[&message]))?;
        Ok(Expr::Number(token.pos, Box::new(number)))
    }

    /// Decodes a string token.
    pub(super) fn unquote(&mut self, token: Token<'s>) -> Result<Vec<u8>, ParseError> {
        unquote(token.text).ok_or_else(|| self.error("%s", &["invalid syntax"]))
    }
}

fn field_name(token: &str) -> Box<str> {
    token.strip_prefix('.').unwrap_or(token).into()
}

/// Merges a pipeline that contains only another one in parentheses into that other one, and counts the parentheses.
fn collapse(mut pipe: Pipe) -> Pipe {
    let lone = pipe.decl.is_empty() && matches!(pipe.cmds.as_slice(), [command] if command.args.len() == 1);
    if lone
        && let Some(command) = pipe.cmds.first_mut()
        && let Some(Expr::Pipe(inner)) = command.args.first_mut()
    {
        let mut inner = std::mem::take(&mut **inner);
        inner.extra_parens += 1;
        return inner;
    }
    pipe
}
