//! The operators that can build or search without bound, as filters that know the limits.
//!
//! The engine has no hook for `~`, `+`, `*` and `in`, so [`guard`](super::guard) rewrites them to
//! these filters before a template is compiled. The names are short because the engine looks at
//! every byte of a filter's name when it calls one.

use minijinja::machinery::{Span, ast};
use minijinja::value::{ObjectRepr, Rest};
use minijinja::{Environment, Error, ErrorKind, Value as Engine};

use super::heft;
use super::missing::{self, as_missing};
use super::pending::{self, Pending};
use super::print::{append, check, check_storable};
use super::root::patient;
use super::run::{self, ITEMS_LIMIT, STRING_LIMIT};
use super::turns::{Range, each, range};
use crate::value::Map;

/// `a ~ b ~ c` as `(a)|__c(b, c)`.
pub(super) const CONCAT: &str = "__c";
/// `a + b + c` as `(a)|__a(b, c)`.
pub(super) const ADD: &str = "__a";
/// `a * b` as `(a)|__m(b)`.
pub(super) const MUL: &str = "__m";
/// `a in b` as `(a)|__i(b)`.
pub(super) const IN: &str = "__i";
/// `a not in b` as `(a)|__n(b)`.
pub(super) const NOT_IN: &str = "__n";
/// An operand whose use costs time, or that must be there.
pub(super) const USE: &str = "__u";
/// An operand of arithmetic that the engine does by itself: a missing one is recorded, and a number stands for it.
pub(super) const NUMBER: &str = "__z";
/// What is looked into at a computed place, which costs time.
pub(super) const LOOK: &str = "__l";
/// A sequence or map that is spread over the arguments of a call.
pub(super) const SPREAD: &str = "__p";
/// A function whose result may come later: `f(x)` as `(f|__d)(x)`.
pub(super) const PATIENT: &str = "__d";
/// A name that is read, and that may stand for a result which is not known yet.
pub(super) const READ: &str = "__r";
/// A value that is stored under a name.
pub(super) const KEEP: &str = "__k";
/// A value that is stored in a namespace.
pub(super) const STORE: &str = "__s";
/// What a loop runs over, with the bytes of text that each turn writes.
pub(super) const EACH: &str = "__e";
/// Text that the engine writes by itself, in bytes: `{{ 10|__w }}`.
pub(super) const WRITTEN: &str = "__w";
/// The name of an included template, whose text the engine writes by itself.
pub(super) const INCLUDE: &str = "__t";

/// How many arguments one value may be spread over, and how many names an `include` may try.
const SPREAD_LIMIT: usize = 1_000;

/// Adds the filters to an environment.
pub(super) fn register(env: &mut Environment<'_>) {
    env.add_filter(CONCAT, concat);
    env.add_filter(ADD, add);
    env.add_filter(MUL, mul);
    env.add_filter(IN, contains);
    env.add_filter(NOT_IN, |value: &Engine, container: &Engine| Ok::<_, Error>(!contains(value, container)?));
    env.add_filter(USE, compared);
    env.add_filter(NUMBER, number);
    env.add_filter(LOOK, |value: &Engine| spend(value).map(|()| value.clone()));
    env.add_filter(KEEP, |value: &Engine| check(value).and_then(|()| settled(value)));
    env.add_filter(STORE, |value: &Engine| check_storable(value).and_then(|()| settled(value)));
    env.add_filter(PATIENT, patient);
    env.add_filter(READ, pending::read);
    env.add_filter(SPREAD, spread);
    env.add_filter(EACH, each);
    env.add_filter(WRITTEN, |bytes: usize| run::write(bytes).map(|()| ""));
    env.add_filter(INCLUDE, |name: &Engine| included(name).map(|()| name.clone()));
    env.add_function("range", range);
    env.remove_global("debug");
}

/// An operand of a comparison.
fn compared(value: &Engine) -> Result<Engine, Error> {
    touch(value)?;
    heft::comparison(value)?;
    Ok(value.clone())
}

/// Accounts for the use of a value: a missing one is recorded.
pub(super) fn touch(value: &Engine) -> Result<(), Error> {
    if let Some(missing) = as_missing(value) {
        run::record(&missing);
    }
    spend(value)
}

