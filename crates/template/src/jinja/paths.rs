//! Attributes that filters are given: `attribute='a.0.b'`.

use super::error::Stop;
use super::iter::PathStep;
use super::machine::Machine;
use super::val::Val;

impl<'a> Machine<'a> {
    /// The steps of `attribute='a.0.b'`.
    pub fn attribute_path(&mut self, attribute: Option<Val<'a>>) -> Result<Option<Vec<PathStep<'a>>>, Stop> {
        let Some(attribute) = attribute else { return Ok(None) };
        Ok(match attribute {
            Val::None | Val::Gap => None,
            attribute => match attribute.as_text() {
                Some(text) => Some(path_of(text)),
                None => Some(vec![PathStep::Value(attribute)]),
            },
        })
    }

    /// The part of an item at a path.
    pub fn walk(
        &mut self,
        item: Val<'a>,
        path: &[PathStep<'a>],
        default: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        let mut item = item;
        for step in path {
            self.step()?;
            let key = match step {
                PathStep::Name(name) => Val::Str(name),
                PathStep::Index(index) => Val::Int(*index),
                PathStep::Value(value) => *value,
            };
            if let Val::Pending(call) = item {
                return Err(super::machine::needed(call));
            }
            item = self.item(item, key, self.at)?;
            if let (Some(default), Val::Undefined(_)) = (default, item) {
                item = default;
            }
        }
        Ok(item)
    }
}

/// The steps of a dotted path.
pub(super) fn path_of(text: &str) -> Vec<PathStep<'_>> {
    let step = |part| match !str::is_empty(part) && part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.parse().map_or(PathStep::Name(part), PathStep::Index),
        false => PathStep::Name(part),
    };
    text.split('.').map(step).collect()
}
