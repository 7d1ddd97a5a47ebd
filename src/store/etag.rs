//! The version of a stored value: a hash of its bytes, so that writes by other programs count as changes too.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The version of a value: the SHA-256 of its bytes, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Etag([u8; 32]);

impl Etag {
    /// Computes the version of a value.
    pub fn of(bytes: &[u8]) -> Etag {
        Etag(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Etag({self})")
    }
}

/// The error of parsing an [`Etag`]: the text is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version is written as 64 hexadecimal digits")]
pub struct ParseEtagError;

impl FromStr for Etag {
    type Err = ParseEtagError;

    fn from_str(text: &str) -> Result<Etag, ParseEtagError> {
        if text.len() != 64 {
            return Err(ParseEtagError);
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digits.iter().try_fold(0, |sum, digit| Ok(sum << 4 | hex_digit(*digit)?))?;
        }
        Ok(Etag(bytes))
    }
}

fn hex_digit(digit: u8) -> Result<u8, ParseEtagError> {
    let value = char::from(digit).to_digit(16).ok_or(ParseEtagError)?;
    u8::try_from(value).map_err(|_| ParseEtagError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_sha_256_of_the_bytes() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Etag::of(b"abc").to_string(), abc);
    }

    #[test]
    fn a_version_survives_being_written_and_read() {
        let etag = Etag::of(b"anything");
        assert_eq!(etag.to_string().parse(), Ok(etag));
    }

    #[test]
    fn other_texts_are_no_versions() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(text.parse::<Etag>(), Err(ParseEtagError), "{text}");
        }
    }
}
