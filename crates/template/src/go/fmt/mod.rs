//! Go's `fmt` package for the values of templates: `Sprint`, `Sprintln`, `Sprintf` and all their verbs.

mod float;
mod format;
mod int;
mod json;
mod text;

use super::time::name_of_whole;
use super::unicode::count;
use super::val::{V, Val, ValueKind};

/// Lists and maps nested deeper than this are not printed.
const MAX_PRINT_DEPTH: usize = 1_200;

/// The flags between `%` and the verb.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    width: Option<usize>,
    precision: Option<usize>,
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v` and `%#v` are formats of their own.
    plus_v: bool,
    sharp_v: bool,
}

/// A printer that appends to a buffer, up to a limit.
pub(super) struct Printer<'o> {
    out: &'o mut Vec<u8>,
    limit: usize,
    /// Whether something did not fit into the buffer, or nests too deep.
    overflow: bool,
    too_deep: bool,
    /// Whether `%w` is a verb, as in `Errorf`.
    wraps: bool,
    flags: Flags,
}

/// The text of `fmt.Errorf`, for messages, which are short.
pub(super) fn sprintf(format: &str, args: &[Val<'_>]) -> String {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, 1 << 20);
    printer.wraps = true;
    printer.printf(format.as_bytes(), args);
    lossy(&out)
}

/// `fmt.Sprint`, for messages, which are short.
pub(super) fn sprint(args: &[Val<'_>]) -> String {
    let mut out = Vec::new();
    Printer::new(&mut out, 1 << 20).print(args);
    lossy(&out)
}

/// The bytes as text; each invalid byte becomes U+FFFD, as in Go.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => super::unicode::Runes(bytes).map(|(c, _)| c.unwrap_or('\u{fffd}')).collect(),
    }
}

/// Whether a verb shows a value that has a text of its own as that text.
fn is_for_text(verb: char) -> bool {
    matches!(verb, 'v' | 's' | 'q' | 'x' | 'X')
}

impl Flags {
    /// Whether there is nothing between `%` and the verb.
    fn is_plain(&self) -> bool {
        self.width.is_none()
            && self.precision.is_none()
            && !(self.plus || self.minus || self.sharp || self.space || self.zero)
    }
}

impl<'o> Printer<'o> {
    /// A printer that lets `out` grow to `limit` bytes.
    pub(super) fn new(out: &'o mut Vec<u8>, limit: usize) -> Printer<'o> {
        Printer { out, limit, overflow: false, too_deep: false, wraps: false, flags: Flags::default() }
    }

    /// Whether everything has fitted.
    pub(super) fn fitted(&self) -> bool {
        !self.overflow
    }

    /// Whether printing ended at a value that nests too deep.
    pub(super) fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    /// Whether to go on at a depth.
    fn enters(&mut self, depth: usize) -> bool {
        self.too_deep |= !self.overflow && depth > MAX_PRINT_DEPTH;
        self.overflow |= self.too_deep;
        !self.overflow
    }

    /// `fmt.Fprint`: with spaces only between operands of which neither is a string.
    pub(super) fn print(&mut self, args: &[Val<'_>]) {
        let mut after_string = true;
        for arg in args {
            let string = arg.kind() == ValueKind::String;
            if !string && !after_string {
                self.push(b" ");
            }
            self.arg(arg, 'v');
            after_string = string;
        }
    }

    /// `fmt.Fprintln`: with spaces between all operands, and a line break.
    pub(super) fn println(&mut self, args: &[Val<'_>]) {
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.push(b" ");
            }
            self.arg(arg, 'v');
        }
        self.push(b"\n");
    }

    /// Appends as much of `bytes` as fits.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.out.len());
        match bytes.get(..room) {
            Some(fitting) if bytes.len() > room => {
                self.overflow = true;
                self.out.extend_from_slice(fitting);
            }
            _ => self.out.extend_from_slice(bytes),
        }
    }

