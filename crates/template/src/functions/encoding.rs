//! Base 64 and base 32, sums, and identifiers.

use std::sync::LazyLock;

use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::call::{Call, Made};

/// An encoding of bits in characters, with padding.
struct Base {
    alphabet: &'static [u8],
    /// The digit of each character.
    digits: [Option<u8>; 256],
    /// The bits of a character.
    bits: usize,
    /// The characters of a group, which is a whole number of bytes.
    group: usize,
    name: &'static str,
}

static BASE64: LazyLock<Base> = LazyLock::new(|| {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Base { alphabet, digits: digits(alphabet), bits: 6, group: 4, name: "base64" }
});

static BASE32: LazyLock<Base> = LazyLock::new(|| {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    Base { alphabet, digits: digits(alphabet), bits: 5, group: 8, name: "base32" }
});

fn digits(alphabet: &[u8]) -> [Option<u8>; 256] {
    let mut digits = [None; 256];
    for (byte, digit) in alphabet.iter().zip(0..) {
        if let Some(slot) = digits.get_mut(usize::from(*byte)) {
            *slot = Some(digit);
        }
    }
    digits
}

/// The characters of a text besides line breaks, with their places.
#[derive(Clone)]
struct Plain<'t> {
    text: &'t [u8],
    at: usize,
    /// How many line breaks do not count as places.
    skipped: usize,
    /// Whether line breaks count as places.
    keeps_places: bool,
}

impl Iterator for Plain<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            if !matches!(byte, b'\r' | b'\n') {
                return Some((self.at - 1 - self.skipped, byte));
            }
            self.skipped += usize::from(!self.keeps_places);
        }
    }
}

impl Base {
    fn encode(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() * 8 / self.bits + self.group);
        let bytes_per_group = self.group * self.bits / 8;
        for chunk in bytes.chunks(bytes_per_group) {
            let filled = chunk.iter().chain(std::iter::repeat(&0)).take(bytes_per_group);
            let group = filled.fold(0_u64, |group, byte| group << 8 | u64::from(*byte));
            let used = (chunk.len() * 8).div_ceil(self.bits);
            for at in 0..self.group {
                let digit = (group >> (self.bits * (self.group - 1 - at))) as usize & ((1 << self.bits) - 1);
                let character = self.alphabet.get(digit).filter(|_| at < used);
                out.push(character.copied().unwrap_or(b'='));
            }
        }
        out
    }

    /// The bytes, or the place of the byte that is wrong, as Go counts it.
    fn decode(&self, text: &[u8]) -> Result<Vec<u8>, usize> {
        let mut out = Vec::with_capacity(text.len() / 8 * self.bits + self.group);
        // Line breaks do not count, but they have places in base 64.
        let keeps_places = self.bits == 6;
        let mut left = Plain { text, at: 0, skipped: 0, keeps_places };
        let length = if keeps_places { text.len() } else { left.clone().count() };
        loop {
            let (mut group, mut digits) = (0_u64, 0);
            while digits < self.group {
                let Some((at, byte)) = left.next() else {
                    return if digits == 0 { Ok(out) } else { Err(length - digits) };
                };
                if byte == b'=' {
                    self.check_padding(at, digits, left, length)?;
                    self.push(&mut out, group, digits);
                    return Ok(out);
                }
                let digit = self.digits.get(usize::from(byte)).copied().flatten().ok_or(at)?;
                group = group << self.bits | u64::from(digit);
                digits += 1;
            }
            self.push(&mut out, group, digits);
        }
    }

    /// Checks that the padding that belongs there follows the first `=` at a place.
    fn check_padding(
        &self,
        at: usize,
        digits: usize,
        mut rest: Plain<'_>,
        length: usize,
    ) -> Result<(), usize> {
        let wanted = self.group - digits - 1;
        let is_32 = self.bits == 5;
        let following = rest.clone().take(self.group).count();
        if digits < 2 || is_32 && following >= self.group {
            return Err(at);
        }
        if is_32 && following < wanted {
            return Err(length);
        }
        for _ in 0..wanted {
            match rest.next() {
                None => return Err(length),
                Some((at, byte)) if byte != b'=' => return Err(at - 1),
                Some(_) => {}
            }
        }
        if is_32 {
            // What follows does not count there.
            return if matches!(digits, 3 | 6) { Err(at) } else { Ok(()) };
        }
        rest.next().map_or(Ok(()), |(at, _)| Err(at))
    }

    /// Writes the whole bytes of a group of so many digits.
    fn push(&self, out: &mut Vec<u8>, group: u64, digits: usize) {
        let bits = digits * self.bits;
        let whole = group >> (bits % 8);
        out.extend((0..bits / 8).rev().map(|at| (whole >> (8 * at)) as u8));
    }

    fn encoded<'a>(&self, call: &Call<'_, 'a>) -> Made<'a> {
        let bytes = call.text(0);
        call.room(bytes.len() * 2)?;
        call.string(self.encode(bytes))
    }

    /// Decodes; an error is the result, as in sprig.
    fn decoded<'a>(&self, call: &Call<'_, 'a>) -> Made<'a> {
        let text = call.text(0);
        call.room(text.len())?;
        match self.decode(text) {
            Ok(bytes) => call.string(bytes),
            Err(at) => call.string(format!("illegal {} data at input byte {at}", self.name).into_bytes()),
        }
    }
}

pub fn b64enc<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    BASE64.encoded(call)
}

pub fn b64dec<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    BASE64.decoded(call)
}

pub fn b32enc<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    BASE32.encoded(call)
}

pub fn b32dec<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    BASE32.decoded(call)
}

fn hex<'a>(call: &Call<'_, 'a>, sum: &[u8]) -> Made<'a> {
    call.context.work(call.text(0).len());
    let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    call.string(hex.into_bytes())
}

pub fn sha1sum<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    hex(call, &Sha1::digest(call.text(0)))
}

pub fn sha256sum<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    hex(call, &Sha256::digest(call.text(0)))
}

pub fn sha512sum<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    hex(call, &Sha512::digest(call.text(0)))
}

pub fn adler32sum<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    const PRIME: u32 = 65_521;
    let (low, high) = call.text(0).iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % PRIME;
        (low, (high + low) % PRIME)
    });
    call.string((high << 16 | low).to_string().into_bytes())
}

/// A random identifier: the n-th one is the same in all runs of a render.
pub fn uuidv4<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let bits = call.random.draw() & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    let parts = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
    Ok(call.context.text(parts.join("-")))
}
