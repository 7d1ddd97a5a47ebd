//! Evaluates pipelines, commands and operands.

use crate::run::Holder;
use crate::value::Value;

use super::ast::{Command, Expr, NodeRef, Pipe, Variable};
use super::call::Type;
use super::error::ExecError;
use super::exec::{Machine, MissingKey, Stop};
use super::number::{Ideal, Number};
use super::val::{V, Val, ValueKind};

/// The arguments of a command: those after the first word, and the value from the pipe.
#[derive(Clone, Copy)]
pub(super) struct Args<'a> {
    pub(super) first: Option<&'a Expr>,
    pub(super) rest: &'a [Expr],
    pub(super) piped: Option<Val<'a>>,
}

impl<'a> Args<'a> {
    pub(super) const NONE: Args<'a> = Args { first: None, rest: &[], piped: None };

    fn is_none(&self) -> bool {
        self.rest.is_empty() && self.piped.is_none()
    }
}

impl<'a> Machine<'a, '_> {
    /// Evaluates a pipeline, and assigns the value to its variables.
    #[inline]
    pub(super) fn pipe(&mut self, dot: &Val<'a>, pipe: &'a Pipe) -> Result<Val<'a>, Stop> {
        match self.glance(dot, pipe) {
            Some((value, depth)) => {
                self.at = pipe.lone_operand().map(NodeRef::Expr);
                Ok(Val { depth, ..Val::data(value).unboxed() })
            }
            None => self.commands(dot, pipe),
        }
    }

    /// The fast path for the most common pipeline: a path through the data whose values are all there. The second part is
    /// the depth of its start. `None` means that the general case applies.
    #[inline]
    pub(super) fn glance(&self, dot: &Val<'a>, pipe: &'a Pipe) -> Option<(&'a Value, u16)> {
        let (first, rest, start) = match pipe.lone_operand()? {
            Expr::Field { path, .. } => path.split_first().map(|(first, rest)| (first, rest, dot))?,
            Expr::Variable { variable, path, .. } => {
                let (first, rest) = path.split_first()?;
                (first, rest, self.variable(variable)?)
            }
            _ => return None,
        };
        let V::Map(map) = start.v else { return None };
        let mut value = map.get(first)?;
        for name in rest {
            value = value.get(name)?;
        }
        Some((value, start.depth))
    }

    /// The general case: evaluates the commands of a pipeline.
    pub(super) fn commands(&mut self, dot: &Val<'a>, pipe: &'a Pipe) -> Result<Val<'a>, Stop> {
        if let Some(operand) = pipe.lone_operand()
            && let Some(&value) = self.bare(dot, operand)
        {
            self.at = Some(NodeRef::Expr(operand));
            return self.settled(value).map(|()| value.unboxed());
        }
        self.at = Some(NodeRef::Pipe(pipe));
        let mut piped = None;
        for command in &pipe.cmds {
            if let Some(value) = piped {
                self.settled(value)?;
            }
            piped = Some(self.command(*dot, command, piped)?.unboxed());
        }
        let value = piped.unwrap_or(Val::NONE);
        for variable in &pipe.decl {
            match pipe.assign {
                true => self.assign(variable, value)?,
                false => self.variables.push((variable.id, value)),
            }
        }
        Ok(value)
    }

    /// The value of the dot or of a variable.
    fn bare<'v>(&'v self, dot: &'v Val<'a>, operand: &Expr) -> Option<&'v Val<'a>> {
        match operand {
            Expr::Dot(_) => Some(dot),
            Expr::Variable { variable, path, .. } if path.is_empty() => self.variable(variable),
            _ => None,
        }
    }

    /// Ends the run if the value is pending: it is about to be used other than for printing.
    pub(super) fn settled(&self, value: Val<'a>) -> Result<(), Stop> {
        match value.v {
            V::Pending(ticket) => Err(Box::new(ExecError::Pending { needed: Some(ticket) })),
            _ => Ok(()),
        }
    }

    /// Assigns a value to the innermost variable of that name.
    pub(super) fn assign(&mut self, variable: &'a Variable, value: Val<'a>) -> Result<(), Stop> {
        let base = self.base;
        let own = self.variables.get_mut(base..).unwrap_or_default();
        match own.iter_mut().rev().find(|(id, _)| *id == variable.id) {
            Some(slot) => {
                slot.1 = value;
                Ok(())
            }
            None => Err(self.undefined(variable)),
        }
    }

    fn undefined(&self, variable: &Variable) -> Stop {
        self.fail("undefined variable: %s", &[Val::text(&variable.name)])
    }

    /// The innermost variable of that name; `None` if its declaration was not evaluated.
    fn variable(&self, variable: &Variable) -> Option<&Val<'a>> {
        let own = self.variables.get(self.base..).unwrap_or_default();
        own.iter().rev().find(|(id, _)| *id == variable.id).map(|(_, value)| value)
    }

    fn command(
        &mut self,
        dot: Val<'a>,
        command: &'a Command,
        piped: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        self.budget.step()?;
        let Some((first, rest)) = command.args.split_first() else { return Ok(Val::NONE) };
        let args = Args { first: Some(first), rest, piped };
        match first {
            Expr::Field { path, .. } => {
                self.at = Some(NodeRef::Expr(first));
                self.fields(dot, dot, path, args)
            }
            Expr::Chain { .. } => self.chain(dot, first, args),
            Expr::Ident { .. } => self.function(dot, first, NodeRef::Command(command), args),
            Expr::Pipe(pipe) => {
                self.not_a_function(args)?;
                self.pipe(&dot, pipe)
            }
            Expr::Variable { .. } => self.variable_chain(dot, first, args),
            _ => {
                self.at = Some(NodeRef::Expr(first));
                self.not_a_function(args)?;
                self.plain(dot, first)
            }
        }
    }

    fn not_a_function(&self, args: Args<'a>) -> Result<(), Stop> {
        if args.is_none() {
            return Ok(());
        }
        let shown = args.first.map(ToString::to_string).unwrap_or_default();
        Err(self.fail("can't give argument to non-function %s", &[Val::text(&shown)]))
    }

    /// Evaluates a command that is a literal or the dot.
    fn plain(&mut self, dot: Val<'a>, expr: &'a Expr) -> Result<Val<'a>, Stop> {
        match expr {
            Expr::Bool(_, value) => Ok(Val::bool(*value)),
            Expr::Dot(_) => self.settled(dot).map(|()| dot),
            Expr::Nil(_) => Err(self.fail("nil is not a command", &[])),
            Expr::Number(_, number) => self.ideal(number),
            Expr::Str { text, .. } => Ok(Val::bytes(text)),
            _ => Err(self.fail("can't evaluate command %q", &[Val::text(&expr.to_string())])),
        }
    }

    /// The value of a number literal without a required type.
    fn ideal(&mut self, number: &'a Number) -> Result<Val<'a>, Stop> {
        match number.ideal() {
            Ideal::Complex(real, imaginary) => Ok(Val::of(V::Complex(real, imaginary))),
            Ideal::Float(float) => Ok(Val::float(float)),
            Ideal::Int(int) => Ok(Val::int(int)),
            Ideal::Overflow => Err(self.fail("%s overflows int", &[Val::text(&number.text)])),
        }
    }

    fn variable_chain(&mut self, dot: Val<'a>, expr: &'a Expr, args: Args<'a>) -> Result<Val<'a>, Stop> {
        self.at = Some(NodeRef::Expr(expr));
        let Expr::Variable { variable, path, .. } = expr else { return Ok(Val::NONE) };
        let value = *self.variable(variable).ok_or_else(|| self.undefined(variable))?;
        self.settled(value)?;
        if path.is_empty() {
            self.not_a_function(args)?;
            return Ok(value);
        }
        self.fields(dot, value, path, args)
    }

    fn chain(&mut self, dot: Val<'a>, expr: &'a Expr, args: Args<'a>) -> Result<Val<'a>, Stop> {
        self.at = Some(NodeRef::Expr(expr));
        let Expr::Chain { base, path, .. } = expr else { return Ok(Val::NONE) };
        if matches!(**base, Expr::Nil(_)) {
            let shown = expr.to_string();
            return Err(self.fail("indirection through explicit nil in %s", &[Val::text(&shown)]));
        }
        let value = match &**base {
            Expr::Pipe(pipe) => self.pipe(&dot, pipe)?,
            base => {
                self.at = Some(NodeRef::Expr(base));
                self.function(dot, base, NodeRef::Expr(base), Args::NONE)?
            }
        };
        self.fields(dot, value, path, args)
    }

    /// The value at the end of a chain of fields; arguments are for the last one, which must be a method then.
    fn fields(
        &mut self,
        dot: Val<'a>,
        mut value: Val<'a>,
        path: &'a [Box<str>],
        args: Args<'a>,
    ) -> Result<Val<'a>, Stop> {
        let last = path.len().saturating_sub(1);
        self.budget.spend(last / 16)?;
        for (at, name) in path.iter().enumerate() {
            let given = if at == last { args } else { Args::NONE };
            value = match value.v {
                V::Time(moment) => self.method(dot, moment, name, given)?,
                _ => self.field(value, name, !given.is_none())?,
            };
        }
        Ok(value)
    }

    /// The member `name` of a value.
    #[inline]
    fn field(&mut self, value: Val<'a>, name: &'a str, called: bool) -> Result<Val<'a>, Stop> {
        match value.v {
            V::Map(map) if !called => match map.get(name) {
                Some(member) => {
                    let mut member = Val::data(member);
                    member.depth = value.depth;
                    Ok(member)
                }
                None => self.missing_member(value, name),
            },
            V::Dict(_) if !called => match value.member(name.as_bytes()) {
                Some(member) => Ok(member),
                None => self.missing_member(value, name),
            },
            V::Map(_) | V::Dict(_) => {
                Err(self.fail("%s is not a method but has arguments", &[Val::text(name)]))
            }
            V::None if matches!(self.options.missing_key, MissingKey::Error | MissingKey::Strict) => {
                Err(self.fail("nil data; no entry for key %q", &[Val::text(name)]))
            }
            V::None => Ok(Val::NONE),
            V::Gap => Ok(value),
            V::Pending(_) => self.settled(value).map(|()| value),
            V::Absent(absent) => self.absent(Holder::Absent(absent), name),
            V::Nil => {
                Err(self.fail("nil pointer evaluating %s.%s", &[Val::text("interface {}"), Val::text(name)]))
            }
            _ => {
                let of = Val::text(value.static_type());
                Err(self.fail("can't evaluate field %s in type %s", &[Val::text(name), of]))
            }
        }
    }

    fn missing_member(&mut self, map: Val<'a>, name: &'a str) -> Result<Val<'a>, Stop> {
        match (self.options.missing_key, map.v) {
            (MissingKey::Default, _) => Ok(Val::NONE),
            (MissingKey::Zero, V::Dict(dict)) => Ok(dict.of.zero()),
            (MissingKey::Zero, _) => Ok(Val::NIL),
            (MissingKey::Error, _) => Err(self.fail("map has no entry for key %q", &[Val::text(name)])),
            (MissingKey::Strict, V::Map(map)) => self.absent(Holder::Map(map), name),
            (MissingKey::Strict, V::Dict(dict)) if let Some(base) = dict.base() => {
                self.absent(Holder::Map(base), name)
            }
            (MissingKey::Strict, _) => self.absent(Holder::Unknown, name),
        }
    }

    fn absent(&self, of: Holder<'a>, name: &'a str) -> Result<Val<'a>, Stop> {
        let absent = self.context.absent(of, name.as_bytes());
        self.check_memory().map(|()| absent)
    }

    /// Evaluates an argument of a function as the type of its parameter.
    pub(super) fn argument(&mut self, dot: Val<'a>, expr: &'a Expr, wanted: Type) -> Result<Val<'a>, Stop> {
        self.budget.step()?;
        self.at = Some(NodeRef::Expr(expr));
        let value = match expr {
            Expr::Dot(_) => dot,
            Expr::Nil(_) => return self.nil_argument(wanted),
            Expr::Field { path, .. } => self.fields(dot, dot, path, Args::NONE)?,
            Expr::Variable { .. } => self.variable_chain(dot, expr, Args::NONE)?,
            Expr::Pipe(pipe) => self.pipe(&dot, pipe)?,
            Expr::Ident { .. } => self.function(dot, expr, NodeRef::Expr(expr), Args::NONE)?,
            Expr::Chain { .. } => self.chain(dot, expr, Args::NONE)?,
            _ => return self.literal(expr, wanted),
        };
        self.validated(value, wanted)
    }

    fn nil_argument(&mut self, wanted: Type) -> Result<Val<'a>, Stop> {
        match wanted {
            Type::Any | Type::Map | Type::List => Ok(Val::NIL),
            Type::Reflect => Ok(Val::NONE),
            _ => Err(self.fail("cannot assign nil to %s", &[Val::text(wanted.name())])),
        }
    }

    fn literal(&mut self, expr: &'a Expr, wanted: Type) -> Result<Val<'a>, Stop> {
        let fitting = match (wanted, expr) {
            (Type::Any | Type::Reflect, _) => return self.plain(Val::NONE, expr),
            (Type::Bool, Expr::Bool(_, value)) => Some(Val::bool(*value)),
            (Type::String, Expr::Str { text, .. }) => Some(Val::bytes(text)),
            (Type::Int, Expr::Number(_, number)) => number.int.map(Val::int),
            (Type::Float, Expr::Number(_, number)) => number.float.map(Val::float),
            _ => None,
        };
        if matches!(wanted, Type::Map | Type::List | Type::Time) {
            let shown = expr.to_string();
            let names = [Val::text(&shown), Val::text(wanted.name())];
            return Err(self.fail("can't handle %s for arg of type %s", &names));
        }
        let expected = match wanted {
            Type::Bool => "bool",
            Type::Int => "integer",
            Type::Float => "float",
            _ => "string",
        };
        fitting.ok_or_else(|| {
            let shown = expr.to_string();
            self.fail(&format!("expected {expected}; found %s"), &[Val::text(&shown)])
        })
    }

    /// Converts a value to the type of a parameter.
    pub(super) fn validated(&mut self, value: Val<'a>, wanted: Type) -> Result<Val<'a>, Stop> {
        self.settled(value)?;
        let fits = match (wanted, value.kind()) {
            (Type::Reflect, _) => true,
            (Type::Any | Type::Map | Type::List, _) if matches!(value.v, V::None) => return Ok(Val::NIL),
            (Type::Any, _) => true,
            // Strict mode handles missing values after all arguments were evaluated.
            _ if matches!(value.v, V::Absent(_) | V::Gap) => true,
            (_, ValueKind::Invalid) => {
                let name = Val::text(wanted.name());
                return Err(self.fail("invalid value; expected %s", &[name]));
            }
            (Type::String, kind) => kind == ValueKind::String,
            (Type::Int, _) => matches!(value.v, V::Int(_)),
            (Type::Float, kind) => kind == ValueKind::Float,
            (Type::Bool, kind) => kind == ValueKind::Bool,
            (Type::Map | Type::List | Type::Time, _) => value.type_name() == wanted.name(),
        };
        match (fits, wanted) {
            (true, Type::Reflect | Type::Any) => Ok(value),
            (true, _) => Ok(value.unboxed()),
            (false, _) => {
                let names = [Val::text(wanted.name()), Val::text(value.type_name())];
                Err(self.fail("wrong type for value; expected %s; got %s", &names))
            }
        }
    }
}
