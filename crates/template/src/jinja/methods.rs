//! Python's methods on strings, maps and lists, bounded like the filters.

use minijinja::value::from_args;
use minijinja::{Error, State, Value as Engine};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::operators::touch;
use super::run::{self, STRING_LIMIT};
use super::{bounds, data, filters, heft};
use crate::value::Map;

/// Calls `value.method(args)`.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Engine,
    method: &str,
    args: &[Engine],
) -> Result<Engine, Error> {
    touch(value)?;
    for arg in args {
        touch(arg)?;
    }
    if let Some(map) = value.downcast_object::<Map>()
        && method == "get"
    {
        return get(&map, args);
    }
    args.iter().try_for_each(heft::change)?;
    match (method, args) {
        ("index" | "count" | "remove", [wanted]) if value.as_object().is_some() => {
            heft::search(wanted, value)?
        }
        _ => heft::change(value)?,
    }
    if value.as_str().is_some() {
        bound(value, method, args)?;
    }
    if let (Some(_), "join", [items]) = (value.as_str(), method, args) {
        return filters::joined(value, items);
    }
    let result = unknown_method_callback(state, value, method, args)?;
    if result.as_str().is_some_and(|text| text.len() > STRING_LIMIT) {
        return Err(run::too_long());
    }
    run::built(result)
}

fn bound(value: &Engine, method: &str, args: &[Engine]) -> Result<(), Error> {
    let all: Vec<Engine> = std::iter::once(value).chain(args).cloned().collect();
    match method {
        "replace" => bounds::replace(&all),
        "split" => bounds::split(&all),
        "splitlines" => bounds::lines(&all),
        "format" => bounds::format(&all),
        _ => Ok(()),
    }
}

/// `map.get(key, default=none)`: asking is not using, so nothing is missing here.
fn get(map: &std::sync::Arc<Map>, args: &[Engine]) -> Result<Engine, Error> {
    let (key, default): (&Engine, Option<Engine>) = from_args(args)?;
    let found = key.as_str().and_then(|key| map.get(key)).map(data::to_engine);
    Ok(found.or(default).unwrap_or_else(|| Engine::from(())))
}
