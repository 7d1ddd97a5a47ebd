//! The syntax tree, with byte positions. Expressions are displayed as in Go's messages.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use super::builtins::Builtin;
use super::number::Number;
use super::quote::quoted;

/// A byte offset in the source.
pub(super) type Pos = u32;

/// A text that was parsed, with its name.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: Box<str>,
    pub(super) text: Box<str>,
}

impl Source {
    /// The line of a position, from 1, and its column in bytes, from 0.
    pub(super) fn line_and_column(&self, pos: Pos) -> (usize, usize) {
        let before = self.text.as_bytes().get(..pos as usize).unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        (line, column)
    }
}

/// One named template.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) name: Box<str>,
    pub(super) source: Arc<Source>,
    pub(super) root: List,
}

/// Statements in order.
pub(super) type List = Vec<Node>;

/// A statement.
#[derive(Debug)]
pub(super) enum Node {
    /// Text outside of actions: a range of the source.
    Text { start: Pos, end: Pos },
    /// `{{pipeline}}`.
    Action(Pipe),
    /// `if`, `with` or `range`.
    Branch(Box<Branch>),
    /// `{{template "name" pipeline}}`.
    Template(Box<TemplateCall>),
    /// `{{break}}`.
    Break,
    /// `{{continue}}`.
    Continue,
}

/// The kind of a [`Branch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchKind {
    If,
    With,
    Range,
}

impl BranchKind {
    /// The keyword of the kind.
    pub(super) fn word(self) -> &'static str {
        match self {
            BranchKind::If => "if",
            BranchKind::With => "with",
            BranchKind::Range => "range",
        }
    }
}

#[derive(Debug)]
pub(super) struct Branch {
    pub(super) kind: BranchKind,
    pub(super) pipe: Pipe,
    pub(super) list: List,
    pub(super) else_list: Option<List>,
}

#[derive(Debug)]
pub(super) struct TemplateCall {
    pub(super) pos: Pos,
    pub(super) name: Box<str>,
    pub(super) pipe: Option<Pipe>,
}

/// A pipeline: each command's result is an argument of the next one; the variables get the last result.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    pub(super) pos: Pos,
    pub(super) decl: Vec<Variable>,
    pub(super) assign: bool,
    pub(super) cmds: Vec<Command>,
    /// Parentheses around this pipeline beyond the one pair that every inner pipeline has.
    pub(super) extra_parens: u32,
    /// How deep other pipelines nest in this one.
    pub(super) depth: u32,
}

/// A variable, at its declaration or use.
#[derive(Debug)]
pub(super) struct Variable {
    /// The name, with its `$`.
    pub(super) name: Box<str>,
    /// The number of the name, which is the same for all variables of that name in one source.
    pub(super) id: VariableId,
}

pub(super) type VariableId = u32;

/// The number of `$`, which is a variable of every template.
pub(super) const ROOT: VariableId = 0;

#[derive(Debug)]
pub(super) struct Command {
    pub(super) pos: Pos,
    /// Never empty.
    pub(super) args: Vec<Expr>,
}

/// An operand.
#[derive(Debug)]
pub(super) enum Expr {
    Dot(Pos),
    Nil(Pos),
    Bool(Pos, bool),
    Number(Pos, Box<Number>),
    Str { pos: Pos, quoted: Box<str>, text: Box<[u8]> },
    Field { start: Pos, pos: Pos, path: Vec<Box<str>> },
    Variable { start: Pos, pos: Pos, variable: Variable, path: Vec<Box<str>> },
    Ident { pos: Pos, name: Box<str>, builtin: Option<Builtin> },
    Chain { start: Pos, pos: Pos, base: Box<Expr>, path: Vec<Box<str>> },
    Pipe(Box<Pipe>),
}

