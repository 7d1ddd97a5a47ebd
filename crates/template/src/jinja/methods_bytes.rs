//! `bytes`: what `str.encode` returns, and its methods.

use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::Val;

/// How a text is encoded.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
}

impl Encoding {
    fn find(name: &str) -> Option<Encoding> {
        match name.to_ascii_lowercase().replace(['_', ' '], "-").as_str() {
            "utf-8" | "utf8" | "u8" | "utf" => Some(Encoding::Utf8),
            "ascii" | "us-ascii" | "646" => Some(Encoding::Ascii),
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "8859" | "l1" | "latin" => {
                Some(Encoding::Latin1)
            }
            _ => None,
        }
    }

    /// The last character that has a byte of its own.
    fn last(self) -> char {
        if self == Encoding::Latin1 { '\u{ff}' } else { '\u{7f}' }
    }
}

/// The character that stands for the byte 0x80: those from here on have no case and belong to no class.
const HIGH: u32 = 0xe080;

fn char_of(byte: u8) -> char {
    match byte {
        0x80.. => char::from_u32(HIGH + u32::from(byte) - 0x80).unwrap_or('?'),
        byte => char::from(byte),
    }
}

fn byte_of(c: char) -> u8 {
    let code = u32::from(c);
    u8::try_from(if code >= HIGH { code - HIGH + 0x80 } else { code }).unwrap_or(b'?')
}

impl<'a> Machine<'a> {
    pub fn bytes(&mut self, bytes: Vec<u8>) -> Result<Val<'a>, Stop> {
        self.charge(bytes.len() + 16)?;
        self.work(bytes.len())?;
        Ok(Val::Bytes(self.store.bump.alloc_slice_copy(&bytes)))
    }

    fn encoding(&mut self, name: &str, args: &Arguments<'a>) -> Result<(Encoding, &'a str), Stop> {
        let [encoding, errors] = self.bind(name, ["encoding", "errors"], args)?;
        let encoding = encoding.map_or(Ok("utf-8"), |encoding| self.str_arg(name, encoding))?;
        let errors = errors.map_or(Ok("strict"), |errors| self.str_arg(name, errors))?;
        match Encoding::find(encoding) {
            Some(encoding) => Ok((encoding, errors)),
            None => Err(self.fail(format!("unknown encoding: {encoding}"))),
        }
    }

    /// `str.encode`.
    pub fn encode(&mut self, text: &'a str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let (encoding, errors) = self.encoding("encode", args)?;
        if encoding == Encoding::Utf8 || text.is_ascii() {
            return Ok(Val::Bytes(text.as_bytes()));
        }
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            match (u8::try_from(u32::from(c)), errors) {
                (Ok(byte), _) if c <= encoding.last() => bytes.push(byte),
                (_, "ignore") => {}
                (_, "replace") => bytes.push(b'?'),
                _ => return Err(self.fail(format!("the codec can't encode character {c:?}"))),
            }
        }
        self.bytes(bytes)
    }

    fn decode(&mut self, bytes: &'a [u8], args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let (encoding, errors) = self.encoding("decode", args)?;
        self.check_room(bytes.len().saturating_mul(3))?;
        match (encoding, std::str::from_utf8(bytes), errors) {
            (Encoding::Latin1, ..) => {
                self.str(bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
            }
            (_, Ok(text), _) if encoding == Encoding::Utf8 || text.is_ascii() => Ok(Val::Str(text)),
            (Encoding::Utf8, _, "replace") => self.str(String::from_utf8_lossy(bytes)),
            _ => Err(self.fail("the codec can't decode the bytes")),
        }
    }

    /// The methods of `bytes`: those of `str`, for which the bytes beyond ASCII are no letters, digits or spaces.
    pub fn bytes_method(
        &mut self,
        bytes: &'a [u8],
        name: &str,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        match name {
            "decode" => return self.decode(bytes, args),
            "hex" => {
                self.none(name, args)?;
                self.check_room(bytes.len().saturating_mul(2))?;
                return self.str(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            }
            _ => {}
        }
        let text = self.bytes_as_text(bytes)?;
        let mut mapped = args.clone();
        for value in &mut mapped.positional {
            *value = self.bytes_arg(*value)?;
        }
        if let ("join", Some(items)) = (name, mapped.positional.first_mut()) {
            let mut parts = Vec::new();
            for item in self.collect(*items)? {
                parts.push(self.bytes_arg(item)?);
            }
            *items = self.list(parts)?;
        }
        let result = self.str_method(text, name, &mapped)?;
        self.text_as_bytes(result)
    }

    fn bytes_as_text(&mut self, bytes: &[u8]) -> Result<&'a str, Stop> {
        self.check_room(bytes.len().saturating_mul(3))?;
        self.alloc_str(&bytes.iter().map(|byte| char_of(*byte)).collect::<String>())
    }

    /// An argument of a method: bytes as the text that stands for them, or a tuple of such.
    fn bytes_arg(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match value {
            Val::Bytes(bytes) => Ok(Val::Str(self.bytes_as_text(bytes)?)),
            Val::Str(_) | Val::Markup(_) => Err(self.fail("a bytes-like object is required, not 'str'")),
            Val::Tuple(tuple) => {
                let mut items = Vec::with_capacity(tuple.items.len());
                for item in tuple.items {
                    items.push(if let Val::Bytes(_) | Val::Str(_) = item {
                        self.bytes_arg(*item)?
                    } else {
                        *item
                    });
                }
                self.tuple(&items)
            }
            value => Ok(value),
        }
    }

    /// The result of a method: a text as bytes, and the texts of a list or tuple.
    fn text_as_bytes(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match value {
            Val::Str(text) => self.bytes(text.chars().map(byte_of).collect()),
            Val::List(list) => {
                let mut items = list.borrow().clone();
                for item in &mut items {
                    *item = self.text_as_bytes(*item)?;
                }
                self.list(items)
            }
            Val::Tuple(tuple) => {
                let mut items = tuple.items.to_vec();
                for item in &mut items {
                    *item = self.text_as_bytes(*item)?;
                }
                self.tuple(&items)
            }
            value => Ok(value),
        }
    }
}
