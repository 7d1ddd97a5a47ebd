//! Calls: of macros, of Jinja's own functions, and of functions outside of the template.

use std::cell::Cell;

use super::ast::{Args, Call, Expr, Kind, Slot};
use super::error::Stop;
use super::exec::Flow;
use super::iter::Arguments;
use super::machine::{Machine, needed};
use super::val::{Activation, Global, MacroValue, Object, Range, Undefined, Val};
use crate::{ARGUMENT_BYTES, CallResult};

impl<'a> Machine<'a> {
    /// Evaluates a call; `caller` is the body of a `call` block.
    pub fn call_with(
        &mut self,
        call: &'a Call,
        expr: &'a Expr,
        caller: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        if let Kind::Attr(attr) = &call.callee.kind {
            let of = self.value(&attr.of)?;
            self.at = expr.spot;
            return self.call_attr(of, &attr.name, call, expr, caller);
        }
        let mut callee = self.eval(&call.callee)?;
        self.at = expr.spot;
        // A function wins over data of the same name, which cannot be called.
        if let Kind::Name { name, .. } = &call.callee.kind
            && !self.is_callable_now(callee)
        {
            match self.function(name)? {
                Val::Unset if matches!(callee, Val::Undefined(_)) => {
                    return Err(
                        self.fail(format!("'{name}' is undefined: there is no function of this name"))
                    );
                }
                Val::Unset => {}
                function => callee = function,
            }
        }
        self.call_value(callee, call, expr, caller)
    }

    fn is_callable_now(&self, value: Val<'a>) -> bool {
        matches!(value, Val::Gap | Val::Pending(_))
            || (self.is_callable(value) && !matches!(value, Val::Undefined(_)))
    }

    /// `of.name(…)`.
    fn call_attr(
        &mut self,
        of: Val<'a>,
        name: &'a str,
        call: &'a Call,
        expr: &'a Expr,
        caller: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        if matches!(of, Val::Gap) {
            return Ok(Val::Gap);
        }
        let of = self.demand(of)?;
        let of = self.live(of);
        if super::methods::has_method(&of, name) {
            let args = self.arguments(&call.args)?;
            self.at = expr.spot;
            return self.call_method(of, name, &args);
        }
        let callee = self.attr(of, name, expr.spot)?;
        if let Val::Undefined(_) = callee
            && matches!(of, Val::Undefined(_) | Val::Gap)
        {
            return self.demand(callee);
        }
        if matches!(callee, Val::Undefined(Undefined::Absent(_))) {
            let of = of.type_name();
            let message = format!("'{of} object' has no attribute '{name}': there is no method of this name");
            return Err(self.fail(message));
        }
        self.call_value(callee, call, expr, caller)
    }

    fn call_value(
        &mut self,
        callee: Val<'a>,
        call: &'a Call,
        expr: &'a Expr,
        caller: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        match callee {
            Val::Pending(call) => return Err(needed(call)),
            Val::Gap => return Ok(Val::Gap),
            _ => {}
        }
        let mut args = self.arguments(&call.args)?;
        if let Some(caller) = caller {
            args.named.push(("caller", caller));
        }
        self.at = expr.spot;
        self.invoke(callee, args)
    }