    fn push_char(&mut self, c: char) {
        self.push(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn fill(&mut self, byte: u8, times: usize) {
        let room = self.limit.saturating_sub(self.out.len());
        self.overflow |= times > room;
        self.out.resize(self.out.len() + times.min(room), byte);
    }

    /// Writes the padding from `width` characters to the required width.
    fn pad_for(&mut self, width: usize) {
        let missing = self.flags.width.unwrap_or(0).saturating_sub(width);
        let byte = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.fill(byte, missing);
    }

    fn padded(&mut self, bytes: &[u8]) {
        if self.flags.width.is_none() {
            return self.push(bytes);
        }
        let width = count(bytes);
        if !self.flags.minus {
            self.pad_for(width);
        }
        self.push(bytes);
        if self.flags.minus {
            self.pad_for(width);
        }
    }

    /// Like [`padded`](Self::padded), but always with spaces.
    fn padded_with_spaces(&mut self, bytes: &[u8]) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        self.padded(bytes);
        self.flags.zero = zero;
    }

    /// Prints one operand.
    fn arg(&mut self, arg: &Val<'_>, verb: char) {
        match (arg.kind(), verb) {
            (ValueKind::Invalid | ValueKind::Nil, 'v' | 'T') => self.padded(b"<nil>"),
            (ValueKind::Invalid | ValueKind::Nil, _) => self.bad_verb(None, verb),
            (_, 'T') => {
                self.string(arg.type_name().as_bytes(), 's');
            }
            (_, 'w') if self.wraps => self.value(arg, 'v', 0),
            (ValueKind::Slice | ValueKind::Map, 'p') => self.push(b"0xc000000000"),
            (_, 'p') => self.bad_verb(Some(arg), verb),
            (ValueKind::Map | ValueKind::Slice, 'w') => self.bad_verb(Some(arg), verb),
            _ => self.value(arg, verb, 0),
        }
    }

    /// Prints Go's text for a verb that does not fit its operand.
    fn bad_verb(&mut self, arg: Option<&Val<'_>>, verb: char) {
        self.push(b"%!");
        self.push_char(verb);
        self.push(b"(");
        match arg {
            Some(arg) => {
                self.push(arg.type_name().as_bytes());
                self.push(b"=");
                self.value(arg, 'v', 0);
            }
            None => self.push(b"<nil>"),
        }
        self.push(b")");
    }

    fn value(&mut self, value: &Val<'_>, verb: char, depth: usize) {
        if !self.enters(depth) {
            return;
        }
        match value.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil if self.flags.sharp_v => {
                self.push(b"interface {}(nil)");
            }
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil => self.push(b"<nil>"),
            V::Bool(truth) if matches!(verb, 't' | 'v') => {
                self.padded(if truth { b"true" } else { b"false" });
            }
            V::Bool(_) => self.bad_verb(Some(value), verb),
            V::Int(n) => self.integer(value, n.unsigned_abs(), n < 0, verb),
            V::Whole(of, n) => {
                match name_of_whole(of, n).filter(|_| is_for_text(verb) && !self.flags.sharp_v) {
                    Some(name) => drop(self.string(name.as_bytes(), verb)),
                    None => self.integer(value, n.unsigned_abs(), n < 0, verb),
                }
            }
            V::Byte(n) => self.integer(value, u64::from(n), false, verb),
            V::Float(n) => self.float(value, n, verb),
            V::Complex(real, imaginary) => self.complex(value, real, imaginary, verb),
            V::Str(bytes) => {
                if !self.string(bytes, verb) {
                    self.bad_verb(Some(value), verb);
                }
            }
            V::List(_) | V::Slice(_) => self.list(value, verb, depth),
            V::Map(_) | V::Dict(_) => self.map(value, verb, depth),
            V::Time(moment) if is_for_text(verb) => drop(self.string(&moment.shown(), verb)),
            V::Time(_) => self.bad_verb(Some(value), verb),
        }
    }

    fn separator(&mut self, at: usize) {
        if at > 0 {
            self.push(if self.flags.sharp_v { b", " } else { b" " });
        }
    }

    fn list(&mut self, list: &Val<'_>, verb: char, depth: usize) {
        let go_syntax = self.flags.sharp_v;
        if go_syntax {
            self.push(list.type_name().as_bytes());
            if list.is_nil_list() {
                return self.push(b"(nil)");
            }
        }
        self.push(if go_syntax { b"{" } else { b"[" });
        let mut at = 0;
        while let Some(item) = list.item(at) {
            if self.overflow {
                return;
            }
            self.separator(at);
            self.value(&item, verb, depth + 1);
            at += 1;
        }
        self.push(if go_syntax { b"}" } else { b"]" });
    }

    fn map(&mut self, map: &Val<'_>, verb: char, depth: usize) {
        let go_syntax = self.flags.sharp_v;
        match go_syntax {
            true => {
                self.push(map.type_name().as_bytes());
                self.push(b"{");
            }
            false => self.push(b"map["),
        }
        for (at, (key, member)) in map.members().iter().enumerate() {
            if self.overflow {
                return;
            }
            self.separator(at);
            self.value(&Val::bytes(key), verb, depth + 1);
            self.push(b":");
            self.value(member, verb, depth + 1);
        }
        self.push(if go_syntax { b"}" } else { b"]" });
    }
}
