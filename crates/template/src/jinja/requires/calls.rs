//! Static analysis of calls.

use std::rc::Rc;

use super::env::{CLOCK, Caller};
use super::jobs::Arguments;
use super::node::Node;
use super::value::{Object, Value};
use super::{Analysis, Cell, Run};
use crate::jinja::ast::*;

impl<'a> Analysis<'a> {
    /// The values of arguments.
    pub(super) fn arguments(&mut self, args: &'a Args, run: &mut Run<'a>) -> Arguments<'a> {
        Arguments {
            positional: args.positional.iter().map(|arg| self.value(arg, run)).collect(),
            named: args.named.iter().map(|(name, arg)| (name.clone(), self.value(arg, run))).collect(),
            spread: args.spread.as_ref().map(|arg| self.value(arg, run)),
            spread_named: args.spread_named.as_ref().map(|arg| self.value(arg, run)),
        }
    }

    /// A call; with `caller`, that of a `call` block.
    pub(super) fn call(
        &mut self,
        call: &'a Call,
        caller: Option<Rc<Caller<'a>>>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        let callee = match &call.callee.kind {
            Kind::Attr(attr) => {
                let of = self.value(&attr.of, run);
                let method = self.member(&of, &attr.name);
                if method.objects().next().is_none() {
                    return self.method(&of, attr, call, run);
                }
                method
            }
            Kind::Name { slot, .. } => run.env.get(*slot),
            _ => self.value(&call.callee, run),
        };
        let arguments = self.arguments(&call.args, run);
        arguments.values().for_each(|value| self.hand_on(value));
        if let Kind::Name { slot, .. } = &call.callee.kind
            && callee.may_be(&Object::Caller)
        {
            self.call_caller(*slot, &arguments, run);
        }
        let mut result = Value::default();
        for object in callee.objects() {
            result.join(&self.call_object(object, call, &arguments, caller.as_ref(), run));
        }
        self.call_data(&callee, &arguments, run);
        let is_macro = |object: &Object<'a>| matches!(object, Object::Macro(..));
        if let Some(caller) = caller
            && !callee.objects().any(is_macro)
        {
            let optional = std::mem::replace(&mut run.optional, true);
            self.queue_macro(caller.body.0, &Arguments::default(), caller.env.clone(), None, run);
            run.optional = optional;
        }
        result
    }

    fn call_object(
        &mut self,
        object: &Object<'a>,
        call: &'a Call,
        arguments: &Arguments<'a>,
        caller: Option<&Rc<Caller<'a>>>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        match object {
            Object::Macro(definition, home) => {
                let env = match run.env.of(*home) {
                    Some(env) => Some(env),
                    None => self.kept(*home),
                };
                if arguments.values().any(Value::has_macros) {
                    self.keep(&run.env.clone());
                }
                if let Some(env) = env {
                    self.queue_macro(definition.0, arguments, env, caller.cloned(), run);
                }
                Value::default()
            }
            Object::Block(name, passed) => {
                self.queue_block(name, *passed, run.env.context.clone(), run);
                Value::default()
            }
            Object::Loop(looping) => {
                let value = arguments.get(0, "iterable").unwrap_or_default();
                self.look_at(&value, run.optional);
                self.grow(Cell::Elements(*looping), &value.element());
                Value::default()
            }
            Object::Function(name) => {
                self.facts.function(name, run.optional);
                arguments.values().for_each(|value| self.use_whole(value, run.optional));
                Value::default()
            }
            Object::Global(name) => self.global(name, call, arguments, run),
            Object::Unset | Object::Caller | Object::Namespace(_) | Object::Module(_) | Object::Blocks => {
                Value::default()
            }
        }
    }

    fn global(
        &mut self,
        name: &str,
        call: &'a Call,
        arguments: &Arguments<'a>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        match name {
            "dict" | "namespace" => {
                let mut made = Value::members(arguments.named.iter().cloned(), Value::default());
                for other in arguments.positional.first().into_iter().chain(&arguments.spread_named) {
                    made.join(other);
                }
                if name == "dict" {
                    return made;
                }
                let object = Node(call);
                for (name, value) in made.named_parts() {
                    self.feed(Cell::Attr(object, name.clone()), value);
                }
                let mut namespace = Value::object(Object::Namespace(object));
                // Only what has no literal name is not in a cell.
                namespace.join(&arguments.positional.first().cloned().unwrap_or_default());
                namespace.join(&arguments.spread_named.clone().unwrap_or_default());
                namespace
            }
            "cycler" => Value::list(arguments.positional.iter().cloned()).any_order(),
            name => {
                if name == CLOCK {
                    self.facts.function(name, run.optional);
                }
                arguments.values().for_each(|value| self.use_whole(value, run.optional));
                Value::default()
            }
        }
    }

    /// A call of data: a name at the top level is that of a tool.
    fn call_data(&mut self, callee: &Value<'a>, arguments: &Arguments<'a>, run: &mut Run<'a>) {
        let paths = callee.paths();
        for path in paths.iter() {
            if let Some(name) = path.name() {
                self.facts.function(name, run.optional || path.optional);
            }
        }
        self.facts.use_whole(&paths.filtered(|path| path.name().is_none()), run.optional);
        if !paths.is_empty() {
            arguments.values().for_each(|value| self.use_whole(value, run.optional));
        }
    }

    /// A call of the body of a `call` block.
    pub(super) fn call_caller(&mut self, slot: Slot, arguments: &Arguments<'a>, run: &mut Run<'a>) {
        if let Some(caller) = run.env.caller(slot) {
            self.queue_macro(caller.body.0, arguments, caller.env.clone(), None, run);
        }
    }
}

impl Value<'_> {
    fn has_macros(&self) -> bool {
        self.objects().any(|object| matches!(object, Object::Macro(..)))
            || self.parts().any(Value::has_macros)
    }
}
