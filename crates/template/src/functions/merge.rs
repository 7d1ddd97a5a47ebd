//! `merge` and `mergeOverwrite`, as `dario.cat/mergo` merges maps: into the first one, which changes.

use super::call::{Call, Made, Walk};
use super::logic::is_empty;
use crate::go::Val;

/// Fills in what is missing or empty.
pub fn merge<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    merge_all(call, false)
}

/// Replaces what is there, too.
pub fn merge_overwrite<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    merge_all(call, true)
}

fn merge_all<'a>(call: &Call<'_, 'a>, overwrite: bool) -> Made<'a> {
    let target = call.arg(0);
    let target = if target.is_nil() { call.context.map(Vec::new()) } else { target };
    let merge = Merge { call, walk: Walk::new(call.context), overwrite };
    for source in call.rest(1) {
        merge.maps(target, *source, 0)?;
    }
    Ok(target)
}

struct Merge<'m, 'c, 'a> {
    call: &'m Call<'c, 'a>,
    walk: Walk<'m, 'a>,
    overwrite: bool,
}

impl<'a> Merge<'_, '_, 'a> {
    fn maps(&self, target: Val<'a>, source: Val<'a>, depth: usize) -> Result<(), String> {
        self.call.room(source.len().unwrap_or(0).saturating_mul(size_of::<Val<'a>>() + 16))?;
        for (key, value) in source.members() {
            self.walk.step(depth)?;
            let known = target.member(key);
            if let Some(known) = known.filter(|known| known.is_map() && value.is_map()) {
                self.maps(known, value, depth + 1)?;
            }
            if self.replaces(target.member(key), value) {
                self.call.context.change(&target, key, Some(value))?;
            }
        }
        Ok(())
    }

    /// Whether a value takes the place of the one that is there.
    fn replaces(&self, known: Option<Val<'a>>, value: Val<'a>) -> bool {
        match known {
            None => self.overwrite || !value.is_nil(),
            Some(known) if known.is_map() && value.is_map() => is_empty(&known),
            Some(known) => self.overwrite || (is_empty(&known) && !value.is_nil()),
        }
    }
}
