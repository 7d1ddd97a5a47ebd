//! printf-style formatting: `"%s %5.2f %(name)s" % values`.

use std::borrow::Cow;
use std::str::Chars;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::PyError;
use super::arg::Arg;
use super::out::Bounded;
use super::percent_item::{Item, too_large};
use super::text::len;

/// The right operand of `%`: a tuple, a mapping or a single value.
pub trait PercentArgs<'v> {
    /// The next value of the tuple, or the single value (also a mapping) if it is still to come.
    fn next(&mut self) -> Option<Arg<'v>>;
    /// The value of a key; `TypeError("format requires a mapping")` if there is no mapping.
    fn key(&mut self, key: &str) -> Result<Arg<'v>, PyError>;
    /// Whether values are left that ought to have been used: never if the operand is a mapping or a list.
    fn is_left(&self) -> bool;
}

/// `format % args`
pub fn percent<'v>(format: &str, args: &mut dyn PercentArgs<'v>, room: usize) -> Result<String, PyError> {
    let mut out = Bounded::new(room);
    let mut reader = Reader { format, rest: format.chars(), args, keyed: None };
    loop {
        let rest = reader.rest.as_str();
        let plain = rest.find('%').unwrap_or(rest.len());
        out.push_str(rest.get(..plain).unwrap_or_default())?;
        reader.rest = rest.get(plain + 1..).unwrap_or_default().chars();
        if plain == rest.len() {
            break;
        }
        reader.write_item(&mut out)?;
    }
    if reader.keyed.is_none() && reader.args.is_left() {
        return PyError::type_error("not all arguments converted during string formatting");
    }
    Ok(out.finish())
}

struct Reader<'f, 'a, 'v> {
    format: &'f str,
    rest: Chars<'f>,
    args: &'a mut dyn PercentArgs<'v>,
    /// After a key was used: its value, until it is used up.
    keyed: Option<Option<Arg<'v>>>,
}

impl<'v> Reader<'_, '_, 'v> {
    fn write_item(&mut self, out: &mut Bounded) -> Result<(), PyError> {
        if let Some(rest) = self.rest.as_str().strip_prefix('%') {
            self.rest = rest.chars();
            return out.push('%');
        }
        self.read_key()?;
        let mut item = Item::default();
        let c = self.read_flags(&mut item);
        let c = self.read_width(c, &mut item)?;
        let c = self.read_precision(c, &mut item)?;
        let c = if matches!(c, Some('h' | 'l' | 'L')) { self.rest.next() } else { c };
        match c {
            None => PyError::value_error("incomplete format"),
            Some(c) => {
                let arg = self.next()?;
                if item.write(out, c, &arg)? { Ok(()) } else { self.unsupported(c) }
            }
        }
    }

