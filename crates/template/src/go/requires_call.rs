//! Static analysis of calls: what their arguments touch, and what their results can stand for.

use super::ast::Expr;
use super::builtins::Builtin;
use super::requires::{Analysis, View};
use super::requires_path::{Paths, Step};

/// What a call is given.
pub(super) struct Given<'a> {
    /// Its arguments, as they are written.
    pub args: &'a [Expr],
    /// What is piped into it.
    pub piped: Option<Paths>,
}

impl<'a> Analysis<'a, '_> {
    /// A call: what its arguments touch, and what its result can stand for.
    pub(super) fn function(
        &mut self,
        name: &str,
        builtin: Option<Builtin>,
        given: Given<'a>,
        view: &mut View<'_>,
    ) -> Paths {
        if matches!(builtin, Some(Builtin::And | Builtin::Or)) {
            return self.choice(builtin == Some(Builtin::Or), given, view);
        }
        let Given { args, piped } = given;
        if builtin.is_none() {
            self.functions.name(name, view.optional);
        }
        let test = builtin == Some(Builtin::Not) || (builtin.is_none() && (self.takes_missing)(name));
        let mut values: Vec<Paths> = args.iter().map(|arg| self.operand(arg, view)).collect();
        values.extend(piped);
        for (at, value) in values.iter().enumerate() {
            let optional = view.optional || (test && at + 1 == values.len());
            match builtin {
                // What is indexed is only a way to what is used.
                Some(Builtin::Index) if at == 0 => self.look_at(&value.below_root(), optional),
                Some(Builtin::Not) => self.look_at(value, optional),
                _ => self.use_whole(value, optional),
            }
        }
        let Some((first, indexes)) = values.split_first() else { return Paths::default() };
        match builtin {
            Some(Builtin::Index) => {
                let mut item = first.clone();
                for at in 0..indexes.len() {
                    item = item.step(&index_step(args.get(at + 1)));
                }
                // Whether the element must be there, its use decides.
                self.look_at(&item, true);
                item
            }
            Some(Builtin::Slice) => first.clone(),
            _ => Paths::default(),
        }
    }

    /// `and` and `or` give one of their arguments; those after the first may not even be looked at.
    fn choice(&mut self, or: bool, given: Given<'a>, view: &mut View<'_>) -> Paths {
        let Given { args, piped } = given;
        let outer = view.optional;
        let alone = args.len() + usize::from(piped.is_some()) == 1;
        let mut result = Paths::default();
        for (at, arg) in args.iter().enumerate() {
            view.optional |= at > 0;
            let value = self.operand(arg, view);
            self.look_at(&value, true);
            let spared = !alone && (or || at > 0);
            result.add(&if spared { value.optional() } else { value });
        }
        view.optional = outer;
        if let Some(value) = piped {
            self.look_at(&value, true);
            result.add(&if alone { value } else { value.optional() });
        }
        result
    }
}

/// The step that an index makes: known for a literal, otherwise decided as the template runs.
fn index_step(index: Option<&Expr>) -> Step {
    match index {
        Some(Expr::Str { text, .. }) => Step::Key(String::from_utf8_lossy(text).into_owned()),
        Some(Expr::Number(..)) => Step::Each,
        _ => Step::Unknown,
    }
}
