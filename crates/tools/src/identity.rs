//! What tells one call from another, in a few bytes however large its arguments are.

use std::io;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// A digest of what a call is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Identity([u8; 32]);

impl Identity {
    /// The identity of what is written as this JSON.
    pub fn of(parts: &impl Serialize) -> Identity {
        let mut digest = Hasher(Sha256::new());
        // Neither writing into the digest nor writing JSON of values fails.
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
