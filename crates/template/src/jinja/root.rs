//! The root of a template's names: data, functions, and stand-ins for what is neither.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, from_args};
use minijinja::{Error, State, Value as Engine};

use super::data::{from_engine, to_engine};
use super::missing::{self, Gap, Missing, Parent};
use super::pending::{self, Pending};
use super::run;
use crate::value::Map;
use crate::{ARGUMENT_BYTES, Arguments, CallResult, Functions};

/// The engine's own functions, which a template finds behind the root.
pub(super) const GLOBALS: [&str; 3] = ["range", "dict", "namespace"];

/// What a template sees at the top level.
pub(super) struct Root {
    data: Arc<Map>,
    functions: Arc<dyn Functions>,
}

impl Root {
    /// The names of `functions`, and behind them those of `data`.
    pub fn new(data: Arc<Map>, functions: Arc<dyn Functions>) -> Root {
        Root { data, functions }
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<root>")
    }
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &Engine) -> Option<Engine> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Engine> {
        // Functions come first: a variable of a request must not replace one.
        if GLOBALS.contains(&key) {
            return None;
        }
        if self.functions.contains(key) {
            let functions = self.functions.clone();
            return Some(Engine::from_object(Tool { name: key.into(), functions, patient: false }));
        }
        Some(match self.data.get(key) {
            Some(value) => to_engine(value),
            None => Engine::from_dyn_object(Missing::member(Parent::Root, key)),
        })
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Empty
    }
}

/// A function that comes from outside of the template.
#[derive(Clone)]
struct Tool {
    name: Box<str>,
    functions: Arc<dyn Functions>,
    /// Whether it may take its time: the call stands where a result that is not known yet does no harm.
    patient: bool,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<function {}>", self.name)
    }
}

impl Object for Tool {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Engine]) -> Result<Engine, Error> {
        let Some(arguments) = arguments(args)? else { return Ok(Engine::from_object(Gap)) };
        // Whoever answers reads them all.
        run::work(arguments.bytes_up_to(ARGUMENT_BYTES))?;
        match self.functions.call(&self.name, arguments) {
            CallResult::Value(value) => Ok(to_engine(&value)),
            CallResult::Gap => Ok(Engine::from_object(Gap)),
            CallResult::Pending(call) if self.patient => Ok(Pending::result_of(call)),
            CallResult::Pending(call) => Err(pending::needed(call)),
            CallResult::Denied(message) => Err(Error::new(minijinja::ErrorKind::InvalidOperation, message)),
        }
    }
}

/// The function as it is called where a result that is not known yet does no harm.
pub(super) fn patient(function: &Engine) -> Engine {
    match function.downcast_object_ref::<Tool>() {
        Some(tool) => Engine::from_object(Tool { patient: true, ..tool.clone() }),
        None => function.clone(),
    }
}

/// The arguments of a call, or nothing if a missing value (which is recorded) or a gap is among them.
fn arguments(args: &[Engine]) -> Result<Option<Arguments>, Error> {
    let (positional, named): (&[Engine], Kwargs) = from_args(args)?;
    let mut arguments = Arguments::default();
    let mut complete = true;
    for value in positional {
        complete &= is_usable(value)?;
        arguments.positional.push(from_engine(value)?);
    }
    for name in named.args() {
        let value: Engine = named.peek(name)?;
        complete &= is_usable(&value)?;
        arguments.named.push((name.to_owned(), from_engine(&value)?));
    }
    Ok(complete.then_some(arguments))
}

fn is_usable(value: &Engine) -> Result<bool, Error> {
    if value.is_undefined() {
        // The engine's own error for this names the expression.
        value.get_attr("")?;
    }
    if let Some(missing) = missing::as_missing(value) {
        run::record(&missing);
    }
    Ok(missing::is_there(value))
}
