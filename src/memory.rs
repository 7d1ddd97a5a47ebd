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

/// Chunks shorter than this, in bytes, are joined as they come; longer ones are kept as they are.
const CHUNK_MIN: usize = 4 << 10;

/// The room, in bytes, in which short chunks are joined.
const JOINED: usize = 64 << 10;

/// Bytes that come in chunks, all of them part of the budget. They are joined at the end, and not at all if they are one chunk,
/// as most bodies are.
#[derive(Debug)]
pub struct Buffer {
    chunks: Vec<Bytes>,
    /// Short chunks after those.
    short: BytesMut,
    length: usize,
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
        Buffer { chunks: Vec::new(), short: BytesMut::new(), length: 0, held: memory.hold() }
    }

    /// How many bytes have come.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then it is as before.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), OutOfMemory> {
        if chunk.is_empty() {
            return Ok(());
        }
        self.held.resize(self.length + chunk.len())?;
        self.length += chunk.len();
        // The first chunk is usually the only one.
        if self.length == chunk.len() || chunk.len() >= CHUNK_MIN {
            self.keep_short();
            self.chunks.push(chunk);
            return Ok(());
        }
        if self.short.len() + chunk.len() > JOINED {
            self.keep_short();
        }
        self.short.extend_from_slice(&chunk);
        Ok(())
    }

    fn keep_short(&mut self) {
        if !self.short.is_empty() {
            self.chunks.push(self.short.split().freeze());
        }
    }

    /// Everything that has come, in one piece; of several chunks, there is for a moment a second copy.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn finish(mut self) -> Result<Buffered, OutOfMemory> {
        self.keep_short();
        let Buffer { mut chunks, length, mut held, .. } = self;
        if chunks.len() <= 1 {
            return Ok(Buffered { bytes: chunks.pop().unwrap_or_default(), held });
        }
        held.resize(2 * length)?;
        let bytes = Bytes::from(chunks.concat());
        held.resize(length)?;
        Ok(Buffered { bytes, held })
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
        let long = Bytes::from(vec![b'x'; CHUNK_MIN]);
        for chunk in ["ab", "", "cd", "e"] {
            buffer.push(Bytes::from_static(chunk.as_bytes())).unwrap();
        }
        buffer.push(long.clone()).unwrap();
        buffer.push(Bytes::from_static(b"f")).unwrap();
        assert!(buffer.push(Bytes::from(vec![0; 100_000])).is_err());
        assert_eq!(buffer.len(), 6 + CHUNK_MIN);
        let Buffered { bytes, held } = buffer.finish().unwrap();
        assert_eq!(bytes, [&b"abcde"[..], &long[..], b"f"].concat());
        assert_eq!(held.bytes(), bytes.len());
        drop(held);
        assert_eq!(memory.used(), 0);
    }
}
