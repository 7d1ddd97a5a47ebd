//! The engine's filters and tests, made strict about missing values and bounded in what they build.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value as Engine, filters, tests};

use super::heft;
use super::missing::is_there;
use super::operators::{contains, touch};
use super::print::append;
use super::run::{self, ITEMS_LIMIT, Lookup, STRING_LIMIT};

/// A bound that holds before a filter runs: on what it would build, or look through.
type Bound = fn(&[Engine]) -> Result<(), Error>;

/// Replaces the engine's filters and tests by ours.
pub(super) fn register(env: &mut Environment<'_>) {
    text_filters(env);
    sequence_filters(env);
    for name in ["default", "d"] {
        env.add_filter(name, default);
    }
    guarded(env, "join", Engine::from_function(join), none);
    guarded(env, "replace", Engine::from_function(filters::replace), super::bounds::replace);
    register_tests(env);
}

fn none(_: &[Engine]) -> Result<(), Error> {
    Ok(())
}

fn text_filters(env: &mut Environment<'_>) {
    use super::bounds;
    guarded(env, "safe", Engine::from_function(filters::safe), none);
    for name in ["escape", "e"] {
        guarded(env, name, Engine::from_function(filters::escape), none);
    }
    guarded(env, "lower", Engine::from_function(filters::lower), none);
    guarded(env, "upper", Engine::from_function(filters::upper), none);
    guarded(env, "title", Engine::from_function(filters::title), none);
    guarded(env, "capitalize", Engine::from_function(filters::capitalize), none);
    guarded(env, "trim", Engine::from_function(filters::trim), none);
    guarded(env, "split", Engine::from_function(filters::split), bounds::split);
    guarded(env, "lines", Engine::from_function(filters::lines), bounds::lines);
    guarded(env, "indent", Engine::from_function(filters::indent), bounds::indent);
    guarded(env, "format", Engine::from_function(filters::format), bounds::format);
    guarded(env, "string", Engine::from_function(string), none);
    guarded(env, "pprint", Engine::from_function(filters::pprint), bounds::display);
    guarded(env, "urlencode", Engine::from_function(filters::urlencode), bounds::display);
    guarded(env, "round", Engine::from_function(filters::round), none);
    guarded(env, "abs", Engine::from_function(filters::abs), none);
    guarded(env, "int", Engine::from_function(filters::int), none);
    guarded(env, "float", Engine::from_function(filters::float), none);
}

fn sequence_filters(env: &mut Environment<'_>) {
    use super::bounds::{self, items};
    for name in ["length", "count"] {
        guarded(env, name, Engine::from_function(filters::length), none);
    }
    guarded(env, "dictsort", Engine::from_function(filters::dictsort), items);
    guarded(env, "items", Engine::from_function(filters::items), items);
    guarded(env, "reverse", Engine::from_function(filters::reverse), none);
    env.add_filter("attr", |value: &Engine, key: &Engine| value.get_item(key));
    guarded(env, "first", Engine::from_function(filters::first), none);
    guarded(env, "last", Engine::from_function(filters::last), none);
    guarded(env, "min", Engine::from_function(filters::min), items);
    guarded(env, "max", Engine::from_function(filters::max), items);
    guarded(env, "sort", Engine::from_function(filters::sort), items);
    guarded(env, "list", Engine::from_function(filters::list), items);
    env.add_filter("bool", |value: &Engine| value.is_true());
    guarded(env, "batch", Engine::from_function(filters::batch), items);
    guarded(env, "slice", Engine::from_function(filters::slice), items);
    guarded(env, "sum", Engine::from_function(filters::sum), bounds::sum);
    guarded(env, "select", Engine::from_function(filters::select), items);
    guarded(env, "reject", Engine::from_function(filters::reject), items);
    guarded(env, "selectattr", Engine::from_function(filters::selectattr), items);
    guarded(env, "rejectattr", Engine::from_function(filters::rejectattr), items);
    guarded(env, "map", Engine::from_function(filters::map), items);
    guarded(env, "groupby", Engine::from_function(filters::groupby), items);
    guarded(env, "unique", Engine::from_function(filters::unique), items);
    guarded(env, "chain", Engine::from_function(chain), items);
    guarded(env, "zip", Engine::from_function(filters::zip), items);
}

