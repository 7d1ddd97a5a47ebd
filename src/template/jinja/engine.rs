//! The engine as every template gets it: no escaping, our filters and tests, our limits.

use std::sync::{Arc, OnceLock};

use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};

use super::library::{Library, Text};
use super::{filters, json, methods, operators, print};
use crate::template::Limits;

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
