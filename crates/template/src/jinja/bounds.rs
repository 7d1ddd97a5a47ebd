//! Bounds that hold before a filter or method of the engine runs: what it would build from its arguments.

use minijinja::value::{Kwargs, ValueKind, from_args};
use minijinja::{Error, Value as Engine};

use super::print::append;
use super::run::{self, ITEMS_LIMIT, STRING_LIMIT};

fn at_most(bytes: Option<usize>) -> Result<(), Error> {
    match bytes {
        Some(bytes) if bytes <= STRING_LIMIT => run::work(bytes),
        _ => Err(run::too_long()),
    }
}

fn text(value: Option<&Engine>) -> Result<String, Error> {
    let mut text = String::new();
    if let Some(value) = value {
        append(&mut text, value)?;
    }
    Ok(text)
}

/// For `replace(from, to)`.
pub(super) fn replace(args: &[Engine]) -> Result<(), Error> {
    let (value, from, to) = (text(args.first())?, text(args.get(1))?, text(args.get(2))?);
    let matches = if from.is_empty() { value.chars().count() + 1 } else { value.matches(&from).count() };
    at_most(matches.checked_mul(to.len()).and_then(|bytes| bytes.checked_add(value.len())))
}

/// For `split(separator)`.
pub(super) fn split(args: &[Engine]) -> Result<(), Error> {
    let value = text(args.first())?;
    let parts = match args.get(1).and_then(Engine::as_str) {
        Some(separator) => value.split(separator).take(ITEMS_LIMIT + 1).count(),
        None => value.split_whitespace().take(ITEMS_LIMIT + 1).count(),
    };
    if parts > ITEMS_LIMIT { Err(run::too_many()) } else { Ok(()) }
}

/// For `lines`.
pub(super) fn lines(args: &[Engine]) -> Result<(), Error> {
    let lines = text(args.first())?.lines().take(ITEMS_LIMIT + 1).count();
    if lines > ITEMS_LIMIT { Err(run::too_many()) } else { Ok(()) }
}

/// For `indent(width, …)`.
pub(super) fn indent(args: &[Engine]) -> Result<(), Error> {
    let (positional, named): (&[Engine], Kwargs) = from_args(args)?;
    let width = positional.get(1).and_then(Engine::as_usize);
    let width = width.or_else(|| named.peek::<Option<usize>>("width").ok().flatten()).unwrap_or(4);
    let value = text(positional.first())?;
    let lines = value.matches('\n').count() + 1;
    at_most(lines.checked_mul(width).and_then(|bytes| bytes.checked_add(value.len())))
}

/// For everything that writes its argument out: text may grow threefold on the way.
pub(super) fn display(args: &[Engine]) -> Result<(), Error> {
    at_most(Some(text(args.first())?.len()))
}

/// For `format`, printf-like or `str.format`: every number in the format may be a width, every field
/// may print the longest argument.
pub(super) fn format(args: &[Engine]) -> Result<(), Error> {
    let pattern = text(args.first())?;
    let fields = pattern.matches(['%', '{']).count();
    let (positional, named): (&[Engine], Kwargs) = from_args(args)?;
    let mut longest = 0;
    let mut widths = written_numbers(&pattern);
    let named: Vec<Engine> = named.args().filter_map(|name| named.peek(name).ok()).collect();
    for value in positional.iter().skip(1).chain(&named) {
        longest = longest.max(text(Some(value))?.len());
        // A number may be taken for a width (`%*d`, `{:{}}`).
        if value.is_integer() && (pattern.contains('*') || pattern.contains(":{")) {
            widths = widths.saturating_add(value.as_usize().unwrap_or(usize::MAX));
        }
    }
    at_most(fields.checked_mul(longest).and_then(|bytes| bytes.checked_add(widths)))
}

fn written_numbers(pattern: &str) -> usize {
    let numbers = pattern.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.fold(pattern.len(), |sum, digits| sum.saturating_add(digits.parse().unwrap_or(usize::MAX)))
}

/// For filters that make a list: neither the input nor a count may be too large.
pub(super) fn items(args: &[Engine]) -> Result<(), Error> {
    let too_long = args.first().and_then(Engine::len).is_some_and(|items| items > ITEMS_LIMIT);
    let counts = args.iter().skip(1).filter(|value| value.is_integer());
    let too_many = counts.filter_map(Engine::as_usize).any(|count| count > ITEMS_LIMIT);
    if too_long || too_many { Err(run::too_many()) } else { Ok(()) }
}

/// For `sum`, which also strings texts and sequences together.
pub(super) fn sum(args: &[Engine]) -> Result<(), Error> {
    items(args)?;
    let Some(values) = args.first().filter(|value| value.kind() != ValueKind::String) else { return Ok(()) };
    let (mut bytes, mut parts) = (0_usize, 0_usize);
    for item in values.try_iter()?.checked() {
        let item = item?;
        run::work(0)?;
        match item.as_str() {
            Some(text) => bytes = bytes.saturating_add(text.len()),
            None => parts = parts.saturating_add(item.len().unwrap_or(0)),
        }
    }
    if parts > ITEMS_LIMIT { Err(run::too_many()) } else { at_most(Some(bytes)) }
}