/// The number 1 for a missing value, which is recorded, so that the run can go on and find more; 0 for a gap.
fn number(value: &Engine) -> Engine {
    match as_missing(value) {
        Some(missing) => {
            run::record(&missing);
            Engine::from(1)
        }
        None if missing::is_stand_in(value) => Engine::from(0),
        None => value.clone(),
    }
}

/// What stands for the result of an operator when an operand is missing or a gap: the other one, so that the run can
/// go on.
fn beside_missing(a: &Engine, b: &Engine) -> Option<Engine> {
    match (missing::is_stand_in(a), missing::is_stand_in(b)) {
        (true, true) if as_missing(a).is_some() => Some(Engine::from(1)),
        (true, _) => Some(b.clone()),
        (false, true) => Some(a.clone()),
        (false, false) => None,
    }
}

/// Accounts for the time that using a value takes.
fn spend(value: &Engine) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => run::work(text.len()),
        None => check(value),
    }
}

/// The error of the engine for an undefined value, which names the expression.
pub(super) fn defined(value: &Engine) -> Result<(), Error> {
    if value.is_undefined() { value.get_attr("").map(drop) } else { Ok(()) }
}

/// A value that is spread over arguments, of which the engine keeps every one on its stack.
fn spread(value: &Engine) -> Result<Engine, Error> {
    touch(value)?;
    let value = settled(value)?;
    if value.len().is_some_and(|items| items > SPREAD_LIMIT) { Err(run::too_many()) } else { Ok(value) }
}

/// Accounts for the plain text of a partial that is about to be included, and sees that there are not
/// too many names to try.
fn included(name: &Engine) -> Result<(), Error> {
    touch(name)?;
    if name.as_str().map_or(name.len(), |name| Some(name.len())).is_some_and(|size| size > SPREAD_LIMIT) {
        return Err(run::too_many());
    }
    if name.as_str().is_some_and(|name| name.starts_with('\0')) {
        return Err(Error::new(ErrorKind::TemplateNotFound, "no prompt has such a name"));
    }
    if let Some(names) = name.as_object().and_then(|names| names.try_iter()) {
        names.filter(|name| name.as_object().is_none()).try_for_each(|name| included(&name))?;
    }
    let Some(run) = run::current() else { return Ok(()) };
    let text = name.as_str().and_then(|name| run.library.text(name));
    run::write(text.map_or(0, |text| text.guarded.plain))
}

fn concat(first: &Engine, others: Rest<Engine>) -> Result<Engine, Error> {
    let mut text = String::new();
    let mut pending = None;
    for value in std::iter::once(first).chain(others.iter()) {
        if let Some(call) = pending::call_of(value) {
            pending = pending.or(Some(call));
            continue;
        }
        defined(value)?;
        touch(value)?;
        append(&mut text, value)?;
    }
    match pending {
        Some(call) => Ok(Pending::result_of(call)),
        None => run::built(Engine::from(text)),
    }
}

fn add(first: &Engine, others: Rest<Engine>) -> Result<Engine, Error> {
    others.iter().try_fold(first.clone(), |sum, value| add_two(&sum, value))
}

fn add_two(a: &Engine, b: &Engine) -> Result<Engine, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        if a.len() + b.len() > STRING_LIMIT {
            return Err(run::too_long());
        }
        run::work(a.len() + b.len())?;
        return run::built(Engine::from([a, b].concat()));
    }
    if let (Some(a), Some(b)) = (small(a), small(b)) {
        return Ok(Engine::from(a + b));
    }
    touch(a)?;
    touch(b)?;
    if let Some(stand_in) = beside_missing(a, b) {
        return Ok(stand_in);
    }
    bounded(calculate(ast::BinOpKind::Add, "+", a, b)?)
}

/// An integer that no sum or product of two of its kind takes out of 64 bits.
fn small(value: &Engine) -> Option<i64> {
    if !value.is_integer() {
        return None;
    }
    i32::try_from(value.as_i64()?).ok().map(i64::from)
}

