//! The filters that do nothing until their items are asked for: `map`, `select`, `reject` and their kin.

use super::builtin::{FilterName, TestName};
use super::error::Stop;
use super::iter::{Arguments, Iter, LazyStep, Source};
use super::machine::Machine;
use super::val::Val;

impl<'a> Machine<'a> {
    pub fn filter_map(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        if !self.truth(base)? {
            return self.iter_value(Source::Empty, "generator");
        }
        let source = self.iterate(base)?;
        let of = self.iter_of(source, "generator")?;
        let attribute = args.named.iter().find(|(name, _)| *name == "attribute");
        if let (true, Some((_, attribute))) = (args.positional.is_empty(), attribute) {
            let other = args.named.iter().find(|(name, _)| !matches!(*name, "attribute" | "default"));
            if let Some((name, _)) = other {
                return Err(self.fail(format!("Unexpected keyword argument '{name}'")));
            }
            let default = args.named.iter().find(|(name, _)| *name == "default").map(|(_, value)| *value);
            let default = default.filter(|default| !matches!(default, Val::None));
            let path = self.attribute_path(Some(*attribute))?.unwrap_or_default();
            return self.lazy(of, LazyStep::Attribute { path, default });
        }
        let Some((name, rest)) = args.positional.split_first() else {
            return Err(self.fail("map requires a filter argument"));
        };
        let args = Arguments { positional: rest.to_vec(), named: args.named.clone() };
        self.lazy(of, LazyStep::Filter { name: *name, args })
    }

    pub fn filter_select(
        &mut self,
        base: Val<'a>,
        args: &Arguments<'a>,
        by_attribute: bool,
        keeps: bool,
    ) -> Result<Val<'a>, Stop> {
        if !self.truth(base)? {
            return self.iter_value(Source::Empty, "generator");
        }
        let source = self.iterate(base)?;
        let of = self.iter_of(source, "generator")?;
        let mut rest = args.positional.as_slice();
        let mut path = None;
        if by_attribute {
            let Some((attribute, others)) = rest.split_first() else {
                return Err(self.fail("Missing parameter for attribute name"));
            };
            path = Some(self.attribute_path(Some(*attribute))?.unwrap_or_default());
            rest = others;
        }
        let test = rest
            .split_first()
            .map(|(name, rest)| (*name, Arguments { positional: rest.to_vec(), named: args.named.clone() }));
        self.lazy(of, LazyStep::Select { path, test, keeps })
    }

    /// The next item of a lazy filter.
    pub fn advance_lazy(
        &mut self,
        of: &'a Iter<'a>,
        step: &'a LazyStep<'a>,
    ) -> Result<Option<Val<'a>>, Stop> {
        while let Some(item) = self.next(of)? {
            self.step()?;
            match step {
                LazyStep::Filter { name, args } => {
                    let name = self.demand(*name)?;
                    let name = self.text_of(name)?;
                    return match FilterName::find(name) {
                        Some(filter) => self.apply_filter(filter, item, args).map(Some),
                        None => Err(self.fail(format!("No filter named '{name}'."))),
                    };
                }
                LazyStep::Attribute { path, default } => return self.walk(item, path, *default).map(Some),
                LazyStep::Select { path, test, keeps } => {
                    let subject = match path {
                        Some(path) => self.walk(item, path, None)?,
                        None => item,
                    };
                    let holds = match test {
                        Some((name, args)) => self.named_test(*name, subject, args)?,
                        None => self.truth(subject)?,
                    };
                    if holds == *keeps {
                        return Ok(Some(item));
                    }
                }
            }
        }
        Ok(None)
    }

    fn named_test(&mut self, name: Val<'a>, subject: Val<'a>, args: &Arguments<'a>) -> Result<bool, Stop> {
        let name = self.demand(name)?;
        let name = self.text_of(name)?;
        match TestName::find(name) {
            Some(test) => self.holds_test(test, subject, args),
            None => Err(self.fail(format!("No test named '{name}'."))),
        }
    }
}
