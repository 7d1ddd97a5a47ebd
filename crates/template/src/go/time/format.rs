//! Moments as texts, by a layout.

use super::Moment;
use super::calendar::{MONTHS, WEEKDAYS, name_of};
use super::layout::{Element, Offset, Parts, next_chunk};

/// The layout in which moments are printed.
const SHOWN: &[u8] = b"2006-01-02 15:04:05.999999999 -0700 MST";

/// The layout in which JSON has moments.
const RFC3339_NANO: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

impl Moment {
    /// The moment as a text, by a layout.
    pub fn format(&self, mut layout: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(layout.len() + 10);
        loop {
            let chunk = next_chunk(layout);
            out.extend_from_slice(chunk.prefix);
            let Some(element) = chunk.element else { return out };
            self.push(element, &mut out);
            layout = chunk.rest;
        }
    }

    /// The moment as it is printed.
    pub(in super::super) fn shown(&self) -> Vec<u8> {
        self.format(SHOWN)
    }

    /// The moment as JSON has it.
    ///
    /// # Errors
    /// Go's message for a year that has not four digits.
    pub(in super::super) fn json(&self) -> Result<Vec<u8>, String> {
        match self.civil().date.year {
            0..=9_999 => Ok(self.format(RFC3339_NANO)),
            _ => Err("json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]".to_owned()),
        }
    }

    fn push(&self, element: Element, out: &mut Vec<u8>) {
        let civil = self.civil();
        let (date, clock) = (&civil.date, civil.clock);
        let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
        let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
        match element {
            Element::Year => push_int(out, date.year.abs() % 100, 2),
            Element::LongYear => push_int(out, date.year, 4),
            Element::Month => out.extend(name_of(&MONTHS, date.month - 1).bytes().take(3)),
            Element::LongMonth => out.extend(name_of(&MONTHS, date.month - 1).bytes()),
            Element::NumMonth => push_int(out, date.month, 0),
            Element::ZeroMonth => push_int(out, date.month, 2),
            Element::Weekday => out.extend(name_of(&WEEKDAYS, date.weekday()).bytes().take(3)),
            Element::LongWeekday => out.extend(name_of(&WEEKDAYS, date.weekday()).bytes()),
            Element::Day => push_int(out, date.day, 0),
            Element::UnderDay => out.extend(format!("{:2}", date.day).bytes()),
            Element::ZeroDay => push_int(out, date.day, 2),
            Element::UnderYearDay => out.extend(format!("{:3}", date.year_day()).bytes()),
            Element::ZeroYearDay => push_int(out, date.year_day(), 3),
            Element::Hour => push_int(out, hour, 2),
            Element::Hour12 => push_int(out, hour12, 0),
            Element::ZeroHour12 => push_int(out, hour12, 2),
            Element::Minute => push_int(out, minute, 0),
            Element::ZeroMinute => push_int(out, minute, 2),
            Element::Second => push_int(out, second, 0),
            Element::ZeroSecond => push_int(out, second, 2),
            Element::UpperPm => out.extend_from_slice(if hour >= 12 { b"PM" } else { b"AM" }),
            Element::LowerPm => out.extend_from_slice(if hour >= 12 { b"pm" } else { b"am" }),
            Element::ZoneName if self.zone.name.is_empty() => {
                let form = Offset { iso: false, colon: false, parts: Parts::Minutes };
                self.push_offset(form, out);
            }
            Element::ZoneName => out.extend_from_slice(self.zone.name.as_bytes()),
            Element::Offset(form) => self.push_offset(form, out),
            Element::Fraction0(digits, separator) => self.push_fraction(digits, separator, false, out),
            Element::Fraction9(digits, separator) => self.push_fraction(digits, separator, true, out),
        }
    }

    fn push_offset(&self, form: Offset, out: &mut Vec<u8>) {
        let offset = i64::from(self.zone.offset);
        if form.iso && offset == 0 {
            return out.push(b'Z');
        }
        let minutes = offset / 60;
        out.push(if minutes < 0 { b'-' } else { b'+' });
        push_int(out, minutes.abs() / 60, 2);
        let colon: &[u8] = if form.colon { b":" } else { b"" };
        if form.parts != Parts::Hours {
            out.extend_from_slice(colon);
            push_int(out, minutes.abs() % 60, 2);
        }
        if form.parts == Parts::Seconds {
            out.extend_from_slice(colon);
            // As in Go: the sign of the seconds counts only together with that of the minutes.
            push_int(out, if minutes < 0 { -offset } else { offset } % 60, 2);
        }
    }

    fn push_fraction(&self, digits: usize, separator: u8, trim: bool, out: &mut Vec<u8>) {
        let text = format!("{:09}", self.nanos);
        // More than nine digits are nine.
        let text = text.get(..digits).unwrap_or(&text);
        let text = if trim { text.trim_end_matches('0') } else { text };
        if trim && text.is_empty() {
            return;
        }
        out.push(separator);
        out.extend_from_slice(text.as_bytes());
    }
}

/// A number with at least `width` digits.
fn push_int(out: &mut Vec<u8>, number: i64, width: usize) {
    if number < 0 {
        out.push(b'-');
    }
    out.extend(format!("{:0width$}", number.unsigned_abs()).bytes());
}
