//! Loops: what `range` goes through, its variables, and the ways out of it.

use super::ast::Branch;
use super::exec::{Body, Frame, Machine, Stop};
use super::val::{V, Val, ValueKind};

/// A running `range`.
pub(super) struct Loop<'a> {
    branch: &'a Branch,
    items: Items<'a>,
    /// How many variables there are at the start of each iteration.
    inner: usize,
    /// How many variables to keep after the loop.
    pub(super) outer: usize,
}

/// The items that a loop iterates over.
enum Items<'a> {
    List {
        list: Val<'a>,
        next: usize,
    },
    Map {
        members: std::vec::IntoIter<(&'a [u8], Val<'a>)>,
        len: usize,
    },
    /// Whole numbers of the type of this one.
    Int {
        next: i64,
        end: i64,
        of: Val<'a>,
    },
}

/// The memory of each member of a map that a loop iterates over, in bytes.
const MEMBER_BYTES: usize = size_of::<(&[u8], Val<'_>)>();

impl<'a> Items<'a> {
    /// The bytes to release when the loop ends.
    fn bytes(&self) -> usize {
        match self {
            Items::Map { len, .. } => len * MEMBER_BYTES,
            Items::List { .. } | Items::Int { .. } => 0,
        }
    }

    /// The next key and its value.
    #[inline(always)]
    fn next(&mut self) -> Option<(Val<'a>, Val<'a>)> {
        match self {
            Items::List { list, next } => {
                let item = list.item(*next)?;
                *next += 1;
                Some((Val::int(*next as i64 - 1), item))
            }
            Items::Map { members, .. } => members.next().map(|(key, value)| (Val::bytes(key), value)),
            Items::Int { next, end, of } => (*next < *end).then(|| {
                let value = *next;
                *next += 1;
                let v = match of.v {
                    V::Byte(_) => V::Byte(value as u8),
                    V::Whole(of, _) => V::Whole(of, value),
                    _ => V::Int(value),
                };
                (Val::NONE, Val::of(v))
            }),
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// Starts a loop over `value`: sets `body` to its first iteration, or to its `else`.
    pub(super) fn range(
        &mut self,
        branch: &'a Branch,
        value: Val<'a>,
        outer: usize,
        body: &mut Body<'a>,
    ) -> Result<(), Stop> {
        if let V::Absent(absent) = value.v {
            self.miss(absent)?;
        }
        if let Some(items) = self.items(branch, value)? {
            let mut rounds = Box::new(Loop { branch, items, inner: self.variables.len(), outer });
            let around = body.clone();
            if self.round(&mut rounds, body)? {
                self.frames.push(Frame::Body(around));
                self.frames.push(Frame::Loop(rounds));
                return Ok(());
            }
        }
        match &branch.else_list {
            Some(list) => {
                self.nest(list, body.dot, outer, body);
                self.frames.push(Frame::Else { outer });
            }
            None => self.variables.truncate(outer),
        }
        Ok(())
    }

    fn items(&mut self, branch: &'a Branch, value: Val<'a>) -> Result<Option<Items<'a>>, Stop> {
        let value = value.unboxed();
        match value.kind() {
            ValueKind::Int | ValueKind::Uint => {
                if branch.pipe.decl.len() > 1 {
                    let message = "can't use %v to iterate over more than one variable";
                    return Err(self.fail(message, &[value]));
                }
                let end = value.as_int().unwrap_or(0);
                Ok(Some(Items::Int { next: 0, end, of: value }))
            }
            ValueKind::Slice => Ok(Some(Items::List { list: value, next: 0 })),
            ValueKind::Map => {
                let len = value.len().unwrap_or(0);
                self.budget.spend(len / 4)?;
                self.context.charge(len * MEMBER_BYTES);
                self.check_memory()?;
                Ok(Some(Items::Map { members: value.members().into_iter(), len }))
            }
            ValueKind::Invalid => Ok(None),
            _ => Err(self.fail("range can't iterate over %v", &[value])),
        }
    }

    /// Sets `body` to the next iteration of a loop; false if there is none.
    pub(super) fn round(&mut self, rounds: &mut Loop<'a>, body: &mut Body<'a>) -> Result<bool, Stop> {
        let Some((key, value)) = rounds.items.next() else {
            self.context.release(rounds.items.bytes());
            return Ok(false);
        };
        self.budget.step()?;
        self.variables.truncate(rounds.inner);
        self.set_loop_variables(rounds, key, value)?;
        *body = Body { nodes: rounds.branch.list.iter(), dot: value, mark: rounds.inner };
        Ok(true)
    }

    fn set_loop_variables(&mut self, rounds: &Loop<'a>, key: Val<'a>, value: Val<'a>) -> Result<(), Stop> {
        let pipe = &rounds.branch.pipe;
        let (first, second) = match pipe.decl.as_slice() {
            [] => return Ok(()),
            [only] => (None, only),
            [first, second, ..] => (Some(first), second),
        };
        if pipe.assign {
            if let Some(first) = first {
                self.assign(first, key)?;
            }
            return self.assign(second, value);
        }
        let mut top = self.variables.iter_mut().rev();
        if let Some(slot) = top.next() {
            slot.1 = value;
        }
        if first.is_some()
            && let Some(slot) = top.next()
        {
            slot.1 = key;
        }
        Ok(())
    }

    /// Ends the statements of an iteration, and with `leave` the innermost loop. In the `else` of a loop, as in Go, `break`
    /// leaves that loop, while `continue` starts the next iteration of the enclosing one.
    pub(super) fn leave_loop(&mut self, leave: bool, body: &mut Body<'a>) {
        body.nodes = [].iter();
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Loop(rounds) if !leave => return self.frames.push(Frame::Loop(rounds)),
                Frame::Loop(rounds) => {
                    self.context.release(rounds.items.bytes());
                    body.mark = rounds.outer;
                    return;
                }
                Frame::Else { outer } if leave => {
                    body.mark = outer;
                    return;
                }
                _ => {}
            }
        }
    }
}
