//! Static analysis of filters: which of them hand their value on, or parts of it.

use smol_str::SmolStr;

use super::expr::literal;
use super::jobs::Arguments;
use super::value::Value;
use super::{Analysis, Run};
use crate::jinja::ast::*;
use crate::jinja::builtin::{FilterName, TestName};

impl<'a> Analysis<'a> {
    pub(super) fn filter(&mut self, filter: &'a Filter, run: &mut Run<'a>) -> Value<'a> {
        let base = self.value(&filter.base, run);
        let arguments = self.arguments(&filter.args, run);
        arguments.values().for_each(|value| self.use_whole(value, run.optional));
        self.apply(filter.filter, &base, &filter.args, &arguments, run)
    }

    /// What a filter gives for a value.
    fn apply(
        &mut self,
        filter: Option<FilterName>,
        base: &Value<'a>,
        args: &'a Args,
        arguments: &Arguments<'a>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        use FilterName as F;
        match filter {
            Some(F::Default) => {
                self.look_at(base, true);
                let mut value = base.optional();
                value.join(&arguments.get(0, "default_value").unwrap_or_default().optional());
                return value;
            }
            Some(F::Items) => {
                self.look_at(base, true);
                return base.pairs();
            }
            Some(F::Attr) => {
                return match argument(args, 0, "name").map(literal) {
                    Some(Some(name)) => self.member(base, name),
                    _ => base.any_member(),
                };
            }
            Some(
                F::Batch
                | F::Dictsort
                | F::First
                | F::Groupby
                | F::Join
                | F::Last
                | F::List
                | F::Map
                | F::Max
                | F::Min
                | F::Random
                | F::Reject
                | F::Rejectattr
                | F::Reverse
                | F::Select
                | F::Selectattr
                | F::Slice
                | F::Sort
                | F::Sum
                | F::Unique,
            ) => self.look_at(base, run.optional),
            _ => {
                self.use_whole(base, run.optional);
                return Value::default();
            }
        }
        let element = base.element();
        match filter {
            Some(F::List | F::Reverse) => base.any_order(),
            Some(F::First | F::Last | F::Random) => element,
            Some(F::Min | F::Max) => {
                self.by_attribute(base, argument(args, 1, "attribute"));
                element
            }
            Some(F::Sort) => {
                self.by_attribute(base, argument(args, 2, "attribute"));
                base.any_order()
            }
            Some(F::Unique) => {
                self.by_attribute(base, argument(args, 1, "attribute"));
                base.any_order()
            }
            Some(F::Join) => {
                self.whole_or_attribute(base, argument(args, 1, "attribute"), run);
                Value::default()
            }
            Some(F::Sum) => {
                self.whole_or_attribute(base, argument(args, 0, "attribute"), run);
                Value::default()
            }
            Some(F::Select | F::Reject) => {
                self.tested_by(&element, args, 0);
                base.any_order()
            }
            Some(F::Selectattr | F::Rejectattr) => {
                let value = self.attribute(&element, args.positional.first());
                self.tested_by(&value, args, 1);
                base.any_order()
            }
            Some(F::Batch | F::Slice) => {
                let mut row = element;
                row.join(&arguments.get(1, "fill_with").unwrap_or_default());
                Value::container(Value::container(row))
            }
            Some(F::Groupby) => {
                let key = self.attribute(&element, argument(args, 0, "attribute"));
                self.use_whole(&key, true);
                let mut key = key.optional();
                key.join(&arguments.get(1, "default").unwrap_or_default());
                let members = [("0", &key), ("grouper", &key), ("1", base), ("list", base)];
                let members = members.map(|(name, value)| (SmolStr::new_static(name), value.any_order()));
                Value::container(Value::members(members, Value::default()))
            }
            Some(F::Dictsort) => {
                if argument(args, 1, "by").is_some() {
                    self.use_whole(&element, true);
                }
                base.pairs()
            }
            Some(F::Map) => self.map(&element, args, arguments, run),
            _ => Value::default(),
        }
    }

    fn map(
        &mut self,
        element: &Value<'a>,
        args: &'a Args,
        arguments: &Arguments<'a>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        let name = args.positional.first().map(literal);
        let attribute = args.named.iter().find(|(name, _)| name == "attribute");
        let mapped = match (name, attribute) {
            (None, Some((_, attribute))) => {
                let mut value = self.attribute(element, Some(attribute)).optional();
                value.join(&arguments.get(usize::MAX, "default").unwrap_or_default().optional());
                value
            }
            (Some(Some(name)), _) => {
                let optional = std::mem::replace(&mut run.optional, true);
                let filter = FilterName::find(name);
                let rest = Arguments {
                    positional: arguments.positional.iter().skip(1).cloned().collect(),
                    ..arguments.clone()
                };
                let value = match filter {
                    // These find their arguments by their places in the text, which are others here.
                    Some(
                        FilterName::Map | FilterName::Attr | FilterName::Groupby | FilterName::Selectattr,
                    ) => {
                        self.let_go(element);
                        element.frozen()
                    }
                    filter => self.apply(filter, element, &NO_ARGS, &rest, run),
                };
                run.optional = optional;
                value.optional()
            }
            _ => {
                self.let_go(element);
                element.frozen()
            }
        };
        Value::container(mapped)
    }

    /// What elements are compared by: an attribute of them, or all of them.
    fn by_attribute(&mut self, base: &Value<'a>, attribute: Option<&'a Expr>) {
        let element = base.element();
        let value = match attribute {
            Some(_) => self.attribute(&element, attribute),
            None => element,
        };
        self.use_whole(&value, true);
    }

    fn whole_or_attribute(&mut self, base: &Value<'a>, attribute: Option<&'a Expr>, run: &Run<'a>) {
        match attribute {
            Some(_) => self.by_attribute(base, attribute),
            None => self.use_whole(base, run.optional),
        }
    }

    /// Elements that a test is asked about, which stands at the argument `at`.
    fn tested_by(&mut self, value: &Value<'a>, args: &Args, at: usize) {
        let test = args.positional.get(at).map(literal);
        match test {
            None => self.look_at(value, true),
            Some(name) => match name.and_then(TestName::find) {
                Some(TestName::Defined | TestName::Undefined | TestName::None) => self.look_at(value, true),
                _ => self.use_whole(value, true),
            },
        }
    }

    /// An attribute of elements as filters name it: names with dots between them, where numbers are indexes. Several with
    /// commas between them are joined.
    fn attribute(&mut self, element: &Value<'a>, attribute: Option<&'a Expr>) -> Value<'a> {
        let Some(attribute) = attribute else { return Value::default() };
        match (&attribute.kind, literal(attribute)) {
            (_, Some(text)) => {
                let mut found = Value::default();
                for path in text.split(',') {
                    let walk = |value: Value<'a>, step: &str| match step.parse::<u32>() {
                        Ok(place) => value.at(i64::from(place)),
                        Err(_) => value.member(step),
                    };
                    found.join(&path.split('.').fold(element.clone(), walk));
                }
                found
            }
            (Kind::Int(place), None) => element.at(*place),
            _ => element.any_member(),
        }
    }
}

/// No arguments.
static NO_ARGS: Args = Args { positional: Vec::new(), named: Vec::new(), spread: None, spread_named: None };

/// The expression of an argument, by its place and its name.
fn argument<'a>(args: &'a Args, at: usize, name: &str) -> Option<&'a Expr> {
    let named = || args.named.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    args.positional.get(at).or_else(named)
}

impl<'a> Value<'a> {
    /// The same elements, in any order.
    pub(super) fn any_order(&self) -> Value<'a> {
        if self.parts().next().is_none() {
            return self.clone();
        }
        let mut elements = Value::default();
        self.parts().for_each(|part| elements.join(part));
        let mut value = Value::container(elements);
        value.join(&Value::data(self.paths().clone()));
        value
    }

    /// The pairs of its names and values.
    pub(super) fn pairs(&self) -> Value<'a> {
        Value::container(Value::list([Value::default(), self.element().optional()]))
    }
}
