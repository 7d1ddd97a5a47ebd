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
        } else if bytes < self.bytes {
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

/// How many times as much room as is needed now is made for what is still to come.
const ROOM: usize = 4;

/// Bytes that come in chunks, all of them part of the budget. Where it is known how many will come, they are put together as they
/// come, else at the end, and not at all if they are one chunk, as most bodies are.
#[derive(Debug)]
pub struct Buffer {
    chunks: Vec<Bytes>,
    /// What has been put together of the chunks after those.
    joined: BytesMut,
    /// How many bytes are said to come.
    expected: usize,
    /// How many of them are part of the budget before they come.
    reserved: usize,
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
    /// An empty buffer for so many bytes, as somebody says who need not be right.
    pub fn new(memory: &Arc<Memory>, expected: Option<usize>) -> Buffer {
        let (chunks, joined, expected) = (Vec::new(), BytesMut::new(), expected.unwrap_or(0));
        Buffer { chunks, joined, expected, reserved: 0, length: 0, held: memory.hold() }
    }

    /// An empty buffer for so many bytes that will come. They are part of the budget at once: of many that come at the same
    /// time, some then fit, where otherwise each would take a part and none might.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn reserved(memory: &Arc<Memory>, bytes: usize) -> Result<Buffer, OutOfMemory> {
        let mut buffer = Buffer { reserved: bytes, ..Buffer::new(memory, Some(bytes)) };
        buffer.held.resize(bytes)?;
        Ok(buffer)
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
        self.held.resize(self.reserved.max(self.length + chunk.len()))?;
        self.make_room(chunk.len());
        self.length += chunk.len();
        if chunk.len() <= self.joined.capacity() - self.joined.len() {
            self.joined.extend_from_slice(&chunk);
            return Ok(());
        }
        // The first chunk is usually the only one.
        if self.length == chunk.len() || chunk.len() >= CHUNK_MIN {
            self.keep_joined();
            self.chunks.push(chunk);
            return Ok(());
        }
        if self.joined.len() + chunk.len() > JOINED {
            self.keep_joined();
        }
        self.joined.extend_from_slice(&chunk);
        Ok(())
    }

    /// Makes room for one chunk of several, where it is known how many bytes will come: for all of them, but not for many times
    /// what has come, as somebody may promise much and send little.
    fn make_room(&mut self, chunk: usize) {
        let length = self.length + chunk;
        let is_one_of_several = chunk < self.expected && self.chunks.is_empty();
        let is_as_expected = self.expected > JOINED && length <= self.expected;
        if is_one_of_several && is_as_expected && length > self.joined.capacity() {
            let room = (length * ROOM).max(self.reserved).clamp(JOINED, self.expected);
            self.joined.reserve(room - self.joined.len());
        }
    }

    fn keep_joined(&mut self) {
        if !self.joined.is_empty() {
            self.chunks.push(self.joined.split().freeze());
        }
    }

    /// Everything that has come, in one piece; of several chunks, there is for a moment a second copy.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn finish(mut self) -> Result<Buffered, OutOfMemory> {
        self.keep_joined();
        let Buffer { mut chunks, length, mut held, .. } = self;
        if chunks.len() <= 1 {
            held.resize(length)?;
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
        let mut buffer = Buffer::new(&memory, None);
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

    #[test]
    fn a_buffer_that_knows_its_length_takes_no_more_than_that() {
        const LENGTH: usize = 1_000_000;
        let memory = Memory::new(LENGTH + LENGTH / 2);
        let mut buffer = Buffer::new(&memory, Some(LENGTH));
        for at in 0..LENGTH / 1_000 {
            buffer.push(Bytes::from(vec![at as u8; 1_000])).unwrap();
            assert!(
                buffer.joined.capacity() <= buffer.len() * 2 * ROOM || buffer.joined.capacity() <= 2 * JOINED
            );
        }
        let Buffered { bytes, held } = buffer.finish().unwrap();
        assert_eq!((bytes.len(), held.bytes()), (LENGTH, LENGTH));
        assert!(bytes.chunks(1_000).enumerate().all(|(at, chunk)| chunk == [at as u8; 1_000]));
    }

    #[test]
    fn what_is_reserved_is_held_before_it_comes() {
        let memory = Memory::new(250_000);
        let mut buffers: Vec<Buffer> = (0..2).map(|_| Buffer::reserved(&memory, 100_000).unwrap()).collect();
        assert!(Buffer::reserved(&memory, 100_000).is_err());
        for at in 0..99 {
            buffers.iter_mut().for_each(|buffer| buffer.push(Bytes::from(vec![at; 1_000])).unwrap());
        }
        assert_eq!(memory.used(), 200_000);
        let whole: Vec<Buffered> = buffers.into_iter().map(|buffer| buffer.finish().unwrap()).collect();
        assert!(whole.iter().all(|whole| whole.bytes.len() == 99_000));
        assert_eq!(memory.used(), 198_000, "less came than was said");
    }

    #[test]
    fn a_buffer_takes_what_is_more_than_was_promised() {
        let memory = Memory::new(1_000_000);
        for promised in [0, 1, 10_000, 70_000, 100_000] {
            let mut buffer = Buffer::new(&memory, Some(promised));
            (0..90).for_each(|at| buffer.push(Bytes::from(vec![at; 1_000])).unwrap());
            let bytes = buffer.finish().unwrap().bytes;
            assert_eq!(bytes.len(), 90_000);
            assert!(bytes.chunks(1_000).zip(0..).all(|(chunk, at)| chunk == [at; 1_000]));
        }
    }
}