impl Pipe {
    /// The only operand of the pipeline, if it has just one.
    pub(super) fn lone_operand(&self) -> Option<&Expr> {
        match self.cmds.as_slice() {
            [Command { args, .. }] if self.decl.is_empty() => match args.as_slice() {
                [operand] => Some(operand),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Expr {
    /// The position at which the operand begins.
    pub(super) fn start(&self) -> Pos {
        match self {
            Expr::Field { start, .. } | Expr::Variable { start, .. } | Expr::Chain { start, .. } => *start,
            _ => self.pos(),
        }
    }

    /// The position that Go's messages name: for a path of several fields, that of the second one.
    pub(super) fn pos(&self) -> Pos {
        match self {
            Expr::Dot(pos) | Expr::Nil(pos) | Expr::Bool(pos, _) | Expr::Number(pos, _) => *pos,
            Expr::Str { pos, .. } | Expr::Field { pos, .. } | Expr::Variable { pos, .. } => *pos,
            Expr::Ident { pos, .. } | Expr::Chain { pos, .. } => *pos,
            Expr::Pipe(pipe) => pipe.pos,
        }
    }
}

/// A reference to the part of the tree that is being evaluated, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum NodeRef<'t> {
    Pipe(&'t Pipe),
    Command(&'t Command),
    Expr(&'t Expr),
    TemplateCall(&'t TemplateCall),
}

impl NodeRef<'_> {
    /// The position at which this part begins.
    pub(super) fn start(self) -> Pos {
        match self {
            NodeRef::Expr(expr) => expr.start(),
            _ => self.pos(),
        }
    }

    /// The position that Go's messages name.
    pub(super) fn pos(self) -> Pos {
        match self {
            NodeRef::Pipe(pipe) => pipe.pos,
            NodeRef::Command(command) => command.pos,
            NodeRef::Expr(expr) => expr.pos(),
            NodeRef::TemplateCall(invoke) => invoke.pos,
        }
    }
}

impl Display for NodeRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            NodeRef::Pipe(pipe) => pipe.fmt(f),
            NodeRef::Command(command) => command.fmt(f),
            NodeRef::Expr(expr) => expr.fmt(f),
            NodeRef::TemplateCall(invoke) => invoke.fmt(f),
        }
    }
}

impl Display for TemplateCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", quoted(&self.name))?;
        if let Some(pipe) = &self.pipe {
            write!(f, " {pipe}")?;
        }
        f.write_str("}}")
    }
}

impl Display for Pipe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, variable) in self.decl.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            f.write_str(&variable.name)?;
        }
        if !self.decl.is_empty() {
            f.write_str(if self.assign { " = " } else { " := " })?;
        }
        for (at, command) in self.cmds.iter().enumerate() {
            f.write_str(if at > 0 { " | " } else { "" })?;
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, arg) in self.args.iter().enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            arg.write_operand(f)?;
        }
        Ok(())
    }
}

impl Expr {
    /// Displays the expression as an operand: a pipeline gets parentheses.
    fn write_operand(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Pipe(_) => write!(f, "({self})"),
            _ => self.fmt(f),
        }
    }
}

fn write_path(f: &mut Formatter<'_>, path: &[Box<str>]) -> fmt::Result {
    path.iter().try_for_each(|field| write!(f, ".{field}"))
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Dot(_) => f.write_str("."),
            Expr::Nil(_) => f.write_str("nil"),
            Expr::Bool(_, value) => value.fmt(f),
            Expr::Number(_, number) => f.write_str(&number.text),
            Expr::Str { quoted, .. } => f.write_str(quoted),
            Expr::Field { path, .. } => write_path(f, path),
            Expr::Variable { variable, path, .. } => {
                f.write_str(&variable.name).and_then(|()| write_path(f, path))
            }
            Expr::Ident { name, .. } => f.write_str(name),
            Expr::Chain { base, path, .. } => base.write_operand(f).and_then(|()| write_path(f, path)),
            Expr::Pipe(pipe) => {
                (0..pipe.extra_parens).try_for_each(|_| f.write_str("("))?;
                pipe.fmt(f)?;
                (0..pipe.extra_parens).try_for_each(|_| f.write_str(")"))
            }
        }
    }
}

/// Whether a template of these statements is empty: it has only white space.
pub(super) fn is_empty(list: &List, source: &Source) -> bool {
    list.iter().all(|node| match node {
        Node::Text { start, end } => {
            source.text.get(*start as usize..*end as usize).unwrap_or("").trim().is_empty()
        }
        _ => false,
    })
}
