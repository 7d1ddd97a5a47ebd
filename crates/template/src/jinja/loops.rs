//! Loops, and the variable `loop`.

use std::cell::{Cell, RefCell};

use super::ast::*;
use super::error::Stop;
use super::exec::Flow;
use super::iter::{Arguments, Iter, Source};
use super::machine::Machine;
use super::val::{Activation, Loop, Recursion, Val};

/// The items of a loop: plain ones, or those of a loop whose body looks at `loop`.
enum Turns<'a> {
    Plain(Source<'a>),
    Watched(&'a Loop<'a>),
}

impl<'a> Machine<'a> {
    /// Runs a loop.
    pub fn for_loop(&mut self, looping: &'a For) -> Result<(), Stop> {
        let over = self.value(&looping.over)?;
        self.at = looping.over.spot;
        match looping.recursive {
            None => self.turns(looping, over, None, 0),
            Some(slots) => {
                let recursion = Recursion { statement: looping, outer: self.here };
                self.recurse(recursion, slots, over, 0)
            }
        }
    }

    /// Runs a recursive loop at a depth, with variables of its own.
    fn recurse(
        &mut self,
        recursion: Recursion<'a>,
        slots: usize,
        over: Val<'a>,
        depth: usize,
    ) -> Result<(), Stop> {
        let here = self.store.activation(slots, Some(recursion.outer));
        self.charge(slots * size_of::<Val<'a>>() + size_of::<Activation<'a>>())?;
        let outer = std::mem::replace(&mut self.here, here);
        let result = self.deeper(|machine| machine.turns(recursion.statement, over, Some(recursion), depth));
        self.here = outer;
        result
    }

