//! One memory budget for all bodies of requests and responses that are being processed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};

use crate::error::{Kind, Kinded};

/// The memory budget. A reservation that does not fit is refused at once; nothing waits for memory.
#[derive(Debug)]
pub struct Memory {
    limit: usize,
    used: AtomicUsize,
}

/// A part of the budget; dropping it gives it back.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<Memory>,
    bytes: usize,
}

/// The error of a reservation that does not fit into the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the requests and answers under way take all of the {limit} bytes of memory that they may have (server.memory_bytes); \
     try again in a moment"
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
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Memory> {
        Arc::new(Memory { limit, used: AtomicUsize::new(0) })
    }

    /// An empty reservation, which can grow.
    pub fn reservation(self: &Arc<Memory>) -> Reservation {
        Reservation { memory: self.clone(), bytes: 0 }
    }

    /// How many bytes are reserved in all.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

impl Reservation {
    /// Changes the size of this reservation to `bytes`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that does not fit; the size stays as it was.
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

    /// Makes this reservation larger by `bytes`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that does not fit; the size stays as it was.
    pub fn grow(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Chunks of fewer bytes than this are joined as they arrive; longer ones are kept as they are.
const CHUNK_MIN: usize = 4 << 10;

/// The size of the buffer, in bytes, in which short chunks are joined.
const JOIN_BYTES: usize = 64 << 10;

/// The factor by which the buffer is made larger than what has arrived so far.
const GROWTH: usize = 4;

/// Bytes that arrive in chunks, with a reservation for all of them.
///
/// If the length is known, the chunks are joined as they arrive, else at the end. A single chunk, which most bodies are, is
/// never copied.
#[derive(Debug)]
pub struct Buffer {
    chunks: Vec<Bytes>,
    /// The joined bytes that follow `chunks`.
    joined: BytesMut,
    /// The declared length, or 0.
    expected: usize,
    /// How many bytes were reserved before they arrived.
    reserved: usize,
    length: usize,
    held: Reservation,
}

/// Bytes with the reservation for them.
#[derive(Debug)]
pub struct BufferedBytes {
    /// The content, in one piece.
    pub bytes: Bytes,
    /// The reservation of as many bytes.
    pub held: Reservation,
}

impl Buffer {
    /// An empty buffer; `expected` is the length that the sender declared, which need not be true.
    pub fn new(memory: &Arc<Memory>, expected: Option<usize>) -> Buffer {
        let (chunks, joined, expected) = (Vec::new(), BytesMut::new(), expected.unwrap_or(0));
        Buffer { chunks, joined, expected, reserved: 0, length: 0, held: memory.reservation() }
    }

    /// An empty buffer with a reservation for all of its `bytes` from the start.
    ///
    /// Of many bodies that arrive at the same time, some are then accepted as a whole. If each reserved chunk by chunk, all
    /// could run out of memory half-way.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that does not fit into the budget.
    pub fn reserved(memory: &Arc<Memory>, bytes: usize) -> Result<Buffer, OutOfMemory> {
        let mut buffer = Buffer { reserved: bytes, ..Buffer::new(memory, Some(bytes)) };
        buffer.held.resize(bytes)?;
        Ok(buffer)
    }

    /// How many bytes have arrived.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// [`OutOfMemory`] if it does not fit into the budget; the buffer stays as it was.
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
        if self.joined.len() + chunk.len() > JOIN_BYTES {
            self.keep_joined();
        }
        self.joined.extend_from_slice(&chunk);
        Ok(())
    }

    /// Grows the join buffer towards the declared length, but only to [`GROWTH`] times what has arrived: a sender may declare
    /// much and send little.
    fn make_room(&mut self, chunk: usize) {
        let length = self.length + chunk;
        let is_one_of_several = chunk < self.expected && self.chunks.is_empty();
        let is_as_expected = self.expected > JOIN_BYTES && length <= self.expected;
        if is_one_of_several && is_as_expected && length > self.joined.capacity() {
            let room = (length * GROWTH).max(self.reserved).clamp(JOIN_BYTES, self.expected);
            self.joined.reserve(room - self.joined.len());
        }
    }

    fn keep_joined(&mut self) {
        if !self.joined.is_empty() {
            self.chunks.push(self.joined.split().freeze());
        }
    }

    /// All bytes in one piece. Several chunks are copied together, which takes twice their memory for a moment.
    ///
    /// # Errors
    /// [`OutOfMemory`] if that does not fit into the budget.
    pub fn finish(mut self) -> Result<BufferedBytes, OutOfMemory> {
        self.keep_joined();
        let Buffer { mut chunks, length, mut held, .. } = self;
        if chunks.len() <= 1 {
            held.resize(length)?;
            return Ok(BufferedBytes { bytes: chunks.pop().unwrap_or_default(), held });
        }
        held.resize(2 * length)?;
        let bytes = Bytes::from(chunks.concat());
        held.resize(length)?;
        Ok(BufferedBytes { bytes, held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_what_is_dropped_can_be_held_again() {
        let memory = Memory::new(100);
        let (mut one, mut other) = (memory.reservation(), memory.reservation());
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
        let BufferedBytes { bytes, held } = buffer.finish().unwrap();
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
                buffer.joined.capacity() <= buffer.len() * 2 * GROWTH
                    || buffer.joined.capacity() <= 2 * JOIN_BYTES
            );
        }
        let BufferedBytes { bytes, held } = buffer.finish().unwrap();
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
        let whole: Vec<BufferedBytes> = buffers.into_iter().map(|buffer| buffer.finish().unwrap()).collect();
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
