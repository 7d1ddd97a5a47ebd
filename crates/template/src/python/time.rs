//! `strftime` of a moment in UTC, in the C locale.

use std::iter::Peekable;
use std::str::Chars;

use super::PyError;
use super::out::Bounded;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `datetime.fromtimestamp(unix_seconds, UTC).strftime(format)` on Linux, with glibc's flags (`%-d`), for the years that
/// `datetime` has. A directive that does not exist is written as it is.
pub fn strftime(format: &str, unix_seconds: i64, room: usize) -> Result<String, PyError> {
    let moment = Moment::new(unix_seconds)?;
    let mut out = Bounded::new(room);
    moment.write(&mut out, format)?;
    Ok(out.finish())
}

/// A moment in its parts.
struct Moment {
    seconds: i64,
    year: i64,
    /// From 0.
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// From 0, Sunday.
    weekday: i64,
    /// From 0.
    yearday: i64,
}

/// The flags of a directive.
#[derive(Default)]
struct Flags {
    pad: Option<char>,
    upper: bool,
    swap: bool,
    width: Option<usize>,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && year % 100 != 0 || year % 400 == 0
}

impl Moment {
    fn new(seconds: i64) -> Result<Moment, PyError> {
        let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years begin in March here, so that a leap day ends them; 400 years make an era. (Howard Hinnant's algorithm.)
        let shifted = days.saturating_add(719_468);
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = (march_month + 2) % 12;
        let year = year_of_era + era * 400 + i64::from(month < 2);
        if !(1..=9999).contains(&year) {
            return PyError::value_error(format!("year {year} is out of range"));
        }
        let before = day_of_year + 59 + i64::from(is_leap(year));
        let yearday = if month < 2 { day_of_year - 306 } else { before };
        let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
        Ok(Moment {
            seconds,
            year,
            month,
            day,
            hour,
            minute,
            second,
            weekday: (days + 4).rem_euclid(7),
            yearday,
        })
    }

    fn write(&self, out: &mut Bounded, format: &str) -> Result<(), PyError> {
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c)?;
                continue;
            }
            let mut raw = "%".to_owned();
            let flags = read_flags(&mut chars, &mut raw);
            let Some(directive) = chars.next() else {
                out.push_str(&raw)?;
                break;
            };
            raw.push(directive);
            if !may_be_modified(&raw, directive) {
                out.push_str(&raw)?;
                continue;
            }
            self.write_directive(out, directive, &flags, &raw)?;
        }
        Ok(())
    }

    fn write_directive(
        &self,
        out: &mut Bounded,
        directive: char,
        flags: &Flags,
        raw: &str,
    ) -> Result<(), PyError> {
        if let Some((value, width, pad)) = self.number(directive) {
            return flags.write_number(out, value, width, pad);
        }
        if let Some(format) = composed(directive) {
            let mut inner = Bounded::new(out.left());
            self.write(&mut inner, format)?;
            return flags.write_text(out, inner.text(), directive);
        }
        let name =
            |names: &[&'static str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
        let text = match directive {
            'A' => name(&DAYS, self.weekday),
            'a' => name(&DAYS, self.weekday).and_then(|name| name.get(..3)),
            'B' => name(&MONTHS, self.month),
            'b' | 'h' => name(&MONTHS, self.month).and_then(|name| name.get(..3)),
            'p' => Some(if self.hour < 12 { "AM" } else { "PM" }),
            'P' => Some(if self.hour < 12 { "am" } else { "pm" }),
            'Z' => Some(if raw == "%Z" { "UTC" } else { "" }),
            'z' => Some(if raw == "%z" { "+0000" } else { "" }),
            'f' if raw == "%f" => Some("000000"),
            'n' => Some("\n"),
            't' => Some("\t"),
            '%' => Some("%"),
            _ => None,
        };
        match text {
            Some(text) => flags.write_text(out, text, directive),
            None => out.push_str(raw),
        }
    }

    /// The value of a numeric directive, its width and what fills it.
    fn number(&self, directive: char) -> Option<(i64, usize, char)> {
        let twelve = (self.hour + 11) % 12 + 1;
        let monday = (self.weekday + 6) % 7;
        Some(match directive {
            'd' => (self.day, 2, '0'),
            'e' => (self.day, 2, ' '),
            'm' => (self.month + 1, 2, '0'),
            'y' => (self.year % 100, 2, '0'),
            'Y' => (self.year, 1, '0'),
            'C' => (self.year / 100, 1, '0'),
            'H' => (self.hour, 2, '0'),
            'k' => (self.hour, 2, ' '),
            'I' => (twelve, 2, '0'),
            'l' => (twelve, 2, ' '),
            'M' => (self.minute, 2, '0'),
            'S' => (self.second, 2, '0'),
            's' => (self.seconds, 1, ' '),
            'j' => (self.yearday + 1, 3, '0'),
            'u' => (monday + 1, 1, '0'),
            'w' => (self.weekday, 1, '0'),
            'U' => ((self.yearday + 7 - self.weekday) / 7, 2, '0'),
            'W' => ((self.yearday + 7 - monday) / 7, 2, '0'),
            'V' => (self.iso_week().1, 2, '0'),
            'G' => (self.iso_week().0, 1, '0'),
            'g' => (self.iso_week().0 % 100, 2, '0'),
            _ => return None,
        })
    }

    /// The year and the number of the week of ISO 8601.
    fn iso_week(&self) -> (i64, i64) {
        let monday = (self.weekday + 6) % 7;
        let week = (self.yearday - monday + 10) / 7;
        let length = 365 + i64::from(is_leap(self.year));
        // The week belongs to the year that its Thursday is in.
        let thursday = self.yearday - monday + 3;
        if thursday < 0 {
            let before = 365 + i64::from(is_leap(self.year - 1));
            (self.year - 1, (self.yearday + before - monday + 10) / 7)
        } else if thursday >= length {
            (self.year + 1, 1)
        } else {
            (self.year, week)
        }
    }
}

