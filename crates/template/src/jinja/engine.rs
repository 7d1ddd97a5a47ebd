//! The engine as every template gets it: no escaping, our filters and tests, our limits.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, RwLock};

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::library::{Library, Text};
use super::{filters, json, methods, operators, print};
use crate::Limits;

/// What a macro call costs in the engine's own unit of recursion; a block costs 1, and an include 10. (The engine moves
/// to a new piece of stack before the thread's own runs out.)
const UNITS_A_CALL: usize = 4;

/// What all templates share; cloning it is cheap.
fn shared() -> &'static Environment<'static> {
    static SHARED: OnceLock<Environment<'static>> = OnceLock::new();
    SHARED.get_or_init(|| {
        let mut env = Environment::new();
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        env.set_auto_reload(false);
        // Errors name undefined expressions only in this mode; a good render pays nothing for it.
        env.set_debug(true);
        env.set_formatter(print::format);
        env.set_unknown_method_callback(methods::call);
        filters::register(&mut env);
        json::register(&mut env);
        operators::register(&mut env);
        env
    })
}

/// Whether there is a filter of this name.
pub(super) fn has_filter(name: &str) -> bool {
    static KNOWN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());
    has(&KNOWN, name, &format!("''|{name}"), ErrorKind::UnknownFilter)
}

/// Whether there is a test of this name.
pub(super) fn has_test(name: &str) -> bool {
    static KNOWN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());
    has(&KNOWN, name, &format!("'' is {name}"), ErrorKind::UnknownTest)
}

/// Finds out by trying, as the engine has no way to ask; remembers the names that exist.
fn has(known: &RwLock<BTreeSet<String>>, name: &str, trial: &str, unknown: ErrorKind) -> bool {
    if known.read().is_ok_and(|known| known.contains(name)) {
        return true;
    }
    let tried = shared().compile_expression(trial).and_then(|trial| trial.eval(()));
    let there = tried.err().is_none_or(|error| error.kind() != unknown);
    if let (true, Ok(mut known)) = (there, known.write()) {
        known.insert(name.to_owned());
    }
    there
}

/// The limit on recursion that the engine was given, in calls.
pub(super) fn recursion_limit(env: &Environment<'_>) -> usize {
    env.recursion_limit() / UNITS_A_CALL
}

/// The engine with the texts of one template.
///
/// # Errors
/// If the engine refuses a text that its own parser has accepted.
pub(super) fn environment(
    library: &Arc<Library>,
    limits: &Limits,
) -> Result<Environment<'static>, (Arc<Text>, Error)> {
    let mut env = shared().clone();
    env.set_recursion_limit(limits.recursion.saturating_mul(UNITS_A_CALL));
    env.set_fuel(Some(limits.steps));
    for (name, text) in library.texts() {
        env.add_template_owned(name, text.guarded.text.clone()).map_err(|error| (text, error))?;
    }
    let library = library.clone();
    env.set_loader(move |name| library.load(name));
    Ok(env)
}