    /// `loop(items)`: the text of a recursive loop, one level deeper.
    pub fn call_loop(&mut self, looping: &'a Loop<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let Some(recursion) = looping.recursion else {
            return Err(self.fail("The loop must have the 'recursive' marker to be called recursively."));
        };
        let ([over], true) = (args.positional.as_slice(), args.named.is_empty()) else {
            return Err(self.fail("loop() takes one argument: what to loop over"));
        };
        let over = self.settle(*over, self.at)?;
        let slots = recursion.statement.recursive.unwrap_or(0);
        let depth = looping.depth0 + 1;
        let (_, text) =
            self.captured(|machine| machine.recurse(recursion, slots, over, depth).map(|()| Flow::Next))?;
        Ok(text)
    }

    fn turns(
        &mut self,
        looping: &'a For,
        over: Val<'a>,
        recursion: Option<Recursion<'a>>,
        depth0: usize,
    ) -> Result<(), Stop> {
        let mut source = self.iterate(over)?;
        if let Some(test) = &looping.test {
            self.enter(&test.frame)?;
            source = self.tested(source, looping)?;
        }
        let mut turns = match looping.loop_slot {
            None => Turns::Plain(source),
            Some(_) => {
                let over = if looping.test.is_some() { Val::None } else { over };
                Turns::Watched(self.watched(over, source, recursion, depth0)?)
            }
        };
        let mut first = true;
        // As Jinja2 has it, `else` runs unless a turn came to its end: `break` and `continue` leave it before.
        let mut completed = false;
        loop {
            let item = match &mut turns {
                Turns::Plain(source) => self.advance(source)?,
                Turns::Watched(looping) => self.next_turn(looping)?,
            };
            let Some(item) = item else { break };
            self.step()?;
            match first {
                true => self.enter(&looping.scope.frame)?,
                false => self.enter_again(&looping.scope.frame)?,
            }
            first = false;
            if let (Some(slot), Turns::Watched(state)) = (looping.loop_slot, &turns) {
                self.set_slot(slot, Val::Loop(state));
            }
            self.assign(&looping.target, item)?;
            match self.body(&looping.scope.body)? {
                Flow::Break => break,
                flow => completed |= flow == Flow::Next,
            }
        }
        self.leave(&looping.scope.frame);
        match &looping.otherwise {
            Some(scope) if !completed => {
                self.enter(&scope.frame)?;
                self.body(&scope.body)?;
                self.leave(&scope.frame);
            }
            _ => {}
        }
        Ok(())
    }

    /// The items for which the loop's condition is true.
    fn tested(&mut self, source: Source<'a>, looping: &'a For) -> Result<Source<'a>, Stop> {
        let inner = self.iter_of(source, "generator")?;
        Ok(Source::Tested { inner, looping, here: self.here })
    }

    /// The next item for which the loop's condition is true.
    pub fn advance_tested(
        &mut self,
        inner: &'a Iter<'a>,
        looping: &'a For,
        here: &'a Activation<'a>,
    ) -> Result<Option<Val<'a>>, Stop> {
        let Some(test) = &looping.test else { return Ok(None) };
        while let Some(item) = self.next(inner)? {
            self.step()?;
            let outer = std::mem::replace(&mut self.here, here);
            let passes = self.assign(&test.target, item).and_then(|()| self.test(&test.expr));
            self.here = outer;
            if passes? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    fn watched(
        &mut self,
        over: Val<'a>,
        source: Source<'a>,
        recursion: Option<Recursion<'a>>,
        depth0: usize,
    ) -> Result<&'a Loop<'a>, Stop> {
        let iter = self.iter_of(source, "generator")?;
        let state = Loop {
            over,
            iter,
            index0: Cell::new(usize::MAX),
            depth0,
            length: Cell::new(None),
            after: Cell::new(None),
            current: Cell::new(Val::Unset),
            before: Cell::new(Val::Unset),
            changed: Cell::new(None),
            recursion,
        };
        self.charge(size_of::<Loop<'a>>())?;
        Ok(self.store.loops.alloc(state))
    }

    fn next_turn(&mut self, state: &'a Loop<'a>) -> Result<Option<Val<'a>>, Stop> {
        let item = match state.after.take() {
            Some(item) => item,
            None => match self.next(state.iter)? {
                Some(item) => item,
                None => return Ok(None),
            },
        };
        state.index0.set(state.index0.get().wrapping_add(1));
        state.before.set(state.current.get());
        state.current.set(item);
        Ok(Some(item))
    }

    /// The item after the current one.
    fn peek_turn(&mut self, state: &'a Loop<'a>) -> Result<Option<Val<'a>>, Stop> {
        if let Some(item) = state.after.get() {
            return Ok(Some(item));
        }
        let item = self.next(state.iter)?;
        state.after.set(item);
        Ok(item)
    }

    /// `loop.length`: an iterator without a known length is read to its end.
    pub fn loop_length(&mut self, state: &'a Loop<'a>) -> Result<usize, Stop> {
        if let Some(length) = state.length.get() {
            return Ok(length);
        }
        let length = match self.known_len(state.over) {
            Some(length) => length,
            None => {
                let mut rest = Vec::new();
                while let Some(item) = self.next(state.iter)? {
                    self.charge(size_of::<Val<'a>>())?;
                    self.step()?;
                    rest.push(item);
                }
                let length = rest.len() + state.index0.get().wrapping_add(1);
                let items = self.store.bump.alloc_slice_copy(&rest);
                state.iter.source.replace(Source::Items { items, at: 0 });
                length + usize::from(state.after.get().is_some())
            }
        };
        state.length.set(Some(length));
        Ok(length)
    }

    /// An attribute of `loop`.
    pub fn loop_attr(&mut self, state: &'a Loop<'a>, name: &str) -> Result<Option<Val<'a>>, Stop> {
        let index0 = state.index0.get();
        let index = index0.wrapping_add(1);
        let int = |value: usize| Some(Val::Int(value as i64));
        Ok(match name {
            "index" => int(index),
            "index0" => int(index0),
            "first" => Some(Val::Bool(index0 == 0)),
            "last" => Some(Val::Bool(self.peek_turn(state)?.is_none())),
            "length" => int(self.loop_length(state)?),
            "revindex" => int(self.loop_length(state)?.saturating_sub(index0)),
            "revindex0" => int(self.loop_length(state)?.saturating_sub(index)),
            "depth" => int(state.depth0 + 1),
            "depth0" => int(state.depth0),
            "previtem" => match index0 {
                0 => Some(self.undefined_because("there is no previous item")?),
                _ => Some(state.before.get()),
            },
            "nextitem" => match self.peek_turn(state)? {
                Some(item) => Some(item),
                None => Some(self.undefined_because("there is no next item")?),
            },
            _ => None,
        })
    }

    /// `loop.cycle(…)`.
    pub fn loop_cycle(&mut self, state: &'a Loop<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let count = args.positional.len();
        let at = state.index0.get().checked_rem(count);
        match at.and_then(|at| args.positional.get(at)) {
            Some(item) => Ok(*item),
            None => Err(self.fail("no items for cycling given")),
        }
    }

    /// `loop.changed(…)`.
    pub fn loop_changed(&mut self, state: &'a Loop<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let same = match state.changed.get() {
            Some(last) => self.equal_items(last, &args.positional)?,
            None => false,
        };
        if !same {
            self.charge(args.positional.len() * size_of::<Val<'a>>())?;
            state.changed.set(Some(self.store.bump.alloc_slice_copy(&args.positional)));
        }
        Ok(Val::Bool(!same))
    }

    /// Makes an iterator that values can hold.
    pub fn iter_of(&mut self, source: Source<'a>, type_name: &'static str) -> Result<&'a Iter<'a>, Stop> {
        self.charge(size_of::<Iter<'a>>())?;
        let iter = Iter { source: RefCell::new(source), type_name, running: Cell::new(false) };
        Ok(self.store.iters.alloc(iter))
    }
}