    fn next(&mut self) -> Result<Arg<'v>, PyError> {
        let arg = match &mut self.keyed {
            Some(value) => value.take(),
            None => self.args.next(),
        };
        arg.ok_or_else(|| PyError::Type("not enough arguments for format string".to_owned()))
    }

    fn read_key(&mut self) -> Result<(), PyError> {
        let Some(text) = self.rest.as_str().strip_prefix('(') else { return Ok(()) };
        let mut depth = 1;
        let end = text.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((key, rest)) = end.and_then(|end| text.split_at_checked(end)) else {
            // That there is no mapping is the more important mistake.
            return match self.args.key("") {
                Err(error @ PyError::Type(_)) => Err(error),
                _ => PyError::value_error("incomplete format key"),
            };
        };
        self.rest = rest.chars();
        self.rest.next();
        self.keyed = Some(Some(self.args.key(key)?));
        Ok(())
    }

    fn read_flags(&mut self, item: &mut Item) -> Option<char> {
        loop {
            match self.rest.next() {
                Some('-') => item.left = true,
                Some('+') => item.plus = true,
                Some(' ') => item.blank = true,
                Some('#') => item.alternate = true,
                Some('0') => item.zero = true,
                other => return other,
            }
        }
    }

    fn read_width(&mut self, c: Option<char>, item: &mut Item) -> Result<Option<char>, PyError> {
        if c != Some('*') {
            let (width, c) = self.read_number(c, isize::MAX as usize, "width too big")?;
            item.width = width.unwrap_or(0);
            return Ok(c);
        }
        let width = self.star()?.to_isize();
        let width = width.ok_or_else(|| too_large("Python int too large to convert to C ssize_t"))?;
        item.left |= width < 0;
        item.width = width.unsigned_abs();
        Ok(self.rest.next())
    }

    fn read_precision(&mut self, c: Option<char>, item: &mut Item) -> Result<Option<char>, PyError> {
        if c != Some('.') {
            return Ok(c);
        }
        let c = self.rest.next();
        if c != Some('*') {
            let (precision, c) = self.read_number(c, i32::MAX as usize, "precision too big")?;
            item.precision = Some(precision.unwrap_or(0));
            return Ok(c);
        }
        let precision = self.star()?;
        let precision = precision.to_i32();
        let precision = precision.ok_or_else(|| too_large("Python int too large to convert to C int"))?;
        item.precision = Some(usize::try_from(precision).unwrap_or(0));
        Ok(self.rest.next())
    }

    fn star(&mut self) -> Result<BigInt, PyError> {
        let arg = self.next()?;
        arg.int().map(Cow::into_owned).ok_or_else(|| PyError::Type("* wants int".to_owned()))
    }

    /// A number that begins with `c`, and the character after it.
    fn read_number(
        &mut self,
        mut c: Option<char>,
        most: usize,
        problem: &str,
    ) -> Result<(Option<usize>, Option<char>), PyError> {
        let mut number = None;
        while let Some(digit) = c.and_then(|c| c.to_digit(10)) {
            let next = number.unwrap_or(0_usize).checked_mul(10).and_then(|n| n.checked_add(digit as usize));
            let next = next.filter(|&next| next <= most);
            number = Some(next.ok_or_else(|| PyError::Value(problem.to_owned()))?);
            c = self.rest.next();
        }
        Ok((number, c))
    }

    fn unsupported(&self, c: char) -> Result<(), PyError> {
        let shown = if (31..=126).contains(&(c as u32)) { c } else { '?' };
        let index = len(self.format) - len(self.rest.as_str()) - 1;
        PyError::value_error(format!(
            "unsupported format character '{shown}' (0x{:x}) at index {index}",
            c as u32
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tuple of values, or a mapping with the one key `k`.
    struct Args {
        values: Vec<Arg<'static>>,
        mapping: bool,
    }

    impl PercentArgs<'static> for Args {
        fn next(&mut self) -> Option<Arg<'static>> {
            if self.values.is_empty() { None } else { Some(self.values.remove(0)) }
        }

        fn key(&mut self, key: &str) -> Result<Arg<'static>, PyError> {
            match key {
                _ if !self.mapping => PyError::type_error("format requires a mapping"),
                "k" => Ok(Arg::Int(7)),
                key => Err(PyError::Key(key.to_owned())),
            }
        }

        fn is_left(&self) -> bool {
            !self.mapping && !self.values.is_empty()
        }
    }

    fn apply(format: &str, values: Vec<Arg<'static>>) -> Result<String, PyError> {
        percent(format, &mut Args { values, mapping: false }, 1000)
    }

    fn text(text: &'static str) -> Arg<'static> {
        Arg::Str(Cow::Borrowed(text))
    }

    #[test]
    fn conversions_are_written() {
        let cases = [
            ("%5s|%-5s|%.2s", vec![text("é"), text("ab"), text("世界人")], "    é|ab   |世界"),
            ("%r %a", vec![text("é\n"), text("é")], "'é\\n' '\\xe9'"),
            ("%d %+d % d %05d %-5d|", (0..5).map(|_| Arg::Int(42)).collect(), "42 +42  42 00042 42   |"),
            ("%d %i %d", vec![Arg::Float(-3.7), Arg::Bool(true), Arg::Big(Cow::Owned(1.into()))], "-3 1 1"),
            (
                "%x %#X %#o %#07x %.4d",
                (0..5).map(|_| Arg::Int(-255)).collect(),
                "-ff -0XFF -0o377 -0x00ff -0255",
            ),
            (
                "%.2f %e %G %#.0f %08.3f",
                (0..5).map(|_| Arg::Float(1.5)).collect(),
                "1.50 1.500000e+00 1.5 2. 0001.500",
            ),
            (
                "%c%c %% %*d%.*f",
                vec![text("x"), Arg::Int(8364), Arg::Int(-4), Arg::Int(1), Arg::Int(1), Arg::Float(0.25)],
                "x€ % 1   0.2",
            ),
        ];
        for (format, values, expected) in cases {
            assert_eq!(apply(format, values).as_deref(), Ok(expected), "{format}");
        }
        let mut args = Args { values: Vec::new(), mapping: true };
        assert_eq!(percent("%(k)s %(k)03d", &mut args, 99).as_deref(), Ok("7 007"));
        assert_eq!(percent("%(x)s", &mut args, 99), Err(PyError::Key("x".to_owned())));
        assert_eq!(percent("%(k", &mut args, 99), PyError::value_error("incomplete format key"));
    }

    #[test]
    fn mistakes_have_the_messages_of_python() {
        let cases = [
            ("%s", vec![], PyError::Type("not enough arguments for format string".into())),
            (
                "",
                vec![Arg::Int(1)],
                PyError::Type("not all arguments converted during string formatting".into()),
            ),
            ("%d", vec![text("1")], PyError::Type("%d format: a real number is required, not str".into())),
            (
                "%x",
                vec![Arg::Float(1.0)],
                PyError::Type("%x format: an integer is required, not float".into()),
            ),
            ("%f", vec![text("1")], PyError::Type("must be real number, not str".into())),
            (
                "é%z",
                vec![Arg::Int(1)],
                PyError::Value("unsupported format character 'z' (0x7a) at index 2".into()),
            ),
            ("%", vec![], PyError::Value("incomplete format".into())),
            ("%(k", vec![], PyError::Type("format requires a mapping".into())),
            ("%(k)s", vec![], PyError::Type("format requires a mapping".into())),
            ("%999999999d", vec![Arg::Int(1)], PyError::TooLarge),
            ("%.999999999f", vec![Arg::Int(1)], PyError::TooLarge),
        ];
        for (format, values, error) in cases {
            assert_eq!(apply(format, values), Err(error), "{format}");
        }
    }
}
