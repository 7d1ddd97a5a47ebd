//! Static analysis of calls: what their arguments use, and which paths their results may have.

use super::ast::Expr;
use super::builtins::Builtin;
use super::call::ArgumentUse;
use super::requires::{Analysis, View};
use crate::analysis::{Join, PathStep, Paths};

/// The arguments of a call.
pub(super) struct CallArguments<'a> {
    /// The arguments in the source.
    pub args: &'a [Expr],
    /// The paths of the value from the pipe.
    pub piped: Option<Paths>,
}

impl<'a> Analysis<'a, '_> {
    /// Analyses a call: notes what its arguments use, and gives the paths that its result may have.
    pub(super) fn function(
        &mut self,
        name: &str,
        builtin: Option<Builtin>,
        given: CallArguments<'a>,
        view: &mut View<'_>,
    ) -> Paths {
        if matches!(builtin, Some(Builtin::And | Builtin::Or)) {
            return self.choice(builtin == Some(Builtin::Or), given, view);
        }
        let CallArguments { args, piped } = given;
        if builtin.is_none() {
            self.facts.function(name, view.optional);
        }
        let needs = match builtin {
            Some(Builtin::Not) => ArgumentUse::Tested,
            Some(_) => ArgumentUse::Needed,
            None => (self.use_of_arguments)(name),
        };
        let mut values: Vec<Paths> = args.iter().map(|arg| self.operand(arg, view)).collect();
        values.extend(piped);
        for (at, value) in values.iter().enumerate() {
            let tested = match needs {
                ArgumentUse::Needed => false,
                ArgumentUse::LastTested => at + 1 == values.len(),
                ArgumentUse::Tested | ArgumentUse::Member => true,
            };
            let optional = view.optional || tested;
            match builtin {
                // The value is only on the way to the element or member.
                None if at == 0 && needs == ArgumentUse::Member => {
                    self.facts.look_at(&value.below_root(), optional);
                }
                Some(Builtin::Index) if at == 0 => self.facts.look_at(&value.below_root(), optional),
                Some(Builtin::Not) => self.facts.look_at(value, optional),
                _ => self.facts.use_whole(value, optional),
            }
        }
        let Some((first, indexes)) = values.split_first() else { return Paths::default() };
        match builtin {
            None if needs == ArgumentUse::Member => {
                let member = first.step(&index_step(args.get(1)));
                self.facts.look_at(&member, true);
                member.optional()
            }
            Some(Builtin::Index) => {
                let mut item = first.clone();
                for at in 0..indexes.len() {
                    item = item.step(&index_step(args.get(at + 1)));
                }
                // Whether the element is optional depends on how it is used.
                self.facts.look_at(&item, true);
                item
            }
            Some(Builtin::Slice) => first.clone(),
            _ => Paths::default(),
        }
    }

    /// `and` and `or` give one of their arguments; those after the first may not even be looked at.
    fn choice(&mut self, or: bool, given: CallArguments<'a>, view: &mut View<'_>) -> Paths {
        let CallArguments { args, piped } = given;
        let outer = view.optional;
        let alone = args.len() + usize::from(piped.is_some()) == 1;
        let mut result = Paths::default();
        for (at, arg) in args.iter().enumerate() {
            view.optional |= at > 0;
            let value = self.operand(arg, view);
            self.facts.look_at(&value, true);
            let spared = !alone && (or || at > 0);
            result.add(&if spared { value.optional() } else { value });
        }
        view.optional = outer;
        if let Some(value) = piped {
            self.facts.look_at(&value, true);
            result.add(&if alone { value } else { value.optional() });
        }
        result
    }
}

/// The path step of an index: known for a literal, else computed at run time.
fn index_step(index: Option<&Expr>) -> PathStep {
    match index {
        Some(Expr::Str { text, .. }) => PathStep::Key(String::from_utf8_lossy(text).into_owned()),
        Some(Expr::Number(..)) => PathStep::Each,
        _ => PathStep::Unknown,
    }
}