    /// Evaluates the arguments of a call.
    pub fn arguments(&mut self, args: &'a Args) -> Result<Arguments<'a>, Stop> {
        let mut arguments =
            Arguments { positional: Vec::with_capacity(args.positional.len()), named: Vec::new() };
        for arg in &args.positional {
            arguments.positional.push(self.eval(arg)?);
        }
        for (name, arg) in &args.named {
            let value = self.eval(arg)?;
            arguments.named.push((name, value));
        }
        if let Some(spread) = &args.spread {
            let value = self.value(spread)?;
            let items = self.collect(value)?;
            self.charge(items.len() * size_of::<Val<'a>>())?;
            arguments.positional.extend(items);
        }
        if let Some(spread) = &args.spread_named {
            let value = self.value(spread)?;
            if !matches!(self.live(value), Val::DataMap(_) | Val::Dict(_) | Val::Gap) {
                return Err(
                    self.fail(format!("argument after ** must be a mapping, not {}", value.type_name()))
                );
            }
            let mut at = 0;
            while let Some((name, member)) = self.map_entry(value, at)? {
                self.charge(size_of::<(&str, Val<'a>)>())?;
                self.work_items(1 + arguments.named.len() / 16)?;
                let Some(name) = name.as_text() else { return Err(self.fail("keywords must be strings")) };
                if arguments.named.iter().any(|(known, _)| *known == name) {
                    return Err(self.fail(format!("got multiple values for keyword argument '{name}'")));
                }
                arguments.named.push((name, member));
                at += 1;
            }
        }
        Ok(arguments)
    }

    /// Calls a value.
    pub fn invoke(&mut self, callee: Val<'a>, args: Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.step()?;
        match callee {
            Val::Object(Object::Macro(value)) => self.call_macro(value, args),
            Val::Object(Object::Tool(name)) => self.call_tool(name, &args),
            Val::Object(Object::Global(global)) => self.call_global(*global, args),
            Val::Object(Object::Method { of, name }) => self.call_method(*of, name, &args),
            Val::Object(Object::Joiner { separator, used }) => {
                self.none("joiner", &args)?;
                Ok(if used.replace(true) { *separator } else { Val::Str("") })
            }
            Val::Object(Object::Block { name, context, depth }) => {
                self.none(name, &args)?;
                let (_, text) = self.captured_apart(|machine| {
                    machine.run_block(name, context, *depth).map(|()| Flow::Next)
                })?;
                Ok(text)
            }
            Val::Loop(state) => self.call_loop(state, &args),
            Val::Gap => Ok(Val::Gap),
            other => {
                let other = self.demand(other)?;
                if matches!(other, Val::Gap) {
                    return Ok(Val::Gap);
                }
                Err(self.fail(format!("'{}' object is not callable", other.type_name())))
            }
        }
    }

    /// Calls a function outside of the template, unless an argument is missing.
    fn call_tool(&mut self, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let mut arguments = crate::Arguments::default();
        let mut complete = true;
        for value in &args.positional {
            let value = self.demand(*value)?;
            complete &= !matches!(value, Val::Gap);
            arguments.positional.push(self.plain_value(value)?);
        }
        for (name, value) in &args.named {
            let value = self.demand(*value)?;
            complete &= !matches!(value, Val::Gap);
            arguments.named.push(((*name).to_owned(), self.plain_value(value)?));
        }
        if !complete {
            return Ok(Val::Gap);
        }
        // The callee reads them all, which takes time that the clock must see.
        self.work(arguments.bytes_up_to(ARGUMENT_BYTES))?;
        match self.functions.call(name, arguments) {
            CallResult::Value(value) => self.plain(value),
            CallResult::Gap => Ok(Val::Gap),
            CallResult::Pending(call) => {
                self.pending = true;
                Ok(Val::Pending(call))
            }
            CallResult::Denied(message) => Err(self.fail(message)),
        }
    }

    /// Calls a macro: the text that it prints.
    fn call_macro(&mut self, value: &'a MacroValue<'a>, mut args: Arguments<'a>) -> Result<Val<'a>, Stop> {
        let definition = value.definition;
        let count = definition.params.len();
        let here = self.store.activation(definition.slots, Some(value.outer));
        self.charge(definition.slots * size_of::<Val<'a>>() + size_of::<Activation<'a>>())?;
        let set = |slot: Slot, value: Val<'a>| {
            if let Some(cell) = here.slots.get(slot.index as usize) {
                cell.set(value);
            }
        };
        let rest = args.positional.split_off(count.min(args.positional.len()));
        let given = args.positional.len();
        for (param, value) in definition.params.iter().zip(&args.positional) {
            set(param.slot, *value);
        }
        let mut found_caller = given == count && definition.params.iter().any(|param| param.name == "caller");
        for param in definition.params.iter().skip(given) {
            found_caller |= param.name == "caller";
            if let Some(at) = args.named.iter().position(|(name, _)| *name == param.name) {
                set(param.slot, args.named.swap_remove(at).1);
            }
        }
        if let (Some(slot), false) = (definition.caller, found_caller) {
            let at = args.named.iter().position(|(name, _)| *name == "caller");
            let caller = match at.map(|at| args.named.remove(at).1) {
                Some(caller) if !matches!(caller, Val::None) => caller,
                _ => self.undefined_because("No caller defined")?,
            };
            set(slot, caller);
        }
        if let Some(slot) = definition.kwargs {
            let dict = self.new_dict()?;
            for (name, value) in &args.named {
                self.dict_insert(dict, Val::Str(name), *value)?;
            }
            set(slot, Val::Dict(dict));
        } else if let Some((name, _)) = args.named.first() {
            let own = &definition.name;
            return Err(self.fail(match args.named.iter().any(|(name, _)| *name == "caller") {
                true => format!(
                    "macro '{own}' was invoked with two values for the special caller argument. This is most \
                     likely a bug."
                ),
                false => format!("macro '{own}' takes no keyword argument '{name}'"),
            }));
        }
        if let Some(slot) = definition.varargs {
            let varargs = self.tuple(&rest)?;
            set(slot, varargs);
        } else if !rest.is_empty() {
            let own = &definition.name;
            return Err(self.fail(format!("macro '{own}' takes not more than {count} argument(s)")));
        }
        self.run_macro(value, here)
    }

    fn run_macro(&mut self, value: &'a MacroValue<'a>, here: &'a Activation<'a>) -> Result<Val<'a>, Stop> {
        let outer = (self.here, self.text, self.context, self.at);
        let escapes = std::mem::replace(&mut self.escapes, value.escapes);
        (self.here, self.text, self.context) = (here, value.text, value.context);
        let result = self.deeper(|machine| {
            machine.captured_apart(|machine| {
                let definition = value.definition;
                machine.enter(&definition.scope.frame)?;
                for param in &definition.params {
                    if !matches!(machine.slot(param.slot), Val::Unset) {
                        continue;
                    }
                    let value = match &param.default {
                        Some(default) => machine.eval(default)?,
                        None => {
                            let name = &param.name;
                            machine.undefined_because(format!("parameter '{name}' was not provided"))?
                        }
                    };
                    machine.set_slot(param.slot, value);
                }
                machine.body(&definition.scope.body)
            })
        });
        // On an error, its place stays where it happened.
        let (_, text) = result?;
        (self.here, self.text, self.context, self.at) = outer;
        self.escapes = escapes;
        Ok(match text {
            Val::Str(text) if escapes => Val::Markup(text),
            text => text,
        })
    }

    /// Calls a function of Jinja's own.
    fn call_global(&mut self, global: Global, args: Arguments<'a>) -> Result<Val<'a>, Stop> {
        match global {
            Global::Range => self.make_range(&args),
            Global::Dict => self.make_dict(&args),
            Global::Namespace => {
                let Val::Dict(members) = self.make_dict(&args)? else { return Ok(Val::None) };
                Ok(Val::Namespace(members))
            }
            Global::Cycler => {
                if args.positional.is_empty() {
                    return Err(self.fail("at least one item has to be provided"));
                }
                self.charge(args.positional.len() * size_of::<Val<'a>>())?;
                self.object(Object::Cycler { items: args.positional, at: Cell::new(0) })
            }
            Global::Joiner => {
                let [separator] = self.bind("joiner", ["sep"], &args)?;
                self.object(Object::Joiner {
                    separator: separator.unwrap_or(Val::Str(", ")),
                    used: Cell::new(false),
                })
            }
            Global::RaiseException => {
                let [message] = self.bind("raise_exception", ["message"], &args)?;
                let message = self.demand(message.unwrap_or(Val::Str("the template raised an exception")))?;
                let message = self.text_of(message)?;
                Err(self.fail(message))
            }
            Global::StrftimeNow => {
                let [format] = self.bind("strftime_now", ["format"], &args)?;
                let format = self.demand(format.unwrap_or(Val::Str("%Y-%m-%d")))?;
                let format = self.text_of(format)?;
                let text = self.check(crate::python::time::strftime(format, self.now(), self.text_room()))?;
                self.str(text)
            }
            Global::Lipsum => Err(self.fail("lipsum() is not available: prompts have no random texts")),
        }
    }

    fn make_range(&mut self, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let mut numbers = [0_i64; 3];
        if args.positional.is_empty() || args.positional.len() > 3 || !args.named.is_empty() {
            return Err(self.fail("range expected 1 to 3 arguments"));
        }
        for (number, value) in numbers.iter_mut().zip(&args.positional) {
            let value = self.demand(*value)?;
            *number = match value {
                Val::Gap => return Ok(Val::Gap),
                Val::Big(value) if value.sign() == num_bigint::Sign::Minus => i64::MIN,
                Val::Big(_) => i64::MAX,
                value => match value.as_int() {
                    Some(value) => value,
                    None => {
                        let name = value.type_name();
                        return Err(self.fail(format!("'{name}' object cannot be interpreted as an integer")));
                    }
                },
            };
        }
        let (start, stop, step) = match (args.positional.len(), numbers) {
            (1, [stop, ..]) => (0, stop, 1),
            (2, [start, stop, _]) => (start, stop, 1),
            (_, [start, stop, step]) => (start, stop, step),
        };
        if step == 0 {
            return Err(self.fail("range() arg 3 must not be zero"));
        }
        self.charge(size_of::<Range>())?;
        Ok(Val::Range(self.store.bump.alloc(Range { start, stop, step })))
    }

    /// `dict(…)`: of a mapping or pairs, and of named arguments.
    fn make_dict(&mut self, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let dict = self.new_dict()?;
        self.dict_fill(dict, "dict", args)?;
        Ok(Val::Dict(dict))
    }

    /// Gives the arguments of a call to parameters of these names.
    pub fn bind<const N: usize>(
        &self,
        function: &str,
        names: [&str; N],
        args: &Arguments<'a>,
    ) -> Result<[Option<Val<'a>>; N], Stop> {
        let mut bound = [None; N];
        if args.positional.len() > N {
            let (most, got) = (N, args.positional.len());
            return Err(self.fail(format!("{function}() takes at most {most} arguments ({got} given)")));
        }
        for (slot, value) in bound.iter_mut().zip(&args.positional) {
            *slot = Some(*value);
        }
        for (name, value) in &args.named {
            let at = names.iter().position(|known| known == name);
            match at.and_then(|at| bound.get_mut(at)) {
                Some(slot @ None) => *slot = Some(*value),
                Some(_) => {
                    return Err(self.fail(format!("{function}() got multiple values for argument '{name}'")));
                }
                None => {
                    return Err(
                        self.fail(format!("{function}() got an unexpected keyword argument '{name}'"))
                    );
                }
            }
        }
        Ok(bound)
    }

    /// The time of the render, in seconds since 1970.
    fn now(&self) -> i64 {
        self.moment.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
    }
}