fn mul(a: &Engine, b: &Engine) -> Result<Engine, Error> {
    if let (Some(a), Some(b)) = (small(a), small(b)) {
        return Ok(Engine::from(a * b));
    }
    touch(a)?;
    touch(b)?;
    if let Some(stand_in) = beside_missing(a, b) {
        return Ok(stand_in);
    }
    for (value, times) in [(a, b), (b, a)] {
        room_to_repeat(value, times.as_usize().unwrap_or(0))?;
    }
    bounded(calculate(ast::BinOpKind::Mul, "*", a, b)?)
}

fn room_to_repeat(value: &Engine, times: usize) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        let fits = text.len().checked_mul(times).is_some_and(|bytes| bytes <= STRING_LIMIT);
        return if fits { run::work(text.len() * times) } else { Err(run::too_long()) };
    }
    let items = value.len().unwrap_or(0).checked_mul(times);
    if items.is_some_and(|items| items <= ITEMS_LIMIT) { Ok(()) } else { Err(run::too_many()) }
}

/// Refuses a sequence that has grown too long.
fn bounded(value: Engine) -> Result<Engine, Error> {
    if value.as_object().is_some() && value.len().is_some_and(|items| items > ITEMS_LIMIT) {
        return Err(run::too_many());
    }
    run::built(value)
}

/// Lets the engine itself calculate, by the door that it has: the folding of constants.
fn calculate(op: ast::BinOpKind, sign: &str, a: &Engine, b: &Engine) -> Result<Engine, Error> {
    let constant = |value: &Engine| {
        ast::Expr::Const(ast::Spanned::new(ast::Const { value: value.clone() }, Span::default()))
    };
    let sum = ast::BinOp { op, left: constant(a), right: constant(b) };
    let result = ast::Expr::BinOp(ast::Spanned::new(sum, Span::default())).as_const();
    result.ok_or_else(|| impossible(sign, a, b))
}

fn impossible(sign: &str, a: &Engine, b: &Engine) -> Error {
    for value in [a, b] {
        if let Err(error) = defined(value) {
            return error;
        }
    }
    let text = if a.is_number() && b.is_number() {
        format!("unable to calculate {a} {sign} {b}")
    } else {
        format!("tried to use {sign} operator on unsupported types {} and {}", a.kind(), b.kind())
    };
    Error::new(ErrorKind::InvalidOperation, text)
}

/// Whether a container holds a value.
pub(super) fn contains(value: &Engine, container: &Engine) -> Result<bool, Error> {
    touch(value)?;
    touch(container)?;
    defined(container)?;
    defined(value)?;
    if !missing::is_there(container) {
        return Ok(false);
    }
    if let Some(map) = container.downcast_object_ref::<Map>() {
        return Ok(value.as_str().is_some_and(|key| map.get(key).is_some()));
    }
    let Some(object) = container.as_object() else { return text_contains(value, container) };
    match object.repr() {
        ObjectRepr::Map => Ok(object.get_value(value).is_some()),
        ObjectRepr::Seq | ObjectRepr::Iterable => sequence_contains(value, container),
        _ => Ok(false),
    }
}

fn sequence_contains(value: &Engine, container: &Engine) -> Result<bool, Error> {
    heft::search(value, container)?;
    for item in container.try_iter()?.checked() {
        run::work(0)?;
        if item? == *value {
            return Ok(true);
        }
    }
    Ok(false)
}

fn text_contains(value: &Engine, container: &Engine) -> Result<bool, Error> {
    let Some(text) = container.as_str() else {
        let text = "cannot perform a containment check on this value";
        return Err(Error::new(ErrorKind::InvalidOperation, text));
    };
    heft::change(container)?;
    match value.as_str() {
        Some(needle) => Ok(text.contains(needle)),
        None => {
            let mut needle = String::new();
            append(&mut needle, value)?;
            Ok(text.contains(&needle))
        }
    }
}

/// A value as it may be stored: lazy sequences are worked out, so that they cannot pile up.
fn settled(value: &Engine) -> Result<Engine, Error> {
    let Some(object) = value.as_object() else { return Ok(value.clone()) };
    if object.repr() == ObjectRepr::Iterable && missing::is_there(value) && !object.is::<Range>() {
        let items = value.try_iter()?.checked().take(ITEMS_LIMIT + 1).collect::<Result<Vec<_>, _>>()?;
        return bounded(Engine::from(items));
    }
    Ok(value.clone())
}