/// Adds a filter that looks at its arguments first and at its result afterwards.
fn guarded(env: &mut Environment<'_>, name: &'static str, inner: Engine, bound: Bound) {
    let by_attribute = matches!(name, "map" | "groupby" | "sum" | "sort" | "min" | "max" | "unique" | "join");
    env.add_filter(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
        let args = args.into_values();
        if let Some(stand_in) = stand_in(&args)? {
            return Ok(stand_in);
        }
        bound(&args)?;
        let ordered = matches!(name, "sort" | "unique" | "min" | "max" | "groupby" | "dictsort");
        if ordered {
            heft::order(name, &args)?
        } else {
            args.iter().try_for_each(heft::change)?
        }
        let result = if by_attribute {
            let run = run::current();
            let lookup = if has_default(&args) { Lookup::Absent } else { Lookup::Record };
            match run {
                Some(run) => run.looking_up(lookup, || inner.call(state, &args)),
                None => inner.call(state, &args),
            }
        } else {
            inner.call(state, &args)
        };
        not_too_big(result?)
    });
}

/// Looks at the arguments; the result, if one of them is not there.
fn stand_in(args: &[Engine]) -> Result<Option<Engine>, Error> {
    for value in args {
        touch(value)?;
        if value.as_object().is_some() && !is_there(value) {
            return Ok(Some(value.clone()));
        }
    }
    Ok(None)
}

fn has_default(args: &[Engine]) -> bool {
    let named: Result<(&[Engine], Kwargs), Error> = from_args(args);
    named.is_ok_and(|(_, named)| named.has("default"))
}

fn not_too_big(value: Engine) -> Result<Engine, Error> {
    if value.as_str().is_some_and(|text| text.len() > STRING_LIMIT) {
        return Err(run::too_long());
    }
    if value.kind() == ValueKind::Seq && value.len().is_some_and(|items| items > ITEMS_LIMIT) {
        return Err(run::too_many());
    }
    run::built(value)
}

/// Jinja's `default(value, boolean=false)`, which knows every kind of absence.
fn default(value: &Engine, args: Rest<ValueOrKwargs>) -> Result<Engine, Error> {
    let args = args.into_values();
    let (positional, named): (&[Engine], Kwargs) = from_args(&args)?;
    let other = match positional.first() {
        Some(other) => Some(other.clone()),
        None => named.get("default_value")?,
    };
    let lax = match positional.get(1) {
        Some(lax) => lax.is_true(),
        None => named.get::<Option<Engine>>("boolean")?.is_some_and(|lax| lax.is_true()),
    };
    named.assert_all_used()?;
    if positional.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let present = if lax { value.is_true() } else { is_there(value) };
    Ok(if present { value.clone() } else { other.unwrap_or_else(|| Engine::from("")) })
}

fn string(value: &Engine) -> Result<Engine, Error> {
    if value.is_undefined() {
        value.get_attr("")?;
    }
    if value.kind() == ValueKind::String {
        return Ok(value.clone());
    }
    let mut text = String::new();
    append(&mut text, value)?;
    Ok(Engine::from(text))
}

fn join(
    value: &Engine,
    joiner: Option<&Engine>,
    attribute: Option<&Engine>,
    named: Kwargs,
) -> Result<Engine, Error> {
    let joiner = match joiner {
        Some(joiner) => Some(joiner.clone()),
        None => named.get::<Option<Engine>>("d")?,
    };
    let attribute = match attribute {
        Some(attribute) => Some(attribute.clone()),
        None => named.get::<Option<Engine>>("attribute")?,
    };
    named.assert_all_used()?;
    let items = value.try_iter().map_err(|error| {
        let text = format!("cannot join value of type {}", value.kind());
        Error::new(ErrorKind::InvalidOperation, text).with_source(error)
    })?;
    let mut joined = Joined { text: String::new(), joiner, first: true };
    for item in items.checked() {
        joined.push(&member(item?, attribute.as_ref())?)?;
    }
    Ok(Engine::from(joined.text))
}

