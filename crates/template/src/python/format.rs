//! `str.format`: `"{} {0} {name!r:>10} {a.b[c]:{width}}"`.

use std::borrow::Cow;

use super::PyError;
use super::arg::Arg;
use super::chars::decimal_value;
use super::format_spec::appended;
use super::format_value::format_value;
use super::out::Bounded;
use super::repr::escape_wide;

/// The argument that a field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldName<'f> {
    /// A positional argument; if there is none,
    /// `IndexError("Replacement index {i} out of range for positional args tuple")`.
    Index(usize),
    /// A keyword argument; if there is none, `KeyError(name)`.
    Key(&'f str),
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldStep<'f> {
    /// `.name`
    Attribute(&'f str),
    /// `[3]`
    Index(usize),
    /// `[name]`
    Key(&'f str),
}

/// The arguments of `str.format`.
pub trait FormatArgs<'v> {
    /// The value of a field.
    fn field(&mut self, name: FieldName<'_>, steps: &[FieldStep<'_>]) -> Result<Arg<'v>, PyError>;

    /// The text of a field, once it is formatted (markupsafe escapes it).
    fn formatted<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        text
    }
}

/// `template.format(...)`
pub fn format<'v>(template: &str, args: &mut dyn FormatArgs<'v>, room: usize) -> Result<String, PyError> {
    let mut formatter = Formatter { args, numbering: None };
    formatter.build(template, 2, room)
}

/// How fields have been numbered so far.
#[derive(Clone, Copy)]
enum Numbering {
    Manual,
    /// The number of the next field.
    Automatic(usize),
}

struct Formatter<'a, 'v> {
    args: &'a mut dyn FormatArgs<'v>,
    numbering: Option<Numbering>,
}

/// A replacement field in its parts.
struct Field<'f> {
    name: &'f str,
    conversion: Option<char>,
    spec: &'f str,
}

impl<'v> Formatter<'_, 'v> {
    fn build(&mut self, template: &str, depth: usize, room: usize) -> Result<String, PyError> {
        if depth == 0 {
            return PyError::value_error("Max string recursion exceeded");
        }
        let mut out = Bounded::new(room);
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (plain, from_brace) = rest.split_at(at);
            out.push_str(plain)?;
            let (brace, after) = from_brace.split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                out.push_str(brace)?;
                rest = after;
            } else if brace == "}" || after.is_empty() {
                return PyError::value_error(format!("Single '{brace}' encountered in format string"));
            } else {
                let field;
                (field, rest) = read_field(after)?;
                let text = self.field(&field, depth, out.left())?;
                out.push_str(&text)?;
            }
        }
        out.push_str(rest)?;
        Ok(out.finish())
    }

    fn field(&mut self, field: &Field<'_>, depth: usize, room: usize) -> Result<String, PyError> {
        let arg = self.value(field.name)?;
        let arg = match field.conversion {
            None => arg,
            Some(conversion) => Arg::Str(Cow::Owned(convert(&arg, conversion, room)?)),
        };
        // A doubled brace in a specification is read as two by what finds its end, and as one here.
        let spec: Cow<'_, str> = if field.spec.contains('{') {
            Cow::Owned(self.build(field.spec, depth - 1, room)?)
        } else {
            Cow::Borrowed(field.spec)
        };
        let text = format_value(&arg, &spec, room)?;
        Ok(self.args.formatted(Cow::Owned(text)).into_owned())
    }

    fn value(&mut self, text: &str) -> Result<Arg<'v>, PyError> {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (first, path) = text.split_at(end);
        let name = match self.position(first)? {
            Some(index) => FieldName::Index(index),
            None => FieldName::Key(first),
        };
        let (steps, problem) = read_steps(path);
        // Python looks up what stands before a mistake before it finds the mistake.
        let arg = self.args.field(name, &steps)?;
        problem.map_or(Ok(arg), Err)
    }

    /// The number of the field, if it has one or gets the next one.
    fn position(&mut self, first: &str) -> Result<Option<usize>, PyError> {
        let number = read_number(first)?;
        let (position, numbering) = match (first.is_empty(), number, self.numbering) {
            (false, None, _) => return Ok(None),
            (true, _, Some(Numbering::Manual)) => {
                return switched("manual field specification", "automatic field numbering");
            }
            (false, _, Some(Numbering::Automatic(_))) => {
                return switched("automatic field numbering", "manual field specification");
            }
            (true, _, Some(Numbering::Automatic(next))) => (next, Numbering::Automatic(next + 1)),
            (true, _, None) => (0, Numbering::Automatic(1)),
            (false, Some(number), _) => (number, Numbering::Manual),
        };
        self.numbering = Some(numbering);
        Ok(Some(position))
    }
}

fn switched<T>(from: &str, to: &str) -> Result<T, PyError> {
    PyError::value_error(format!("cannot switch from {from} to {to}"))
}

fn convert(arg: &Arg<'_>, conversion: char, room: usize) -> Result<String, PyError> {
    match conversion {
        's' => arg.str(room).map(Cow::into_owned),
        'r' => arg.repr(room),
        'a' => {
            let mut out = String::new();
            escape_wide(&mut out, &arg.repr(room)?);
            Ok(out)
        }
        '!'..='~' => PyError::value_error(format!("Unknown conversion specifier {conversion}")),
        _ => PyError::value_error(format!("Unknown conversion specifier \\x{:x}", conversion as u32)),
    }
}

