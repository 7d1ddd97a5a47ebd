//! Tests (`x is …`).

use super::ast::{BinaryOp, CompareOp, Spot, Test};
use super::builtin::{FilterName, TestName};
use super::error::Stop;
use super::iter::Arguments;
use super::machine::{Machine, needed};
use super::val::{Object, Val};
use crate::python::case;

impl<'a> Machine<'a> {
    /// Evaluates a test.
    pub fn apply_test(&mut self, test: &'a Test, spot: Spot) -> Result<bool, Stop> {
        let base = self.eval(&test.base)?;
        self.at = spot;
        match test.test {
            Some(TestName::Defined) if test.args.positional.is_empty() => self.is_defined(base),
            Some(TestName::Undefined) if test.args.positional.is_empty() => Ok(!self.is_defined(base)?),
            Some(name) => {
                let args = self.arguments(&test.args)?;
                self.at = spot;
                self.holds_test(name, base, &args)
            }
            None => Err(self.fail(format!("No test named '{}' found.", test.name))),
        }
    }

    fn is_defined(&self, value: Val<'a>) -> Result<bool, Stop> {
        match value {
            Val::Pending(call) => Err(needed(call)),
            value => Ok(!matches!(value, Val::Undefined(_) | Val::Gap | Val::Unset)),
        }
    }

    /// Whether a test holds for a value.
    pub fn holds_test(&mut self, test: TestName, base: Val<'a>, args: &Arguments<'a>) -> Result<bool, Stop> {
        if let Val::Pending(call) = base {
            return Err(needed(call));
        }
        if let Some(op) = comparison(test) {
            let other = self.one("the test", args)?;
            let base = self.settle(base, self.at)?;
            return self.holds(op, base, other);
        }
        match test {
            TestName::Divisibleby => {
                let [by] = self.bind("divisibleby", ["num"], args)?;
                let by = self.required("divisibleby", by)?;
                return self.is_remainder(base, by, 0);
            }
            TestName::Sameas => {
                let [other] = self.bind("sameas", ["other"], args)?;
                let Some(other) = other else {
                    return Err(self.fail("sameas() is missing a required argument"));
                };
                if let Val::Pending(call) = other {
                    return Err(needed(call));
                }
                let (base, other) = (self.live(base), self.live(other));
                return Ok(base.is_same(&other));
            }
            TestName::In => {
                let [Some(whole)] = self.bind("in", ["seq"], args)? else {
                    return Err(self.fail("in is missing a required argument"));
                };
                let whole = self.settle(whole, self.at)?;
                return self.contains(whole, base);
            }
            _ => self.bind("the test", [], args)?,
        };
        let base = self.live(base);
        Ok(match test {
            TestName::Defined => self.is_defined(base)?,
            TestName::Undefined => !self.is_defined(base)?,
            TestName::None => matches!(base, Val::None),
            TestName::Boolean => matches!(base, Val::Bool(_)),
            TestName::True => matches!(base, Val::Bool(true)),
            TestName::False => matches!(base, Val::Bool(false)),
            TestName::Integer => matches!(base, Val::Int(_) | Val::Big(_)),
            TestName::Float => matches!(base, Val::Float(_)),
            TestName::Number => base.is_number(),
            TestName::String => base.as_text().is_some(),
            TestName::Mapping => matches!(base, Val::DataMap(_) | Val::Dict(_)),
            TestName::Sequence => {
                let is_lenient = matches!(base, Val::Undefined(_)) && self.lenient;
                is_lenient
                    || base.as_text().is_some()
                    || matches!(
                        base,
                        Val::Bytes(_)
                            | Val::DataList(_)
                            | Val::List(_)
                            | Val::Tuple(_)
                            | Val::DataMap(_)
                            | Val::Dict(_)
                            | Val::Range(_)
                            | Val::Object(Object::Blocks(_))
                    )
            }
            TestName::Iterable => {
                let base = self.settle(base, self.at)?;
                self.is_iterable(base) && !matches!(base, Val::Gap)
            }
            TestName::Callable => self.is_callable(base),
            TestName::Escaped => {
                matches!(base, Val::Markup(_)) || matches!(base, Val::Object(Object::Module(_)))
            }
            TestName::Even => self.is_remainder(base, Val::Int(2), 0)?,
            TestName::Odd => self.is_remainder(base, Val::Int(2), 1)?,
            TestName::Lower | TestName::Upper => {
                let base = self.settle(base, self.at)?;
                let text = self.text_of(base)?;
                self.work(text.len())?;
                if test == TestName::Lower { case::is_lower_text(text) } else { case::is_upper_text(text) }
            }
            TestName::Filter | TestName::Test => {
                let base = self.settle(base, self.at)?;
                self.check_key(base)?;
                match (base.as_text(), test) {
                    (Some(name), TestName::Filter) => FilterName::find(name).is_some(),
                    (Some(name), _) => TestName::find(name).is_some(),
                    (None, _) => false,
                }
            }
            _ => false,
        })
    }

    /// Whether `base % by` is this remainder.
    fn is_remainder(&mut self, base: Val<'a>, by: Val<'a>, remainder: i64) -> Result<bool, Stop> {
        let base = self.demand(base)?;
        let by = self.demand(by)?;
        if matches!((base, by), (Val::Gap, _) | (_, Val::Gap)) {
            return Ok(false);
        }
        let rest = self.binary(BinaryOp::Mod, base, by)?;
        self.equal(rest, Val::Int(remainder))
    }
}

/// The comparison that a test is another name of.
fn comparison(test: TestName) -> Option<CompareOp> {
    Some(match test {
        TestName::Eq => CompareOp::Eq,
        TestName::Ne => CompareOp::Ne,
        TestName::Lt => CompareOp::Lt,
        TestName::Le => CompareOp::Le,
        TestName::Gt => CompareOp::Gt,
        TestName::Ge => CompareOp::Ge,
        _ => return None,
    })
}