/// The value at a dotted path below an item.
pub(super) fn member(item: Engine, path: Option<&Engine>) -> Result<Engine, Error> {
    let Some(path) = path else { return Ok(item) };
    let Some(path) = path.as_str() else { return item.get_item(path) };
    path.split('.').try_fold(item, |value, part| match part.parse::<usize>() {
        Ok(index) => value.get_item_by_index(index),
        Err(_) => value.get_attr(part),
    })
}

struct Joined {
    text: String,
    joiner: Option<Engine>,
    first: bool,
}

impl Joined {
    fn push(&mut self, item: &Engine) -> Result<(), Error> {
        run::work(0)?;
        if !std::mem::take(&mut self.first)
            && let Some(joiner) = &self.joiner
        {
            append(&mut self.text, joiner)?;
        }
        append(&mut self.text, item)
    }
}

/// The text of a sequence's items with `joiner` between them.
pub(super) fn joined(joiner: &Engine, items: &Engine) -> Result<Engine, Error> {
    let mut joined = Joined { text: String::new(), joiner: Some(joiner.clone()), first: true };
    for item in items.try_iter()?.checked() {
        joined.push(&item?)?;
    }
    Ok(Engine::from(joined.text))
}

/// The engine's `chain`, which would find every key in our objects; maps are merged here instead.
fn chain(state: &mut State<'_, '_>, value: Engine, others: Rest<Engine>) -> Result<Engine, Error> {
    let all: Vec<Engine> = std::iter::once(value).chain(others.iter().cloned()).collect();
    if all.iter().all(|value| value.kind() == ValueKind::Map) {
        let pairs = all.iter().filter_map(|map| map.as_object()?.try_iter_pairs()).flatten();
        return Ok(Engine::from_pairs(pairs.take(ITEMS_LIMIT)));
    }
    let engine = Engine::from_function(filters::chain);
    engine.call(state, &all)
}

fn register_tests(env: &mut Environment<'_>) {
    env.add_test("defined", |value: &Engine| is_there(value));
    env.add_test("undefined", |value: &Engine| !is_there(value));
    env.add_test("divisibleby", divisible);
    env.add_test("in", |value: &Engine, container: &Engine| contains(value, container));
    typed(env, "sequence", tests::is_sequence);
    typed(env, "iterable", tests::is_iterable);
    typed(env, "mapping", tests::is_mapping);
    compared(env, &["eq", "equalto", "=="], tests::is_eq);
    compared(env, &["ne", "!="], tests::is_ne);
    compared(env, &["lt", "lessthan", "<"], tests::is_lt);
    compared(env, &["le", "<="], tests::is_le);
    compared(env, &["gt", "greaterthan", ">"], tests::is_gt);
    compared(env, &["ge", ">="], tests::is_ge);
}

/// A value that is not there has no type.
fn typed(env: &mut Environment<'_>, name: &'static str, test: fn(&Engine) -> bool) {
    env.add_test(name, move |value: &Engine| is_there(value) && test(value));
}

fn compared(env: &mut Environment<'_>, names: &[&'static str], test: fn(&Engine, &Engine) -> bool) {
    for name in names {
        env.add_test(*name, move |value: &Engine, other: &Engine| {
            touch(value)?;
            touch(other)?;
            heft::comparison(value)?;
            Ok::<bool, Error>(test(value, other))
        });
    }
}

fn divisible(value: &Engine, by: &Engine) -> Result<bool, Error> {
    touch(value)?;
    touch(by)?;
    Ok(by.is_number() && by.is_true() && tests::is_divisibleby(value, by))
}
