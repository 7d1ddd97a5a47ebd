//! The identity of a call: a digest of fixed length, however large the arguments are.

use std::io;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The SHA-256 of a call's parts; equal calls have equal identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Identity([u8; 32]);

impl Identity {
    /// The identity of `parts`: the digest of their JSON.
    pub fn of(parts: &impl Serialize) -> Identity {
        let mut digest = Hasher(Sha256::new());
        // Cannot return an error: the writer never does, and the parts serialize without one.
        let _written = serde_json::to_writer(&mut digest, parts);
        Identity(digest.0.finalize().into())
    }
}

struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
