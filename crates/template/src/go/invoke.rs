//! Evaluates the arguments of functions, built-in and others, and calls them.

use super::ast::{Expr, NodeRef};
use super::builtins::{self, Builtin};
use super::call::{Missing, Outcome, Signature, Type};
use super::context::deepest;
use super::eval::Args;
use super::exec::{Machine, Stop};
use super::time::{self, Moment};
use super::val::{V, Val, ValueKind};

/// The longest message of a function, in bytes.
const MOST_MESSAGE: usize = 4_000;

/// A function that is called: its name, place and arguments.
struct Callee<'a> {
    name: &'a str,
    builtin: Option<Builtin>,
    /// The node that errors name.
    node: NodeRef<'a>,
    args: Args<'a>,
}

impl<'a> Machine<'a, '_> {
    /// Calls the method `name` of a moment.
    pub(super) fn method(
        &mut self,
        dot: Val<'a>,
        moment: &'a Moment,
        name: &'a str,
        args: Args<'a>,
    ) -> Result<Val<'a>, Stop> {
        let Some(signature) = time::method(name) else {
            let names = [Val::text(name), Val::text(Type::Time.name())];
            return Err(self.fail("can't evaluate field %s in type %s", &names));
        };
        self.check_count(name, &signature, args)?;
        let start = self.arguments.len();
        let result = self.collect(dot, &signature, args).and_then(|()| {
            if self.any_missing(start, &signature, args, false)? {
                return Ok(Val::of(V::Gap));
            }
            let given = self.arguments.get(start..).unwrap_or_default();
            let value = time::call_method(moment, name, given, &self.context);
            self.check_memory().map(|()| value)
        });
        self.arguments.truncate(start);
        result
    }

    /// Calls the function named `word`; errors name `node`.
    pub(super) fn function(
        &mut self,
        dot: Val<'a>,
        word: &'a Expr,
        node: NodeRef<'a>,
        args: Args<'a>,
    ) -> Result<Val<'a>, Stop> {
        self.at = Some(NodeRef::Expr(word));
        let Expr::Ident { name, builtin, .. } = word else { return Ok(Val::NONE) };
        let signature = match builtin {
            Some(builtin) => Some(builtin.signature()),
            None => self.functions.signature(name),
        };
        let Some(signature) = signature else {
            return Err(self.fail("%q is not a defined function", &[Val::text(name)]));
        };
        self.check_count(name, &signature, args)?;
        match builtin {
            Some(Builtin::And) => self.choose(dot, args, false),
            Some(Builtin::Or) => self.choose(dot, args, true),
            _ => {
                let compares = matches!(builtin, Some(Builtin::Eq | Builtin::Ne));
                let start = self.arguments.len();
                let result = self.collect(dot, &signature, args).and_then(|()| {
                    let missing = self.last_missing(start);
                    match self.any_missing(start, &signature, args, compares)? {
                        true => Ok(Val::of(V::Gap)),
                        false => {
                            let callee = Callee { name, builtin: *builtin, node, args };
                            let result = self.call(callee, signature, start)?;
                            // Nil in place of a missing value is that missing value.
                            Ok(if matches!(result.v, V::Nil) { missing.unwrap_or(result) } else { result })
                        }
                    }
                });
                self.arguments.truncate(start);
                result
            }
        }
    }

    fn check_count(&self, name: &'a str, signature: &Signature, args: Args<'a>) -> Result<(), Stop> {
        let given = args.rest.len() + usize::from(args.piped.is_some());
        let fixed = signature.params.len();
        let (least, count) = match signature.variadic {
            Some(_) if given < fixed => ("at least ", args.rest.len()),
            None if given != fixed => ("", given),
            _ => return Ok(()),
        };
        let numbers = [Val::text(name), Val::int(fixed as i64), Val::int(count as i64)];
        Err(self.fail(&format!("wrong number of args for %s: want {least}%d got %d"), &numbers))
    }

    /// Evaluates `and` and `or`: the first argument that decides, else the last one.
    fn choose(&mut self, dot: Val<'a>, args: Args<'a>, decisive: bool) -> Result<Val<'a>, Stop> {
        let mut value = Val::NONE;
        for arg in args.rest {
            value = self.argument(dot, arg, Type::Reflect)?;
            if value.is_true() == decisive {
                return Ok(value);
            }
        }
        Ok(args.piped.unwrap_or(value))
    }

    /// Pushes the arguments of a call.
    fn collect(&mut self, dot: Val<'a>, signature: &Signature, args: Args<'a>) -> Result<(), Stop> {
        for (at, arg) in args.rest.iter().enumerate() {
            let value = self.argument(dot, arg, signature.param(at))?;
            self.arguments.push(value);
        }
        if let Some(piped) = args.piped {
            let value = self.validated(piped, signature.param(args.rest.len()))?;
            self.arguments.push(value);
        }
        Ok(())
    }

    /// The last argument that is missing.
    fn last_missing(&self, start: usize) -> Option<Val<'a>> {
        let given = self.arguments.get(start..).unwrap_or_default();
        given.iter().rev().find(|arg| matches!(arg.v, V::Absent(_))).copied()
    }

    /// Whether an argument is missing in strict mode; it is recorded unless the function takes missing values.
    fn any_missing(
        &mut self,
        start: usize,
        signature: &Signature,
        args: Args<'a>,
        compares: bool,
    ) -> Result<bool, Stop> {
        let mut found = false;
        let end = self.arguments.len();
        let given = self.arguments.get(start..).unwrap_or_default();
        // An empty text for the gap can be compared with a text; with anything else it would be an error.
        let among_texts = compares && given.iter().all(|arg| matches!(arg.v, V::Str(_) | V::Gap));
        for at in start..end {
            let Some(slot) = self.arguments.get_mut(at) else { break };
            match slot.v {
                V::Absent(_) | V::Gap
                    if signature.takes_missing == Missing::Any
                        || signature.takes_missing == Missing::Last && at + 1 == end =>
                {
                    *slot = Val::NIL;
                }
                V::Absent(absent) => {
                    self.at = args.rest.get(at - start).or(args.first).map(NodeRef::Expr);
                    self.miss(absent)?;
                    found = true;
                }
                V::Gap if among_texts || signature.takes_gap(at - start) => *slot = Val::bytes(b""),
                V::Gap => found = true,
                _ => {}
            }
        }
        Ok(found)
    }

    fn call(&mut self, called: Callee<'a>, signature: Signature, start: usize) -> Result<Val<'a>, Stop> {
        let Callee { name, builtin, node, args } = called;
        let given = self.arguments.get(start..).unwrap_or_default();
        let before = self.context.scratch_left();
        let result = match builtin {
            Some(builtin) => builtins::call(builtin, given, || callee(args), &self.context),
            None => match self.functions.call(name, given, &self.context) {
                Outcome::Value(value) => Ok(self.returned(value, signature.result, start)),
                Outcome::Error(message) => Err(message),
                Outcome::Pending(ticket) => {
                    self.pending = true;
                    Ok(Val::of(V::Pending(ticket)))
                }
                Outcome::Gap => Ok(Val::of(V::Gap)),
            },
        };
        if self.context.excess().is_some() {
            self.at = Some(node);
        }
        self.check_memory()?;
        let made = before.saturating_sub(self.context.scratch_left());
        self.budget.spend(made.saturating_add(self.context.take_work()) / 256)?;
        result.map_err(|message| {
            self.at = Some(node);
            self.fail("error calling %s: %w", &[Val::text(name), Val::text(&shortened(message))])
        })
    }

    /// The result as a value of the declared type; its depth is that of the deepest argument.
    fn returned(&self, value: Val<'a>, result: Type, start: usize) -> Val<'a> {
        let given = self.arguments.get(start..).unwrap_or_default();
        let value = match value.kind() {
            ValueKind::Slice | ValueKind::Map if value.depth == 0 => {
                self.context.nested(value, deepest(given.iter()))
            }
            _ => value,
        };
        if result == Type::Any { value.boxed() } else { value }
    }
}

/// A message without the end of what is too long to be read: it may quote a whole value.
fn shortened(mut message: String) -> String {
    let length = message.len();
    if length > MOST_MESSAGE {
        message.truncate(message.floor_char_boundary(MOST_MESSAGE));
        message.push_str(&format!("… ({} bytes more)", length - message.len()));
    }
    message
}

/// The source text of the first argument of `call`.
fn callee(args: Args<'_>) -> String {
    match (args.rest.first(), args.piped) {
        (Some(arg), _) => arg.to_string(),
        (None, Some(piped)) => match piped.as_bytes() {
            Some(bytes) => super::fmt::lossy(bytes),
            None if piped.kind() == ValueKind::Invalid => "<invalid Value>".into(),
            None => format!("<{} Value>", piped.type_name()),
        },
        (None, None) => String::new(),
    }
}
