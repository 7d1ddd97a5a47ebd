//! Reading a format specification: `[[fill]align][sign][z][#][0][width][,_][.precision][type]`.

use super::PyError;
use super::chars::decimal_value;

/// A format specification.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) fill: char,
    pub(super) align: char,
    pub(super) sign: Option<char>,
    pub(super) no_negative_zero: bool,
    pub(super) alternate: bool,
    pub(super) width: usize,
    /// The separator of groups of digits: `,` or `_`.
    pub(super) thousands: Option<char>,
    pub(super) precision: Option<usize>,
    /// The letter of the presentation type, or nothing where it is left out.
    pub(super) kind: Option<char>,
}

struct Reader<'s> {
    rest: &'s str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|&c| wanted(c))?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn number(&mut self) -> Result<Option<usize>, PyError> {
        let mut number = None;
        while let Some(digit) = self.take(|c| decimal_value(c).is_some()).and_then(decimal_value) {
            number = Some(appended(number.unwrap_or(0), digit)?);
        }
        Ok(number)
    }
}

/// A number with one more digit.
pub(super) fn appended(number: usize, digit: u8) -> Result<usize, PyError> {
    let next = number.checked_mul(10).and_then(|number| number.checked_add(usize::from(digit)));
    next.filter(|&next| next <= isize::MAX as usize)
        .ok_or_else(|| PyError::Value("Too many decimal digits in format string".to_owned()))
}

fn is_align(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '^')
}

impl Spec {
    /// Reads the specification of a value of type `type_name`, whose texts stand at `align` by themselves.
    pub(super) fn read(text: &str, align: char, type_name: &str) -> Result<Spec, PyError> {
        let mut reader = Reader { rest: text };
        let (fill, given) = reader.alignment();
        let sign = reader.take(|c| matches!(c, ' ' | '+' | '-'));
        let no_negative_zero = reader.take(|c| c == 'z').is_some();
        let alternate = reader.take(|c| c == '#').is_some();
        let zeros = fill.is_none() && reader.take(|c| c == '0').is_some();
        let own = if zeros && align == '>' { '=' } else { align };
        let width = reader.number()?.unwrap_or(0);
        let thousands = reader.thousands()?;
        let precision = reader.precision()?;
        let kind = reader.take(|_| true);
        if !reader.rest.is_empty() {
            return PyError::value_error(format!(
                "Invalid format specifier '{text}' for object of type '{type_name}'"
            ));
        }
        let fill = fill.unwrap_or(if zeros { '0' } else { ' ' });
        let align = given.unwrap_or(own);
        Ok(Spec { fill, align, sign, no_negative_zero, alternate, width, thousands, precision, kind })
    }

    /// An error if digits of this presentation type have no groups.
    pub(super) fn check_thousands(&self) -> Result<(), PyError> {
        match (self.thousands, self.kind) {
            (None, _) | (_, None | Some('d' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F')) => Ok(()),
            (Some('_'), Some('b' | 'o' | 'x' | 'X')) => Ok(()),
            (Some(separator), Some(kind)) => {
                PyError::value_error(format!("Cannot specify '{separator}' with '{}'.", shown(kind)))
            }
        }
    }

    /// The error of a presentation type that values of this type do not have.
    pub(super) fn unknown_kind<T>(&self, type_name: &str) -> Result<T, PyError> {
        let kind = shown(self.kind.unwrap_or(' '));
        PyError::value_error(format!("Unknown format code '{kind}' for object of type '{type_name}'"))
    }
}

fn shown(kind: char) -> String {
    if matches!(kind, '!'..='\x7f') { kind.to_string() } else { format!("\\x{:x}", kind as u32) }
}

impl Reader<'_> {
    /// The fill character and the alignment.
    fn alignment(&mut self) -> (Option<char>, Option<char>) {
        let mut chars = self.rest.chars();
        if let (Some(fill), Some(align)) = (chars.next(), chars.next().filter(|&c| is_align(c))) {
            self.rest = chars.as_str();
            return (Some(fill), Some(align));
        }
        (None, self.take(is_align))
    }

    fn thousands(&mut self) -> Result<Option<char>, PyError> {
        let comma = self.take(|c| c == ',');
        let underscore = self.take(|c| c == '_');
        if underscore.is_some() && (comma.is_some() || self.peek() == Some(',')) {
            return PyError::value_error("Cannot specify both ',' and '_'.");
        }
        Ok(comma.or(underscore))
    }

    fn precision(&mut self) -> Result<Option<usize>, PyError> {
        if self.take(|c| c == '.').is_none() {
            return Ok(None);
        }
        match self.number()? {
            None => PyError::value_error("Format specifier missing precision"),
            number => Ok(number),
        }
    }
}