/// Reads the field after its opening brace; gives also what follows its closing brace.
fn read_field(text: &str) -> Result<(Field<'_>, &str), PyError> {
    let (name, end, rest) = read_name(text)?;
    let mut conversion = None;
    let mut rest = rest;
    if end == '}' {
        return Ok((Field { name, conversion, spec: "" }, rest));
    }
    if end == '!' {
        let mut chars = rest.chars();
        conversion = chars.next();
        if conversion.is_none() {
            return PyError::value_error("end of string while looking for conversion specifier");
        }
        let after = chars.next();
        rest = chars.as_str();
        match after {
            Some('}') => return Ok((Field { name, conversion, spec: "" }, rest)),
            Some(':') | None => {}
            Some(_) => return PyError::value_error("expected ':' after conversion specifier"),
        }
    }
    let Some(end) = spec_end(rest) else { return PyError::value_error("unmatched '{' in format spec") };
    let (spec, from_brace) = rest.split_at(end);
    Ok((Field { name, conversion, spec }, from_brace.get(1..).unwrap_or_default()))
}

/// The name of a field, the character that ends it, and what follows.
fn read_name(text: &str) -> Result<(&str, char, &str), PyError> {
    let mut in_brackets = false;
    for (at, c) in text.char_indices() {
        match c {
            ']' => in_brackets = false,
            _ if in_brackets => {}
            '[' => in_brackets = true,
            '{' => return PyError::value_error("unexpected '{' in field name"),
            '}' | ':' | '!' => {
                let (name, rest) = text.split_at(at);
                return Ok((name, c, rest.get(1..).unwrap_or_default()));
            }
            _ => {}
        }
    }
    PyError::value_error("expected '}' before end of string")
}

fn spec_end(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.find(|c| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    })
}

/// The steps up to the first mistake.
fn read_steps(path: &str) -> (Vec<FieldStep<'_>>, Option<PyError>) {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        match read_step(rest) {
            Ok((step, after)) => {
                steps.push(step);
                rest = after;
            }
            Err(problem) => return (steps, Some(problem)),
        }
    }
    (steps, None)
}

fn read_step(path: &str) -> Result<(FieldStep<'_>, &str), PyError> {
    let (name, rest, attribute) = if let Some(text) = path.strip_prefix('.') {
        let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
        (name, rest, true)
    } else if let Some(text) = path.strip_prefix('[') {
        let Some((name, rest)) = text.split_once(']') else {
            return PyError::value_error("Missing ']' in format string");
        };
        (name, rest, false)
    } else {
        return PyError::value_error("Only '.' or '[' may follow ']' in format field specifier");
    };
    let number = if attribute { None } else { read_number(name)? };
    if name.is_empty() {
        return PyError::value_error("Empty attribute in format string");
    }
    let step = match number {
        Some(number) => FieldStep::Index(number),
        None if attribute => FieldStep::Attribute(name),
        None => FieldStep::Key(name),
    };
    Ok((step, rest))
}

/// The number that a text of digits stands for.
fn read_number(text: &str) -> Result<Option<usize>, PyError> {
    let mut number = None;
    for c in text.chars() {
        let Some(digit) = decimal_value(c) else { return Ok(None) };
        number = Some(appended(number.unwrap_or(0), digit)?);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positional arguments 0, 1 and 2, and any keyword: its name and the steps from it.
    struct Args;

    impl FormatArgs<'static> for Args {
        fn field(&mut self, name: FieldName<'_>, steps: &[FieldStep<'_>]) -> Result<Arg<'static>, PyError> {
            match name {
                FieldName::Index(index @ 0..=2) => Ok(Arg::Int(index as i64)),
                FieldName::Index(index) => Err(PyError::Index(format!(
                    "Replacement index {index} out of range for positional args tuple"
                ))),
                FieldName::Key("w") => Ok(Arg::Int(6)),
                FieldName::Key(key) => Ok(Arg::Str(Cow::Owned(format!("{key}{steps:?}")))),
            }
        }
    }

    #[test]
    fn fields_are_replaced() {
        let cases = [
            ("{} {} {{}}", "0 1 {}"),
            ("{1}{0:>{w}}|{2!r:<3}|", "1     0|2  |"),
            ("{a.b[c][3]}", "a[Attribute(\"b\"), Key(\"c\"), Index(3)]"),
            ("{:{}}", "0"),
        ];
        for (template, expected) in cases {
            assert_eq!(format(template, &mut Args, 99).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn mistakes_have_the_messages_of_python() {
        let cases = [
            ("{", "Single '{' encountered in format string"),
            ("}", "Single '}' encountered in format string"),
            ("{0", "expected '}' before end of string"),
            ("{0!x}", "Unknown conversion specifier x"),
            ("{0!rr}", "expected ':' after conversion specifier"),
            ("{}{0}", "cannot switch from automatic field numbering to manual field specification"),
            ("{0}{}", "cannot switch from manual field specification to automatic field numbering"),
            ("{0:{1:{2}}}", "Max string recursion exceeded"),
            ("{a.}", "Empty attribute in format string"),
            ("{a[b}", "expected '}' before end of string"),
            ("{a[b]c}", "Only '.' or '[' may follow ']' in format field specifier"),
        ];
        for (template, message) in cases {
            assert_eq!(format(template, &mut Args, 99), PyError::value_error(message), "{template}");
        }
        assert_eq!(format("{0:{w}00000}", &mut Args, 1000), Err(PyError::TooLarge));
    }
}