/// The directives that stand for several.
fn composed(directive: char) -> Option<&'static str> {
    Some(match directive {
        'c' => "%a %b %e %H:%M:%S %Y",
        'x' | 'D' => "%m/%d/%y",
        'X' | 'T' => "%H:%M:%S",
        'F' => "%Y-%m-%d",
        'R' => "%H:%M",
        'r' => "%I:%M:%S %p",
        _ => return None,
    })
}

/// Whether the directive takes the modifier `E` or `O`, if it has one.
fn may_be_modified(raw: &str, directive: char) -> bool {
    match raw.chars().rev().nth(1) {
        Some('E') => "cCxXyY".contains(directive),
        Some('O') => "BbCdeGghHIklmMpsSuUVwWyZ".contains(directive),
        _ => true,
    }
}

fn read_flags(chars: &mut Peekable<Chars<'_>>, raw: &mut String) -> Flags {
    let mut flags = Flags::default();
    while let Some(c) = chars.next_if(|c| matches!(c, '-' | '_' | '0' | '^' | '#' | '+')) {
        raw.push(c);
        match c {
            '^' => flags.upper = true,
            '#' => flags.swap = true,
            c => flags.pad = Some(c),
        }
    }
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        raw.push(c);
        let digit = c.to_digit(10).unwrap_or(0) as usize;
        flags.width = Some(flags.width.unwrap_or(0).saturating_mul(10).saturating_add(digit));
    }
    // Other names of months or digits of other scripts: the C locale has none.
    raw.extend(chars.next_if(|c| matches!(c, 'E' | 'O')));
    flags
}

impl Flags {
    fn write_number(&self, out: &mut Bounded, value: i64, width: usize, pad: char) -> Result<(), PyError> {
        let text = value.unsigned_abs().to_string();
        let (pad, width) = match self.pad {
            Some('-') => (' ', self.width.unwrap_or(0)),
            Some('_') => (' ', self.width.unwrap_or(width)),
            Some(_) => ('0', self.width.unwrap_or(width)),
            None => (pad, self.width.unwrap_or(width)),
        };
        let sign = if value < 0 { "-" } else { "" };
        let missing = width.saturating_sub(text.len() + sign.len());
        out.push_str(if pad == ' ' { "" } else { sign })?;
        out.fill(pad, missing)?;
        out.push_str(if pad == ' ' { sign } else { "" })?;
        out.push_str(&text)
    }

    fn write_text(&self, out: &mut Bounded, text: &str, directive: char) -> Result<(), PyError> {
        let pad = if matches!(self.pad, Some('0' | '+')) { '0' } else { ' ' };
        out.fill(pad, self.width.unwrap_or(0).saturating_sub(text.len()))?;
        let lower = self.swap && matches!(directive, 'p' | 'Z') || directive == 'P';
        if lower {
            out.push_str(&text.to_ascii_lowercase())
        } else if self.upper || self.swap && matches!(directive, 'a' | 'A' | 'b' | 'B' | 'h') {
            out.push_str(&text.to_ascii_uppercase())
        } else {
            out.push_str(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written() {
        let cases = [
            (0, "%Y-%m-%d %H:%M:%S %Z", "1970-01-01 00:00:00 UTC"),
            (1_709_210_096, "%d %b %Y, %A %-I:%M %p", "29 Feb 2024, Thursday 12:34 PM"),
            (
                1_709_210_096,
                "%j %U %W %V %G %u %w %y %e|%-d|%_m|%^a|%c",
                "060 08 09 09 2024 4 4 24 29|29| 2|THU|Thu Feb 29 12:34:56 2024",
            ),
            (-1, "%F %T %s %f %z %% %q %", "1969-12-31 23:59:59 -1 000000 +0000 % %q %"),
            (1_104_537_600, "%G-W%V", "2004-W53"),
        ];
        for (seconds, format, text) in cases {
            assert_eq!(strftime(format, seconds, 999).as_deref(), Ok(text));
        }
        assert_eq!(strftime("%999999999d", 0, 1000), Err(PyError::TooLarge));
        assert!(strftime("%Y", i64::MAX, 1000).is_err());
    }
}
