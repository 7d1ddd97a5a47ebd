//! Other texts: blocks, `extends`, `include` and `import`.

use std::sync::Arc;

use smol_str::SmolStr;

use super::ast::*;
use super::context::Context;
use super::dict::{Dict, ENTRY_BYTES};
use super::error::Stop;
use super::exec::Flow;
use super::library::{PartialError, Text};
use super::machine::Machine;
use super::val::{BlockVersion, Module, Object, Val};

impl<'a> Machine<'a> {
    /// Runs a text, and those that it extends, in a context.
    pub fn run_text(&mut self, text: &'a Text, context: &'a Context<'a>) -> Result<(), Stop> {
        let outer = (self.text, self.context, self.here, self.silent, self.extended, self.at);
        context.name.set(&text.name);
        let mut next = Some(text);
        let mut links = 0;
        while let Some(text) = next {
            self.check_depth(links)?;
            links += 1;
            self.add_blocks(text, context);
            (self.text, self.context, self.silent, self.extended) = (text, context, false, None);
            self.run_root(text)?;
            next = self.extended;
        }
        (self.text, self.context, self.here, self.silent, self.extended, self.at) = outer;
        Ok(())
    }

    fn run_root(&mut self, text: &'a Text) -> Result<(), Stop> {
        let tree = &text.tree;
        self.here = self.store.activation(tree.slots, None);
        self.charge(tree.slots * size_of::<Val<'a>>())?;
        if let Some(slot) = tree.self_slot {
            let value = self.object(Object::Blocks(self.context))?;
            self.set_slot(slot, value);
        }
        self.enter(&tree.frame)?;
        self.body(&tree.body)?;
        Ok(())
    }

    fn add_blocks(&mut self, text: &'a Text, context: &'a Context<'a>) {
        let mut blocks = context.blocks.borrow_mut();
        for block in &text.tree.blocks {
            blocks.entry(&block.name).or_default().push(BlockVersion { block, text });
        }
    }

    /// The block at its place in the text.
    pub fn block(&mut self, call: &'a BlockCall) -> Result<(), Stop> {
        if call.toplevel && self.extended.is_some() {
            return Ok(());
        }
        self.at = call.spot;
        let context = match &call.scoped {
            None => self.context,
            Some(visible) => {
                let context = self.derived(visible)?;
                context.blocks.replace(self.context.blocks.borrow().clone());
                context
            }
        };
        let versions = context.blocks.borrow().get(call.name.as_str()).map_or(0, Vec::len);
        if call.required && versions <= 1 {
            return Err(self.fail(format!("Required block '{}' not found", call.name)));
        }
        let silent = std::mem::replace(&mut self.silent, false);
        let result = self.run_block(&call.name, context, 0);
        self.silent = silent;
        result
    }

    /// Runs a version of a block: 0 is the innermost template's.
    pub fn run_block(&mut self, name: &'a str, context: &'a Context<'a>, depth: usize) -> Result<(), Stop> {
        let Some(BlockVersion { block, text }) = context.block(name, depth) else {
            return Err(self.fail(format!("there is no block called '{name}'")));
        };
        let outer = (self.text, self.context, self.here, self.at, self.extended);
        let here = self.store.activation(block.slots, None);
        self.charge(block.slots * size_of::<Val<'a>>())?;
        (self.text, self.context, self.here, self.extended) = (text, context, here, None);
        if let Some(slot) = block.self_slot {
            let value = self.object(Object::Blocks(context))?;
            self.set_slot(slot, value);
        }
        if let Some(slot) = block.super_slot {
            let value = match context.block(name, depth + 1) {
                Some(_) => self.object(Object::Block { name, context, depth: depth + 1 })?,
                None => self.undefined_because(format!("there is no parent block called '{name}'."))?,
            };
            self.set_slot(slot, value);
        }
        self.deeper(|machine| {
            machine.enter(&block.frame)?;
            machine.body(&block.body)
        })?;
        (self.text, self.context, self.here, self.at, self.extended) = outer;
        Ok(())
    }

    /// A context with the variables that can be seen from here.
    fn derived(&mut self, visible: &'a [(SmolStr, Slot)]) -> Result<&'a Context<'a>, Stop> {
        let mut given = self.context.all();
        for (name, slot) in visible {
            let value = self.slot(*slot);
            if !matches!(value, Val::Unset) {
                given.push((name, value));
            }
        }
        self.charge(given.len() * size_of::<(&str, Val<'a>)>() + size_of::<Context<'a>>())?;
        self.work_items(given.len())?;
        let context = Context::new(given, self.context.sees_data);
        context.name.set(self.context.name.get());
        Ok(self.store.contexts.alloc(context))
    }

    /// A context without anything but what all renders share.
    fn bare(&mut self) -> Result<&'a Context<'a>, Stop> {
        self.charge(size_of::<Context<'a>>())?;
        Ok(self.store.contexts.alloc(Context::new(Vec::new(), false)))
    }

    fn context_for(&mut self, with: bool, visible: &'a [(SmolStr, Slot)]) -> Result<&'a Context<'a>, Stop> {
        match with {
            true => self.derived(visible),
            false => self.bare(),
        }
    }

    pub fn extends(&mut self, extends: &'a Extends) -> Result<(), Stop> {
        self.at = extends.spot;
        if self.extended.is_some() {
            return Err(self.fail("extended multiple times"));
        }
        let name = self.value(&extends.template)?;
        if matches!(name, Val::Gap) {
            return Ok(());
        }
        self.extended = Some(self.template(name)?);
        self.silent = true;
        Ok(())
    }

    /// The text of a name.
    fn template(&mut self, name: Val<'a>) -> Result<&'a Text, Stop> {
        let name = self.template_name(name)?;
        match self.library.find(name) {
            Ok(text) => Ok(self.keep_text(text)),
            Err(PartialError::NotFound(reason)) => Err(self.fail(format!("partial `{name}`: {reason}"))),
            Err(PartialError::Invalid(message)) => Err(self.fail(message)),
        }
    }

    fn template_name(&mut self, name: Val<'a>) -> Result<&'a str, Stop> {
        let name = self.demand(name)?;
        match name.as_text() {
            Some(name) => Ok(name),
            None => Err(self.fail(format!("the name of a partial must be a text, not {}", name.type_name()))),
        }
    }

    fn keep_text(&mut self, text: Arc<Text>) -> &'a Text {
        self.store.texts.alloc(text)
    }

    pub fn include(&mut self, include: &'a Include) -> Result<(), Stop> {
        let name = self.value(&include.template)?;
        self.at = include.template.spot;
        if matches!(name, Val::Gap) {
            return Ok(());
        }
        let names = match self.live(name) {
            Val::Str(_) | Val::Markup(_) => vec![name],
            names => self.collect(names)?,
        };
        let mut reasons = Vec::new();
        for name in names {
            let name = self.settle(name, self.at)?;
            if matches!(name, Val::Gap) {
                continue;
            }
            if name.as_text().is_none() {
                // Nothing is found under a name that is no text.
                self.check_key(name)?;
                reasons.push(format!("a value of the type '{}' names no partial", name.type_name()));
                continue;
            }
            let name = self.template_name(name)?;
            match self.library.find(name) {
                Ok(text) => {
                    let text = self.keep_text(text);
                    let context = self.context_for(include.with_context, &include.visible)?;
                    self.at = include.spot;
                    return self.inside(text, context);
                }
                Err(PartialError::NotFound(reason)) => reasons.push(format!("partial `{name}`: {reason}")),
                Err(PartialError::Invalid(message)) => return Err(self.fail(message)),
            }
        }
        match include.ignore_missing {
            true => Ok(()),
            false if reasons.is_empty() => Err(self.fail("there is no partial to choose from")),
            false => Err(self.fail(reasons.join("; "))),
        }
    }

    /// Runs a text inside of another one.
    fn inside(&mut self, text: &'a Text, context: &'a Context<'a>) -> Result<(), Stop> {
        let escapes = std::mem::replace(&mut self.escapes, false);
        self.deeper(|machine| machine.run_text(text, context))?;
        self.escapes = escapes;
        Ok(())
    }

    /// Runs a text for its names.
    fn module(
        &mut self,
        template: &'a Expr,
        with: bool,
        visible: &'a [(SmolStr, Slot)],
    ) -> Result<Option<&'a Object<'a>>, Stop> {
        let name = self.value(template)?;
        self.at = template.spot;
        if matches!(name, Val::Gap) {
            return Ok(None);
        }
        let text = self.template(name)?;
        let context = self.context_for(with, visible)?;
        let (_, body) = self.captured_apart(|machine| machine.inside(text, context).map(|()| Flow::Next))?;
        let mut members = Dict::default();
        for name in context.exported.borrow().iter() {
            if let Some(value) = context.own(name) {
                self.charge(ENTRY_BYTES)?;
                members.insert_str(name, value);
            }
        }
        let module = Module { name: &text.name, body, members };
        Ok(Some(self.store.objects.alloc(Object::Module(module))))
    }

    pub fn import(&mut self, import: &'a Import) -> Result<(), Stop> {
        self.at = import.spot;
        let module = self.module(&import.template, import.with_context, &import.visible)?;
        let value = module.map_or(Val::Gap, Val::Object);
        self.set_slot(import.slot, value);
        if import.exported {
            self.context.set(&import.target, value, false);
        }
        Ok(())
    }

    pub fn import_names(&mut self, import: &'a FromImport) -> Result<(), Stop> {
        self.at = import.spot;
        let module = self.module(&import.template, import.with_context, &import.visible)?;
        for (name, alias, slot) in &import.names {
            let value = match module {
                Some(Object::Module(module)) => match module.members.get_str(name) {
                    Some(value) => value,
                    None => {
                        let text = module.name;
                        self.undefined_because(format!(
                            "the template '{text}' does not export the requested name '{name}'"
                        ))?
                    }
                },
                _ => Val::Gap,
            };
            self.set_slot(*slot, value);
            if import.exported {
                self.context.set(alias, value, false);
            }
        }
        Ok(())
    }
}
