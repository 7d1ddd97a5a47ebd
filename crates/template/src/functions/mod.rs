//! The functions that prompts have besides Go's own: those of sprig (`github.com/Masterminds/sprig`, version 3), and the tools.
//!
//! A function is a row in `table` and a small function in the file of its topic, which gets a [`Call`]. What they do, down to
//! the messages of errors, is what sprig does; what differs is listed in `docs/go-functions.md`.
//!
//! - `table`: all functions with their signatures; `call`: what a function is given
//! - by topic: `strings`, `words`, `wrap`, `lists`, `dicts`, `merge`, `numbers`, `decimals`, `convert`, `logic`, `json`,
//!   `encoding`, `dates`, `regex`, `paths`
//! - what they share: `equal` (`reflect.DeepEqual`, copies), `unicode` (categories of characters)

mod call;
mod convert;
mod dates;
mod decimals;
mod dicts;
mod encoding;
mod equal;
mod json;
mod lists;
mod logic;
mod merge;
mod numbers;
mod paths;
mod regex;
mod strings;
mod table;
#[cfg(test)]
mod tests;
mod unicode;
mod words;
mod wrap;

use crate::contract::{ARGUMENT_BYTES, Arguments, CallResult, Functions};
use crate::go::time::Moment;
use crate::go::{self, Context, Outcome, Signature, Val};
use crate::run::Random;

pub use table::{changes_data, is_service_function, use_of_arguments};

use call::Call;
pub use regex::Programs;

/// The functions here and the tools behind [`Functions`], for one run of a Go template.
pub struct ServiceFunctions<'t> {
    /// The tools.
    pub tools: &'t dyn Functions,
    /// What `now` gives.
    pub moment: Moment,
    /// What `uuidv4` draws from.
    pub random: Random,
    /// The regular expressions that the run has compiled.
    pub programs: Programs,
}

impl go::Functions for ServiceFunctions<'_> {
    fn signature(&self, name: &str) -> Option<Signature> {
        let own = table::find(name).map(|row| row.signature);
        own.or_else(|| self.tools.contains(name).then_some(Signature::ANY))
    }

    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        let Some(row) = table::find(name) else { return self.call_tool(name, args, context) };
        let call =
            Call { args, context, moment: &self.moment, random: &self.random, programs: &self.programs };
        match (row.body)(&call) {
            Ok(value) => Outcome::Value(value),
            Err(message) => Outcome::Error(message),
        }
    }
}

impl ServiceFunctions<'_> {
    fn call_tool<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a> {
        let arguments = Arguments {
            positional: args.iter().map(|arg| context.to_value(arg)).collect(),
            named: Vec::new(),
        };
        // The callee reads all arguments, which takes time that the clock must see.
        context.work(arguments.bytes_up_to(ARGUMENT_BYTES));
        match self.tools.call(name, arguments) {
            CallResult::Value(value) => Outcome::Value(context.value(value)),
            CallResult::Gap => Outcome::Gap,
            CallResult::Pending(call) => Outcome::Pending(call),
            CallResult::Denied(message) => Outcome::Error(message),
        }
    }
}
