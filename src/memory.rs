//! One budget of memory for what requests bring and what is made for them: bodies and answers under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};

use crate::error::{Kind, Kinded};

/// The budget. Nobody waits for it: what does not fit is refused.
#[derive(Debug)]
pub struct Memory {
    limit: usize,
    used: AtomicUsize,
}

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "requests and answers under way take all of the {limit} bytes of memory that they may (server.memory_bytes); try again in a moment"
)]
pub struct OutOfMemory {
    /// The whole budget, in bytes.
    limit: usize,
}

impl Kinded for OutOfMemory {
    fn kind(&self) -> Kind {
        Kind::Unavailable
    }
}

impl Memory {
    /// A budget of so many bytes.
    pub fn new(limit: usize) -> Arc<Memory> {
        Arc::new(Memory { limit, used: AtomicUsize::new(0) })
    }

    /// A part of nothing, which can grow.
    pub fn hold(self: &Arc<Memory>) -> Held {
        Held { memory: self.clone(), bytes: 0 }
    }

    /// How many bytes are held.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

impl Held {
    /// Makes this part so large, in bytes.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then it is as large as before.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            let before = self.memory.used.fetch_add(more, Ordering::Relaxed);
            if before.saturating_add(more) > self.memory.limit {
                self.memory.used.fetch_sub(more, Ordering::Relaxed);
                return Err(OutOfMemory { limit: self.memory.limit });
            }
        } else {
            self.memory.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Makes this part larger by so many bytes.
    ///
    /// # Errors
    /// As [`Held::resize`].
    pub fn grow(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The least room, in bytes, by which a buffer grows.
const GROWTH_MIN: usize = 16 << 10;

/// Bytes that come in chunks, all of them part of the budget. The first chunk is not copied: most bodies are only one.
#[derive(Debug)]
pub struct Buffer {
    first: Bytes,
    all: BytesMut,
    held: Held,
}

/// Bytes, and the part of the budget that they take.
#[derive(Debug)]
pub struct Buffered {
    /// The bytes.
    pub bytes: Bytes,
    /// Their part of the budget.
    pub held: Held,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(memory: &Arc<Memory>) -> Buffer {
        Buffer { first: Bytes::new(), all: BytesMut::new(), held: memory.hold() }
    }

    /// How many bytes have come.
    pub fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then it is as before.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), OutOfMemory> {
        let length = self.len() + chunk.len();
        if self.is_empty() {
            self.held.resize(length)?;
            self.first = chunk;
            return Ok(());
        }
        if length > self.all.capacity() {
            // While it moves, it is there twice.
            let capacity = length.max(self.all.capacity() / 2 * 3).max(GROWTH_MIN);
            self.held.resize(capacity + self.all.len())?;
            self.all.reserve(capacity - self.all.len());
            self.held.resize(capacity)?;
        }
        self.all.extend_from_slice(&std::mem::take(&mut self.first));
        self.all.extend_from_slice(&chunk);
        Ok(())
    }

    /// Everything that has come.
    pub fn finish(self) -> Buffered {
        let Buffer { first, all, held } = self;
        Buffered { bytes: if all.is_empty() { first } else { all.freeze() }, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_what_is_dropped_can_be_held_again() {
        let memory = Memory::new(100);
        let (mut one, mut other) = (memory.hold(), memory.hold());
        one.grow(60).unwrap();
        assert!(other.grow(41).is_err());
        assert!(other.grow(usize::MAX).is_err());
        other.grow(40).unwrap();
        assert_eq!(memory.used(), 100);
        one.resize(10).unwrap();
        assert_eq!((memory.used(), one.bytes()), (50, 10));
        drop((one, other));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_buffer_joins_its_chunks_and_stays_within_the_budget() {
        let memory = Memory::new(100_000);
        let mut buffer = Buffer::new(&memory);
        for chunk in ["ab", "", "cd", "e"] {
            buffer.push(Bytes::from_static(chunk.as_bytes())).unwrap();
        }
        assert!(buffer.push(Bytes::from(vec![0; 100_000])).is_err());
        assert_eq!(buffer.len(), 5);
        let Buffered { bytes, held } = buffer.finish();
        assert_eq!((&bytes[..], held.bytes() >= 5), (&b"abcde"[..], true));
        drop(held);
        assert_eq!(memory.used(), 0);
    }
}
