//! Values as plain data, for functions outside of the template.

use num_traits::ToPrimitive;

use super::error::Stop;
use super::machine::Machine;
use super::make::NESTING_MAX;
use super::val::Val;
use crate::value::{Map, SmolStr, Value};

impl<'a> Machine<'a> {
    /// A value as plain data. The parts of the data are shared; a gap inside is null.
    pub fn plain_value(&mut self, value: Val<'a>) -> Result<Value, Stop> {
        self.plain_value_at(value, 0)
    }

    fn plain_value_at(&mut self, value: Val<'a>, depth: usize) -> Result<Value, Stop> {
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        self.step()?;
        self.charge(size_of::<Value>())?;
        let value = self.settle(value, self.at)?;
        Ok(match self.live(value) {
            Val::None | Val::Gap | Val::Unset | Val::Undefined(_) | Val::Pending(_) => Value::Null,
            Val::Bool(value) => Value::Bool(value),
            Val::Int(value) => Value::Int(value),
            Val::Big(value) => match value.to_u64() {
                Some(value) => Value::UInt(value),
                None => Value::Float(value.to_f64().unwrap_or(f64::INFINITY)),
            },
            Val::Float(value) => Value::Float(value),
            Val::Str(text) | Val::Markup(text) => {
                self.charge(text.len())?;
                Value::from(text)
            }
            Val::DataList(list) if self.changed.is_empty() => Value::List(list.clone()),
            Val::DataMap(map) if self.changed.is_empty() => Value::Map(map.clone()),
            value @ (Val::DataMap(_) | Val::Dict(_)) => {
                let mut entries: Vec<(SmolStr, Value)> = Vec::new();
                let mut at = 0;
                while let Some((name, member)) = self.map_entry(value, at)? {
                    let name = self.text_of(name)?;
                    self.charge(name.len() + size_of::<(SmolStr, Value)>())?;
                    let member = self.with_stack(|machine| machine.plain_value_at(member, depth + 1))?;
                    entries.push((name.into(), member));
                    at += 1;
                }
                Value::from(Map::from_entries(entries))
            }
            value if self.is_iterable(value) => {
                let mut source = self.iterate(value)?;
                let mut items = Vec::new();
                while let Some(item) = self.advance(&mut source)? {
                    items.push(self.with_stack(|machine| machine.plain_value_at(item, depth + 1))?);
                }
                Value::from(items)
            }
            Val::Namespace(members) => self.plain_value_at(Val::Dict(members), depth + 1)?,
            other => {
                let text = self.text_of(other)?;
                Value::from(text)
            }
        })
    }
}
